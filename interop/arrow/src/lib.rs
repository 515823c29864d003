//! Tables of [`queryables`] in memory and in files: CSV, Parquet, Arrow.
//!
//! ```
//! use queryables::prelude::*;
//! use queryables::table::{Column, Kind, Schema};
//! use queryables_arrow::ArrowTable;
//! use std::sync::Arc;
//!
//! let schema = Schema::of_people(
//!     "patient",
//!     [
//!         Column::new("patient", Kind::Whole),
//!         Column::categories("state", ["CA", "NY"]),
//!         Column::whole("hours", 0..=80),
//!     ],
//! )?;
//! let csv = "patient,state,hours\n1,CA,40\n1,CA,38\n2,NY,20\n3,CA,\n";
//! let table = ArrowTable::csv_from(&schema, csv.as_bytes())?;
//!
//! let filter = start(&Filter::concurrent(PureDp, epsilon!(1)), Arc::new(table))?;
//! let hours = schema.mean("hours")?.by("state")?.rows_per_person(2).laplace(epsilon!(0.5))?;
//! println!("{}", filter.release(&hours.reported(confidence!(0.95)))?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What a column is read from
//!
//! | kind | Arrow and Parquet | CSV |
//! |---|---|---|
//! | whole number | integers of every width; an unsigned one above 2^63 − 1 becomes that | digits, with a sign |
//! | real number | `Float32`, `Float64`; NaN is missing | a decimal number |
//! | text | `Utf8`, `LargeUtf8`, `Utf8View`, dictionaries of them | as it stands; an empty one is missing |
//! | yes or no | `Boolean` | `true`, `yes`, `1`, `false`, `no`, `0`, in any case |
//! | date | `Date32` | `2024-01-31` |
//! | time | `Timestamp` of every unit, rounded down to microseconds; without a zone it is UTC | `2024-01-31 12:00:00.5`, or RFC 3339 |
//!
//! In a CSV a value that does not parse is missing; [`check_csv`] tells a curator how many there are. Every
//! other type, and a column that is not there, is an error when the table is opened.
//!
//! Two people must not become one. So a column of 64-bit unsigned numbers cannot name them. In a CSV, `7`,
//! `+7` and `007` are the same whole number: where they are different people, say that the column is text.
//!
//! # Memory
//!
//! A question reads the columns that it names. Those of files are kept in memory up to half of the
//! [bound](ArrowTable::with_memory_bound), and are otherwise read for each question, a few thousand rows at
//! a time on every thread. What is kept for each person while rows are read takes up to a quarter of the
//! bound; where this does not suffice, the rows are read several times, each time for other people.

#![warn(missing_docs, missing_debug_implementations, unreachable_pub)]
#![warn(
    clippy::missing_errors_doc,
    clippy::missing_panics_doc,
    clippy::must_use_candidate
)]
// Tests may panic.
#![cfg_attr(
    not(test),
    warn(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)
)]

mod amounts;
mod cache;
#[cfg(feature = "chart")]
mod chart;
mod check;
mod csv;
mod error;
mod evaluate;
mod groups;
mod keys;
mod people;
mod person;
mod progress;
mod scan;
mod source;
mod table;
mod tally;
mod truth;
mod types;
mod vector;

#[cfg(feature = "chart")]
pub use chart::chart;
pub use check::{UnreadCells, check_csv};
pub use error::OpenError;
pub use table::ArrowTable;
