use std::fmt;
use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;

use crate::machine::{Coins, Fault, Machine, Mechanism};
use crate::number::Epsilon;
use crate::privacy::{AddRemove, Private, PureDp, UnknownLoss};
use crate::verify::{Rational, epsilon_of_ratio};

/// A mechanism on a bit that is a table of odds, so that its loss is true by construction: the
/// largest ratio of the odds of an answer, for each answer that it gives.
///
/// ```
/// use queryables::verify::strategies::FiniteMechanism;
///
/// // One query with two answers, given once.
/// let mechanism = FiniteMechanism::new(vec![[vec![1, 1], vec![1, 3]]], 1)?;
/// // 1/2 against 1/4: ln 2, rounded up.
/// assert_eq!(mechanism.total_loss()?.to_string(), "0.693147180559945309417232122");
/// # Ok::<(), queryables::privacy::UnknownLoss>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct FiniteMechanism {
    /// For each query: the odds of each answer, if the bit is false and if it is true. As many on
    /// one side as on the other, all above zero.
    odds: Vec<[Vec<u64>; 2]>,
    /// How many queries are answered.
    answers: u64,
    /// The loss that follows from these; `None` if it is more than can be held. Computed once, because it is
    /// stated at every launch, and a logarithm with certified digits is slow.
    loss: Option<Epsilon>,
}

impl fmt::Debug for FiniteMechanism {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FiniteMechanism")
            .field("odds", &self.odds)
            .field("answers", &self.answers)
            .finish()
    }
}

impl FiniteMechanism {
    /// A mechanism that answers `answers` queries. For each query there are the odds of each
    /// answer, if the bit is false and if it is true.
    ///
    /// # Errors
    ///
    /// [`UnknownLoss`] if an answer is possible on one side only, that is, if the odds are not
    /// equally many or one of them is zero: no finite loss would be true. Also if there are no
    /// answers to a query, or if odds add up to more than a `u64` holds.
    pub fn new(odds: Vec<[Vec<u64>; 2]>, answers: u64) -> Result<Self, UnknownLoss> {
        for [one, other] in &odds {
            if one.is_empty() || one.len() != other.len() {
                return Err(UnknownLoss(
                    "both sides need the same answers, at least one",
                ));
            }
            for side in [one, other] {
                if side.contains(&0) {
                    return Err(UnknownLoss("every answer must be possible on both sides"));
                }
                let total = side
                    .iter()
                    .try_fold(0_u64, |sum, odds| sum.checked_add(*odds));
                total.ok_or(UnknownLoss("the sum of the odds is too large"))?;
            }
        }
        Ok(Self::of(odds, answers))
    }

    /// The conditions of [`new`](Self::new) hold.
    fn of(odds: Vec<[Vec<u64>; 2]>, answers: u64) -> Self {
        let ratios = odds.iter().flat_map(|[one, other]| {
            let total = |odds: &[u64]| Rational::from(odds.iter().sum::<u64>());
            let (one_total, other_total) = (total(one), total(other));
            one.iter().zip(other).map(move |(p, q)| {
                let ratio = Rational::from(*p) / Rational::from(*q) * &other_total / &one_total;
                let inverse = Rational::ONE / &ratio;
                ratio.max(inverse)
            })
        });
        let largest = ratios.fold(Rational::ONE, Ord::max);
        let loss = epsilon_of_ratio(&largest).and_then(|each| each.checked_mul(answers));
        Self {
            odds,
            answers,
            loss,
        }
    }

    /// For each query: the odds of each answer, if the bit is false and if it is true.
    #[must_use]
    pub fn odds(&self) -> &[[Vec<u64>; 2]] {
        &self.odds
    }

    /// How many queries are answered.
    #[must_use]
    pub fn answers(&self) -> u64 {
        self.answers
    }

    /// Everything that it can be asked.
    #[must_use]
    pub fn queries(&self) -> Vec<usize> {
        (0..self.odds.len()).collect()
    }

    /// The loss of all answers together, rounded up.
    ///
    /// # Errors
    ///
    /// [`UnknownLoss`] if it is more than can be held.
    pub fn total_loss(&self) -> Result<Epsilon, UnknownLoss> {
        self.loss
            .ok_or(UnknownLoss("the loss is more than can be held"))
    }
}

impl Mechanism<bool> for FiniteMechanism {
    type Machine = FiniteMachine;

    fn start(&self, data: &Arc<bool>, _coins: &mut Coins<'_>) -> Result<FiniteMachine, Fault> {
        Ok(FiniteMachine {
            mechanism: self.clone(),
            bit: **data,
            left: self.answers,
        })
    }
}

impl Private<PureDp, AddRemove> for FiniteMechanism {
    fn loss(&self, _: &PureDp) -> Result<Epsilon, UnknownLoss> {
        self.total_loss()
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

    fn step(&mut self, query: usize, coins: &mut Coins<'_>) -> Result<usize, Fault> {
        let odds = self.mechanism.odds.get(query);
        let [one, other] = odds.ok_or(Fault::InvalidQuery("no such query"))?;
        self.left = self.left.checked_sub(1).ok_or(Fault::Exhausted)?;
        Ok(coins.weighted(if self.bit { other } else { one })?)
    }
}

/// Mechanisms with one or two queries, two or three answers to each, odds of up to four, and up to
/// two answers in all.
///
/// Example: [`strategies`](crate::verify::strategies).
pub fn finite_mechanisms() -> impl Strategy<Value = FiniteMechanism> + Clone {
    let table = (2..=3_usize).prop_flat_map(|answers| {
        let odds = vec(1..=4_u64, answers);
        [odds.clone(), odds]
    });
    // The conditions of `new` hold by construction.
    (vec(table, 1..=2), 1..=2_u64).prop_map(|(odds, answers)| FiniteMechanism::of(odds, answers))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_table_lies_about_its_loss() {
        let of = |one: &[u64], other: &[u64]| {
            FiniteMechanism::new(vec![[one.to_vec(), other.to_vec()]], 1)
        };
        let uneven = UnknownLoss("both sides need the same answers, at least one");
        assert_eq!(of(&[1, 1], &[1, 1, 2]), Err(uneven));
        assert_eq!(of(&[], &[]), Err(uneven));
        let impossible = UnknownLoss("every answer must be possible on both sides");
        assert_eq!(of(&[1, 0], &[1, 1]), Err(impossible));
        assert_eq!(of(&[1, 1], &[0, 1]), Err(impossible));
        let large = UnknownLoss("the sum of the odds is too large");
        assert_eq!(of(&[1, 1], &[1, u64::MAX]), Err(large));
        assert!(of(&[1, 1], &[1, u64::MAX - 1]).is_ok());
    }

    #[test]
    fn a_loss_that_cannot_be_held_is_not_none() {
        let endless = FiniteMechanism::new(vec![[vec![1, 1], vec![1, 3]]], u64::MAX).unwrap();
        assert_eq!(
            endless.total_loss(),
            Err(UnknownLoss("the loss is more than can be held"))
        );
        assert_eq!(endless.loss(&PureDp), endless.total_loss());
    }
}
