//! What analysts see instead of an answer.

use thiserror::Error;

use crate::machine::{Fault, Stop};

/// Why a query got no answer.
///
/// Everything in it is public: the machine's own fault, and the fact that something failed or was
/// stopped.
///
/// Example: [`ThroughExt`](crate::middle::ThroughExt).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
#[non_exhaustive]
pub enum AskError {
    /// The machine ended the step without an answer. After [`Fault::Failed`] and
    /// [`Fault::RoundLimit`] it is closed, and after the third [`Fault::Unavailable`].
    #[error(transparent)]
    Fault(Fault),
    /// Stopped for good by a compositor that it lives in.
    #[error(transparent)]
    Stopped(#[from] Stop),
    /// The machine failed earlier, or was closed.
    #[error("closed, because it failed or somebody closed it")]
    Closed,
    /// Asked from inside an answer, while it is answering. Nothing has changed.
    #[error("asked from inside an answer while it is answering another query")]
    Busy,
}

impl From<Fault> for AskError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Stopped(stop) => Self::Stopped(stop),
            fault => Self::Fault(fault),
        }
    }
}
