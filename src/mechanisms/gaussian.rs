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

    /// The same, where this noise is added to whole numbers that change by at most the root of `square`
    /// in the Euclidean norm. If that is one, they are counts: one of them changes, by one.
    pub(super) fn on_whole_numbers(self, square: u128) -> Self {
        let fact = match self.fact {
            Gaussian::Rho(rho) if square == 1 => Gaussian::CountRho(rho),
            Gaussian::Mu(mu) if square == 1 => Gaussian::CountMu(mu),
            fact => fact,
        };
        Self { fact, ..self }
    }

    /// Adds the loss, as it was written.
    pub(super) fn describe(&self, description: Description) -> Description {
        match self.fact {
            Gaussian::Rho(rho) | Gaussian::CountRho(rho) => description.with("rho", rho),
            Gaussian::Mu(mu) | Gaussian::CountMu(mu) => description.with("mu", mu),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Attribute;
    use crate::mechanisms::{GaussianCount, GaussianHistogram, GaussianSum, Partition};
    use crate::privacy::fdp::{FDp, Profile};
    use crate::privacy::{AddRemove, Prices, Private, Replace};
    use crate::tests::exact::rows_of;

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

    /// Only where a single number changes by one is the law that is drawn what is priced.
    #[test]
    fn mechanisms_that_count_are_priced_for_what_they_draw() {
        let (rho, mu) = ("5.5".parse().unwrap(), "3".parse().unwrap());
        let plain = Ok(Profile::gaussian(mu));
        let by_mu = FDp.price(&Gaussian::CountMu(mu));
        let by_rho = FDp.price(&Gaussian::CountRho(rho));
        assert!(by_mu != plain && by_mu != by_rho);
        let count = GaussianCount::new(rows_of(1), rho).unwrap();
        assert_eq!(Private::<FDp, AddRemove>::loss(&count, &FDp), by_rho);
        let count = GaussianCount::with_mu(rows_of(1), mu).unwrap();
        assert_eq!(Private::<FDp, Replace>::loss(&count, &FDp), by_mu);

        // A row that is replaced changes two bins.
        let bins = || Partition::by_key("odd", |row: &u8| row % 2 == 1, [false, true]).unwrap();
        let histogram = GaussianHistogram::<Vec<u8>, _, _>::over(AddRemove, bins(), rho).unwrap();
        assert_eq!(histogram.loss(&FDp), by_rho);
        let histogram = GaussianHistogram::over_with_mu(AddRemove, bins(), mu).unwrap();
        assert_eq!(histogram.loss(&FDp), by_mu);
        let histogram = GaussianHistogram::over_with_mu(Replace, bins(), mu).unwrap();
        assert_eq!(histogram.loss(&FDp), plain);

        let value = || Attribute::<Vec<u8>, i64>::new("value", |row| i64::from(*row));
        let sum = |range| GaussianSum::with_mu(AddRemove, value(), range, mu).unwrap();
        assert_eq!(sum(0..=1).loss(&FDp), by_mu);
        assert_eq!(sum(0..=2).loss(&FDp), plain);
    }
}
