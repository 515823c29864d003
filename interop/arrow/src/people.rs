//! Passes over the rows that keep something for each person, in bounded memory.
//!
//! The people are divided into parts by a hash. A thread collects rows for each part, and adds some
//! hundreds of them at a time: then the part is in the cache of its core. All threads share the parts, so
//! that nobody is kept twice and nothing is merged.

use std::borrow::Borrow;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use hashbrown::hash_table::Entry as Slot;
use hashbrown::{DefaultHashBuilder, HashTable};
use queryables::mechanisms::query::Unavailable;

use crate::evaluate::Batch;
use crate::person::{Entry, Group, Kept, Key, Waiting};
use crate::scan::{Scan, on_threads};

/// What is kept for each person, and what becomes of it.
pub(crate) trait Pass: Sync {
    type Key: Key + ?Sized;
    type Group: Group;
    /// What is kept for a person in a group.
    type Kept: Kept;
    /// What a row adds to it.
    type Update: Kept;
    /// What a thread uses again for each batch.
    type Scratch: Default + Send;
    /// What is made of people: one for each thread and pass.
    type Total: Send;

    /// Calls with each row that counts.
    fn read(
        &self,
        batch: &Batch<'_>,
        scratch: &mut Self::Scratch,
        row: impl FnMut(&Self::Key, Self::Group, Self::Update),
    ) -> Result<(), Unavailable>;

    /// What is kept for a person before the first row.
    fn start(&self) -> Self::Kept;

    fn add(&self, kept: &mut Self::Kept, update: Self::Update);

    fn total(&self) -> Self::Total;

    /// Adds all entries of some people to a total.
    fn finish(&self, total: &mut Self::Total, people: HashTable<EntryOf<Self>>);
}

pub(crate) type EntryOf<P> =
    Entry<<<P as Pass>::Key as ToOwned>::Owned, <P as Pass>::Group, <P as Pass>::Kept>;

/// The people whose hash has this remainder: all of them for a modulus of one.
#[derive(Clone, Copy)]
struct Share {
    remainder: u64,
    /// A power of two.
    modulus: u64,
}

/// A pass is split into at most this many. Then it takes the memory that it takes.
const MOST_SHARES: u64 = 1 << 20;

impl Share {
    const ALL: Self = Self {
        remainder: 0,
        modulus: 1,
    };

    #[inline]
    fn has(self, hash: u64) -> bool {
        // Bits that the hash table does not use for places.
        (hash >> 28) & (self.modulus - 1) == self.remainder
    }
}

/// At most this many parts: seven bits of a hash.
const MOST_PARTS: usize = 1 << 7;
/// A part has at least this many bytes. So it holds some people, even if the bound is small.
const LEAST_PART: usize = 1 << 16;
/// How many rows of a part wait, and how many bytes of texts.
const MOST_WAITING: usize = 1 << 9;
const MOST_WAITING_BYTES: usize = 1 << 16;

/// The people of one pass.
struct People<'p, P: Pass> {
    pass: &'p P,
    parts: Vec<Mutex<Part<P>>>,
    hasher: &'p DefaultHashBuilder,
    share: Share,
    /// The modulus that all parts come to.
    modulus: AtomicU64,
    bytes: AtomicUsize,
    entries: AtomicUsize,
    most_bytes: usize,
}

/// Some of the people: those with the same bits of their hash.
struct Part<P: Pass> {
    table: HashTable<EntryOf<P>>,
    share: Share,
    heap: usize,
    /// What [`People::bytes`] and [`People::entries`] say of it.
    counted: (usize, usize),
}

/// Reads all rows, in as many passes as the memory needs. Each pass gives a total for each thread to
/// `collect`, before the next begins: there may be many passes, and a total may be large.
///
/// Where the people of a pass do not fit, half of them are dropped and left for a later pass: those with
/// another remainder of their hash. So everybody is met in one pass, with all rows.
pub(crate) fn by_person<P: Pass>(
    pass: &P,
    scan: &Scan<'_>,
    most_bytes: usize,
    mut collect: impl FnMut(P::Total),
) -> Result<(), Unavailable> {
    let hasher = DefaultHashBuilder::default();
    let mut open = vec![Share::ALL];
    while let Some(share) = open.pop() {
        let people = People::new(pass, &hasher, share, most_bytes);
        let start = || (people.rows(), P::Scratch::default());
        let threads = scan.run(start, |(rows, scratch), batch| rows.read(batch, scratch))?;
        for (mut rows, _) in threads {
            rows.add_all();
        }
        let last = people.modulus.load(Ordering::Relaxed);
        let mut left = share;
        while left.modulus < last {
            open.push(Share {
                remainder: left.remainder + left.modulus,
                modulus: 2 * left.modulus,
            });
            left.modulus *= 2;
        }
        people
            .finish(scan.threads)?
            .into_iter()
            .for_each(&mut collect);
    }
    Ok(())
}

