//! Budgets that survive: the record of every launch, restarts, many processes, many parties.
//!
//! ```text
//!   Ledger ──start("census", filter, data)──▶ LedgerFilter ──party("Ana")──▶ Party ──release──▶ answer
//!     │                                             │                            │
//!   Store: memory, file, database                 quota, reserve               launch, release_once
//! ```
//!
//! # What happens at a launch
//!
//! 1. The mechanism states its loss. The rule decides by a pure function of what the store has.
//! 2. What was decided is written, so that it survives: the charge, and an [`Entry`] of the record.
//! 3. The mechanism runs.
//! 4. Its outcome is written.
//!
//! A crash at any point leaves the charge standing. Nothing that only asks, such as
//! [`Party::would_admit`], writes.
//!
//! # What is not written
//!
//! No data, and no answers unless [`Ledger::keeping_answers`] asks for them. No machines and no
//! handles either: restoring the state of a machine would rewind it, and give two answers for one
//! charge. After a restart the children of earlier processes are gone, and their charge stands.
//!
//! # Guarantees and quotas
//!
//! The budget of a [`LedgerFilter`] is a guarantee. A [`Quota`] is not: it says who may spend how
//! much of it, and does not bound what anybody learns.

mod book;
mod data;
mod digest;
mod entry;
mod erased;
mod error;
mod export;
#[cfg(feature = "redb")]
mod file;
mod filter;
#[cfg(feature = "redb")]
mod group;
mod launch;
mod memory;
mod once;
mod party;
mod quota;
mod reading;
mod refusals;
mod replay;
mod seal;
mod share;
mod state;
mod store;
mod text;
mod time;

pub use data::{LedgerData, kinds};
pub use entry::{Decision, Entry, Line, Outcome, OutcomeLine, read_lines};
pub use error::LedgerError;
use error::LedgerErrorOf;
pub use export::dp_events;
#[cfg(feature = "redb")]
pub use file::FileStore;
pub use filter::{LedgerFilter, LedgerRule};
pub use memory::MemoryStore;
pub use party::Party;
pub use quota::Quota;
pub use refusals::Refusals;
pub use store::{Charge, Receipt, Saved, Store, StoreError};

use std::fmt;
use std::io::{self, Write};
use std::sync::Arc;

use self::text::writable;
use crate::compose::{Discipline, Filter};
use crate::machine::{Fault, Mechanism, StopToken, guarded, public};
use crate::privacy::Relation;

/// The budgets of one dataset and the record of its launches, in a [`Store`].
///
/// ```
/// use queryables::ledger::{Decision, Ledger, Line};
/// use queryables::data::Predicate;
/// use queryables::mechanisms::Count;
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let ledger = Ledger::in_memory("ages, March")?;
/// let ages = Arc::new(vec![17, 18, 43, 70]);
/// let filter = ledger.start("census", &Filter::concurrent(PureDp, "1".parse()?), &ages)?;
/// let ana = filter.party("Ana");
///
/// let adults = Predicate::new("at least 18", |age: &i32| *age >= 18);
/// let answer: i64 = ana.release(&Count::of(adults).laplace(epsilon!(0.4))?)?;
/// assert_eq!(filter.remaining()?, "0.6".parse()?);
///
/// let Line::Entry(entry) = &ledger.lines(1, 10)?[0] else { unreachable!() };
/// assert_eq!(entry.party, "Ana");
/// assert_eq!(entry.mechanism.get("predicate"), Some("at least 18"));
/// assert_eq!((&entry.loss, &entry.decision), (&"0.4".into(), &Decision::Admitted));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Ledger {
    store: Arc<dyn Store>,
    keeps_answers: bool,
}

impl Ledger {
    /// Opens a ledger on a store, for the dataset with this name. Choose a name that changes when
    /// the data does, and that says nothing about the people in it: the name is stored.
    ///
    /// # Errors
    ///
    /// [`StoreError::OtherDataset`] if the store has budgets of another dataset, and
    /// [`StoreError::TooLong`] or [`StoreError::Unwritable`] if the name cannot be kept.
    pub fn on(store: impl Store, dataset: &str) -> Result<Self, StoreError> {
        writable("a dataset's name", dataset)?;
        store.name_dataset(dataset)?;
        Ok(Self {
            store: Arc::new(store),
            keeps_answers: false,
        })
    }

    /// Opens a ledger in memory: it ends with the process.
    ///
    /// # Errors
    ///
    /// Those of the name, as in every store.
    pub fn in_memory(dataset: &str) -> Result<Self, StoreError> {
        Self::on(MemoryStore::new(), dataset)
    }

