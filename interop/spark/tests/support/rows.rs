//! Rows of a schema as a file of Parquet.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Float64Array, Int64Array, RecordBatch, StringArray,
    TimestampMicrosecondArray,
};
use parquet::arrow::ArrowWriter;
use queryables::table::{Kind, Schema, Value};
use tables::Row;

/// Writes rows into a file.
pub fn write(path: &Path, schema: &Schema, rows: &[Row]) {
    let columns = schema.columns().iter().enumerate();
    let columns = columns.map(|(place, column)| {
        let values = rows.iter().map(|row| row[place].as_ref());
        let array = array(column.kind(), place, values);
        (column.name().to_owned(), array, true)
    });
    let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    let file = File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

fn array<'a>(
    kind: Kind,
    place: usize,
    values: impl Iterator<Item = Option<&'a Value>>,
) -> ArrayRef {
    match kind {
        Kind::Whole => Arc::new(collected::<i64, Int64Array>(values, whole)),
        Kind::Real => Arc::new(collected::<f64, Float64Array>(
            values,
            |value| match value {
                Value::Real(number) => *number,
                other => unreachable!("{other:?}"),
            },
        )),
        Kind::Text => Arc::new(collected::<&str, StringArray>(
            values,
            |value| match value {
                Value::Text(text) => text,
                other => unreachable!("{other:?}"),
            },
        )),
        Kind::Bool => Arc::new(collected::<bool, BooleanArray>(
            values,
            |value| match value {
                Value::Bool(yes) => *yes,
                other => unreachable!("{other:?}"),
            },
        )),
        Kind::Date => Arc::new(collected::<i32, Date32Array>(values, |value| match value {
            Value::Date(days) => *days,
            other => unreachable!("{other:?}"),
        })),
        Kind::Time => {
            let times = collected::<i64, TimestampMicrosecondArray>(values, whole);
            // With a zone, and without one.
            Arc::new(match place % 2 {
                0 => times.with_timezone("UTC"),
                _ => times,
            })
        }
    }
}

fn whole(value: &Value) -> i64 {
    match value {
        Value::Whole(number) | Value::Time(number) => *number,
        other => unreachable!("{other:?}"),
    }
}

fn collected<'a, T, A: FromIterator<Option<T>>>(
    values: impl Iterator<Item = Option<&'a Value>>,
    read: impl Fn(&'a Value) -> T,
) -> A {
    values.map(|value| value.map(&read)).collect()
}
