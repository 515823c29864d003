//! Rows as Arrow arrays, as CSV and as Parquet.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::{StringDictionaryBuilder, StringViewBuilder};
use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Date32Array, DictionaryArray, Float32Array, Float64Array,
    Int8Array, Int16Array, Int32Array, Int64Array, LargeStringArray, RecordBatch, StringArray,
    TimestampMicrosecondArray, TimestampMillisecondArray, TimestampNanosecondArray,
    TimestampSecondArray, UInt8Array, UInt32Array, UInt64Array, make_array,
};
use arrow_buffer::NullBuffer;
use arrow_schema::{Field, Schema as ArrowSchema};
use chrono::{DateTime, NaiveDate, TimeDelta};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use queryables::table::{Kind, Schema, Value};
use tables::{Draw, Row};

/// The rows as batches, cut anywhere. Each column has one of the types that its kind is read from, and a
/// column that no question names is there, too.
pub fn batches(draw: &mut Draw, schema: &Schema, rows: &[Row]) -> Vec<RecordBatch> {
    // A row more at the beginning, which is cut off: then arrays do not begin where their buffers do.
    let extra = draw.row(schema);
    let all: Vec<&Row> = std::iter::once(&extra).chain(rows).collect();
    let mut fields = vec![Field::new("unread", arrow_schema::DataType::Int32, true)];
    let mut columns: Vec<ArrayRef> = vec![Arc::new(Int32Array::from(vec![None; all.len()]))];
    for (place, column) in schema.columns().iter().enumerate() {
        let is_person = schema.person_column() == Some(place);
        let values: Vec<Option<Value>> = all.iter().map(|row| row[place].clone()).collect();
        // What stands where a value is missing may be anything.
        let any = values.iter().flatten().last().filter(|_| draw.one_in(2));
        let filled = values.iter().map(|value| value.as_ref().or(any).cloned());
        let mut array = array(draw, column.kind(), is_person, filled.collect());
        if any.is_some() {
            let nulls: NullBuffer = values.iter().map(Option::is_some).collect();
            let missing = array.to_data().into_builder().nulls(Some(nulls));
            array = make_array(missing.build().unwrap());
        }
        fields.push(Field::new(column.name(), array.data_type().clone(), true));
        columns.push(array);
    }
    let whole = RecordBatch::try_new(Arc::new(ArrowSchema::new(fields)), columns).unwrap();
    let mut batches = Vec::new();
    let mut start = 1;
    while start <= rows.len() {
        if draw.one_in(8) {
            batches.push(whole.slice(start, 0));
        }
        let length = 1 + draw.below(rows.len() - start + 1);
        batches.push(whole.slice(start, length));
        start += length;
    }
    batches
}

/// A column of one of the types that its kind is read from, such that nothing is lost.
fn array(draw: &mut Draw, kind: Kind, is_person: bool, values: Vec<Option<Value>>) -> ArrayRef {
    match kind {
        Kind::Whole => whole_array(draw, is_person, &wholes(values)),
        Kind::Real => {
            let reals: Vec<Option<f64>> =
                values.into_iter().map(|value| Some(real(value?))).collect();
            let is_exact = |x: &f64| x.is_nan() || f64::from(*x as f32) == *x;
            if reals.iter().flatten().all(is_exact) && draw.one_in(2) {
                let narrow = reals.iter().map(|real| real.map(|real| real as f32));
                return Arc::new(narrow.collect::<Float32Array>());
            }
            Arc::new(Float64Array::from(reals))
        }
        Kind::Text => {
            let texts: Vec<Option<String>> =
                values.into_iter().map(|value| Some(text(value?))).collect();
            text_array(draw, &texts)
        }
        Kind::Bool => {
            let values = values
                .into_iter()
                .map(|value| value.map(|value| value == true.into()));
            Arc::new(values.collect::<BooleanArray>())
        }
        Kind::Date => {
            let days = wholes(values)
                .into_iter()
                .map(|days| days.map(|days| days as i32));
            Arc::new(days.collect::<Date32Array>())
        }
        Kind::Time => time_array(draw, &wholes(values)),
    }
}

fn whole_array(draw: &mut Draw, is_person: bool, values: &[Option<i64>]) -> ArrayRef {
    macro_rules! narrow {
        ($Array:ty, $number:ty) => {{
            let narrow: Result<Vec<Option<$number>>, _> = values
                .iter()
                .map(|value| value.map(<$number>::try_from).transpose())
                .collect();
            narrow
                .ok()
                .map(|values| Arc::new(<$Array>::from(values)) as ArrayRef)
        }};
    }
    let narrow = match draw.below(7) {
        0 => narrow!(Int8Array, i8),
        1 => narrow!(Int16Array, i16),
        2 => narrow!(Int32Array, i32),
        3 => narrow!(UInt8Array, u8),
        4 => narrow!(UInt32Array, u32),
        5 if !is_person => narrow!(UInt64Array, u64),
        _ => None,
    };
    narrow.unwrap_or_else(|| Arc::new(Int64Array::from(values.to_vec())))
}

fn text_array(draw: &mut Draw, texts: &[Option<String>]) -> ArrayRef {
    let texts = texts.iter().map(Option::as_deref);
    match draw.below(6) {
        0 => Arc::new(texts.collect::<LargeStringArray>()),
        1 => {
            let mut builder = StringViewBuilder::new();
            texts.for_each(|text| builder.append_option(text));
            Arc::new(builder.finish())
        }
        2 => {
            let mut builder = StringDictionaryBuilder::<Int8Type>::new();
            texts.for_each(|text| builder.append_option(text));
            Arc::new(builder.finish())
        }
        3 => {
            let mut builder = StringDictionaryBuilder::<Int32Type>::new();
            texts.for_each(|text| builder.append_option(text));
            Arc::new(builder.finish())
        }
        4 => loose_dictionary(draw, &texts.collect::<Vec<_>>()),
        _ => Arc::new(texts.collect::<StringArray>()),
    }
}

