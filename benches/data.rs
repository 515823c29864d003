//! How fast a pass over the data is, compared with plain loops and with OpenDP:
//! `cargo bench --package benches --bench data`.
//!
//! Each mechanism is released by a running filter, so the time is all of it: decision, charge,
//! noise, pass and guard. The loop next to it computes the same without noise, written by hand.
//! Both are measured on all threads and on one; OpenDP uses one. All run in turn, and the fastest of
//! several runs counts. The target is at most 1.2 times the loop, and less time than OpenDP.
//!
//! With arguments, only what has one of them in its name: `… --bench data -- vector`. Without, it
//! writes its section of `spec/performance.md`.
//!
//! OpenDP gets a column of its own with nothing else in it, as its transformations need. It has no
//! sum of clipped vectors.

#[path = "page/mod.rs"]
mod page;

use std::fmt::Write;
use std::hint::black_box;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use opendp::core::{Domain, Measure, Measurement, Metric};
use opendp::domains::{AtomDomain, VectorDomain};
use opendp::measurements::make_laplace;
use opendp::measures::MaxDivergence;
use opendp::metrics::{AbsoluteDistance, L1Distance, SymmetricDistance};
use opendp::transformations::{
    make_cast_default, make_clamp, make_count_by_categories, make_is_equal, make_sum,
};
use queryables::data::{Attribute, Dataset, Predicate, Vector};
use queryables::mechanisms::{Count, Histogram, Lattice, Partition, Sum, VectorSum};
use queryables::prelude::*;
use rayon::prelude::*;

const ROWS: usize = 10_000_000;
const RUNS: usize = 25;

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

/// The rows of the page's table.
type Table = String;

/// Times all of them, in turn. The loop is over a range of rows, so that it can be run in parts.
fn compare<A, B: Send, C>(
    table: &mut Table,
    [name, words]: [&str; 2],
    ours: impl Fn() -> A + Sync,
    plain: impl Fn(Range<usize>) -> B + Sync,
    theirs: Option<&dyn Fn() -> C>,
) {
    let mut wanted = std::env::args()
        .skip(1)
        .filter(|word| word != "--bench")
        .peekable();
    if wanted.peek().is_some() && !wanted.any(|word| name.contains(&word)) {
        return;
    }
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let one = one.expect("a thread");
    let threads = rayon::current_num_threads();
    let part = ROWS.div_ceil(threads);
    let parts: Vec<_> = (0..threads)
        .map(|thread| thread * part..ROWS.min((thread + 1) * part))
        .collect();
    let mut best = [Duration::MAX; 5];
    let mut time = |which: usize, run: &dyn Fn()| {
        let started = Instant::now();
        run();
        best[which] = best[which].min(started.elapsed());
    };
    for _ in 0..RUNS {
        time(0, &|| drop(black_box(ours())));
        time(1, &|| drop(black_box(plain(black_box(0..ROWS)))));
        time(2, &|| {
            one.install(|| drop(black_box(ours())));
        });
        time(3, &|| {
            let each = parts.par_iter().cloned().with_max_len(1).map(&plain);
            drop(black_box(each.collect::<Vec<B>>()));
        });
        if let Some(theirs) = theirs {
            time(4, &|| drop(black_box(theirs())));
        }
    }
    let [ours, plain, ours_on_one, plain_on_all, theirs] =
        best.map(|time| 1000.0 * time.as_secs_f64());
    print!(
        "data: {name} rows={ROWS} ours={ours:.1}ms loop={plain:.1}ms ratio={:.2} \
         threads={threads} loop_on_all={plain_on_all:.1}ms ratio_on_all={:.2} \
         ours_on_one={ours_on_one:.1}ms ratio_on_one={:.2}",
        ours / plain,
        ours / plain_on_all,
        ours_on_one / plain,
    );
    let is_compared = theirs < 1e6;
    match is_compared {
        true => println!(" opendp={theirs:.1}ms ratio_to_opendp={:.2}", ours / theirs),
        false => println!(),
    }
    let theirs = if is_compared {
        format!("{theirs:.0} ")
    } else {
        String::new()
    };
    let _ = writeln!(
        table,
        "| {words} | {ours:.1} | {:.2} | {:.2} | {:.2} | {theirs}|",
        ours / plain,
        ours / plain_on_all,
        ours_on_one / plain,
    );
}

/// Nothing to compare with.
const NONE: Option<&dyn Fn()> = None;

/// Runs an OpenDP measurement.
fn run<DI: Domain, TO, MI: Metric, MO: Measure>(
    measurement: &Measurement<DI, MI, MO, TO>,
    data: &DI::Carrier,
) -> TO
where
    (DI, MI): opendp::core::MetricSpace,
{
    measurement.invoke(data).expect("an answer")
}

