//! Noise that is added to whole numbers, made for a loss and for how far the numbers may change.

use std::num::NonZeroU64;

use super::query::Norm;
use super::{Change, MechanismError, over};
use crate::machine::{Description, Law};
use crate::noise::{DiscreteLaplace, RoundedGaussian};
use crate::number::{Epsilon, Mu, Ratio, Rho};
use crate::privacy::facts::{Gaussian, Laplace};
use crate::privacy::{Distance, UnknownLoss};

/// Noise for totals that change by at most so much between neighbours.
///
/// [`LaplaceNoise`] and [`GaussianNoise`] are here; a noise of your own is one `impl`, and is used
/// with [`Under::noise`](super::Under::noise): every query then takes it.
///
/// Example: [`QueryExt`](crate::mechanisms::query::QueryExt).
///
/// # What an implementer owes
///
/// [`fact`](Self::fact) is true of independent draws of [`law`](Self::law) on each of the totals,
/// if between neighbours they differ by no more than the [`Change`] it was made for;
/// [`fact_at`](Self::fact_at), if each step to a distance is such a change. Both say nothing of the
/// data.
#[diagnostic::on_unimplemented(
    message = "add Laplace or Gaussian noise, or implement `AddedNoise` for `{Self}`",
    label = "not a noise that can be added"
)]
pub trait AddedNoise: Clone + Send + Sync {
    /// What it is made for: an ε, for instance.
    type Loss: Copy;
    /// What is drawn.
    type Law: Law;
    /// What it states, for measures to price ([`Prices`](crate::privacy::Prices)).
    type Fact;

    /// The norm of a change that its size follows from.
    const NORM: Norm;

    /// The noise with this loss for totals that change so much.
    ///
    /// # Errors
    ///
    /// [`MechanismError`] if there is no such noise.
    fn new(loss: Self::Loss, change: &Change) -> Result<Self, MechanismError>;

    /// What is drawn for each total.
    fn law(&self) -> &Self::Law;

    /// What is true between neighbours.
    fn fact(&self) -> Self::Fact;

    /// What is true at a distance.
    ///
    /// # Errors
    ///
    /// [`UnknownLoss`] where nothing is known.
    fn fact_at(&self, distance: Distance) -> Result<Self::Fact, UnknownLoss>;

    /// Adds the loss, as it was written.
    fn describe(&self, description: Description) -> Description;
}

/// Discrete Laplace noise for an ε.
///
/// Example: [`QueryExt`](crate::mechanisms::query::QueryExt).
///
/// # Guarantee
///
/// With noise of scale Δ/ε on each, numbers that change by at most Δ together change the odds of
/// any answer by a factor of at most e^ε. It states [`Laplace`], which has what is true under other
/// measures.
#[doc(alias = "Laplace mechanism")]
#[doc(alias = "geometric mechanism")]
#[derive(Clone, Copy, Debug)]
pub struct LaplaceNoise {
    fact: Laplace,
    law: DiscreteLaplace,
}

impl AddedNoise for LaplaceNoise {
    type Loss = Epsilon;
    type Law = DiscreteLaplace;
    type Fact = Laplace;

    const NORM: Norm = Norm::L1;

    fn new(epsilon: Epsilon, change: &Change) -> Result<Self, MechanismError> {
        let l1 = u128::from(change.each.get()) * u128::from(change.places.get());
        let l1 = Ratio::new(l1, 1).ok_or(MechanismError::TooFine)?;
        Ok(Self {
            fact: Laplace {
                epsilon,
                steps: change.each,
                answers: change.places,
            },
            law: DiscreteLaplace::new(over(l1, epsilon)?)?,
        })
    }

    fn law(&self) -> &DiscreteLaplace {
        &self.law
    }

    fn fact(&self) -> Laplace {
        self.fact
    }

    fn fact_at(&self, distance: Distance) -> Result<Laplace, UnknownLoss> {
        self.fact.at(distance)
    }

    fn describe(&self, description: Description) -> Description {
        description.with("epsilon", self.fact.epsilon)
    }
}

impl LaplaceNoise {
    /// The ε that it was made for.
    #[must_use]
    pub fn epsilon(&self) -> Epsilon {
        self.fact.epsilon
    }

    /// By how much the numbers may change together.
    pub(super) fn together(&self) -> Option<NonZeroU64> {
        self.fact.steps.checked_mul(self.fact.answers)
    }
}

