//! The file that is read.

use std::error::Error;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

/// The groups.
pub const STATES: [&str; 10] = ["AK", "AL", "AR", "AZ", "CA", "CO", "CT", "DE", "FL", "GA"];

/// How many rows are written at a time: a row group.
const ROWS: usize = 1 << 20;

/// Writes rows of `rows / 100` people. Numbers have no pattern that a processor would guess.
pub fn write(path: &Path, rows: usize) -> Result<(), Box<dyn Error>> {
    let people = (rows as u64 / 100).max(1);
    let mut state = 7_u64;
    let mut next = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(99);
        state >> 33
    };
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_max_row_group_row_count(Some(ROWS))
        .build();
    let mut writer = None;
    for start in (0..rows).step_by(ROWS) {
        let numbers: Vec<u64> = (start..rows.min(start + ROWS)).map(|_| next()).collect();
        let column = |of: &dyn Fn(u64) -> i64| numbers.iter().map(|n| of(*n)).collect::<Vec<i64>>();
        let persons = column(&|n| (n % people) as i64);
        let hours = column(&|n| ((n >> 7) % 101) as i64);
        let income = column(&|n| ((n >> 3) % 100_003) as i64);
        let income: Float64Array = income.iter().map(|income| Some(*income as f64)).collect();
        let states = numbers
            .iter()
            .map(|n| Some(STATES[(n >> 11) as usize % STATES.len()]));
        let batch = RecordBatch::try_from_iter([
            ("person", Arc::new(Int64Array::from(persons)) as ArrayRef),
            ("state", Arc::new(states.collect::<StringArray>())),
            ("hours", Arc::new(Int64Array::from(hours))),
            ("income", Arc::new(income)),
        ])?;
        let writer = match &mut writer {
            Some(writer) => writer,
            none => {
                let file = File::create(path)?;
                none.insert(ArrowWriter::try_new(
                    file,
                    batch.schema(),
                    Some(properties.clone()),
                )?)
            }
        };
        writer.write(&batch)?;
    }
    if let Some(writer) = writer {
        writer.close()?;
    }
    Ok(())
}