/// A column without null values.
fn column<T: opendp::traits::CheckAtom>() -> VectorDomain<AtomDomain<T>> {
    VectorDomain::new(AtomDomain::default())
}

fn rows(table: &mut Table) {
    let people: Arc<Vec<Person>> = Arc::new(numbers().take(ROWS).map(person).collect());
    let filter = Filter::concurrent(PureDp, text("1e6"));
    let filter = start(&filter, Arc::clone(&people)).expect("a filter");

    let limit = black_box(18);
    let adults = Predicate::new("adults", move |person: &Person| {
        person.age >= limit && person.income > 1000.0
    });
    let count = Count::of(adults).laplace(epsilon!(1)).expect("a count");
    compare(
        table,
        ["count", "count of rows"],
        || filter.release(&count),
        |range| {
            let adults = people[range]
                .iter()
                .filter(|p| p.age >= limit && p.income > 1000.0);
            adults.count()
        },
        NONE,
    );

    let (low, high) = black_box((0, 60));
    let hours = Attribute::new("hours", |person: &Person| person.hours);
    let sum = Sum::of(hours, low..=high)
        .laplace(epsilon!(1))
        .expect("a sum");
    compare(
        table,
        ["sum", "sum of rows"],
        || filter.release(&sum),
        |range| {
            let hours = people[range].iter().map(|person| person.hours);
            hours.map(|hours| hours.clamp(low, high)).sum::<i64>()
        },
        NONE,
    );

    let bins = black_box(90);
    let age = Attribute::new("age", |person: &Person| person.age as usize);
    let ages = Histogram::of(Partition::numbered(age, bins).expect("bins"))
        .laplace(epsilon!(1))
        .expect("a histogram");
    compare(
        table,
        ["histogram", "histogram of rows"],
        || filter.release(&ages),
        |range| {
            let mut counts = vec![0_u64; bins];
            for person in &people[range] {
                if let Some(count) = counts.get_mut(person.age as usize) {
                    *count += 1;
                }
            }
            counts
        },
        NONE,
    );
}

/// Plain columns, which OpenDP reads too.
fn plain_columns(table: &mut Table) {
    let hours: Arc<Vec<i64>> = Arc::new(numbers().take(ROWS).map(|n| person(n).hours).collect());
    let filter = Filter::concurrent(PureDp, text("1e6"));
    let filter = start(&filter, Arc::clone(&hours)).expect("a filter");
    let itself = || Attribute::new("hours", |hours: &i64| *hours);

    let wanted = black_box(40);
    let equal = Predicate::new("equal", move |hours: &i64| *hours == wanted);
    let count = Count::of(equal).laplace(epsilon!(1)).expect("a count");
    let theirs = make_is_equal(column::<i64>(), SymmetricDistance, wanted).expect("a predicate")
        >> make_cast_default::<_, bool, i64>(column(), SymmetricDistance).expect("a cast");
    let theirs = theirs >> make_clamp(column(), SymmetricDistance, (0, 1)).expect("a clamp");
    let ones = VectorDomain::new(AtomDomain::new_closed((0_i64, 1)).expect("bounds"));
    let theirs = theirs >> make_sum(ones, SymmetricDistance).expect("a sum");
    let noise = make_laplace::<_, _, MaxDivergence>(
        AtomDomain::<i64>::default(),
        AbsoluteDistance::<i64>::default(),
        1.0,
        None,
    );
    let theirs = (theirs >> noise.expect("noise")).expect("a measurement");
    compare(
        table,
        ["count_column", "count of a column"],
        || filter.release(&count),
        |range| hours[range].iter().filter(|h| **h == wanted).count(),
        Some(&|| run(&theirs, &hours)),
    );

    let (low, high) = black_box((0, 60));
    let sum = Sum::of(itself(), low..=high)
        .laplace(epsilon!(1))
        .expect("a sum");
    let clamp = make_clamp(column(), SymmetricDistance, (low, high)).expect("a clamp");
    let clamped = VectorDomain::new(AtomDomain::new_closed((low, high)).expect("bounds"));
    let theirs = clamp >> make_sum(clamped, SymmetricDistance).expect("a sum");
    let noise = make_laplace::<_, _, MaxDivergence>(
        AtomDomain::<i64>::default(),
        AbsoluteDistance::<i64>::default(),
        60.0,
        None,
    );
    let theirs = (theirs >> noise.expect("noise")).expect("a measurement");
    compare(
        table,
        ["sum_column", "sum of a column"],
        || filter.release(&sum),
        |range| {
            hours[range]
                .iter()
                .map(|h| (*h).clamp(low, high))
                .sum::<i64>()
        },
        Some(&|| run(&theirs, &hours)),
    );

    let bins = black_box(90);
    let bin = Attribute::new("hours", |hours: &i64| *hours as usize);
    let bins_of_hours = Histogram::of(Partition::numbered(bin, bins).expect("bins"))
        .laplace(epsilon!(1))
        .expect("a histogram");
    let categories = (0..bins as i64).collect();
    let theirs = make_count_by_categories::<L1Distance<i64>, i64, i64>(
        column(),
        SymmetricDistance,
        categories,
        false,
    );
    let noise = make_laplace::<_, _, MaxDivergence>(
        VectorDomain::new(AtomDomain::<i64>::new_non_nan()),
        L1Distance::<i64>::default(),
        1.0,
        None,
    );
    let theirs = (theirs.expect("counts") >> noise.expect("noise")).expect("a measurement");
    compare(
        table,
        ["histogram_column", "histogram of a column"],
        || filter.release(&bins_of_hours),
        |range| {
            let mut counts = vec![0_u64; bins];
            for hours in &hours[range] {
                if let Some(count) = counts.get_mut(*hours as usize) {
                    *count += 1;
                }
            }
            counts
        },
        Some(&|| run(&theirs, &hours)),
    );
}

