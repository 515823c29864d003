//! What every ready-made mechanism says about itself in logs.

use queryables::account::{Accumulator, AdvancedComposition, DefaultAccumulator, ThroughZCdp};
use queryables::data::{Attribute, Predicate, Vector};
use queryables::machine::Description;
use queryables::mechanisms::{
    AboveThreshold, ApproxRandomizedResponse, Choice, ContinualCount, Count, CountScores,
    ExponentialMechanism, GaussianThresholdHistogram, Histogram, Lattice, MultiplicativeWeights,
    NoisyMax, NoisyMaxWithMargin, NoisyQuantiles, Partition, PermuteAndFlip, QueryAnswerer,
    RandomizedResponse, RealRange, SampledGaussianSum, Sum, VectorSum,
};
use queryables::prelude::*;
use queryables::privacy::Restated;
use queryables::privacy::RestatedAt;
use std::sync::Arc;

fn of<D>(mechanism: &impl Mechanism<D>) -> Description {
    mechanism.describe()
}

fn over_rows(mechanism: impl Mechanism<Vec<u8>>) -> String {
    of(&mechanism).to_string()
}

fn over_a_bit(mechanism: impl Mechanism<bool>) -> String {
    of(&mechanism).to_string()
}

fn ones() -> Predicate<Vec<u8>> {
    Predicate::new("is one", |row: &u8| *row == 1)
}

fn vector() -> Vector<Vec<u8>> {
    Vector::new("vector", |row: &u8, out: &mut [f64]| {
        out[0] = f64::from(*row);
    })
}

fn time() -> Attribute<Vec<u8>, Option<u64>> {
    Attribute::new("hour", |row: &u8| Some(u64::from(*row)))
}

const LATTICE: Lattice = Lattice::in_steps(-2, 60);

#[test]
fn ready_made_mechanisms_name_their_parameters() -> Result<(), Box<dyn std::error::Error>> {
    let epsilon: Epsilon = "0.5".parse()?;
    let itself = || Attribute::new("itself", |row: &u8| f64::from(*row));
    let whole = || Attribute::new("itself", |row: &u8| i64::from(*row));
    let bin = Attribute::new("itself", |row: &u8| usize::from(*row));
    for (found, expected) in [
        (
            over_rows(Count::of(ones()).laplace(epsilon)?),
            "Count(predicate = is one, relation = add or remove one row, epsilon = 0.5)",
        ),
        (
            over_rows(Count::of(ones()).gaussian(mu!(0.1))?),
            "Count(predicate = is one, relation = add or remove one row, mu = 0.1)",
        ),
        (
            over_rows(
                Sum::of(whole(), -3..=i64::MAX)
                    .under(Replace)
                    .laplace(epsilon)?,
            ),
            "Sum(attribute = itself, range = -3..=9223372036854775807, relation = replace one row, epsilon = 0.5)",
        ),
        (
            over_rows(
                Sum::of(itself(), RealRange::from(-0.25..=1.1).with_step(-8)).laplace(epsilon)?,
            ),
            "Sum(attribute = itself, range = -0.25..=1.1, exponent = -8, relation = add or remove one row, epsilon = 0.5)",
        ),
        (
            over_rows(VectorSum::of(vector(), 1, LATTICE).gaussian(rho!(0.1))?),
            "VectorSum(vector = vector, dimension = 1, exponent = -2, radius = 60, relation = add or remove one row, rho = 0.1)",
        ),
        (
            over_rows(SampledGaussianSum::new(
                AddRemove,
                vector(),
                1,
                LATTICE,
                "0.01".parse()?,
                "1".parse()?,
            )?),
            "SampledGaussianSum(relation = add or remove one row, sum = VectorSum, sum.vector = vector, \
             sum.dimension = 1, sum.exponent = -2, sum.radius = 60, mu = 1, rate = 0.01)",
        ),
        (
            over_rows(Histogram::of(Partition::numbered(bin, 9)?).laplace(epsilon)?),
            "Histogram(bin = itself, bins = 9, relation = add or remove one row, epsilon = 0.5)",
        ),
        (
            over_rows(
                Histogram::of(Partition::by_key("parity", |row: &u8| row % 2, [0, 1, 1])?)
                    .under(Replace)
                    .gaussian(mu!(0.1))?,
            ),
            "Histogram(bin = parity, bins = [0, 1], relation = replace one row, mu = 0.1)",
        ),
        (
            over_rows(GaussianThresholdHistogram::with_threshold(
                AddRemove,
                "itself",
                |row: &u8| *row,
                100,
                "0.5".parse()?,
            )?),
            "GaussianThresholdHistogram(relation = add or remove one row, key = itself, \
             threshold = 100, rho = 0.5, delta = 1e-38)",
        ),
        (
            over_rows(NoisyQuantiles::new(
                Replace,
                whole(),
                0..=9,
                [(1, 2)],
                epsilon,
            )?),
            "NoisyQuantiles(relation = replace one row, attribute = itself, range = 0..=9, \
             quantiles = [1/2], epsilon = 0.5)",
        ),
        (
            over_rows(Choice::by(
                Replace,
                NoisyMax,
                CountScores::of([ones(), ones()]),
                epsilon,
            )?),
            "NoisyMax(relation = replace one row, candidates = [is one, is one], epsilon = 0.5)",
        ),
        (
            over_rows(Choice::by(
                AddRemove,
                NoisyMaxWithMargin,
                CountScores::of([ones(), ones()]),
                epsilon,
            )?),
            "NoisyMaxWithMargin(relation = add or remove one row, \
             candidates = [is one, is one], epsilon = 0.5)",
        ),
        (
            over_rows(Choice::by(
                Replace,
                PermuteAndFlip,
                CountScores::of([ones()]),
                epsilon,
            )?),
            "PermuteAndFlip(relation = replace one row, candidates = [is one], epsilon = 0.5)",
        ),
        (
            over_rows(Choice::by(
                AddRemove,
                ExponentialMechanism,
                CountScores::of([ones()]),
                epsilon,
            )?),
            "ExponentialMechanism(relation = add or remove one row, candidates = [is one], \
             epsilon = 0.5)",
        ),
        (
            over_rows(ContinualCount::of(time(), 24).laplace(epsilon)?),
            "ContinualCount(time = hour, horizon = 24, relation = add or remove one row, epsilon = 0.5)",
        ),
        (
            over_rows(
                ContinualCount::of(time(), 24)
                    .under(Replace)
                    .gaussian(rho!(0.1))?,
            ),
            "ContinualCount(time = hour, horizon = 24, relation = replace one row, rho = 0.1)",
        ),
        (
            over_rows(AboveThreshold::new(AddRemove, -9, 2, epsilon)?),
            "AboveThreshold(relation = add or remove one row, threshold = -9, hits = 2, \
             epsilon = 0.5, epsilon of the threshold = 0.25)",
        ),
        (
            over_rows(AboveThreshold::new(AddRemove, -9, 2, epsilon)?.with_counts(epsilon)?),
            "SparseVector(relation = add or remove one row, threshold = -9, hits = 2, \
             epsilon = 0.5, epsilon of the threshold = 0.25, epsilon of the counts = 0.5)",
        ),
        (
            over_rows(MultiplicativeWeights::new(vec![1, 2], 9, 3, 2, epsilon)?),
            "MultiplicativeWeights(domain = 2, rows = 9, threshold = 3, updates = 2, \
             epsilon = 0.5)",
        ),
        (
            over_a_bit(RandomizedResponse::new(epsilon)?),
            "RandomizedResponse(epsilon = 0.5)",
        ),
        (
            over_a_bit(ApproxRandomizedResponse::new(EpsilonDelta::new(
                "0.5", "1e-6",
            )?)),
            "ApproxRandomizedResponse(epsilon = 0.5, delta = 1e-6)",
        ),
    ] {
        assert_eq!(found, expected);
    }
    Ok(())
}

