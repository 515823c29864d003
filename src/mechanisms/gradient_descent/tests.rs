use std::sync::Arc;

use super::objective::logistic_slope;
use super::*;
use crate::machine::{CoinSource, Coins, CoinsError, Law, Mechanism, Released};
use crate::mechanisms::{Lattice, MechanismError};
use crate::number::{Mu, Rho};
use crate::privacy::{AddRemove, Distance, Gdp, Private, Rdp, ZCdp};

const LATTICE: Lattice = Lattice::of_multiples(-2, 4);

/// A whole number for every row, each of which pulls by that much.
fn pull() -> Objective<Vec<f64>> {
    Objective::new("pull", 1, |_: &[f64], row: &f64, out: &mut [f64]| {
        out[0] = *row;
    })
}

fn descent(steps: u64, rate: f64, rho: &str) -> Result<GradientDescent<Vec<f64>>, MechanismError> {
    GradientDescent::new(pull(), LATTICE, steps, rate, rho.parse().unwrap())
}

/// Draws these numbers as noise, in turn.
struct Noise<'a>(std::slice::Iter<'a, i128>);

impl CoinSource for Noise<'_> {
    fn uniform(&mut self, _: std::num::NonZeroU64) -> Result<u64, CoinsError> {
        Err(CoinsError::TapeEnds)
    }

    fn draw(&mut self, _: &dyn Law) -> Result<i128, CoinsError> {
        self.0.next().copied().ok_or(CoinsError::TapeEnds)
    }
}

fn run<M>(mechanism: &M, rows: &[f64], noise: &[i128]) -> (Descent, usize)
where
    M: Mechanism<Vec<f64>, Machine = Released<Descent>>,
{
    let mut noise = Noise(noise.iter());
    let data = Arc::new(rows.to_vec());
    let Released(descent) = mechanism.start(&data, &mut Coins::new(&mut noise)).unwrap();
    (descent, noise.0.len())
}

/// Prop. 6.1: k/(2σ²).
#[test]
fn the_loss_is_that_of_all_steps() {
    let descent = descent(4000, 1.0, "0.0000125").unwrap();
    let rho: Rho = descent.loss(&ZCdp).unwrap();
    assert_eq!(rho, "0.05".parse().unwrap());
    // √(2 · 0.05 · 10), which is 1.
    let ten = self::descent(40_000, 1.0, "0.0000125").unwrap();
    let mu: Mu = ten.loss(&Gdp).unwrap();
    assert_eq!(mu, "1".parse().unwrap());
    let rdp = Rdp::new("7".parse().unwrap());
    assert_eq!(descent.loss(&rdp), Ok("0.35".parse().unwrap()));
    let three = Private::<ZCdp, AddRemove>::loss_at(&descent, &ZCdp, Distance::new(3).unwrap());
    assert_eq!(three, Ok("0.45".parse().unwrap()));
}

/// The noise of one step, in quarters, is drawn once, and is added to the sum of the clipped
/// gradients 1 and −1/2; nothing is divided by their number.
#[test]
fn every_step_draws_noise_once_and_follows_the_sum() {
    let descent = descent(2, 0.5, "0.5").unwrap();
    let (descent, left) = run(&descent, &[7.0, -0.5], &[2, -4, 99]);
    assert_eq!(left, 1);
    // −½ (½ + ½), and then −½ (½ − 1).
    assert_eq!(descent.weights(), [-0.25]);
    assert_eq!((descent.average(), descent.steps()), (&[-0.25][..], 2));
}

#[test]
fn no_records_are_no_error() {
    let (descent, _) = run(&descent(1, 1.0, "0.5").unwrap(), &[], &[4]);
    assert_eq!(descent.weights(), [-1.0]);
}

#[test]
fn the_gradient_follows_the_weights() {
    let to_row = Objective::new("distance", 1, |at: &[f64], row: &f64, out: &mut [f64]| {
        out[0] = at[0] - row;
    });
    let rho = "1e9".parse().unwrap();
    let descent = GradientDescent::new(to_row, LATTICE, 3, 0.5, rho).unwrap();
    // Half of the way each time.
    let (descent, _) = run(&descent, &[1.0], &[0, 0, 0]);
    assert_eq!(descent.weights(), [0.875]);
}

