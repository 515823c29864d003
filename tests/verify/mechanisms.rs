//! The crate's own mechanisms, with irrational laws and infinite supports, checked against their
//! claims.

use std::fmt::Debug;
use std::hash::Hash;

use crate::support::*;
use queryables::account::{Accumulator, DefaultAccumulator};
use queryables::compose::{Addressed, Filter};
use queryables::data::{Attribute, Predicate, Vector};
use queryables::machine::{Machine, Mechanism};
use queryables::mechanisms::{
    AboveThreshold, ApproxRandomizedResponse, Choice, ContinualCount, Count, CountScores,
    ExponentialMechanism, Histogram, Lattice, Mean, MultiplicativeWeights, NoisyMax, Partition,
    Priced, QueryAnswerer, RandomizedResponse, SampledGaussianSum, Sum, Variance, VectorSum,
};
use queryables::middle::ThroughExt;
use queryables::number::Epsilon;
use queryables::prelude::*;
use queryables::privacy::convert::gdp;
use queryables::privacy::{AddRemove, ApproxDp, EpsilonDelta, PureDp, Replace};
use queryables::verify::{Children, Completeness, Pair, Rational, Verifier, copies_of};

fn epsilon(text: &str) -> Epsilon {
    text.parse().unwrap()
}

fn is(value: u8) -> Predicate<Vec<u8>> {
    Predicate::new(format!("is {value}"), move |row: &u8| *row == value)
}

/// One row more.
fn pair() -> Pair<Vec<u8>> {
    Pair::new(vec![7, 8], vec![7, 7, 8])
}

#[test]
fn a_noisy_count_has_its_loss_and_no_less() {
    let count = Count::of(is(7)).laplace(epsilon!(1)).unwrap();
    let pair = pair();
    let verifier = Verifier::new(copies_of(&count), &pair, vec![()], 1);
    let worst = verifier.worst_delta_at(epsilon("1")).unwrap();
    // Noise has no end, so that something is always cut.
    let Completeness::Truncated { mass } = &worst.completeness else {
        panic!("{worst}");
    };
    assert!(*mass > Rational::ZERO && *mass <= ratio(1, 1 << 30));
    assert!(*worst.value.high().unwrap() <= ratio(1, 1 << 29));
    verifier.assert_private(&ApproxDp, &EpsilonDelta::new("1", "1e-8").unwrap());
    let less = EpsilonDelta::new("0.99", "1e-8").unwrap();
    assert!(verifier.check(&ApproxDp, &less).unwrap().is_refuted());
}

#[test]
fn a_gaussian_count_has_the_deltas_of_the_gaussian_mechanism() {
    // μ = 1, one step apart. The loss is above 1 where the answer is at least 3/2 away, which is
    // where it is rounded: so nothing is lost, and δ(1) = Φ(-1/2) - e Φ(-3/2) = 0.1269367...
    let count = Count::of(is(7)).gaussian(mu!(1)).unwrap();
    let pair = pair();
    let verifier = Verifier::new(copies_of(&count), &pair, vec![()], 1);
    let worst = verifier.worst_delta_at(epsilon("1")).unwrap();
    let (low, high) = (worst.value.low().unwrap(), worst.value.high().unwrap());
    assert!(high - low < ratio(1, 1 << 27));
    assert!(
        *low > ratio(126_936, 1_000_000) && *high < ratio(126_937, 1_000_000),
        "{worst}"
    );
    // Elsewhere it is less than that of the Gaussian mechanism, and a little only.
    for at in ["0.3", "0.5"] {
        let bound = gdp::delta("1".parse().unwrap(), epsilon(at));
        verifier.assert_private(
            &ApproxDp,
            &EpsilonDelta {
                epsilon: epsilon(at),
                delta: bound,
            },
        );
        let less = 0.8 * bound.to_string().parse::<f64>().unwrap();
        let less = epsilon_delta(at, &format!("{less:.9}"));
        assert!(
            verifier.check(&ApproxDp, &less).unwrap().is_refuted(),
            "{at}"
        );
    }
}

