//! One launch on its way to the store.

use std::sync::Arc;
use std::time::SystemTime;

use serde_json::Value;

use super::book::Book;
use super::error::DenialOf;
use super::filter::{LedgerRule, PartyHeader};
use super::party::Seat;
use super::seal::{VERSION, seal, unseal};
use super::state::write_state;
use super::store::sealed::{Record, Sealed};
use super::store::{Charge, Receipt, Saved};
use super::{Decision, Entry, LedgerError, Outcome, OutcomeLine, StoreError, time};
use crate::account::{ChildLoss, WholeLoss};
use crate::compose::{Charged, Discipline, Interleaved, LaunchError, Price};
use crate::machine::{Description, guarded};

/// A launch that asks to be charged.
///
/// It decides on a copy of the filter's state, which takes the place of the original once the store
/// has what was decided. Under a rule of this crate this happens inside the store's transaction, which
/// takes one round trip less. A third-party rule has decided before, under no lock: everything that the
/// store may ask for is there ([`Settled`]), and it decides again if another launch came first.
pub(super) struct Launch<'a, D: ?Sized, F: LedgerRule> {
    seat: &'a Seat<D, F>,
    price: &'a Price<ChildLoss<F>>,
    /// `None` if the description is not recorded.
    mechanism: Option<&'a Description>,
    key: Option<&'a str>,
    book: Book<F>,
    decided: Option<Result<(), DenialOf<F>>>,
    /// Whether states have changed: an admitted launch, or one that halts.
    changed: bool,
    settled: Option<Settled>,
}

/// What the store may ask of a launch that was decided before.
struct Settled {
    /// The versions that it was decided on.
    known: Vec<u64>,
    states: Vec<(String, Saved)>,
    entry: Entry,
    amounts: Vec<(String, String)>,
}

/// What a key is known for, or a new launch. The former behind a pointer: most launches have no key.
pub(super) enum Keyed<'a, D: ?Sized> {
    New(Charged<'a, D>),
    Known(Option<Box<Outcome>>),
}

impl<D: ?Sized, F: LedgerRule> Seat<D, F> {
    /// Decides on a launch that has a price, charges it, and has the store write what was decided.
    pub(super) fn write<X: Discipline>(
        &self,
        price: &Price<ChildLoss<F>>,
        mechanism: Option<&Description>,
        key: Option<&str>,
    ) -> Result<Keyed<'_, D>, DenialOf<F>> {
        let shared = &*self.shared;
        let on = |book| Launch {
            seat: self,
            price,
            mechanism,
            key,
            book,
            decided: None,
            changed: false,
            settled: None,
        };
        loop {
            // The lock is released first: dropping a copy runs code of the rule.
            let mut launch;
            let book;
            if F::REENTRANT.0 {
                launch = on(shared.newest()?);
                let seen = launch.book.versions();
                guarded(|| Ok(launch.settle())).unwrap_or_else(|_| Err(failed()))?;
                // The rule's code has run: it may have stopped this one.
                shared.running()?;
                book = shared.book();
                if book.versions() != seen {
                    continue;
                }
            } else {
                shared.running()?;
                book = shared.book();
                launch = on(book.copy());
            }
            // Writing a state down may panic.
            let charged = guarded(|| Ok(shared.ledger.store.charge(&mut launch)));
            let receipt = match charged.unwrap_or_else(|_| Err(failed())) {
                Ok(receipt) => receipt,
                Err(StoreError::Changed) => continue,
                Err(error) => return Err(error.into()),
            };
            let (sequence, queued) = match receipt {
                Receipt::Written { sequence, .. } => (sequence, false),
                Receipt::Queued { sequence, .. } => (sequence, true),
                Receipt::Known { line, done } => {
                    drop(book);
                    let outcome = known::<F>(&line, done, price, mechanism, key)?;
                    return Ok(Keyed::Known(outcome.map(Box::new)));
                }
            };
            // Others queue up meanwhile, unless each launch freezes the one before: then their order counts.
            let kept = (!queued || X::FREEZES).then_some(book);
            match queued.then(|| shared.ledger.store.sync(&receipt)) {
                None | Some(Ok(())) => {}
                Some(Err(StoreError::Changed)) => continue,
                Some(Err(error)) => return Err(error.into()),
            }
            let mut book = kept.unwrap_or_else(|| shared.book());
            book.advance(&mut launch.book);
            let decided = launch.decided.take();
            let decided = decided.unwrap_or_else(|| Err(LedgerError::NoAnswer.into()));
            let ticket = decided.map(|()| book.launches.ticket::<X>());
            drop(book);
            if !queued {
                shared.ledger.store.sync(&receipt)?;
            }
            return Ok(Keyed::New(Charged {
                ticket: shared.watched::<X>(ticket?, launch.book.version),
                data: &shared.data,
                sequence,
            }));
        }
    }
}

