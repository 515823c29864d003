//! Why a table is not opened.

use queryables::table::{CanaryError, Kind};
use thiserror::Error;

/// Why a table is not opened, by [`PostgresTable`](crate::PostgresTable). It is for the curator, and says
/// what the server says.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum OpenTableError {
    /// The server cannot be reached, or does not do it.
    #[error("the server does not answer: {0}")]
    Unavailable(String),
    /// The server cannot be used.
    #[error("the server {0}")]
    Server(&'static str),
    /// There is no such table, or it may not be read.
    #[error("there is no table {table:?} in the schema {namespace:?} of the database")]
    NoTable {
        /// The database's schema.
        namespace: String,
        /// The table.
        table: String,
    },
    /// The table has no such column.
    #[error("the table has no column {column:?}")]
    NoColumn {
        /// Which.
        column: String,
    },
    /// A column has another type.
    #[error(
        "column {column:?} is of type {found}, and a {wanted} is read from {}: cast it in a view",
        readable(*.wanted).join(", ")
    )]
    WrongType {
        /// Which.
        column: String,
        /// Its type in the database.
        found: String,
        /// Its type in the schema.
        wanted: Kind,
    },
    /// The server computes something else than the reference.
    #[error(transparent)]
    Canary(#[from] CanaryError),
}

/// The types from which a column can be read exactly.
///
/// `numeric` is none of them, because a double cannot hold it, and `character(n)` is not because it
/// compares without trailing blanks.
pub(crate) fn readable(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Whole => &["smallint", "integer", "bigint"],
        Kind::Real => &["real", "double precision"],
        Kind::Text => &["text", "character varying"],
        Kind::Bool => &["boolean"],
        Kind::Date => &["date"],
        Kind::Time => &["timestamp without time zone", "timestamp with time zone"],
    }
}
