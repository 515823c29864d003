//! Data that is held elsewhere and cannot be reached.

use crate::machine::Fault;

/// The engine that holds the data did not answer.
///
/// It is the same whatever the reason is, and says nothing about the data. The machine that asked
/// stays as it was, and may be asked again.
///
/// Example: `queryables-postgres`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[error("the data could not be reached")]
pub struct Unavailable;

impl From<Unavailable> for Fault {
    fn from(_: Unavailable) -> Self {
        Self::Unavailable
    }
}