/// What became of an earlier launch with this key, if it was the same.
fn known<F: LedgerRule>(
    line: &str,
    done: Option<OutcomeLine>,
    price: &Price<ChildLoss<F>>,
    mechanism: Option<&Description>,
    key: Option<&str>,
) -> Result<Option<Outcome>, DenialOf<F>> {
    let entry: Option<Entry<ChildLoss<F>>> = unseal(line);
    let entry = entry.filter(|entry| entry.stands_for(key, done.as_ref()));
    let Some(entry) = entry else {
        let what = "the entry of a key".to_owned();
        return Err(StoreError::Damaged { what }.into());
    };
    if entry.loss != price.first || Some(&entry.mechanism) != mechanism {
        return Err(LedgerError::OtherLaunch.into());
    }
    Ok(done.map(|done| done.outcome))
}

fn failed() -> StoreError {
    StoreError::Unwritable("the rule or the store failed".to_owned())
}

impl<D: ?Sized, F: LedgerRule> Launch<'_, D, F> {
    /// Decides now, and writes down what the store may ask for.
    fn settle(&mut self) -> Result<(), StoreError> {
        let known = self.known();
        self.decide_now();
        self.settled = Some(Settled {
            known,
            states: self.changed()?,
            entry: unseal(&self.line(0, 1)?).ok_or_else(failed)?,
            amounts: self.amounts(),
        });
        Ok(())
    }

    /// The versions of the states at hand, in the order of the budgets.
    fn known(&self) -> Vec<u64> {
        let quotas = self.book.quotas_at(&self.seat.quotas);
        let quotas = quotas.map(|quota| quota.version);
        [self.book.version].into_iter().chain(quotas).collect()
    }

    fn decide_now(&mut self) -> bool {
        let halted = self.book.gate().halt.is_some();
        let decided = self.admitted();
        let admitted = decided.is_ok();
        self.changed = admitted || (!halted && self.book.gate().halt.is_some());
        if self.changed {
            self.book.version = self.book.version.wrapping_add(1);
        }
        self.decided = Some(decided);
        admitted
    }

    /// The filter and all its quotas, all or nothing.
    fn admitted(&mut self) -> Result<(), DenialOf<F>> {
        let mut next = Vec::with_capacity(self.seat.quotas.len());
        for quota in self.book.quotas_at(&self.seat.quotas) {
            let charged = quota.rule.charge(&self.price.first);
            next.push(charged.map_err(|refusal| {
                let quota = quota.name.to_string();
                LedgerError::Launch(LaunchError::OverQuota { quota, refusal })
            })?);
        }
        // The ticket is that of a copy.
        drop(self.book.launches.decide::<Interleaved>(self.price)?);
        for (place, rule) in self.seat.quotas.iter().zip(next) {
            if let Some(quota) = self.book.quotas.get_mut(*place) {
                quota.rule = rule;
                quota.version = quota.version.wrapping_add(1);
            }
        }
        Ok(())
    }

    fn recorded(&self, times: u64) -> Recorded<F> {
        Recorded {
            time: SystemTime::now(),
            heading: Arc::clone(&self.seat.heading),
            mechanism: self.mechanism.cloned().unwrap_or_else(unnamed),
            loss: self.price.first.clone(),
            after: self.book.rule().clone(),
            rare: self.rare(times),
        }
    }

    /// `None` for most launches: admitted, without quotas and without a key.
    fn rare(&self, times: u64) -> Option<Box<RareOf<F>>> {
        let admitted = matches!(self.decided, Some(Ok(_)));
        if admitted && self.seat.quotas.is_empty() && self.key.is_none() {
            return None;
        }
        let quotas = self.book.quotas_at(&self.seat.quotas);
        let quotas = quotas.map(|quota| (quota.name.to_string(), quota.rule.spent()));
        Some(Box::new(Rare {
            decision: self.decision(),
            quotas: quotas.collect(),
            key: self.key.map(str::to_owned),
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
            LedgerError::Launch(LaunchError::OverQuota { quota, refusal }) => Decision::OverQuota {
                quota: quota.clone(),
                refusal: (**refusal).clone(),
            },
            other => Decision::Denied(other.to_string()),
        }
    }
}

pub(super) fn unnamed() -> Description {
    Description::new("a mechanism that fails to describe itself").incomplete()
}

impl<D: ?Sized, F: LedgerRule> Sealed for Launch<'_, D, F> {
    fn record(&self, times: u64) -> Box<dyn Record> {
        match &self.settled {
            Some(settled) => Box::new(Kept(settled.entry.clone(), times)),
            None => Box::new(self.recorded(times)),
        }
    }
}

