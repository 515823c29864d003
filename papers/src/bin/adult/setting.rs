//! The parameters of F §6.2, and one setting of our own.

use queryables::data::Vector;
use queryables::mechanisms::{Lattice, VectorSum};
use queryables::number::{Mu, Rho};
use queryables::privacy::convert::gdp;
use queryables::privacy::{Gdp, Prices, facts::Gaussian};

use crate::Outcome;
use crate::census::{Example, LONG_FOR_A_FEW, ORDINARY, Scales, features};

/// Gradients are rounded to multiples of 1/1024.
const EXPONENT: i32 = -10;

/// The δ of F.
const DELTA: &str = "1e-5";

/// One row of the table.
#[derive(Clone, Debug)]
pub struct Setting {
    pub name: &'static str,
    pub scales: &'static Scales,
    /// The noise scale σ: noise has a deviation of σ·C.
    pub sigma: f64,
    /// The length that gradients are clipped to, C.
    pub clip: f64,
    /// The learning rate for averages, η.
    pub rate: f64,
    /// Without filtering, k: the budget allows this number of steps of length C.
    pub steps: u64,
    /// With filtering, k_max.
    pub most_steps: u64,
    /// The accuracies in F, without and with filtering, with their deviations.
    pub printed: Option<[(f64, f64); 2]>,
}

const fn of_f(
    name: &'static str,
    sigma: f64,
    rate: f64,
    [steps, most_steps]: [u64; 2],
    printed: Option<[(f64, f64); 2]>,
) -> Setting {
    Setting {
        name,
        scales: &ORDINARY,
        sigma,
        clip: 3.7,
        rate,
        steps,
        most_steps,
        printed,
    }
}

/// F §6.2, and the row ε = 1.0 once more with the noise that it would need.
pub const OF_F: [Setting; 5] = [
    of_f(
        "0.3",
        455.34,
        1.5,
        [800, 960],
        Some([(83.80, 0.22), (83.91, 0.12)]),
    ),
    of_f(
        "0.5",
        433.80,
        1.5,
        [2000, 2100],
        Some([(84.11, 0.15), (84.18, 0.10)]),
    ),
    of_f(
        "1.0",
        613.49,
        2.0,
        [4000, 4800],
        Some([(84.28, 0.11), (84.42, 0.12)]),
    ),
    of_f("1.0*", 309.94, 2.0, [4000, 4800], None),
    of_f(
        "1.2",
        259.33,
        2.0,
        [4000, 4120],
        Some([(84.45, 0.13), (84.48, 0.15)]),
    ),
];

/// A few people have long gradients, and the clip value leaves room for them. So most people pay for
/// a step a small share of what it may cost.
pub const LONG: Setting = Setting {
    name: "long",
    scales: &LONG_FOR_A_FEW,
    sigma: 20.0,
    clip: 20.0,
    rate: 2.0,
    steps: 40,
    most_steps: 200,
    printed: None,
};

impl Setting {
    /// ρ of a step in which a gradient has the length C, 1/(2σ²), rounded down: the noise is at least
    /// F's.
    pub fn rho(&self) -> Outcome<Rho> {
        Ok(Rho::round_down(&format!(
            "{:.18}",
            0.5 / (self.sigma * self.sigma)
        ))?)
    }

    /// The sum of these gradients, clipped to the length C.
    pub fn sum(&self, gradient: Vector<Vec<Example>>) -> VectorSum<Vector<Vec<Example>>> {
        let steps = self.clip / f64::from(EXPONENT).exp2();
        VectorSum::of(
            gradient,
            features(),
            Lattice::in_steps(EXPONENT, steps as u64),
        )
    }

    /// ρ of all steps without filtering, which is every record's budget with filtering.
    pub fn budget(&self) -> Outcome<Rho> {
        Ok(self
            .rho()?
            .checked_mul(self.steps)
            .ok_or("too many steps")?)
    }

    /// ε as F computes it: by Fact 2.4, at the order that is best for ρ.
    pub fn epsilon_of_f(&self) -> Outcome<f64> {
        let rho: f64 = self.budget()?.to_string().parse()?;
        Ok(rho + 2.0 * (rho * 1e5_f64.ln()).sqrt())
    }

    /// The exact ε of the Gaussian noise of all steps.
    pub fn exact_epsilon(&self) -> Outcome<f64> {
        let mu: Mu = Gdp.price(&Gaussian::Rho(self.budget()?))?;
        Ok(gdp::epsilon(mu, DELTA.parse()?)?.to_string().parse()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The row ε = 1.0 of F has the noise of ε = 0.5.
    #[test]
    fn the_rows_have_the_epsilons_that_are_printed_but_for_one() {
        let near =
            |one: f64, other: f64, by: f64| assert!((one - other).abs() < by, "{one} {other}");
        for (setting, simple, exact) in [
            (&OF_F[0], 0.3, 0.203),
            (&OF_F[1], 0.5, 0.352),
            (&OF_F[2], 0.5, 0.352),
            (&OF_F[3], 1.0, 0.742),
            (&OF_F[4], 1.2, 0.902),
        ] {
            near(setting.epsilon_of_f().unwrap(), simple, 5e-4);
            near(setting.exact_epsilon().unwrap(), exact, 1e-3);
        }
    }
}
