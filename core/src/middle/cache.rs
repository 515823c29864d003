//! A middle that remembers.

use std::collections::HashMap;
use std::hash::Hash;

use super::{Middle, Move};
use crate::machine::{Coins, Fault};

/// Repeats the earlier answer when it hears a query again, without asking inward.
///
/// It remembers every query that it has answered: put a [`LimitQueries`](super::LimitQueries)
/// further out to bound its memory.
///
/// ```
/// use queryables::machine::{CoinSource, Coins, Fault, Machine, NotPrivateSeededCoins};
/// use queryables::middle::{Cache, Postprocessed};
///
/// struct Counter(u32);
/// impl Machine for Counter {
///     type Query = &'static str;
///     type Answer = u32;
///     fn step(&mut self, _: &'static str, _: &mut Coins<'_>) -> Result<u32, Fault> {
///         self.0 += 1;
///         Ok(self.0)
///     }
/// }
///
/// let mut machine = Postprocessed::new(Cache::new(), Counter(0));
/// let answers = ["a", "b", "a"].map(|q| machine.step(q, &mut NotPrivateSeededCoins::new(0).coins()));
/// assert_eq!(answers, [Ok(1), Ok(2), Ok(1)]);
/// ```
#[derive(Clone, Debug)]
pub struct Cache<Q, A> {
    answers: HashMap<Q, A>,
    asked: Option<Q>,
}

impl<Q, A> Cache<Q, A> {
    /// Nothing remembered yet.
    #[must_use]
    pub fn new() -> Self {
        Self {
            answers: HashMap::new(),
            asked: None,
        }
    }
}

impl<Q, A> Default for Cache<Q, A> {
    fn default() -> Self {
        Self::new()
    }
}

impl<Q: Clone + Eq + Hash, A: Clone> Middle<Q, A> for Cache<Q, A> {
    type OuterQuery = Q;
    type OuterAnswer = A;

    fn on_query(&mut self, query: Q, _coins: &mut Coins<'_>) -> Result<Move<Q, A>, Fault> {
        if let Some(answer) = self.answers.get(&query) {
            return Ok(Move::Answer(answer.clone()));
        }
        self.asked = Some(query.clone());
        Ok(Move::Ask(query))
    }

    fn on_answer(&mut self, answer: A, _coins: &mut Coins<'_>) -> Result<Move<Q, A>, Fault> {
        if let Some(asked) = self.asked.take() {
            self.answers.insert(asked, answer.clone());
        }
        Ok(Move::Answer(answer))
    }
}
