//! Above-threshold, and what can go wrong in it.

use std::sync::Arc;

use queryables::machine::{Coins, CoinsError, Fault, Machine, Mechanism};

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Bug {
    Nothing,
    /// After the first hit it goes on, with the same noisy threshold, and spends nothing.
    GoesOn,
    /// The counts have no noise of their own.
    NoQueryNoise,
}

#[derive(Clone, Debug)]
pub(crate) struct AboveThreshold(pub(crate) Bug);

#[derive(Debug, Hash)]
pub(crate) struct Comparing {
    bug: Bug,
    rows: Arc<Vec<u8>>,
    threshold: i64,
    done: bool,
}

const REACH: i64 = 5;

/// `k` with odds of `2^-|k|`, cut off at `REACH`.
fn noise(coins: &mut Coins<'_>) -> Result<i64, CoinsError> {
    let weights: Vec<u64> = (-REACH..=REACH).map(|k| 1 << (REACH - k.abs())).collect();
    Ok(coins.weighted(&weights)? as i64 - REACH)
}

impl Mechanism<Vec<u8>> for AboveThreshold {
    type Machine = Comparing;

    fn start(&self, data: &Arc<Vec<u8>>, coins: &mut Coins<'_>) -> Result<Comparing, Fault> {
        Ok(Comparing {
            bug: self.0,
            rows: Arc::clone(data),
            threshold: 1 + noise(coins)?,
            done: false,
        })
    }
}

impl Machine for Comparing {
    type Query = u8;
    type Answer = bool;

    fn step(&mut self, value: u8, coins: &mut Coins<'_>) -> Result<bool, Fault> {
        if self.done && self.bug != Bug::GoesOn {
            return Err(Fault::Exhausted);
        }
        let count = self.rows.iter().filter(|row| **row == value).count() as i64;
        let noise = if self.bug == Bug::NoQueryNoise {
            0
        } else {
            noise(coins)?
        };
        let above = count + noise > self.threshold;
        self.done |= above;
        Ok(above)
    }
}
