//! What is public about a dataset.

use std::fmt::Display;

use super::words::kept;
use thiserror::Error;

use super::Fault;

/// A dataset with public facts, such as its domain, its schema or a time horizon.
///
/// Every holder of a handle can read the facts, and a mechanism can check them before anything is
/// charged ([`Mechanism::check`](super::Mechanism::check)). Do not compute them from the data,
/// unless the result is public too.
///
/// ```
/// use queryables::machine::PublicMetadata;
///
/// /// Visits on the days from 0 to the horizon.
/// struct Visits {
///     horizon: u32,
///     days: Vec<u32>,
/// }
///
/// impl PublicMetadata for Visits {
///     type Metadata = u32;
///
///     fn metadata(&self) -> &u32 {
///         &self.horizon
///     }
/// }
/// ```
pub trait PublicMetadata {
    /// What is public.
    type Metadata: ?Sized;

    /// Reads it.
    fn metadata(&self) -> &Self::Metadata;

    /// Whether the engine that holds the data answers now. It is asked before a launch is charged, and
    /// must not depend on the data. By default the data is at hand.
    fn is_reachable(&self) -> bool {
        true
    }
}

/// A view of a dataset through which only the public facts can be read.
pub struct Public<'a, D: ?Sized>(&'a D);

impl<'a, D: ?Sized> Public<'a, D> {
    pub(crate) fn of(data: &'a D) -> Self {
        Self(data)
    }

    /// The same for a part of the data.
    pub(crate) fn part<E: ?Sized>(self, part: impl FnOnce(&'a D) -> &'a E) -> Public<'a, E> {
        Public(part(self.0))
    }
}

impl<'a, D: PublicMetadata + ?Sized> Public<'a, D> {
    /// The facts.
    #[must_use]
    pub fn metadata(&self) -> &'a D::Metadata {
        self.0.metadata()
    }

    /// [`PublicMetadata::is_reachable`].
    #[must_use]
    pub fn is_reachable(&self) -> bool {
        self.0.is_reachable()
    }
}

// Nothing of the contents.
crate::debug_fields!([D: ?Sized] Public<'_, D>, "Public");

impl<D: ?Sized> Clone for Public<'_, D> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<D: ?Sized> Copy for Public<'_, D> {}

/// The mechanism does not fit the public facts of the dataset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
#[error("the mechanism does not fit the dataset: {0}")]
pub struct DomainMismatch(pub &'static str);

impl DomainMismatch {
    /// With words that are put together when the program runs: at most 240 bytes, made from what is public
    /// and never from data. The first 1024 different texts are kept for as long as the program runs.
    ///
    /// ```
    /// use queryables::machine::DomainMismatch;
    ///
    /// let column = "salary";
    /// let mismatch = DomainMismatch::because(format_args!("there is no column {column:?}"));
    /// assert_eq!(mismatch, DomainMismatch("there is no column \"salary\""));
    /// ```
    #[must_use]
    pub fn because(words: impl Display) -> Self {
        Self(kept(words))
    }
}

/// Where something that was asked does not fit, the machine stays as it was.
impl From<DomainMismatch> for Fault {
    fn from(DomainMismatch(why): DomainMismatch) -> Self {
        Self::InvalidQuery(why)
    }
}
