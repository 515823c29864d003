//! What a ledger does with a filter whose budget it keeps: it reads the state to write it down, and
//! takes it up again. It decides on launches by [`Launches`], as every compositor does.

use std::sync::Arc;

use super::FilterMachine;
use super::engine::Launches;
use super::filter::{FilterGate, HaltOf};
use super::gate::{RuleCell, Terms};
use crate::account::ContinuationRule;

/// A filter's data, what a mechanism must state to it, and what it has launched.
pub type LedgeredParts<D, F> = (
    Arc<D>,
    Terms<<F as crate::account::Accounting>::Children>,
    Launches<FilterGate<F>>,
);

/// The parts of a filter.
pub fn ledgered_parts<D: ?Sized, F: ContinuationRule, R, X>(
    machine: FilterMachine<D, F, R, X>,
) -> LedgeredParts<D, F> {
    (machine.data, machine.terms, machine.launches)
}

impl<F: ContinuationRule> FilterGate<F> {
    /// The same filter in a stored state.
    #[must_use]
    pub fn resumed(&self, rule: F, launched: u64, halt: Option<HaltOf<F>>) -> Self {
        Self {
            rule: RuleCell::new(rule, F::REENTRANT),
            launched,
            halt: halt.map(Arc::new),
            ..self.clone()
        }
    }
}