fn columns(table: &mut Table) {
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
    let filter = start(&filter, Arc::clone(&columns)).expect("a filter");
    let (age, hours, income) = black_box((18, 10, 1000.0));
    let count = Predicate::new("count", move |row: Record| {
        row.age >= age && row.hours > hours && row.income > income
    });
    let count = Count::of(count).laplace(epsilon!(1)).expect("a count");
    compare(
        table,
        ["count_columns", "count of a struct of columns"],
        || filter.release(&count),
        |range| {
            let ages = columns.age[range.clone()].iter();
            let rows = ages
                .zip(&columns.hours[range.clone()])
                .zip(&columns.income[range]);
            rows.filter(|((a, h), i)| **a >= age && **h > hours && **i > income)
                .count()
        },
        NONE,
    );
}

/// Clipped to a length of 1. With two coordinates one in twenty is longer, with four one in forty,
/// with twenty one in three.
fn vectors<const N: usize>(table: &mut Table, names: [&str; 2], scale: f32) {
    let mut numbers = numbers();
    let mut coordinate = || {
        let number = numbers.next().unwrap_or_default();
        (number % 1000) as f32 / scale
    };
    let vectors: Vec<[f32; N]> = (0..ROWS)
        .map(|_| std::array::from_fn(|_| coordinate()))
        .collect();
    let vectors = Arc::new(vectors);
    let filter = start(&Filter::concurrent(ZCdp, text("1e6")), Arc::clone(&vectors));
    let filter = filter.expect("a filter");
    let vector = Vector::new("vector", |vector: &[f32; N], out: &mut [f64]| {
        for (out, number) in out.iter_mut().zip(vector) {
            *out = f64::from(*number);
        }
    });
    let lattice = Lattice::in_steps(-10, 1024);
    let sum = VectorSum::of(vector, N, lattice)
        .gaussian(rho!(1))
        .expect("a sum");
    compare(
        table,
        names,
        || filter.release(&sum),
        |range| {
            let mut sum = [0.0_f64; N];
            for vector in &vectors[range] {
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
        NONE,
    );
}

fn text<T: std::str::FromStr<Err: std::fmt::Debug>>(text: &str) -> T {
    text.parse().expect("a number")
}

fn main() {
    let conditions = page::conditions();
    let mut table = Table::new();
    rows(&mut table);
    plain_columns(&mut table);
    columns(&mut table);
    let two = ["vector_sum_2", "sum of clipped vectors, 2 coordinates"];
    vectors::<2>(&mut table, two, 1200.0);
    vectors::<4>(
        &mut table,
        ["vector_sum_4", "the same, 4 coordinates"],
        1600.0,
    );
    vectors::<20>(
        &mut table,
        ["vector_sum_20", "the same, 20 coordinates"],
        2700.0,
    );
    if page::whole_run() {
        let section = format!(
            "{conditions}\n\nA release over {ROWS} rows, everything included, beside a loop written by \
             hand that computes the same without noise: in turns, the best of {RUNS}, elapsed. The \
             target is at most 1.2 times the plain loop.\n\n\
             | | ours, ms | times the plain loop | times the loop on both cores | \
             on one thread: times the loop | OpenDP, ms |\n|---|---:|---:|---:|---:|---:|\n{table}\n\
             Vectors are rounded to a lattice and clipped exactly, which the loop does not do."
        );
        page::write_section("Passes over data", &section);
    }
}