/// A dictionary as other programs write it: its texts stand in any order, some of them twice, one in no row, and
/// one is missing.
fn loose_dictionary(draw: &mut Draw, texts: &[Option<&str>]) -> ArrayRef {
    let mut values = vec![None, Some("in no row")];
    for text in texts.iter().filter(|text| text.is_some()) {
        let times = values.iter().filter(|value| *value == text).count();
        if times == 0 || (times == 1 && draw.one_in(2)) {
            values.insert(draw.below(values.len() + 1), *text);
        }
    }
    let codes = texts.iter().map(|text| {
        let mut codes = (0..values.len()).filter(|code| values[*code] == *text);
        let (first, second) = (codes.next(), codes.next());
        // A row is missing if it has no code, and if its code stands for a missing text.
        let other = if text.is_none() {
            None
        } else {
            second.or(first)
        };
        let code = if draw.one_in(2) { first } else { other };
        code.map(|code| u8::try_from(code).unwrap())
    });
    let codes: UInt8Array = codes.collect();
    let texts: ArrayRef = Arc::new(values.into_iter().collect::<LargeStringArray>());
    Arc::new(DictionaryArray::new(codes, texts))
}

fn time_array(draw: &mut Draw, times: &[Option<i64>]) -> ArrayRef {
    let divides = |unit: i64| times.iter().flatten().all(|time| time % unit == 0);
    let of = |unit: i64| times.iter().map(move |time| time.map(|time| time / unit));
    match draw.below(4) {
        0 if divides(1_000_000) => Arc::new(of(1_000_000).collect::<TimestampSecondArray>()),
        1 if divides(1000) => Arc::new(of(1000).collect::<TimestampMillisecondArray>()),
        2 if times
            .iter()
            .flatten()
            .all(|time| time.checked_mul(1000).is_some()) =>
        {
            // Rounded down to what it is.
            let times = times.iter().map(|time| time.map(|time| time * 1000 + 999));
            Arc::new(times.collect::<TimestampNanosecondArray>())
        }
        _ => Arc::new(TimestampMicrosecondArray::from(times.to_vec()).with_timezone("UTC")),
    }
}

fn wholes(values: Vec<Option<Value>>) -> Vec<Option<i64>> {
    let values = values.into_iter().map(|value| match value? {
        Value::Whole(number) | Value::Time(number) => Some(number),
        Value::Date(days) => Some(days.into()),
        other => panic!("{other:?} is not whole"),
    });
    values.collect()
}

fn real(value: Value) -> f64 {
    match value {
        Value::Real(number) => number,
        other => panic!("{other:?} is not real"),
    }
}

fn text(value: Value) -> String {
    match value {
        Value::Text(text) => text,
        other => panic!("{other:?} is not a text"),
    }
}

/// Writes batches to a Parquet file, in row groups of any size.
pub fn write_parquet(draw: &mut Draw, file: &Path, batches: &[RecordBatch]) {
    let compression = match draw.below(3) {
        0 => Compression::UNCOMPRESSED,
        1 => Compression::SNAPPY,
        _ => Compression::ZSTD(ZstdLevel::default()),
    };
    let properties = WriterProperties::builder()
        .set_compression(compression)
        .set_max_row_group_row_count(Some(1 + draw.below(30)))
        .build();
    let schema = batches[0].schema();
    let mut writer =
        ArrowWriter::try_new(File::create(file).unwrap(), schema, Some(properties)).unwrap();
    batches
        .iter()
        .for_each(|batch| writer.write(batch).unwrap());
    writer.close().unwrap();
}

/// The rows as CSV, and the rows that can be read from it: an empty text is missing there, and so is a date
/// beyond the years of four digits.
pub fn csv(schema: &Schema, rows: &[Row]) -> (Vec<u8>, Vec<Row>) {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let names = schema.columns().iter().map(queryables::table::Column::name);
    writer.write_record(names.chain(["unread"])).unwrap();
    let mut read = Vec::new();
    for row in rows {
        let cells: Vec<Option<String>> = row.iter().map(|value| cell(value.as_ref()?)).collect();
        let values = row.iter().zip(&cells);
        let values = values.map(|(value, cell)| value.clone().filter(|_| cell.is_some()));
        read.push(values.collect());
        let cells = cells.iter().map(|cell| cell.as_deref().unwrap_or_default());
        writer.write_record(cells.chain(["x"])).unwrap();
    }
    (writer.into_inner().unwrap(), read)
}

fn cell(value: &Value) -> Option<String> {
    Some(match value {
        Value::Whole(number) => number.to_string(),
        Value::Real(number) => format!("{number:?}"),
        Value::Text(text) if text.is_empty() => return None,
        Value::Text(text) => text.clone(),
        Value::Bool(yes) => yes.to_string(),
        Value::Date(days) => {
            let days = TimeDelta::try_days((*days).into())?;
            let date = NaiveDate::default().checked_add_signed(days)?.to_string();
            return Some(date).filter(|date| date.len() == 10);
        }
        Value::Time(time) => {
            let moment = DateTime::from_timestamp_micros(*time)?
                .naive_utc()
                .to_string();
            return Some(moment).filter(|moment| moment.starts_with(['1', '2']));
        }
    })
}