#[test]
fn a_randomized_response_is_within_a_hair_of_its_loss() {
    // The odds are e^ε, which is irrational: at ε itself it holds up to one unit in the last place.
    let respond = RandomizedResponse::new(epsilon("1")).unwrap();
    let pair = Pair::new(false, true);
    let verifier = Verifier::new(copies_of(&respond), &pair, vec![()], 1);
    let check = |claim: &str| verifier.check(&PureDp, &epsilon(claim)).unwrap();
    let at = check("1");
    assert!(at.holds() && !at.holds_exactly(), "{at}");
    assert!(at.to_string().contains("up to one unit in the last place"));
    assert!(check("1.000000000000000000000000001").holds_exactly());
    assert!(check("0.999999999999999999999999999").is_refuted());
    // Odds that are whole numbers are exact.
    let respond = RandomizedResponse::with_odds(3, 1).unwrap();
    let worst = Verifier::new(copies_of(&respond), &pair, vec![()], 1).worst_ratio();
    assert_eq!(exact(&worst.unwrap()), ratio(3, 1));
}

#[test]
fn responses_in_a_filter_keep_the_budget() {
    let respond = RandomizedResponse::new(epsilon("1")).unwrap();
    let filter = Addressed::new(Filter::concurrent(PureDp, epsilon("2")));
    let pair = Pair::new(false, true);
    let menu = Children::new(vec![respond], vec![()]);
    let verifier = Verifier::by_state(copies_of(&filter), &pair, menu, 6);
    verifier.assert_private(&PureDp, &epsilon("2.000000000000000000000000001"));
    let less = verifier
        .check(&PureDp, &epsilon("1.999999999999999999999999999"))
        .unwrap();
    assert!(less.is_refuted(), "{less}");
}

#[test]
fn above_threshold_keeps_its_loss() {
    let pair = pair();
    for (hits, depth) in [(1, 3), (2, 2)] {
        let mechanism: AboveThreshold<_> =
            AboveThreshold::new(AddRemove, 2, hits, epsilon("2")).unwrap();
        let verifier = Verifier::by_state(copies_of(&mechanism), &pair, vec![is(7), is(8)], depth)
            .cut(ratio(1, 1000));
        let claim = EpsilonDelta::new("2", "0.01").unwrap();
        verifier.assert_private(&ApproxDp, &claim);
        // And it does cost something.
        let less = EpsilonDelta::new("0.1", "0.01").unwrap();
        assert!(verifier.check(&ApproxDp, &less).unwrap().is_refuted());
    }
}

fn epsilon_delta(epsilon: &str, delta: &str) -> EpsilonDelta {
    EpsilonDelta::new(epsilon, delta).unwrap()
}

#[test]
fn a_revealing_response_has_its_delta_and_no_less() {
    let respond = ApproxRandomizedResponse::with_odds(3, 1, "0.25".parse().unwrap()).unwrap();
    let pair = Pair::new(false, true);
    let verifier = Verifier::new(copies_of(&respond), &pair, vec![()], 1);
    // Odds of 3 to 1, revealed or not: 4/16 + (9/16 - 3/16) apart.
    let apart = verifier.worst_delta_at(epsilon("0")).unwrap();
    assert_eq!(exact(&apart), ratio(10, 16));
    verifier.assert_private(&ApproxDp, &respond.epsilon_delta());
    let less = epsilon_delta("1.1", "0.2499");
    assert!(verifier.check(&ApproxDp, &less).unwrap().is_refuted());
}

#[test]
fn a_continual_count_keeps_its_loss_whatever_the_order_of_times() {
    let time = Attribute::new("time", |row: &u8| Some(u64::from(*row)));
    let counter = ContinualCount::of(time, 2).laplace(epsilon!(4)).unwrap();
    let pair = Pair::new(vec![1_u8], vec![0, 1]);
    let verifier = Verifier::new(copies_of(&counter), &pair, vec![1, 2], 2).cut(ratio(1, 1000));
    verifier.assert_private(&ApproxDp, &epsilon_delta("4", "0.01"));
    // One of its two nodes alone would lose 2.
    let less = verifier.check(&ApproxDp, &epsilon_delta("2.5", "0.01"));
    assert!(less.unwrap().is_refuted());
}

#[test]
fn an_answerer_keeps_its_budget_whatever_is_paid() {
    let rule = PureDp.accumulator().capped(epsilon("2"));
    let answerer = QueryAnswerer::new(rule);
    let menu = ["0.5", "1.5"].map(|price| Priced::new(is(7), epsilon(price)));
    let pair = pair();
    let verifier = Verifier::new(copies_of(&answerer), &pair, menu.to_vec(), 2).cut(ratio(1, 1000));
    verifier.assert_private(&ApproxDp, &epsilon_delta("2", "0.01"));
    let less = verifier.check(&ApproxDp, &epsilon_delta("1.6", "0.01"));
    assert!(less.unwrap().is_refuted());
}

