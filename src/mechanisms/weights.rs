//! The public guess of private multiplicative weights.

use std::fmt;
use std::sync::Arc;

use super::{Domain, Source};
use crate::machine::{Coins, Fault};
use crate::middle::{Middle, Move};

/// On which side of the guess a count may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// The count is larger.
    Above,
    /// The count is smaller.
    Below,
}

/// A question about the difference between a count and a guess.
#[derive(Clone, Debug)]
pub struct Gap<Q> {
    pub(super) question: Q,
    pub(super) guess: i64,
    pub(super) side: Side,
}

/// The person in the middle of [`MultiplicativeWeights`](super::MultiplicativeWeights), which knows
/// the guess.
///
/// Everything here is public, so floats are fine.
pub struct Weights<U, Q> {
    domain: Arc<U>,
    /// They add up to one.
    weights: Vec<f64>,
    pub(super) rows: u32,
    pub(super) rate: f64,
    /// The current question.
    asked: Option<Gap<Q>>,
}

impl<U, Q> Weights<U, Q> {
    /// The number of records in the domain.
    pub(super) fn size(&self) -> usize {
        self.weights.len()
    }
}

impl<U: Domain<Q>, Q: Source> Weights<U, Q> {
    /// The same weight for all of the domain, to be moved at this rate.
    pub(super) fn new(domain: U, rows: u32, rate: f64) -> Self {
        let weights = vec![1.0 / domain.size() as f64; domain.size()];
        Self {
            domain: Arc::new(domain),
            weights,
            rows,
            rate,
            asked: None,
        }
    }

    /// A question that the data must be able to count.
    pub(super) fn example(&self) -> Option<Q> {
        self.domain.example()
    }

    /// How many rows the guess has of which the condition holds.
    fn guess(&self, question: &Q) -> i64 {
        let share: f64 = (self.weights.iter().enumerate())
            .filter(|(record, _)| self.domain.holds(question, *record))
            .map(|(_, weight)| weight)
            .sum();
        (share * f64::from(self.rows)).round() as i64
    }

    /// Moves weight to the records of which the condition holds, or away from them.
    fn update(&mut self, question: &Q, side: Side) {
        let factor = match side {
            Side::Above => libm::exp(self.rate),
            Side::Below => libm::exp(-self.rate),
        };
        for (record, weight) in self.weights.iter_mut().enumerate() {
            if self.domain.holds(question, record) {
                *weight *= factor;
            }
        }
        // Not zero: the rate is at most a half, and so what added up to one is now e^(-1/2) at least.
        let total: f64 = self.weights.iter().sum();
        for weight in &mut self.weights {
            *weight /= total;
        }
    }

    fn ask(&mut self, gap: Gap<Q>) -> Move<Gap<Q>, i64> {
        self.asked = Some(gap.clone());
        Move::Ask(gap)
    }
}

impl<U: Domain<Q>, Q: Source> Middle<Gap<Q>, Option<i64>> for Weights<U, Q> {
    type OuterQuery = Q;
    type OuterAnswer = i64;

    fn on_query(&mut self, question: Q, _: &mut Coins<'_>) -> Result<Move<Gap<Q>, i64>, Fault> {
        self.domain.check(&question)?;
        let guess = self.guess(&question);
        Ok(self.ask(Gap {
            question,
            guess,
            side: Side::Above,
        }))
    }

    fn on_answer(
        &mut self,
        count: Option<i64>,
        _: &mut Coins<'_>,
    ) -> Result<Move<Gap<Q>, i64>, Fault> {
        let asked = self.asked.take().ok_or(Fault::Failed)?;
        match (count, asked.side) {
            (Some(count), side) => {
                // By the side alone: what was released is said, and nothing is computed from it.
                self.update(&asked.question, side);
                Ok(Move::Answer(count))
            }
            (None, Side::Above) => Ok(self.ask(Gap {
                side: Side::Below,
                ..asked
            })),
            (None, Side::Below) => Ok(Move::Answer(asked.guess)),
        }
    }
}

impl<U, Q> Clone for Weights<U, Q> {
    fn clone(&self) -> Self {
        Self {
            domain: Arc::clone(&self.domain),
            weights: self.weights.clone(),
            asked: None,
            ..*self
        }
    }
}

impl<U, Q> fmt::Debug for Weights<U, Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Weights")
            .field("domain", &self.weights.len())
            .field("rows", &self.rows)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::exact::rows_of;

    #[test]
    fn weights_move_toward_the_count() {
        let mut weights = Weights::new(vec![1_u8, 2, 3, 4], 100, 0.25);
        assert_eq!(weights.guess(&rows_of(1)), 25);
        weights.update(&rows_of(1), Side::Above);
        // e^0.25 of 3 + e^0.25: 0.29971.
        assert_eq!(weights.guess(&rows_of(1)), 30);
        weights.update(&rows_of(1), Side::Below);
        assert_eq!(weights.guess(&rows_of(1)), 25);
        weights.update(&rows_of(1), Side::Below);
        // e^-0.25 of 3 + e^-0.25: 0.20609.
        assert_eq!(weights.guess(&rows_of(1)), 21);
    }

    /// What the mechanism promises with `ReleasesOnly`.
    #[test]
    fn weights_do_not_depend_on_the_count_that_is_told() {
        use crate::machine::{CoinSource, NotPrivateSeededCoins};
        let moved = |count: i64| {
            let mut coins = NotPrivateSeededCoins::new(1);
            let mut weights = Weights::new(vec![1_u8, 2, 3, 4], 100, 0.25);
            let asked = weights.on_query(rows_of(1), &mut coins.coins());
            assert!(matches!(asked, Ok(Move::Ask(_))));
            let told = weights.on_answer(Some(count), &mut coins.coins());
            assert!(matches!(told, Ok(Move::Answer(answer)) if answer == count));
            weights.weights
        };
        assert_eq!(moved(30), moved(i64::MAX));
        assert_eq!(moved(30), moved(-1000));
    }
}