impl<D: ?Sized, F: LedgerRule> Charge for Launch<'_, D, F> {
    fn budgets(&self) -> &[String] {
        &self.seat.budgets
    }

    fn key(&self) -> Option<&str> {
        self.key
    }

    fn decide(&mut self, states: &[Saved]) -> Result<bool, StoreError> {
        if let (Some(settled), Some(decided)) = (&self.settled, &self.decided) {
            let mut versions = states.iter().zip(&settled.known);
            let is_newest = versions.all(|(saved, known)| saved.version == *known);
            let decided = is_newest.then_some(decided.is_ok());
            return decided.ok_or(StoreError::Changed);
        }
        let quotas = self.seat.quotas.iter().map(|quota| quota + 1);
        let at_hand = [0].into_iter().chain(quotas).zip(self.known());
        for ((place, version), saved) in at_hand.zip(states) {
            if saved.version != version {
                self.book.refresh(place, saved)?;
            }
        }
        Ok(self.decide_now())
    }

    fn changed(&self) -> Result<Vec<(String, Saved)>, StoreError> {
        if let Some(settled) = &self.settled {
            return Ok(settled.states.clone());
        }
        if !self.changed {
            return Ok(Vec::new());
        }
        let gate = self.book.gate();
        let state = write_state(&*gate.rule, gate.launched, gate.halt.as_deref())?;
        let mut changed = vec![(self.book.version, state)];
        if matches!(self.decided, Some(Ok(()))) {
            for quota in self.book.quotas_at(&self.seat.quotas) {
                changed.push((quota.version, quota.rule.state()?));
            }
        }
        let saved = changed.into_iter();
        let saved = saved.map(|(version, state)| Saved { version, state });
        Ok(self.seat.budgets.iter().cloned().zip(saved).collect())
    }

    fn line(&self, sequence: u64, times: u64) -> Result<String, StoreError> {
        self.record(times).line(sequence)
    }

    fn amounts(&self) -> Vec<(String, String)> {
        if let Some(settled) = &self.settled {
            return settled.amounts.clone();
        }
        let mut amounts = Vec::new();
        let loss = serde_json::to_value(&self.price.first).unwrap_or_default();
        collect(LOSS, &loss, &mut amounts);
        amounts
    }
}

/// An entry that needs no code of the rule any more.
struct Kept(Entry, u64);

impl Record for Kept {
    fn line(&self, sequence: u64) -> Result<String, StoreError> {
        seal(&Entry {
            sequence,
            times: self.1,
            ..self.0.clone()
        })
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
    heading: Arc<PartyHeader>,
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
