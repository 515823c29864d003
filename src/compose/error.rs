//! What analysts see instead of a child.
//!
//! Everything in these errors is public: declared losses, limits, and the fact that something
//! failed. Nothing is computed from the data.

use thiserror::Error;

use crate::machine::{Stop, Unsuitable};
use crate::privacy::UnknownLoss;

/// A launch was over budget. Nothing has changed.
///
/// `requested` and `remaining` are in the children's measure, `spent` and `limit` in that of the
/// whole; for most filters the two measures are the same. The message prints losses in their
/// alternate form (`{:#}`), in which those of this crate name their unit: `ε = 0.1`, `ρ = 0.1`.
/// Only printing needs [`Display`](std::fmt::Display) of the losses: the type asks nothing of them.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Error)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
#[error(
    "a loss of {requested:#} is over budget: {spent} of {limit:#} is spent, {remaining:#} is left"
)]
pub struct Refusal<C, W = C> {
    /// What earlier launches add up to.
    pub spent: W,
    /// What this launch would have cost.
    pub requested: C,
    /// What would still be admitted.
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
    /// The mechanism does not fit what is public about the dataset. Not charged.
    #[error(transparent)]
    Unsuitable(#[from] Unsuitable),
    /// The mechanism may answer several times, and the compositor takes only mechanisms that answer
    /// once. Not charged. Where types are not erased, this does not compile.
    #[error("this compositor takes only mechanisms that answer once: release one")]
    Interactive,
    /// The total would be more than can be held. Not charged.
    #[error("the total loss would be more than can be held")]
    Overflow,
    /// The compositor was stopped for good, by itself or by a compositor around it. Not charged.
    #[error(transparent)]
    Stopped(#[from] Stop),
    /// The rule panicked while deciding. Not charged.
    #[error("the continuation rule failed")]
    RuleFailed,
    /// The mechanism failed to start. **Charged**: it may have touched the data.
    #[error("the mechanism failed; its loss is charged")]
    Failed,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_hold_losses_that_cannot_be_printed() {
        #[derive(Debug, PartialEq)]
        struct Silent(u8);

        let refusal = Refusal {
            spent: Silent(1),
            requested: Silent(2),
            remaining: Silent(3),
            limit: Silent(4),
        };
        let LaunchError::Refused(refusal) = LaunchError::from(refusal) else {
            panic!("made from a refusal");
        };
        assert_eq!(refusal.remaining, Silent(3));
    }
}
