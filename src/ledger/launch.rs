//! One launch on its way to the store.

use std::sync::Arc;
use std::time::SystemTime;

use serde_json::Value;

use super::filter::{Book, Heading, LedgerRule, QuotaBook, Shared, UNKNOWN};
use super::seal::{VERSION, seal};
use super::state::write_state;
use super::store::{Charge, Record, Saved, sealed};
use super::{Decision, Entry, LedgerError, LedgerErrorOf, StoreError, time};
use crate::account::{ChildLoss, WholeLoss};
use crate::compose::{Discipline, LaunchError, Ledgered, Price, Ticket};
use crate::machine::Description;

/// A launch that asks to be charged.
pub(super) struct Launch<'a, D: ?Sized, F: LedgerRule, R, X> {
    pub(super) shared: &'a Shared<D, F, R, X>,
    pub(super) book: &'a mut Book<D, F, R, X>,
    pub(super) price: &'a Price<ChildLoss<F>>,
    /// `None` if the description is not recorded.
    pub(super) mechanism: Option<Description>,
    pub(super) heading: &'a Arc<Heading>,
    /// The places of the quotas that it is held to.
    pub(super) quotas: &'a [usize],
    /// The names of the budgets: the filter's, and those of the quotas.
    pub(super) budgets: &'a [String],
    pub(super) key: Option<String>,
    /// The error behind a pointer: it is large, and most launches are admitted.
    pub(super) decided: Option<Result<Ticket, Box<LedgerErrorOf<F>>>>,
    /// Whether states have changed: an admitted launch, or one that halts.
    pub(super) changed: bool,
}

impl<D: ?Sized, F: LedgerRule, R, X: Discipline> Launch<'_, D, F, R, X> {
    /// The filter and all its quotas, all or nothing.
    fn settle(&mut self) -> Result<Ticket, Box<LedgerErrorOf<F>>> {
        let loss = &self.price.first;
        let launched = |denial: Box<LaunchError<_, _>>| Box::new(LedgerError::Launch(*denial));
        if self.quotas.is_empty() {
            return self.book.machine.decide(self.price).map_err(launched);
        }
        let mut next = Vec::with_capacity(self.quotas.len());
        for place in self.quotas {
            let Some(quota) = self.book.quotas.get(*place) else {
                continue;
            };
            match quota.rule.charge(loss) {
                Ok(rule) => next.push((*place, rule)),
                Err(refusal) => {
                    return Err(Box::new(LedgerError::OverQuota {
                        quota: quota.name.to_string(),
                        refusal: *refusal,
                    }));
                }
            }
        }
        let ticket = self.book.machine.decide(self.price).map_err(launched)?;
        for (place, rule) in next {
            if let Some(quota) = self.book.quotas.get_mut(place) {
                quota.rule = rule;
            }
        }
        Ok(ticket)
    }

    /// What the states at hand are is not known any more.
    pub(super) fn forget(&mut self) {
        self.book.version = UNKNOWN;
        for place in self.quotas {
            if let Some(quota) = self.book.quotas.get_mut(*place) {
                quota.version = UNKNOWN;
            }
        }
    }

    /// The quota whose budget has this place.
    fn quota(&self, budget: usize) -> Option<&QuotaBook<ChildLoss<F>>> {
        let place = self.quotas.get(budget.checked_sub(1)?)?;
        self.book.quotas.get(*place)
    }

    fn recorded(&self, mechanism: Description, times: u64) -> Recorded<F> {
        Recorded {
            time: SystemTime::now(),
            heading: Arc::clone(self.heading),
            mechanism,
            loss: self.price.first.clone(),
            after: self.book.machine.rule().clone(),
            rare: self.rare(times),
        }
    }

    /// `None` for most launches: admitted, without quotas and without a key.
    fn rare(&self, times: u64) -> Option<Box<RareOf<F>>> {
        let admitted = matches!(self.decided, Some(Ok(_)));
        if admitted && self.quotas.is_empty() && self.key.is_none() {
            return None;
        }
        let kept = |place: &usize| {
            let quota = self.book.quotas.get(*place)?;
            Some((quota.name.to_string(), quota.rule.spent()))
        };
        Some(Box::new(Rare {
            decision: self.decision(),
            quotas: self.quotas.iter().filter_map(kept).collect(),
            key: self.key.clone(),
            // What changes without being admitted is a halt.
            halted: self.changed && !admitted,
            times,
        }))
    }

    fn decision(&self) -> Decision<ChildLoss<F>, WholeLoss<F>> {
        let error = match &self.decided {
            Some(Ok(_)) => return Decision::Admitted,
            Some(Err(error)) => &**error,
            None => return Decision::Denied("not decided".to_owned()),
        };
        match error {
            LedgerError::Launch(LaunchError::Refused(refusal)) => {
                Decision::Refused(refusal.clone())
            }
            LedgerError::OverQuota { quota, refusal } => Decision::OverQuota {
                quota: quota.clone(),
                refusal: refusal.clone(),
            },
            other => Decision::Denied(other.to_string()),
        }
    }
}

