//! A middle that asks several queries for one.

use std::fmt;
use std::sync::Arc;

use super::{Middle, Move, MoveOf};
use crate::machine::{Coins, Fault};

/// Splits a query into several, asks them in order, and combines the answers.
///
/// Should the machine reject one of them, the whole query is rejected. A query may be split into as
/// many as the round limit allows, a thousand unless
/// [`with_round_limit`](super::Through::with_round_limit) says otherwise.
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
pub struct Split<Outer, Inner, From, To> {
    split: Arc<dyn Fn(Outer) -> Vec<Inner> + Send + Sync>,
    combine: Arc<dyn Fn(Vec<From>) -> To + Send + Sync>,
    left: std::vec::IntoIter<Inner>,
    heard: Vec<From>,
}

impl<Outer, Inner, From, To> Split<Outer, Inner, From, To> {
    /// Splits queries with one function and combines answers with the other.
    pub fn new(
        split: impl Fn(Outer) -> Vec<Inner> + Send + Sync + 'static,
        combine: impl Fn(Vec<From>) -> To + Send + Sync + 'static,
    ) -> Self {
        Self {
            split: Arc::new(split),
            combine: Arc::new(combine),
            left: Vec::new().into_iter(),
            heard: Vec::new(),
        }
    }

    fn go_on(&mut self) -> Move<Inner, To> {
        match self.left.next() {
            Some(query) => Move::Ask(query),
            None => Move::Answer((self.combine)(std::mem::take(&mut self.heard))),
        }
    }
}

impl<Outer, Inner, From, To> Middle for Split<Outer, Inner, From, To> {
    type OuterQuery = Outer;
    type OuterAnswer = To;
    type InnerQuery = Inner;
    type InnerAnswer = From;

    fn on_query(&mut self, query: Outer, _coins: &mut Coins<'_>) -> Result<MoveOf<Self>, Fault> {
        // Whatever an earlier query that was rejected halfway has left is forgotten.
        self.left = (self.split)(query).into_iter();
        self.heard.clear();
        Ok(self.go_on())
    }

    fn on_answer(&mut self, answer: From, _coins: &mut Coins<'_>) -> Result<MoveOf<Self>, Fault> {
        self.heard.push(answer);
        Ok(self.go_on())
    }
}

impl<Outer, Inner: Clone, From: Clone, To> Clone for Split<Outer, Inner, From, To> {
    fn clone(&self) -> Self {
        Self {
            split: Arc::clone(&self.split),
            combine: Arc::clone(&self.combine),
            left: self.left.clone(),
            heard: self.heard.clone(),
        }
    }
}

impl<Outer, Inner, From, To> fmt::Debug for Split<Outer, Inner, From, To> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Split")
    }
}

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
