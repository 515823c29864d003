//! What mechanisms see of the data: a dataset with one kind of record, read in one pass.
//!
//! - A [`Dataset`] is anything with numbered records: a `Vec`, a slice, or columns of your own. A
//!   record is what the neighbouring relation adds, removes or replaces. So a dataset has only one
//!   kind of record: all mechanisms on it state their losses for the same neighbours.
//! - [`People`] is a dataset of people, made from a table in which a person may have several rows.
//! - An [`Attribute`] is a named question about one record, a [`Predicate`] one that is answered by
//!   yes or no, a [`Vector`] one that is answered by several numbers.
//! - A [`Fold`] is computed from the answers: a count, a sum, a histogram.
//!
//! # A record that cannot be read
//!
//! The closure of an attribute is third-party code that sees every record. If it panics on one, the
//! meaning is fixed, and the same for every closure in this crate that is given a record: the
//! record has the value [`Value::UNREADABLE`], which is *no*, zero (for a sum
//! whose range excludes zero, the end of the range next to it), no bin, no time and no part. An
//! infinite number or NaN means the same. So one record still changes what is computed by no more
//! than any other record would, and the analyst sees nothing of the panic: no error, no refusal, no
//! other state. [`pass`] is the one place where this is decided. Whoever wrote the closure can try
//! it on the data: [`ClosureCheck`].
//!
//! Two things about a panic can still be observed: its message, on the standard error of the
//! process, and the time that it takes. For the first see
//! [`silence_guarded_panics`](crate::machine::silence_guarded_panics); for the second see the
//! threat model (`spec/threat_model.md`).
//!
//! # Speed
//!
//! A pass makes one dynamic call for all records, and has one guard for each chunk of
//! records, so the closure is inlined into the loop. If a chunk panics, it is read again, record by
//! record. `cargo bench --package benches --bench data` compares the passes with plain loops.
//!
//! # Threads
//!
//! Many records are read on all threads of rayon's global pool. The answer is the same on any
//! number of threads: sums are exact, noise is drawn before, and each closure sees one record only.
//! A closure that asks a handle or launches something is treated as if it ran on the thread that
//! waits for it.
//!
//! A pass that starts on a thread of a rayon pool, the global one or another, stays on this thread.
//! Otherwise the pool would run other tasks on it meanwhile, and one of them might wait for a lock
//! that this thread holds. So `ThreadPool::install` with a pool of one thread keeps a program on
//! one thread, as does the environment variable `RAYON_NUM_THREADS=1`. A process that was forked
//! has none of the pool's threads: install a pool of its own there.

mod attribute;
mod check;
pub(crate) mod clip;
mod clipped_sum;
mod group_key;
mod groups;
mod moments;
mod people;
mod threads;
mod unavailable;
mod vector;

pub use attribute::{Attribute, Predicate};
pub use check::ClosureCheck;
pub(crate) use clipped_sum::ClippedSum;
pub use group_key::GroupKey;
pub(crate) use groups::{Groups, RowKey};
pub(crate) use moments::Moments;
pub(crate) use people::UNBOUNDED;
pub use people::{People, Person};
#[doc(inline)]
pub use queryables_core::data::*;
pub(crate) use queryables_core::toolkit::data::*;
pub(crate) use threads::{each, pieces};
pub use unavailable::Unavailable;
pub use vector::Vector;
