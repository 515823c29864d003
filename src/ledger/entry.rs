//! The record of a launch.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::StoreError;
use super::seal::{VERSION, seal, unseal, unsealed};
use crate::compose::Refusal;
use crate::machine::Description;

/// One decision about a launch. It contains only values that were public when it was made: no data,
/// and no answer.
///
/// Losses are JSON as they are written: what they are losses of, the measures say. `spec/ledger.md`
/// describes every field. [`Ledger`](super::Ledger) has an example.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Entry<C = Value, W = Value> {
    /// The version of the form, 1.
    pub ledger: u32,
    /// Its place in the ledger, from 1.
    pub sequence: u64,
    /// UTC, to the microsecond.
    pub time: String,
    /// The filter that decided.
    pub filter: String,
    /// Who asked.
    pub party: String,
    /// The measure in which the loss is stated.
    pub measure: Value,
    /// The measure of the filter's budget.
    pub whole: Value,
    /// Which datasets count as neighbours.
    pub relation: String,
    /// At which distance the loss was asked for.
    pub distance: u64,
    /// The mechanism's name and public parameters.
    pub mechanism: Description,
    /// What it would cost.
    pub loss: C,
    /// What was decided.
    pub decision: Decision<C, W>,
    /// What the filter has spent after it.
    pub spent: W,
    /// What each quota that was asked has spent after it.
    pub quotas: Vec<(String, C)>,
    /// The idempotency key, if there was one.
    pub key: Option<String>,
    /// Whether the filter halted at it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub halted: bool,
    /// For how many launches it stands: more than 1 if it took the place of others that were
    /// [refused](super::Refusals) before it.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    pub times: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_false(halted: &bool) -> bool {
    !halted
}

fn once() -> u64 {
    1
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_once(times: &u64) -> bool {
    *times == 1
}

impl<C: PartialEq, W: PartialEq> Entry<C, W> {
    /// Whether it was charged under this key, and this is its own outcome.
    pub(super) fn stands_for(&self, key: Option<&str>, done: Option<&OutcomeLine>) -> bool {
        self.decision == Decision::Admitted
            && self.key.as_deref() == key
            && done.is_none_or(|done| done.sequence == self.sequence)
    }
}

/// The decision on a launch that stated its loss.
///
/// Example: [`Ledger`](crate::ledger::Ledger).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Decision<C = Value, W = Value> {
    /// Charged.
    Admitted,
    /// Over the filter's budget. Not charged.
    Refused(Refusal<C, W>),
    /// Over a quota. Not charged.
    OverQuota {
        /// Which.
        quota: String,
        /// By how much.
        refusal: Refusal<C>,
    },
    /// Not charged for another reason, which is given in words.
    Denied(String),
}

/// The outcome of a launch that was charged.
///
/// Example: [`Ledger`](crate::ledger::Ledger).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Outcome {
    /// A child was handed out. It ends with the process at the latest.
    Started,
    /// It answered. The answer is there if the ledger was asked to keep answers.
    Answered(Option<Value>),
    /// It failed.
    Failed,
    /// The process ended before there was an outcome.
    Interrupted,
}

/// A line about a launch that was charged, written after its [`Entry`].
///
/// Example: [`Ledger`](crate::ledger::Ledger).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutcomeLine {
    /// The version of the form, 1.
    pub ledger: u32,
    /// That of the entry.
    pub sequence: u64,
    /// What became of it.
    pub outcome: Outcome,
}

impl OutcomeLine {
    /// In the version of this crate.
    #[must_use]
    pub fn new(sequence: u64, outcome: Outcome) -> Self {
        Self {
            ledger: VERSION,
            sequence,
            outcome,
        }
    }

    /// The line, with its checksum: for stores.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unwritable`] if the answer has no JSON form.
    pub fn line(&self) -> Result<String, StoreError> {
        seal(self)
    }
}

/// One line of a ledger.
///
/// Example: [`Ledger`](crate::ledger::Ledger).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Line {
    /// A decision.
    Entry(Box<Entry>),
    /// What became of one.
    Outcome(OutcomeLine),
}

impl Line {
    /// Reads one line; `None` if it is damaged, or of another version.
    #[must_use]
    pub fn read(line: &str) -> Option<Self> {
        let body: Value = serde_json::from_str(&unsealed(line)?).ok()?;
        if body.get("ledger") != Some(&VERSION.into()) {
            return None;
        }
        if body.get("outcome").is_some() {
            return unseal(line).map(Self::Outcome);
        }
        unseal(line).map(|entry| Self::Entry(Box::new(entry)))
    }

    /// Reads a line of the record that comes after this one. A part of a record begins anywhere, with an entry.
    pub(super) fn read_after(last: Option<&Self>, line: &str) -> Option<Self> {
        let line = Self::read(line)?;
        let follows = last.map_or(matches!(line, Self::Entry(_)), |last| line.follows(last));
        follows.then_some(line)
    }

    /// Whether a record may have it next: the next entry, or the outcome of an admitted launch.
    fn follows(&self, last: &Self) -> bool {
        match (self, last) {
            (Self::Entry(entry), last) => last.sequence().checked_add(1) == Some(entry.sequence),
            // What was run was admitted, and has one outcome.
            (Self::Outcome(done), Self::Entry(entry)) => {
                done.sequence == entry.sequence && entry.decision == Decision::Admitted
            }
            (Self::Outcome(_), Self::Outcome(_)) => false,
        }
    }

    /// The place of the entry that it is about.
    #[must_use]
    pub fn sequence(&self) -> u64 {
        match self {
            Self::Entry(entry) => entry.sequence,
            Self::Outcome(done) => done.sequence,
        }
    }
}

/// Reads a record in JSON Lines. An incomplete last line, because the writer was stopped in the
/// middle of it, is left out; anything else that cannot be read is an error.
///
/// Example: [`Ledger`](crate::ledger::Ledger).
///
/// # Errors
///
/// [`StoreError::Damaged`] says which line, from 1; also where entries do not follow each other, or an outcome
/// does not follow the entry of an admitted launch.
pub fn read_lines(text: &str) -> Result<Vec<Line>, StoreError> {
    let mut lines: Vec<Line> = Vec::new();
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let Some(line) = line.strip_suffix('\n') else {
            // A line without a line feed is incomplete.
            break;
        };
        let line = Line::read_after(lines.last(), line);
        let what = || format!("line {} of the record", index + 1);
        lines.push(line.ok_or_else(|| StoreError::Damaged { what: what() })?);
    }
    Ok(lines)
}