    /// Makes a ledger in a new file, once for a dataset; later processes [open](Self::open) it.
    /// `examples/restart.rs` does both.
    ///
    /// # Errors
    ///
    /// [`StoreError::AlreadyExists`], and errors of the file system.
    #[cfg(feature = "redb")]
    pub fn create(path: impl AsRef<std::path::Path>, dataset: &str) -> Result<Self, StoreError> {
        Self::on(FileStore::create(path)?, dataset)
    }

    /// Opens a ledger in a file. Only one process can have it open. A file that is not there is an
    /// error, and not a new ledger: after a mistyped path, or a disk that is not mounted, all of the
    /// budget could be spent again.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`], [`StoreError::InUse`], [`StoreError::OtherDataset`],
    /// [`StoreError::Damaged`], and errors of the file system.
    #[cfg(feature = "redb")]
    pub fn open(path: impl AsRef<std::path::Path>, dataset: &str) -> Result<Self, StoreError> {
        Self::on(FileStore::open(path)?, dataset)
    }

    /// Stores the answers to launches with a key, so that a retry gets the same one. Answers are
    /// then in the record, and every reader of the record sees them.
    #[must_use]
    pub fn keeping_answers(self) -> Self {
        Self {
            keeps_answers: true,
            ..self
        }
    }

    /// Starts a filter on data. If the ledger already has a filter with this name, it continues
    /// with what that filter has spent.
    ///
    /// For an odometer, give the filter that [`Odometer::capped`] makes of it, with the largest
    /// reading that it may come to: [`privacy_loss`](LedgerFilter::privacy_loss) is then the reading,
    /// with the odometer's guarantee for every threshold up to that one (Haney et al. Lemma 2.19).
    ///
    /// A [`TimeUniform`] odometer has no bound and cannot be capped, so no ledger keeps it. To let one
    /// survive, [add](crate::account::time_uniform::TimeUniformOdometer::add) each loss to a copy and write the copy down
    /// ([`SavedRule`]) before the release; after a restart, start it from what was written.
    ///
    /// On a table, who one person is and the digest of the schema are terms of the filter, beside the
    /// relation ([`LedgerData`]): under another schema it does not go on.
    ///
    /// [`Odometer::capped`]: crate::compose::Odometer::capped
    /// [`TimeUniform`]: crate::compose::TimeUniform
    /// [`SavedRule`]: crate::account::SavedRule
    ///
    /// # Errors
    ///
    /// [`StoreError::OtherTerms`] if it began with other terms, such as another budget;
    /// [`StoreError::TooLong`] or [`StoreError::Unwritable`] if the name cannot be kept; and what else
    /// the store says.
    pub fn start<D, F, R, X, K>(
        &self,
        name: &str,
        filter: &Filter<F, R, X>,
        data: &Arc<D>,
    ) -> Result<LedgerFilter<D, F, R, X>, LedgerErrorOf<F>>
    where
        D: LedgerData<K> + ?Sized,
        F: LedgerRule,
        R: Relation,
        X: Discipline,
    {
        writable("a filter's name", name)?;
        guarded(|| Ok(Mechanism::check(filter, public(&**data))))?
            .map_err(|mismatch| Fault::InvalidQuery(mismatch.0))?;
        let terms = guarded(|| Ok(data.terms()))?;
        let stops = (StopToken::default(), Vec::new());
        LedgerFilter::open(self, name, filter, (data, terms), stops)
    }

    /// The lines of the record from this sequence number on, at most `most` entries. The first is 1;
    /// 0 is the same.
    ///
    /// # Errors
    ///
    /// [`StoreError::Damaged`], and those of the store.
    pub fn lines(&self, from: u64, most: usize) -> Result<Vec<Line>, StoreError> {
        let mut lines: Vec<Line> = Vec::new();
        for line in self.store.lines(from, most)? {
            let line = Line::read_after(lines.last(), &line);
            let line = line.filter(|line| !lines.is_empty() || line.sequence() == from.max(1));
            let damaged = || StoreError::Damaged {
                what: format!("an entry after {from}"),
            };
            lines.push(line.ok_or_else(damaged)?);
        }
        Ok(lines)
    }

    /// Writes the whole record in JSON Lines, the form of `spec/ledger.md`, for others to read.
    ///
    /// # Errors
    ///
    /// Those of the store, as [`io::Error::other`], and of the writer.
    pub fn export(&self, mut out: impl Write) -> io::Result<()> {
        let mut from = 1;
        loop {
            let lines = self.store.lines(from, 1000).map_err(io::Error::other)?;
            if lines.is_empty() {
                return Ok(());
            }
            for line in lines {
                writeln!(out, "{line}")?;
            }
            from += 1000;
        }
    }
}

impl fmt::Debug for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Ledger").field(&self.store).finish()
    }
}
