//! What redb reads and writes: the file, as long as it is whole.

use std::fs::File;
use std::io::{self, ErrorKind, Seek, SeekFrom};
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use redb::backends::FileBackend;
use redb::{BackendError, StorageBackend};

use super::super::StoreError;
use super::place::{Identity, Place};

/// A file that is open, and the path that it was opened by.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) place: Place,
    file: File,
    identity: Identity,
}

impl Opened {
    pub(super) fn new(place: Place, file: File) -> io::Result<Self> {
        let identity = Identity::of(&file.metadata()?);
        Ok(Self {
            place,
            file,
            identity,
        })
    }

    /// An error if the path leads to another file by now, or to none: what was written would be lost.
    pub(super) fn in_place(&self) -> Result<(), StoreError> {
        match self.place.leads_to(self.identity) {
            Ok(true) => Ok(()),
            Ok(false) => Err(StoreError::Replaced),
            Err(error) => Err(StoreError::Unavailable(format!("I/O error: {error}"))),
        }
    }

    /// The length, without the times of the file: since Linux 6.13 (multigrain timestamps), once somebody has
    /// asked for them, the next page that is written costs an update of the inode.
    pub(super) fn length(&self) -> io::Result<u64> {
        (&self.file).seek(SeekFrom::End(0))
    }
}

/// The file for redb. A write or a sync is an error if somebody else has changed the file's length.
#[derive(Debug)]
pub(super) struct Storage {
    /// Reads and writes at offsets: nobody uses the cursor that [`Opened::length`] moves.
    inner: FileBackend,
    opened: Arc<Opened>,
    /// What redb has made of it.
    length: AtomicU64,
}

impl Storage {
    pub(super) fn new(opened: &Arc<Opened>) -> io::Result<Self> {
        let file = opened.file.try_clone()?;
        Ok(Self {
            inner: FileBackend::new(file).map_err(io::Error::other)?,
            length: AtomicU64::new(opened.length()?),
            opened: Arc::clone(opened),
        })
    }
}

impl StorageBackend for Storage {
    fn len(&self) -> io::Result<u64> {
        let length = self.opened.length()?;
        if length != self.length.load(Ordering::Relaxed) {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        Ok(length)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.inner.read(offset, out)
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.len()?;
        self.inner.set_len(length)?;
        self.length.store(length, Ordering::Relaxed);
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        // Before, so that nothing is made of a file that was cut; and after, so that nothing is missing
        // of what is synced.
        self.len()?;
        self.inner.sync_data()?;
        self.len().map(drop)
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        // redb sets the length first. A write beyond it would hide a cut.
        if offset.saturating_add(data.len() as u64) > self.len()? {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        self.inner.write(offset, data)
    }

    fn close(&self) -> io::Result<()> {
        self.inner.close()
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.inner.try_lock_range(start, end)
    }

    fn try_lock_shared_range(
        &self,
        start: Bound<u64>,
        end: Bound<u64>,
    ) -> Result<bool, BackendError> {
        self.inner.try_lock_shared_range(start, end)
    }

    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.inner.lock_range(start, end)
    }

    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.inner.lock_shared_range(start, end)
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.inner.unlock_range(start, end)
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.inner.query_lock_range(start, end)
    }
}
