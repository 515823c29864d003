//! How fast a pass over the data is, compared with plain loops:
//! `cargo bench --package benches --bench data`.
//!
//! Each mechanism is released by a running filter, so the time is all of it: decision, charge,
//! noise, pass and guard. The loop next to it computes the same without noise, written by hand.
//! Both run in turn, and the fastest of several runs counts. The target is at most 1.2 times the
//! loop.

use std::hint::black_box;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use queryables::data::{Attribute, Dataset, Predicate, Vector};
use queryables::mechanisms::{GaussianVectorSum, Lattice, NoisyCount, NoisyHistogram, NoisySum};
use queryables::prelude::*;

const ROWS: usize = 10_000_000;
const RUNS: usize = 15;

/// One row of a table.
struct Person {
    age: u32,
    hours: i64,
    income: f64,
}

/// The same table, in columns.
struct Columns {
    age: Vec<u32>,
    hours: Vec<i64>,
    income: Vec<f64>,
}

struct Record {
    age: u32,
    hours: i64,
    income: f64,
}

impl Dataset for Columns {
    type Record<'a> = Record;

    fn len(&self) -> usize {
        self.age.len()
    }

    #[inline]
    fn at(&self, index: usize) -> Record {
        Record {
            age: self.age[index],
            hours: self.hours[index],
            income: self.income[index],
        }
    }

    #[inline]
    fn records(&self, range: Range<usize>) -> impl Iterator<Item = Record> {
        let ages = self.age[range.clone()].iter();
        let hours = self.hours[range.clone()].iter();
        let incomes = self.income[range].iter();
        let records = ages.zip(hours).zip(incomes);
        records.map(|((age, hours), income)| Record {
            age: *age,
            hours: *hours,
            income: *income,
        })
    }
}

/// Numbers without a pattern that a processor would guess.
fn numbers() -> impl Iterator<Item = u32> {
    let next = |state: &u64| {
        Some(
            state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(99),
        )
    };
    std::iter::successors(Some(7), next).map(|state: u64| (state >> 33) as u32)
}

fn person(number: u32) -> Person {
    Person {
        age: number % 97,
        hours: i64::from(number % 101),
        income: f64::from(number % 100_003),
    }
}

/// Times both, in turn.
fn compare<A, B>(name: &str, mut ours: impl FnMut() -> A, mut plain: impl FnMut() -> B) {
    let mut best = [Duration::MAX; 2];
    for _ in 0..RUNS {
        let started = Instant::now();
        black_box(ours());
        best[0] = best[0].min(started.elapsed());
        let started = Instant::now();
        black_box(plain());
        best[1] = best[1].min(started.elapsed());
    }
    let [ours, plain] = best.map(|time| 1000.0 * time.as_secs_f64());
    let ratio = ours / plain;
    println!("data: {name} rows={ROWS} ours={ours:.1}ms loop={plain:.1}ms ratio={ratio:.2}");
}

fn rows() {
    let people: Arc<Vec<Person>> = Arc::new(numbers().take(ROWS).map(person).collect());
    let filter = Filter::concurrent(PureDp, text("1e6"));
    let filter = launch(&filter, Arc::clone(&people)).expect("a filter");

    let limit = black_box(18);
    let adults = Predicate::new("adults", move |person: &Person| {
        person.age >= limit && person.income > 1000.0
    });
    let count = NoisyCount::new(adults, text("1")).expect("a count");
    compare(
        "count",
        || filter.release(&count),
        || {
            let adults = people
                .iter()
                .filter(|p| p.age >= limit && p.income > 1000.0);
            adults.count()
        },
    );

    let (low, high) = black_box((0, 60));
    let hours = Attribute::new("hours", |person: &Person| person.hours);
    let sum = NoisySum::new(AddRemove, hours, low..=high, text("1")).expect("a sum");
    compare(
        "sum",
        || filter.release(&sum),
        || {
            people
                .iter()
                .map(|person| person.hours.clamp(low, high))
                .sum::<i64>()
        },
    );

    let bins = black_box(90);
    let age = Attribute::new("age", |person: &Person| person.age as usize);
    let ages = NoisyHistogram::new(AddRemove, age, bins, text("1")).expect("a histogram");
    compare(
        "histogram",
        || filter.release(&ages),
        || {
            let mut counts = vec![0_u64; bins];
            for person in people.iter() {
                if let Some(count) = counts.get_mut(person.age as usize) {
                    *count += 1;
                }
            }
            counts
        },
    );
}

fn columns() {
    let people = numbers().take(ROWS).map(person);
    let mut columns = Columns {
        age: vec![],
        hours: vec![],
        income: vec![],
    };
    for person in people {
        columns.age.push(person.age);
        columns.hours.push(person.hours);
        columns.income.push(person.income);
    }
    let columns = Arc::new(columns);
    let filter = Filter::concurrent(PureDp, text("1e6"));
    let filter = launch(&filter, Arc::clone(&columns)).expect("a filter");
    let (age, hours, income) = black_box((18, 10, 1000.0));
    let count = Predicate::new("count", move |row: Record| {
        row.age >= age && row.hours > hours && row.income > income
    });
    let count = NoisyCount::new(count, text("1")).expect("a count");
    compare(
        "count_columns",
        || filter.release(&count),
        || {
            let rows = columns.age.iter().zip(&columns.hours).zip(&columns.income);
            rows.filter(|((a, h), i)| **a >= age && **h > hours && **i > income)
                .count()
        },
    );
}

fn vectors() {
    let mut numbers = numbers();
    let mut coordinate = || {
        numbers
            .next()
            .map_or(0.0, |number| (number % 1000) as f32 / 1600.0)
    };
    let vectors: Vec<[f32; 4]> = (0..ROWS).map(|_| [(); 4].map(|()| coordinate())).collect();
    let vectors = Arc::new(vectors);
    let filter = launch(&Filter::concurrent(ZCdp, text("1e6")), Arc::clone(&vectors));
    let filter = filter.expect("a filter");
    let vector = Vector::new("vector", |vector: &[f32; 4], out: &mut [f64]| {
        for (out, number) in out.iter_mut().zip(vector) {
            *out = f64::from(*number);
        }
    });
    // Clipped to a length of 1: about one in ten are longer.
    let lattice = Lattice {
        exponent: -10,
        radius: 1024,
    };
    let sum = GaussianVectorSum::new(AddRemove, vector, 4, lattice, text("1")).expect("a sum");
    compare(
        "vector_sum",
        || filter.release(&sum),
        || {
            let mut sum = [0.0_f64; 4];
            for vector in vectors.iter() {
                let vector = vector.map(f64::from);
                let square: f64 = vector.iter().map(|x| x * x).sum();
                let factor = if square > 1.0 {
                    1.0 / square.sqrt()
                } else {
                    1.0
                };
                for (sum, x) in sum.iter_mut().zip(vector) {
                    *sum += x * factor;
                }
            }
            sum
        },
    );
}

fn text<T: std::str::FromStr<Err: std::fmt::Debug>>(text: &str) -> T {
    text.parse().expect("a number")
}

fn main() {
    rows();
    columns();
    vectors();
}
