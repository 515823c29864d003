//! A ledger in a file.

mod database;
mod place;
mod storage;
mod tables;

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use redb::{ReadableDatabase, ReadableTable, WriteTransaction};

use self::database::{Guarded, damaged, open_failed, unavailable};
use self::tables::{ABOUT, ENTRY, KEYS, LINES, STATES, TERMS, Tables, Write, prepare};
use super::group::GroupCommit;
use super::seal::{VERSION, unseal};
use super::store::{Charge, Receipt, Saved, Store, StoreError};
use super::{Outcome, OutcomeLine, Refusals};
use crate::sync::{Mutex, MutexGuard, PoisonError};

/// Keeps a ledger in a file of the database redb. One process has the file at a time, and its path: a
/// file beside it, with `.lock` at the end of its name, says so as long as the process runs.
///
/// Launches that wait at the same time share one sync. If a write fails, as on a full disk, that launch
/// does not run; the next one tries to write again what was decided so far, and nothing runs until that
/// is written. If the file is moved, replaced or removed while it is open, or its length is changed by
/// somebody else, nothing runs any more ([`StoreError::Replaced`], [`StoreError::Damaged`]): open the
/// right one. Outside of Unix only a file that was removed is noticed, or one whose length was changed.
/// What somebody else writes into the file while it is open is noticed when it is opened the next time.
///
/// Example: [`Ledger`](crate::ledger::Ledger).
///
/// # Guarantee
///
/// What was synced is read again after a crash of the process at any point, and after one of the
/// machine as far as its disk keeps what it has acknowledged. An incomplete commit is ignored. What
/// is damaged later is an error, found by a checksum on each value. One bit has no checksum: the one that
/// says which of the last two commits counts. If the process was killed, and this bit is then changed,
/// the last commit is lost without an error.
pub struct FileStore {
    database: Guarded,
    /// What is decided and queued, in memory: newer than the file by what is not yet synced.
    live: Mutex<Live>,
    group: GroupCommit<Write>,
}

#[derive(Default)]
struct Live {
    next: u64,
    refusals: Refusals,
    budgets: BTreeMap<String, Saved>,
    /// The keys since it was opened; older ones are in the file.
    keys: HashMap<String, u64>,
}

impl FileStore {
    /// Makes a new file, for budgets of which nothing is spent.
    ///
    /// # Errors
    ///
    /// [`StoreError::AlreadyExists`] if there is a file, whatever it holds, and what the file system
    /// does not do.
    pub fn create(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        Self::started(Guarded::create(path.as_ref())?, |write| {
            let mut about = write.open_table(ABOUT).map_err(open_failed)?;
            let known = about.insert("version", &*VERSION.to_string());
            known.map(drop).map_err(unavailable)
        })
    }