#[test]
fn sums_and_histograms_keep_their_loss() {
    let value = Attribute::new("value", |row: &u8| i64::from(*row));
    let sum = Sum::of(value, 0..=2).laplace(epsilon!(2)).unwrap();
    let bin = Attribute::new("bin", |row: &u8| usize::from(*row % 2));
    let histogram = Histogram::of(Partition::numbered(bin, 2).unwrap())
        .under(Replace)
        .laplace(epsilon!(2))
        .unwrap();
    let added = Pair::new(vec![7_u8], vec![7, 2]);
    let replaced = Pair::new(vec![7_u8], vec![8]);
    let claim = epsilon_delta("2", "0.001");
    let less = epsilon_delta("1.9", "0.001");
    let sums = Verifier::new(copies_of(&sum), &added, vec![()], 1);
    sums.assert_private(&ApproxDp, &claim);
    assert!(sums.check(&ApproxDp, &less).unwrap().is_refuted());
    let bins = Verifier::new(copies_of(&histogram), &replaced, vec![()], 1).cut(ratio(1, 10_000));
    bins.assert_private(&ApproxDp, &claim);
    assert!(bins.check(&ApproxDp, &less).unwrap().is_refuted());
}

#[test]
fn histograms_over_keys_keep_their_loss() {
    // One row moves from "a" to "b"; "c" is not on the list.
    let pair = Pair::new(vec!["a", "c"], vec!["b", "c"]);
    let keys = || Partition::by_key("letter", |row: &&str| *row, ["a", "b"]).unwrap();
    let noisy = Histogram::of(keys())
        .under(Replace)
        .laplace(epsilon!(2))
        .unwrap();
    let verifier = Verifier::new(copies_of(&noisy), &pair, vec![()], 1).cut(ratio(1, 10_000));
    verifier.assert_private(&ApproxDp, &epsilon_delta("2", "0.001"));
    let less = epsilon_delta("1.9", "0.001");
    assert!(verifier.check(&ApproxDp, &less).unwrap().is_refuted());
    // Rounded to integers it loses at most what the Gaussian mechanism does, and nearly that.
    let mu = "1".parse().unwrap();
    let gaussian = Histogram::of(keys()).under(Replace).gaussian(mu).unwrap();
    let verifier = Verifier::new(copies_of(&gaussian), &pair, vec![()], 1).cut(ratio(1, 10_000));
    let delta = gdp::delta(mu, epsilon("1"))
        .to_string()
        .parse::<f64>()
        .unwrap();
    let at = |delta: f64| epsilon_delta("1", &format!("{delta:.6}"));
    verifier.assert_private(&ApproxDp, &at(delta + 5e-4));
    assert!(
        verifier
            .check(&ApproxDp, &at(0.9 * delta))
            .unwrap()
            .is_refuted()
    );
    // A row of another key changes nothing.
    let same = Pair::new(vec!["a", "c"], vec!["a", "d"]);
    let verifier = Verifier::new(copies_of(&noisy), &same, vec![()], 1).cut(ratio(1, 10_000));
    verifier.assert_private(&ApproxDp, &epsilon_delta("0", "0.001"));
}

#[test]
fn choices_keep_their_loss() {
    // One vote for 8 instead of 7.
    let pair = Pair::new(vec![7_u8], vec![8]);
    let candidates = [is(7), is(8)];
    let noisy = Choice::by(
        Replace,
        NoisyMax,
        CountScores::of(candidates.clone()),
        epsilon("1"),
    )
    .unwrap();
    let verifier = Verifier::new(copies_of(&noisy), &pair, vec![()], 1).cut(ratio(1, 10_000));
    verifier.assert_private(&ApproxDp, &epsilon_delta("1", "0.001"));
    assert!(
        verifier
            .check(&ApproxDp, &epsilon_delta("0.4", "0.001"))
            .unwrap()
            .is_refuted()
    );
    let exponential = Choice::by(
        Replace,
        ExponentialMechanism,
        CountScores::of(candidates),
        epsilon("1"),
    )
    .unwrap();
    let verifier = Verifier::new(copies_of(&exponential), &pair, vec![()], 1);
    // Odds of e^(1/2) to 1 on either side.
    assert!(
        verifier
            .check(&PureDp, &epsilon("0.500000001"))
            .unwrap()
            .holds()
    );
    assert!(
        verifier
            .check(&PureDp, &epsilon("0.499999999"))
            .unwrap()
            .is_refuted()
    );
}

