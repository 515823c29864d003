//! Gaussian noise for a given loss.

use super::{MechanismError, over};
use crate::machine::Description;
use crate::noise::RoundedGaussian;
use crate::number::Ratio;
use crate::number::{Mu, Rho};
use crate::privacy::facts::Gaussian;

/// Noise for answers that change by at most Δ, and the loss that it was made for.
///
/// # Guarantee
///
/// A whole number plus this noise is a postprocessing of the Gaussian mechanism
/// ([`RoundedGaussian`]), and so are many of them, changed by at most Δ in the Euclidean norm. So
/// what [`Gaussian`] says is true, with μ = Δ/σ.
#[derive(Clone, Copy, Debug)]
pub(super) struct GaussianNoise {
    pub(super) fact: Gaussian,
    pub(super) noise: RoundedGaussian,
}

impl GaussianNoise {
    /// For answers that change by at most the root of `square`: a variance of `square / (2ρ)`.
    pub(super) fn with_rho(square: u128, rho: Rho) -> Result<Self, MechanismError> {
        let half = Ratio::new(square, 2).ok_or(MechanismError::TooFine)?;
        Ok(Self {
            fact: Gaussian::Rho(rho),
            noise: RoundedGaussian::new(over(half, rho)?)?,
        })
    }

    /// For answers that change by at most the root of `square`: a variance of `square / μ²`.
    pub(super) fn with_mu(square: u128, mu: Mu) -> Result<Self, MechanismError> {
        let square = Ratio::new(square, 1).ok_or(MechanismError::TooFine)?;
        Ok(Self {
            fact: Gaussian::Mu(mu),
            noise: RoundedGaussian::new(over(over(square, mu)?, mu)?)?,
        })
    }

    /// Adds the loss, as it was written.
    pub(super) fn describe(&self, description: Description) -> Description {
        match self.fact {
            Gaussian::Rho(rho) => description.with("rho", rho),
            Gaussian::Mu(mu) => description.with("mu", mu),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variance_is_what_the_loss_pays_for() {
        let variance = |gaussian: Result<GaussianNoise, _>| gaussian.unwrap().noise.variance();
        let ratio = |numerator, denominator| Ratio::new(numerator, denominator).unwrap();
        assert_eq!(
            variance(GaussianNoise::with_rho(9, "0.15".parse().unwrap())),
            ratio(30, 1)
        );
        assert_eq!(
            variance(GaussianNoise::with_mu(9, "0.15".parse().unwrap())),
            ratio(400, 1)
        );
        assert_eq!(
            GaussianNoise::with_mu(9, Mu::ZERO).unwrap_err(),
            MechanismError::NoLoss("mu")
        );
    }
}
