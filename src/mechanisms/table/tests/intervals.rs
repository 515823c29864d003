//! Intervals of estimates hold the truth as often as they say, and say which truth that is.

use std::sync::Arc;

use super::{VISITS, schema, table_of};
use crate::machine::{CoinSource, Mechanism, NotPrivateSeededCoins, Released};
use crate::mechanisms::{Accuracy, Estimates, QueryExt};
use crate::prelude::*;
use crate::table::RowTable;

/// How many of a thousand intervals miss the truth. If each misses with probability at most 1/20, more than
/// 101 do with probability at most e^-20.9 < 1e-9 (Chernoff's bound).
const MOST_MISSES: usize = 101;

fn misses<M, A>(mechanism: &M, table: &Arc<RowTable>, truth: f64) -> usize
where
    M: Mechanism<RowTable, Machine = Released<A>> + Estimates<Answer = A, Number = f64>,
{
    let misses = (0..1000).filter(|seed| {
        let mut coins = NotPrivateSeededCoins::new(*seed);
        let Released(answer) = mechanism.start(table, &mut coins.coins()).unwrap();
        let (_, interval) = mechanism.interval(answer, confidence!(0.95));
        !interval.contains(&truth)
    });
    misses.count()
}

#[test]
fn intervals_hold_the_truth() {
    let schema = schema();
    let table = table_of(&schema, &VISITS.repeat(50));
    let count = schema.count().laplace(epsilon!(1)).unwrap();
    let found = misses(&count, &table, 4.0);
    assert!((1..=MOST_MISSES).contains(&found), "{found}");
    let sum = schema.sum("night").unwrap().gaussian(rho!(1)).unwrap();
    let found = misses(&sum, &table, 100.0 + 100.0 + 0.0 + 50.0);
    assert!((1..=MOST_MISSES).contains(&found), "{found}");
    let many: Vec<_> = (0..1000)
        .map(|patient| (Some(patient), None, Some(8.0), None))
        .collect();
    let table = table_of(&schema, &many);
    let mean = schema.mean("hours").unwrap().laplace(epsilon!(1)).unwrap();
    let found = misses(&mean, &table, 8.0);
    assert!(found <= MOST_MISSES, "{found}");
    let variance = schema
        .variance("hours")
        .unwrap()
        .laplace(epsilon!(1))
        .unwrap();
    let found = misses(&variance, &table, 0.0);
    assert!(found <= MOST_MISSES, "{found}");
}

/// Floats hold all whole numbers up to 2^53, and some beyond.
#[test]
fn the_ends_of_a_count_are_whole_numbers_and_far_away_they_are_rounded_outward() {
    let count = schema().count().laplace(epsilon!(0.1)).unwrap();
    assert_eq!(count.accuracy(confidence!(0.95)), 30.0);
    let interval = |answer| count.interval(answer, confidence!(0.95)).1;
    assert_eq!(interval(4618.0), 4588.0..=4648.0);
    assert_eq!(interval(-7.0), -37.0..=23.0);
    let far = 2_f64.powi(53);
    assert_eq!(interval(far - 31.0), far - 61.0..=far - 1.0);
    assert_eq!(interval(31.0 - far), 1.0 - far..=61.0 - far);
    // It is no answer of a count, and the sum of two floats may be rounded inward.
    let near = 0.1;
    for answer in [near, far - 30.0, far, far + 2.0, -far] {
        let (low, high) = interval(answer).into_inner();
        assert!(
            low < answer - 30.0 && high > answer + 30.0,
            "{answer}: {low} to {high}"
        );
    }
}

#[test]
fn an_estimate_says_what_became_of_a_person_with_many_rows() {
    let schema = schema();
    let about = |mechanism: &dyn Fn() -> String| mechanism();
    let count = schema
        .count()
        .rows_per_person(3)
        .laplace(epsilon!(1))
        .unwrap();
    let all = "of all rows in the dataset";
    assert_eq!(
        about(&|| count.about().to_string()),
        format!("{all}, at most 3 from each person")
    );
    let sum = schema
        .sum("night")
        .unwrap()
        .rows_per_person(3)
        .laplace(epsilon!(1))
        .unwrap();
    assert_eq!(
        sum.about().to_string(),
        format!(
            "{all}, clamped to 0..=100, rounded to whole numbers, at most 300 from each person"
        )
    );
    let counts = schema
        .count()
        .by("state")
        .unwrap()
        .laplace(epsilon!(1))
        .unwrap();
    assert_eq!(
        counts.about().to_string(),
        format!("{all}, each person scaled to a sum of 1 at most, in steps of 2^-16")
    );
    let counts = schema
        .count()
        .by("state")
        .unwrap()
        .gaussian(rho!(1))
        .unwrap();
    assert_eq!(
        counts.about().to_string(),
        format!("{all}, each person scaled to a norm of 1 at most, in steps of 2^-16")
    );
    let mean = schema
        .mean("hours")
        .unwrap()
        .rows_per_person(2)
        .laplace(epsilon!(1))
        .unwrap();
    assert_eq!(
        mean.about().to_string(),
        format!(
            "{all}, clamped to 0..=80, each person scaled to 2 rows at most, in steps of 2^-14"
        )
    );
}