pub(super) fn unnamed() -> Description {
    Description::new("a mechanism that fails to describe itself").incomplete()
}

impl<D: ?Sized, F: LedgerRule, R, X> sealed::Sealed for Launch<'_, D, F, R, X> {}

impl<D: ?Sized, F: LedgerRule, R, X: Discipline> Charge for Launch<'_, D, F, R, X> {
    fn budgets(&self) -> &[String] {
        self.budgets
    }

    fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    fn known(&self, budget: usize) -> u64 {
        if budget == 0 {
            return self.book.version;
        }
        self.quota(budget).map_or(UNKNOWN, |quota| quota.version)
    }

    fn refresh(&mut self, budget: usize, saved: &Saved) -> Result<(), StoreError> {
        let Some(place) = budget.checked_sub(1) else {
            let name = &*self.shared.header.filter;
            return self.book.refresh(&self.shared.fresh, name, saved);
        };
        let quota = self.quotas.get(place).copied();
        match quota.and_then(|place| self.book.quotas.get_mut(place)) {
            Some(quota) => quota.refresh(saved),
            None => Ok(()),
        }
    }

    fn decide(&mut self) -> bool {
        let halted = self.book.machine.halt().is_some();
        let decided = self.settle();
        let admitted = decided.is_ok();
        self.changed = admitted || (!halted && self.book.machine.halt().is_some());
        if self.changed {
            self.book.version = self.book.version.wrapping_add(1);
            if admitted {
                for place in self.quotas {
                    if let Some(quota) = self.book.quotas.get_mut(*place) {
                        quota.version = quota.version.wrapping_add(1);
                    }
                }
            }
        }
        self.decided = Some(decided);
        admitted
    }

    fn changed(&self) -> Result<Vec<(usize, Saved)>, StoreError> {
        let mut changed = Vec::new();
        if !self.changed {
            return Ok(changed);
        }
        let machine = &self.book.machine;
        let saved = Saved {
            version: self.book.version,
            state: write_state(machine.rule(), machine.launched(), machine.halt())?,
        };
        changed.push((0, saved));
        if matches!(self.decided, Some(Ok(_))) {
            for budget in 1..self.budgets.len() {
                if let Some(quota) = self.quota(budget) {
                    let saved = Saved {
                        version: quota.version,
                        state: quota.rule.state()?,
                    };
                    changed.push((budget, saved));
                }
            }
        }
        Ok(changed)
    }

    fn line(&self, sequence: u64, times: u64) -> Result<String, StoreError> {
        let mechanism = self.mechanism.clone().unwrap_or_else(unnamed);
        self.recorded(mechanism, times).line(sequence)
    }

    fn record(&mut self, times: u64) -> Box<dyn Record> {
        let mechanism = self.mechanism.take().unwrap_or_else(unnamed);
        Box::new(self.recorded(mechanism, times))
    }

    fn amounts(&self) -> Vec<(String, String)> {
        let mut amounts = Vec::new();
        let loss = serde_json::to_value(&self.price.first).unwrap_or_default();
        collect(LOSS, &loss, &mut amounts);
        amounts
    }
}

