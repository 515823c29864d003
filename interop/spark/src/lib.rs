//! Tables of Apache Spark and of Sail that can be asked, over Spark Connect.
//!
//! ```no_run
//! use queryables::prelude::*;
//! use queryables::table::{Column, Kind, Schema};
//! use queryables_spark::SparkEngine;
//! use std::sync::Arc;
//!
//! let schema = Schema::of_people(
//!     "patient",
//!     [Column::new("patient", Kind::Whole), Column::whole("age", 0..=120)],
//! )?;
//! let engine = SparkEngine::open("sc://127.0.0.1:15002")?;
//! let visits = engine.parquet(&["/data/visits.parquet"], &schema)?;
//! let filter = start(&Filter::concurrent(PureDp, epsilon!(1)), Arc::new(visits))?;
//! let adults = schema.count().filter("age >= 18")?.laplace(epsilon!(0.1))?;
//! println!("{}", filter.release(&adults)?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The engine adds up; noise is drawn here. What it is trusted with stands in `spec/engines.md`.
//!
//! The tests start Sail 0.7.2 and Apache Spark 4.0.1, with two executors, and compare random plans on random
//! tables with the reference, while servers and executors are killed. Other versions are held to the canaries
//! when they are opened.

#![warn(missing_docs, missing_debug_implementations, unreachable_pub)]
#![warn(
    clippy::missing_errors_doc,
    clippy::missing_panics_doc,
    clippy::must_use_candidate
)]

mod answer;
mod bind;
mod dialect;
mod engine;
mod error;
mod session;
mod table;

pub use engine::SparkEngine;
pub use error::OpenError;
pub use table::SparkTable;
