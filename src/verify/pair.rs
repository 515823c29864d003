//! Two datasets that must not be told apart.

use std::sync::Arc;

/// Two neighbouring datasets.
#[derive(Clone, Debug)]
pub struct Pair<D: ?Sized> {
    one: Arc<D>,
    other: Arc<D>,
}

impl<D> Pair<D> {
    /// These two.
    pub fn new(one: D, other: D) -> Self {
        Self {
            one: Arc::new(one),
            other: Arc::new(other),
        }
    }
}

impl<D: ?Sized> Pair<D> {
    /// One of them.
    #[must_use]
    pub fn one(&self) -> &Arc<D> {
        &self.one
    }

    /// The other one.
    #[must_use]
    pub fn other(&self) -> &Arc<D> {
        &self.other
    }
}
