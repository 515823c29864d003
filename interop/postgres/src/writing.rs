//! What charges write.

use queryables::ledger::{Charge, Saved, StoreError};
use serde_json::{Map, Value};
use tokio_postgres::types::ToSql;

use crate::connection::signed;
use crate::seen::{Seen, seal};

/// What became of a launch: its sequence number, and a line.
pub(crate) type Outcome = (u64, String);

/// A charge that was decided.
pub(crate) struct Queued {
    pub(crate) sequence: u64,
    line: String,
    admitted: bool,
    amounts: String,
    changed: Vec<(String, Saved)>,
    key: Option<String>,
}

impl Queued {
    pub(crate) fn of(
        charge: &dyn Charge,
        sequence: u64,
        admitted: bool,
    ) -> Result<Self, StoreError> {
        Ok(Self {
            sequence,
            line: charge.line(sequence, 1)?,
            admitted,
            amounts: amounts(charge),
            changed: charge.changed()?,
            key: charge.key().filter(|_| admitted).map(str::to_owned),
        })
    }

    /// The states that it leaves behind.
    pub(crate) fn changed(&self) -> &[(String, Saved)] {
        &self.changed
    }

    /// It is committed.
    pub(crate) fn taken_up(&self, seen: &mut Seen) -> Result<(), StoreError> {
        if self.admitted {
            seen.admitted(self.sequence, seal(&self.line));
        }
        let next = self.sequence + 1;
        seen.wrote(self.sequence);
        seen.reaches(self.sequence, seal(&self.line))?;
        for (budget, saved) in &self.changed {
            seen.state(budget, saved, next)?;
        }
        Ok(())
    }
}

/// Charges as columns.
#[derive(Default)]
pub(crate) struct Writing<'a> {
    sequences: Vec<i64>,
    lines: Vec<&'a str>,
    amounts: Vec<&'a str>,
    /// Each once.
    pub(crate) budgets: Vec<String>,
    versions: Vec<i64>,
    states: Vec<&'a str>,
    keys: Vec<&'a str>,
    keyed: Vec<i64>,
}

impl<'a> Writing<'a> {
    /// Of several changes of a budget the last one is written.
    pub(crate) fn of(charges: &'a [Queued]) -> Self {
        let mut writing = Self::default();
        for charge in charges {
            writing.sequences.push(signed(charge.sequence));
            writing.lines.push(&charge.line);
            writing.amounts.push(&charge.amounts);
            for (budget, saved) in &charge.changed {
                let known = writing.budgets.iter().position(|known| known == budget);
                let (version, state) = (signed(saved.version), &*saved.state);
                if let Some(place) = known {
                    (writing.versions[place], writing.states[place]) = (version, state);
                } else {
                    writing.budgets.push(budget.clone());
                    writing.versions.push(version);
                    writing.states.push(state);
                }
            }
            if let Some(key) = &charge.key {
                writing.keys.push(key);
                writing.keyed.push(signed(charge.sequence));
            }
        }
        writing
    }

    pub(crate) fn parameters(&self) -> [&(dyn ToSql + Sync); 6] {
        [
            &self.sequences,
            &self.lines,
            &self.amounts,
            &self.budgets,
            &self.versions,
            &self.states,
        ]
    }

    pub(crate) fn keys(&self) -> [&(dyn ToSql + Sync); 2] {
        [&self.keys, &self.keyed]
    }

    /// The same of one charge without a key that changes one budget.
    pub(crate) fn parameters_of_one(&self) -> Option<[&(dyn ToSql + Sync); 6]> {
        match (&*self.sequences, &*self.budgets, &*self.keys) {
            ([sequence], [budget], []) => Some([
                sequence,
                self.lines.first()?,
                self.amounts.first()?,
                budget,
                self.versions.first()?,
                self.states.first()?,
            ]),
            _ => None,
        }
    }
}

/// Amounts as an object of JSON.
pub(crate) fn amounts(charge: &dyn Charge) -> String {
    let amounts = charge.amounts().into_iter();
    let amounts: Map<String, Value> = amounts
        .map(|(name, amount)| (name, Value::String(amount)))
        .collect();
    Value::Object(amounts).to_string()
}

/// Outcomes as columns.
pub(crate) fn columns(outcomes: &[Outcome]) -> (Vec<i64>, Vec<&str>) {
    outcomes
        .iter()
        .map(|(sequence, line)| (signed(*sequence), &**line))
        .unzip()
}
