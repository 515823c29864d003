//! What a table is opened from, what is refused, and what nobody gets to see.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::types::Int8Type;
use arrow_array::{
    ArrayRef, BinaryArray, DictionaryArray, Float16Array, Float32Array, Int8Array, Int32Array,
    RecordBatch, StringArray, TimestampNanosecondArray, TimestampSecondArray, UInt64Array,
};
use parquet::arrow::ArrowWriter;
use queryables::machine::PublicMetadata;
use queryables::mechanisms::query::Unavailable;
use queryables::table::{Amount, Bound, Column, Grouping, Kind, Parts, Plan, Schema, Table, Value};
use queryables_arrow::{ArrowTable, OpenError};

fn schema_of(kind: Kind) -> Schema {
    Schema::of_rows([Column::new("a", kind)]).unwrap()
}

fn batch(name: &str, array: ArrayRef) -> RecordBatch {
    RecordBatch::try_from_iter([(name, array)]).unwrap()
}

/// How many rows satisfy a condition.
fn count(table: &ArrowTable, condition: &str) -> i128 {
    let schema = table.metadata();
    let condition = schema.condition(condition).unwrap();
    let one = (Amount::one(0).unwrap(), Parts::Value);
    let plan = Plan::new(schema, Some(condition), one, vec![], Bound::Row).unwrap();
    table.tally(&plan).unwrap()[0]
}

fn of_array(kind: Kind, array: ArrayRef) -> ArrowTable {
    ArrowTable::batches(&schema_of(kind), [&batch("a", array)]).unwrap()
}

#[test]
fn a_column_that_is_not_there_is_named() {
    let batch = batch("b", Arc::new(Int32Array::from(vec![1])));
    let error = ArrowTable::batches(&schema_of(Kind::Whole), [&batch]).unwrap_err();
    let wanted = r#"the record batch has no column "a": its columns are "b""#;
    assert_eq!(error.to_string(), wanted);
    assert_eq!(format!("{error:?}"), wanted);
}

#[test]
fn a_csv_that_cannot_be_one_says_what_is_needed() {
    let error = |csv: &str| {
        let error = ArrowTable::csv_from(&schema_of(Kind::Whole), csv.as_bytes()).unwrap_err();
        error.to_string()
    };
    // Blanks and capital letters are seen.
    let wanted = r#"the CSV has no column "a": its columns are "A", " a""#;
    assert_eq!(error("A, a\n1,2\n"), wanted);
    let wanted =
        r#"the CSV has no column "a": its only column is "a;b": separate columns by commas"#;
    assert_eq!(error("a;b\n1;2\n"), wanted);
    let wanted =
        r#"the CSV has no column "a": it is empty, and needs a line with the names of its columns"#;
    assert_eq!(error(""), wanted);
    // A pattern of names that finds nothing.
    let none: [&str; 0] = [];
    let schema = schema_of(Kind::Whole);
    for opened in [
        ArrowTable::csv(&schema, none),
        ArrowTable::parquet(&schema, none),
    ] {
        assert_eq!(opened.unwrap_err(), OpenError::NoFiles);
    }
}

