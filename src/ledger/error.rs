//! Errors of launches through a ledger.

use thiserror::Error;

use super::StoreError;
use crate::account::{ChildLoss, WholeLoss};
use crate::compose::LaunchError;
use crate::machine::Fault;

/// Why a launch through a ledger gave no child.
///
/// Example: [`Party`](crate::ledger::Party).
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum LedgerError<C, W = C> {
    /// As in a filter without a ledger.
    #[error(transparent)]
    Launch(#[from] LaunchError<C, W>),
    /// The key belongs to a launch of another mechanism, or with another loss. Not charged.
    #[error("this key was used for another mechanism or another loss")]
    OtherLaunch,
    /// A key cannot tell this mechanism from another: its description is
    /// [incomplete](crate::machine::Description::incomplete). Not charged.
    #[error(
        "a key needs a mechanism whose description says all that decides its answer: name its \
         functions, as `Mapped::named` does, or let `describe` say all; or release it without a key"
    )]
    NotComparable,
    /// A launch with this key was charged before, and its answer is not there: answers are not kept,
    /// or it has not answered, or it never will. Not charged again.
    #[error("a launch with this key was charged before, and its answer is not there")]
    NoAnswer,
    /// A filter or a share does not start, as a filter without a ledger. The charge for a share stands, once
    /// the whole has admitted it.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// The store could not write or read. Nothing ran, or its answer is withheld because it could not be
    /// kept. **Perhaps charged**: the ledger says so once it can be read again. Not charged after
    /// [`StoreError::TooLong`], nor after [`StoreError::Unwritable`] of anything but an answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What goes wrong at a launch under the rule `F`.
pub(super) type LedgerErrorOf<F> = LedgerError<ChildLoss<F>, WholeLoss<F>>;

/// Behind a pointer: it is large, and most launches are admitted.
pub(super) type DenialOf<F> = Box<LedgerErrorOf<F>>;

impl<C, W> From<Box<LedgerError<C, W>>> for LedgerError<C, W> {
    fn from(denial: Box<LedgerError<C, W>>) -> Self {
        *denial
    }
}

impl<C, W> From<Box<LaunchError<C, W>>> for Box<LedgerError<C, W>> {
    fn from(denial: Box<LaunchError<C, W>>) -> Self {
        Self::new(LedgerError::Launch(*denial))
    }
}

impl<C, W> From<StoreError> for Box<LedgerError<C, W>> {
    fn from(error: StoreError) -> Self {
        Self::new(LedgerError::Store(error))
    }
}
