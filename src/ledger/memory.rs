//! A ledger that lasts as long as its process.

use std::collections::{HashMap, HashSet};

use super::store::sealed::Record;
use super::store::{Charge, Receipt, Saved, Store, StoreError};
use super::{Outcome, OutcomeLine, Refusals};
use crate::sync::{Mutex, MutexGuard, PoisonError};

/// Keeps the record in memory, or none.
///
/// The budgets themselves stay with their filters, so each is opened once.
///
/// Example: [`Ledger`](crate::ledger::Ledger).
#[derive(Default)]
pub struct MemoryStore {
    forgets: bool,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    dataset: Option<String>,
    budgets: HashSet<String>,
    entries: Vec<(Box<dyn Record>, Option<Outcome>)>,
    keys: HashMap<String, u64>,
    refusals: Refusals,
}

impl MemoryStore {
    /// With a record.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Without one.
    #[must_use]
    pub fn without_record() -> Self {
        Self {
            forgets: true,
            ..Self::default()
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for MemoryStore {
    fn name_dataset(&self, name: &str) -> Result<(), StoreError> {
        let mut kept = self.kept();
        let named = kept.dataset.get_or_insert_with(|| name.to_owned());
        if named != name {
            return Err(StoreError::OtherDataset {
                named: named.clone(),
                given: name.to_owned(),
            });
        }
        Ok(())
    }

    fn open(&self, budget: &str, _: &str, state: &str) -> Result<Saved, StoreError> {
        if !self.kept().budgets.insert(budget.to_owned()) {
            let budget = budget.to_owned();
            return Err(StoreError::AlreadyOpen { budget });
        }
        Ok(Saved {
            version: 0,
            state: state.to_owned(),
        })
    }

    fn newer(&self, _: &[(&str, u64)]) -> Result<Vec<(usize, Saved)>, StoreError> {
        Ok(Vec::new())
    }

    fn charge(&self, charge: &mut dyn Charge) -> Result<Receipt, StoreError> {
        if self.forgets && charge.key().is_none() {
            // With quotas, which are decided together with the filter.
            charge.decide(&[])?;
            return Ok(Receipt::Written {
                sequence: 0,
                mark: 0,
            });
        }
        // Held while the launch decides: entries stand in the order of decisions.
        let mut kept = self.kept();
        if let Some(key) = charge.key()
            && let Some(sequence) = kept.keys.get(key)
            && let Some((record, outcome)) = place(*sequence).and_then(|at| kept.entries.get(at))
        {
            let done = outcome
                .clone()
                .map(|outcome| OutcomeLine::new(*sequence, outcome));
            let line = record.line(*sequence)?;
            return Ok(Receipt::Known { line, done });
        }
        let admitted = charge.decide(&[])?;
        let refused = !admitted && charge.changed()?.is_empty();
        let next = kept.entries.len() as u64 + 1;
        let (sequence, times) = kept.refusals.place(next, refused);
        if sequence < next {
            kept.entries.pop();
        }
        kept.entries.push((charge.record(times), None));
        if admitted && let Some(key) = charge.key() {
            kept.keys.insert(key.to_owned(), sequence);
        }
        Ok(Receipt::Written { sequence, mark: 0 })
    }

    fn sync(&self, _: &Receipt) -> Result<(), StoreError> {
        Ok(())
    }

    fn finish(&self, sequence: u64, outcome: Outcome) -> Result<(), StoreError> {
        if let Some(place) = place(sequence)
            && let Some((_, done)) = self.kept().entries.get_mut(place)
        {
            *done = Some(outcome);
        }
        Ok(())
    }

    fn keeps_launches(&self) -> bool {
        !self.forgets
    }

    fn lines(&self, from: u64, most: usize) -> Result<Vec<String>, StoreError> {
        let kept = self.kept();
        let mut lines = Vec::new();
        let from = from.max(1);
        let later = place(from).and_then(|place| kept.entries.get(place..));
        // The numbers second: they end with the entries, and not by an overflow.
        for ((record, outcome), sequence) in later.unwrap_or_default().iter().take(most).zip(from..)
        {
            lines.push(record.line(sequence)?);
            if let Some(outcome) = outcome {
                lines.push(OutcomeLine::new(sequence, outcome.clone()).line()?);
            }
        }
        Ok(lines)
    }
}

fn place(sequence: u64) -> Option<usize> {
    usize::try_from(sequence.checked_sub(1)?).ok()
}

crate::debug_fields!([] MemoryStore, "MemoryStore");
