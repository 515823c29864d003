//! A middle that holds answers back.

use std::marker::PhantomData;
use std::num::NonZeroU32;

use super::{Middle, Move, MoveOf};
use crate::machine::{Coins, Fault};

/// Holds answers back until so many of them can be averaged: `None` until then.
///
/// ```
/// use queryables::machine::{CoinSource, Machine, NotPrivateSeededCoins, Released};
/// use queryables::middle::{Average, Postprocessed};
/// use std::num::NonZeroU32;
///
/// let pairs = Average::of(NonZeroU32::new(2).unwrap());
/// let mut machine = Postprocessed::new(pairs, Released(4_i64));
/// let answers = [(); 4].map(|()| machine.step((), &mut NotPrivateSeededCoins::new(0).coins()));
/// assert_eq!(answers, [Ok(None), Ok(Some(4.0)), Ok(None), Ok(Some(4.0))]);
/// ```
#[derive(Debug)]
pub struct Average<Q> {
    count: u32,
    heard: u32,
    sum: i128,
    query: PhantomData<fn(Q)>,
}

impl<Q> Average<Q> {
    /// Averages of so many answers.
    #[must_use]
    pub fn of(count: NonZeroU32) -> Self {
        Self {
            count: count.get(),
            heard: 0,
            sum: 0,
            query: PhantomData,
        }
    }
}

impl<Q> Clone for Average<Q> {
    fn clone(&self) -> Self {
        Self { ..*self }
    }
}

impl<Q> Middle for Average<Q> {
    type OuterQuery = Q;
    type OuterAnswer = Option<f64>;
    type InnerQuery = Q;
    type InnerAnswer = i64;

    fn on_query(&mut self, query: Q, _coins: &mut Coins<'_>) -> Result<MoveOf<Self>, Fault> {
        Ok(Move::Ask(query))
    }

    fn on_answer(&mut self, answer: i64, _coins: &mut Coins<'_>) -> Result<MoveOf<Self>, Fault> {
        // At most 2^32 terms of 64 bits: no overflow.
        self.sum += i128::from(answer);
        self.heard += 1;
        if self.heard < self.count {
            return Ok(Move::Answer(None));
        }
        let average = self.sum as f64 / f64::from(self.count);
        (self.heard, self.sum) = (0, 0);
        Ok(Move::Answer(Some(average)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{CoinSource, Machine, NotPrivateSeededCoins};
    use crate::middle::Postprocessed;

    /// Echoes.
    struct Echo;

    impl Machine for Echo {
        type Query = i64;
        type Answer = i64;

        fn step(&mut self, query: i64, _: &mut Coins<'_>) -> Result<i64, Fault> {
            Ok(query)
        }
    }

    #[test]
    fn each_average_is_of_its_own_answers() {
        let threes = Average::of(NonZeroU32::new(3).unwrap());
        let mut machine = Postprocessed::new(threes, Echo);
        let answers: Vec<_> = [1, 2, 6, 10, 20, 31]
            .into_iter()
            .map(|query| {
                machine
                    .step(query, &mut NotPrivateSeededCoins::new(0).coins())
                    .unwrap()
            })
            .collect();
        assert_eq!(
            answers,
            [None, None, Some(3.0), None, None, Some(61.0 / 3.0)]
        );
    }
}
