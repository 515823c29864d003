//! Memory, and that everybody is met once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use queryables::table::{Column, Kind, Schema};

use super::waiting::Waiting;
use super::*;
use crate::cache::Cache;
use crate::person::Entry;
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

    fn move_to(&self, (): &mut (), (): &(), rows: i64) -> i64 {
        rows
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

/// The last key of each person.
struct Keys;

impl Pass for Keys {
    type Key = str;
    type Group = ();
    type Kept = Option<String>;
    type Store = ();
    type Update = Option<String>;
    type Scratch = ();
    type Total = usize;

    fn read(
        &self,
        _: &Batch<'_>,
        (): &mut (),
        _: impl FnMut(&str, (), Option<String>),
    ) -> Result<(), Unavailable> {
        Err(Unavailable)
    }

    fn start(&self, (): &mut ()) -> Option<String> {
        None
    }

    fn add(&self, (): &mut (), kept: &mut Option<String>, key: Option<String>) {
        *kept = key;
    }

    fn move_to(&self, (): &mut (), (): &(), kept: Option<String>) -> Option<String> {
        kept
    }

    fn total(&self) -> usize {
        0
    }

    /// The bytes of the names and keys that are left.
    fn finish(&self, bytes: &mut usize, part: Part<Self>) {
        let kept: usize = part.table.iter().map(Entry::heap::<str>).sum();
        assert_eq!(part.heap(), kept);
        *bytes += kept;
    }
}

/// A key of a thousand bytes takes as much as a person whose name is that long.
#[test]
fn names_and_keys_that_are_kept_or_wait_count_as_memory() {
    let hasher = DefaultHashBuilder::default();
    let most_bytes = 1 << 18;
    let people = People::new(&Keys, &hasher, Share::ALL, (most_bytes, 1));
    let mut waiting = Waiting::default();
    let mut bytes = 0;
    for person in 0..4000 {
        // Longer ones are counted, too, and shorter ones no more.
        for length in [1000, person] {
            let (name, key) = (person.to_string(), Some("k".repeat(length)));
            bytes += name.len() + key.heap();
            waiting.push(name.as_str(), ((), key));
            if waiting.bytes() >= people.most_waiting {
                people.add(person % 4, &mut waiting);
                assert_eq!(waiting.bytes(), 0);
                bytes = 0;
            }
            assert!(bytes <= people.most_waiting, "{bytes} wait");
        }
    }
    let left = people.finish(1).unwrap();
    assert!(left[0] <= most_bytes && left[0] > 1 << 14, "{left:?}");
}
