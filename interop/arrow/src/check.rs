//! What a CSV holds that is not what its schema says.

use std::fmt;
use std::path::Path;

use queryables::table::{Kind, Schema};

use crate::OpenError;
use crate::csv::unread;

/// Cells of a CSV that a table takes for missing, because they cannot be read as the schema says. Made by
/// [`check_csv`], which has an example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadCells {
    /// The file.
    pub file: String,
    /// The column.
    pub column: String,
    /// What the schema says of it.
    pub kind: Kind,
    /// How many there are.
    pub cells: u64,
    /// The line of the first; the header is line 1.
    pub first_line: u64,
}

impl fmt::Display for UnreadCells {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            file,
            column,
            kind,
            cells,
            first_line,
        } = self;
        write!(
            f,
            "{file}: column {column:?}: cells that are not a {kind}: {cells}, the first in line \
             {first_line}; they count as missing"
        )
    }
}

/// Counts the cells of CSV files that a table would take for missing although something stands there, column
/// by column: none where all is well. A cell that is empty is missing, and does not count.
///
/// It is for the curator, before a table is opened to analysts. **What it says is about the data and has no
/// noise**: it must not reach them.
///
/// ```
/// use queryables::table::{Column, Kind, Schema};
/// use queryables_arrow::check_csv;
///
/// let folder = tempfile::tempdir()?;
/// let file = folder.path().join("ages.csv");
/// std::fs::write(&file, "age\n30\nforty\n\n")?;
///
/// let schema = Schema::of_rows([Column::new("age", Kind::Whole)])?;
/// let unread = check_csv(&schema, [&file])?;
/// assert_eq!((&*unread[0].column, unread[0].cells, unread[0].first_line), ("age", 1, 3));
/// let said = "column \"age\": cells that are not a whole number: 1, the first in line 3";
/// assert!(unread[0].to_string().contains(said));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`OpenError`] if a file cannot be read, or has no such column.
pub fn check_csv<P: AsRef<Path>>(
    schema: &Schema,
    files: impl IntoIterator<Item = P>,
) -> Result<Vec<UnreadCells>, OpenError> {
    let mut all = Vec::new();
    for file in files {
        all.extend(unread(schema, file.as_ref())?);
    }
    Ok(all)
}
