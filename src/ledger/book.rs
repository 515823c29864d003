//! The state of a filter and of its quotas, as it is at hand.

use std::sync::Arc;

use super::StoreError;
use super::filter::LedgerRule;
use super::quota::SharedRule;
use super::state::{State, read_state};
use super::store::{Saved, Store};
use crate::account::ChildLoss;
use crate::compose::{FilterGate, Launches};
use crate::machine::guarded;

/// What changes in a filter that a ledger keeps.
pub(super) struct Book<F: LedgerRule> {
    /// The filter's name.
    pub(super) name: Arc<str>,
    /// Has counted nothing: what states are read with.
    pub(super) fresh: Arc<F>,
    pub(super) launches: Launches<FilterGate<F>>,
    pub(super) version: u64,
    pub(super) quotas: Vec<QuotaBook<ChildLoss<F>>>,
}

/// A quota, in the same way.
pub(super) struct QuotaBook<L> {
    pub(super) name: Arc<str>,
    pub(super) fresh: SharedRule<L>,
    pub(super) rule: SharedRule<L>,
    pub(super) version: u64,
}

/// No store has this version: the state is read again.
pub(super) const UNKNOWN: u64 = u64::MAX;

impl<F: LedgerRule> Book<F> {
    pub(super) fn gate(&self) -> &FilterGate<F> {
        &self.launches.gate
    }

    pub(super) fn rule(&self) -> &F {
        &self.gate().rule
    }

    /// Where the quota with this budget stands.
    pub(super) fn place(&self, budget: &str) -> Option<usize> {
        self.quotas.iter().position(|quota| *quota.name == *budget)
    }

    /// The quotas at these places.
    pub(super) fn quotas_at(
        &self,
        places: &[usize],
    ) -> impl Iterator<Item = &QuotaBook<ChildLoss<F>>> {
        places.iter().filter_map(|place| self.quotas.get(*place))
    }

    /// A copy that decides without stopping anybody, made without running code of the rule.
    pub(super) fn copy(&self) -> Self {
        Self {
            name: Arc::clone(&self.name),
            fresh: Arc::clone(&self.fresh),
            launches: self.launches.detached(),
            version: self.version,
            quotas: self.quotas.clone(),
        }
    }

    /// Changes whenever a state does, of the filter or of a quota.
    pub(super) fn versions(&self) -> (u64, u64, Vec<u64>) {
        let quotas = self.quotas.iter().map(|quota| quota.version);
        (self.launches.version(), self.version, quotas.collect())
    }

    /// Takes up those states of a copy that are later than these, and leaves its own there: dropping them is the
    /// rule's code, too. All of them were written.
    pub(super) fn advance(&mut self, copy: &mut Self) {
        if copy.version > self.version {
            self.launches.exchange(&mut copy.launches);
            self.version = copy.version;
        }
        for (quota, copied) in self.quotas.iter_mut().zip(&mut copy.quotas) {
            if copied.version > quota.version {
                std::mem::swap(quota, copied);
            }
        }
    }

    /// Takes up what the store has later than this; whether there was anything.
    pub(super) fn renew(&mut self, store: &dyn Store) -> Result<bool, StoreError> {
        let quotas = self.quotas.iter();
        let quotas = quotas.map(|quota| (&*quota.name, quota.version));
        let known = [(&*self.name, self.version)].into_iter().chain(quotas);
        let newer = store.newer(&known.collect::<Vec<_>>())?;
        for (place, saved) in &newer {
            self.refresh(*place, saved)?;
        }
        Ok(!newer.is_empty())
    }

    /// Takes up a state: of the filter, at place 0, or of a quota. What was launched before stays as it is,
    /// unless the state is one that has halted.
    pub(super) fn refresh(&mut self, place: usize, saved: &Saved) -> Result<(), StoreError> {
        if let Some(quota) = place.checked_sub(1) {
            let quota = self.quotas.get_mut(quota);
            return quota.map_or(Ok(()), |quota| quota.refresh(saved));
        }
        let (fresh, gate) = (&*self.fresh, self.gate());
        let read = || {
            let state = read_state(fresh, &saved.state);
            state.filter(|state| state.could_be(fresh, gate.count_limit, gate.halts))
        };
        // A rule's own code reads it.
        let Ok(Some(State {
            rule,
            launched,
            halt,
        })) = guarded(|| Ok(read()))
        else {
            let what = format!("the budget {:?}", self.name);
            return Err(StoreError::Damaged { what });
        };
        let mut read = self.launches.detached();
        read.gate = gate.resumed(rule, launched, halt);
        self.launches.exchange(&mut read);
        self.version = saved.version;
        Ok(())
    }
}

impl<L> QuotaBook<L> {
    pub(super) fn refresh(&mut self, saved: &Saved) -> Result<(), StoreError> {
        let rule = self.fresh.resumed(&saved.state);
        let damaged = || StoreError::Damaged {
            what: self.name.to_string(),
        };
        self.rule = rule.ok_or_else(damaged)?;
        self.version = saved.version;
        Ok(())
    }
}

crate::clone_fields!([L] QuotaBook<L> { name, fresh, rule, version });
