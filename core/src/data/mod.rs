//! What mechanisms see of the data: a dataset with one kind of record, read in one pass.
//!
//! - A [`Dataset`] is anything with numbered records: a `Vec`, a slice, or columns of your own. A
//!   record is what the neighbouring relation adds, removes or replaces. So a dataset has only one
//!   kind of record: all mechanisms on it state their losses for the same neighbours.
//! - A [`Fold`] is computed from the values of the records: a count, a sum, a histogram.
//! - [`pass`] reads the records, on this thread.
//!
//! # A record that cannot be read
//!
//! The closure that reads a record is third-party code. If it panics on one, the meaning is fixed,
//! and the same for every closure that is given a record: the record has the value
//! [`Value::UNREADABLE`], which is *no*, zero (for a sum whose range excludes zero, the end of the
//! range next to it), no bin, no time and no part. An infinite number or NaN means the same. So one
//! record still changes what is computed by no more than any other record would, and the analyst
//! sees nothing of the panic: no error, no refusal, no other state. [`pass`] is the one place where
//! this is decided.
//!
//! Two things about a panic can still be observed: its message, on the standard error of the
//! process, and the time that it takes. For the first see
//! [`silence_guarded_panics`](crate::machine::silence_guarded_panics); for the second see the
//! threat model (`spec/threat_model.md`).

mod dataset;
pub(crate) mod fold;
pub(crate) mod pass;
mod select;

pub use dataset::Dataset;
pub use fold::{ClampedSum, Fold, Value};
pub use pass::pass;
pub use select::Select;
