//! The server's totals are those of the reference.

use queryables::mechanisms::query::Unavailable;
use queryables::table::{Kind, RowTable, Table};
use tables::{Draw, change_is_bounded, people};

use crate::rows;
use crate::support::Server;

const PLANS: u64 = 10;

/// Compares this many plans, ten on each table, and removes one person from each table.
fn compare(name: &str, plans: u64) {
    let Some(server) = Server::new(name) else {
        return;
    };
    let mut client = crate::connect(&server);
    for seed in 0..plans / PLANS {
        let mut draw = Draw::new(seed);
        let schema = draw.schema();
        let drawn = draw.rows(&schema);
        rows::create(&mut client, &schema, &drawn);
        let table = rows::open(&server, &schema);
        let reference = RowTable::new(&schema, drawn.clone()).unwrap();
        let plans: Vec<_> = (0..PLANS).map(|_| draw.plan(&schema)).collect();
        for plan in &plans {
            let found = table.tally(plan);
            assert_eq!(found, reference.tally(plan), "seed {seed}: {plan:?}");
        }
        for column in schema.columns() {
            let condition = draw.condition(&schema);
            let found = table.tally_keys(Some(&condition), column.name());
            if !matches!(column.kind(), Kind::Whole | Kind::Text) {
                assert_eq!(found, Err(Unavailable));
            }
            let expected = reference.tally_keys(Some(&condition), column.name());
            assert_eq!(found, expected, "seed {seed}: {condition}");
        }
        let mut people = people(&schema, &drawn);
        if people.is_empty() {
            continue;
        }
        let before: Vec<_> = plans
            .iter()
            .map(|plan| table.tally(plan).unwrap())
            .collect();
        let removed = people.swap_remove(draw.below(people.len()));
        rows::remove(&mut client, &removed);
        for (plan, before) in plans.iter().zip(&before) {
            let after = table.tally(plan).unwrap();
            let bounded = change_is_bounded(plan, before, &after, 1);
            assert!(bounded, "seed {seed}: {before:?} to {after:?} by {plan:?}");
        }
    }
}

#[test]
fn a_thousand_plans_are_tallied_as_by_the_reference() {
    compare("equal", 1_000);
}

#[test]
#[ignore = "takes minutes: cargo test -p queryables-postgres --test asked -- --ignored"]
fn ten_thousand_plans_are_tallied_as_by_the_reference() {
    compare("equals", 10_000);
}
