//! Random schemas, tables and plans, with everything ugly in them: missing values, NaN, infinities, the ends
//! of 64 bits, empty tables, heavy people, ties, texts with quotes and control characters.
//!
//! Every engine is compared on them with the reference, [`RowTable`](queryables::table::RowTable). What is
//! drawn depends on the seed alone, so that a failure can be repeated.
//!
//! ```
//! use queryables::table::{RowTable, Table};
//! use tables::Draw;
//!
//! let mut draw = Draw::new(7);
//! let schema = draw.schema();
//! let rows = draw.rows(&schema);
//! let table = RowTable::new(&schema, rows).unwrap();
//! let plan = draw.plan(&schema);
//! assert_eq!(table.tally(&plan).unwrap().len(), plan.totals());
//! ```

mod change;
mod draw;
mod expressions;
mod plans;
mod rows;
mod schemas;
mod texts;

pub use change::{change_is_bounded, people};
pub use draw::Draw;
pub use rows::Row;
pub use texts::{MARK, Texts};
