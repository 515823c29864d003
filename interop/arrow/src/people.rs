//! What is kept for each person while rows are read, in bounded memory.

use std::borrow::Borrow;
use std::hash::{BuildHasher, Hash};
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_buffer::NullBuffer;
use hashbrown::hash_table::Entry as Slot;
use hashbrown::{DefaultHashBuilder, HashTable};
use queryables::mechanisms::query::Unavailable;

use crate::evaluate::Batch;
use crate::scan::{Scan, on_threads};
use crate::vector::{Values, Vector};

/// What names a person: a whole number, or a text.
pub(crate) trait Key: ToOwned<Owned: Borrow<Self> + Ord + Send> + Hash + Eq + Sync {
    /// The bytes that an owned one takes besides itself.
    fn heap(&self) -> usize;

    /// Calls with each row of a column that has a value.
    fn each(column: &Vector<'_>, each: impl FnMut(usize, &Self)) -> Result<(), Unavailable>;
}

impl Key for i64 {
    fn heap(&self) -> usize {
        0
    }

    fn each(column: &Vector<'_>, mut each: impl FnMut(usize, &Self)) -> Result<(), Unavailable> {
        let Vector::Whole(numbers) = column else {
            return Err(Unavailable);
        };
        let Values::Each(values) = &numbers.values else {
            return Err(Unavailable);
        };
        for (row, value) in values.iter().enumerate() {
            if is_known(numbers.known.as_ref(), row) {
                each(row, value);
            }
        }
        Ok(())
    }
}

impl Key for str {
    fn heap(&self) -> usize {
        // What an allocator adds is a guess.
        self.len() + 16
    }

    fn each(column: &Vector<'_>, mut each: impl FnMut(usize, &Self)) -> Result<(), Unavailable> {
        let Vector::Text(texts) = column else {
            return Err(Unavailable);
        };
        for row in 0..texts.len() {
            if is_known(texts.known.as_ref(), row) {
                each(row, texts.at(row));
            }
        }
        Ok(())
    }
}

fn is_known(known: Option<&NullBuffer>, row: usize) -> bool {
    known.is_none_or(|known| known.is_valid(row))
}

/// A group: its number, or nothing where there is one group. Then an entry takes less memory.
pub(crate) trait Group: Copy + Ord + Send {
    fn of(group: u32) -> Self;
    fn number(self) -> u32;
}

impl Group for u32 {
    fn of(group: u32) -> Self {
        group
    }

    fn number(self) -> u32 {
        self
    }
}

impl Group for () {
    fn of(_: u32) -> Self {}

    fn number(self) -> u32 {
        0
    }
}

/// What is kept for a person in a group.
pub(crate) trait Kept: Send {
    /// The bytes that it takes besides itself.
    fn heap(&self) -> usize {
        0
    }
}

impl Kept for i64 {}
impl Kept for u64 {}
impl Kept for Option<i64> {}

impl Kept for Option<String> {
    fn heap(&self) -> usize {
        self.as_deref().map_or(0, Key::heap)
    }
}

/// A person, a group, and what is kept for them.
pub(crate) struct Entry<K, G, S> {
    pub(crate) person: K,
    pub(crate) group: G,
    pub(crate) kept: S,
}

impl<K, G, S: Kept> Entry<K, G, S> {
    /// The bytes that it takes besides itself.
    fn heap<Q: Key<Owned = K> + ?Sized>(&self) -> usize
    where
        K: Borrow<Q>,
    {
        self.person.borrow().heap() + self.kept.heap()
    }
}

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

    fn has(self, hash: u64) -> bool {
        // Bits that the hash table does not use for places.
        (hash >> 28) & (self.modulus - 1) == self.remainder
    }
}

/// Some of the people: those that one thread has met in one pass.
pub(crate) struct People<'s, Q: Key + ?Sized, G, S> {
    tables: Vec<HashTable<Entry<Q::Owned, G, S>>>,
    hasher: DefaultHashBuilder,
    share: Share,
    /// The modulus of all threads.
    modulus: &'s AtomicU64,
    heap: usize,
    most_bytes: usize,
}

