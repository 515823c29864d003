//! Random plans on random tables, compared with the reference to the last digit.

mod support;

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use queryables::table::{
    Amount, Bound, Column, Grouping, Kind, Parts, Plan, RowTable, Schema, Table,
};
use queryables_arrow::ArrowTable;
use support::{batches, csv, write_parquet};
use tables::{Draw, Row, change_is_bounded, people};

/// Tables, and plans on each: 10^4 plans in all.
const TABLES: u64 = 500;
const PLANS: usize = 20;

/// With threads, batches and a memory bound that make several passes likely.
fn cramped(draw: &mut Draw, table: ArrowTable) -> ArrowTable {
    let bound = *draw.one_of(&[100, 2000, 1 << 20, 1 << 20]);
    table
        .with_threads(1 + draw.below(3))
        .with_batch_rows(*draw.one_of(&[1, 3, 64, 1000]))
        .with_memory_bound(bound)
}

/// Asks both tables the same questions.
fn compare(
    seed: u64,
    draw: &mut Draw,
    schema: &Schema,
    ours: &ArrowTable,
    rows: &[Row],
    plans: usize,
) {
    let reference = RowTable::new(schema, rows.to_vec()).unwrap();
    for _ in 0..plans {
        let plan = draw.plan(schema);
        let (wanted, found) = (reference.tally(&plan).unwrap(), ours.tally(&plan).unwrap());
        assert_eq!(found, wanted, "seed {seed}: {plan:#?} on {rows:#?}");
    }
    let has_keys = |kind| matches!(kind, Kind::Whole | Kind::Text);
    for column in schema
        .columns()
        .iter()
        .filter(|column| has_keys(column.kind()))
    {
        let condition = draw.one_in(2).then(|| draw.condition(schema));
        let wanted = reference
            .tally_keys(condition.as_ref(), column.name())
            .unwrap();
        let found = ours.tally_keys(condition.as_ref(), column.name()).unwrap();
        assert_eq!(
            found, wanted,
            "seed {seed}: {condition:?} by {column:?} on {rows:#?}"
        );
    }
}

#[test]
fn ten_thousand_plans_over_batches_equal_the_reference() {
    for seed in 0..TABLES {
        let mut draw = Draw::new(seed);
        let schema = draw.schema();
        let rows = draw.rows(&schema);
        let batches = batches(&mut draw, &schema, &rows);
        let table = ArrowTable::batches(&schema, &batches).unwrap();
        let table = cramped(&mut draw, table);
        compare(seed, &mut draw, &schema, &table, &rows, PLANS);
    }
}

#[test]
fn plans_over_csv_equal_the_reference() {
    let folder = tempfile::tempdir().unwrap();
    for seed in 10_000..10_000 + TABLES / 2 {
        let mut draw = Draw::new(seed);
        let schema = draw.schema();
        let rows = draw.rows(&schema);
        let (bytes, read) = csv(&schema, &rows);
        let table = if draw.one_in(2) {
            ArrowTable::csv_from(&schema, &bytes[..]).unwrap()
        } else {
            let file = folder.path().join("table.csv");
            std::fs::write(&file, &bytes).unwrap();
            ArrowTable::csv(&schema, [&file]).unwrap()
        };
        let table = cramped(&mut draw, table);
        compare(seed, &mut draw, &schema, &table, &read, PLANS / 4);
    }
}

#[test]
fn plans_over_parquet_equal_the_reference() {
    let folder = tempfile::tempdir().unwrap();
    for seed in 20_000..20_000 + TABLES / 2 {
        let mut draw = Draw::new(seed);
        let schema = draw.schema();
        let mut rows = Vec::new();
        let mut files = Vec::new();
        for number in 0..1 + draw.below(3) {
            let more = draw.rows(&schema);
            let batches = batches(&mut draw, &schema, &more);
            // A file needs a batch, which says what its columns are.
            if !batches.is_empty() {
                let file = folder.path().join(format!("{number}.parquet"));
                write_parquet(&mut draw, &file, &batches);
                files.push(file);
                rows.extend(more);
            }
        }
        if files.is_empty() {
            continue;
        }
        let table = ArrowTable::parquet(&schema, &files).unwrap();
        let table = cramped(&mut draw, table);
        compare(seed, &mut draw, &schema, &table, &rows, PLANS / 4);
    }
}

