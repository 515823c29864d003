//! What data can be asked to count.

use std::borrow::Cow;

use crate::data::{Dataset, Predicate};
use crate::machine::Fault;

/// The engine that holds the data did not answer.
///
/// It is the same whatever the reason is, and says nothing about the data. The machine that asked
/// stays as it was, and may be asked again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[error("the data could not be reached")]
pub struct Unavailable;

impl From<Unavailable> for Fault {
    fn from(_: Unavailable) -> Self {
        Self::Unavailable
    }
}

/// A condition that holds of some records: a [`Predicate`] in code, or one that is data.
pub trait Question: Clone + Send + Sync {
    /// How it is shown in descriptions.
    fn name(&self) -> Cow<'_, str>;
}

/// Data that can say of how many records a condition holds.
///
/// # What an implementer owes
///
/// One record that is added or removed changes the count by at most one, and raises it or lowers
/// it for all conditions alike. It does not fail because of data.
#[diagnostic::on_unimplemented(
    message = "ask about records of `{Self}`: a `{Q}` is about others",
    label = "cannot be counted here",
    note = "a question about rows, asked of people? wrap the mechanism: `OnRows(mechanism)`"
)]
pub trait Counts<Q: ?Sized> {
    /// The number of records of which it holds.
    ///
    /// # Errors
    ///
    /// [`Unavailable`] if the engine that holds the data does not answer.
    fn count(&self, question: &Q) -> Result<u64, Unavailable>;
}

impl<D: ?Sized> Question for Predicate<D> {
    fn name(&self) -> Cow<'_, str> {
        Self::name(self).into()
    }
}

impl<D: Dataset + ?Sized> Counts<Predicate<D>> for D {
    fn count(&self, question: &Predicate<D>) -> Result<u64, Unavailable> {
        Ok(question.count(self))
    }
}
