//! Passes over the rows that keep something for each person, in bounded memory.
//!
//! The people are divided into parts by a hash. A thread has small parts of its own, without locks: where
//! there are few people, nothing else is needed until the end. A part that becomes too large for a cache is
//! merged into the one that all threads share, in the order of both tables.

use std::borrow::Borrow;
use std::hash::BuildHasher;
use std::mem::take;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use hashbrown::hash_table::Entry as Slot;
use hashbrown::{DefaultHashBuilder, HashTable};
use queryables::mechanisms::query::Unavailable;

use crate::evaluate::Batch;
use crate::person::{Entry, Group, Heap, Key, Store};
use crate::scan::{Scan, on_threads};

/// What is kept for each person, and what becomes of it.
pub(crate) trait Pass: Sync {
    type Key: Key + ?Sized;
    type Group: Group;
    /// What is kept for a person in a group.
    type Kept: Heap + Send;
    /// Where the rest of it is: one for each part of the people.
    type Store: Store;
    /// What a row adds to it.
    type Update;
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
    fn start(&self, store: &mut Self::Store) -> Self::Kept;

    fn add(&self, store: &mut Self::Store, kept: &mut Self::Kept, update: Self::Update);

    /// Adds what another part has kept for the same person in the same group.
    fn merge(
        &self,
        store: &mut Self::Store,
        kept: &mut Self::Kept,
        other: (&Self::Store, Self::Kept),
    );

    fn total(&self) -> Self::Total;

    /// Adds all entries of some people to a total.
    fn finish(&self, total: &mut Self::Total, part: Part<Self>);
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
/// A part of one thread uses at most this many bytes: all of its parts together 8 MiB, so that they stay
/// within a large cache.
const MOST_OWN: usize = 1 << 16;

/// Some of the people: those with the same bits of their hash.
pub(crate) struct Part<P: Pass + ?Sized> {
    pub(crate) table: HashTable<EntryOf<P>>,
    pub(crate) store: P::Store,
    /// The bytes that entries take besides themselves.
    heap: usize,
}

impl<P: Pass + ?Sized> Default for Part<P> {
    fn default() -> Self {
        Self {
            table: HashTable::new(),
            store: P::Store::default(),
            heap: 0,
        }
    }
}

impl<P: Pass> Part<P> {
    /// How much memory it takes.
    fn bytes(&self) -> usize {
        let entry = size_of::<EntryOf<P>>() + 1;
        self.table.capacity() * entry + self.store.bytes() + self.heap
    }

    /// How much of it is in use: between half and all, because it grows to twice the size.
    fn used(&self) -> usize {
        let entry = size_of::<EntryOf<P>>() + 1;
        self.table.len() * entry + self.store.used() + self.heap
    }

    /// Adds a row. Says whether that may take more memory than before.
    #[inline]
    fn add(
        &mut self,
        people: &People<'_, P>,
        (hash, person): (u64, &P::Key),
        group: P::Group,
        update: P::Update,
    ) -> bool {
        let pass = people.pass;
        let hash = in_group(hash, group);
        let is_same = |entry: &EntryOf<P>| entry.group == group && entry.person.borrow() == person;
        // Nearly always they are known. To look for a free place at the same time would take longer.
        if let Some(entry) = self.table.find_mut(hash, is_same) {
            let before = entry.kept.heap();
            pass.add(&mut self.store, &mut entry.kept, update);
            let after = entry.kept.heap();
            self.heap = self.heap - before + after;
            return after > before;
        }
        let mut kept = pass.start(&mut self.store);
        pass.add(&mut self.store, &mut kept, update);
        let entry = Entry {
            person: person.to_owned(),
            group,
            kept,
        };
        self.heap += entry.heap();
        self.table.insert_unique(hash, entry, |entry| {
            hash_of(people.hasher, entry.person.borrow(), entry.group)
        });
        true
    }

