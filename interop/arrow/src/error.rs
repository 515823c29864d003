//! Why a table cannot be opened.

use std::fmt;
use std::path::Path;

use queryables::table::Kind;

/// Why a table cannot be opened.
///
/// It names the file, the column and what would do. It is for the curator: it may name what a file holds
/// besides the schema. `Debug` is the message, because that is what a `main` that returns an error prints.
///
/// ```
/// use queryables::table::{Column, Kind, Schema};
/// use queryables_arrow::ArrowTable;
///
/// let schema = Schema::of_rows([Column::new("age", Kind::Whole)])?;
/// let error = ArrowTable::csv_from(&schema, "name\nAda\n".as_bytes()).unwrap_err();
/// assert_eq!(error.to_string(), r#"the CSV has no column "age": its columns are "name""#);
/// # Ok::<(), queryables::table::TableError>(())
/// ```
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// A file cannot be read.
    #[error("{file} cannot be read: {problem}")]
    Unreadable {
        /// Which.
        file: String,
        /// What the system or the reader says.
        problem: String,
    },
    /// No file was named: a pattern that finds none would be a table without rows.
    #[error("no file is named: name one at least")]
    NoFiles,
    /// A column of the schema is not there.
    #[error("{file} has no column {column:?}: {}", columns(.known))]
    NoColumn {
        /// Which file.
        file: String,
        /// Which column.
        column: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// A column of the schema is there twice.
    #[error("{file} has two columns {column:?}: rename one of them")]
    Twice {
        /// Which file.
        file: String,
        /// Which column.
        column: String,
    },
    /// A column has a type that the schema's kind is not read from.
    #[error(
        "column {column:?} of {file} is {found}, and the schema says {kind}, which is read from {wanted}"
    )]
    WrongType {
        /// Which file.
        file: String,
        /// Which column.
        column: String,
        /// Its Arrow type.
        found: String,
        /// What the schema says.
        kind: Kind,
        /// The Arrow types that would do.
        wanted: &'static str,
    },
}

/// In quotes: a blank in a name is seen.
fn columns(known: &[String]) -> String {
    match known {
        [] => "it is empty, and needs a line with the names of its columns".to_owned(),
        [all] if all.contains([';', '\t']) => {
            format!("its only column is {all:?}: separate columns by commas")
        }
        _ => {
            let known: Vec<String> = known.iter().map(|name| format!("{name:?}")).collect();
            format!("its columns are {}", known.join(", "))
        }
    }
}

impl fmt::Debug for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// How a file is called in an error.
pub(crate) fn named(path: &Path) -> String {
    path.display().to_string()
}

pub(crate) fn unreadable(file: &str, problem: impl fmt::Display) -> OpenError {
    OpenError::Unreadable {
        file: file.to_owned(),
        problem: problem.to_string(),
    }
}