#[test]
fn another_type_is_named_with_what_would_do() {
    let array = Arc::new(BinaryArray::from(vec![&b"x"[..]]));
    let error = ArrowTable::batches(&schema_of(Kind::Text), [&batch("a", array)]).unwrap_err();
    let wanted = "column \"a\" of the record batch is Binary, and the schema says text, which is read \
                  from Utf8, LargeUtf8, Utf8View, or a dictionary of them";
    assert_eq!(error.to_string(), wanted);
    // Not silently widened, nor rounded.
    let array = Arc::new(Float16Array::from_iter_values([]));
    let error = ArrowTable::batches(&schema_of(Kind::Real), [&batch("a", array)]).unwrap_err();
    assert!(
        matches!(
            error,
            OpenError::WrongType {
                wanted: "Float32 or Float64",
                ..
            }
        ),
        "{error}"
    );
    let array = Arc::new(Float32Array::from(vec![1.0]));
    let error = ArrowTable::batches(&schema_of(Kind::Whole), [&batch("a", array)]).unwrap_err();
    assert!(
        matches!(
            error,
            OpenError::WrongType {
                wanted: "integers",
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn a_column_that_is_there_twice_is_refused() {
    let csv = "a,b,a\n1,2,3\n";
    let error = ArrowTable::csv_from(&schema_of(Kind::Whole), csv.as_bytes()).unwrap_err();
    assert_eq!(
        error.to_string(),
        r#"the CSV has two columns "a": rename one of them"#
    );
}

#[test]
fn a_file_is_named_in_errors() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("no.parquet");
    let error = ArrowTable::parquet(&schema_of(Kind::Whole), [&missing]).unwrap_err();
    assert!(
        matches!(&error, OpenError::Unreadable { file, .. } if *file == missing.display().to_string())
    );
    let empty = folder.path().join("empty.parquet");
    File::create(&empty).unwrap();
    let error = ArrowTable::parquet(&schema_of(Kind::Whole), [&empty]).unwrap_err();
    assert!(
        matches!(&error, OpenError::Unreadable { file, .. } if *file == empty.display().to_string())
    );
    let error = ArrowTable::csv(&schema_of(Kind::Whole), [folder.path()]).unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("cannot be read: it is a folder: name its files"),
        "{error}"
    );
}

/// Otherwise two people above 2^63 would be one, and both together would be bounded as one.
#[test]
fn unsigned_numbers_of_64_bits_do_not_name_people() {
    let schema = Schema::of_people("a", [Column::new("a", Kind::Whole)]).unwrap();
    let batch = batch("a", Arc::new(UInt64Array::from(vec![u64::MAX])));
    let error = ArrowTable::batches(&schema, [&batch]).unwrap_err();
    let wanted = "signed integers, or unsigned ones of at most 32 bits, where it names a person";
    assert!(matches!(error, OpenError::WrongType { wanted: found, .. } if found == wanted));
}

#[test]
fn unsigned_numbers_above_the_last_become_the_last() {
    let array = UInt64Array::from(vec![u64::MAX, 1 << 63, (1 << 63) - 1, 7]);
    let table = of_array(Kind::Whole, Arc::new(array));
    assert_eq!(count(&table, "a = 9223372036854775807"), 3);
    assert_eq!(count(&table, "a < 0"), 0);
}

#[test]
fn moments_are_rounded_down_to_microseconds() {
    let nanoseconds = TimestampNanosecondArray::from(vec![-1, 999, 1000]);
    let table = of_array(Kind::Time, Arc::new(nanoseconds));
    assert_eq!(count(&table, "a < '1970-01-01 00:00:00'"), 1);
    assert_eq!(count(&table, "a = '1970-01-01 00:00:00'"), 1);
    // Too far for microseconds: the last one, and not a wrapped one.
    let seconds = TimestampSecondArray::from(vec![i64::MAX, i64::MIN, 60]);
    let table = of_array(Kind::Time, Arc::new(seconds));
    assert_eq!(count(&table, "a > '9999-12-31 23:59:59'"), 1);
    assert_eq!(count(&table, "a < '0001-01-01 00:00:00'"), 1);
    assert_eq!(count(&table, "a = '1970-01-01 00:01:00'"), 1);
}

#[test]
fn a_code_of_a_dictionary_may_stand_for_a_missing_text() {
    let texts: ArrayRef = Arc::new(StringArray::from(vec![Some("x"), None]));
    let codes = Int8Array::from(vec![Some(0), Some(1), None]);
    let array = DictionaryArray::<Int8Type>::try_new(codes, texts).unwrap();
    let table = of_array(Kind::Text, Arc::new(array));
    assert_eq!(count(&table, "a is null"), 2);
    assert_eq!(count(&table, "a = 'x'"), 1);
    let none: ArrayRef = Arc::new(StringArray::from(Vec::<&str>::new()));
    let array =
        DictionaryArray::<Int8Type>::try_new(Int8Array::from(vec![None, None]), none).unwrap();
    let table = of_array(Kind::Text, Arc::new(array));
    assert_eq!(count(&table, "a is null"), 2);
}

#[test]
fn what_does_not_parse_in_a_csv_is_missing() {
    let columns = [
        Column::new("n", Kind::Whole),
        Column::new("x", Kind::Real),
        Column::new("word", Kind::Text),
        Column::new("yes", Kind::Bool),
        Column::new("day", Kind::Date),
        Column::new("at", Kind::Time),
    ];
    let schema = Schema::of_rows(columns).unwrap();
    let csv = "\u{feff}n,word,x,yes,day,at\n\
               7, a ,1e3,Yes,2024-02-29,2024-02-29 12:00:00.5\n\
               -7,\"a,\"\"b\",inf,0,1969-12-31,2024-02-29T12:00:00+01:00\n\
               9223372036854775808,,1e999x,maybe,2023-02-29,2024-02-29 25:00:00\n\
               1.5,x,nan,,29.02.2024,noon\n\
               3\n";
    let table = ArrowTable::csv_from(&schema, csv.as_bytes()).unwrap();
    for (condition, rows) in [
        ("n = 7", 1),
        ("n is null", 2),
        ("x = 1000", 1),
        ("x is null", 3),
        ("word = ' a '", 1),
        ("word = 'a,\"b'", 1),
        ("word is null", 2),
        ("yes", 1),
        ("not yes", 1),
        ("yes is null", 3),
        ("day = '2024-02-29'", 1),
        ("day < '1970-01-01'", 1),
        ("day is null", 3),
        (
            "at > '2024-02-29 12:00:00' and at < '2024-02-29 12:00:01'",
            1,
        ),
        ("at = '2024-02-29 11:00:00'", 1),
        ("at is null", 3),
    ] {
        assert_eq!(count(&table, condition), rows, "{condition}");
    }
    // A text that is not UTF-8 is missing, and nothing fails.
    let schema = schema_of(Kind::Text);
    let table = ArrowTable::csv_from(&schema, &b"a\n\xff\xfe\nb\n"[..]).unwrap();
    assert_eq!(count(&table, "a is null"), 1);
    assert_eq!(count(&table, "a = 'b'"), 1);
}

fn parquet_file(folder: &tempfile::TempDir, name: &str, rows: i32) -> PathBuf {
    let path = folder.path().join(name);
    let batch = batch("a", Arc::new(Int32Array::from_iter_values(0..rows)));
    let mut writer =
        ArrowWriter::try_new(File::create(&path).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    path
}

#[test]
fn a_file_that_changed_is_unavailable() {
    let folder = tempfile::tempdir().unwrap();
    let path = parquet_file(&folder, "a.parquet", 10);
    let schema = schema_of(Kind::Whole);
    let kept = ArrowTable::parquet(&schema, [&path]).unwrap();
    let streamed = ArrowTable::parquet(&schema, [&path])
        .unwrap()
        .with_memory_bound(0);
    assert_eq!(count(&kept, "a >= 0"), 10);
    assert_eq!(count(&streamed, "a >= 0"), 10);
    parquet_file(&folder, "a.parquet", 1000);
    let condition = schema.condition("a >= 0").unwrap();
    let one = (Amount::one(0).unwrap(), Parts::Value);
    let plan = Plan::new(&schema, Some(condition), one, vec![], Bound::Row).unwrap();
    assert_eq!(streamed.tally(&plan), Err(Unavailable));
    // What is in memory is what it was.
    assert_eq!(kept.tally(&plan), Ok(vec![10]));
    // As long as before, and written later.
    let streamed = ArrowTable::parquet(&schema, [&path])
        .unwrap()
        .with_memory_bound(0);
    assert_eq!(streamed.tally(&plan), Ok(vec![1000]));
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(60);
    let file = File::options().write(true).open(&path).unwrap();
    file.set_modified(later).unwrap();
    assert_eq!(streamed.tally(&plan), Err(Unavailable));
}

#[test]
fn rows_are_counted_without_a_column() {
    let folder = tempfile::tempdir().unwrap();
    let files = [
        parquet_file(&folder, "a.parquet", 10),
        parquet_file(&folder, "b.parquet", 7),
    ];
    let schema = schema_of(Kind::Whole);
    let one = (Amount::one(0).unwrap(), Parts::Value);
    let plan = Plan::new(&schema, None, one, vec![], Bound::Row).unwrap();
    let table = ArrowTable::parquet(&schema, &files).unwrap();
    assert_eq!(table.tally(&plan), Ok(vec![17]));
    let table = ArrowTable::csv_from(&schema, "a\n1\nx\n\"\"\n".as_bytes()).unwrap();
    assert_eq!(table.tally(&plan), Ok(vec![3]));
}

#[test]
fn a_plan_of_another_schema_is_unavailable() {
    let table = of_array(Kind::Whole, Arc::new(Int32Array::from(vec![1])));
    let other = Schema::of_rows([Column::whole("a", 0..=5)]).unwrap();
    let one = (Amount::one(0).unwrap(), Parts::Value);
    let groups = vec![Grouping::keys(&other, "a", [1]).unwrap()];
    let plan = Plan::new(&other, None, one, groups, Bound::Row).unwrap();
    assert_eq!(table.tally(&plan), Err(Unavailable));
    let condition = other.condition("a = 1").unwrap();
    assert_eq!(table.tally_keys(Some(&condition), "a"), Err(Unavailable));
    assert_eq!(table.tally_keys(None, "b"), Err(Unavailable));
    assert_eq!(table.tally_keys(None, "a"), Ok(vec![(Value::Whole(1), 1)]));
}

#[test]
fn nothing_of_the_data_is_printed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("secret.csv");
    writeln!(File::create(&path).unwrap(), "a\n424242\n").unwrap();
    let schema = schema_of(Kind::Whole);
    let table = ArrowTable::csv(&schema, [&path]).unwrap();
    count(&table, "a > 1");
    let printed = format!("{table:?}");
    assert_eq!(printed, format!("ArrowTable {{ schema: {schema:?}, .. }}"));
    assert!(!printed.contains("secret") && !printed.contains("424242"));
}

/// The curator is told what the table takes for missing: the same cells.
#[test]
fn a_check_counts_the_cells_that_cannot_be_read() {
    let kinds = [
        ("n", Kind::Whole),
        ("word", Kind::Text),
        ("x", Kind::Real),
        ("yes", Kind::Bool),
        ("day", Kind::Date),
        ("at", Kind::Time),
    ];
    let schema = Schema::of_rows(kinds.map(|(name, kind)| Column::new(name, kind))).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let good = folder.path().join("good.csv");
    std::fs::write(
        &good,
        "n,word,x,yes,day,at\n 7 ,a,1e3,NO,2024-02-29,2024-02-29 12:00:00\n,,,,,\n  , ,NaN,\n",
    )
    .unwrap();
    let bad = folder.path().join("bad.csv");
    std::fs::write(
        &bad,
        b"day,at,n,word,x,yes\n2024-02-30,noon,7.5,\xff,one,perhaps\n\
          2024-02-29,,99999999999999999999,b,2,1\n",
    )
    .unwrap();
    let name = bad.display().to_string();
    let found = queryables_arrow::check_csv(&schema, [&good, &bad]).unwrap();
    let found: Vec<_> = found
        .iter()
        .map(|unread| {
            assert_eq!(unread.file, name);
            (
                &*unread.column,
                unread.kind,
                unread.cells,
                unread.first_line,
            )
        })
        .collect();
    let expected = kinds.map(|(name, kind)| (name, kind, if name == "n" { 2 } else { 1 }, 2));
    assert_eq!(found, expected);
    // As many are missing in the table.
    let table = ArrowTable::csv(&schema, [&bad]).unwrap();
    for (name, _, cells, _) in expected {
        let empty = u64::from(name == "at");
        let missing = count(&table, &format!("{name} is null"));
        assert_eq!(missing, i128::from(cells + empty));
    }
}
