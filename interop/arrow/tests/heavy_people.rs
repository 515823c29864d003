//! One person with very many rows, however they are laid out, moves a total by no more than the bound.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::types::Int8Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Float64Array, Int64Array, LargeStringArray, RecordBatch,
    StringArray, StringViewArray,
};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;
use queryables::table::{
    Amount, Bound, Column, Grouping, Kind, Parts, Plan, RowTable, Schema, Table, Value,
};
use queryables_arrow::ArrowTable;

/// Every layout of texts.
fn layouts(texts: &[Option<&str>]) -> [ArrayRef; 5] {
    let plain = StringArray::from(texts.to_vec());
    // A code that stands for a missing text is missing, and one that stands twice is one text.
    let values = StringArray::from(vec![
        Some("heavy"),
        None,
        Some("light"),
        Some("heavy"),
        Some("é"),
    ]);
    let codes = texts.iter().enumerate().map(|(row, text)| match text {
        Some("heavy") => Some(if row % 2 == 0 { 0 } else { 3 }),
        Some("light") => Some(2),
        Some(_) => Some(4),
        None => (row % 2 == 0).then_some(1),
    });
    let codes: arrow_array::Int8Array = codes.collect();
    [
        Arc::new(plain.clone()),
        Arc::new(LargeStringArray::from(texts.to_vec())),
        Arc::new(StringViewArray::from(texts.to_vec())),
        Arc::new(DictionaryArray::<Int8Type>::try_new(codes, Arc::new(values)).unwrap()),
        // The second half of a longer one.
        {
            let twice: StringArray = plain.iter().chain(plain.iter()).collect();
            Arc::new(twice.slice(texts.len(), texts.len()))
        },
    ]
}

const PERSONS: [Option<&str>; 8] = [
    Some("heavy"),
    None,
    Some("heavy"),
    Some("light"),
    Some("heavy"),
    Some("é"),
    None,
    Some("heavy"),
];

/// Some at the ends of the buckets, where zero has two signs.
const NUMBERS: [f64; 8] = [-0.0, 5.0, 0.0, 1.0, f64::NAN, -0.0, 7.0, 1e300];

fn schema() -> Schema {
    let columns = [
        Column::new("person", Kind::Text),
        Column::new("number", Kind::Real),
    ];
    Schema::of_people("person", columns).unwrap()
}

fn plans(schema: &Schema) -> Vec<Plan> {
    let buckets = Grouping::buckets(schema, "number", [-1.0, 0.0, 1.0, 2.0]).unwrap();
    // More than fit into one entry of a person.
    let edges = (-400..=400).map(f64::from);
    let many = Grouping::buckets(schema, "number", edges).unwrap();
    let number = || Amount::of(schema.number("number").unwrap(), 0, -3, 3).unwrap();
    let one = || Amount::one(0).unwrap();
    let mut plans = Vec::new();
    for groupings in [vec![], vec![buckets], vec![many]] {
        for bound in [Bound::Each(2), Bound::L1(2), Bound::L2(2)] {
            for amount in [one(), number()] {
                plans.extend(Plan::new(
                    schema,
                    None,
                    (amount, Parts::Value),
                    groupings.clone(),
                    bound,
                ));
            }
        }
        plans.extend(Plan::new(
            schema,
            None,
            (one(), Parts::Value),
            groupings.clone(),
            Bound::First,
        ));
        for parts in [Parts::Mean, Parts::Variance] {
            plans.extend(Plan::new(
                schema,
                None,
                (number(), parts),
                groupings.clone(),
                Bound::Rows(2),
            ));
        }
    }
    assert_eq!(plans.len(), 27);
    plans
}

/// Many batches, each in another layout.
fn batches(persons: &[Option<&str>], numbers: &[f64]) -> Vec<RecordBatch> {
    let layouts = layouts(persons);
    let batches = (0..200).map(|number| {
        let persons = Arc::clone(&layouts[number % layouts.len()]);
        let numbers: ArrayRef = Arc::new(Float64Array::from(numbers.to_vec()));
        RecordBatch::try_from_iter([("person", persons), ("number", numbers)]).unwrap()
    });
    batches.collect()
}

