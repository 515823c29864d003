//! Middles that make answers coarser.

use std::num::NonZeroU32;

use super::{Middle, Move};
use crate::machine::{Coins, Fault};

/// Rounds whole answers to the nearest multiple of a step, halves away from zero; what would
/// overflow stays at the last multiple that does not.
///
/// ```
/// use queryables::machine::{CoinSource, Machine, NotPrivateSeededCoins, Released};
/// use queryables::middle::{Postprocessed, Round};
/// use std::num::NonZeroU32;
///
/// let tens = Round::to(NonZeroU32::new(10).unwrap());
/// let mut machine = Postprocessed::new(tens, Released(-25_i64));
/// assert_eq!(machine.step((), &mut NotPrivateSeededCoins::new(0).coins()), Ok(-30));
/// ```
#[derive(Clone, Debug)]
pub struct Round {
    step: i64,
}

impl Round {
    /// Rounds to multiples of this.
    #[must_use]
    pub fn to(step: NonZeroU32) -> Self {
        Self {
            step: i64::from(step.get()),
        }
    }

    fn round(&self, answer: i64) -> i64 {
        let over = answer % self.step;
        let down = answer - over;
        if over.abs() * 2 >= self.step {
            down.checked_add(self.step * over.signum()).unwrap_or(down)
        } else {
            down
        }
    }
}

impl<Q> Middle<Q, i64> for Round {
    type OuterQuery = Q;
    type OuterAnswer = i64;

    fn on_query(&mut self, query: Q, _coins: &mut Coins<'_>) -> Result<Move<Q, i64>, Fault> {
        Ok(Move::Ask(query))
    }

    fn on_answer(&mut self, answer: i64, _coins: &mut Coins<'_>) -> Result<Move<Q, i64>, Fault> {
        Ok(Move::Answer(self.round(answer)))
    }
}

/// Moves answers that lie outside a range to its nearest end.
///
/// An answer that compares with neither end, such as a float that is not a number, becomes the
/// lower end. [`ThroughExt`](super::ThroughExt) has an example.
#[derive(Clone, Debug)]
pub struct Clamp<A> {
    low: A,
    high: A,
}

impl<A> Clamp<A> {
    /// Clamps to `low..=high`. If `low` is above `high`, every answer is `low`.
    pub fn new(low: A, high: A) -> Self {
        Self { low, high }
    }
}

impl<Q, A: PartialOrd + Clone> Middle<Q, A> for Clamp<A> {
    type OuterQuery = Q;
    type OuterAnswer = A;

    fn on_query(&mut self, query: Q, _coins: &mut Coins<'_>) -> Result<Move<Q, A>, Fault> {
        Ok(Move::Ask(query))
    }

    fn on_answer(&mut self, answer: A, _coins: &mut Coins<'_>) -> Result<Move<Q, A>, Fault> {
        // Each comparison is false for what does not compare.
        let clamped = if answer > self.high && self.high >= self.low {
            self.high.clone()
        } else if answer >= self.low && answer <= self.high {
            answer
        } else {
            self.low.clone()
        };
        Ok(Move::Answer(clamped))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{CoinSource, Machine, NotPrivateSeededCoins, Released};
    use crate::middle::Postprocessed;

    fn through<A: Clone, P: Middle<(), A, OuterQuery = ()>>(
        middle: P,
        answer: A,
    ) -> P::OuterAnswer {
        Postprocessed::new(middle, Released(answer))
            .step((), &mut NotPrivateSeededCoins::new(0).coins())
            .unwrap()
    }

    #[test]
    fn rounding_is_to_the_nearest_multiple() {
        let to = |step, answer| through(Round::to(NonZeroU32::new(step).unwrap()), answer);
        assert_eq!(
            [4, 5, 14, -4, -5, -14, 0].map(|answer| to(10, answer)),
            [0, 10, 10, 0, -10, -10, 0]
        );
        assert_eq!([1, 2, -1, -2].map(|answer| to(3, answer)), [0, 3, 0, -3]);
        assert_eq!(to(1, 17), 17);
        assert_eq!(to(10, i64::MAX), i64::MAX - 7);
        assert_eq!(to(10, i64::MIN), i64::MIN + 8);
        assert_eq!(to(u32::MAX, i64::MIN) % i64::from(u32::MAX), 0);
    }

    #[test]
    fn clamping_keeps_what_is_inside() {
        let clamp = |answer| through(Clamp::new(-1.5, 2.0), answer);
        assert_eq!(clamp(0.25), 0.25);
        assert_eq!(clamp(-1.5), -1.5);
        assert_eq!(clamp(2.0), 2.0);
        assert_eq!(clamp(-9.0), -1.5);
        assert_eq!(clamp(f64::INFINITY), 2.0);
        assert_eq!(clamp(f64::NAN), -1.5);
        assert_eq!(through(Clamp::new(5, 3), 4), 5);
        assert_eq!(through(Clamp::new(5, 3), 9), 5);
    }
}
