//! Why a schema or a question cannot be made.

use thiserror::Error;

use super::Kind;

/// Why a schema or a question cannot be made.
///
/// It names the column and what would do. Everything in it is public: what the caller wrote, and the
/// schema. `Debug` is the message, because that is what a `main` that returns an error prints.
#[derive(Clone, PartialEq, Eq, Hash, Error)]
#[non_exhaustive]
pub enum TableError {
    /// There is no such column.
    #[error("there is no column {column:?}: the columns are {}", .known.join(", "))]
    UnknownColumn {
        /// What was asked for.
        column: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// A value of one type stands where another is needed.
    #[error("{what} is a {found}, and a {wanted} is needed here")]
    WrongType {
        /// The column, the literal or the part of the question, as text.
        what: String,
        /// Its type.
        found: Kind,
        /// What would do.
        wanted: Kind,
    },
    /// A category that the column does not have.
    #[error("column {column:?} has no category {value}: there are {}", .known.join(", "))]
    UnknownCategory {
        /// The column.
        column: String,
        /// What was written.
        value: String,
        /// What there is.
        known: Vec<String>,
    },
    /// The text is not in the vocabulary of questions.
    #[error("at character {place}: {problem}")]
    Syntax {
        /// Where, from one.
        place: usize,
        /// What is wrong, and what would do.
        problem: String,
    },
    /// A question is longer, deeper or has more parts than may be asked.
    #[error("a question may have at most {most} {what}")]
    TooLong {
        /// What there are many of.
        what: &'static str,
        /// How many there may be.
        most: usize,
    },
    /// Amounts, ranges or bounds are out of their range.
    #[error("{0}")]
    BadAmount(&'static str),
    /// A number without a range: then one person can change a sum by anything.
    #[error("{number} has no range: state one in the schema, or with `clamped`")]
    NoRange {
        /// Which.
        number: String,
    },
    /// A part of a question was typed against another schema.
    #[error(
        "this belongs to another table: make the question from the schema of the table that is asked"
    )]
    OtherSchema,
    /// A row does not fit the schema.
    #[error("row {row} does not fit the schema{}", at(.column))]
    BadRow {
        /// Which, from zero.
        row: usize,
        /// Where; empty if it has another number of values.
        column: String,
    },
    /// A schema does not fit together.
    #[error("column {column:?} {problem}")]
    BadColumn {
        /// Which.
        column: String,
        /// What is wrong with it, and what to do.
        problem: &'static str,
    },
}

crate::debug_is_message!([] TableError);

fn at(column: &str) -> String {
    if column.is_empty() {
        ": it has another number of values".to_owned()
    } else {
        format!(" in column {column:?}: it has a value of another type")
    }
}
