//! What analysts see instead of a child.
//!
//! Everything in these errors is public: declared losses, limits, and the fact that something
//! failed. Nothing is computed from the data.

use std::fmt;

use thiserror::Error;

use crate::account::{ContinuationRule, WholeLoss};
use crate::machine::{DomainMismatch, Stop};
use crate::privacy::{Measure, UnknownLoss};

/// A launch was over budget. Nothing has changed.
///
/// `requested` and `remaining` are in the children's measure, `spent` and `limit` in that of the
/// whole; for most filters the two measures are the same. The message prints losses in their
/// alternate form (`{:#}`), in which those of this crate name their unit: `ε = 0.1`, `ρ = 0.1`.
/// Only printing needs [`Display`](std::fmt::Display) of the losses: the type asks nothing of them.
///
/// Some rules set a part of the budget aside before the first launch. The message says how much of
/// what is spent this is:
///
/// ```
/// use queryables::account::ThroughZCdp;
/// use queryables::data::Predicate;
/// use queryables::mechanisms::Count;
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let rule = ThroughZCdp::tight(EpsilonDelta::new("1", "1e-6")?, "1e-6".parse()?)?;
/// let filter = start(&Filter::concurrent_with(rule), Arc::new(vec![17_u32, 43]))?;
/// let adults = Predicate::new("at least 18", |age: &u32| *age >= 18);
/// let refused = filter.release(&Count::of(adults).laplace(epsilon!(2))?);
/// let message = refused.unwrap_err().to_string();
/// assert!(message.contains(
///     "(0, 1e-6) of (ε, δ) = (1, 1e-6) is spent, of which (0, 1e-6) was set aside, ",
/// ));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Error)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
#[error(
    "a loss of {requested:#} is over budget: {spent} of {limit:#} is spent{}, {remaining:#} is left",
    aside(.set_aside.as_deref())
)]
pub struct Refusal<C, W = C> {
    /// What earlier launches add up to, with what was set aside.
    pub spent: W,
    /// The part of it that no launch has cost, if there is one: see
    /// [`ContinuationRule::set_aside`]. What was written without this field is read as `None`.
    /// Boxed, because it is rarely there and errors are returned by value.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub set_aside: Option<Box<W>>,
    /// What this launch would have cost.
    pub requested: C,
    /// What would still be admitted.
    pub remaining: C,
    /// The budget.
    pub limit: W,
}

impl<C, W> Refusal<C, W> {
    /// What a rule that does not admit the loss says.
    #[cold]
    pub(crate) fn by<F>(rule: &F, requested: &C) -> Self
    where
        F: ContinuationRule<Children: Measure<Loss = C>, Whole: Measure<Loss = W>>,
        C: Clone,
        W: Clone,
    {
        Self {
            spent: rule.spent(),
            set_aside: set_aside(rule).map(Box::new),
            requested: requested.clone(),
            remaining: rule.remaining(),
            limit: rule.limit().clone(),
        }
    }
}

impl<C, W> Refusal<C, W> {
    /// The same, with its losses as others.
    pub(super) fn map<D, X>(self, child: impl Fn(C) -> D, whole: impl Fn(W) -> X) -> Refusal<D, X> {
        Refusal {
            spent: whole(self.spent),
            set_aside: self.set_aside.map(|aside| Box::new(whole(*aside))),
            requested: child(self.requested),
            remaining: child(self.remaining),
            limit: whole(self.limit),
        }
    }
}

/// What the rule has set aside, if anything.
pub(super) fn set_aside<F: ContinuationRule>(rule: &F) -> Option<WholeLoss<F>> {
    Some(rule.set_aside()).filter(|aside| *aside != rule.whole().zero())
}

/// The part of the message about what was set aside.
fn aside(set_aside: Option<&impl fmt::Display>) -> String {
    set_aside.map_or_else(String::new, |aside| {
        format!(", of which {aside} was set aside")
    })
}

/// The store that keeps the budget of an [erased filter](super::AnyFilter) does not answer. It says
/// why, for the data holder, and nothing about the data.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Error)]
#[error("the budget cannot be read or written: {0}")]
pub struct Unavailable(pub String);

/// Why a launch gave no child.
///
/// Example: [the crate](crate).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Error)]
#[non_exhaustive]
pub enum LaunchError<C, W = C> {
    /// Over budget. Not charged; try a smaller one.
    #[error(transparent)]
    Refused(#[from] Refusal<C, W>),
    /// Over a quota of the party that launches. Charged nowhere. Only an erased filter says this: see
    /// [`AnyFilter`](super::AnyFilter).
    #[error("over the quota {quota:?}: {refusal}")]
    OverQuota {
        /// The quota's name.
        quota: String,
        /// What it says.
        refusal: Box<Refusal<C>>,
    },
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
    DomainMismatch(#[from] DomainMismatch),
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
    /// The store that keeps the budget did not do it. The mechanism did not run; it may have been
    /// charged. Only an erased filter says this.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    /// The mechanism failed to start. **Charged**: it may have touched the data.
    #[error("the mechanism failed; its loss is charged")]
    Failed,
}

/// Decisions are passed on behind a pointer: an error is large, and most launches are admitted.
macro_rules! boxed {
    ($($Reason:ty)*) => {$(
        impl<C, W> From<$Reason> for Box<LaunchError<C, W>> {
            #[cold]
            fn from(reason: $Reason) -> Self {
                Self::new(reason.into())
            }
        }
    )*};
}

boxed! { UnknownLoss DomainMismatch }

/// The other way, where it is told.
impl<C, W> From<Box<LaunchError<C, W>>> for LaunchError<C, W> {
    #[cold]
    fn from(denial: Box<LaunchError<C, W>>) -> Self {
        *denial
    }
}

/// A launch that is not admitted, as it is told. Neither this nor [`failed`] is compiled in place: a
/// launch that succeeds must not move the bytes of an error that is not there.
#[cold]
#[inline(never)]
pub(super) fn denied<T, C, W>(denial: Box<LaunchError<C, W>>) -> Result<T, LaunchError<C, W>> {
    Err(denial.into())
}

/// A mechanism that failed to start. How is not told: it may depend on the data.
#[cold]
#[inline(never)]
pub(super) fn failed<T, C, W>() -> Result<T, LaunchError<C, W>> {
    Err(LaunchError::Failed)
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
            set_aside: None,
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
