//! The path of a ledger's file: who has it, and whether the file is still there.

use std::ffi::OsString;
use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::super::StoreError;

/// A path that nobody else opens or makes a ledger at, as long as this lasts.
///
/// redb locks the file. That lock goes with the file when it is renamed, and a backup that is put in
/// its place has none, so the path has a lock of its own: on a file beside it, whose name ends in
/// `.lock`. The lock ends with the process, however that ends. The file is empty, and stays: to remove
/// it would let a second process lock a new one while a third still waits for the old one.
#[derive(Debug)]
pub(super) struct Place {
    /// Absolute: a process may change its folder.
    path: PathBuf,
    /// One, and a second for the file that a link leads to.
    locks: Vec<File>,
}

impl Drop for Place {
    fn drop(&mut self) {
        // Said, and not left to the last descriptor: a process that was forked has one until it runs
        // another program.
        for lock in &self.locks {
            let _ = lock.unlock();
        }
    }
}

impl Place {
    /// Takes the path.
    pub(super) fn taken(path: &Path) -> Result<Self, StoreError> {
        let path = std::path::absolute(path).map_err(failed)?;
        let mut names = vec![named(&path).map_err(failed)?];
        // Where it is a link, also what it leads to. Where it is nothing yet, it leads nowhere.
        if let Ok(target) = path.canonicalize()
            && !names.contains(&target)
        {
            names.push(target);
        }
        let locks = Vec::new();
        let mut place = Self { path, locks };
        for name in names {
            place.locks.push(locked(name)?);
        }
        Ok(place)
    }

    /// Whether the path still leads to this file.
    pub(super) fn leads_to(&self, file: Identity) -> io::Result<bool> {
        let lost = [ErrorKind::NotFound, ErrorKind::NotADirectory];
        match self.path.metadata() {
            Err(error) if lost.contains(&error.kind()) => Ok(false),
            there => Ok(Identity::of(&there?) == file),
        }
    }

    /// Makes the name of the file survive a crash of the machine, as its contents do.
    pub(super) fn sync_folder(&self) -> io::Result<()> {
        // Elsewhere a folder cannot be opened, and the file system sees to it.
        if cfg!(unix) {
            let path = self.path.canonicalize()?;
            let folder = path.parent().unwrap_or(&path);
            File::open(folder)?.sync_all()?;
        }
        Ok(())
    }
}

/// Which file it is.
///
/// A file that is open keeps its number, also after its last name is removed: no other file has the same
/// one meanwhile. Where there are no such numbers, outside of Unix, only a file that was removed is
/// noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity(u64, u64);

impl Identity {
    pub(super) fn of(file: &Metadata) -> Self {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            Self(file.dev(), file.ino())
        }
        #[cfg(not(unix))]
        {
            Self(file.is_file().into(), 0)
        }
    }
}

/// The path by which everybody finds the same folder, with the file's own name.
fn named(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or(ErrorKind::InvalidInput)?;
    let folder = path.parent().unwrap_or(path).canonicalize()?;
    Ok(folder.join(name))
}

fn locked(path: PathBuf) -> Result<File, StoreError> {
    let mut name = OsString::from(path);
    name.push(".lock");
    // One that is there need not be writable.
    let file = File::open(&name).or_else(|_| {
        let mut made = OpenOptions::new();
        made.read(true).write(true).create(true).truncate(false);
        made.open(&name)
    });
    let file = file.map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(StoreError::InUse),
        // As redb: a file system without locks is used without them.
        Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => Ok(file),
        Err(TryLockError::Error(error)) => Err(failed(error)),
    }
}

fn failed(error: io::Error) -> StoreError {
    match error.kind() {
        ErrorKind::NotFound => StoreError::NotFound,
        _ => StoreError::Unavailable(format!("I/O error: {error}")),
    }
}
