//! Without noise, an answer is what it is said to be.

use std::sync::Arc;

use super::{VISITS, no_noise, released, schema, table_of, visits};
use crate::mechanisms::table::{PerGroup, TableQuery};
use crate::mechanisms::{MechanismError, Query, QueryExt};
use crate::prelude::*;
use crate::table::{RowTable, Schema, TableError};

fn people() -> (Schema, Arc<RowTable>) {
    let schema = schema();
    let table = table_of(&schema, &VISITS);
    (schema, table)
}

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-6, "{found} is not {expected}");
}

#[test]
fn a_count_is_of_people_or_of_so_many_rows_of_each() {
    let (schema, table) = people();
    let count =
        |query: TableQuery<_>| -> f64 { released(&query.laplace(no_noise()).unwrap(), &table) };
    assert_eq!(count(schema.count()), 4.0);
    assert_eq!(count(schema.count().rows_per_person(2)), 7.0);
    let often = schema.count().filter("night > 5 or hours < 0").unwrap();
    assert_eq!(count(often.clone()), 3.0);
    let twice = often.rows_per_person(2).filter("state = 'CA'").unwrap();
    assert_eq!(count(twice), 2.0);
}

#[test]
fn a_person_in_two_groups_is_a_part_of_one_in_each() {
    let (schema, table) = people();
    let by_state = || schema.count().by("state").unwrap();
    let laplace: Vec<f64> = released(&by_state().laplace(no_noise()).unwrap(), &table);
    assert_eq!(laplace, [1.5, 1.5]);
    // The root of two halves is at most one: 65536·65536/92682 steps of 2^-16 each.
    let part = (65536_i64 * 65536 / 92682) as f64 / 65536.0;
    let gaussian: Vec<f64> = released(&by_state().gaussian(rho!(100000000000)).unwrap(), &table);
    assert_eq!(gaussian, [1.0 + part, 1.0 + part]);
    let rows = by_state().rows_per_person(2).laplace(no_noise()).unwrap();
    assert_eq!(released::<_, Vec<f64>>(&rows, &table), [3.0, 2.0]);
    let both = schema
        .count()
        .by("state")
        .unwrap()
        .by_buckets("hours", [0, 20, 80])
        .unwrap();
    let both: Vec<f64> = released(
        &both.rows_per_person(2).laplace(no_noise()).unwrap(),
        &table,
    );
    // A visit without hours is in no bucket.
    assert_eq!(both, [1.0, 2.0, 0.0, 1.0]);
}

#[test]
fn a_sum_is_clamped_row_by_row_and_then_person_by_person() {
    let (schema, table) = people();
    let sum =
        |query: TableQuery<_>| -> f64 { released(&query.laplace(no_noise()).unwrap(), &table) };
    // Of the nights: 93, 107 clamped to 100, 0 because it is missing, and 0 + 1.
    assert_eq!(sum(schema.sum("night").unwrap()), 194.0);
    assert_eq!(sum(schema.sum("night").unwrap().rows_per_person(2)), 201.0);
    assert_eq!(
        sum(schema.sum("night - 10").unwrap().clamped(-10..=5)),
        -8.0
    );
    assert_eq!(sum(schema.sum("hours").unwrap()), 40.0 + 80.0);
    assert_eq!(
        sum(schema.sum("hours").unwrap().clamped(20.0..=90.0)),
        50.0 + 90.0 + 20.0 + 40.0
    );
}

#[test]
fn sums_in_groups_are_scaled_to_what_a_person_may_add() {
    let (schema, table) = people();
    let sums = |query: TableQuery<_, PerGroup>| -> Vec<f64> {
        released(&query.laplace(no_noise()).unwrap(), &table)
    };
    let by_state = || schema.sum("night").unwrap().by("state").unwrap();
    // 93 of the first patient, and of the second 100 and 7 scaled by 100/107.
    let scaled = sums(by_state());
    near(scaled[0], (93.0 + 100.0 * 100.0 / 107.0_f64).floor_to(14));
    near(scaled[1], (700.0 / 107.0_f64).floor_to(14));
    assert_eq!(sums(by_state().rows_per_person(2)), [193.0, 7.0]);
}

trait FloorTo {
    fn floor_to(self, bits: i32) -> Self;
}

impl FloorTo for f64 {
    /// To a multiple of 2^-bits, which is what one division may lose.
    fn floor_to(self, bits: i32) -> Self {
        let unit = 2_f64.powi(bits);
        (self * unit).floor() / unit
    }
}

