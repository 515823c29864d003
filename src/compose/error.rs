//! What analysts see instead of an answer.
//!
//! Everything in these errors is public: losses that were declared, limits that were set, and
//! the bare fact that something failed. Nothing is computed from the data.

use thiserror::Error;

use super::leash::Cut;
use crate::machine::Fault;
use crate::privacy::UnknownLoss;

/// A launch was over budget. Nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Error)]
#[error(
    "a loss of {requested} is over budget: {spent} of {limit} is spent, {remaining} can still be"
)]
pub struct Refusal<C, W = C> {
    /// What earlier launches add up to, in the budget's measure.
    pub spent: W,
    /// What this launch would have cost, in the children's measure.
    pub requested: C,
    /// What would still be admitted, in the children's measure.
    pub remaining: C,
    /// The budget.
    pub limit: W,
}

/// Why a launch gave no child.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Error)]
#[non_exhaustive]
pub enum LaunchError<C, W = C> {
    /// Over budget. Not charged; try a smaller one.
    #[error(transparent)]
    Refused(#[from] Refusal<C, W>),
    /// The compositor has launched as many mechanisms as it may. Not charged.
    #[error("at the limit of {limit} mechanisms")]
    CountLimit {
        /// How many it may launch.
        limit: u64,
    },
    /// The mechanism has no loss under this measure at this distance. Not charged.
    #[error(transparent)]
    UnknownLoss(#[from] UnknownLoss),
    /// The total would be more than can be held. Not charged.
    #[error("the total loss would be more than can be held")]
    Overflow,
    /// The compositor, or one that it lives in, halted at a launch that it did not admit. Not
    /// charged.
    #[error("halted after a launch that was not admitted")]
    Halted,
    /// A later launch beside the compositor, or beside one that it lives in, froze it; or the answer
    /// in which it was made is over. Not charged.
    #[error("frozen by a later launch, or by the end of the answer that it was made in")]
    Frozen,
    /// The rule panicked as it decided, now or earlier: nothing is launched here any more.
    #[error("the continuation rule failed")]
    RuleFailed,
    /// The mechanism failed to start. **Charged**: it may have touched the data.
    #[error("the mechanism failed; its loss is charged")]
    Failed,
}

impl<C, W> From<Cut> for LaunchError<C, W> {
    fn from(cut: Cut) -> Self {
        match cut {
            Cut::Frozen => Self::Frozen,
            Cut::Halted => Self::Halted,
        }
    }
}

/// Why a query got no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
#[non_exhaustive]
pub enum AskError {
    /// The query is not understood; nothing has changed.
    #[error("invalid query: {0}")]
    InvalidQuery(&'static str),
    /// All answers have been given.
    #[error("no answers are left")]
    Exhausted,
    /// A person in the middle did not come to an answer. Closed from now on.
    #[error("the person in the middle gave no answer within {0} rounds")]
    RoundLimit(u32),
    /// The mechanism failed just now. Closed from now on.
    #[error("the mechanism failed")]
    Failed,
    /// The mechanism failed earlier.
    #[error("closed by an earlier failure")]
    Closed,
    /// A later launch in a sequential compositor froze it; or the answer in which it was made is
    /// over.
    #[error("frozen by a later launch, or by the end of the answer that it was made in")]
    Frozen,
    /// A compositor that it lives in halted at a launch that it did not admit.
    #[error("halted after a launch that was not admitted")]
    Halted,
    /// Asked from inside an answer, while it is answering. Nothing has changed.
    #[error("asked from inside an answer while it is answering another query")]
    Busy,
}

impl From<Fault> for AskError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::InvalidQuery(reason) => Self::InvalidQuery(reason),
            Fault::Exhausted => Self::Exhausted,
            Fault::RoundLimit(rounds) => Self::RoundLimit(rounds),
            Fault::Failed => Self::Failed,
        }
    }
}

impl From<Cut> for AskError {
    fn from(cut: Cut) -> Self {
        match cut {
            Cut::Frozen => Self::Frozen,
            Cut::Halted => Self::Halted,
        }
    }
}