/// Rounded Gaussian noise for a ρ or a μ.
///
/// # Guarantee
///
/// Numbers that change by at most Δ in the Euclidean norm, with Gaussian noise of variance σ² each,
/// are Δ²/(2σ²)-zCDP and Δ/σ-GDP. Rounding the noise is postprocessing, because the numbers are
/// whole ([`RoundedGaussian`]). Where one number changes, by one, the law that is drawn is what is
/// priced.
#[doc(alias = "Gaussian mechanism")]
#[derive(Clone, Copy, Debug)]
pub struct GaussianNoise {
    fact: Gaussian,
    law: RoundedGaussian,
    /// Δ².
    square: u128,
}

impl AddedNoise for GaussianNoise {
    type Loss = Gaussian;
    type Law = RoundedGaussian;
    type Fact = Gaussian;

    const NORM: Norm = Norm::L2;

    /// A variance of Δ²/(2ρ) or Δ²/μ².
    fn new(loss: Gaussian, change: &Change) -> Result<Self, MechanismError> {
        Self::for_square(loss, change.square)
    }

    fn law(&self) -> &RoundedGaussian {
        &self.law
    }

    fn fact(&self) -> Gaussian {
        self.fact
    }

    fn fact_at(&self, distance: Distance) -> Result<Gaussian, UnknownLoss> {
        self.fact.at(distance)
    }

    fn describe(&self, description: Description) -> Description {
        match self.fact {
            Gaussian::Rho(rho) | Gaussian::CountRho(rho) => description.with("rho", rho),
            Gaussian::Mu(mu) | Gaussian::CountMu(mu) => description.with("mu", mu),
        }
    }
}

impl GaussianNoise {
    /// For numbers that change by at most the root of this in the Euclidean norm.
    pub(super) fn for_square(loss: Gaussian, square: u128) -> Result<Self, MechanismError> {
        let whole = Ratio::new(square, 1).ok_or(MechanismError::TooFine)?;
        let fact = match (loss, square) {
            (Gaussian::Rho(rho) | Gaussian::CountRho(rho), 1) => Gaussian::CountRho(rho),
            (Gaussian::Rho(rho) | Gaussian::CountRho(rho), _) => Gaussian::Rho(rho),
            (Gaussian::Mu(mu) | Gaussian::CountMu(mu), 1) => Gaussian::CountMu(mu),
            (Gaussian::Mu(mu) | Gaussian::CountMu(mu), _) => Gaussian::Mu(mu),
        };
        Ok(Self {
            fact,
            law: RoundedGaussian::new(variance_for(loss, whole)?)?,
            square,
        })
    }

    /// Δ².
    pub(super) fn square(&self) -> u128 {
        self.square
    }
}

/// The variance of Gaussian noise with this loss, for a change of this square: Δ²/(2ρ) or Δ²/μ².
pub(super) fn variance_for(loss: Gaussian, square: Ratio) -> Result<Ratio, MechanismError> {
    match loss {
        Gaussian::Rho(rho) | Gaussian::CountRho(rho) => {
            let half = Ratio::new(1, 2).and_then(|half| square.checked_mul(half));
            over(half.ok_or(MechanismError::TooFine)?, rho)
        }
        Gaussian::Mu(mu) | Gaussian::CountMu(mu) => over(over(square, mu)?, mu),
    }
}

/// What Laplace noise is made for: an ε.
///
/// Example: [`QueryExt`](crate::mechanisms::query::QueryExt).
#[diagnostic::on_unimplemented(
    message = "write an ε: `epsilon!(0.1)`, or `text.parse::<Epsilon>()?` for a text from outside",
    label = "not an ε",
    note = "a float or a text is not an exact decimal: `epsilon!` reads one when it is compiled"
)]
pub trait LaplaceLoss {
    /// The ε.
    fn epsilon(self) -> Epsilon;
}

impl LaplaceLoss for Epsilon {
    fn epsilon(self) -> Epsilon {
        self
    }
}

/// What Gaussian noise is made for: a ρ or a μ.
///
/// Example: [`QueryExt`](crate::mechanisms::query::QueryExt).
#[diagnostic::on_unimplemented(
    message = "write a ρ or a μ: `rho!(0.02)`, `mu!(0.5)`, or `text.parse::<Rho>()?` for a text from outside",
    label = "neither a ρ nor a μ",
    note = "a float or a text is not an exact decimal: `rho!` and `mu!` read one when it is compiled"
)]
pub trait GaussianLoss {
    /// The ρ or μ.
    fn gaussian(self) -> Gaussian;
}

impl GaussianLoss for Rho {
    fn gaussian(self) -> Gaussian {
        Gaussian::Rho(self)
    }
}

impl GaussianLoss for Mu {
    fn gaussian(self) -> Gaussian {
        Gaussian::Mu(self)
    }
}

impl GaussianLoss for Gaussian {
    fn gaussian(self) -> Gaussian {
        self
    }
}