#[test]
fn a_mean_is_of_rows_where_a_person_has_at_most_so_many() {
    let (schema, table) = people();
    let mean = schema
        .mean("hours")
        .unwrap()
        .rows_per_person(2)
        .laplace(no_noise())
        .unwrap();
    let mean = released(&mean, &table);
    near(mean.value(), (10.0 + 30.0 + 20.5 + 79.0) / 7.0);
    near(mean.rows(), 7.0);
    // Two rows of a person weigh a half each.
    let once = schema.mean("hours").unwrap().laplace(no_noise()).unwrap();
    let once = released(&once, &table);
    near(once.value(), (20.0 + 49.75) / 4.0);
    near(once.rows(), 4.0);
}

/// Clamping the two numbers of a mean apart would give the middle of the range.
#[test]
fn a_person_with_many_rows_keeps_their_mean() {
    let schema = schema();
    let rows = vec![(Some(1), Some("CA"), Some(72.0), Some(100)); 100];
    let table = table_of(&schema, &rows);
    let mean = schema.mean("hours").unwrap().laplace(no_noise()).unwrap();
    // Dividing loses less than a step of 2^-14.
    let near = |found: f64, expected: f64| assert!((found - expected).abs() < 6.2e-5, "{found}");
    near(released(&mean, &table).value(), 72.0);
    let means = schema.mean("hours").unwrap().by("state").unwrap();
    let means: Vec<_> = released(&means.gaussian(rho!(100000000000)).unwrap(), &table);
    near(means[0].value(), 72.0);
    near(means[0].rows(), 1.0);
    let variance = schema
        .variance("hours")
        .unwrap()
        .laplace(no_noise())
        .unwrap();
    near(released(&variance, &table).mean(), 72.0);
    assert!(released(&variance, &table).value().abs() < 0.01);
}

#[test]
fn a_variance_is_of_rows_where_a_person_has_at_most_so_many() {
    let (schema, table) = people();
    let variance = schema.variance("hours").unwrap().rows_per_person(2);
    let variance = released(&variance.laplace(no_noise()).unwrap(), &table);
    let hours = [10.0, 30.0, 20.5, 79.0, 0.0, 0.0, 0.0];
    let mean = hours.iter().sum::<f64>() / 7.0;
    let expected = hours.iter().map(|hour| (hour - mean).powi(2)).sum::<f64>() / 7.0;
    assert!((variance.value() - expected).abs() < 0.01, "{variance:?}");
    near(variance.rows(), 7.0);
}

#[test]
fn where_each_row_is_a_person_nothing_is_scaled() {
    let schema = visits();
    let table = table_of(&schema, &VISITS);
    let count = schema.count().laplace(no_noise()).unwrap();
    assert_eq!(released::<_, f64>(&count, &table), 8.0);
    let counts = schema
        .count()
        .by("state")
        .unwrap()
        .laplace(no_noise())
        .unwrap();
    assert_eq!(released::<_, Vec<f64>>(&counts, &table), [4.0, 2.0]);
    let mean = schema.mean("night").unwrap().laplace(no_noise()).unwrap();
    near(
        released(&mean, &table).value(),
        (3 + 90 + 7 + 100 + 1 + 50) as f64 / 8.0,
    );
    let several = schema
        .count()
        .rows_per_person(2)
        .laplace(no_noise())
        .unwrap_err();
    assert_eq!(
        several.to_string(),
        "the number of rows of a person must be 1, because each row is a person, not 2"
    );
}

#[test]
fn bad_parameters_are_refused() {
    let schema = schema();
    let error = |query: TableQuery<_>| {
        query
            .laplace(no_noise())
            .map(|_| ())
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        error(schema.count().rows_per_person(0)),
        "the number of rows of a person must be from 1 to 2^20, not 0"
    );
    let grouped = schema.count().by("state").unwrap().rows_per_person(20_000);
    assert_eq!(
        grouped
            .laplace(no_noise())
            .map(|_| ())
            .unwrap_err()
            .to_string(),
        "the number of rows of a person must be from 1 to 2^14, not 20000"
    );
    let patient = schema
        .sum("patient")
        .unwrap()
        .laplace(no_noise())
        .map(|_| ());
    let number = "patient".to_owned();
    assert_eq!(
        patient.unwrap_err(),
        MechanismError::Table(TableError::NoRange { number })
    );
    let empty = schema
        .mean("hours")
        .unwrap()
        .clamped(80.0..=0.0)
        .laplace(no_noise());
    assert_eq!(
        empty.map(|_| ()).unwrap_err().to_string(),
        "the range 80.0..=0.0 of \"hours\" is empty: write the smaller number first"
    );
    assert_eq!(Query::<AddRemove>::totals(&schema.count()), 1);
}
