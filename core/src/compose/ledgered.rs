//! What a ledger does with a filter whose budget it keeps: it reads the state to write it down, and
//! takes it up again. It decides on launches by [`Launches`], as every compositor does.

use std::sync::Arc;

use super::any_filter::AnyReading;
use super::engine::Launches;
use super::filter::HaltOf;
use super::gate::{RuleCell, Terms};
use super::{FilterGate, FilterMachine};
use crate::account::{ChildLoss, ContinuationRule, LaunchesLeft};

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

/// What a ledger does with the gate of a filter.
pub trait Ledgered<F: ContinuationRule>: Sized {
    /// The rule, with what it has counted.
    fn rule(&self) -> &F;

    /// How many launches it has admitted.
    fn launched(&self) -> u64;

    /// How many launches it admits at most.
    fn count_limit(&self) -> Option<u64>;

    /// Whether it halts at the first launch that it refuses.
    fn halts(&self) -> bool;

    /// Why it halted, if it did.
    fn halt(&self) -> Option<&HaltOf<F>>;

    /// Whether a launch with this loss would be admitted now, without a trace.
    fn would_admit(&self, loss: &ChildLoss<F>) -> bool;

    /// How many launches with this loss would be admitted, without a trace.
    fn launches_left(&self, loss: &ChildLoss<F>) -> LaunchesLeft;

    /// What can be read, with the losses erased.
    fn any_reading(&self) -> AnyReading;

    /// The same filter in a stored state.
    #[must_use]
    fn resumed(&self, rule: F, launched: u64, halt: Option<HaltOf<F>>) -> Self;
}

impl<F: ContinuationRule> Ledgered<F> for FilterGate<F> {
    fn rule(&self) -> &F {
        &self.rule
    }

    fn launched(&self) -> u64 {
        self.launched
    }

    fn count_limit(&self) -> Option<u64> {
        self.count_limit
    }

    fn halts(&self) -> bool {
        self.halts
    }

    fn halt(&self) -> Option<&HaltOf<F>> {
        self.halt.as_deref()
    }

    fn would_admit(&self, loss: &ChildLoss<F>) -> bool {
        self.would_admit(loss)
    }

    fn launches_left(&self, loss: &ChildLoss<F>) -> LaunchesLeft {
        self.launches_left(loss)
    }

    fn any_reading(&self) -> AnyReading {
        self.any_reading()
    }

    fn resumed(&self, rule: F, launched: u64, halt: Option<HaltOf<F>>) -> Self {
        Self {
            rule: RuleCell::new(rule, F::REENTRANT),
            launched,
            halt: halt.map(Arc::new),
            ..self.clone()
        }
    }
}