#[test]
fn a_sparse_vector_keeps_its_loss_counts_included() {
    let pair = pair();
    let search: AboveThreshold<_> = AboveThreshold::new(AddRemove, 2, 1, epsilon("2")).unwrap();
    let sparse = search.with_counts(epsilon("1")).unwrap();
    let verifier = Verifier::new(copies_of(&sparse), &pair, vec![is(7)], 1).cut(ratio(1, 500));
    verifier.assert_private(&ApproxDp, &epsilon_delta("3", "0.02"));
    let less = epsilon_delta("0.5", "0.02");
    assert!(verifier.check(&ApproxDp, &less).unwrap().is_refuted());
}

#[test]
fn multiplicative_weights_keep_their_loss() {
    let pair = Pair::new(vec![0_u8, 1], vec![1, 1]);
    let weights = MultiplicativeWeights::new(vec![0, 1], 2, 1, 1, epsilon("4")).unwrap();
    let verifier = Verifier::new(copies_of(&weights), &pair, vec![is(0)], 1).cut(ratio(1, 40));
    verifier.assert_private(&ApproxDp, &epsilon_delta("4", "0.1"));
    let less = epsilon_delta("0.1", "0.1");
    assert!(verifier.check(&ApproxDp, &less).unwrap().is_refuted());
}

/// In steps of the lattice.
fn steps(sum: Vec<f64>) -> Vec<i64> {
    sum.into_iter().map(|x| x as i64).collect()
}

#[test]
fn a_vector_sum_has_the_deltas_of_the_gaussian_mechanism() {
    // One vector of length 5.
    let pair = Pair::new(vec![], vec![[3.0, 4.0]]);
    let vector = Vector::new("itself", |row: &[f64; 2], out: &mut [f64]| {
        out.copy_from_slice(row);
    });
    let lattice = Lattice::of_whole_numbers(5);
    let mu = "1".parse().unwrap();
    let sum = VectorSum::of(vector.clone(), 2, lattice)
        .gaussian(mu)
        .unwrap();
    let sum = sum.mapped(steps);
    let verifier = Verifier::new(copies_of(&sum), &pair, vec![()], 1).cut(ratio(1, 1000));
    let delta_of = |at: &str| {
        gdp::delta(mu, epsilon(at))
            .to_string()
            .parse::<f64>()
            .unwrap()
    };
    for at in ["0.5", "1"] {
        // What was cut is added to what is found.
        verifier.assert_private(
            &ApproxDp,
            &epsilon_delta(at, &format!("{:.6}", delta_of(at) + 5e-3)),
        );
        let less = epsilon_delta(at, &format!("{:.6}", 0.95 * delta_of(at)));
        assert!(
            verifier.check(&ApproxDp, &less).unwrap().is_refuted(),
            "{at}"
        );
    }
}

#[test]
fn a_sampled_sum_has_the_deltas_of_the_sampled_gaussian_mechanism() {
    // Δ = 4 steps and σ = 4, one row in four: adding it makes 3/4 + e^(…)/4 of the odds.
    let pair = Pair::new(vec![], vec![4.0]);
    let value = Vector::new("itself", |row: &f64, out: &mut [f64]| out[0] = *row);
    let lattice = Lattice::of_whole_numbers(4);
    let (rate, mu) = ("0.25".parse().unwrap(), "1".parse().unwrap());
    let sum = SampledGaussianSum::new(AddRemove, value, 1, lattice, rate, mu)
        .unwrap()
        .mapped(steps);
    let verifier = Verifier::new(copies_of(&sum), &pair, vec![()], 1).cut(ratio(1, 100_000));
    // With every row it would be 0.1269 at ε = 1. Amplified: (1, δ) becomes
    // (ln(1 + (e - 1)/4), δ/4) (Balle, Barthe, Gaboardi 2018, Theorem 8).
    let amplified = "0.357374";
    let quarter = 0.126_936_8 / 4.0;
    verifier.assert_private(
        &ApproxDp,
        &epsilon_delta(amplified, &format!("{:.6}", quarter + 5e-5)),
    );
    let less = epsilon_delta(amplified, &format!("{:.6}", 0.95 * quarter));
    assert!(verifier.check(&ApproxDp, &less).unwrap().is_refuted());
}

fn number() -> Attribute<Vec<u8>, f64> {
    Attribute::new("itself", |row: &u8| f64::from(*row))
}

