//! A rule inside a gate.

use std::ops::Deref;
use std::sync::Arc;

use crate::privacy::CallsBack;

/// A rule that is copied without running its code: a gate is copied under the compositor's lock,
/// and the `Clone` of a third-party rule may do anything. The crate's own rules are stored in
/// place.
#[derive(Clone, Debug)]
pub enum Slot<F> {
    /// One of the crate's own, or of its toolkit's.
    Own(F),
    /// One of somebody else.
    Shared(Arc<F>),
}

impl<F> Slot<F> {
    /// A rule whose code may call back, or not.
    #[inline]
    pub fn new(rule: F, calls_back: CallsBack) -> Self {
        if calls_back.0 {
            Self::Shared(Arc::new(rule))
        } else {
            Self::Own(rule)
        }
    }
}

impl<F> Deref for Slot<F> {
    type Target = F;

    #[inline]
    fn deref(&self) -> &F {
        match self {
            Self::Own(rule) => rule,
            Self::Shared(rule) => rule,
        }
    }
}
