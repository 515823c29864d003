//! The people of one pass, whom all threads share.

use std::hash::BuildHasher;
use std::mem::take;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use hashbrown::DefaultHashBuilder;
use queryables::mechanisms::query::Unavailable;

use super::Pass;
use super::part::Part;
use super::share::Share;
use super::waiting::{Rows, Waiting};
use crate::scan::on_threads;

/// At most this many parts: seven bits of a hash.
const MOST_PARTS: usize = 1 << 7;
/// A part has at least this many bytes. So it holds some people, even if the bound is small.
const LEAST_PART: usize = 1 << 16;
/// The rows that wait for a part take at most this many bytes: those of all parts stay within a large cache.
const MOST_WAITING: usize = 1 << 13;

/// The people of one pass.
pub(super) struct People<'p, P: Pass> {
    pub(super) pass: &'p P,
    pub(super) hasher: &'p DefaultHashBuilder,
    parts: Vec<Mutex<Shared<P>>>,
    share: Share,
    /// The modulus that all parts come to.
    modulus: AtomicU64,
    bytes: AtomicUsize,
    entries: AtomicUsize,
    /// How many bytes all parts have at most.
    most_bytes: usize,
    /// How many bytes wait for a part in each thread, at most.
    pub(super) most_waiting: usize,
}

/// A part, its people, and what [`People::bytes`] and [`People::entries`] say of it.
struct Shared<P: Pass> {
    part: Part<P>,
    share: Share,
    counted: (usize, usize),
}

impl<'p, P: Pass> People<'p, P> {
    pub(super) fn new(
        pass: &'p P,
        hasher: &'p DefaultHashBuilder,
        share: Share,
        (most_bytes, threads): (usize, usize),
    ) -> Self {
        let parts = (most_bytes / LEAST_PART).clamp(1, MOST_PARTS);
        // The largest power of two that is not above.
        let parts = 1 << parts.ilog2();
        let waiting = parts * threads.max(1);
        // Half of all memory at most.
        let most_waiting = (most_bytes / 2 / waiting).min(MOST_WAITING);
        let part = || Shared {
            part: Part::default(),
            share,
            counted: (0, 0),
        };
        Self {
            pass,
            hasher,
            parts: (0..parts).map(|_| Mutex::new(part())).collect(),
            share,
            modulus: AtomicU64::new(share.modulus),
            bytes: AtomicUsize::new(0),
            entries: AtomicUsize::new(0),
            most_bytes: most_bytes - waiting * most_waiting,
            most_waiting,
        }
    }

    /// The rows of one thread.
    pub(super) fn rows(&self) -> Rows<'_, 'p, P> {
        Rows::new(self, self.parts.len())
    }

    /// The people whom this pass is about, by now.
    pub(super) fn share(&self) -> Share {
        Share {
            modulus: self.modulus.load(Ordering::Relaxed),
            ..self.share
        }
    }

    /// Adds the rows that wait for the part with this number.
    pub(super) fn add(&self, number: usize, waiting: &mut Waiting<P>) {
        let Some(shared) = self.parts.get(number) else {
            return;
        };
        let mut shared = lock(shared);
        self.keep_up(&mut shared);
        let Shared { part, share, .. } = &mut *shared;
        waiting.drain(|person, row| {
            let hash = self.hasher.hash_one(person);
            // Since the row was read, its person may have been left for another pass.
            if share.has(hash) {
                part.add(self.pass, self.hasher, (hash, person), row);
            }
        });
        self.count(&mut shared);
        drop(shared);
        self.fit();
    }

    /// Drops people until they fit.
    fn fit(&self) {
        while self.bytes.load(Ordering::Relaxed) > self.most_bytes
            && self.entries.load(Ordering::Relaxed) > self.parts.len()
        {
            let Some(doubled) = Share::doubled(self.modulus.load(Ordering::Relaxed)) else {
                return;
            };
            self.modulus.fetch_max(doubled, Ordering::Relaxed);
            for part in &self.parts {
                self.keep_up(&mut lock(part));
            }
        }
    }

    /// Drops those people of a part who are left for another pass.
    fn keep_up(&self, shared: &mut Shared<P>) {
        let share = self.share();
        if share.modulus > shared.share.modulus {
            shared.share = share;
            shared.part = take(&mut shared.part).only(self.pass, self.hasher, share);
            self.count(shared);
        }
    }

    /// Brings the sums over all parts up to date.
    fn count(&self, shared: &mut Shared<P>) {
        let (old_bytes, old_entries) = shared.counted;
        let (bytes, entries) = (shared.part.bytes(), shared.part.table.len());
        shared.counted = (bytes, entries);
        // The sums wrap around when they fall.
        self.bytes
            .fetch_add(bytes.wrapping_sub(old_bytes), Ordering::Relaxed);
        self.entries
            .fetch_add(entries.wrapping_sub(old_entries), Ordering::Relaxed);
    }

    /// The totals of all people who are left in this pass.
    pub(super) fn finish(self, threads: usize) -> Result<Vec<P::Total>, Unavailable> {
        let next = AtomicUsize::new(0);
        let work = || {
            let mut total = self.pass.total();
            while let Some(shared) = self.parts.get(next.fetch_add(1, Ordering::Relaxed)) {
                let mut shared = lock(shared);
                self.keep_up(&mut shared);
                self.pass.finish(&mut total, take(&mut shared.part));
            }
            Ok(total)
        };
        on_threads((0..threads.min(self.parts.len()).max(1)).map(|_| &work))
    }
}

/// A thread that panicked makes the question unavailable. Nothing that it left is used.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