#[test]
fn means_keep_their_loss() {
    let claim = epsilon_delta("2", "0.005");
    let less = epsilon_delta("1.9", "0.005");
    let mean = Mean::of(number(), range(2)).laplace(epsilon!(2)).unwrap();
    // Whatever the row is: in the middle of the range, or at its end.
    for row in [1, 2] {
        let pair = Pair::new(vec![2_u8], vec![2, row]);
        let means = Verifier::new(copies_of(&mean), &pair, vec![()], 1).cut(ratio(1, 1000));
        means.assert_private(&ApproxDp, &claim);
        assert!(means.check(&ApproxDp, &less).unwrap().is_refuted());
    }
    let mean = Mean::of(number(), range(2))
        .under(Replace)
        .laplace(epsilon!(2))
        .unwrap();
    let pair = Pair::new(vec![0_u8], vec![2]);
    let means = Verifier::new(copies_of(&mean), &pair, vec![()], 1).cut(ratio(1, 10_000));
    means.assert_private(&ApproxDp, &claim);
    assert!(means.check(&ApproxDp, &less).unwrap().is_refuted());
}

#[test]
fn gaussian_sums_and_means_have_the_deltas_of_the_gaussian_mechanism() {
    fn check<M>(mechanism: &M, pair: &Pair<Vec<u8>>)
    where
        M: Mechanism<Vec<u8>, Machine: Machine<Query = (), Answer: Clone + Eq + Hash + Debug>>
            + Clone
            + Send
            + Sync
            + 'static,
        <M::Machine as Machine>::Answer: Send + Sync + 'static,
    {
        let verifier = Verifier::new(copies_of(mechanism), pair, vec![()], 1).cut(ratio(1, 1000));
        // μ = 1: δ(1) = 0.1269..., less what rounding takes, and what was cut.
        verifier.assert_private(&ApproxDp, &epsilon_delta("1", "0.1295"));
        let less = verifier.check(&ApproxDp, &epsilon_delta("1", "0.11"));
        assert!(less.unwrap().is_refuted());
    }
    let mu = mu!(1);
    let value = Attribute::new("itself", |row: &u8| i64::from(*row));
    let sum = Sum::of(value, 0..=4).gaussian(mu).unwrap();
    check(&sum, &Pair::new(vec![1], vec![1, 4]));
    let mean = Mean::of(number(), range(4)).gaussian(mu).unwrap();
    check(&mean, &Pair::new(vec![1], vec![1, 4]));
    let mean = Mean::of(number(), range(4))
        .under(Replace)
        .gaussian(mu)
        .unwrap();
    check(&mean, &Pair::new(vec![0], vec![4]));
    // Three sums, of which a row at an end of the range changes one by w² = 1; and two, by w² = 4.
    let spread = Variance::of(number(), range(1)).gaussian(mu).unwrap();
    check(&spread, &Pair::new(vec![1], vec![1, 0]));
    let spread = Variance::of(number(), range(2))
        .under(Replace)
        .gaussian(mu)
        .unwrap();
    check(&spread, &Pair::new(vec![0], vec![2]));
    // Floats as whole numbers, which can be compared.
    let whole = |sum: f64| sum as i64;
    let sum = Sum::of(number(), range(4)).gaussian(mu).unwrap();
    check(&sum.mapped(whole), &Pair::new(vec![1], vec![1, 4]));
    let sum = Sum::of(number(), range(4))
        .under(Replace)
        .gaussian(mu)
        .unwrap();
    check(&sum.mapped(whole), &Pair::new(vec![0], vec![4]));
}

#[test]
fn variances_keep_their_loss() {
    let claim = epsilon_delta("4", "0.02");
    let less = epsilon_delta("3.8", "0.02");
    let number = Attribute::new("itself", |row: &u8| f64::from(*row));
    // Noise of scale 1/4.
    let spread = Variance::of(number.clone(), range(1))
        .laplace(epsilon!(4))
        .unwrap();
    let pair = Pair::new(vec![1_u8], vec![1, 0]);
    let spreads = Verifier::new(copies_of(&spread), &pair, vec![()], 1).cut(ratio(1, 100));
    spreads.assert_private(&ApproxDp, &claim);
    let spread = Variance::of(number, range(1))
        .under(Replace)
        .laplace(epsilon!(4))
        .unwrap();
    let pair = Pair::new(vec![0_u8], vec![1]);
    let replaced = Verifier::new(copies_of(&spread), &pair, vec![()], 1).cut(ratio(1, 100));
    replaced.assert_private(&ApproxDp, &claim);
    assert!(spreads.check(&ApproxDp, &less).unwrap().is_refuted());
    assert!(replaced.check(&ApproxDp, &less).unwrap().is_refuted());
}
