//! The database in a file that may be damaged, replaced, or on a full disk.

use std::fs::OpenOptions;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::Arc;

use redb::{Database, DatabaseError, StorageError, TableError, WriteTransaction};

use super::super::StoreError;
use super::place::Place;
use super::storage::{Opened, Storage};
use crate::machine::{discard, guarded};
use crate::sync::{PoisonError, RwLock};

/// redb refuses everything after an error of the file system, and panics at some kinds of damage. Here
/// the former can be opened again, and the latter is [`StoreError::Damaged`].
pub(super) struct Guarded {
    opened: Arc<Opened>,
    /// `None` after an error, until it is opened again.
    database: RwLock<Option<Database>>,
}

impl Guarded {
    /// In a new file.
    pub(super) fn create(path: &Path) -> Result<Self, StoreError> {
        if path.symlink_metadata().is_ok() {
            return Err(StoreError::AlreadyExists);
        }
        let place = Place::taken(path).map_err(|error| match error {
            // Its folder.
            StoreError::NotFound => failed(ErrorKind::NotFound.into()),
            other => other,
        })?;
        let mut new = OpenOptions::new();
        let file = new.read(true).write(true).create_new(true).open(path);
        let file = file.map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => StoreError::AlreadyExists,
            _ => failed(error),
        })?;
        let opened = Arc::new(Opened::new(place, file).map_err(failed)?);
        let database = built(&opened)?;
        Ok(Self {
            opened,
            database: RwLock::new(Some(database)),
        })
    }

    /// In a file that is there.
    pub(super) fn open(path: &Path) -> Result<Self, StoreError> {
        // Before the lock: no lock is made beside a file that is not there.
        path.metadata().map_err(not_found)?;
        let place = Place::taken(path)?;
        let file = OpenOptions::new().read(true).write(true).open(path);
        let file = file.map_err(not_found)?;
        let opened = Arc::new(Opened::new(place, file).map_err(failed)?);
        let database = checked(&opened)?;
        Ok(Self {
            opened,
            database: RwLock::new(Some(database)),
        })
    }

    /// Opens it again, after an error that may have passed.
    pub(super) fn reopen(&self) -> Result<(), StoreError> {
        let database = self.database.write();
        let mut database = database.unwrap_or_else(PoisonError::into_inner);
        // Its locks end before they are taken again.
        discard(database.take());
        *database = Some(checked(&self.opened)?);
        Ok(())
    }

    /// Uses the database.
    pub(super) fn with<T>(
        &self,
        run: impl FnOnce(&Database) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let database = self.database.read().unwrap_or_else(PoisonError::into_inner);
        let database = database
            .as_ref()
            .ok_or_else(|| failed(ErrorKind::Other.into()))?;
        safely(|| run(database))
    }

    /// One transaction, which is durable after this, and in the file that the path leads to.
    pub(super) fn write<T>(
        &self,
        write: impl FnOnce(&WriteTransaction) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.with(|database| {
            let mut transaction = database.begin_write().map_err(unavailable)?;
            // Analysts choose some of what is written, and may be able to make the process crash: redb
            // asks for two phases there.
            transaction.set_two_phase_commit(true);
            let written = write(&transaction)?;
            transaction.commit().map_err(unavailable)?;
            self.opened.in_place()?;
            Ok(written)
        })
    }

    /// Makes the file's name survive, as its contents do.
    pub(super) fn sync_folder(&self) -> Result<(), StoreError> {
        self.opened.place.sync_folder().map_err(failed)
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        let database = self.database.get_mut();
        discard(database.unwrap_or_else(PoisonError::into_inner).take());
    }
}

/// redb checks less than it relies on, and panics where the file is not what it expects. The panic is
/// kept from the caller, and its message goes the way of all [`guarded`] code.
fn safely<T>(run: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
    guarded(|| Ok(run())).unwrap_or_else(|_| Err(damaged("the file")))
}

fn built(opened: &Arc<Opened>) -> Result<Database, StoreError> {
    let storage = Storage::new(opened).map_err(failed)?;
    safely(|| {
        let database = Database::builder().create_with_backend(storage);
        database.map_err(not_opened)
    })
}

/// A database that is there and whole: every checksum of the file is compared.
fn checked(opened: &Arc<Opened>) -> Result<Database, StoreError> {
    // redb would make a new one of it: all of the budget could be spent again.
    if opened.length().map_err(failed)? == 0 {
        return Err(damaged("the file"));
    }
    let mut database = built(opened)?;
    // The checksums of our values do not cover the names by which they are found.
    let whole = safely(|| database.check_integrity().map_err(not_opened));
    match whole {
        Ok(true) => Ok(database),
        other => {
            discard(database);
            other.and(Err(damaged("the file")))
        }
    }
}

pub(super) fn damaged(what: &str) -> StoreError {
    StoreError::Damaged {
        what: what.to_owned(),
    }
}

fn failed(error: io::Error) -> StoreError {
    unavailable(StorageError::Io(error))
}

fn not_found(error: io::Error) -> StoreError {
    match error.kind() {
        ErrorKind::NotFound => StoreError::NotFound,
        _ => failed(error),
    }
}

pub(super) fn unavailable(error: impl Into<redb::Error>) -> StoreError {
    match error.into() {
        // A lock is poisoned by a panic. No ledger was ever in one of redb's earlier formats.
        redb::Error::Corrupted(_)
        | redb::Error::LockPoisoned(_)
        | redb::Error::UpgradeRequired(_) => damaged("the file"),
        redb::Error::Io(error)
            if [ErrorKind::UnexpectedEof, ErrorKind::InvalidData].contains(&error.kind()) =>
        {
            damaged("the file")
        }
        other => StoreError::Unavailable(other.to_string()),
    }
}

fn not_opened(error: DatabaseError) -> StoreError {
    match error {
        DatabaseError::DatabaseAlreadyOpen => StoreError::InUse,
        other => unavailable(other),
    }
}

pub(super) fn open_failed(error: TableError) -> StoreError {
    match error {
        TableError::Storage(error) => unavailable(error),
        // Another program's tables.
        _ => damaged("the file"),
    }
}