    /// Takes those people of another part who are in this share, and leaves that one empty, with its memory.
    fn absorb(&mut self, people: &People<'_, P>, other: &mut Self, share: Share) {
        let pass = people.pass;
        let hash = |entry: &EntryOf<P>| people.hasher.hash_one(entry.person.borrow());
        if self.table.is_empty() && other.table.iter().all(|entry| share.has(hash(entry))) {
            std::mem::swap(self, other);
            return;
        }
        let Self { table, store, heap } = other;
        for mut entry in table.drain() {
            let hash = hash(&entry);
            if !share.has(hash) {
                continue;
            }
            let slot = self.table.entry(
                in_group(hash, entry.group),
                |other| other.group == entry.group && other.person == entry.person,
                |entry| hash_of(people.hasher, entry.person.borrow(), entry.group),
            );
            match slot {
                Slot::Occupied(slot) => {
                    let kept = &mut slot.into_mut().kept;
                    let before = kept.heap();
                    pass.merge(&mut self.store, kept, (store, entry.kept));
                    self.heap = self.heap - before + kept.heap();
                }
                Slot::Vacant(slot) => {
                    let mut kept = pass.start(&mut self.store);
                    pass.merge(&mut self.store, &mut kept, (store, entry.kept));
                    entry.kept = kept;
                    self.heap += entry.heap();
                    slot.insert(entry);
                }
            }
        }
        store.clear();
        *heap = 0;
    }
}

/// The people of one pass.
struct People<'p, P: Pass> {
    pass: &'p P,
    parts: Vec<Mutex<Shared<P>>>,
    hasher: &'p DefaultHashBuilder,
    share: Share,
    /// The modulus that all parts come to.
    modulus: AtomicU64,
    bytes: AtomicUsize,
    entries: AtomicUsize,
    /// How many bytes all shared parts have at most.
    most_shared: usize,
    /// How many bytes a part of one thread uses at most.
    most_own: usize,
}

