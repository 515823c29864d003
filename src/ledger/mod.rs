//! Budgets that survive: the record of every launch, restarts, many processes, many parties.
//!
//! ```text
//!   Ledger ──launch("census", filter, data)──▶ LedgerFilter ──party("Ana")──▶ Party ──release──▶ answer
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
mod digest;
mod entry;
mod error;
mod export;
#[cfg(feature = "redb")]
mod file;
mod filter;
#[cfg(feature = "redb")]
mod group;
mod launch;
mod memory;
mod party;
mod quota;
mod refusals;
mod replay;
mod request;
mod seal;
mod state;
mod store;
mod text;
mod time;

pub use book::Ledger;
pub use entry::{DamagedLine, Decision, Done, Entry, Line, Outcome, read_lines};
pub use error::{LedgerError, LedgerErrorOf, OpenError, ReserveError, ReserveErrorOf};
pub use export::dp_events;
#[cfg(feature = "redb")]
pub use file::FileStore;
pub use filter::{LedgerFilter, LedgerRule};
pub use memory::MemoryStore;
pub use party::{AnswerOf, Party};
pub use quota::Quota;
pub use refusals::Refusals;
pub use store::{Charge, Receipt, Record, Saved, Store, StoreError};
