//! Gaussian noise that a loss pays for.

use super::{MechanismError, over};
use crate::machine::Ratio;
use crate::noise::RoundedGaussian;
use crate::privacy::{
    Distance, Epsilon, Gdp, Implies, Measure, Mu, Overflow, Rdp, RdpCurve, RdpGrid, Rho, Square,
    Unit, UnknownLoss, ZCdp, units,
};

/// Noise for answers that change by at most Δ, and the loss that it was made for.
///
/// # Guarantee
///
/// A whole number plus this noise is a postprocessing of the Gaussian mechanism
/// ([`RoundedGaussian`]), and so are many of them, changed by at most Δ in the Euclidean norm. So
/// it is μ-GDP with μ = Δ/σ (Dong, Roth, Su 2022, Theorem 2.7), and the Rényi divergence of order α
/// is αμ²/2 at most (Mironov 2017, Proposition 7), which is zCDP with ρ = μ²/2.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gaussian {
    pub(super) loss: GaussianLoss,
    pub(super) noise: RoundedGaussian,
}

/// What Gaussian noise costs: one number, written in either way. The other follows, rounded up.
#[derive(Clone, Copy, Debug)]
pub enum GaussianLoss {
    /// As zCDP.
    Rho(Rho),
    /// As GDP.
    Mu(Mu),
}

impl Gaussian {
    /// For answers that change by at most the root of `square`: a variance of `square / (2ρ)`.
    pub(super) fn with_rho(square: u128, rho: Rho) -> Result<Self, MechanismError> {
        let half = Ratio::new(square, 2).ok_or(MechanismError::TooFine)?;
        Ok(Self {
            loss: GaussianLoss::Rho(rho),
            noise: RoundedGaussian::new(over(half, rho)?)?,
        })
    }

    /// For answers that change by at most the root of `square`: a variance of `square / μ²`.
    pub(super) fn with_mu(square: u128, mu: Mu) -> Result<Self, MechanismError> {
        let square = Ratio::new(square, 1).ok_or(MechanismError::TooFine)?;
        Ok(Self {
            loss: GaussianLoss::Mu(mu),
            noise: RoundedGaussian::new(over(over(square, mu)?, mu)?)?,
        })
    }
}

impl GaussianLoss {
    fn implies<Me: Measure>(self, measure: &Me) -> Result<Me::Loss, UnknownLoss>
    where
        ZCdp: Implies<Me>,
        Gdp: Implies<Me>,
    {
        match self {
            Self::Rho(rho) => ZCdp.imply(&rho, measure),
            Self::Mu(mu) => Gdp.imply(&mu, measure),
        }
    }

    /// What it costs datasets so far apart: their answers are as many times Δ apart.
    pub(super) fn at(self, distance: Distance) -> Result<Self, UnknownLoss> {
        Ok(match self {
            Self::Rho(rho) => Self::Rho(ZCdp.group(&rho, distance)?),
            Self::Mu(mu) => Self::Mu(Gdp.group(&mu, distance)?),
        })
    }
}

/// A measure under which the loss of Gaussian noise is known exactly: zCDP, GDP, and RDP at one
/// order or at those of a grid.
///
/// [`GaussianCount`](super::GaussianCount) is an example of what states its loss under all of them.
#[diagnostic::on_unimplemented(
    message = "no loss under `{Self}` is stated here",
    label = "no proved loss under this measure",
    note = "Gaussian noise states its loss under `ZCdp`, `Gdp`, `Rdp` and `RdpGrid`",
    note = "for (ε, δ) at the end, restate it: `RestatedAt`"
)]
pub trait GaussianMeasure: Measure {
    /// What noise of this loss costs.
    #[doc(hidden)]
    fn of_gaussian(&self, loss: GaussianLoss) -> Result<Self::Loss, UnknownLoss>;
}

