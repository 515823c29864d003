//! Why an engine or a table is not opened.

use queryables::table::{CanaryError, Kind};
use thiserror::Error;

/// Why an engine or a table is not opened ([the crate](crate) has an example). It is for the curator, and
/// says what the engine says.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The engine cannot be reached, or does not find the table.
    #[error("the engine does not answer: {0}")]
    Unavailable(String),
    /// A table needs a name, or a path.
    #[error("no table is named")]
    NoTable,
    /// The table has no such column.
    #[error("the table has no column {column:?}")]
    NoColumn {
        /// Which.
        column: String,
    },
    /// A column has another type.
    #[error(
        "column {column:?} is of type {found}, and no {wanted} is read from it: cast it in a view"
    )]
    WrongType {
        /// Which.
        column: String,
        /// Its type in the engine.
        found: String,
        /// Its type in the schema.
        wanted: Kind,
    },
    /// The engine computes something else than the reference.
    #[error(transparent)]
    Canary(#[from] CanaryError),
}
