//! A ledger in a file.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::Path;

use redb::{
    Database, DatabaseError, ReadableDatabase, ReadableTable, StorageError, TableDefinition,
    TableError, WriteTransaction,
};

use super::group::GroupCommit;
use super::seal::{VERSION, unseal};
use super::store::{Charge, Receipt, Saved, Store, StoreError};
use super::{Done, Outcome};
use crate::sync::{Mutex, MutexGuard, PoisonError};

/// Keeps a ledger in a file of the database redb. One process has the file at a time.
///
/// Launches that wait at the same time share one sync. If a write fails, as on a full disk, nothing
/// more is written: reopen the file once it can be written again, and it goes on with what survived.
///
/// # Guarantee
///
/// What was synced is read again after a crash of the process at any point, and after one of the
/// machine as far as its disk keeps what it has acknowledged. An incomplete commit is ignored. What
/// is damaged later is an error, found by a checksum on each value.
pub struct FileStore {
    database: Database,
    /// What is decided and queued, in memory: newer than the file by what is not yet synced.
    live: Mutex<Live>,
    group: GroupCommit<Write>,
}

#[derive(Default)]
struct Live {
    next: u64,
    budgets: BTreeMap<String, Saved>,
    /// The keys since it was opened; older ones are in the file.
    keys: HashMap<String, u64>,
}

enum Write {
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

const ABOUT: TableDefinition<&str, &str> = TableDefinition::new("about");
const TERMS: TableDefinition<&str, &str> = TableDefinition::new("terms");
const STATES: TableDefinition<&str, (u64, &str)> = TableDefinition::new("states");
const ENTRIES: TableDefinition<u64, &str> = TableDefinition::new("entries");
const OUTCOMES: TableDefinition<u64, &str> = TableDefinition::new("outcomes");
const PENDING: TableDefinition<u64, ()> = TableDefinition::new("pending");
const KEYS: TableDefinition<&str, u64> = TableDefinition::new("keys");

impl FileStore {
    /// Makes a new file, for budgets of which nothing is spent.
    ///
    /// # Errors
    ///
    /// [`StoreError::AlreadyExists`] if there is a file, whatever it holds, and what the file system
    /// does not do.
    pub fn create(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        let path = path.as_ref();
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .open(path)
            .map_err(|error| match error.kind() {
                ErrorKind::AlreadyExists => StoreError::AlreadyExists,
                _ => StoreError::Unavailable(error.to_string()),
            })?;
        let database = Database::builder().create_file(file).map_err(not_opened)?;
        let write = begin(&database)?;
        {
            let mut about = write.open_table(ABOUT).map_err(open_failed)?;
            let version = VERSION.to_string();
            let known = about.insert("version", &*version).map_err(unavailable)?;
            drop(known);
        }
        Self::started(path, database, write)
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
        let path = path.as_ref();
        let mut database = Database::open(path).map_err(not_opened)?;
        // The checksums of our values do not cover the names by which they are found.
        if !database.check_integrity().map_err(not_opened)? {
            return Err(damaged("the file"));
        }
        let write = begin(&database)?;
        Self::started(path, database, write)
    }