impl<'p, P: Pass> People<'p, P> {
    fn new(pass: &'p P, hasher: &'p DefaultHashBuilder, share: Share, most_bytes: usize) -> Self {
        let parts = (most_bytes / LEAST_PART).clamp(1, MOST_PARTS);
        // The largest power of two that is not above.
        let parts = 1 << parts.ilog2();
        let part = || Part {
            table: HashTable::new(),
            share,
            heap: 0,
            counted: (0, 0),
        };
        Self {
            pass,
            parts: (0..parts).map(|_| Mutex::new(part())).collect(),
            hasher,
            share,
            modulus: AtomicU64::new(share.modulus),
            bytes: AtomicUsize::new(0),
            entries: AtomicUsize::new(0),
            most_bytes,
        }
    }

    /// The rows of one thread.
    fn rows(&self) -> Rows<'_, 'p, P> {
        let waiting = self.parts.iter().map(|_| (WaitingOf::<P>::default(), 0));
        Rows {
            people: self,
            waiting: waiting.collect(),
        }
    }

    /// Adds the rows that wait for a part.
    fn add(&self, number: usize, waiting: &mut WaitingOf<P>) {
        let Some(part) = self.parts.get(number) else {
            return;
        };
        let mut part = lock(part);
        self.keep_up(&mut part);
        let Part {
            table, share, heap, ..
        } = &mut *part;
        waiting.drain(|person, (group, update)| {
            let hash = self.hasher.hash_one(person);
            // Since the row was read, it may have been left for another pass.
            if !share.has(hash) {
                return;
            }
            let slot = table.entry(
                in_group(hash, group),
                |entry| entry.group == group && entry.person.borrow() == person,
                |entry| hash_of(self.hasher, entry.person.borrow(), entry.group),
            );
            match slot {
                Slot::Occupied(slot) => {
                    let kept = &mut slot.into_mut().kept;
                    let before = kept.heap();
                    self.pass.add(kept, update);
                    *heap = *heap - before + kept.heap();
                }
                Slot::Vacant(slot) => {
                    let mut kept = self.pass.start();
                    self.pass.add(&mut kept, update);
                    let entry = Entry {
                        person: person.to_owned(),
                        group,
                        kept,
                    };
                    *heap += entry.heap();
                    slot.insert(entry);
                }
            }
        });
        self.count(&mut part);
        drop(part);
        self.fit();
    }

    /// Drops people until they fit.
    fn fit(&self) {
        while self.bytes.load(Ordering::Relaxed) > self.most_bytes
            && self.entries.load(Ordering::Relaxed) > self.parts.len()
        {
            let modulus = self.modulus.load(Ordering::Relaxed);
            if modulus >= MOST_SHARES {
                return;
            }
            self.modulus.fetch_max(2 * modulus, Ordering::Relaxed);
            for part in &self.parts {
                self.keep_up(&mut lock(part));
            }
        }
    }

    /// Drops those people of a part who are left for another pass.
    fn keep_up(&self, part: &mut Part<P>) {
        let modulus = self.modulus.load(Ordering::Relaxed);
        if modulus <= part.share.modulus {
            return;
        }
        part.share.modulus = modulus;
        let share = part.share;
        let mut heap = 0;
        part.table.retain(|entry| {
            let person: &P::Key = entry.person.borrow();
            let stays = share.has(self.hasher.hash_one(person));
            heap += if stays { entry.heap() } else { 0 };
            stays
        });
        part.table
            .shrink_to_fit(|entry| hash_of(self.hasher, entry.person.borrow(), entry.group));
        part.heap = heap;
        self.count(part);
    }