    /// Opens the file of a ledger. Launches of an earlier process that were charged and have no outcome
    /// are marked as interrupted.
    ///
    /// The whole file is read once, and its checksums are compared. It never makes a file, nor a ledger
    /// of an empty one: all of the budget could be spent again.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`], [`StoreError::InUse`], [`StoreError::Version`],
    /// [`StoreError::Damaged`], and what the file system does not do.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        Self::started(Guarded::open(path.as_ref())?, |_| Ok(()))
    }

    fn started(
        database: Guarded,
        first: impl FnOnce(&WriteTransaction) -> Result<(), StoreError>,
    ) -> Result<Self, StoreError> {
        let (next, refusals) = database.write(|write| {
            first(write)?;
            prepare(write)
        })?;
        // Also where it is not new: who made it may have ended before this.
        database.sync_folder()?;
        Ok(Self {
            database,
            live: Mutex::new(Live {
                next,
                refusals,
                ..Live::default()
            }),
            group: GroupCommit::new(),
        })
    }

    fn live(&self) -> MutexGuard<'_, Live> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Everything that is queued survives after this.
    fn flush(&self) -> Result<(), StoreError> {
        self.wait(self.group.queued())
    }

    fn wait(&self, mark: u64) -> Result<(), StoreError> {
        self.group.wait(mark, |batch| self.write(batch))
    }

    /// All of it in one transaction.
    fn write(&self, batch: &[Write]) -> Result<(), StoreError> {
        self.database.write(|transaction| {
            let mut tables = Tables::open(transaction)?;
            batch.iter().try_for_each(|write| tables.write(write))
        })
    }

    /// After a write that failed: whether the file can be written again by now. Then everything that was
    /// decided is written, also what did not run, so that no state goes back.
    fn mended(&self) -> Result<(), StoreError> {
        match self.group.broken() {
            None => Ok(()),
            Some(StoreError::Unavailable(_)) => {
                self.database.reopen()?;
                self.group.resume();
                self.flush()
            }
            Some(lasting) => Err(lasting),
        }
    }

    fn known(&self, live: &Live, key: &str) -> Result<Option<Receipt>, StoreError> {
        let sequence = match live.keys.get(key) {
            Some(sequence) => Some(*sequence),
            None => self.database.with(|database| {
                let read = database.begin_read().map_err(unavailable)?;
                let keys = read.open_table(KEYS).map_err(open_failed)?;
                let sequence = keys.get(key).map_err(unavailable)?;
                Ok(sequence.map(|sequence| sequence.value()))
            })?,
        };
        let Some(sequence) = sequence else {
            return Ok(None);
        };
        self.flush()?;
        let mut lines = self.read(sequence, 1)?.into_iter();
        let line = lines.next().ok_or_else(|| damaged("the entry of a key"))?;
        let done = lines.next();
        let done = done.map(|done| unseal(&done).ok_or_else(|| damaged("an outcome")));
        Ok(Some(Receipt::Known {
            line,
            done: done.transpose()?,
        }))
    }

    fn read(&self, from: u64, most: usize) -> Result<Vec<String>, StoreError> {
        self.database.with(|database| {
            let read = database.begin_read().map_err(unavailable)?;
            let table = read.open_table(LINES).map_err(open_failed)?;
            let from = from.max(1);
            let (mut lines, mut entries) = (Vec::new(), 0);
            for line in table.range((from, ENTRY)..).map_err(unavailable)? {
                let (place, line) = line.map_err(unavailable)?;
                let (sequence, kind) = place.value();
                if kind == ENTRY {
                    if entries == most as u64 {
                        break;
                    }
                    entries += 1;
                }
                // An outcome has the number of its entry, which is before it.
                if Some(sequence - from) != entries.checked_sub(1) {
                    let expected = from.saturating_add(entries.saturating_sub(1));
                    return Err(damaged(&format!("entry {expected}")));
                }
                lines.push(line.value().to_owned());
            }
            Ok(lines)
        })
    }

    /// The terms and the state of a budget, as they are in the file.
    fn saved(&self, budget: &str) -> Result<Option<(String, Saved)>, StoreError> {
        self.database.with(|database| {
            let read = database.begin_read().map_err(unavailable)?;
            let terms = read.open_table(TERMS).map_err(open_failed)?;
            let Some(terms) = terms.get(budget).map_err(unavailable)? else {
                return Ok(None);
            };
            let states = read.open_table(STATES).map_err(open_failed)?;
            let state = states.get(budget).map_err(unavailable)?;
            let state = state.ok_or_else(|| damaged(budget))?;
            let (version, state) = state.value();
            let state = state.to_owned();
            Ok(Some((terms.value().to_owned(), Saved { version, state })))
        })
    }
}

impl Store for FileStore {
    fn name_dataset(&self, name: &str) -> Result<(), StoreError> {
        let _live = self.live();
        self.mended()?;
        self.database.write(|write| {
            let mut about = write.open_table(ABOUT).map_err(open_failed)?;
            let named = about.get("dataset").map_err(unavailable)?;
            let named = named.map(|named| named.value().to_owned());
            match named {
                Some(named) if named != name => {
                    let given = name.to_owned();
                    return Err(StoreError::OtherDataset { named, given });
                }
                Some(_) => {}
                None => drop(about.insert("dataset", name).map_err(unavailable)?),
            }
            Ok(())
        })
    }