    fn started(
        path: &Path,
        database: Database,
        write: WriteTransaction,
    ) -> Result<Self, StoreError> {
        let next = prepare(&write)?;
        write.commit().map_err(unavailable)?;
        // Also where it is not new: who made it may have ended before this.
        sync_folder(path).map_err(|error| StoreError::Unavailable(error.to_string()))?;
        Ok(Self {
            database,
            live: Mutex::new(Live {
                next,
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
        self.group.wait(mark, |batch| self.write(&batch))
    }

    /// One transaction, one sync.
    fn write(&self, batch: &[Write]) -> Result<(), StoreError> {
        let transaction = begin(&self.database)?;
        {
            let mut tables = Tables::open(&transaction)?;
            for write in batch {
                tables.write(write)?;
            }
        }
        transaction.commit().map_err(unavailable)
    }

    fn known(&self, live: &Live, key: &str) -> Result<Option<Receipt>, StoreError> {
        let sequence = match live.keys.get(key) {
            Some(sequence) => *sequence,
            None => {
                let read = self.database.begin_read().map_err(unavailable)?;
                let keys = read.open_table(KEYS).map_err(unavailable)?;
                match keys.get(key).map_err(unavailable)? {
                    Some(sequence) => sequence.value(),
                    None => return Ok(None),
                }
            }
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
        let read = self.database.begin_read().map_err(unavailable)?;
        let entries = read.open_table(ENTRIES).map_err(unavailable)?;
        let outcomes = read.open_table(OUTCOMES).map_err(unavailable)?;
        let mut lines = Vec::new();
        let from = from.max(1);
        let entries = entries.range(from..).map_err(unavailable)?;
        // The numbers second: they end with the entries, and not by an overflow.
        for (entry, expected) in entries.take(most).zip(from..) {
            let (sequence, line) = entry.map_err(unavailable)?;
            if sequence.value() != expected {
                return Err(damaged(&format!("entry {expected}")));
            }
            lines.push(line.value().to_owned());
            if let Some(outcome) = outcomes.get(expected).map_err(unavailable)? {
                lines.push(outcome.value().to_owned());
            }
        }
        Ok(lines)
    }
}

/// Makes the name of a file survive a crash of the machine, as its contents do.
fn sync_folder(path: &Path) -> io::Result<()> {
    // Elsewhere a folder cannot be opened, and the file system sees to it.
    if cfg!(unix) {
        let path = path.canonicalize()?;
        let folder = path.parent().unwrap_or(&path);
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

/// Checks the version, makes the tables, and ends what an earlier process left open. Gives the next
/// sequence number.
fn prepare(write: &WriteTransaction) -> Result<u64, StoreError> {
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
    let mut open = Vec::new();
    for pending in tables.pending.iter().map_err(unavailable)? {
        open.push(pending.map_err(unavailable)?.0.value());
    }
    for sequence in open {
        let line = Done::new(sequence, Outcome::Interrupted).line()?;
        tables.write(&Write::Finish { sequence, line })?;
    }
    let last = tables.entries.last().map_err(unavailable)?;
    Ok(last.map_or(1, |(sequence, _)| sequence.value() + 1))
}

struct Tables<'a> {
    terms: redb::Table<'a, &'static str, &'static str>,
    states: redb::Table<'a, &'static str, (u64, &'static str)>,
    entries: redb::Table<'a, u64, &'static str>,
    outcomes: redb::Table<'a, u64, &'static str>,
    pending: redb::Table<'a, u64, ()>,
    keys: redb::Table<'a, &'static str, u64>,
}

impl<'a> Tables<'a> {
    fn open(write: &'a WriteTransaction) -> Result<Self, StoreError> {
        Ok(Self {
            terms: write.open_table(TERMS).map_err(open_failed)?,
            states: write.open_table(STATES).map_err(open_failed)?,
            entries: write.open_table(ENTRIES).map_err(open_failed)?,
            outcomes: write.open_table(OUTCOMES).map_err(open_failed)?,
            pending: write.open_table(PENDING).map_err(open_failed)?,
            keys: write.open_table(KEYS).map_err(open_failed)?,
        })
    }

    fn write(&mut self, write: &Write) -> Result<(), StoreError> {
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
                admitted,
                key,
            } => {
                self.entries
                    .insert(sequence, &**line)
                    .map_err(unavailable)?;
                for (budget, saved) in states {
                    let state = (saved.version, &*saved.state);
                    self.states.insert(&**budget, state).map_err(unavailable)?;
                }
                if *admitted {
                    self.pending.insert(sequence, ()).map_err(unavailable)?;
                    if let Some(key) = key {
                        self.keys.insert(&**key, sequence).map_err(unavailable)?;
                    }
                }
            }
            Write::Finish { sequence, line } => {
                self.pending.remove(sequence).map_err(unavailable)?;
                self.outcomes
                    .insert(sequence, &**line)
                    .map_err(unavailable)?;
            }
        }
        Ok(())
    }
}

impl Store for FileStore {
    fn name_dataset(&self, name: &str) -> Result<(), StoreError> {
        let write = begin(&self.database)?;
        {
            let mut about = write.open_table(ABOUT).map_err(open_failed)?;
            let named = about.get("dataset").map_err(unavailable)?;
            let named = named.map(|named| named.value().to_owned());
            match named {
                Some(named) if named != name => {
                    let given = name.to_owned();
                    return Err(StoreError::OtherDataset { named, given });
                }
                Some(_) => return Ok(()),
                None => drop(about.insert("dataset", name).map_err(unavailable)?),
            }
        }
        write.commit().map_err(unavailable)
    }

    fn open(&self, budget: &str, terms: &str, state: &str) -> Result<Saved, StoreError> {
        // Held, so that two who open a budget at once see the same.
        let mut live = self.live();
        self.flush()?;
        let read = self.database.begin_read().map_err(unavailable)?;
        let known = read.open_table(TERMS).map_err(unavailable)?;
        if let Some(known) = known.get(budget).map_err(unavailable)? {
            if known.value() != terms {
                return Err(StoreError::OtherTerms {
                    budget: budget.to_owned(),
                    terms: known.value().to_owned(),
                });
            }
            let states = read.open_table(STATES).map_err(unavailable)?;
            let state = states.get(budget).map_err(unavailable)?;
            let state = state.ok_or_else(|| damaged(budget))?;
            let (version, state) = state.value();
            let saved = Saved {
                version,
                state: state.to_owned(),
            };
            live.budgets.insert(budget.to_owned(), saved.clone());
            return Ok(saved);
        }
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
        if let Some(key) = charge.key()
            && let Some(known) = self.known(&live, key)?
        {
            return Ok(known);
        }
        for (place, budget) in charge.budgets().to_vec().iter().enumerate() {
            let saved = live.budgets.get(budget).ok_or_else(|| damaged(budget))?;
            if saved.version != charge.known(place) {
                charge.refresh(place, saved)?;
            }
        }
        let admitted = charge.decide();
        let sequence = live.next;
        let line = charge.line(sequence)?;
        let mut states = Vec::new();
        for (place, saved) in charge.changed()? {
            let budget = charge.budgets().get(place).cloned().unwrap_or_default();
            states.push((budget, saved));
        }
        let key = charge.key().map(str::to_owned);
        // Queued under the lock: what is written stands in the order of decisions.
        let mark = self.group.queue(Write::Charge {
            sequence,
            line,
            states: states.clone(),
            admitted,
            key: key.clone(),
        })?;
        live.next += 1;
        live.budgets.extend(states);
        if admitted && let Some(key) = key {
            live.keys.insert(key, sequence);
        }
        Ok(Receipt::Written { sequence, mark })
    }

    fn sync(&self, receipt: &Receipt) -> Result<(), StoreError> {
        match receipt {
            Receipt::Written { mark, .. } => self.wait(*mark),
            Receipt::Known { .. } => Ok(()),
        }
    }

    fn finish(&self, sequence: u64, outcome: Outcome) -> Result<(), StoreError> {
        let keeps = matches!(outcome, Outcome::Answered(Some(_)));
        let line = Done::new(sequence, outcome).line()?;
        let mark = self.group.queue(Write::Finish { sequence, line })?;
        // Other outcomes go along with the next sync.
        if keeps { self.wait(mark) } else { Ok(()) }
    }

    fn lines(&self, from: u64, most: usize) -> Result<Vec<String>, StoreError> {
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

fn begin(database: &Database) -> Result<WriteTransaction, StoreError> {
    let mut write = database.begin_write().map_err(unavailable)?;
    // Analysts choose some of what is written, and may be able to make the process crash: redb asks
    // for two phases there.
    write.set_two_phase_commit(true);
    Ok(write)
}

fn damaged(what: &str) -> StoreError {
    StoreError::Damaged {
        what: what.to_owned(),
    }
}

fn unavailable(error: impl Into<redb::Error>) -> StoreError {
    match error.into() {
        redb::Error::Corrupted(_) => damaged("the file"),
        redb::Error::PreviousIo | redb::Error::LockPoisoned(_) => StoreError::Broken,
        other => StoreError::Unavailable(other.to_string()),
    }
}

fn not_opened(error: DatabaseError) -> StoreError {
    match error {
        DatabaseError::DatabaseAlreadyOpen => StoreError::InUse,
        DatabaseError::Storage(StorageError::Io(error)) => match error.kind() {
            ErrorKind::UnexpectedEof => damaged("the file"),
            ErrorKind::NotFound => StoreError::NotFound,
            _ => unavailable(StorageError::Io(error)),
        },
        other => unavailable(other),
    }
}

fn open_failed(error: TableError) -> StoreError {
    match error {
        TableError::Storage(error) => unavailable(error),
        // Another program's tables.
        _ => damaged("the file"),
    }
}

impl fmt::Debug for FileStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FileStore")
    }
}
