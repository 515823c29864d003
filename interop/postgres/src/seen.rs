//! What a store has read in its database. A database that has less was restored from a copy.

use std::collections::HashMap;

use queryables::ledger::{Saved, StoreError};

/// The newest that was read or committed so far. None of it is ever taken back, whatever the database
/// says later.
#[derive(Default)]
pub(crate) struct Seen {
    /// The number of the last entry, 0 if there is none, and its checksum.
    last: (u64, String),
    /// Whether nobody else had charged when this was last compared.
    pub(crate) alone: bool,
    budgets: HashMap<String, Mark>,
    /// An entry that was admitted, and so never changes, by its number and its checksum.
    entry: Option<(u64, String)>,
    /// Up to which entry the budgets were compared with the entries.
    pub(crate) compared: u64,
    /// How often each budget was charged up to there.
    pub(crate) charged: HashMap<String, u64>,
}

/// One state of a budget.
struct Mark {
    saved: Saved,
    /// The number of the next entry when it was read: those below have led to this version.
    counter: u64,
}

/// The end of a line with a checksum: `01234567"}`. The server compares these, too.
pub(crate) fn seal(line: &str) -> &str {
    let start = line.len().saturating_sub(10);
    line.get(start..).unwrap_or(line)
}

pub(crate) fn damaged(what: impl Into<String>) -> StoreError {
    StoreError::Damaged { what: what.into() }
}

pub(crate) fn other_launches(budget: &str) -> StoreError {
    let what = "its launches are not those of its entries";
    damaged(format!("the budget {budget:?} ({what})"))
}

impl Seen {
    /// The number of the entry to compare; 0 if there is none.
    pub(crate) fn entry(&self) -> u64 {
        self.entry.as_ref().map_or(0, |(sequence, _)| *sequence)
    }

    /// The checksum of the newest state of a budget.
    pub(crate) fn seal_of(&self, budget: &str) -> &str {
        let mark = self.budgets.get(budget);
        mark.map_or("", |mark| seal(&mark.saved.state))
    }

    /// From which entry on a budget may have changed.
    pub(crate) fn counter_of(&self, budget: &str) -> u64 {
        self.budgets.get(budget).map_or(0, |mark| mark.counter)
    }

    /// The number of the last entry, 0 if there is none, and its checksum.
    pub(crate) fn last(&self) -> (u64, &str) {
        (self.last.0, &self.last.1)
    }

    /// The number of the next entry.
    pub(crate) fn next(&self) -> u64 {
        self.last.0.saturating_add(1)
    }

    /// The version of the newest state of a budget.
    pub(crate) fn version_of(&self, budget: &str) -> u64 {
        let mark = self.budgets.get(budget);
        mark.map_or(0, |mark| mark.saved.version)
    }

    /// The states of these budgets, if all of them were read or written at the newest counter.
    pub(crate) fn newest(&self, budgets: &[String]) -> Option<Vec<Saved>> {
        let newest = budgets.iter().map(|budget| {
            let mark = self.budgets.get(budget)?;
            (mark.counter == self.next()).then(|| mark.saved.clone())
        });
        newest.collect()
    }

    /// All states that were read or written at the newest counter.
    pub(crate) fn all_newest(&self) -> impl Iterator<Item = (&String, &Saved)> {
        let marks = self.budgets.iter();
        let newest = marks.filter(|(_, mark)| mark.counter == self.next());
        newest.map(|(budget, mark)| (budget, &mark.saved))
    }

    /// Takes up an entry of this store. Budgets that it has not changed are as they were.
    pub(crate) fn wrote(&mut self, sequence: u64) {
        let newest = self.budgets.values_mut();
        for mark in newest.filter(|mark| mark.counter == sequence) {
            mark.counter = sequence + 1;
        }
    }

    /// Compares the number of the last entry, and takes it up.
    pub(crate) fn reaches(&mut self, sequence: u64, seal: &str) -> Result<(), StoreError> {
        if sequence < self.last.0 {
            return Err(damaged("the entries (they went back)"));
        }
        self.last = (sequence, seal.to_owned());
        Ok(())
    }

    /// Compares the checksum of what is in the place of the known entry.
    pub(crate) fn same_entry(&self, seal: Option<&str>) -> Result<(), StoreError> {
        match &self.entry {
            Some((sequence, known)) if seal != Some(known) => {
                let what = format!("entry {sequence} (another one is in its place)");
                Err(damaged(what))
            }
            _ => Ok(()),
        }
    }

    /// Compares the version of a budget with how often the entries have changed it since it was read.
    ///
    /// Otherwise a budget that is restored alone, to the version that this store has read, could be
    /// spent again.
    pub(crate) fn changes(&self, budget: &str, version: u64, times: u64) -> Result<(), StoreError> {
        if self.rise(budget, version)? != times {
            return Err(other_launches(budget));
        }
        Ok(())
    }

    fn rise(&self, budget: &str, version: u64) -> Result<u64, StoreError> {
        let rise = version.checked_sub(self.version_of(budget));
        rise.ok_or_else(|| damaged(format!("the budget {budget:?} (it went back)")))
    }

    /// Takes up at which counter a budget still had the known state.
    pub(crate) fn same_state(&mut self, budget: &str, version: u64, counter: u64) {
        if let Some(mark) = self.budgets.get_mut(budget) {
            (mark.saved.version, mark.counter) = (version, counter);
        }
    }

    /// Compares the state of a budget, and takes it up, with the counter at which it was read.
    pub(crate) fn state(
        &mut self,
        budget: &str,
        saved: &Saved,
        counter: u64,
    ) -> Result<(), StoreError> {
        self.rise(budget, saved.version)?;
        if let Some(mark) = self.budgets.get(budget)
            && mark.saved.version == saved.version
            && seal(&mark.saved.state) != seal(&saved.state)
        {
            let what = format!("the budget {budget:?} (another state has its version)");
            return Err(damaged(what));
        }
        let mark = Mark {
            saved: saved.clone(),
            counter,
        };
        self.budgets.insert(budget.to_owned(), mark);
        Ok(())
    }

    /// Takes up an entry that was admitted.
    pub(crate) fn admitted(&mut self, sequence: u64, seal: &str) {
        self.entry = Some((sequence, seal.to_owned()));
    }
}
