//! Ready-made mechanisms at ordinary parameters: the noise has many values, of which few are told
//! apart.

use queryables::data::{Attribute, Predicate};
use queryables::mechanisms::{Count, Sum};
use queryables::number::Epsilon;
use queryables::prelude::*;
use queryables::privacy::{AddRemove, Private, PureDp, RdpGrid};
use queryables::verify::{Completeness, Pair, Verifier, copies_of};

fn epsilon(text: &str) -> Epsilon {
    text.parse().unwrap()
}

type Summed = queryables::mechanisms::Noised<Sum<Attribute<Vec<i64>, i64>>>;

/// A sum of values up to this, with a loss of 1, on one row and on another with the largest value.
fn sum(largest: i64) -> Verifier<(), i64, Vec<()>, Summed> {
    let value = Attribute::new("value", |row: &i64| *row);
    let sum = Sum::of(value, 0..=largest).laplace(epsilon!(1)).unwrap();
    let pair = Pair::new(vec![1_i64], vec![1, largest]);
    Verifier::new(copies_of(&sum), &pair, vec![()], 1).releases_only()
}

#[test]
fn wide_sums_are_decided() {
    for largest in [1000, 10_000] {
        let verdict = sum(largest).check(&PureDp, &epsilon("1")).unwrap();
        assert!(verdict.holds(), "{verdict}");
        assert_eq!(verdict.worst.completeness, Completeness::Bounded);
    }
}

#[test]
fn a_count_with_much_noise_is_decided() {
    for small in ["0.0001", "0.000001"] {
        let is = Predicate::new("is 7", |row: &u8| *row == 7);
        let count = Count::of(is).laplace(epsilon(small)).unwrap();
        let pair = Pair::new(vec![7_u8], vec![7, 7]);
        let verifier = Verifier::new(copies_of(&count), &pair, vec![()], 1).releases_only();
        let verdict = verifier.check(&PureDp, &epsilon(small)).unwrap();
        assert!(verdict.holds(), "{verdict}");
    }
}

#[test]
fn all_orders_are_decided_in_one_exploration() {
    let value: Attribute<Vec<i64>, i64> = Attribute::new("value", |row: &i64| *row);
    let claimed = Sum::of(value, 0..=100).laplace(epsilon!(1)).unwrap();
    let check = |orders: std::ops::Range<u32>| {
        let orders = orders.map(|order| order.to_string().parse().unwrap());
        let grid = RdpGrid::new(orders).unwrap();
        let loss = Private::<RdpGrid, AddRemove>::loss(&claimed, &grid).unwrap();
        let verdict = sum(100).check(&grid, &loss).unwrap();
        assert!(verdict.holds(), "{verdict}");
        verdict.worst.scope.runs
    };
    assert_eq!(check(2..3), check(2..10));
}

#[test]
fn a_wide_sum_that_claims_too_little_is_still_refuted() {
    let verdict = sum(30).check(&PureDp, &epsilon("0.99")).unwrap();
    assert!(verdict.is_refuted(), "{verdict}");
    assert_ne!(verdict.worst.completeness, Completeness::Bounded);
}

#[test]
fn a_bound_that_does_not_prove_the_claim_stays_where_exploring_takes_too_much() {
    let verifier = sum(30).replays(2).limit(1_000);
    let verdict = verifier.check(&PureDp, &epsilon("0.99")).unwrap();
    assert!(!verdict.holds() && !verdict.is_refuted(), "{verdict}");
    assert!(
        verdict
            .to_string()
            .contains("\nthe search for more was stopped after 1000 runs"),
        "{verdict}"
    );
    // The claim itself needs no more.
    let verdict = verifier.check(&PureDp, &epsilon("1")).unwrap();
    assert!(verdict.holds(), "{verdict}");
}
