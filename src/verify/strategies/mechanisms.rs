use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;

use crate::machine::{Coins, Fault, Machine, Mechanism};
use crate::privacy::{AddRemove, Epsilon, Private, PureDp, UnknownLoss};
use crate::verify::{Rational, epsilon_of_ratio};

/// A mechanism on a bit that is nothing but a table of odds, so that its loss is true by
/// construction: the largest ratio of the odds of an answer, for each answer that it gives.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FiniteMechanism {
    /// For each query: the odds of each answer, if the bit is false and if it is true.
    pub odds: Vec<[Vec<u64>; 2]>,
    /// How many queries are answered.
    pub answers: u64,
}

impl FiniteMechanism {
    /// Everything that it can be asked.
    #[must_use]
    pub fn queries(&self) -> Vec<usize> {
        (0..self.odds.len()).collect()
    }

    /// The loss of all answers together, rounded up.
    #[must_use]
    pub fn total_loss(&self) -> Epsilon {
        let ratios = self.odds.iter().flat_map(|[one, other]| {
            let total = |odds: &[u64]| Rational::from(odds.iter().sum::<u64>());
            let (one_total, other_total) = (total(one), total(other));
            one.iter().zip(other).map(move |(p, q)| {
                let ratio = Rational::from(*p) / Rational::from(*q) * &other_total / &one_total;
                let inverse = Rational::ONE / &ratio;
                ratio.max(inverse)
            })
        });
        let largest = ratios.fold(Rational::ONE, Ord::max);
        let each = epsilon_of_ratio(&largest).unwrap_or_default();
        each.checked_mul(self.answers).unwrap_or_default()
    }
}

impl Mechanism<bool> for FiniteMechanism {
    type Machine = FiniteMachine;

    fn start(&self, data: &Arc<bool>, _coins: &mut dyn Coins) -> Result<FiniteMachine, Fault> {
        Ok(FiniteMachine {
            mechanism: self.clone(),
            bit: **data,
            left: self.answers,
        })
    }
}

impl Private<PureDp, AddRemove> for FiniteMechanism {
    fn loss(&self, _: &PureDp) -> Result<Epsilon, UnknownLoss> {
        Ok(self.total_loss())
    }
}

/// A running [`FiniteMechanism`]; its answers are numbers.
#[derive(Clone, Debug, Hash)]
pub struct FiniteMachine {
    mechanism: FiniteMechanism,
    bit: bool,
    left: u64,
}

impl Machine for FiniteMachine {
    type Query = usize;
    type Answer = usize;

    fn step(&mut self, query: usize, coins: &mut dyn Coins) -> Result<usize, Fault> {
        let odds = self.mechanism.odds.get(query);
        let [one, other] = odds.ok_or(Fault::InvalidQuery("no such query"))?;
        self.left = self.left.checked_sub(1).ok_or(Fault::Exhausted)?;
        Ok(coins.weighted(if self.bit { other } else { one })?)
    }
}

/// Mechanisms with one or two queries, two or three answers to each, odds of up to four, and up to
/// two answers in all.
pub fn finite_mechanisms() -> impl Strategy<Value = FiniteMechanism> + Clone {
    let table = (2..=3_usize).prop_flat_map(|answers| {
        let odds = vec(1..=4_u64, answers);
        [odds.clone(), odds]
    });
    (vec(table, 1..=2), 1..=2_u64).prop_map(|(odds, answers)| FiniteMechanism { odds, answers })
}