impl GaussianMeasure for ZCdp {
    fn of_gaussian(&self, loss: GaussianLoss) -> Result<Rho, UnknownLoss> {
        match loss {
            GaussianLoss::Rho(rho) => Ok(rho),
            GaussianLoss::Mu(mu) => Gdp.imply(&mu, self),
        }
    }
}

/// √(2ρ), rounded up, where it was made for ρ.
impl GaussianMeasure for Gdp {
    fn of_gaussian(&self, loss: GaussianLoss) -> Result<Mu, UnknownLoss> {
        let rho = match loss {
            GaussianLoss::Rho(rho) => rho,
            GaussianLoss::Mu(mu) => return Ok(mu),
        };
        // In units of 10^-d, the square of μ is 2ρ units times 10^d.
        let square = Square::whole(rho.units()).checked_mul(2 * 10_u128.pow(units::Mu::DECIMALS));
        let root = square.and_then(Square::root_up);
        let mu = root.and_then(|units| Mu::from_units(units).ok());
        Ok(mu.ok_or(Overflow)?)
    }
}

/// αρ or αμ²/2, rounded up.
impl GaussianMeasure for Rdp {
    fn of_gaussian(&self, loss: GaussianLoss) -> Result<Epsilon, UnknownLoss> {
        loss.implies(self)
    }
}

/// αρ or αμ²/2 at every order α, rounded up.
impl GaussianMeasure for RdpGrid {
    fn of_gaussian(&self, loss: GaussianLoss) -> Result<RdpCurve, UnknownLoss> {
        loss.implies(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rho(text: &str) -> GaussianLoss {
        GaussianLoss::Rho(text.parse().unwrap())
    }

    fn mu(text: &str) -> GaussianLoss {
        GaussianLoss::Mu(text.parse().unwrap())
    }

    fn under<Me: GaussianMeasure<Loss: ToString>>(measure: &Me, loss: GaussianLoss) -> String {
        measure.of_gaussian(loss).unwrap().to_string()
    }

    #[test]
    fn each_follows_from_the_other_and_is_rounded_up() {
        assert_eq!(under(&ZCdp, mu("0.3")), "0.045");
        assert_eq!(under(&Gdp, rho("0.045")), "0.3");
        // √2, to 27 digits, rounded up.
        let root = under(&Gdp, rho("1"));
        assert_eq!(root, "1.414213562373095048801688725");
        assert_eq!(under(&Gdp, rho("1e-27")), "4.4721359549996e-14");
        assert_eq!(under(&ZCdp, mu("1e-27")), "1e-27");
        // √(6.8e11).
        let root = under(&Gdp, rho("3.4e11"));
        assert!(root.starts_with("824621.125123532"), "{root}");
    }

    #[test]
    fn a_distance_multiplies_the_change() {
        let two = Distance::new(2).unwrap();
        assert_eq!(under(&Gdp, mu("0.3").at(two).unwrap()), "0.6");
        assert_eq!(under(&ZCdp, rho("0.1").at(two).unwrap()), "0.4");
        let rdp = Rdp::new("3".parse().unwrap());
        assert_eq!(under(&rdp, rho("0.1").at(two).unwrap()), "1.2");
        assert_eq!(under(&rdp, mu("0.3")), "0.135");
    }

    #[test]
    fn the_variance_is_what_the_loss_pays_for() {
        let variance = |gaussian: Result<Gaussian, _>| gaussian.unwrap().noise.variance();
        let ratio = |numerator, denominator| Ratio::new(numerator, denominator).unwrap();
        assert_eq!(
            variance(Gaussian::with_rho(9, "0.15".parse().unwrap())),
            ratio(30, 1)
        );
        assert_eq!(
            variance(Gaussian::with_mu(9, "0.15".parse().unwrap())),
            ratio(400, 1)
        );
        assert_eq!(
            Gaussian::with_mu(9, Mu::ZERO).unwrap_err(),
            MechanismError::NoLoss("mu")
        );
    }
}
