//! The totals of an engine are those of the reference.

use queryables::mechanisms::query::Unavailable;
use queryables::table::{Kind, RowTable, Schema, Table};
use queryables_spark::{SparkEngine, SparkTable};
use tables::{Draw, Row, change_is_bounded, people};

use crate::settings;
use crate::support::{self, Server, rows, sql};

const PLANS: u64 = 10;

/// Writes the rows, and opens them: a file, two files, or a table of the catalog.
fn open(
    server: &Server,
    engine: &SparkEngine,
    schema: &Schema,
    all: &[Row],
    name: &str,
    way: u64,
) -> SparkTable {
    let path = |part: &str| {
        let path = server.folder().join(format!("{name}{part}.parquet"));
        path.to_str().unwrap().to_owned()
    };
    let (one, other) = (path(""), path("-more"));
    let (first, second) = all.split_at(if way == 1 { all.len() / 2 } else { all.len() });
    rows::write(one.as_ref(), schema, first);
    rows::write(other.as_ref(), schema, second);
    match way {
        0 => engine.parquet(&[&one], schema),
        1 => engine.parquet(&[&one, &other], schema),
        _ => {
            let made = format!("CREATE TABLE {name} USING parquet LOCATION '{one}'");
            sql::run(&server.session(), &made);
            engine.table(&[name], schema)
        }
    }
    .unwrap()
}

/// Compares this many plans, ten on each table, and removes one person from each table.
pub fn compare(server: &Server, engine: &SparkEngine, plans: u64) {
    for seed in 0..plans.div_ceil(PLANS) {
        let mut draw = Draw::new(seed);
        let schema = draw.schema();
        let drawn = draw.rows(&schema);
        let table = open(
            server,
            engine,
            &schema,
            &drawn,
            &format!("drawn{seed}"),
            seed % 3,
        );
        settings::change(server, seed % 2 == 1);
        let reference = RowTable::new(&schema, drawn.clone()).unwrap();
        let plans: Vec<_> = (0..PLANS).map(|_| draw.plan(&schema)).collect();
        let mut before = Vec::new();
        for plan in &plans {
            let found = table.tally(plan);
            assert_eq!(found, reference.tally(plan), "seed {seed}: {plan:?}");
            before.push(found.unwrap());
        }
        let column = &schema.columns()[draw.below(schema.columns().len())];
        let condition = draw.condition(&schema);
        let found = table.tally_keys(Some(&condition), column.name());
        if !matches!(column.kind(), Kind::Whole | Kind::Text) {
            assert_eq!(found, Err(Unavailable));
        }
        let expected = reference.tally_keys(Some(&condition), column.name());
        assert_eq!(found, expected, "seed {seed}: {condition}");
        let mut people = people(&schema, &drawn);
        if people.is_empty() {
            continue;
        }
        let removed = people.swap_remove(draw.below(people.len()));
        let kept = drawn.iter().enumerate();
        let kept = kept.filter(|(number, _)| !removed.contains(number));
        let kept: Vec<Row> = kept.map(|(_, row)| row.clone()).collect();
        let table = open(
            server,
            engine,
            &schema,
            &kept,
            &format!("kept{seed}"),
            seed % 2,
        );
        for (plan, before) in plans.iter().zip(&before) {
            let after = table.tally(plan).unwrap();
            let bounded = change_is_bounded(plan, before, &after, 1);
            assert!(bounded, "seed {seed}: {before:?} to {after:?} by {plan:?}");
        }
    }
}

fn compared(kind: support::Kind, plans: u64) {
    if let Some(server) = Server::new(kind) {
        let engine = SparkEngine::open(&server.session()).unwrap();
        compare(&server, &engine, plans);
    }
}

#[test]
fn a_thousand_plans_are_tallied_by_sail_as_by_the_reference() {
    compared(support::Kind::Sail, 1_000);
}

#[test]
#[ignore = "takes minutes: the command is in CONTRIBUTING.md"]
fn ten_thousand_plans_are_tallied_by_sail_as_by_the_reference() {
    compared(support::Kind::Sail, 10_000);
}

#[test]
#[ignore = "takes minutes: the command is in CONTRIBUTING.md"]
fn a_thousand_plans_are_tallied_by_spark_as_by_the_reference() {
    compared(support::Kind::Spark, 1_000);
}