    /// Brings the sums over all parts up to date.
    fn count(&self, part: &mut Part<P>) {
        let places = part.table.capacity();
        let bytes = places * (size_of::<EntryOf<P>>() + 1) + part.heap;
        let (old_bytes, old_entries) = part.counted;
        part.counted = (bytes, part.table.len());
        // The sums wrap around when they fall.
        let change = bytes.wrapping_sub(old_bytes);
        self.bytes.fetch_add(change, Ordering::Relaxed);
        let change = part.table.len().wrapping_sub(old_entries);
        self.entries.fetch_add(change, Ordering::Relaxed);
    }

    /// The totals of all people who are left in this pass.
    fn finish(self, threads: usize) -> Result<Vec<P::Total>, Unavailable> {
        let next = AtomicUsize::new(0);
        let work = || {
            let mut total = self.pass.total();
            while let Some(part) = self.parts.get(next.fetch_add(1, Ordering::Relaxed)) {
                let mut part = lock(part);
                self.keep_up(&mut part);
                self.pass
                    .finish(&mut total, std::mem::take(&mut part.table));
            }
            Ok(total)
        };
        on_threads((0..threads.min(self.parts.len()).max(1)).map(|_| &work))
    }
}

/// A thread that panicked makes the question unavailable. Nothing that it left is used.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The hash of a person in a group.
fn hash_of<Q: Key + ?Sized, G: Group>(hasher: &DefaultHashBuilder, person: &Q, group: G) -> u64 {
    in_group(hasher.hash_one(person), group)
}

