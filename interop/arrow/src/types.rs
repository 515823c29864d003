//! Which Arrow types a kind of the schema is read from.

use arrow_schema::{DataType, SchemaRef};
use queryables::table::{Column, Kind, Schema};

use crate::OpenError;

/// Where the columns of the schema stand in a file or batch, in the order of the schema.
///
/// # Errors
///
/// [`OpenError`] if a column is not there, is there twice, or has a type that would be read as something
/// else.
pub(crate) fn places(
    schema: &Schema,
    file: &str,
    arrow: &SchemaRef,
) -> Result<Vec<usize>, OpenError> {
    let names: Vec<&str> = arrow
        .fields()
        .iter()
        .map(|field| field.name().as_str())
        .collect();
    let columns = schema.columns().iter().enumerate();
    let places = columns.map(|(place, column)| {
        let found = place_of(file, column.name(), &names)?;
        let is_person = schema.person_column() == Some(place);
        check_type(file, column, is_person, arrow.field(found).data_type())?;
        Ok(found)
    });
    places.collect()
}

/// Where the column with this name stands.
pub(crate) fn place_of(file: &str, column: &str, names: &[&str]) -> Result<usize, OpenError> {
    let mut found = (0..names.len()).filter(|place| names.get(*place) == Some(&column));
    match (found.next(), found.next()) {
        (Some(place), None) => Ok(place),
        (Some(_), Some(_)) => Err(OpenError::Twice {
            file: file.to_owned(),
            column: column.to_owned(),
        }),
        (None, _) => Err(OpenError::NoColumn {
            file: file.to_owned(),
            column: column.to_owned(),
            known: names.iter().map(|name| (*name).to_owned()).collect(),
        }),
    }
}

fn check_type(
    file: &str,
    column: &Column,
    is_person: bool,
    found: &DataType,
) -> Result<(), OpenError> {
    use DataType::{
        Boolean, Date32, Dictionary, Float32, Float64, Int8, Int16, Int32, Int64, Timestamp, UInt8,
        UInt16, UInt32, UInt64,
    };
    let (is_read, wanted) = match column.kind() {
        // Two people whose numbers are above 2^63 must not become one.
        Kind::Whole if is_person => (
            matches!(
                found,
                Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32
            ),
            "signed integers, or unsigned ones of at most 32 bits, where it names a person",
        ),
        Kind::Whole => (
            matches!(
                found,
                Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32 | UInt64
            ),
            "integers",
        ),
        Kind::Real => (matches!(found, Float32 | Float64), "Float32 or Float64"),
        Kind::Text => (
            match found {
                Dictionary(_, values) => is_text(values),
                found => is_text(found),
            },
            "Utf8, LargeUtf8, Utf8View, or a dictionary of them",
        ),
        Kind::Bool => (matches!(found, Boolean), "Boolean"),
        Kind::Date => (matches!(found, Date32), "Date32"),
        Kind::Time => (matches!(found, Timestamp(..)), "Timestamp"),
    };
    if is_read {
        return Ok(());
    }
    Err(OpenError::WrongType {
        file: file.to_owned(),
        column: column.name().to_owned(),
        found: found.to_string(),
        kind: column.kind(),
        wanted,
    })
}

fn is_text(found: &DataType) -> bool {
    matches!(
        found,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View
    )
}
