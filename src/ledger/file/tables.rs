//! The tables of a ledger's file, and what is written to them.

use redb::{ReadableTable, TableDefinition, WriteTransaction};

use super::super::seal::VERSION;
use super::super::{Outcome, OutcomeLine, Refusals, Saved, StoreError};
use super::database::{FileError, damaged};

pub(super) const ABOUT: TableDefinition<&str, &str> = TableDefinition::new("about");
pub(super) const TERMS: TableDefinition<&str, &str> = TableDefinition::new("terms");
pub(super) const STATES: TableDefinition<&str, (u64, &str)> = TableDefinition::new("states");
pub(super) const ENTRIES: TableDefinition<u64, &str> = TableDefinition::new("entries");
pub(super) const OUTCOMES: TableDefinition<u64, &str> = TableDefinition::new("outcomes");
pub(super) const PENDING: TableDefinition<u64, ()> = TableDefinition::new("pending");
pub(super) const KEYS: TableDefinition<&str, u64> = TableDefinition::new("keys");

/// What is queued until the next sync. To write it twice is to write it once.
pub(super) enum Write {
    Charge {
        sequence: u64,
        line: String,
        states: Vec<(String, Saved)>,
        /// Where it was admitted: it has yet to be run.
        admitted: bool,
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
pub(super) fn prepare(write: &WriteTransaction) -> Result<(u64, Refusals), FileError> {
    {
        let about = write.open_table(ABOUT)?;
        let version = about.get("version")?;
        match version.as_ref().map(redb::AccessGuard::value) {
            Some(version) if version == VERSION.to_string() => {}
            Some(_) => return Err(StoreError::Version.into()),
            // Another program's file.
            None => return Err(damaged("the file").into()),
        }
    }
    let mut tables = Tables::open(write)?;
    // A budget whose name is not found would begin anew.
    if names(&tables.terms)? != names(&tables.states)? {
        return Err(damaged("the file").into());
    }
    let mut open = Vec::new();
    for pending in tables.pending.iter()? {
        open.push(pending?.0.value());
    }
    for sequence in open {
        let line = OutcomeLine::new(sequence, Outcome::Interrupted).line()?;
        tables.write(&Write::Finish { sequence, line })?;
    }
    let last = tables.entries.last()?;
    let next = last.map_or(1, |(sequence, _)| sequence.value().saturating_add(1));
    let mut ending = Vec::new();
    let newest_first = tables.entries.iter()?.rev();
    for entry in newest_first.take(Refusals::KEPT) {
        ending.push(entry?.1.value().to_owned());
    }
    Ok((next, Refusals::read(ending.iter().map(String::as_str))))
}

fn names<V: redb::Value + 'static>(
    table: &impl ReadableTable<&'static str, V>,
) -> Result<Vec<String>, FileError> {
    let names = table.iter()?;
    let names = names.map(|entry| Ok(entry?.0.value().to_owned()));
    names.collect()
}

pub(super) struct Tables<'a> {
    terms: redb::Table<'a, &'static str, &'static str>,
    states: redb::Table<'a, &'static str, (u64, &'static str)>,
    entries: redb::Table<'a, u64, &'static str>,
    outcomes: redb::Table<'a, u64, &'static str>,
    pending: redb::Table<'a, u64, ()>,
    keys: redb::Table<'a, &'static str, u64>,
}

impl<'a> Tables<'a> {
    pub(super) fn open(write: &'a WriteTransaction) -> Result<Self, FileError> {
        Ok(Self {
            terms: write.open_table(TERMS)?,
            states: write.open_table(STATES)?,
            entries: write.open_table(ENTRIES)?,
            outcomes: write.open_table(OUTCOMES)?,
            pending: write.open_table(PENDING)?,
            keys: write.open_table(KEYS)?,
        })
    }

    pub(super) fn write(&mut self, write: &Write) -> Result<(), FileError> {
        match write {
            Write::Open {
                budget,
                terms,
                saved,
            } => {
                self.terms.insert(&**budget, &**terms)?;
                let state = (saved.version, &*saved.state);
                self.states.insert(&**budget, state)?;
            }
            Write::Charge {
                sequence,
                line,
                states,
                admitted,
                key,
            } => {
                self.entries.insert(sequence, &**line)?;
                for (budget, saved) in states {
                    let state = (saved.version, &*saved.state);
                    self.states.insert(&**budget, state)?;
                }
                if *admitted {
                    self.pending.insert(sequence, ())?;
                    if let Some(key) = key {
                        self.keys.insert(&**key, sequence)?;
                    }
                }
            }
            Write::Finish { sequence, line } => {
                self.pending.remove(sequence)?;
                self.outcomes.insert(sequence, &**line)?;
            }
        }
        Ok(())
    }
}
