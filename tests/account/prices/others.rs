//! Mechanisms of which only pure privacy is known, responses, and launches.

use super::*;
use queryables::mechanisms::{
    AboveThreshold, ApproxRandomizedResponse, Choice, Count, CountScores, MultiplicativeWeights,
    NoisyMax, NoisyMaxWithMargin, PermuteAndFlip, RandomizedResponse,
};

#[test]
fn mechanisms_of_which_only_pure_privacy_is_known() {
    let epsilon: Epsilon = read("1");
    row!(
        Choice::by(
            AddRemove,
            NoisyMax,
            CountScores::of([predicate(1)]),
            epsilon
        )
        .unwrap(),
        AddRemove,
        PURE
    );
    row!(
        Choice::by(
            AddRemove,
            PermuteAndFlip,
            CountScores::of([predicate(1)]),
            epsilon
        )
        .unwrap(),
        AddRemove,
        PURE
    );
    row!(
        Choice::by(
            Replace,
            PermuteAndFlip,
            CountScores::of([predicate(1)]),
            epsilon
        )
        .unwrap(),
        Replace,
        PURE
    );
    let both = CountScores::of([predicate(1), predicate(2)]);
    let max = Choice::by(AddRemove, NoisyMaxWithMargin, both, epsilon).unwrap();
    row!(max, AddRemove, PURE);
    let both = CountScores::of([predicate(1), predicate(2)]);
    let max = Choice::by(Replace, NoisyMaxWithMargin, both, epsilon).unwrap();
    row!(max, Replace, PURE);
    row!(
        AboveThreshold::<Predicate<Vec<u8>>, _>::new(Replace, 5, 2, epsilon).unwrap(),
        Replace,
        PURE
    );
    let search =
        AboveThreshold::<Predicate<Vec<u8>>, _>::new(AddRemove, 5, 2, read("0.5")).unwrap();
    row!(search.with_counts(read("0.5")).unwrap(), AddRemove, PURE);
    row!(
        MultiplicativeWeights::new(vec![1_u8, 2], 9, 3, 2, epsilon).unwrap(),
        Replace,
        PURE
    );
    row!(
        RandomizedResponse::new(epsilon).unwrap(),
        AddRemove,
        TWO_DATASETS
    );
}

#[test]
fn a_response_that_reveals() {
    let without = EpsilonDelta::new("1", "0").unwrap();
    row!(
        ApproxRandomizedResponse::new(without),
        AddRemove,
        TWO_DATASETS
    );
    let unknown = Unknown("this measure has no loss where δ > 0");
    let pair = Is([&[1.0, 1e-6], &[1.0, 1e-6]]);
    let cells = [
        unknown,
        pair,
        pair,
        unknown,
        Is([&[0.46211715726000974, 1e-6], &[0.46211715726000974, 1e-6]]),
        unknown,
        unknown,
        Is([&[0.9552483740548644, 1e-6], &[0.9552483740548644, 1e-6]]),
        unknown,
    ];
    let revealing = EpsilonDelta::new("1", "1e-6").unwrap();
    row!(ApproxRandomizedResponse::new(revealing), Replace, cells);
}

/// A pure mechanism is launched as it is, and charged at what the measure says.
#[test]
fn mechanisms_are_launched_under_other_measures_as_they_are() {
    use std::sync::Arc;
    let data = || Arc::new(vec![1_u8, 2, 3]);
    let count = Count::of(predicate(1)).laplace(epsilon!(0.1)).unwrap();
    let search =
        AboveThreshold::<Predicate<Vec<u8>>, _>::new(AddRemove, 2, 1, read("0.1")).unwrap();
    let pair = EpsilonDelta::new("1", "1e-6").unwrap();
    let filter = start(&Filter::concurrent(ApproxDp, pair), data()).unwrap();
    filter.release(&count).unwrap();
    filter.launch(&search).unwrap();
    assert_eq!(filter.privacy_loss().to_string(), "(0.2, 0)");
    let rho: Rho = "1".parse().unwrap();
    let filter = start(&Filter::concurrent(ZCdp, rho), data()).unwrap();
    filter.launch(&search).unwrap();
    filter
        .release(&Count::of(predicate(1)).gaussian(rho!(0.5)).unwrap())
        .unwrap();
    let tanh = queryables::privacy::convert::zcdp::pure(read("0.1"));
    assert_eq!(
        filter.privacy_loss(),
        tanh.checked_add(read("0.5")).unwrap()
    );
    let budget = RhoDelta::new("1", "1e-6").unwrap();
    let filter = start(&Filter::sequential(ApproxZCdp, budget), data()).unwrap();
    filter.launch(&search).unwrap();
    assert_eq!(filter.privacy_loss().rho, tanh);
}
