//! A middle that counts.

use std::marker::PhantomData;

use super::{Middle, Move, MoveOf};
use crate::machine::{Coins, Fault};

/// Passes on so many queries, then answers [`Fault::Exhausted`].
///
/// It makes the assumption of finite communication in the concurrent theorems for (ε, δ)-DP and
/// f-DP (Haney et al. 1.8) literal. [`ThroughExt`](super::ThroughExt) has an example.
#[derive(Debug)]
pub struct LimitQueries<Q, A> {
    left: u64,
    types: PhantomData<fn(Q) -> A>,
}

impl<Q, A> LimitQueries<Q, A> {
    /// So many queries.
    #[must_use]
    pub fn new(queries: u64) -> Self {
        Self {
            left: queries,
            types: PhantomData,
        }
    }
}

impl<Q, A> Clone for LimitQueries<Q, A> {
    fn clone(&self) -> Self {
        Self::new(self.left)
    }
}

impl<Q, A> Middle for LimitQueries<Q, A> {
    type OuterQuery = Q;
    type OuterAnswer = A;
    type InnerQuery = Q;
    type InnerAnswer = A;

    fn on_query(&mut self, query: Q, _coins: &mut Coins<'_>) -> Result<MoveOf<Self>, Fault> {
        self.left = self.left.checked_sub(1).ok_or(Fault::Exhausted)?;
        Ok(Move::Ask(query))
    }

    fn on_answer(&mut self, answer: A, _coins: &mut Coins<'_>) -> Result<MoveOf<Self>, Fault> {
        Ok(Move::Answer(answer))
    }
}