#[test]
fn debug_shows_the_description() {
    let count = Count::of(ones()).laplace(epsilon!(0.5)).unwrap();
    assert_eq!(format!("{count:?}"), over_rows(&count));
}

#[test]
fn what_restates_a_loss_is_called_as_what_it_restates() {
    let count = Count::of(ones()).laplace(epsilon!(0.5)).unwrap();
    assert_eq!(over_rows(Restated::new(PureDp, &count)), over_rows(&count));
    let count = Count::of(ones()).gaussian(rho!(0.5)).unwrap();
    assert_eq!(
        over_rows(RestatedAt::new(ZCdp, "1e-6".parse().unwrap(), count)),
        "Count(predicate = is one, relation = add or remove one row, rho = 0.5, slack = 1e-6)"
    );
}

#[test]
fn what_is_a_filter_inside_says_so() {
    let rule = || PureDp.accumulator().capped("1".parse().unwrap());
    let filter = of::<bool>(&Filter::concurrent(PureDp, "1".parse().unwrap())).to_string();
    assert!(filter.starts_with("Filter"));
    let answerer = of::<Vec<u8>>(&QueryAnswerer::new(rule()));
    assert_eq!(answerer.name(), "QueryAnswerer");
    assert!(answerer.get("filter").unwrap().starts_with("Filter"));
}

/// A filter whose rule sets slack aside looks spent before the first launch: it says how much of the
/// budget that is. One without slack says nothing of it.
#[test]
fn a_filter_names_what_its_rule_sets_aside() -> Result<(), Box<dyn std::error::Error>> {
    let limit = EpsilonDelta::new("1", "1e-6")?;
    let rule = ThroughZCdp::tight(limit, "5e-7".parse()?)?;
    let filter = Filter::concurrent_with(rule);
    assert_eq!(
        of::<bool>(&filter).to_string(),
        "Filter(children = ApproxDp, limit = (1, 1e-6), of which set aside = (0, 5e-7), \
         relation = add or remove one row, distance = 1, halts = false, \
         rule = ThroughZCdp, launches = Interleaved)"
    );
    let running = start(&filter, Arc::new(true))?;
    assert_eq!(running.privacy_loss().to_string(), "(0, 5e-7)");
    assert_eq!(running.set_aside().to_string(), "(0, 5e-7)");
    assert_eq!(
        of::<bool>(&Filter::concurrent(ApproxDp, limit)).to_string(),
        "Filter(children = ApproxDp, limit = (1, 1e-6), relation = add or remove one row, \
         distance = 1, halts = false, rule = Capped, launches = Interleaved)"
    );
    let odometer = Odometer::concurrent_with(AdvancedComposition::new("1e-6".parse()?)?);
    let running = start(&odometer, Arc::new(true))?;
    assert_eq!(running.privacy_loss().to_string(), "(0, 1e-6)");
    assert_eq!(running.set_aside().to_string(), "(0, 1e-6)");
    Ok(())
}