#[test]
fn plans_over_a_stream_equal_the_reference() {
    for seed in 30_000..30_000 + TABLES / 10 {
        let mut draw = Draw::new(seed);
        let schema = draw.schema();
        let rows = draw.rows(&schema);
        let batches = batches(&mut draw, &schema, &rows);
        let Some(first) = batches.first() else {
            continue;
        };
        let mut writer =
            arrow_ipc::writer::StreamWriter::try_new(Vec::new(), &first.schema()).unwrap();
        batches
            .iter()
            .for_each(|batch| writer.write(batch).unwrap());
        let bytes = writer.into_inner().unwrap();
        let table = ArrowTable::ipc_from(&schema, &bytes[..]).unwrap();
        compare(seed, &mut draw, &schema, &table, &rows, PLANS / 4);
    }
}

/// 20000 people take about a megabyte.
#[test]
fn people_beyond_the_memory_bound_are_met_in_several_passes() {
    let columns = [
        Column::new("person", Kind::Whole),
        Column::new("n", Kind::Whole),
    ];
    let schema = Schema::of_people("person", columns).unwrap();
    let numbers =
        (0..60_000_i64).map(|row| row.wrapping_mul(0x9e37_79b9_7f4a_7c15_u64.cast_signed()) >> 20);
    let numbers: Vec<i64> = numbers.collect();
    let column = |of: fn(i64) -> i64| -> ArrayRef {
        Arc::new(
            numbers
                .iter()
                .map(|number| Some(of(*number)))
                .collect::<Int64Array>(),
        )
    };
    let (persons, n) = (
        column(|number| number % 20_000),
        column(|number| number % 7),
    );
    let batch = RecordBatch::try_from_iter([("person", persons), ("n", n)]).unwrap();
    let open = || ArrowTable::batches(&schema, [&batch]).unwrap();
    let rows = numbers
        .iter()
        .map(|number| vec![Some((number % 20_000).into()), Some((number % 7).into())]);
    let reference = RowTable::new(&schema, rows.collect()).unwrap();
    let groups = Grouping::keys(&schema, "n", 0..7).unwrap();
    let amount = Amount::of(schema.number("n").unwrap(), -10, -5000, 5000).unwrap();
    let plan = Plan::new(
        &schema,
        None,
        (amount, Parts::Value),
        vec![groups],
        Bound::L2(4000),
    );
    let plan = plan.unwrap();
    let many_batches = open().with_batch_rows(64);
    for table in [open(), many_batches, open().with_memory_bound(1 << 20)] {
        assert_eq!(table.tally(&plan), reference.tally(&plan));
        let keys = table.tally_keys(None, "n");
        assert_eq!(keys, reference.tally_keys(None, "n"));
    }
}

/// The totals of these rows.
fn tally(draw: &mut Draw, schema: &Schema, rows: &[Row], plan: &Plan) -> Vec<i128> {
    let batches = batches(draw, schema, rows);
    let table = ArrowTable::batches(schema, &batches).unwrap();
    cramped(draw, table).tally(plan).unwrap()
}

fn without(rows: &[Row], person: &[usize]) -> Vec<Row> {
    let others = rows
        .iter()
        .enumerate()
        .filter(|(row, _)| !person.contains(row));
    others.map(|(_, row)| row.clone()).collect()
}

#[test]
fn removing_or_replacing_any_person_is_bounded() {
    for seed in 40_000..40_000 + TABLES / 2 {
        let mut draw = Draw::new(seed);
        let schema = draw.schema();
        let rows = draw.rows(&schema);
        for _ in 0..PLANS / 5 {
            let plan = draw.plan(&schema);
            let all = tally(&mut draw, &schema, &rows, &plan);
            for person in people(&schema, &rows) {
                let mut others = without(&rows, &person);
                let removed = tally(&mut draw, &schema, &others, &plan);
                let message = || format!("seed {seed}: {plan:#?} without {person:?} of {rows:#?}");
                assert!(change_is_bounded(&plan, &all, &removed, 1), "{}", message());
                // Another person in the place of that one, with as many rows.
                let place = schema.person_column();
                for row in &person {
                    let mut other = draw.row(&schema);
                    if let Some(place) = place {
                        other[place].clone_from(&rows[*row][place]);
                    }
                    others.push(other);
                }
                let replaced = tally(&mut draw, &schema, &others, &plan);
                assert!(
                    change_is_bounded(&plan, &all, &replaced, 2),
                    "{}",
                    message()
                );
            }
        }
    }
}