/// A part that all threads share.
struct Shared<P: Pass> {
    part: Part<P>,
    share: Share,
    /// What [`People::bytes`] and [`People::entries`] say of it.
    counted: (usize, usize),
    /// What threads that are done have of it.
    others: Vec<Part<P>>,
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
        let people = People::new(pass, &hasher, share, (most_bytes, scan.threads));
        let start = || (people.rows(), P::Scratch::default());
        let threads = scan.run(start, |(rows, scratch), batch| rows.read(batch, scratch))?;
        for (rows, _) in threads {
            rows.leave();
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
    fn new(
        pass: &'p P,
        hasher: &'p DefaultHashBuilder,
        share: Share,
        (most_bytes, threads): (usize, usize),
    ) -> Self {
        let parts = (most_bytes / LEAST_PART).clamp(1, MOST_PARTS);
        // The largest power of two that is not above.
        let parts = 1 << parts.ilog2();
        let all_own = parts * threads.max(1);
        // It takes up to twice what it uses: half of all memory.
        let most_own = (most_bytes / 4 / all_own).min(MOST_OWN);
        let part = || Shared {
            part: Part::default(),
            share,
            counted: (0, 0),
            others: Vec::new(),
        };
        Self {
            pass,
            parts: (0..parts).map(|_| Mutex::new(part())).collect(),
            hasher,
            share,
            modulus: AtomicU64::new(share.modulus),
            bytes: AtomicUsize::new(0),
            entries: AtomicUsize::new(0),
            most_shared: most_bytes - 2 * all_own * most_own,
            most_own,
        }
    }

    /// The rows of one thread.
    fn rows(&self) -> Rows<'_, 'p, P> {
        Rows {
            people: self,
            parts: self.parts.iter().map(|_| Part::default()).collect(),
        }
    }

    /// Adds a thread's part to the one with this number.
    fn add(&self, number: usize, own: &mut Part<P>) {
        let Some(shared) = self.parts.get(number) else {
            return;
        };
        let mut shared = lock(shared);
        self.keep_up(&mut shared);
        // Since its rows were read, people may have been left for another pass.
        let share = shared.share;
        shared.part.absorb(self, own, share);
        self.count(&mut shared);
        drop(shared);
        self.fit();
    }

    /// Drops people until they fit.
    fn fit(&self) {
        while self.bytes.load(Ordering::Relaxed) > self.most_shared
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
    fn keep_up(&self, shared: &mut Shared<P>) {
        let modulus = self.modulus.load(Ordering::Relaxed);
        if modulus <= shared.share.modulus {
            return;
        }
        shared.share.modulus = modulus;
        let mut all = take(&mut shared.part);
        shared.part.absorb(self, &mut all, shared.share);
        self.count(shared);
    }

    /// Brings the sums over all parts up to date.
    fn count(&self, shared: &mut Shared<P>) {
        let (old_bytes, old_entries) = shared.counted;
        let (bytes, entries) = (shared.part.bytes(), shared.part.table.len());
        shared.counted = (bytes, entries);
        // The sums wrap around when they fall.
        self.bytes
            .fetch_add(bytes.wrapping_sub(old_bytes), Ordering::Relaxed);
        self.entries
            .fetch_add(entries.wrapping_sub(old_entries), Ordering::Relaxed);
    }

    /// The totals of all people who are left in this pass.
    fn finish(self, threads: usize) -> Result<Vec<P::Total>, Unavailable> {
        let next = AtomicUsize::new(0);
        let work = || {
            let mut total = self.pass.total();
            while let Some(shared) = self.parts.get(next.fetch_add(1, Ordering::Relaxed)) {
                let mut shared = lock(shared);
                self.keep_up(&mut shared);
                let (mut part, others) = (take(&mut shared.part), take(&mut shared.others));
                for mut own in others {
                    part.absorb(&self, &mut own, shared.share);
                }
                self.pass.finish(&mut total, part);
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

/// The people of one thread.
struct Rows<'a, 'p, P: Pass> {
    people: &'a People<'p, P>,
    parts: Vec<Part<P>>,
}

impl<P: Pass> Rows<'_, '_, P> {
    fn read(&mut self, batch: &Batch<'_>, scratch: &mut P::Scratch) -> Result<(), Unavailable> {
        let people = self.people;
        let share = Share {
            modulus: people.modulus.load(Ordering::Relaxed),
            ..people.share
        };
        let shift = 55 - self.parts.len().ilog2();
        let mask = self.parts.len() - 1;
        people.pass.read(batch, scratch, |person, group, update| {
            let hash = people.hasher.hash_one(person);
            if !share.has(hash) {
                return;
            }
            // Of the bits from 48 to 54, which neither a share nor the table uses, the highest.
            let number = (hash >> shift) as usize & mask;
            let Some(part) = self.parts.get_mut(number) else {
                return;
            };
            let grew = part.add(people, (hash, person), group, update);
            if grew && part.used() > people.most_own {
                people.add(number, part);
            }
        })
    }

    /// Leaves the parts to those who finish the pass.
    fn leave(self) {
        for (shared, own) in self.people.parts.iter().zip(self.parts) {
            lock(shared).others.push(own);
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
        type Store = ();
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

        fn start(&self, (): &mut ()) -> i64 {
            0
        }

        fn add(&self, (): &mut (), rows: &mut i64, (): ()) {
            *rows += 1;
        }

        fn merge(&self, (): &mut (), rows: &mut i64, ((), others): (&(), i64)) {
            *rows += others;
        }

        fn total(&self) -> Self::Total {
            (Alive::new(&self.alive, &self.most), 0)
        }

        fn finish(&self, (_, all): &mut Self::Total, people: Part<Self>) {
            let people = people.table.into_iter();
            *all += people.filter(|entry| entry.kept == 2).count();
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
        type Store = ();
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

        fn start(&self, (): &mut ()) -> Option<String> {
            None
        }

        fn add(&self, (): &mut (), kept: &mut Option<String>, key: Option<String>) {
            *kept = key;
        }

        fn merge(
            &self,
            (): &mut (),
            kept: &mut Option<String>,
            ((), other): (&(), Option<String>),
        ) {
            *kept = other;
        }

        fn total(&self) {}

        fn finish(&self, (): &mut (), _: Part<Self>) {}
    }

    /// A key of a thousand bytes takes as much as a person whose name is that long.
    #[test]
    fn the_keys_that_are_kept_count_as_memory() {
        let hasher = DefaultHashBuilder::default();
        let most = 1 << 18;
        let people = People::new(&Keys, &hasher, Share::ALL, (most, 1));
        assert_eq!(people.parts.len(), 4);
        let mut own = Part::default();
        for person in 0..4000_usize {
            // Longer ones are counted, too, and shorter ones no more.
            for (place, length) in [1000, person].into_iter().enumerate() {
                let key = Some("k".repeat(length));
                let hash = hasher.hash_one(person as i64);
                let grew = own.add(&people, (hash, &(person as i64)), (), key);
                assert_eq!(grew, place == 0 || person > 1000);
            }
            assert_eq!(own.heap, kept(&own));
            if own.used() > people.most_own {
                people.add(person % 4, &mut own);
            }
        }
        let mut bytes = 0;
        for shared in &people.parts {
            let shared = lock(shared);
            assert_eq!(shared.part.heap, kept(&shared.part));
            bytes += shared.part.heap;
        }
        assert!(bytes <= people.most_shared && bytes > 1 << 14, "{bytes}");
        assert!(people.bytes.into_inner() <= people.most_shared);
    }

    fn kept(part: &Part<Keys>) -> usize {
        part.table.iter().map(|entry| entry.kept.heap()).sum()
    }
}
