//! Rows of mechanisms with Gaussian noise, and of those for which each record pays.

use std::sync::Arc;

use super::{Claims, assert_row, cells, epsilon, is, laplace, mu, number, pair};
use crate::support::*;
use queryables::compose::{IndividualAnswers, IndividualFilter};
use queryables::data::{Attribute, Vector};
use queryables::machine::{Coins, Fault, Machine, Mechanism, ReleasesOnly};
use queryables::mechanisms::{
    Choice, ContinualCount, Count, Descent, ExponentialMechanism, FactorizedContinualCount,
    GradientDescent, Lattice, Objective, SampledGaussianSum, Sum, SumScores, VectorSum,
};
use queryables::middle::ThroughExt;
use queryables::prelude::*;
use queryables::privacy::{AddRemove, PureDp, Replace, ZCdp};
use queryables::verify::{Pair, Rational, Verifier, VerifyError, copies_of};

/// A cut that is small enough for one draw.
fn small() -> Rational {
    ratio(1, 1 << 16)
}

#[test]
fn gaussian_counts_and_sums() {
    let count = Count::of(is(7)).gaussian(mu!(0.5)).unwrap();
    let verifier = Verifier::new(copies_of(&count), &pair(), vec![()], 1).releases_only();
    // αμ²/2; rounding takes at most 1/12σ² from it.
    assert_row(
        "Count with Gaussian noise",
        verifier,
        Claims(["5", "1"], "0.5", ["0.25", "0.24"]),
    );

    let value = Attribute::new("itself", |row: &u8| i64::from(*row));
    let added = Pair::new(vec![1_u8], vec![1, 4]);
    let sum = Sum::of(value, 0..=4).gaussian(mu()).unwrap();
    let verifier = Verifier::new(copies_of(&sum), &added, vec![()], 1)
        .releases_only()
        .cut(small());
    assert_row(
        "Sum with Gaussian noise",
        verifier,
        Claims(["9", "1"], "0.5", ["1", "0.9"]),
    );

    let sum = Sum::of(number(), range(4)).gaussian(mu()).unwrap();
    let sum = sum.mapped(|noisy: f64| noisy as i64);
    let verifier = Verifier::new(copies_of(&sum), &added, vec![()], 1)
        .releases_only()
        .cut(small());
    assert_row(
        "Sum of real numbers, with Gaussian noise",
        verifier,
        Claims(["9", "1"], "0.5", ["1", "0.9"]),
    );
}

#[test]
fn continual_counts_with_gaussian_noise() {
    let time = || Attribute::new("time", |row: &u8| Some(u64::from(*row)));
    let arrives = Pair::new(vec![1_u8], vec![0, 1]);
    let counter = ContinualCount::of(time(), 2).gaussian(mu()).unwrap();
    let verifier = Verifier::new(copies_of(&counter), &arrives, vec![1, 2], 2).releases_only();
    let verifier = verifier.cut(ratio(1, 1000));
    assert_row(
        "ContinualCount with Gaussian noise",
        verifier,
        Claims(["5", "0.5"], "0.5", ["1", "0.5"]),
    );

    let counter = FactorizedContinualCount::new(AddRemove, time(), 2, mu()).unwrap();
    let verifier = Verifier::new(copies_of(&counter), &arrives, vec![1], 1);
    let found = verifier.worst_delta_at(epsilon("0.5"));
    let VerifyError::TooManyOutcomes { .. } = found.unwrap_err() else {
        panic!("it can be followed");
    };
    assert_eq!(cells("FactorizedContinualCount"), ["too fine"; 3]);
}

/// In steps of the lattice.
fn steps(sum: Vec<f64>) -> Vec<i64> {
    sum.into_iter().map(|x| x as i64).collect()
}

fn scalar() -> Vector<Vec<f64>> {
    Vector::new("itself", |row: &f64, out: &mut [f64]| out[0] = *row)
}

fn lattice(radius: u64) -> Lattice {
    Lattice::of_whole_numbers(radius)
}

