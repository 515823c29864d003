//! A middle that asks several queries for one.

use std::marker::PhantomData;
use std::vec;

use super::{Middle, Move};
use crate::machine::{Coins, Fault};

/// Splits a query into several, asks them in order, and combines the answers.
///
/// If the machine rejects one of them, the whole query is rejected. A query may be split into as
/// many as the round limit allows: see [`with_round_limit`](super::Through::with_round_limit).
///
/// ```
/// use queryables::machine::{CoinSource, Machine, NotPrivateSeededCoins, Released};
/// use queryables::middle::{Postprocessed, Split};
///
/// let sum_of = Split::new(|times: usize| vec![(); times], |answers: Vec<i64>| answers.iter().sum::<i64>());
/// let mut machine = Postprocessed::new(sum_of, Released(5));
/// let mut source = NotPrivateSeededCoins::new(0);
/// let mut coins = source.coins();
/// assert_eq!(machine.step(3, &mut coins), Ok(15));
/// assert_eq!(machine.step(0, &mut coins), Ok(0));
/// ```
pub struct Split<O, Q, A, S, C> {
    split: S,
    combine: C,
    left: vec::IntoIter<Q>,
    heard: Vec<A>,
    query: PhantomData<fn(O)>,
}

impl<O, Q, A, S, C> Split<O, Q, A, S, C> {
    /// Splits queries with one function and combines answers with the other.
    pub fn new<B>(split: S, combine: C) -> Self
    where
        S: FnMut(O) -> Vec<Q>,
        C: FnMut(Vec<A>) -> B,
    {
        Self {
            split,
            combine,
            left: Vec::new().into_iter(),
            heard: Vec::new(),
            query: PhantomData,
        }
    }

    fn go_on<B>(&mut self) -> Move<Q, B>
    where
        C: FnMut(Vec<A>) -> B,
    {
        match self.left.next() {
            Some(query) => Move::Ask(query),
            None => Move::Answer((self.combine)(std::mem::take(&mut self.heard))),
        }
    }
}

impl<O, Q, A, B, S, C> Middle<Q, A> for Split<O, Q, A, S, C>
where
    S: FnMut(O) -> Vec<Q>,
    C: FnMut(Vec<A>) -> B,
{
    type OuterQuery = O;
    type OuterAnswer = B;

    fn on_query(&mut self, query: O, _coins: &mut Coins<'_>) -> Result<Move<Q, B>, Fault> {
        // Drops what is left of an earlier query that was rejected halfway.
        self.left = (self.split)(query).into_iter();
        self.heard.clear();
        Ok(self.go_on())
    }

    fn on_answer(&mut self, answer: A, _coins: &mut Coins<'_>) -> Result<Move<Q, B>, Fault> {
        self.heard.push(answer);
        Ok(self.go_on())
    }
}

crate::clone_fields!([O, Q: Clone, A: Clone, S: Clone, C: Clone] Split<O, Q, A, S, C> { split, combine, left, heard, query });

crate::debug_fields!([O, Q, A, S, C] Split<O, Q, A, S, C>, "Split");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{CoinSource, Machine, NotPrivateSeededCoins};
    use crate::middle::Postprocessed;

    /// Echoes small numbers and rejects large ones.
    struct Small;

    impl Machine for Small {
        type Query = u32;
        type Answer = u32;

        fn step(&mut self, query: u32, _: &mut Coins<'_>) -> Result<u32, Fault> {
            if query < 10 {
                Ok(query)
            } else {
                Err(Fault::InvalidQuery("large"))
            }
        }
    }

    #[test]
    fn a_query_rejected_halfway_leaves_nothing_behind() {
        let list = Split::new(|queries: Vec<u32>| queries, |answers: Vec<u32>| answers);
        let mut machine = Postprocessed::new(list, Small);
        let mut ask = |queries| machine.step(queries, &mut NotPrivateSeededCoins::new(0).coins());
        assert_eq!(ask(vec![1, 2]), Ok(vec![1, 2]));
        assert_eq!(ask(vec![3, 10, 4]), Err(Fault::InvalidQuery("large")));
        assert_eq!(ask(vec![5]), Ok(vec![5]));
    }
}
