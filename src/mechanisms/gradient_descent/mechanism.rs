//! A given number of steps.

use std::sync::Arc;

use super::{Descent, Objective};
use crate::data::Dataset;
use crate::machine::{Coins, Description, Fault, Mechanism, Released};
use crate::mechanisms::{GaussianVectorSum, Lattice, MechanismError, shown, states};
use crate::number::Rho;
use crate::privacy::AddRemove;
use crate::privacy::facts::Gaussian;

/// Private gradient descent with a given number of steps (Feldman and Zrnic Alg. 7). It releases the
/// [`Descent`]: the last weights and the average.
///
/// Gradients are clipped to the radius of the lattice, C in F. With F's noise scale σ, a step costs
/// ρ = 1/(2σ²).
///
/// ```
/// use queryables::mechanisms::{Descent, GradientDescent, Lattice, Objective};
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let mean = Objective::new("distance", 1, |weights: &[f64], row: &f64, out: &mut [f64]| {
///     out[0] = weights[0] - row;
/// });
/// let lattice = Lattice { exponent: -10, radius: 1024 };
/// // About a thousand rows are expected.
/// let descent = GradientDescent::new(mean, lattice, 50, 0.1 / 1000.0, "0.01".parse()?)?;
///
/// let filter = launch(&Filter::concurrent(ZCdp, "0.5".parse()?), Arc::new(vec![0.6; 1000]))?;
/// let descent: Descent = filter.release(&descent)?;
/// assert!((descent.average()[0] - 0.6).abs() < 0.1);
/// // Fifty times 0.01.
/// assert_eq!(filter.privacy_loss(), "0.5".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// k·ρ-zCDP for k steps of ρ (F Prop. 6.1), for records that are added or removed: each step is a
/// [`GaussianVectorSum`], of which the next depends on what was released, and the weights are
/// postprocessing. It states [`Gaussian`] noise of k·ρ under every measure that prices it: adaptively
/// chosen Gaussian mechanisms of ρ₁, …, ρ_k together lose no more than one of Σρ, under zCDP and RDP
/// because losses add up, and under GDP and f-DP because Gaussians are closed under composition (Dong,
/// Roth, Su 2022, Theorem 3.2 and Corollary 3.3). The same at every distance.
///
/// Nothing is divided by the number of records.
pub struct GradientDescent<D: ?Sized> {
    objective: Objective<D>,
    lattice: Lattice,
    steps: u64,
    start: Descent,
    rho: Rho,
    fact: Gaussian,
}

impl<D: Dataset + ?Sized> GradientDescent<D> {
    /// Takes `steps` steps of ρ each. The rate is that of [`Descent::new`].
    ///
    /// # Errors
    ///
    /// [`MechanismError::NoSteps`] if there are none, [`MechanismError::TooLarge`] if all of them
    /// together lose more than can be held, [`MechanismError::BadLearningRate`], and the errors of
    /// [`GaussianVectorSum::new`].
    pub fn new(
        objective: Objective<D>,
        lattice: Lattice,
        steps: u64,
        rate: f64,
        rho: Rho,
    ) -> Result<Self, MechanismError> {
        if steps == 0 {
            return Err(MechanismError::NoSteps);
        }
        let whole = rho.checked_mul(steps).ok_or(MechanismError::TooLarge)?;
        let descent = Self {
            start: Descent::new(objective.dimension(), rate)?,
            objective,
            lattice,
            steps,
            rho,
            fact: Gaussian::Rho(whole),
        };
        descent.sum_at(&descent.start)?;
        Ok(descent)
    }

    /// What the next step releases.
    fn sum_at(&self, descent: &Descent) -> Result<GaussianVectorSum<D>, MechanismError> {
        let gradient = self.objective.gradient_at(descent.weights());
        let dimension = self.objective.dimension();
        GaussianVectorSum::new(AddRemove, gradient, dimension, self.lattice, self.rho)
    }
}

impl<D: ?Sized> GradientDescent<D> {
    fn description(&self) -> Description {
        Description::new("GradientDescent")
            .with("objective", self.objective.name())
            .with("dimension", self.objective.dimension())
            .with("exponent", self.lattice.exponent)
            .with("radius", self.lattice.radius)
            .with("steps", self.steps)
            .with("rho", self.rho)
    }
}

impl<D: Dataset + ?Sized> Mechanism<D> for GradientDescent<D> {
    type Machine = Released<Descent>;

    fn start(&self, data: &Arc<D>, coins: &mut Coins<'_>) -> Result<Released<Descent>, Fault> {
        let mut descent = self.start.clone();
        for _ in 0..self.steps {
            // It was made once before, with other weights.
            let sum = self.sum_at(&descent).map_err(|_| Fault::Failed)?;
            let Released(sum) = sum.start(data, coins)?;
            descent.step(&sum);
        }
        Ok(Released(descent))
    }

    fn describe(&self) -> Description {
        self.description()
    }
}

states!(Gaussian: impl[D: ?Sized,] GradientDescent<D>, AddRemove, |descent| descent.fact);
shown!(impl[D: ?Sized] GradientDescent<D>);

impl<D: ?Sized> Clone for GradientDescent<D> {
    fn clone(&self) -> Self {
        Self {
            objective: self.objective.clone(),
            start: self.start.clone(),
            ..*self
        }
    }
}
