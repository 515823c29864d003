//! What charges write.

use queryables::ledger::{Charge, Saved, StoreError};
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
    amounts: Vec<(String, String)>,
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
            amounts: charge.amounts(),
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
        seen.counter(next)?;
        for (budget, saved) in &self.changed {
            seen.state(budget, saved, next)?;
        }
        Ok(())
    }
}

/// Charges and outcomes, as columns.
#[derive(Default)]
pub(crate) struct Writing<'a> {
    sequences: Vec<i64>,
    lines: Vec<&'a str>,
    charged: Vec<i64>,
    names: Vec<&'a str>,
    amounts: Vec<&'a str>,
    /// Each once.
    pub(crate) budgets: Vec<String>,
    versions: Vec<i64>,
    states: Vec<&'a str>,
    keys: Vec<&'a str>,
    keyed: Vec<i64>,
    done: Vec<i64>,
    outcomes: Vec<&'a str>,
    next: i64,
}

impl<'a> Writing<'a> {
    /// Of several changes of a budget the last one is written.
    pub(crate) fn of(charges: &'a [Queued], outcomes: &'a [Outcome]) -> Self {
        let mut writing = Self::default();
        (writing.done, writing.outcomes) = columns(outcomes);
        for charge in charges {
            let sequence = signed(charge.sequence);
            writing.sequences.push(sequence);
            writing.lines.push(&charge.line);
            for (name, amount) in &charge.amounts {
                writing.charged.push(sequence);
                writing.names.push(name);
                writing.amounts.push(amount);
            }
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
                writing.keyed.push(sequence);
            }
            writing.next = signed(charge.sequence + 1);
        }
        writing
    }

    pub(crate) fn parameters(&self) -> [&(dyn ToSql + Sync); 13] {
        [
            &self.sequences,
            &self.lines,
            &self.charged,
            &self.names,
            &self.amounts,
            &self.budgets,
            &self.versions,
            &self.states,
            &self.keys,
            &self.keyed,
            &self.done,
            &self.outcomes,
            &self.next,
        ]
    }
}

/// Outcomes as columns.
pub(crate) fn columns(outcomes: &[Outcome]) -> (Vec<i64>, Vec<&str>) {
    outcomes
        .iter()
        .map(|(sequence, line)| (signed(*sequence), &**line))
        .unzip()
}