    fn open(&self, budget: &str, terms: &str, state: &str) -> Result<Saved, StoreError> {
        // Held, so that two who open a budget at once see the same.
        let mut live = self.live();
        self.mended()?;
        self.flush()?;
        let saved = match self.saved(budget)? {
            Some((known, _)) if known != terms => {
                return Err(StoreError::OtherTerms {
                    budget: budget.to_owned(),
                    terms: known,
                });
            }
            Some((_, saved)) => {
                // What was decided here is in the file by now, unless somebody else has written there.
                if live.budgets.get(budget).is_some_and(|live| *live != saved) {
                    return Err(damaged(budget));
                }
                saved
            }
            // It was there.
            None if live.budgets.contains_key(budget) => return Err(damaged(budget)),
            None => {
                let saved = Saved {
                    version: 0,
                    state: state.to_owned(),
                };
                let mark = self.group.queue(Write::Open {
                    budget: budget.to_owned(),
                    terms: terms.to_owned(),
                    saved: saved.clone(),
                })?;
                self.wait(mark)?;
                saved
            }
        };
        live.budgets.insert(budget.to_owned(), saved.clone());
        Ok(saved)
    }

    fn newer(&self, known: &[(&str, u64)]) -> Result<Vec<(usize, Saved)>, StoreError> {
        let live = self.live();
        let newer = known
            .iter()
            .enumerate()
            .filter_map(|(place, (budget, version))| {
                let saved = live.budgets.get(*budget)?;
                (saved.version != *version).then(|| (place, saved.clone()))
            });
        Ok(newer.collect())
    }

    fn charge(&self, charge: &mut dyn Charge) -> Result<Receipt, StoreError> {
        let mut live = self.live();
        self.mended()?;
        if let Some(key) = charge.key()
            && let Some(known) = self.known(&live, key)?
        {
            return Ok(known);
        }
        let states = charge.budgets().iter().map(|budget| {
            let saved = live.budgets.get(budget).cloned();
            saved.ok_or_else(|| damaged(budget))
        });
        let states: Vec<Saved> = states.collect::<Result<_, _>>()?;
        let admitted = charge.decide(&states)?;
        let states = charge.changed()?;
        let mut refusals = live.refusals;
        let refused = !admitted && states.is_empty();
        let (sequence, times) = refusals.place(live.next, refused);
        let line = charge.line(sequence, times)?;
        let key = charge.key().filter(|_| admitted).map(str::to_owned);
        // Queued under the lock: what is written stands in the order of decisions.
        let mark = self.group.queue(Write::Charge {
            sequence,
            line,
            states: states.clone(),
            key: key.clone(),
        })?;
        live.next = sequence + 1;
        live.refusals = refusals;
        live.budgets.extend(states);
        if let Some(key) = key {
            live.keys.insert(key, sequence);
        }
        Ok(Receipt::Written { sequence, mark })
    }

    fn sync(&self, receipt: &Receipt) -> Result<(), StoreError> {
        match receipt {
            Receipt::Written { mark, .. } => self.wait(*mark),
            Receipt::Queued { .. } | Receipt::Known { .. } => Ok(()),
        }
    }

    fn finish(&self, sequence: u64, outcome: Outcome) -> Result<(), StoreError> {
        let keeps = matches!(outcome, Outcome::Answered(Some(_)));
        let line = OutcomeLine::new(sequence, outcome).line()?;
        let mark = self.group.queue(Write::Finish { sequence, line })?;
        // Other outcomes go along with the next sync.
        if keeps { self.wait(mark) } else { Ok(()) }
    }

    fn lines(&self, from: u64, most: usize) -> Result<Vec<String>, StoreError> {
        {
            let _live = self.live();
            self.mended()?;
        }
        self.flush()?;
        self.read(from, most)
    }
}

impl Drop for FileStore {
    fn drop(&mut self) {
        // Outcomes only: every charge was waited for.
        let _ = self.flush();
    }
}

crate::debug_fields!([] FileStore, "FileStore");
