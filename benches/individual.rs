//! What it costs that each record pays for itself:
//! `cargo bench --bench individual`.
//!
//! A million records of eight numbers, a hundred launches of a Gaussian vector sum in an individual
//! filter, on one thread and on two. Beside it the plain clipped noisy sum, written as a tight loop
//! over the same records with the same number of threads: clip each vector to the length, add it up,
//! add noise. Both in turn, a launch each, and the fastest of each counts. The targets are at most 3
//! times the loop, and 16 bytes for each record.

use std::hint::black_box;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use allocation_counter::measure;
use queryables::compose::IndividualFilter;
use queryables::data::Vector;
use queryables::mechanisms::Lattice;
use queryables::mechanisms::VectorSum;
use queryables::prelude::*;

const RECORDS: usize = 1_000_000;
const LAUNCHES: usize = 100;
const NUMBERS: usize = 8;

type Record = [f64; NUMBERS];

/// Vectors without a pattern, of lengths around 1: some are clipped, and some are not.
fn records() -> Vec<Record> {
    let mut state = 7_u64;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(99);
        (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
    };
    (0..RECORDS)
        .map(|_| std::array::from_fn(|_| 1.2 * next()))
        .collect()
}

/// The sum of vectors clipped to a length of 1, as one would write it.
fn plain(records: &[Record]) -> Record {
    let mut sum = [0.0; NUMBERS];
    for record in records {
        let square: f64 = record.iter().map(|number| number * number).sum();
        let factor = if square > 1.0 {
            1.0 / square.sqrt()
        } else {
            1.0
        };
        for (sum, number) in sum.iter_mut().zip(record) {
            *sum += number * factor;
        }
    }
    sum
}

/// The same on two threads.
fn plain_on_two(records: &[Record]) -> Record {
    let (one, other) = records.split_at(records.len() / 2);
    thread::scope(|scope| {
        let half = scope.spawn(|| plain(one));
        let mut sum = plain(other);
        let half = half.join().expect("adding does not panic");
        sum.iter_mut()
            .zip(half)
            .for_each(|(sum, half)| *sum += half);
        sum
    })
}

fn timed<T>(best: &mut Duration, work: impl FnOnce() -> T) {
    let started = Instant::now();
    black_box(work());
    *best = started.elapsed().min(*best);
}

fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let data = Arc::new(records());
    // A length of 1 on a lattice of 2^-20. Records run out of their budget after 40 to 100 launches.
    let lattice = Lattice::in_steps(-20, 1 << 20);
    let step = Vector::new("step", |record: &Record, out: &mut [f64]| {
        out.copy_from_slice(record);
    });
    let sum = VectorSum::of(step, NUMBERS, lattice).gaussian(rho!(0.01))?;
    let filter = IndividualFilter::new(ZCdp, "0.4".parse()?);

    let mut started = None;
    let held = measure(|| started = Some(start(&filter, Arc::clone(&data))));
    drop(started);
    let bytes = held.bytes_max as f64 / RECORDS as f64;

    for threads in [1, 2] {
        // On a thread of a pool, a pass does not use others.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
        let running = start(&filter, Arc::clone(&data))?;
        let mut best = [Duration::MAX; 2];
        let [ours, theirs] = &mut best;
        for _ in 0..LAUNCHES {
            if threads == 1 {
                pool.install(|| timed(ours, || running.release(&sum)));
                timed(theirs, || plain(&data));
            } else {
                timed(ours, || running.release(&sum));
                timed(theirs, || plain_on_two(&data));
            }
        }
        let [ours, theirs] = best.map(|time| time.as_secs_f64());
        println!(
            "individual: n={RECORDS} launches={LAUNCHES} ratio={:.2} bytes_per_record={bytes:.2} \
             threads={threads} ours={:.2} ms plain={:.2} ms",
            ours / theirs,
            1e3 * ours,
            1e3 * theirs,
        );
    }
    Ok(())
}
