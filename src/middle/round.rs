//! Middles that make answers coarser.

use std::marker::PhantomData;
use std::num::NonZeroU32;

use super::{Middle, Move, MoveOf};
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
#[derive(Debug)]
pub struct Round<Q> {
    step: i64,
    query: PhantomData<fn(Q)>,
}

impl<Q> Round<Q> {
    /// To multiples of this.
    #[must_use]
    pub fn to(step: NonZeroU32) -> Self {
        Self {
            step: i64::from(step.get()),
            query: PhantomData,
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

impl<Q> Clone for Round<Q> {
    fn clone(&self) -> Self {
        Self { ..*self }
    }
}

impl<Q> Middle for Round<Q> {
    type OuterQuery = Q;
    type OuterAnswer = i64;
    type InnerQuery = Q;
    type InnerAnswer = i64;

    fn on_query(&mut self, query: Q, _coins: &mut Coins<'_>) -> Result<MoveOf<Self>, Fault> {
        Ok(Move::Ask(query))
    }

    fn on_answer(&mut self, answer: i64, _coins: &mut Coins<'_>) -> Result<MoveOf<Self>, Fault> {
        Ok(Move::Answer(self.round(answer)))
    }
}

/// Moves answers that lie outside a range to its nearest end.
///
/// An answer that compares with neither end, such as a float that is not a number, becomes the
/// lower end. [`ThroughExt`](super::ThroughExt) has an example.
#[derive(Debug)]
pub struct Clamp<Q, A> {
    low: A,
    high: A,
    query: PhantomData<fn(Q)>,
}

impl<Q, A> Clamp<Q, A> {
    /// To `low..=high`. If `low` is above `high`, every answer is `low`.
    pub fn new(low: A, high: A) -> Self {
        Self {
            low,
            high,
            query: PhantomData,
        }
    }
}

impl<Q, A: Clone> Clone for Clamp<Q, A> {
    fn clone(&self) -> Self {
        Self::new(self.low.clone(), self.high.clone())
    }
}

impl<Q, A: PartialOrd + Clone> Middle for Clamp<Q, A> {
    type OuterQuery = Q;
    type OuterAnswer = A;
    type InnerQuery = Q;
    type InnerAnswer = A;

    fn on_query(&mut self, query: Q, _coins: &mut Coins<'_>) -> Result<MoveOf<Self>, Fault> {
        Ok(Move::Ask(query))
    }

    fn on_answer(&mut self, answer: A, _coins: &mut Coins<'_>) -> Result<MoveOf<Self>, Fault> {
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

    fn through<P: Middle<OuterQuery = (), InnerQuery = ()>>(
        middle: P,
        answer: P::InnerAnswer,
    ) -> P::OuterAnswer
    where
        P::InnerAnswer: Clone,
    {
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
