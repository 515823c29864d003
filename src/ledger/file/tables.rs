//! The tables of a ledger's file, and what is written to them.

use redb::{ReadableTable, TableDefinition, WriteTransaction};

use super::super::seal::VERSION;
use super::super::{Decision, Line, Outcome, OutcomeLine, Refusals, Saved, StoreError};
use super::database::{damaged, open_failed, unavailable};

pub(super) const ABOUT: TableDefinition<&str, &str> = TableDefinition::new("about");
pub(super) const TERMS: TableDefinition<&str, &str> = TableDefinition::new("terms");
pub(super) const STATES: TableDefinition<&str, (u64, &str)> = TableDefinition::new("states");
/// By sequence number: the [`ENTRY`], and behind it the [`OUTCOME`], so that they share pages.
pub(super) const LINES: TableDefinition<(u64, u8), &str> = TableDefinition::new("entries");
pub(super) const KEYS: TableDefinition<&str, u64> = TableDefinition::new("keys");

pub(super) const ENTRY: u8 = 0;
pub(super) const OUTCOME: u8 = 1;

/// What is queued until the next sync. To write it twice is to write it once.
pub(super) enum Write {
    Charge {
        sequence: u64,
        line: String,
        states: Vec<(String, Saved)>,
        /// Where it was admitted.
        key: Option<String>,
    },
    Finish {
        sequence: u64,
        line: String,
    },
    Open {
        budget: String,
        terms: String,
        saved: Saved,
    },
}

/// Checks the version, makes the tables, and ends what an earlier process left open. Gives the next
/// sequence number, and how many refusals are at the end.
pub(super) fn prepare(write: &WriteTransaction) -> Result<(u64, Refusals), StoreError> {
    {
        let about = write.open_table(ABOUT).map_err(open_failed)?;
        let version = about.get("version").map_err(unavailable)?;
        match version.as_ref().map(redb::AccessGuard::value) {
            Some(version) if version == VERSION.to_string() => {}
            Some(_) => return Err(StoreError::Version),
            // Another program's file.
            None => return Err(damaged("the file")),
        }
    }
    let mut tables = Tables::open(write)?;
    // A budget whose name is not found would begin anew.
    if names(&tables.terms)? != names(&tables.states)? {
        return Err(damaged("the file"));
    }
    for sequence in interrupted(&tables)? {
        let line = OutcomeLine::new(sequence, Outcome::Interrupted).line()?;
        tables.write(&Write::Finish { sequence, line })?;
    }
    let last = tables.lines.last().map_err(unavailable)?;
    let next = last.map_or(1, |(place, _)| place.value().0.saturating_add(1));
    let mut ending = Vec::new();
    for line in tables.lines.iter().map_err(unavailable)?.rev() {
        let (place, line) = line.map_err(unavailable)?;
        if place.value().1 == ENTRY {
            ending.push(line.value().to_owned());
        }
        if ending.len() == Refusals::KEPT {
            break;
        }
    }
    Ok((next, Refusals::read(ending.iter().map(String::as_str))))
}

/// The launches that were charged and have no outcome.
fn interrupted(tables: &Tables<'_>) -> Result<Vec<u64>, StoreError> {
    let mut without = Vec::new();
    let mut lines = tables.lines.iter().map_err(unavailable)?.peekable();
    while let Some(line) = lines.next() {
        let (place, line) = line.map_err(unavailable)?;
        let (sequence, kind) = place.value();
        let is_done = lines.peek().is_some_and(|next| match next {
            Ok((next, _)) => next.value() == (sequence, OUTCOME),
            Err(_) => false,
        });
        if kind == ENTRY && !is_done && is_admitted(line.value()) {
            without.push(sequence);
        }
    }
    Ok(without)
}

/// One that is damaged is not: whoever reads it finds the damage.
fn is_admitted(line: &str) -> bool {
    matches!(Line::read(line), Some(Line::Entry(entry)) if entry.decision == Decision::Admitted)
}

fn names<V: redb::Value + 'static>(
    table: &impl ReadableTable<&'static str, V>,
) -> Result<Vec<String>, StoreError> {
    let names = table.iter().map_err(unavailable)?;
    let names = names.map(|entry| Ok(entry.map_err(unavailable)?.0.value().to_owned()));
    names.collect()
}

pub(super) struct Tables<'a> {
    terms: redb::Table<'a, &'static str, &'static str>,
    states: redb::Table<'a, &'static str, (u64, &'static str)>,
    lines: redb::Table<'a, (u64, u8), &'static str>,
    keys: redb::Table<'a, &'static str, u64>,
}

impl<'a> Tables<'a> {
    pub(super) fn open(write: &'a WriteTransaction) -> Result<Self, StoreError> {
        Ok(Self {
            terms: write.open_table(TERMS).map_err(open_failed)?,
            states: write.open_table(STATES).map_err(open_failed)?,
            lines: write.open_table(LINES).map_err(open_failed)?,
            keys: write.open_table(KEYS).map_err(open_failed)?,
        })
    }

    pub(super) fn write(&mut self, write: &Write) -> Result<(), StoreError> {
        match write {
            Write::Open {
                budget,
                terms,
                saved,
            } => {
                self.terms
                    .insert(&**budget, &**terms)
                    .map_err(unavailable)?;
                let state = (saved.version, &*saved.state);
                self.states.insert(&**budget, state).map_err(unavailable)?;
            }
            Write::Charge {
                sequence,
                line,
                states,
                key,
            } => {
                self.line(*sequence, ENTRY, line)?;
                for (budget, saved) in states {
                    let state = (saved.version, &*saved.state);
                    self.states.insert(&**budget, state).map_err(unavailable)?;
                }
                if let Some(key) = key {
                    self.keys.insert(&**key, sequence).map_err(unavailable)?;
                }
            }
            Write::Finish { sequence, line } => self.line(*sequence, OUTCOME, line)?,
        }
        Ok(())
    }

    fn line(&mut self, sequence: u64, kind: u8, line: &str) -> Result<(), StoreError> {
        let written = self.lines.insert((sequence, kind), line);
        written.map(drop).map_err(unavailable)
    }
}
