//! What an engine answers, read from Arrow: whole numbers and texts, and nothing else crosses.

use std::io::Cursor;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, RecordBatch};
use arrow_ipc::reader::StreamReader;
use queryables::mechanisms::query::Unavailable;

/// The parts of an answer.
pub(crate) fn batches(parts: Vec<Vec<u8>>) -> Result<Vec<RecordBatch>, Unavailable> {
    let mut batches = Vec::new();
    for part in parts {
        let reader = StreamReader::try_new(Cursor::new(part), None).map_err(|_| Unavailable)?;
        for batch in reader {
            batches.push(batch.map_err(|_| Unavailable)?);
        }
    }
    Ok(batches)
}

/// A number that is there.
pub(crate) fn number(column: &dyn Array, row: usize) -> Result<i64, Unavailable> {
    let numbers = column.as_primitive_opt::<Int64Type>().ok_or(Unavailable)?;
    if numbers.is_null(row) {
        return Err(Unavailable);
    }
    Ok(numbers.value(row))
}

/// A text that is there, in any of Arrow's forms.
pub(crate) fn text(column: &dyn Array, row: usize) -> Result<String, Unavailable> {
    if column.is_null(row) {
        return Err(Unavailable);
    }
    if let Some(texts) = column.as_string_opt::<i32>() {
        return Ok(texts.value(row).to_owned());
    }
    if let Some(texts) = column.as_string_opt::<i64>() {
        return Ok(texts.value(row).to_owned());
    }
    let texts = column.as_string_view_opt().ok_or(Unavailable)?;
    Ok(texts.value(row).to_owned())
}