const LOSS: &str = "loss";

/// Quantities are strings, wherever they are; counts are numbers.
fn collect(name: &str, value: &Value, amounts: &mut Vec<(String, String)>) {
    match value {
        Value::String(number) => amounts.push((name.to_owned(), number.clone())),
        // A number of units.
        Value::Number(units) => amounts.push((name.to_owned(), units.to_string())),
        Value::Object(fields) => {
            for (field, value) in fields {
                // Of two parts with the same fields, each has its own.
                let inner = match name {
                    LOSS => field.clone(),
                    _ => format!("{name} {field}"),
                };
                collect(&inner, value, amounts);
            }
        }
        Value::Array(values) => {
            for (index, value) in values.iter().enumerate() {
                collect(&format!("{name} {index}"), value, amounts);
            }
        }
        _ => {}
    }
}

/// What an entry is made of. The total is computed when somebody reads it.
///
/// Small, because a ledger in memory keeps one for each launch.
struct Recorded<F: LedgerRule> {
    time: SystemTime,
    heading: Arc<Heading>,
    mechanism: Description,
    loss: ChildLoss<F>,
    after: F,
    rare: Option<Box<RareOf<F>>>,
}

/// What most entries have nothing to say about.
struct Rare<C, W> {
    decision: Decision<C, W>,
    quotas: Vec<(String, C)>,
    key: Option<String>,
    halted: bool,
    times: u64,
}

type RareOf<F> = Rare<ChildLoss<F>, WholeLoss<F>>;

impl<F: LedgerRule> sealed::Sealed for Recorded<F> {}

impl<F: LedgerRule> Record for Recorded<F> {
    fn line(&self, sequence: u64) -> Result<String, StoreError> {
        let (filter, rare) = (&*self.heading.filter, self.rare.as_deref());
        let decision = rare.map(|rare| rare.decision.clone());
        seal(&Entry {
            ledger: VERSION,
            sequence,
            time: time::written(self.time),
            filter: filter.filter.to_string(),
            party: self.heading.party.to_string(),
            measure: filter.measure.clone(),
            whole: filter.whole.clone(),
            relation: filter.relation.to_owned(),
            distance: filter.distance,
            mechanism: self.mechanism.clone(),
            loss: self.loss.clone(),
            decision: decision.unwrap_or(Decision::Admitted),
            spent: self.after.spent(),
            quotas: rare.map(|rare| rare.quotas.clone()).unwrap_or_default(),
            key: rare.and_then(|rare| rare.key.clone()),
            halted: rare.is_some_and(|rare| rare.halted),
            times: rare.map_or(1, |rare| rare.times),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_amount_of_a_loss_has_a_name_of_its_own() {
        let profile = |text: &str| {
            let mut amounts = Vec::new();
            collect(LOSS, &serde_json::from_str(text).unwrap(), &mut amounts);
            let named = |(name, amount)| format!("{name} = {amount}");
            amounts.into_iter().map(named).collect::<Vec<_>>()
        };
        assert_eq!(profile(r#""0.1""#), ["loss = 0.1"]);
        let pair = r#"{"epsilon":"0.1","delta":"1e-6"}"#;
        assert_eq!(profile(pair), ["delta = 1e-6", "epsilon = 0.1"]);
        // The worse of a profile and the same one reversed.
        let worst =
            r#"{"worst":[{"laplace":{"epsilon":"1"}},{"reversed":{"laplace":{"epsilon":"1"}}}]}"#;
        let both = [
            "worst 0 laplace epsilon = 1",
            "worst 1 reversed laplace epsilon = 1",
        ];
        assert_eq!(profile(worst), both);
    }
}
