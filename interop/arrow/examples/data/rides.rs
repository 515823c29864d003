//! A Parquet file of five million rides, for the example.

use std::error::Error;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, DictionaryArray, Float32Array, Int8Array, RecordBatch, StringArray, UInt32Array,
};
use parquet::arrow::ArrowWriter;

const ROWS: u64 = 5_000_000;
/// Where a ride begins.
pub const ZONES: [&str; 6] = ["airport", "center", "east", "north", "south", "west"];

/// The file that was named, or one that is made now.
pub fn file(named: Option<String>) -> Result<PathBuf, Box<dyn Error>> {
    if let Some(named) = named {
        return Ok(named.into());
    }
    let path = std::env::temp_dir().join("rides.parquet");
    let mut writer: Option<ArrowWriter<File>> = None;
    for start in (0..ROWS).step_by(1 << 20) {
        // Multiplied, so that it looks as if it had no pattern.
        let numbers: Vec<u64> = (start..ROWS.min(start + (1 << 20)))
            .map(|row| row.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20)
            .collect();
        let riders: UInt32Array = numbers.iter().map(|n| Some((n % 400_009) as u32)).collect();
        let zones: Int8Array = numbers.iter().map(|n| Some((n % 6) as i8)).collect();
        let zones =
            DictionaryArray::try_new(zones, Arc::new(StringArray::from_iter_values(ZONES)))?;
        let fares: Float32Array = numbers
            .iter()
            .map(|n| Some(3.0 + (n % 47) as f32 / 2.0))
            .collect();
        let batch = RecordBatch::try_from_iter([
            ("rider", Arc::new(riders) as ArrayRef),
            ("zone", Arc::new(zones)),
            ("fare", Arc::new(fares)),
        ])?;
        if writer.is_none() {
            writer = Some(ArrowWriter::try_new(
                File::create(&path)?,
                batch.schema(),
                None,
            )?);
        }
        if let Some(writer) = &mut writer {
            writer.write(&batch)?;
        }
    }
    if let Some(writer) = writer {
        writer.close()?;
    }
    Ok(path)
}
