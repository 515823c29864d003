//! A middle that counts.

use super::{Middle, Move};
use crate::machine::{Coins, Fault};

/// Passes on n queries, then answers [`Fault::Exhausted`].
///
/// It makes the assumption of finite communication in the concurrent theorems for (ε, δ)-DP and
/// f-DP (Haney et al. 1.8) literal. [`ThroughExt`](super::ThroughExt) has an example.
#[derive(Clone, Debug, Hash)]
pub struct LimitQueries {
    left: u64,
}

impl LimitQueries {
    /// Passes on `queries` queries.
    #[must_use]
    pub fn new(queries: u64) -> Self {
        Self { left: queries }
    }
}

impl<Q, A> Middle<Q, A> for LimitQueries {
    type OuterQuery = Q;
    type OuterAnswer = A;

    fn on_query(&mut self, query: Q, _coins: &mut Coins<'_>) -> Result<Move<Q, A>, Fault> {
        self.left = self.left.checked_sub(1).ok_or(Fault::Exhausted)?;
        Ok(Move::Ask(query))
    }

    fn on_answer(&mut self, answer: A, _coins: &mut Coins<'_>) -> Result<Move<Q, A>, Fault> {
        Ok(Move::Answer(answer))
    }
}
