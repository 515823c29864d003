//! A given number of steps.

use std::sync::Arc;

use super::{Descent, Objective};
use crate::compose::{IndividualError, IndividualFilter};
use crate::data::{Dataset, Vector};
use crate::machine::{Coins, Description, Fault, Mechanism, Released};
use crate::mechanisms::{
    GaussianNoise, Lattice, MechanismError, Noised, QueryExt, VectorSum, shown, states,
};
use crate::number::Rho;
use crate::privacy::facts::Gaussian;
use crate::privacy::{AddRemove, Prices, ZCdp};
use crate::queryable::AskError;

/// Private gradient descent with a given number of steps (Feldman and Zrnic Alg. 7). It releases the
/// [`Descent`]: the last weights and the average.
///
/// Gradients are clipped to the radius of the lattice, C in F. With F's noise scale σ, a step costs
/// ρ = 1/(2σ²). With [`filtered`](Self::filtered) there are more steps at the same loss (F Alg. 8).
///
/// ```
/// use queryables::mechanisms::{Descent, GradientDescent, Lattice, Objective};
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let mean = Objective::new("distance", 1, |weights: &[f64], row: &f64, out: &mut [f64]| {
///     out[0] = weights[0] - row;
/// });
/// let lattice = Lattice::of_length(1.0)?;
/// // About a thousand rows are expected.
/// let descent = GradientDescent::new(mean, lattice, 50, 0.1 / 1000.0, rho!(0.01))?;
///
/// let filter = start(&Filter::concurrent(ZCdp, rho!(0.5)), Arc::new(vec![0.6; 1000]))?;
/// let descent: Descent = filter.release(&descent)?;
/// assert!((descent.average()[0] - 0.6).abs() < 0.1);
/// // Fifty times 0.01.
/// assert_eq!(filter.privacy_loss(), rho!(0.5));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// k·ρ-zCDP for k steps of ρ (F Prop. 6.1), for records that are added or removed: each step is a
/// [`VectorSum`], of which the next depends on what was released, and the weights are
/// postprocessing. It states [`Gaussian`] noise of k·ρ under every measure that prices it: adaptively
/// chosen Gaussian mechanisms of ρ₁, …, ρ_k together lose no more than one of Σρ, under zCDP and RDP
/// because losses add up, and under GDP and f-DP because Gaussians are closed under composition (Dong,
/// Roth, Su 2022, Theorem 3.2 and Corollary 3.3). The same at every distance.
///
/// With filtering: the same loss. Each step is a [`VectorSum`] of an [`IndividualFilter`]
/// in which every record has a budget of k·ρ, and contributes what it can still pay for (F Prop. 6.2,
/// with B_norm = k·C²; F's proof drops a C²). With d records added or removed, the shift of step t is
/// at most the sum of their contributions' lengths, and so the squares of all shifts add up to at most
/// d²·k·ρ (by Minkowski's inequality): it is Gaussian noise at every distance, as without filtering.
///
/// Nothing is divided by the number of records.
#[doc(alias = "DP-SGD")]
#[doc(alias = "machine learning")]
#[doc(alias = "regression")]
pub struct GradientDescent<D: ?Sized> {
    objective: Objective<D>,
    lattice: Lattice,
    steps: u64,
    /// With filtering.
    most_steps: Option<u64>,
    start: Descent,
    rho: Rho,
    fact: Gaussian,
}

/// The sum of the gradients.
type Sum<D> = Noised<VectorSum<Vector<D>>, GaussianNoise>;

impl<D: Dataset + ?Sized> GradientDescent<D> {
    /// Takes `steps` steps of ρ each. The rate is that of [`Descent::new`].
    ///
    /// # Errors
    ///
    /// [`MechanismError::BadParameter`] if there are none, [`MechanismError::TooLarge`] if all of them
    /// together lose more than can be held, [`MechanismError::BadParameter`], and the errors of
    /// a [`VectorSum`].
    pub fn new(
        objective: Objective<D>,
        lattice: Lattice,
        steps: u64,
        rate: f64,
        rho: Rho,
    ) -> Result<Self, MechanismError> {
        if steps == 0 {
            return Err(MechanismError::no_steps());
        }
        let whole = rho.checked_mul(steps).ok_or(MechanismError::TooLarge)?;
        let descent = Self {
            start: Descent::new(objective.dimension(), rate)?,
            objective,
            lattice,
            steps,
            most_steps: None,
            rho,
            fact: Gaussian::Rho(whole),
        };
        descent.sum_at(&descent.start)?;
        Ok(descent)
    }

    /// The same loss, and `most_steps` steps in all: each record pays for the lengths of its own
    /// gradients, from a budget of k·ρ, and contributes as long as it can pay. Records with short
    /// gradients have much of it left after k steps.
    ///
    /// Too many steps do harm: those who have run out no longer contribute, and noise stays.
    ///
    /// # Errors
    ///
    /// [`MechanismError::BadParameter`] if there are none, and those of a [`VectorSum`] for which records pay, which
    /// takes a radius of at most 2^26.
    pub fn filtered(self, most_steps: u64) -> Result<Self, MechanismError> {
        if most_steps == 0 {
            return Err(MechanismError::no_steps());
        }
        self.sum_at(&self.start)?.query().check_payable()?;
        Ok(Self {
            most_steps: Some(most_steps),
            ..self
        })
    }

    /// What the next step releases.
    fn sum_at(&self, descent: &Descent) -> Result<Sum<D>, MechanismError> {
        let gradient = self.objective.gradient_at(descent.weights());
        VectorSum::of(gradient, self.objective.dimension(), self.lattice).gaussian(self.rho)
    }

    /// Takes steps along sums that are asked for with `ask`. A sum was made before, with other weights,
    /// and cannot fail to be made.
    fn descend(
        &self,
        steps: u64,
        mut ask: impl FnMut(&Sum<D>) -> Result<Vec<f64>, Fault>,
    ) -> Result<Descent, Fault> {
        let mut descent = self.start.clone();
        for _ in 0..steps {
            let sum = self.sum_at(&descent).map_err(|_| Fault::Failed)?;
            descent.step(&ask(&sum)?);
        }
        Ok(descent)
    }
}

/// Why there is no sum.
fn fault(error: IndividualError) -> Fault {
    match error {
        IndividualError::NotAnswered(AskError::Stopped(stop)) => stop.into(),
        IndividualError::NotAnswered(AskError::Fault(fault)) => fault,
        _ => Fault::Failed,
    }
}

impl<D: ?Sized> GradientDescent<D> {
    fn description(&self) -> Description {
        let description = Description::new("GradientDescent")
            .with("objective", self.objective.name())
            .with("dimension", self.objective.dimension())
            .with("exponent", self.lattice.exponent)
            .with("radius", self.lattice.radius)
            .with("steps", self.steps)
            .with("learning rate", self.start.rate())
            .with("rho", self.rho);
        match self.most_steps {
            Some(most) => description.with("most steps", most),
            None => description,
        }
    }
}

impl<D: Dataset + ?Sized> Mechanism<D> for GradientDescent<D> {
    type Machine = Released<Descent>;

    fn start(&self, data: &Arc<D>, coins: &mut Coins<'_>) -> Result<Released<Descent>, Fault> {
        let Some(most_steps) = self.most_steps else {
            // The next gradient is told the weights.
            let ask = |sum: &Sum<D>| Ok(coins.guarded(|coins| sum.start(data, coins))?.0);
            return self.descend(self.steps, ask).map(Released);
        };
        let budget = ZCdp.price(&self.fact).map_err(|_| Fault::Failed)?;
        let filter = IndividualFilter::new(ZCdp, budget).shrinking();
        let mut filter = filter.start(data, coins)?;
        let ask = |sum: &Sum<D>| filter.release(sum, coins).map_err(fault);
        self.descend(most_steps, ask).map(Released)
    }

    fn describe(&self) -> Description {
        self.description()
    }
}

states!(Gaussian: impl[D: ?Sized,] GradientDescent<D>, AddRemove, |descent| descent.fact);
shown!(impl[D: ?Sized] GradientDescent<D>);

crate::clone_fields!(
    [D: ?Sized] GradientDescent<D> { objective, lattice, steps, most_steps, start, rho, fact }
);
