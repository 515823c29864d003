//! Where a ledger keeps what must survive.

use std::fmt;

use thiserror::Error;

use super::{Outcome, OutcomeLine};

pub(super) mod sealed {
    use super::StoreError;

    /// What a launch says to the ledger's own stores. Only the ledger implements it, so that
    /// [`Charge`](super::Charge) may grow.
    pub trait Sealed {
        /// The line for the record, which stands for a number of launches, to be written when somebody
        /// reads it.
        fn record(&self, times: u64) -> Box<dyn Record>;
    }

    /// A line for the record that is yet to be written.
    pub trait Record: Send + Sync {
        fn line(&self, sequence: u64) -> Result<String, StoreError>;
    }
}

/// Keeps budgets and their record: in memory, in a file, in a database.
///
/// The one operation that matters is [`charge`](Self::charge): it reads the states of one or several
/// budgets, lets the launch decide by a pure function of them, and writes what was decided, all or
/// nothing and one launch after the other.
///
/// Example: `queryables-postgres`.
///
/// # Guarantee
///
/// The guarantee of a filter in a ledger depends on this: once [`sync`](Self::sync) has returned
/// without an error, what the charge has written is read by every later charge, whatever fails in
/// between.
pub trait Store: fmt::Debug + Send + Sync + 'static {
    /// Says which dataset the budgets are about; the first name stays.
    ///
    /// # Errors
    ///
    /// [`StoreError::OtherDataset`], and what the store cannot do.
    fn name_dataset(&self, name: &str) -> Result<(), StoreError>;

    /// Opens a budget: with this state if it is new, and with its own otherwise.
    ///
    /// # Errors
    ///
    /// [`StoreError::OtherTerms`] if it was opened with other terms before.
    fn open(&self, budget: &str, terms: &str, state: &str) -> Result<Saved, StoreError>;

    /// The states of these budgets that are others than the ones with these versions, each with its
    /// place in the list. The filter's lock is held meanwhile: a store on another machine reads all of
    /// them at once.
    ///
    /// # Errors
    ///
    /// What the store cannot do.
    fn newer(&self, known: &[(&str, u64)]) -> Result<Vec<(usize, Saved)>, StoreError>;

    /// Decides on a launch and writes it, all or nothing. No two charges of one budget overlap.
    ///
    /// The lock of the filter's handle is held while this runs, so launches and readings through that
    /// handle and its clones wait for it. Those of other handles and processes do not: that no two
    /// charges overlap is the store's to see to. It must not use the filter that it is called by. No
    /// third-party rule runs in it: it has decided, and was written down, before.
    ///
    /// In this order: if the [key](Charge::key) is known, nothing is decided and what is known of it
    /// is given back. Otherwise the launch [decides](Charge::decide) on the states of its budgets; what it
    /// [changed](Charge::changed) and its [line](Charge::line) are written. Where
    /// [`Refusals`](super::Refusals) says so, the line of a launch that is refused takes the place of the
    /// last one.
    ///
    /// # Errors
    ///
    /// What the store cannot do. Nothing runs then; whether the charge was written may be unknown.
    fn charge(&self, charge: &mut dyn Charge) -> Result<Receipt, StoreError>;

    /// Waits until what was written is durable, or writes what was [queued](Receipt::Queued).
    ///
    /// # Errors
    ///
    /// What the store cannot do: nothing may run then. [`StoreError::Changed`] of a launch that was queued, if
    /// it is not written because another one came first: it decides again.
    fn sync(&self, receipt: &Receipt) -> Result<(), StoreError>;

    /// Writes what became of a launch. An answer that is kept survives once this has returned. Any other
    /// outcome need not: without it the launch reads as interrupted.
    ///
    /// # Errors
    ///
    /// What the store cannot do. An answer that was to be kept is then withheld.
    fn finish(&self, sequence: u64, outcome: Outcome) -> Result<(), StoreError>;

    /// Whether it keeps anything about a launch without a key: its charge, or its line. Where it does
    /// not, a budget is in its one handle, which decides on such launches without asking the store.
    fn keeps_launches(&self) -> bool {
        true
    }

    /// The lines from this sequence number on (the first is 1, and 0 is the same), at most `most`
    /// entries; each entry is followed by its outcome.
    ///
    /// # Errors
    ///
    /// What the store cannot do.
    fn lines(&self, from: u64, most: usize) -> Result<Vec<String>, StoreError>;
}

/// A budget as it is kept.
///
/// Example: `queryables-postgres`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saved {
    /// It rises by one with each change.
    pub version: u64,
    /// A line of JSON with a checksum.
    pub state: String,
}

