//! A home-made sparse vector technique, checked against every adaptive adversary.
//!
//! The technique compares noisy counts with a noisy threshold, and pays for the answers "above"
//! only. The first version here forgets to stop after one of them. Its tests of utility are all
//! green; `verify` finds the conversation that gives it away.
//!
//! ```text
//! cargo run --example verify_my_mechanism --features verify
//! ```

use std::error::Error;
use std::io::{self, Write};
use std::sync::Arc;

use queryables::epsilon;
use queryables::machine::{Coins, CoinsError, Fault, Machine, Mechanism};
use queryables::privacy::PureDp;
use queryables::verify::{Pair, Verifier, copies_of};

/// Says which counts are above a threshold.
///
/// Counts move by at most one, all in the same direction, when a row is added or removed. So the
/// threshold's noise and the noise of the count that is above must each hide a step of one: with
/// odds of 2 for each step, that is ε = 2 ln 2.
#[derive(Clone, Debug)]
struct AboveThreshold {
    threshold: i64,
    /// Stop after the first count that is above. The author has read that this is needed, and has
    /// made it an option.
    stops: bool,
}

#[derive(Hash)]
struct Comparing {
    rows: Arc<Vec<u8>>,
    noisy_threshold: i64,
    stops: bool,
    done: bool,
}

/// How far the noise goes.
const REACH: i64 = 5;

/// `k` with odds of `2^-|k|`, cut off at [`REACH`].
fn noise(coins: &mut Coins<'_>) -> Result<i64, CoinsError> {
    let weights: Vec<u64> = (-REACH..=REACH).map(|k| 1 << (REACH - k.abs())).collect();
    Ok(coins.weighted(&weights)? as i64 - REACH)
}

impl Mechanism<Vec<u8>> for AboveThreshold {
    type Machine = Comparing;

    fn start(&self, data: &Arc<Vec<u8>>, coins: &mut Coins<'_>) -> Result<Comparing, Fault> {
        Ok(Comparing {
            rows: Arc::clone(data),
            noisy_threshold: self.threshold + noise(coins)?,
            stops: self.stops,
            done: false,
        })
    }
}

impl Machine for Comparing {
    type Query = u8;
    type Answer = bool;

    /// Whether the number of rows with this value is above the threshold.
    fn step(&mut self, value: u8, coins: &mut Coins<'_>) -> Result<bool, Fault> {
        if self.done && self.stops {
            return Err(Fault::Exhausted);
        }
        let count = self.rows.iter().filter(|row| **row == value).count() as i64;
        let above = count + noise(coins)? > self.noisy_threshold;
        self.done |= above;
        Ok(above)
    }
}

/// Checks both versions against the claim.
///
/// # Errors
///
/// When it cannot be checked, or when nothing can be written.
pub fn run(out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    // One row more or less.
    let pair = Pair::new(vec![7, 7, 8], vec![7, 7]);
    // 2 ln 2, rounded up.
    let claim = epsilon!(1.387);

    for stops in [false, true] {
        let mechanism = AboveThreshold {
            threshold: 1,
            stops,
        };
        let verifier = Verifier::by_state(copies_of(&mechanism), &pair, vec![7, 8], 6);
        let verdict = verifier.check(&PureDp, &claim)?;
        let version = if stops { "Repaired" } else { "Home-made" };
        writeln!(out, "{version}, claimed to be ε-private with ε = {claim}:")?;
        writeln!(out, "{verdict}\n")?;
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    run(&mut io::stdout().lock())
}
