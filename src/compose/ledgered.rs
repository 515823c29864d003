//! What a ledger does with a filter whose budget it keeps: it reads the state to write it down, takes
//! it up again, and decides on a launch by itself.

use std::sync::Arc;

use super::filter::HaltOf;
use super::gate::sealed::Decides;
use super::gate::{DenialOf, PriceOf, Terms};
use super::{Discipline, FilterGate, FilterMachine, Ticket};
use crate::account::{ChildLoss, ContinuationRule, LaunchesLeft};
use crate::machine::StopToken;

impl<D: ?Sized, F: ContinuationRule, R, X> FilterMachine<D, F, R, X> {
    pub(crate) fn data(&self) -> &Arc<D> {
        &self.data
    }

    pub(crate) fn terms(&self) -> &Terms<F::Children> {
        &self.terms
    }

    pub(crate) fn rule(&self) -> &F {
        &self.gate().rule
    }

    pub(crate) fn launched(&self) -> u64 {
        self.gate().launched
    }

    pub(crate) fn count_limit(&self) -> Option<u64> {
        self.gate().count_limit()
    }

    pub(crate) fn halts(&self) -> bool {
        self.gate().may_halt()
    }

    pub(crate) fn halt(&self) -> Option<&HaltOf<F>> {
        self.gate().halt.as_deref()
    }

    /// What stops every child.
    pub(crate) fn child_token(&self) -> StopToken {
        self.launches.child_token()
    }

    /// Whether a launch with this loss would be admitted now, without a trace.
    pub(crate) fn would_admit(&self, loss: &ChildLoss<F>) -> bool {
        self.gate().halt.is_none() && self.gate().charge(loss).is_ok()
    }

    /// How many launches with this loss would be admitted, without a trace.
    pub(crate) fn admits(&self, loss: &ChildLoss<F>) -> LaunchesLeft {
        self.gate().admits(loss)
    }

    /// Continues from a stored state. What was launched before stays as it is, unless the state is
    /// one that has halted.
    pub(crate) fn take_up(&mut self, rule: F, launched: u64, halt: Option<HaltOf<F>>) {
        self.launches.take_up(|gate: &mut FilterGate<F>| {
            gate.take_up(rule, launched, halt);
        });
    }

    /// A copy that decides without stopping anybody. Its rule is copied without running its code.
    pub(crate) fn detached(&self, terms: Terms<F::Children>) -> Self {
        Self::over(Arc::clone(&self.data), terms, self.launches.detached())
    }

    /// How often the state was replaced.
    pub(crate) fn version(&self) -> u64 {
        self.launches.version()
    }

    /// Takes up the state of a copy, and leaves its own there, to be dropped outside of locks. A copy
    /// that has halted stops the children.
    pub(crate) fn exchange(&mut self, copy: &mut Self) {
        self.launches.exchange(&mut copy.launches);
    }

    /// A ticket for a launch that a copy has admitted.
    pub(crate) fn ticket(&mut self) -> Ticket
    where
        X: Discipline,
    {
        self.launches.ticket::<X>()
    }

    /// Decides on a launch and charges it.
    pub(crate) fn decide(
        &mut self,
        price: &PriceOf<FilterGate<F>>,
    ) -> Result<Ticket, DenialOf<FilterGate<F>>>
    where
        X: Discipline,
    {
        self.launches.decide::<X>(price, |_| ())
    }
}
