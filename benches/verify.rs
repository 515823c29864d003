//! How fast conversations are explored: `cargo bench --package benches --bench verify`.
//!
//! Three interleaved children with four possible answers and a hidden state each, a menu of six
//! queries (two for each child), and a depth of six: all adversaries must be through within a
//! minute on two cores.

use std::sync::Arc;
use std::time::Instant;

use queryables::compose::ConcurrentComposition;
use queryables::machine::{Coins, CoinsError, Fault, Machine, Mechanism};
use queryables::verify::{Pair, Rational, Verifier, Worst, copies_of};

/// Answers with the value, the query and a hidden offset, plus noise, modulo four.
#[derive(Clone)]
struct Offset;

#[derive(Hash)]
struct OffsetMachine {
    value: u64,
    offset: u64,
}

impl Mechanism<u64> for Offset {
    type Machine = OffsetMachine;

    fn start(&self, data: &Arc<u64>, coins: &mut Coins<'_>) -> Result<OffsetMachine, Fault> {
        Ok(OffsetMachine {
            value: **data,
            offset: coins.weighted(&[2, 1])? as u64,
        })
    }
}

impl Machine for OffsetMachine {
    type Query = u64;
    type Answer = u64;

    fn step(&mut self, query: u64, coins: &mut Coins<'_>) -> Result<u64, Fault> {
        let noise = noise(coins)?;
        Ok((self.value + self.offset * query + noise) % 4)
    }
}

fn noise(coins: &mut Coins<'_>) -> Result<u64, CoinsError> {
    Ok(coins.weighted(&[8, 4, 2, 1])? as u64)
}

fn report<Q, A>(what: &str, begin: Instant, worst: &Worst<Q, A>) {
    let seconds = begin.elapsed().as_secs_f64();
    println!(
        "{what:<40} {seconds:>7.2} s  {:>9} points ({:>8.0}/s)  {:>9} runs ({:>8.0}/s)",
        worst.scope.points,
        worst.scope.points as f64 / seconds,
        worst.scope.runs,
        worst.scope.runs as f64 / seconds,
    );
}

fn main() {
    let pair = Pair::new(0, 1);
    let three = ConcurrentComposition::new([Offset, Offset, Offset]);
    let menu: Vec<(usize, u64)> = (0..3).flat_map(|child| [(child, 1), (child, 2)]).collect();
    let two = Rational::from(2_u8);

    for depth in [3, 4] {
        let begin = Instant::now();
        let worst = Verifier::new(copies_of(&three), &pair, menu.clone(), depth)
            .limit(u64::MAX)
            .worst_delta(two.clone())
            .expect("explored");
        report(&format!("depth {depth}, only answers seen"), begin, &worst);
    }
    for (depth, threads) in [(4, 2), (5, 1), (5, 2), (6, 2)] {
        let begin = Instant::now();
        let worst = Verifier::by_state(copies_of(&three), &pair, menu.clone(), depth)
            .limit(u64::MAX)
            .threads(threads)
            .worst_delta(two.clone())
            .expect("explored");
        report(
            &format!("depth {depth}, by state, {threads} threads"),
            begin,
            &worst,
        );
    }
}
