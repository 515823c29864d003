//! Private gradient descent on one record, against the claims of F Prop. 6.1 and 6.2.

use crate::support::*;
use queryables::mechanisms::{Descent, GradientDescent, Lattice, Objective};
use queryables::middle::ThroughExt;
use queryables::number::{Epsilon, Mu};
use queryables::privacy::convert::gdp;
use queryables::privacy::{ApproxDp, EpsilonDelta, Gdp, Private};
use queryables::verify::{Pair, Verifier, copies_of};

/// Clipped to a length of 5; with ρ = 1/2 a step has noise of the same deviation.
const LATTICE: Lattice = Lattice::of_whole_numbers(5);

/// Two steps, released as whole numbers.
fn descent(row: f64, steps: u64, most_steps: Option<u64>) -> (Checked, Mu) {
    let pull = Objective::new("pull", 1, |_: &[f64], row: &f64, out: &mut [f64]| {
        out[0] = *row;
    });
    let rho = "0.5".parse().unwrap();
    let descent = GradientDescent::new(pull, LATTICE, steps, 1.0, rho).unwrap();
    let descent = match most_steps {
        Some(most) => descent.filtered(most).unwrap(),
        None => descent,
    };
    let mu = descent.loss(&Gdp).unwrap();
    let whole = descent.mapped(|descent: Descent| descent.weights()[0] as i64);
    let pair = Pair::new(vec![], vec![row]);
    let verifier = Verifier::new(copies_of(&whole), &pair, vec![()], 1).cut(ratio(1, 2000));
    (
        Checked(Box::new(move |claim| {
            verifier.check(&ApproxDp, claim).unwrap().holds()
        })),
        mu,
    )
}

/// Whether a claim holds.
struct Checked(Box<dyn Fn(&EpsilonDelta) -> bool>);

impl Checked {
    /// Whether δ at this ε is at most this share of what μ-GDP allows; what was cut is added.
    fn is_within(&self, mu: Mu, at: &str, share: f64) -> bool {
        let epsilon: Epsilon = at.parse().unwrap();
        let delta: f64 = gdp::delta(mu, epsilon).to_string().parse().unwrap();
        let delta = format!("{:.6}", share * delta + 2e-3);
        (self.0)(&EpsilonDelta::new(at, delta.as_str()).unwrap())
    }
}

/// One step moves by 5, of which the loss is that of one step, and two by 10.
#[test]
fn the_loss_without_filtering_is_attained_and_not_exceeded() {
    let (two, mu) = descent(9.0, 2, None);
    assert!(two.is_within(mu, "1", 1.0));
    assert!(!two.is_within(mu, "1", 0.95));
    let (_, of_one) = descent(9.0, 1, None);
    assert!(!two.is_within(of_one, "1", 1.0));
}

/// From a budget of one step of 5, a record of 4 pays 16 of 25 in the first step, and contributes 3
/// in the second: 7 in all, where noise of two steps allows √50.
#[test]
fn the_loss_with_filtering_is_that_of_the_budget_however_many_steps_there_are() {
    let (two, mu) = descent(4.0, 1, Some(2));
    assert!(two.is_within(mu, "1", 1.0));
    assert!(!two.is_within(mu, "1", 0.9));
    // One that is too long pays all of it in the first step.
    let (two, mu) = descent(9.0, 1, Some(2));
    assert!(two.is_within(mu, "1", 1.0));
}
