//! Two questions that differ in anything are described differently.

use std::collections::BTreeMap;

use super::{schema, visits};
use crate::machine::{Description, Mechanism};
use crate::mechanisms::table::TableQuery;
use crate::mechanisms::{QueryExt, query::Source};
use crate::prelude::*;
use crate::table::{Column, Grouping, RowTable, Schema};

fn described(mechanism: &impl Mechanism<RowTable>) -> Description {
    let description = mechanism.describe();
    assert!(description.is_complete(), "{description}");
    description
}

#[test]
fn a_description_says_what_is_asked() {
    let schema = schema();
    let query = schema.mean("hours").unwrap().filter("night > 3").unwrap();
    let query = query.by("state").unwrap().rows_per_person(2);
    let mean = query.laplace(epsilon!(0.5)).unwrap();
    assert_eq!(
        format!("{mean:?}"),
        format!(
            "Mean(attribute = hours, range = 0..=80, exponent = -14, where = night > 3, \
             by = state IN ('CA', 'NY'), person = each person scaled to 2 rows at most, in steps of 2^-14, \
             schema = {}, one row = all rows with one value of patient, \
             relation = add or remove one row, epsilon = 0.5)",
            schema.digest()
        )
    );
}

#[test]
fn the_name_of_a_condition_is_its_text() {
    let condition = schema().condition("night>3").unwrap();
    assert_eq!(condition.name(), "night > 3");
}

#[test]
fn different_questions_have_different_descriptions() {
    let (schema, rows) = (schema(), visits());
    let columns = [
        Column::categories("state", ["CA", "NY"]),
        Column::categories("a", ["b"]),
    ];
    let other = Schema::of_rows(columns).unwrap();
    let mut all = Vec::new();
    let mut add = |description: Description| all.push(description);

    let count = |query: TableQuery<_>| described(&query.laplace(epsilon!(1)).unwrap());
    add(count(schema.count()));
    add(count(rows.count()));
    add(count(other.count()));
    add(count(schema.count().rows_per_person(2)));
    for condition in [
        "night > 3",
        "night >= 3",
        "night > 3 or state = 'CA'",
        "state = 'night > 3'",
    ] {
        // A category that is not in the domain is an error, and no question.
        if let Ok(query) = schema.count().filter(condition) {
            add(count(query));
        }
    }
    add(described(
        &schema.count().under(Replace).laplace(epsilon!(1)).unwrap(),
    ));
    add(described(&schema.count().laplace(epsilon!(2)).unwrap()));
    add(described(&schema.count().gaussian(rho!(1)).unwrap()));
    add(described(&schema.count().gaussian(mu!(1)).unwrap()));

    let keys = |keys: &[&str]| {
        let grouping = Grouping::keys(&schema, "state", keys.iter().copied()).unwrap();
        described(
            &schema
                .count()
                .grouped(grouping)
                .laplace(epsilon!(1))
                .unwrap(),
        )
    };
    for states in [
        &["CA"][..],
        &["NY"],
        &["CA", "NY"],
        &["NY", "CA"],
        &["CA, NY"],
        &["CA', 'NY"],
    ] {
        add(keys(states));
    }
    let buckets = |edges: &[i32]| {
        let query = schema
            .count()
            .by_buckets("night", edges.iter().copied())
            .unwrap();
        described(&query.laplace(epsilon!(1)).unwrap())
    };
    for edges in [&[0, 1][..], &[0, 1, 2], &[0, 2], &[1, 2]] {
        add(buckets(edges));
    }
    let night = Grouping::keys(&schema, "night", [0, 1]).unwrap();
    add(described(
        &schema.count().grouped(night).laplace(epsilon!(1)).unwrap(),
    ));
    let two = schema
        .count()
        .by("state")
        .unwrap()
        .by_buckets("night", [0, 1])
        .unwrap();
    add(described(&two.laplace(epsilon!(1)).unwrap()));
    let two = schema
        .count()
        .by_buckets("night", [0, 1])
        .unwrap()
        .by("state")
        .unwrap();
    add(described(&two.laplace(epsilon!(1)).unwrap()));

    let sum = |number: &str| schema.sum(number).unwrap().clamped(0..=10);
    for number in ["night", "night + 1", "night * 2"] {
        add(described(&sum(number).laplace(epsilon!(1)).unwrap()));
    }
    add(described(
        &sum("night").clamped(0..=11).laplace(epsilon!(1)).unwrap(),
    ));
    add(described(
        &sum("night").clamped(-1..=10).laplace(epsilon!(1)).unwrap(),
    ));
    add(described(
        &sum("night")
            .clamped(0.0..=10.0)
            .laplace(epsilon!(1))
            .unwrap(),
    ));
    add(described(
        &sum("night")
            .by("state")
            .unwrap()
            .laplace(epsilon!(1))
            .unwrap(),
    ));
    add(described(
        &sum("night").by("state").unwrap().gaussian(rho!(1)).unwrap(),
    ));
    let mean = || schema.mean("night").unwrap().clamped(0..=10);
    add(described(&mean().laplace(epsilon!(1)).unwrap()));
    add(described(
        &mean().rows_per_person(2).laplace(epsilon!(1)).unwrap(),
    ));
    let variance = schema.variance("night").unwrap().clamped(0..=10);
    add(described(&variance.laplace(epsilon!(1)).unwrap()));

    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for (place, description) in all.iter().enumerate() {
        let text = serde_json::to_string(description).unwrap();
        if let Some(before) = seen.insert(text, place) {
            panic!("{before} and {place} look the same: {description}");
        }
    }
    assert!(seen.len() >= 30, "{}", seen.len());
}