/// Reads all rows, in as many passes as the memory needs. `each` meets every batch once in each pass, and
/// adds its rows; `finish` gets the entries of some people, all of theirs. What it makes of them goes to
/// `collect`, after each pass: there may be many passes, and a result may be large.
///
/// Where the people of a pass do not fit, half of them are dropped and left for a later pass: those with
/// another remainder of their hash. So everybody is met in one pass, with all rows.
pub(crate) fn by_person<Q: Key + ?Sized, G: Group, S: Kept, T: Send>(
    scan: &Scan<'_>,
    most_bytes: usize,
    each: impl Fn(&mut People<'_, Q, G, S>, &Batch<'_>) -> Result<(), Unavailable> + Sync,
    merge: impl Fn(&mut S, S) + Sync,
    finish: impl Fn(Vec<Entry<Q::Owned, G, S>>) -> T + Sync,
    mut collect: impl FnMut(T),
) -> Result<(), Unavailable> {
    let hasher = DefaultHashBuilder::default();
    let parts = scan.threads.max(1);
    let mut open = vec![Share::ALL];
    while let Some(share) = open.pop() {
        let modulus = AtomicU64::new(share.modulus);
        let start = || People {
            tables: (0..parts).map(|_| HashTable::new()).collect(),
            hasher: hasher.clone(),
            share,
            modulus: &modulus,
            heap: 0,
            most_bytes: most_bytes / parts,
        };
        let mut people = scan.run(start, |people, batch| {
            people.keep_up();
            each(people, batch)?;
            people.fit();
            Ok(())
        })?;
        let last = modulus.load(Ordering::Relaxed);
        let mut left = share;
        while left.modulus < last {
            open.push(Share {
                remainder: left.remainder + left.modulus,
                modulus: 2 * left.modulus,
            });
            left.modulus *= 2;
        }
        for people in &mut people {
            people.keep_up();
        }
        let mut by_part: Vec<Vec<_>> = (0..parts).map(|_| Vec::new()).collect();
        for people in people {
            for (part, table) in by_part.iter_mut().zip(people.tables) {
                part.push(table);
            }
        }
        let work = by_part.into_iter().map(|tables| {
            let (merge, finish, hasher) = (&merge, &finish, &hasher);
            move || Ok(finish(merged::<Q, G, S>(tables, hasher, merge)))
        });
        on_threads(work)?.into_iter().for_each(&mut collect);
    }
    Ok(())
}

/// The entries of all threads, one for each person and group.
fn merged<Q: Key + ?Sized, G: Group, S>(
    mut tables: Vec<HashTable<Entry<Q::Owned, G, S>>>,
    hasher: &DefaultHashBuilder,
    merge: impl Fn(&mut S, S),
) -> Vec<Entry<Q::Owned, G, S>> {
    tables.sort_unstable_by_key(HashTable::len);
    let mut all = tables.pop().unwrap_or_default();
    for table in tables {
        for entry in table {
            let hash = hash_of(hasher, entry.person.borrow(), entry.group);
            let is_same =
                |other: &Entry<_, G, S>| other.group == entry.group && other.person == entry.person;
            match all.entry(hash, is_same, |entry| {
                hash_of(hasher, entry.person.borrow(), entry.group)
            }) {
                Slot::Occupied(slot) => merge(&mut slot.into_mut().kept, entry.kept),
                Slot::Vacant(slot) => {
                    slot.insert(entry);
                }
            }
        }
    }
    all.into_iter().collect()
}

/// The hash of a person, and that of a person in a group.
fn hash_of<Q: Key + ?Sized, G: Group>(hasher: &DefaultHashBuilder, person: &Q, group: G) -> u64 {
    in_group(hasher.hash_one(person), group)
}