#[test]
fn the_logistic_gradient_is_precise_far_from_zero() {
    assert_eq!(logistic_slope(0.0, true), -0.5);
    assert_eq!(logistic_slope(0.0, false), 0.5);
    let far = logistic_slope(800.0, true);
    assert!((-1e-300..=0.0).contains(&far), "{far}");
    assert_eq!(logistic_slope(800.0, false), 1.0);
    assert_eq!(logistic_slope(-800.0, true), -1.0);
    let near = logistic_slope(40.0, true);
    assert!(
        (near / -4.248354255291589e-18 - 1.0).abs() < 1e-12,
        "{near}"
    );
}

/// F, after Alg. 8: with k_max = k, nobody can run out, and it is Alg. 7.
#[test]
fn filtering_changes_nothing_while_everybody_can_pay() {
    let rows = [7.0, -0.5, 0.3, f64::NAN, 1.0, 1.0];
    let noise = [3, -8, 1, 0, 12];
    let plain = descent(5, 0.5, "0.5").unwrap();
    let filtered = plain.clone().filtered(5).unwrap();
    assert_eq!(run(&filtered, &rows, &noise), run(&plain, &rows, &noise));
}

/// In quarters, from a budget of one step of 4, which is 16: a record of 4 pays once, one of 2 pays
/// four times, and one of 3 pays 9 and then contributes 2, 1, 1 and 1.
#[test]
fn with_filtering_each_record_pays_for_its_own_gradients() {
    let sums = |row: f64| {
        let path = (1..=6).map(|steps| {
            let descent = descent(1, 4.0, "0.5").unwrap().filtered(steps).unwrap();
            let (descent, _) = run(&descent, &[row], &[0; 6]);
            -descent.weights()[0]
        });
        path.collect::<Vec<f64>>()
    };
    assert_eq!(sums(1.0), [4.0; 6]);
    assert_eq!(sums(0.5), [2.0, 4.0, 6.0, 8.0, 8.0, 8.0]);
    assert_eq!(sums(0.75), [3.0, 5.0, 6.0, 7.0, 8.0, 8.0]);
}

/// Prop. 6.2: what all steps lose does not depend on their number.
#[test]
fn the_loss_with_filtering_is_the_budget() {
    let descent = descent(4000, 1.0, "0.0000125").unwrap();
    let filtered = descent.clone().filtered(100_000).unwrap();
    assert_eq!(filtered.loss(&ZCdp), Ok("0.05".parse().unwrap()));
    assert_eq!(filtered.loss(&Gdp), descent.loss(&Gdp));
}

#[test]
fn bad_parameters_are_refused() {
    let error = |steps, rate, rho| descent(steps, rate, rho).map(|_| ());
    assert_eq!(error(0, 1.0, "1"), Err(MechanismError::no_steps()));
    for rate in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let refused = error(1, rate, "1").unwrap_err().to_string();
        let message = format!("the learning rate must be finite and greater than zero, not {rate}");
        assert_eq!(refused, message);
    }
    assert_eq!(error(1, 1.0, "0"), Err(MechanismError::NoLoss("rho")));
    assert_eq!(Descent::new(0, 1.0), Err(MechanismError::none("weights")));
    for asked in [(1 << 21) + 1, 1 << 50] {
        let (what, most) = ("coordinates", 1 << 21);
        let refused = MechanismError::TooMany { what, asked, most };
        assert_eq!(Descent::new(asked, 1.0), Err(refused));
    }
    assert_eq!(error(u64::MAX, 1.0, "1"), Err(MechanismError::TooLarge));
    let none: Objective<Vec<f64>> =
        Objective::new("none", 0, |_: &[f64], _: &f64, _: &mut [f64]| ());
    let none = GradientDescent::new(none, LATTICE, 1, 1.0, "1".parse().unwrap());
    assert_eq!(none.map(|_| ()), Err(MechanismError::none("weights")));
    let filtered = descent(1, 1.0, "1").unwrap().filtered(0);
    assert_eq!(filtered.map(|_| ()), Err(MechanismError::no_steps()));
}

#[test]
fn debug_shows_what_is_public() {
    assert_eq!(
        format!("{:?}", descent(3, 1.0, "0.5").unwrap()),
        "GradientDescent(objective = pull, dimension = 1, exponent = -2, radius = 4, steps = 3, \
         learning rate = 1, rho = 0.5)"
    );
}
