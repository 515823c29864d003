//! Two datasets that an adversary must not be able to tell apart.

use std::fmt;
use std::sync::Arc;

/// Two neighbouring datasets.
///
/// Example: `queryables::verify::assert_private`.
#[derive(Clone, Debug)]
pub struct Pair<D: ?Sized> {
    one: Arc<D>,
    other: Arc<D>,
}

impl<D> Pair<D> {
    /// A pair of these two datasets.
    pub fn new(one: D, other: D) -> Self {
        Self {
            one: Arc::new(one),
            other: Arc::new(other),
        }
    }
}

impl<D: ?Sized> Pair<D> {
    /// The first dataset.
    #[must_use]
    pub fn one(&self) -> &Arc<D> {
        &self.one
    }

    /// The second dataset.
    #[must_use]
    pub fn other(&self) -> &Arc<D> {
        &self.other
    }
}

/// Which of the two datasets comes first in the divergence.
///
/// Example: `queryables::verify::assert_private`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// The first dataset against the second.
    Forward,
    /// The second dataset against the first.
    Backward,
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Forward => "first dataset against second",
            Self::Backward => "second dataset against first",
        })
    }
}
