//! A claim must belong to its measure and forbid something, and a verdict says what was claimed.

use queryables::mechanisms::RandomizedResponse;
use queryables::number::{Epsilon, Order};
use queryables::privacy::{
    ApproxDp, Distance, EpsilonDelta, Measure, PureDp, Rdp, RdpGrid, UnknownLoss,
};
use queryables::verify::{Checkable, Goal, Pair, Verifier, VerifyError, copies_of};

fn order(text: &str) -> Order {
    text.parse().unwrap()
}

fn epsilon(text: &str) -> Epsilon {
    text.parse().unwrap()
}

fn grid(orders: &[&str]) -> RdpGrid {
    RdpGrid::new(orders.iter().map(|text| order(text))).unwrap()
}

/// Tells the truth three times in four.
fn respond() -> Verifier<(), bool, Vec<()>, RandomizedResponse> {
    let respond = RandomizedResponse::with_odds(3, 1).unwrap();
    Verifier::new(copies_of(&respond), &Pair::new(false, true), vec![()], 1)
}

#[test]
fn a_curve_of_another_grid_is_an_error() {
    let large = grid(&["2", "8", "64"]);
    let shorter = grid(&["2"]).curve([epsilon("0.848")]).unwrap();
    let epsilons = ["0.848", "1.06", "1.1"].map(epsilon);
    let other = grid(&["8", "64", "100"]).curve(epsilons).unwrap();
    for curve in [shorter, other] {
        let checked = respond().check(&large, &curve);
        assert_eq!(checked.unwrap_err(), VerifyError::OtherMeasure);
        let certified = respond().certify(&large, &curve);
        assert_eq!(certified.unwrap_err(), VerifyError::OtherMeasure);
    }
    // The same numbers on the grid that they are for.
    let curve = large.curve(epsilons).unwrap();
    assert!(respond().check(&large, &curve).unwrap().holds());
}

#[test]
fn a_verdict_says_the_order_and_the_epsilon_that_it_is_about() {
    let measure = Rdp::new(order("2"));
    let verdict = respond().check(&measure, &epsilon("0.848")).unwrap();
    assert!(
        verdict.to_string().starts_with(
            "private: e^((α-1) D_α), for α = 2 and ε = 0.848, may be at most 2.334972234…, and is 7/3 "
        ),
        "{verdict}"
    );
    let claim = EpsilonDelta::new("1", "0.1").unwrap();
    let verdict = respond().check(&ApproxDp, &claim).unwrap();
    assert!(
        verdict
            .to_string()
            .starts_with("private: δ(ε), for ε = 1, may be at most 1/10, and is "),
        "{verdict}"
    );
    let verdict = respond().check(&PureDp, &epsilon("1.1")).unwrap();
    assert!(
        verdict.to_string().starts_with(
            "private: the ratio of the probabilities of a view, for ε = 1.1, may be at most \
             3.004166023…, and is 3 "
        ),
        "{verdict}"
    );
}

/// Makes nothing of a claim.
#[derive(Clone, Debug, PartialEq)]
struct Anything;

impl Measure for Anything {
    type Loss = Epsilon;
    fn zero(&self) -> Epsilon {
        Epsilon::ZERO
    }
    fn join(&self, one: &Epsilon, other: &Epsilon) -> Epsilon {
        *one.max(other)
    }
    fn group(&self, _: &Epsilon, _: Distance) -> Result<Epsilon, UnknownLoss> {
        Err(UnknownLoss("none"))
    }
}

impl Checkable for Anything {
    fn goals(&self, _: &Epsilon) -> Vec<Goal> {
        vec![]
    }
}

#[test]
fn a_claim_without_goals_is_an_error() {
    let checked = respond().check(&Anything, &Epsilon::ZERO);
    assert_eq!(checked.unwrap_err(), VerifyError::NoGoals);
}

#[test]
fn a_delta_of_one_is_an_error() {
    for claimed in ["0", "1"] {
        let everything = EpsilonDelta::new(claimed, "1").unwrap();
        let checked = respond().check(&ApproxDp, &everything);
        assert_eq!(checked.unwrap_err(), VerifyError::ForbidsNothing);
        let certified = respond().certify(&ApproxDp, &everything);
        assert_eq!(certified.unwrap_err(), VerifyError::ForbidsNothing);
    }
    let nearly = EpsilonDelta::new("0", "0.999").unwrap();
    assert!(respond().check(&ApproxDp, &nearly).unwrap().holds());
}
