//! A measure that is defined outside the crate, under which its mechanisms are launched.

use std::sync::Arc;

use queryables::account::{AddsUpConcurrently, AddsUpSequentially};
use queryables::data::Predicate;
use queryables::mechanisms::{
    AboveThreshold, Choice, Count, CountScores, MultiplicativeWeights, NoisyMax, RandomizedResponse,
};
use queryables::number::Mu;
use queryables::prelude::*;
use queryables::privacy::facts::{Gaussian, Laplace, Pure};
use queryables::privacy::{
    Additive, Distance, Gdp, Implies, Measure, Overflow, Postprocessable, Prices, Restated,
};

/// The total variation distance: (0, δ)-DP.
#[derive(Clone, Debug, PartialEq)]
struct TotalVariation;

impl Measure for TotalVariation {
    type Loss = Delta;

    fn zero(&self) -> Delta {
        Delta::ZERO
    }

    fn join(&self, one: &Delta, other: &Delta) -> Delta {
        *one.max(other)
    }

    /// It is a metric.
    fn group(&self, loss: &Delta, distance: Distance) -> Result<Delta, UnknownLoss> {
        Ok(loss.checked_mul(distance.steps()).unwrap_or(Delta::ONE))
    }
}

impl Postprocessable for TotalVariation {}

impl Additive for TotalVariation {
    fn plus(&self, one: &Delta, other: &Delta) -> Result<Delta, Overflow> {
        one.checked_add(*other).ok_or(Overflow)
    }

    fn minus(&self, whole: &Delta, part: &Delta) -> Delta {
        whole.saturating_sub(*part)
    }
}

/// It is (0, δ)-DP (Haney et al. 1.20).
impl AddsUpSequentially for TotalVariation {}
impl AddsUpConcurrently for TotalVariation {}

/// tanh(ε/2), by randomized response; this is at most ε/2.
impl Implies<TotalVariation> for PureDp {
    fn imply(&self, loss: &Epsilon, _: &TotalVariation) -> Result<Delta, UnknownLoss> {
        // In units of 1e-38, of which an ε has 1e11 to a unit.
        let units = loss.units().checked_mul(50_000_000_000);
        let delta = units.and_then(|units| Delta::from_units(units).ok());
        Ok(delta.unwrap_or(Delta::ONE))
    }
}

/// No more is known than pure privacy.
impl Prices<Laplace> for TotalVariation {
    fn price(&self, fact: &Laplace) -> Result<Delta, UnknownLoss> {
        self.price(&Pure {
            epsilon: fact.epsilon,
        })
    }
}

/// 2Φ(μ/2) − 1, which is at most μ/√(2π), and so at most 2μ/5.
impl Prices<Gaussian> for TotalVariation {
    fn price(&self, fact: &Gaussian) -> Result<Delta, UnknownLoss> {
        let mu: Mu = Gdp.price(fact)?;
        let units = mu.units().checked_mul(40_000_000_000);
        let delta = units.and_then(|units| Delta::from_units(units).ok());
        Ok(delta.unwrap_or(Delta::ONE))
    }
}

fn losses(mechanism: &impl Private<TotalVariation, Replace>) -> [String; 2] {
    let two = Distance::new(2).unwrap();
    let losses = [
        mechanism.loss(&TotalVariation),
        mechanism.loss_at(&TotalVariation, two),
    ];
    losses.map(|loss| loss.unwrap().to_string())
}

fn ones() -> Predicate<Vec<u8>> {
    Predicate::new("one", |row: &u8| *row == 1)
}

fn epsilon() -> Epsilon {
    "0.2".parse().unwrap()
}

#[test]
fn what_pure_privacy_implies_is_its_price() {
    let max = Choice::by(Replace, NoisyMax, CountScores::of([ones()]), epsilon()).unwrap();
    assert_eq!(losses(&max), ["0.1", "0.2"]);
    let search = AboveThreshold::<Predicate<Vec<u8>>, _>::new(Replace, 3, 1, epsilon()).unwrap();
    assert_eq!(losses(&search), ["0.1", "0.2"]);
    let weights = MultiplicativeWeights::new(vec![1_u8], 9, 3, 1, epsilon()).unwrap();
    assert_eq!(losses(&weights), ["0.1", "0.2"]);
    let response = RandomizedResponse::new(epsilon()).unwrap();
    assert_eq!(losses(&response), ["0.1", "0.1"]);
    // And through the wrapper that is for mechanisms of others.
    let restated = Restated::new(PureDp, max);
    assert_eq!(losses(&restated), ["0.1", "0.2"]);
}

#[test]
fn other_facts_have_the_price_that_the_measure_says() {
    let count = Count::of(ones()).under(Replace).laplace(epsilon()).unwrap();
    assert_eq!(losses(&count), ["0.1", "0.2"]);
    let count = Count::of(ones())
        .under(Replace)
        .gaussian(mu!(0.25))
        .unwrap();
    assert_eq!(losses(&count), ["0.1", "0.2"]);
}

#[test]
fn mechanisms_are_launched_under_it() {
    let budget: Delta = "0.1".parse().unwrap();
    let filter = Filter::concurrent(TotalVariation, budget).under(Replace);
    let filter = start(&filter, Arc::new(vec![1_u8, 2])).unwrap();
    let count = |epsilon| Count::of(ones()).under(Replace).laplace(epsilon).unwrap();
    let over = filter.release(&count(epsilon!(0.21)));
    let Err(LaunchError::Refused(refusal)) = over else {
        panic!("refused: {over:?}");
    };
    assert_eq!(refusal.requested, "0.105".parse().unwrap());
    assert!(filter.release(&count(epsilon())).is_ok());
    assert_eq!(filter.privacy_loss(), budget);
}

#[test]
fn a_filter_adds_up_under_it_without_a_rule_of_its_own() {
    let filter = Filter::concurrent(TotalVariation, "0.1".parse().unwrap());
    let filter = start(&filter, Arc::new(vec![1_u8, 2])).unwrap();
    let count = |epsilon: &str| {
        Count::of(ones())
            .laplace(epsilon.parse::<Epsilon>().unwrap())
            .unwrap()
    };
    assert!(filter.release(&count("0.1")).is_ok());
    assert_eq!(filter.privacy_loss(), "0.05".parse().unwrap());
    let refused = filter.release(&count("0.11"));
    assert!(
        matches!(refused, Err(LaunchError::Refused(refusal)) if refusal.remaining == "0.05".parse().unwrap())
    );
    assert!(filter.release(&count("0.1")).is_ok());
}