fn reference(schema: &Schema, persons: &[Option<&str>], numbers: &[f64]) -> RowTable {
    let row = |(person, number): (&Option<&str>, &f64)| {
        vec![person.map(Value::from), Some(Value::from(*number))]
    };
    let rows = (0..200).flat_map(|_| persons.iter().zip(numbers).map(row));
    RowTable::new(schema, rows.collect()).unwrap()
}

/// A file for each layout, with several row groups.
fn files(folder: &Path, batches: &[RecordBatch]) -> Vec<std::path::PathBuf> {
    let write = |number: usize| {
        let path = folder.join(format!("{number}.parquet"));
        let of_layout: Vec<&RecordBatch> = batches.iter().skip(number).step_by(5).collect();
        let properties = WriterProperties::builder().set_max_row_group_row_count(Some(50));
        let file = File::create(&path).unwrap();
        let schema = of_layout[0].schema();
        let mut writer = ArrowWriter::try_new(file, schema, Some(properties.build())).unwrap();
        of_layout
            .iter()
            .for_each(|batch| writer.write(batch).unwrap());
        writer.close().unwrap();
        path
    };
    (0..5).map(write).collect()
}

fn cramped(table: ArrowTable, number: usize) -> ArrowTable {
    table
        .with_memory_bound([100, 2000, 1 << 18, 1 << 30][number % 4])
        .with_threads(1 + number % 3)
        .with_batch_rows([1, 7, 64, 8192][number / 3 % 4])
}

#[test]
fn a_person_is_one_in_every_layout() {
    let schema = schema();
    let all = batches(&PERSONS, &NUMBERS);
    let wanted = reference(&schema, &PERSONS, &NUMBERS);
    let folder = tempfile::tempdir().unwrap();
    let files = files(folder.path(), &all);
    for (number, plan) in plans(&schema).iter().enumerate() {
        let expected = wanted.tally(plan).unwrap();
        for table in [
            ArrowTable::batches(&schema, &all).unwrap(),
            ArrowTable::parquet(&schema, &files).unwrap(),
        ] {
            let table = cramped(table, number);
            assert_eq!(table.tally(plan).unwrap(), expected, "{plan:?}");
        }
    }
    // Four rows of eight, in 200 batches, and one number of each batch that is missing.
    let keys = ArrowTable::batches(&schema, &all)
        .unwrap()
        .tally_keys(None, "person");
    let one = |key: &str| (Value::from(key), 1);
    assert_eq!(keys.unwrap(), [one("heavy"), one("light"), one("é")]);
}

#[test]
fn eight_hundred_rows_move_a_total_by_the_bound() {
    let schema = schema();
    let without: Vec<(Option<&str>, f64)> = PERSONS
        .into_iter()
        .zip(NUMBERS)
        .filter(|(person, _)| *person != Some("heavy"))
        .collect();
    let (persons, numbers): (Vec<_>, Vec<_>) = without.into_iter().unzip();
    let [with, without] = [batches(&PERSONS, &NUMBERS), batches(&persons, &numbers)]
        .map(|batches| ArrowTable::batches(&schema, &batches).unwrap());
    let (with, without) = (cramped(with, 5), cramped(without, 6));
    let one = || (Amount::one(0).unwrap(), Parts::Value);
    let buckets = Grouping::buckets(&schema, "number", [-1.0, 0.5, 2.0, 1e301]).unwrap();
    let moved = |groupings: Vec<Grouping>, bound| {
        let plan = Plan::new(&schema, None, one(), groupings, bound).unwrap();
        let (with, without) = (with.tally(&plan).unwrap(), without.tally(&plan).unwrap());
        let moved = with
            .iter()
            .zip(&without)
            .map(|(with, without)| with - without);
        moved.collect::<Vec<_>>()
    };
    assert_eq!(moved(vec![], Bound::Each(2)), [2]);
    assert_eq!(moved(vec![], Bound::L1(300)), [300]);
    // 400 rows at zero, clamped to 300, and 200 at 1e300, scaled; those without a number are in no bucket.
    assert_eq!(moved(vec![buckets.clone()], Bound::L1(300)), [180, 0, 120]);
    assert_eq!(moved(vec![buckets.clone()], Bound::First), [1, 0, 0]);
    assert_eq!(moved(vec![buckets], Bound::Each(300)), [300, 0, 200]);
}