fn in_group<G: Group>(hash: u64, group: G) -> u64 {
    // An odd number with bits everywhere: 2^64 divided by the golden ratio.
    hash.wrapping_add(u64::from(group.number()).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

impl<Q: Key + ?Sized, G: Group, S: Kept> People<'_, Q, G, S> {
    /// What is kept for a person in a group; `start` where there is nothing. Nobody, if the person is left for another pass.
    #[inline]
    pub(crate) fn add(
        &mut self,
        person: &Q,
        group: G,
        start: impl FnOnce() -> S,
        add: impl FnOnce(&mut S),
    ) {
        let hash = self.hasher.hash_one(person);
        if !self.share.has(hash) {
            return;
        }
        let part = part_of(hash, self.tables.len());
        let Some(table) = self.tables.get_mut(part) else {
            return;
        };
        let hasher = &self.hasher;
        let slot = table.entry(
            in_group(hash, group),
            |entry| entry.group == group && entry.person.borrow() == person,
            |entry| hash_of(hasher, entry.person.borrow(), entry.group),
        );
        match slot {
            Slot::Occupied(slot) => {
                let kept = &mut slot.into_mut().kept;
                let before = kept.heap();
                add(kept);
                self.heap = self.heap - before + kept.heap();
            }
            Slot::Vacant(slot) => {
                let mut kept = start();
                add(&mut kept);
                let entry = Entry {
                    person: person.to_owned(),
                    group,
                    kept,
                };
                self.heap += entry.heap();
                slot.insert(entry);
            }
        }
    }

    fn bytes(&self) -> usize {
        let places: usize = self.tables.iter().map(HashTable::capacity).sum();
        places * (size_of::<Entry<Q::Owned, G, S>>() + 1) + self.heap
    }

    /// Drops people until they fit.
    fn fit(&mut self) {
        while self.bytes() > self.most_bytes
            && self.tables.iter().any(|table| table.len() > 1)
            && self.share.modulus < MOST_SHARES
        {
            self.modulus
                .fetch_max(2 * self.share.modulus, Ordering::Relaxed);
            self.keep_up();
        }
    }

    /// Drops those people whom another thread has dropped.
    fn keep_up(&mut self) {
        let modulus = self.modulus.load(Ordering::Relaxed);
        if modulus == self.share.modulus {
            return;
        }
        self.share.modulus = modulus;
        let (share, hasher) = (self.share, &self.hasher);
        let mut heap = 0;
        for table in &mut self.tables {
            table.retain(|entry| {
                let person: &Q = entry.person.borrow();
                let stays = share.has(hasher.hash_one(person));
                heap += if stays { entry.heap() } else { 0 };
                stays
            });
            table.shrink_to_fit(|entry| hash_of(hasher, entry.person.borrow(), entry.group));
        }
        self.heap = heap;
    }
}

/// Which table a person is in. Each is merged and finished by one thread.
fn part_of(hash: u64, parts: usize) -> usize {
    let bits = (hash >> 48) & 0xff;
    (bits as usize * parts) >> 8
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicUsize;

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

    /// What a pass makes may be 2^20 totals.
    #[test]
    fn results_of_one_pass_are_alive_and_not_those_of_all() {
        let schema = Schema::of_people("person", [Column::new("person", Kind::Whole)]).unwrap();
        let persons: ArrayRef = Arc::new((0..4096).map(Some).collect::<Int64Array>());
        let batch = RecordBatch::try_from_iter([("person", persons)]).unwrap();
        let pieces = [in_memory(&schema, "rows", &batch).unwrap()];
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
        let (alive, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let (mut results, mut people) = (0, 0);
        by_person::<i64, (), i64, _>(
            &scan,
            1 << 12,
            |people, batch| {
                i64::each(&batch.column(0)?, |_, person| {
                    people.add(person, (), i64::default, |rows| *rows += 1);
                })
            },
            |rows, other| *rows += other,
            |entries| (Alive::new(&alive, &most), entries.len()),
            |(_alive, many)| {
                results += 1;
                people += many;
            },
        )
        .unwrap();
        assert_eq!(people, 4096);
        assert!(results >= 8 * threads, "{results} are too few to tell");
        assert!(most.into_inner() <= threads);
    }

    /// A key of a thousand bytes takes as much as a person whose name is that long.
    #[test]
    fn the_keys_that_are_kept_count_as_memory() {
        let modulus = AtomicU64::new(1);
        let mut people = People::<i64, (), Option<String>> {
            tables: vec![HashTable::new()],
            hasher: DefaultHashBuilder::default(),
            share: Share::ALL,
            modulus: &modulus,
            heap: 0,
            most_bytes: 1 << 16,
        };
        for person in 0..1000 {
            people.add(&person, (), || None, |key| *key = Some("k".repeat(1000)));
            // Longer ones are counted, too, and shorter ones no more.
            people.add(
                &person,
                (),
                || None,
                |key| *key = Some("k".repeat(person as usize)),
            );
            people.fit();
        }
        let entries = people.tables.iter().flatten();
        let bytes: usize = entries.map(|entry| entry.kept.heap()).sum();
        assert_eq!(people.heap, bytes);
        assert!(bytes <= 1 << 16, "{bytes}");
    }
}