#[test]
fn vector_sums() {
    let vector = Vector::new("itself", |row: &[f64; 2], out: &mut [f64]| {
        out.copy_from_slice(row);
    });
    let sum = VectorSum::of(vector, 2, lattice(2)).gaussian(mu()).unwrap();
    let sum = sum.mapped(steps);
    let added = Pair::new(vec![], vec![[2.0, 0.0]]);
    let verifier = Verifier::new(copies_of(&sum), &added, vec![()], 1)
        .releases_only()
        .cut(ratio(1, 1000));
    assert_row(
        "VectorSum with Gaussian noise",
        verifier,
        Claims(["5", "1"], "0.5", ["1", "0.5"]),
    );

    let rate = "0.25".parse().unwrap();
    let sum = SampledGaussianSum::new(AddRemove, scalar(), 1, lattice(4), rate, mu()).unwrap();
    let added = Pair::new(vec![], vec![4.0]);
    let mapped = sum.mapped(steps);
    let verifier = Verifier::new(copies_of(&mapped), &added, vec![()], 1)
        .releases_only()
        .cut(small());
    // ln(1 + (e − 1)/16) = 0.10198: the sampled Gaussian of order 2; rounding takes little.
    let claims = Claims(["5", "0.5"], "0.3", ["0.102", "0.09"]);
    assert_row("SampledGaussianSum", verifier, claims);
    // Replaced by its opposite: 0.23374 by the integral.
    let sum = SampledGaussianSum::new(Replace, scalar(), 1, lattice(4), rate, mu()).unwrap();
    let replaced = Pair::new(vec![-4.0], vec![4.0]);
    let mapped = sum.mapped(steps);
    let verifier = Verifier::new(copies_of(&mapped), &replaced, vec![()], 1)
        .releases_only()
        .cut(small());
    let claims = Claims(["5", "0.5"], "0.3", ["0.2338", "0.22"]);
    assert_row("SampledGaussianSum", verifier, claims);

    let pull = Objective::new("pull", 1, |_: &[f64], row: &f64, out: &mut [f64]| {
        out[0] = *row;
    });
    let rho = "0.5".parse().unwrap();
    let descent = GradientDescent::new(pull, lattice(5), 1, 1.0, rho).unwrap();
    let whole = descent.mapped(|descent: Descent| descent.weights()[0] as i64);
    let moved = Pair::new(vec![], vec![9.0]);
    let verifier = Verifier::new(copies_of(&whole), &moved, vec![()], 1).cut(small());
    assert_row(
        "GradientDescent",
        verifier,
        Claims(["9", "1"], "0.5", ["1", "0.5"]),
    );
}

/// A mechanism whose answers are whole numbers in a float: as such they can be told apart.
#[derive(Clone)]
struct Whole<M>(M);
struct WholeMachine<S>(S);

impl<D, M> Mechanism<D> for Whole<M>
where
    M: Mechanism<D, Machine: Machine<Answer = Vec<f64>>>,
{
    type Machine = WholeMachine<M::Machine>;

    fn start(&self, data: &Arc<D>, coins: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        self.0.start(data, coins).map(WholeMachine)
    }
}

impl<M: ReleasesOnly> ReleasesOnly for Whole<M> {}

impl<S: Machine<Answer = Vec<f64>>> Machine for WholeMachine<S> {
    type Query = S::Query;
    type Answer = Vec<i64>;

    fn step(&mut self, query: S::Query, coins: &mut Coins<'_>) -> Result<Vec<i64>, Fault> {
        self.0.step(query, coins).map(steps)
    }
}

/// In a filter that is asked twice, and has a budget for less.
#[test]
fn queries_for_which_each_record_pays() {
    let filter = IndividualFilter::new(PureDp, epsilon("1"));
    let answers = IndividualAnswers::new(filter.clone());
    let count = Count::of(is(7)).laplace(epsilon!(1)).unwrap();
    let verifier = Verifier::new(copies_of(&answers), &pair(), vec![count], 2).releases_only();
    let verifier = verifier.cut(ratio(1, 1000));
    let [exact, _] = laplace(1, &["1"]);
    assert_row(
        "Count with Laplace noise, where records pay",
        verifier,
        Claims(["1", "0.9"], "0.5", [&exact, "0.2"]),
    );

    let value = || Attribute::new("itself", |row: &u8| i64::from(*row));
    let added = Pair::new(vec![2_u8], vec![2, 1]);
    let sum = Sum::of(value(), 0..=2).laplace(epsilon!(2)).unwrap();
    let answers = IndividualAnswers::new(filter.clone());
    let verifier = Verifier::new(copies_of(&answers), &added, vec![sum], 1).releases_only();
    assert_row(
        "Sum with Laplace noise, where records pay",
        verifier,
        Claims(["1", "0.9"], "0.5", ["1", "0.2"]),
    );

    let other = Attribute::new("other", |row: &u8| 2 - i64::from(*row));
    let choice = Choice::by(
        AddRemove,
        ExponentialMechanism,
        SumScores::of([value(), other], 0..=2).unwrap(),
        epsilon("1"),
    )
    .unwrap();
    let answers = IndividualAnswers::new(filter);
    let added = Pair::new(vec![2_u8], vec![2, 2]);
    let verifier = Verifier::new(copies_of(&answers), &added, vec![choice], 2);
    assert_row(
        "SumScores, for records",
        verifier,
        Claims(["1", "0.2"], "0.1", ["1", "0.01"]),
    );

    let sum = VectorSum::of(scalar(), 1, lattice(4))
        .gaussian(mu())
        .unwrap();
    let answers = IndividualAnswers::new(IndividualFilter::new(ZCdp, "0.5".parse().unwrap()));
    let added = Pair::new(vec![], vec![4.0]);
    let verifier = Verifier::new(copies_of(&Whole(answers)), &added, vec![sum], 1)
        .releases_only()
        .cut(small());
    assert_row(
        "VectorSum with Gaussian noise, where records pay",
        verifier,
        Claims(["9", "1"], "0.5", ["1", "0.9"]),
    );
}