/// A launch that asks to be charged, as a store sees it. Only the ledger makes them.
///
/// Example: `queryables-postgres`.
pub trait Charge: sealed::Sealed {
    /// The budgets that it concerns. The first is that of the filter, which every launch in it
    /// concerns: while the first is locked, the others may be locked in any order.
    fn budgets(&self) -> &[String];

    /// The idempotency key.
    fn key(&self) -> Option<&str>;

    /// Decides from the states of its budgets, in their order; whether it is admitted. A store that keeps
    /// no states gives none: then it decides from those at hand.
    ///
    /// # Errors
    ///
    /// [`StoreError::Damaged`], and [`StoreError::Changed`] where a third-party rule has decided on other
    /// states: nothing is written, and the error is passed on.
    fn decide(&mut self, states: &[Saved]) -> Result<bool, StoreError>;

    /// The states that have changed, each with the name of its budget. None of a launch that was refused.
    ///
    /// # Errors
    ///
    /// What cannot be written.
    fn changed(&self) -> Result<Vec<(String, Saved)>, StoreError>;

    /// The line for the record, which stands for a number of launches.
    ///
    /// # Errors
    ///
    /// What cannot be written.
    fn line(&self, sequence: u64, times: u64) -> Result<String, StoreError>;

    /// The numbers that the loss is made of, as decimals, each with its name.
    fn amounts(&self) -> Vec<(String, String)>;
}

/// What a store says to a charge.
///
/// Example: `queryables-postgres`.
#[derive(Clone, Debug, PartialEq)]
pub enum Receipt {
    /// Written, but perhaps not yet durable.
    Written {
        /// The place in the record.
        sequence: u64,
        /// For the store itself: up to where it must be synced.
        mark: u64,
    },
    /// Decided on states that the store gave, and yet to be written: by [`sync`](Store::sync), which may
    /// write several launches at once. Until then other launches may be decided on what this one leaves
    /// behind, but only the store knows of it.
    Queued {
        /// The place in the record.
        sequence: u64,
        /// For the store itself.
        mark: u64,
    },
    /// The key is known.
    Known {
        /// The line of the launch.
        line: String,
        /// What became of it, if anything yet.
        done: Option<OutcomeLine>,
    },
}

/// Why a store cannot do what it is asked to. None of it says anything about the data.
///
/// Example: `queryables-postgres`.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A ledger is about one dataset.
    #[error("the ledger is about the dataset {named:?}, not about {given:?}")]
    OtherDataset {
        /// The name that it has.
        named: String,
        /// The name that was given.
        given: String,
    },
    /// A budget goes on under the terms that it began with.
    #[error("the budget {budget:?} began with other terms: {terms}")]
    OtherTerms {
        /// Its name.
        budget: String,
        /// What they are; from the ledger, which fields differ.
        terms: String,
    },
    /// In this store a budget has one handle, to be cloned.
    #[error("the budget {budget:?} is open already: clone its handle")]
    AlreadyOpen {
        /// Its name.
        budget: String,
    },
    /// A quota belongs to a filter, and is opened in each handle to it.
    #[error("the budget {budget:?} is not open in this filter")]
    NotOpen {
        /// Its name.
        budget: String,
    },
    /// Nothing is made where a ledger is opened: all of its budgets could be spent again.
    #[error("there is no ledger: create one only if nothing is spent")]
    NotFound,
    /// A new ledger has a new file, or a database without one.
    #[error("the file exists, or the database has a ledger: use `open`")]
    AlreadyExists,
    /// Another process has the file.
    #[error("another process has the ledger open")]
    InUse,
    /// The file was moved, replaced or removed while it was open: what is charged would be lost. It
    /// stays so for whoever has it open.
    #[error(
        "the file of the ledger was moved, replaced or removed while it was open: end what uses it, \
         put the right file back and open that"
    )]
    Replaced,
    /// What was read is not what was written.
    #[error("{what} in the ledger is damaged")]
    Damaged {
        /// Which part.
        what: String,
    },
    /// Another launch came first. The ledger decides again, and no caller sees this.
    #[error("the budget was changed by another launch")]
    Changed,
    /// It was written by a later version of this crate.
    #[error("the ledger has another version than 1")]
    Version,
    /// A name or a key has more than 1024 bytes, or a description more than 8192, because of a
    /// mechanism's name: many parameters are recorded by a digest. Nothing is charged or written.
    #[error("{what} has {bytes} bytes, and at most {limit} are written")]
    TooLong {
        /// Of what.
        what: String,
        /// How many it has.
        bytes: usize,
        /// How many it may have.
        limit: usize,
    },
    /// The file or the database did not do it.
    #[error("the ledger cannot be written or read: {0}")]
    Unavailable(String),
    /// Something has no JSON form, or a name contains the character U+0000, which not every store can
    /// keep.
    #[error("this cannot be written down: {0}")]
    Unwritable(String),
}
