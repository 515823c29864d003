//! Floating-point noise, as a baseline: `audit` finds that it leaks, and passes ours.

use std::sync::Arc;

use queryables::audit::{Audit, Pair};
use queryables::data::Attribute;
use queryables::machine::{Coins, Fault, Mechanism, Released, Script, View};
use queryables::mechanisms::{Accuracy, Count, RealRange, Sum};
use queryables::number::Confidence;
use queryables::prelude::*;
use queryables::privacy::convert::gdp;
use queryables_rand::with_rng;
use rand::RngExt;
use rand_distr::{Distribution, Exp1};
use statrs::distribution::{ContinuousCDF, Normal};

/// A sum of numbers from 0 to 1 with Laplace noise of scale 1, by floating-point samplers: what one
/// writes without this crate. On paper it is 1-DP.
struct Naive(fn(&mut dyn rand_core::Rng) -> f64);

impl Mechanism<Vec<f64>> for Naive {
    type Machine = Released<f64>;

    fn start(&self, data: &Arc<Vec<f64>>, coins: &mut Coins<'_>) -> Result<Released<f64>, Fault> {
        let noise = with_rng(coins, |rng| (self.0)(rng))?;
        Ok(Released(data.iter().sum::<f64>() + noise))
    }
}

/// An exponential value with a random sign, as `rand_distr` draws it.
fn signed_exponential(rng: &mut dyn rand_core::Rng) -> f64 {
    let size: f64 = Exp1.sample(rng);
    if rng.random() { size } else { -size }
}

/// The inverse of the distribution function, as in textbooks.
fn inverse(rng: &mut dyn rand_core::Rng) -> f64 {
    let uniform: f64 = rng.random();
    let centred = uniform - 0.5;
    -centred.signum() * (1.0 - 2.0 * centred.abs()).ln()
}

/// Mironov (2012): with the row, an answer near zero is 1 plus noise near −1. A float there is a
/// multiple of 2^-53, and so is the answer. Without the row, the answer is noise near zero, where
/// floats are finer.
fn is_finer_than_possible_with_the_row(view: &View<f64>) -> bool {
    let near_zero = |answer: f64| answer.abs() < 0.5 && (answer * 2_f64.powi(53)).fract() != 0.0;
    view.answers()
        .any(|answer| answer.as_ref().is_ok_and(|answer| near_zero(*answer)))
}

const EVENT: &str = "near zero, and finer than possible with the row";

fn one_row_or_none() -> Pair<Vec<f64>> {
    Pair::new(vec![], vec![1.0])
}

/// The seed was chosen beforehand; with any other, a mechanism that is private would be refuted with
/// probability at most 1e-9.
#[test]
fn floating_point_noise_is_refuted_by_its_last_bits() {
    let pair = one_row_or_none();
    for naive in [Naive(signed_exponential), Naive(inverse)] {
        let audit = Audit::new(&naive, &pair, || Script::new([()]), 1)
            .trials(4000)
            .seed(1);
        let finding = audit
            .run_on(EVENT, is_finer_than_possible_with_the_row)
            .unwrap();
        let verdict = finding.check(&PureDp, &"1".parse().unwrap());
        assert!(verdict.is_refuted(), "{verdict}");
        // The event never happens with the row; what is found is what that number of trials can show.
        assert!(finding.epsilon > "3".parse().unwrap(), "{finding:?}");
    }
}

#[test]
fn noise_on_a_lattice_is_not() {
    let pair = one_row_or_none();
    let row = Attribute::new("row", |row: &f64| *row);
    // As fine as the lattice may be for this range.
    let ours = Sum::of(row, RealRange::from(0.0..=1.0).with_step(-50))
        .laplace(epsilon!(1))
        .unwrap();
    let audit = Audit::new(&ours, &pair, || Script::new([()]), 1)
        .trials(4000)
        .seed(1);
    let finding = audit
        .run_on(EVENT, is_finer_than_possible_with_the_row)
        .unwrap();
    assert!(
        !finding.check(&PureDp, &"1".parse().unwrap()).is_refuted(),
        "{finding:?}"
    );
    // And neither by whatever its last bits tell.
    let last_bits = |view: &View<f64>| {
        let bits = |answer: f64| (answer.abs() < 0.5, answer.to_bits() & 15);
        view.answers()
            .map(|answer| answer.as_ref().map(|answer| bits(*answer)).ok())
            .collect::<Vec<_>>()
    };
    let finding = audit.run_by(last_bits).unwrap();
    assert!(
        !finding.check(&PureDp, &"1".parse().unwrap()).is_refuted(),
        "{finding:?}"
    );
}

/// `statrs` as an oracle, at moderate arguments: farther out its special functions have open bugs.
#[test]
fn conversions_agree_with_another_normal_distribution() {
    let normal = Normal::standard();
    for mu in [0.25, 0.5, 1.0, 2.0_f64] {
        for epsilon in [0.0, 0.125, 0.5, 1.0, 2.0_f64] {
            let expected = normal.cdf(mu / 2.0 - epsilon / mu)
                - epsilon.exp() * normal.cdf(-mu / 2.0 - epsilon / mu);
            let delta = gdp::delta(mu.try_into().unwrap(), epsilon.try_into().unwrap());
            let delta = delta.to_f64_up();
            assert!(
                (delta - expected).abs() < 1e-10,
                "{mu} {epsilon}: {delta} {expected}"
            );
        }
    }
}

/// A rounded Gaussian is beyond k if and only if the Gaussian is beyond k + 1/2.
#[test]
fn accuracies_agree_with_another_normal_distribution() {
    let all = queryables::data::Predicate::<Vec<u8>>::new("all", |_: &u8| true);
    for (rho, deviation) in [("0.5", 1.0), ("0.02", 5.0), ("0.005", 10.0)] {
        let count = Count::of(all.clone())
            .gaussian(rho.parse::<Rho>().unwrap())
            .unwrap();
        let normal = Normal::new(0.0, deviation).unwrap();
        for confidence in ["0.5", "0.8", "0.95", "0.99"] {
            let most = 1.0 - confidence.parse::<f64>().unwrap();
            let beyond = |steps: u128| 2.0 * normal.sf(steps as f64 + 0.5);
            let expected = (0..).find(|steps| beyond(*steps) <= most).unwrap();
            let confidence: Confidence = confidence.parse().unwrap();
            assert_eq!(count.accuracy(confidence), expected, "{rho} {confidence}");
        }
    }
}
