//! Plain loops with arrow-rs, which somebody would write by hand for one question.

use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, RecordBatch};
use hashbrown::HashMap;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};

use crate::file::STATES;

/// As many rows as the table reads at a time.
const BATCH_ROWS: usize = 1 << 13;

/// Reads columns of all row groups on all threads, each with a state of its own.
fn read<A: Default + Send>(
    path: &Path,
    columns: &[usize],
    each: impl Fn(&mut A, &RecordBatch) + Sync,
) -> Vec<A> {
    let file = File::open(path).expect("the file");
    let metadata = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()).expect("metadata");
    let groups = metadata.metadata().num_row_groups();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut state = A::default();
        loop {
            let group = next.fetch_add(1, Ordering::Relaxed);
            if group >= groups {
                return state;
            }
            let file = File::open(path).expect("the file");
            let mask = ProjectionMask::roots(metadata.parquet_schema(), columns.iter().copied());
            let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata.clone())
                .with_row_groups(vec![group])
                .with_projection(mask)
                .with_batch_size(BATCH_ROWS)
                .build();
            for batch in reader.expect("a reader") {
                each(&mut state, &batch.expect("a batch"));
            }
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("a thread"))
            .collect()
    })
}

fn whole(batch: &RecordBatch, column: usize) -> &[i64] {
    let column = batch.column(column).as_primitive::<Int64Type>();
    assert_eq!(column.null_count(), 0);
    column.values()
}

pub fn count(path: &Path) -> Vec<i128> {
    let counts = read(path, &[2, 3], |count: &mut i128, batch| {
        let hours = whole(batch, 0);
        let income = batch.column(1).as_primitive::<Float64Type>();
        assert_eq!(income.null_count(), 0);
        let rows = hours.iter().zip(income.values());
        *count += rows
            .filter(|(hours, income)| **hours >= 20 && **income > 1000.0)
            .count() as i128;
    });
    vec![counts.into_iter().sum()]
}

pub fn sum(path: &Path) -> Vec<i128> {
    let sums = read(path, &[2], |sum: &mut i128, batch| {
        let hours = whole(batch, 0).iter().map(|hours| (*hours).clamp(0, 60));
        *sum += i128::from(hours.sum::<i64>());
    });
    vec![sums.into_iter().sum()]
}

pub fn real_sum(path: &Path) -> Vec<i128> {
    let sums = read(path, &[3], |sum: &mut i128, batch| {
        let income = batch.column(0).as_primitive::<Float64Type>();
        assert_eq!(income.null_count(), 0);
        let steps = income.values().iter().map(|income| {
            let steps = if income.is_nan() {
                0.0
            } else {
                (income / 8.0 + 0.5).floor()
            };
            steps.clamp(0.0, 10_000.0) as i64
        });
        *sum += i128::from(steps.sum::<i64>());
    });
    vec![sums.into_iter().sum()]
}

/// The group of each text.
fn groups() -> HashMap<&'static str, usize> {
    STATES.iter().copied().zip(0..).collect()
}

pub fn by_group(path: &Path) -> Vec<i128> {
    let groups = groups();
    let sums = read(path, &[1, 2], |sums: &mut [i64; STATES.len()], batch| {
        let states = batch.column(0).as_string::<i32>();
        assert_eq!(states.null_count(), 0);
        for (state, hours) in states.iter().zip(whole(batch, 1)) {
            if let Some(group) = state.and_then(|state| groups.get(state)) {
                sums[*group] += (*hours).clamp(0, 60);
            }
        }
    });
    let total = |group: usize| sums.iter().map(|sums| i128::from(sums[group])).sum();
    (0..STATES.len()).map(total).collect()
}

pub fn per_person(path: &Path) -> Vec<i128> {
    let people = read(path, &[0, 2], |people: &mut HashMap<i64, i64>, batch| {
        for (person, hours) in whole(batch, 0).iter().zip(whole(batch, 1)) {
            *people.entry(*person).or_default() += (*hours).clamp(0, 60);
        }
    });
    let people = merged(people);
    vec![
        people
            .into_values()
            .map(|sum| i128::from(sum.clamp(-600, 600)))
            .sum(),
    ]
}

pub fn per_person_by_group(path: &Path) -> Vec<i128> {
    let groups = groups();
    type People = HashMap<i64, [i64; STATES.len()]>;
    let people = read(path, &[0, 1, 2], |people: &mut People, batch| {
        let states = batch.column(1).as_string::<i32>();
        assert_eq!(states.null_count(), 0);
        let persons = whole(batch, 0).iter().zip(whole(batch, 2));
        for ((person, hours), state) in persons.zip(states) {
            if let Some(group) = state.and_then(|state| groups.get(state)) {
                people.entry(*person).or_default()[*group] += (*hours).clamp(0, 60);
            }
        }
    });
    let mut people = people.into_iter();
    let mut all = people.next().unwrap_or_default();
    for (person, sums) in people.flatten() {
        let total = all.entry(person).or_default();
        total
            .iter_mut()
            .zip(sums)
            .for_each(|(total, sum)| *total += sum);
    }
    let mut totals = vec![0; STATES.len()];
    for mut sums in all.into_values() {
        sums.iter_mut()
            .for_each(|sum| *sum = (*sum).clamp(-600, 600));
        let norm: i64 = sums.iter().map(|sum| sum.abs()).sum();
        for (total, sum) in totals.iter_mut().zip(sums) {
            *total += i128::from(if norm > 600 { sum * 600 / norm } else { sum });
        }
    }
    totals
}

/// The sums of all threads.
fn merged(people: Vec<HashMap<i64, i64>>) -> HashMap<i64, i64> {
    let mut people = people.into_iter();
    let mut all = people.next().unwrap_or_default();
    for (person, sum) in people.flatten() {
        *all.entry(person).or_default() += sum;
    }
    all
}
