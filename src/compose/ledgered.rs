//! What a ledger does with a filter whose budget it keeps: it reads the state to write it down, and
//! takes it up again. It decides on launches by [`Launches`], as every compositor does.

use std::sync::Arc;

use super::engine::Launches;
use super::filter::HaltOf;
use super::gate::{Slot, Terms};
use super::{FilterGate, FilterMachine};
use crate::account::ContinuationRule;

impl<D: ?Sized, F: ContinuationRule, R, X> FilterMachine<D, F, R, X> {
    /// Its data, what a mechanism must state, and what was launched.
    pub(crate) fn into_parts(self) -> (Arc<D>, Terms<F::Children>, Launches<FilterGate<F>>) {
        (self.data, self.terms, self.launches)
    }
}

impl<F: ContinuationRule> FilterGate<F> {
    pub(crate) fn rule(&self) -> &F {
        &self.rule
    }

    pub(crate) fn launched(&self) -> u64 {
        self.launched
    }

    pub(crate) fn halt(&self) -> Option<&HaltOf<F>> {
        self.halt.as_deref()
    }

    /// The same filter in a stored state.
    pub(crate) fn resumed(&self, rule: F, launched: u64, halt: Option<HaltOf<F>>) -> Self {
        Self {
            rule: Slot::new(rule, F::CALLS_BACK),
            launched,
            halt: halt.map(Arc::new),
            ..self.clone()
        }
    }
}
