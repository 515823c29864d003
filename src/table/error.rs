//! Why a schema or a question cannot be made.

use std::fmt;

use thiserror::Error;

use super::Kind;

/// Why a schema or a question cannot be made.
///
/// It names the column and what would do. Everything in it is public: what the caller wrote, and the
/// schema; only [`BadRow`](Self::BadRow), which is for curators, speaks of data. `Debug` is the message, because that is what a `main` that returns an error prints.
///
/// ```
/// use queryables::table::{Column, Schema};
///
/// let schema = Schema::of_rows([Column::whole("age", 0..=120)])?;
/// let error = schema.condition("agee >= 18").unwrap_err();
/// assert_eq!(error.to_string(), r#"there is no column "agee": the columns are age"#);
/// # Ok::<(), queryables::table::TableError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Error)]
#[non_exhaustive]
pub enum TableError {
    /// There is no such column.
    #[error("there is no column {column:?}: the columns are {}{}", Listed(.known), text_hint(*.beside_text, .column))]
    UnknownColumn {
        /// What was asked for.
        column: String,
        /// Those that there are.
        known: Vec<String>,
        /// It is compared with a text. So a text in double quotes may be meant.
        beside_text: bool,
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
    /// Something that is no number stands where a whole or a real one would do.
    #[error("{what} is a {found}, and a number is needed here")]
    NotANumber {
        /// The column or the part of the question, as text.
        what: String,
        /// Its type.
        found: Kind,
    },
    /// Values that have no order are compared by it.
    #[error("{what} asks for an order, and yes and no have none: use = or <>, or AND, OR, NOT")]
    NoOrder {
        /// The comparison, as text.
        what: String,
    },
    /// A constant that has no value of the type that is needed, or a list without any.
    #[error("{what} {problem}")]
    BadLiteral {
        /// The constant, and where it stands.
        what: String,
        /// What is wrong with it, and what would do.
        problem: &'static str,
    },
    /// A category that the column does not have.
    #[error("column {column:?} has no category {value}: there are {}", Listed(.known))]
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
    /// A question or a schema is longer, deeper or has more parts than is allowed.
    #[error("at most {most} {what} are allowed")]
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

/// The first names of a list, and how many there are besides.
struct Listed<'a>(&'a [String]);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 8;
        let (shown, rest) = self.0.split_at(self.0.len().min(SHOWN));
        f.write_str(&shown.join(", "))?;
        match rest.len() {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

fn text_hint(beside_text: bool, column: &str) -> String {
    if beside_text {
        format!(
            "; if a text is meant, write '{}'",
            column.replace('\'', "''")
        )
    } else {
        String::new()
    }
}
