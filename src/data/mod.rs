//! What mechanisms see of the data: a dataset has one kind of record, and is gone through once.
//!
//! - A [`Dataset`] is anything with numbered records: a `Vec`, a slice, or columns of your own. One
//!   record is what the neighbouring relation adds, removes or replaces, so a dataset has one kind
//!   of them: losses of mechanisms on the same dataset are about the same neighbours.
//! - An [`Attribute`] is a named question about one record, a [`Predicate`] one that is answered by
//!   yes or no, a [`Vector`] one that is answered by several numbers.
//! - A [`Fold`] is what is made of the answers: a count, a sum, a histogram.
//!
//! # A record that cannot be read
//!
//! The code behind an attribute comes from somebody else, and it meets every record. If it panics
//! on one, that means one fixed thing, the same for every closure in this crate that is given a
//! record: the record has the value [`Value::UNREADABLE`], which is *no*, zero, no bin, no time and
//! no part. A number that is infinite or not a number means the same. So one record still changes
//! what is computed by no more than any other record would, and the analyst sees nothing of the
//! panic: no error, no refusal, no other state. [`pass`] is the one place where this is decided.
//!
//! What a panic does show is its message, on the standard error of the process, and the time that
//! it takes. For the first see [`silence_guarded_panics`](crate::machine::silence_guarded_panics);
//! the second is part of the threat model (`spec/threat_model.md`).
//!
//! # Speed
//!
//! A closure is hidden behind a pointer once for a pass and guarded once for a chunk of
//! [`CHUNK`] records, so the loop over the records is compiled with the closure inside. If a chunk
//! panics, it is read again, record by record. `cargo bench --bench data` compares the passes with
//! plain loops.

mod attribute;
mod dataset;
mod fold;
mod pass;
mod select;
mod vector;

pub use attribute::{Attribute, Predicate};
pub use dataset::Dataset;
pub use fold::{Bins, ClampedSum, Fold, RealSum, Value};
pub use pass::{CHUNK, pass};
pub use select::Select;
pub use vector::Vector;