#[inline]
fn in_group<G: Group>(hash: u64, group: G) -> u64 {
    // An odd number with bits everywhere: 2^64 divided by the golden ratio.
    hash.wrapping_add(u64::from(group.number()).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

type WaitingOf<P> = <<P as Pass>::Key as Key>::Waiting<(<P as Pass>::Group, <P as Pass>::Update)>;

/// The rows that one thread has read, and that are not yet added.
struct Rows<'a, 'p, P: Pass> {
    people: &'a People<'p, P>,
    /// Those of each part, and the bytes that their updates take besides themselves.
    waiting: Vec<(WaitingOf<P>, usize)>,
}

impl<P: Pass> Rows<'_, '_, P> {
    fn read(&mut self, batch: &Batch<'_>, scratch: &mut P::Scratch) -> Result<(), Unavailable> {
        let people = self.people;
        let share = Share {
            modulus: people.modulus.load(Ordering::Relaxed),
            ..people.share
        };
        let shift = 55 - self.waiting.len().ilog2();
        let mask = self.waiting.len() - 1;
        people.pass.read(batch, scratch, |person, group, update| {
            let hash = people.hasher.hash_one(person);
            if !share.has(hash) {
                return;
            }
            // Of the bits from 48 to 54, which neither a share nor the table uses, the highest.
            let number = (hash >> shift) as usize & mask;
            let Some((waiting, heap)) = self.waiting.get_mut(number) else {
                return;
            };
            *heap += update.heap();
            waiting.push(person, (group, update));
            if waiting.len() >= MOST_WAITING || *heap + waiting.heap() >= MOST_WAITING_BYTES {
                people.add(number, waiting);
                *heap = 0;
            }
        })
    }

    fn add_all(&mut self) {
        for (number, (waiting, _)) in self.waiting.iter_mut().enumerate() {
            self.people.add(number, waiting);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Int64Array, RecordBatch};
    use queryables::table::{Column, Kind, Schema};

    use super::*;
    use crate::cache::Cache;
    use crate::source::in_memory;

    /// Counts how many of it there are.
    struct Alive<'a>(&'a AtomicUsize);

    impl<'a> Alive<'a> {
        fn new(alive: &'a AtomicUsize, most: &AtomicUsize) -> Self {
            let now = alive.fetch_add(1, Ordering::Relaxed) + 1;
            most.fetch_max(now, Ordering::Relaxed);
            Self(alive)
        }
    }

    impl Drop for Alive<'_> {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Counts people, and how many totals of them are alive.
    struct Counted {
        alive: AtomicUsize,
        most: AtomicUsize,
    }

    impl<'a> Pass for &'a Counted {
        type Key = i64;
        type Group = ();
        type Kept = i64;
        type Update = ();
        type Scratch = ();
        type Total = (Alive<'a>, usize);

        fn read(
            &self,
            batch: &Batch<'_>,
            (): &mut (),
            mut row: impl FnMut(&i64, (), ()),
        ) -> Result<(), Unavailable> {
            i64::each(&batch.column(0)?, |_, person| row(person, (), ()))
        }

        fn start(&self) -> i64 {
            0
        }

        fn add(&self, rows: &mut i64, (): ()) {
            *rows += 1;
        }

        fn total(&self) -> Self::Total {
            (Alive::new(&self.alive, &self.most), 0)
        }

        fn finish(&self, (_, all): &mut Self::Total, people: HashTable<EntryOf<Self>>) {
            *all += people.into_iter().filter(|entry| entry.kept == 2).count();
        }
    }

    /// What a pass makes may be 2^20 totals.
    #[test]
    fn results_of_one_pass_are_alive_and_not_those_of_all() {
        let schema = Schema::of_people("person", [Column::new("person", Kind::Whole)]).unwrap();
        let persons = (0..2 * 4096).map(|row| Some(row % 4096));
        let persons: ArrayRef = Arc::new(persons.collect::<Int64Array>());
        let batch = RecordBatch::try_from_iter([("person", persons)]).unwrap();
        let halves = [batch.slice(0, 4096), batch.slice(4096, 4096)];
        let pieces = halves.map(|batch| in_memory(&schema, "rows", &batch).unwrap());
        let threads = 2;
        let scan = Scan {
            schema: &schema,
            pieces: &pieces,
            cache: &Cache::default(),
            places: vec![0],
            threads,
            batch_rows: 64,
            most_kept: 0,
        };
        let counted = Counted {
            alive: AtomicUsize::new(0),
            most: AtomicUsize::new(0),
        };
        // From one part to several.
        for most_bytes in [1 << 12, 1 << 14, 1 << 17, 1 << 20] {
            let (mut results, mut people) = (0, 0);
            by_person(&&counted, &scan, most_bytes, |(_alive, many)| {
                results += 1;
                people += many;
            })
            .unwrap();
            assert_eq!(people, 4096, "everybody has two rows, in one pass");
            if most_bytes == 1 << 12 {
                assert!(results >= 16, "{results} are too few to tell");
            }
        }
        assert!(counted.most.into_inner() <= threads);
    }

    /// The longest key of each person.
    struct Keys;

    impl Pass for Keys {
        type Key = i64;
        type Group = ();
        type Kept = Option<String>;
        type Update = Option<String>;
        type Scratch = ();
        type Total = ();

        fn read(
            &self,
            _: &Batch<'_>,
            (): &mut (),
            _: impl FnMut(&i64, (), Option<String>),
        ) -> Result<(), Unavailable> {
            Err(Unavailable)
        }

        fn start(&self) -> Option<String> {
            None
        }

        fn add(&self, kept: &mut Option<String>, key: Option<String>) {
            *kept = key;
        }

        fn total(&self) {}

        fn finish(&self, (): &mut (), _: HashTable<EntryOf<Self>>) {}
    }

    /// A key of a thousand bytes takes as much as a person whose name is that long.
    #[test]
    fn the_keys_that_are_kept_count_as_memory() {
        let hasher = DefaultHashBuilder::default();
        let most = 1 << 18;
        let people = People::new(&Keys, &hasher, Share::ALL, most);
        assert_eq!(people.parts.len(), 4);
        let mut rows = people.rows();
        for person in 0..4000_usize {
            // Longer ones are counted, too, and shorter ones no more.
            for length in [1000, person] {
                let key = Some("k".repeat(length));
                let part = person % 4;
                let (waiting, _) = &mut rows.waiting[part];
                Waiting::push(waiting, &(person as i64), ((), key));
                people.add(part, waiting);
            }
        }
        let mut bytes = 0;
        for part in &people.parts {
            let part = lock(part);
            let kept: usize = part.table.iter().map(|entry| entry.kept.heap()).sum();
            assert_eq!(part.heap, kept);
            bytes += kept;
        }
        assert!(bytes <= most && bytes > 1 << 14, "{bytes}");
        assert!(people.bytes.into_inner() <= most);
    }
}
