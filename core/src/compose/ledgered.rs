//! What a ledger does with a filter whose budget it keeps: it reads the state to write it down, takes
//! it up again, and decides on a launch by itself.

use std::sync::Arc;

use super::filter::HaltOf;
use super::gate::sealed::Decides;
use super::gate::{DenialOf, PriceOf, Terms};
use super::{Discipline, FilterGate, FilterMachine, Ticket};
use crate::account::{ChildLoss, ContinuationRule, LaunchesLeft};
use crate::machine::StopToken;

/// What a ledger does with a filter machine.
pub trait Ledgered<D: ?Sized, F: ContinuationRule, X>: Sized {
    /// The data.
    fn data(&self) -> &Arc<D>;

    /// What a mechanism must state.
    fn terms(&self) -> &Terms<F::Children>;

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

    /// What stops every child.
    fn child_token(&self) -> StopToken;

    /// Whether a launch with this loss would be admitted now, without a trace.
    fn would_admit(&self, loss: &ChildLoss<F>) -> bool;

    /// How many launches with this loss would be admitted, without a trace.
    fn admits(&self, loss: &ChildLoss<F>) -> LaunchesLeft;

    /// Continues from a stored state. What was launched before stays as it is, unless the state is
    /// one that has halted.
    fn take_up(&mut self, rule: F, launched: u64, halt: Option<HaltOf<F>>);

    /// A copy that decides without stopping anybody. Its rule is copied without running its code.
    fn detached(&self, terms: Terms<F::Children>) -> Self;

    /// How often the state was replaced.
    fn version(&self) -> u64;

    /// Takes up the state of a copy, and leaves its own there, to be dropped outside of locks. A copy
    /// that has halted stops the children.
    fn exchange(&mut self, copy: &mut Self);

    /// A ticket for a launch that a copy has admitted.
    fn ticket(&mut self) -> Ticket
    where
        X: Discipline;

    /// Decides on a launch and charges it.
    fn decide(&mut self, price: &PriceOf<FilterGate<F>>) -> Result<Ticket, DenialOf<FilterGate<F>>>
    where
        X: Discipline;
}

impl<D: ?Sized, F: ContinuationRule, R, X> Ledgered<D, F, X> for FilterMachine<D, F, R, X> {
    fn data(&self) -> &Arc<D> {
        &self.data
    }

    fn terms(&self) -> &Terms<F::Children> {
        &self.terms
    }

    fn rule(&self) -> &F {
        &self.gate().rule
    }

    fn launched(&self) -> u64 {
        self.gate().launched
    }

    fn count_limit(&self) -> Option<u64> {
        self.gate().count_limit()
    }

    fn halts(&self) -> bool {
        self.gate().may_halt()
    }

    fn halt(&self) -> Option<&HaltOf<F>> {
        self.gate().halt.as_deref()
    }

    fn child_token(&self) -> StopToken {
        self.launches.child_token()
    }

    fn would_admit(&self, loss: &ChildLoss<F>) -> bool {
        self.gate().halt.is_none() && self.gate().charge(loss).is_ok()
    }

    fn admits(&self, loss: &ChildLoss<F>) -> LaunchesLeft {
        self.gate().admits(loss)
    }

    fn take_up(&mut self, rule: F, launched: u64, halt: Option<HaltOf<F>>) {
        self.launches.take_up(|gate: &mut FilterGate<F>| {
            gate.take_up(rule, launched, halt);
        });
    }

    fn detached(&self, terms: Terms<F::Children>) -> Self {
        Self::over(Arc::clone(&self.data), terms, self.launches.detached())
    }

    fn version(&self) -> u64 {
        self.launches.version()
    }

    fn exchange(&mut self, copy: &mut Self) {
        self.launches.exchange(&mut copy.launches);
    }

    fn ticket(&mut self) -> Ticket
    where
        X: Discipline,
    {
        self.launches.ticket::<X>()
    }

    fn decide(&mut self, price: &PriceOf<FilterGate<F>>) -> Result<Ticket, DenialOf<FilterGate<F>>>
    where
        X: Discipline,
    {
        self.launches.decide::<X>(price, |_| ())
    }
}
