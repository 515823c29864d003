use super::{Diverges, through};
use crate::number::{Epsilon, Mu, Order, Rho, U256, Unit, units};
use crate::privacy::{
    ApproxZCdp, Distance, Gdp, Implies, Measure, Overflow, Prices, Rdp, UnknownLoss, ZCdp,
};

/// Gaussian noise, or a postprocessing of it: one number, written as ρ or as μ. The other follows,
/// rounded up, so that the one that was written stays exact.
///
/// ```
/// use queryables::privacy::facts::Gaussian;
/// use queryables::privacy::{Gdp, Prices, ZCdp};
///
/// let fact = Gaussian::Mu("0.3".parse()?);
/// assert_eq!(Gdp.price(&fact)?, "0.3".parse()?);
/// assert_eq!(ZCdp.price(&fact)?, "0.045".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// If answers that change by at most Δ in the Euclidean norm get noise of variance σ² in every
/// coordinate, then μ = Δ/σ and ρ = μ²/2. That is μ-GDP (Dong, Roth, Su 2022, Theorem 2.7), and the
/// Rényi divergence of order α is αμ²/2 (Mironov 2017, Proposition 7), which is zCDP for ρ.
///
/// Of a count the law itself is known: whole numbers, of which at most one changes, by at most one,
/// each plus `RoundedGaussian` noise of deviation exactly 1/μ. The same
/// is true of it, and under f-DP more: with little noise rounding hides a lot. It is not enough that the
/// deviation is at least 1/μ, because large losses become more likely with *more* noise where there is
/// little.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Gaussian {
    /// As zCDP.
    Rho(Rho),
    /// As GDP.
    Mu(Mu),
    /// Of a count, as zCDP.
    CountRho(Rho),
    /// Of a count, as GDP.
    CountMu(Mu),
}

impl From<Rho> for Gaussian {
    fn from(rho: Rho) -> Self {
        Self::Rho(rho)
    }
}

impl Gaussian {
    /// What is true at a distance of d: answers are d times as far apart, which is d·μ and d²·ρ. Counts
    /// then change by more than one.
    ///
    /// # Errors
    ///
    /// [`UnknownLoss`] if it cannot be held.
    pub fn at(&self, distance: Distance) -> Result<Self, UnknownLoss> {
        Ok(match self {
            _ if distance == Distance::NEIGHBOURS => *self,
            Self::Rho(rho) | Self::CountRho(rho) => Self::Rho(ZCdp.group(rho, distance)?),
            Self::Mu(mu) | Self::CountMu(mu) => Self::Mu(Gdp.group(mu, distance)?),
        })
    }
}

/// ρ = μ²/2 (Bun and Steinke 2016, Proposition 1.6).
impl Prices<Gaussian> for ZCdp {
    fn price(&self, fact: &Gaussian) -> Result<Rho, UnknownLoss> {
        match fact {
            Gaussian::Rho(rho) | Gaussian::CountRho(rho) => Ok(*rho),
            Gaussian::Mu(mu) | Gaussian::CountMu(mu) => Gdp.imply(mu, self),
        }
    }
}

/// μ = √(2ρ) (Dong, Roth, Su 2022, Theorem 2.7).
impl Prices<Gaussian> for Gdp {
    fn price(&self, fact: &Gaussian) -> Result<Mu, UnknownLoss> {
        let rho = match fact {
            Gaussian::Rho(rho) | Gaussian::CountRho(rho) => rho,
            Gaussian::Mu(mu) | Gaussian::CountMu(mu) => return Ok(*mu),
        };
        // In units of 10^-d, the square of μ is 2ρ units times 10^d.
        let square = U256::whole(rho.units()).checked_mul(2 * 10_u128.pow(units::Mu::DECIMALS));
        let root = square.and_then(U256::root_up);
        let mu = root.and_then(|units| Mu::from_units(units).ok());
        Ok(mu.ok_or(Overflow)?)
    }
}

/// αρ or αμ²/2 (Mironov 2017, Proposition 7).
impl Diverges for Gaussian {
    fn divergence(&self, order: Order) -> Result<Epsilon, UnknownLoss> {
        let rdp = Rdp::new(order);
        match self {
            Self::Rho(rho) | Self::CountRho(rho) => ZCdp.imply(rho, &rdp),
            Self::Mu(mu) | Self::CountMu(mu) => Gdp.imply(mu, &rdp),
        }
    }
}

through!(Gaussian: ZCdp => ApproxZCdp);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::{ApproxRdp, RdpGrid};

    fn rho(text: &str) -> Gaussian {
        Gaussian::Rho(text.parse().unwrap())
    }

    fn mu(text: &str) -> Gaussian {
        Gaussian::Mu(text.parse().unwrap())
    }

    fn under<Me: Prices<Gaussian>>(measure: &Me, fact: Gaussian) -> String {
        measure.price(&fact).unwrap().to_string()
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
    fn what_was_written_stays_exact() {
        assert_eq!(under(&ZCdp, rho("0.1")), "0.1");
        assert_eq!(under(&Gdp, mu("0.1")), "0.1");
        assert_eq!(under(&ApproxZCdp, rho("0.1")), "(0.1, 0)");
    }

    #[test]
    fn orders_multiply() {
        let [two, ten] = ["2", "10"].map(|order| order.parse().unwrap());
        assert_eq!(under(&Rdp::new(ten), rho("0.1")), "1");
        assert_eq!(under(&ApproxRdp::new(ten), mu("0.3")), "(0.45, 0)");
        let grid = RdpGrid::new([two, ten]).unwrap();
        assert_eq!(under(&grid, mu("0.3")), "[0.09, 0.45]");
    }

    #[test]
    fn a_distance_multiplies_the_change() {
        let two = Distance::new(2).unwrap();
        assert_eq!(under(&Gdp, mu("0.3").at(two).unwrap()), "0.6");
        assert_eq!(under(&ZCdp, rho("0.1").at(two).unwrap()), "0.4");
        let rdp = Rdp::new("3".parse().unwrap());
        assert_eq!(under(&rdp, rho("0.1").at(two).unwrap()), "1.2");
        assert_eq!(under(&rdp, mu("0.3")), "0.135");
        assert_eq!(rho("3.4e11").at(two), Err(Overflow.into()));
    }

    /// A count has the same prices, and is one only for neighbours.
    #[test]
    fn a_count_has_gaussian_noise() {
        let half = "0.5".parse().unwrap();
        let one: Mu = "1".parse().unwrap();
        let two = Distance::new(2).unwrap();
        for (count, plain) in [
            (Gaussian::CountRho(half), Gaussian::Rho(half)),
            (Gaussian::CountMu(one), Gaussian::Mu(one)),
        ] {
            assert_eq!(under(&ZCdp, count), under(&ZCdp, plain));
            assert_eq!(under(&Gdp, count), under(&Gdp, plain));
            let rdp = Rdp::new("3".parse().unwrap());
            assert_eq!(under(&rdp, count), under(&rdp, plain));
            assert_eq!(count.at(Distance::NEIGHBOURS), Ok(count));
            assert_eq!(count.at(two), plain.at(two));
        }
    }
}