/// The ends of 64 bits are people like any others.
#[test]
fn the_least_and_the_largest_number_are_two_people() {
    let columns = [
        Column::new("person", Kind::Whole),
        Column::new("n", Kind::Whole),
    ];
    let schema = Schema::of_people("person", columns).unwrap();
    let persons = [
        Some(i64::MIN),
        Some(i64::MAX),
        None,
        Some(0),
        Some(-1),
        Some(i64::MIN),
    ];
    let n = [i64::MIN, i64::MAX, 7, i64::MIN, i64::MAX, i64::MIN];
    let batch = RecordBatch::try_from_iter([
        (
            "person",
            Arc::new(Int64Array::from(persons.to_vec())) as ArrayRef,
        ),
        ("n", Arc::new(Int64Array::from(n.to_vec()))),
    ])
    .unwrap();
    let rows = persons.iter().zip(n);
    let rows = rows.map(|(person, n)| vec![person.map(Value::from), Some(n.into())]);
    let rows: Vec<_> = rows.collect();
    let reference = RowTable::new(&schema, [&rows[..], &rows].concat()).unwrap();
    let table = ArrowTable::batches(&schema, [&batch, &batch]).unwrap();
    let number = |text: &str| Amount::of(schema.number(text).unwrap(), 0, -60, 60).unwrap();
    let ones = Amount::one(0).unwrap();
    // Two of four people are a hundred below, or above.
    for (amount, expected) in [
        (ones, 10),
        (number("n"), 0),
        (number("n + n"), 0),
        (number("n * n"), 400),
        (number("0 - n"), 0),
    ] {
        let plan = Plan::new(
            &schema,
            None,
            (amount, Parts::Value),
            vec![],
            Bound::Each(100),
        );
        let plan = plan.unwrap();
        assert_eq!(table.tally(&plan).unwrap(), reference.tally(&plan).unwrap());
        assert_eq!(table.tally(&plan).unwrap(), [expected], "{plan:?}");
    }
}

/// Too many for one entry: a person has an entry for each group, and those do not become one. There are so
/// many, and they come in this order, that hashes of two of them look the same where a table searches.
#[test]
fn a_person_with_rows_in_many_groups_has_each_of_them() {
    const GROUPS: i64 = 57_000;
    let columns = [
        Column::new("person", Kind::Whole),
        Column::new("group", Kind::Whole),
    ];
    let schema = Schema::of_people("person", columns).unwrap();
    let persons = Int64Array::from(vec![7; GROUPS as usize]);
    let groups: Int64Array = (0..GROUPS).rev().map(Some).collect();
    let batch = RecordBatch::try_from_iter([
        ("person", Arc::new(persons) as ArrayRef),
        ("group", Arc::new(groups)),
    ]);
    let table = ArrowTable::batches(&schema, [&batch.unwrap()]).unwrap();
    let groups = Grouping::keys(&schema, "group", 0..GROUPS).unwrap();
    let tally = |bound| {
        let one = (Amount::one(0).unwrap(), Parts::Value);
        let plan = Plan::new(&schema, None, one, vec![groups.clone()], bound).unwrap();
        table.tally(&plan).unwrap()
    };
    let mut each = vec![1; GROUPS as usize];
    assert_eq!(tally(Bound::Each(5)), each);
    each[1..].fill(0);
    assert_eq!(tally(Bound::First), each);
}
