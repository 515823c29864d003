//! A middle that holds answers back.

use std::num::NonZeroU32;

use super::{Middle, Move};
use crate::machine::{Coins, Fault};

/// Holds answers back until n of them can be averaged: `None` until then.
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
#[derive(Clone, Debug)]
pub struct Average {
    count: u32,
    heard: u32,
    sum: i128,
}

impl Average {
    /// Averages this number of answers.
    #[must_use]
    pub fn of(count: NonZeroU32) -> Self {
        Self {
            count: count.get(),
            heard: 0,
            sum: 0,
        }
    }
}

impl<Q> Middle<Q, i64> for Average {
    type OuterQuery = Q;
    type OuterAnswer = Option<f64>;

    fn on_query(
        &mut self,
        query: Q,
        _coins: &mut Coins<'_>,
    ) -> Result<Move<Q, Option<f64>>, Fault> {
        Ok(Move::Ask(query))
    }

    fn on_answer(
        &mut self,
        answer: i64,
        _coins: &mut Coins<'_>,
    ) -> Result<Move<Q, Option<f64>>, Fault> {
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
