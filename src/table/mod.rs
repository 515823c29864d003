//! Questions that are data: schemas, expressions over columns, and plans that a table can tally.
//!
//! A question is typed against the public [`Schema`] when it is made, and is data from then on: it
//! compares, prints, has a digest, and goes through JSON. So an analyst who is not trusted can ask it,
//! the data may stay in a file or in a database, and a record can say what was asked.
//!
//! ```
//! use queryables::table::{Column, Expr, Schema, col};
//!
//! let schema = Schema::of_rows([
//!     Column::whole("age", 0..=120),
//!     Column::categories("state", ["CA", "NY"]),
//! ])?;
//! // The same question in Rust, as text, and in JSON.
//! let asked = schema.condition(col("age").ge(18) & col("state").eq("CA"))?;
//! assert_eq!(schema.condition("age >= 18 and state = 'CA'")?, asked);
//! let json = r#"{"and": [{"ge": [{"column": "age"}, 18]}, {"eq": [{"column": "state"}, "CA"]}]}"#;
//! assert_eq!(schema.condition(serde_json::from_str::<Expr>(json)?)?, asked);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bound;
mod bounds;
mod calendar;
mod canary;
mod column;
mod condition;
mod digest;
mod error;
mod evaluate;
mod expr;
mod grouping;
mod json;
mod plan;
mod print;
mod rows;
mod schema;
pub mod sql;
#[cfg(test)]
mod tests;
mod text;
mod typing;
mod value;
mod words;

pub use bound::{Bound, MOST_NORM};
pub use canary::{CanaryError, canaries};
pub use column::{Column, Domain, Kind};
pub use condition::{Condition, IntoExpr, Number};
pub use error::TableError;
pub use expr::{Comparison, Expr, Operation, col};
pub use grouping::{Grouping, Keys};
pub use plan::{Amount, MOST_STEPS, MOST_TOTALS, Parts, Plan};
pub use rows::{RowTable, Table};
pub use schema::{Person, Schema};
pub use value::Value;
