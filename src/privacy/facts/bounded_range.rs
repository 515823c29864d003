use super::{Diverges, Pure, through};
use crate::number::{Epsilon, Mu, Order, Rho};
use crate::privacy::convert::{rdp, zcdp};
use crate::privacy::{
    ApproxDp, ApproxZCdp, Distance, Gdp, Implies, Measure, Overflow, Prices, ProbabilisticDp,
    PureDp, Rdp, UnknownLoss, ZCdp, half_square,
};

/// Between neighbours, the logarithms of the odds' ratios all lie within some interval of length ε
/// (Durfee and Rogers 2019): the exponential mechanism.
///
/// ```
/// use queryables::privacy::facts::{BoundedRange, Pure};
/// use queryables::privacy::{Prices, ZCdp};
///
/// let epsilon = "0.2".parse()?;
/// assert_eq!(ZCdp.price(&BoundedRange { epsilon })?, "0.005".parse()?);
/// assert!(ZCdp.price(&Pure { epsilon })? > "0.0199".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// It is ε-DP, since the interval contains 0: odds that are all larger do not add up to 1.
///
/// It is ε²/8-zCDP (Cesar and Rogers 2021), and so has Rényi divergences of αε²/8. Why: let K(s) be
/// the logarithm of the mean of the ratios' s-th power on the second dataset. It is zero at 0 and
/// 1, and K″ is the variance of a number in an interval of length ε, ε²/4 at most. Hence K(s) −
/// ε²/8·s(s − 1) is concave, and not positive for s > 1; the divergence of order α is K(α)/(α − 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BoundedRange {
    /// The length of the interval.
    pub epsilon: Epsilon,
}

impl BoundedRange {
    /// What is true at a distance of d: an interval of length d·ε, since logarithms of ratios add
    /// up along the way.
    ///
    /// # Errors
    ///
    /// [`UnknownLoss`] if it cannot be held.
    pub fn at(&self, distance: Distance) -> Result<Self, UnknownLoss> {
        let epsilon = PureDp.group(&self.epsilon, distance)?;
        Ok(Self { epsilon })
    }

    /// ε²/8, which is (ε/2)²/2, rounded up.
    fn rho(&self) -> Result<Rho, UnknownLoss> {
        let half = Epsilon::from_units(self.epsilon.units().div_ceil(2)).map_err(|_| Overflow)?;
        half_square(half)
    }
}

/// The interval contains 0 (Durfee and Rogers 2019).
impl Prices<BoundedRange> for PureDp {
    fn price(&self, fact: &BoundedRange) -> Result<Epsilon, UnknownLoss> {
        Ok(fact.epsilon)
    }
}

/// ε²/8 (Cesar and Rogers 2021), or the ε·tanh(ε/2) of ε-DP, which is less from about ε = 8 on.
impl Prices<BoundedRange> for ZCdp {
    fn price(&self, fact: &BoundedRange) -> Result<Rho, UnknownLoss> {
        let pure = zcdp::pure(fact.epsilon);
        Ok(fact.rho().map_or(pure, |rho| rho.min(pure)))
    }
}

/// αε²/8 (Cesar and Rogers 2021), or what ε-DP implies if that is less.
impl Diverges for BoundedRange {
    fn divergence(&self, order: Order) -> Result<Epsilon, UnknownLoss> {
        let pure = rdp::pure(order, self.epsilon);
        let concentrated = self
            .rho()
            .and_then(|rho| ZCdp.imply(&rho, &Rdp::new(order)));
        // Where it is more than can be held, ε is less.
        Ok(concentrated.map_or(pure, |loss| loss.min(pure)))
    }
}

/// What ε-DP implies.
impl Prices<BoundedRange> for Gdp {
    fn price(&self, fact: &BoundedRange) -> Result<Mu, UnknownLoss> {
        self.price(&Pure {
            epsilon: fact.epsilon,
        })
    }
}

through!(BoundedRange: PureDp => ApproxDp, PureDp => ProbabilisticDp, ZCdp => ApproxZCdp);

#[cfg(test)]
mod tests {
    use super::*;

    fn of(epsilon: &str) -> BoundedRange {
        BoundedRange {
            epsilon: epsilon.parse().unwrap(),
        }
    }

    fn rho(epsilon: &str) -> Rho {
        ZCdp.price(&of(epsilon)).unwrap()
    }

    #[test]
    fn the_smaller_of_two_bounds_is_its_zcdp() {
        assert_eq!(rho("2"), "0.5".parse().unwrap());
        assert_eq!(rho("0.1"), "0.00125".parse().unwrap());
        assert_eq!(rho("1e-27"), "1e-27".parse().unwrap());
        // They cross where ε = 8·tanh(ε/2), at 7.9945….
        assert_eq!(rho("7.99"), "7.9800125".parse().unwrap());
        assert!(rho("8") < "8".parse().unwrap());
        assert_eq!(rho("8"), zcdp::pure("8".parse().unwrap()));
        // ε²/8 is more than can be held.
        assert_eq!(rho("1e7"), zcdp::pure("1e7".parse().unwrap()));
    }

    #[test]
    fn a_distance_lengthens_the_interval() {
        let three = Distance::new(3).unwrap();
        assert_eq!(of("0.1").at(three), Ok(of("0.3")));
        assert_eq!(rho("0.3"), "0.01125".parse().unwrap());
        assert_eq!(of("3.4e11").at(three), Err(Overflow.into()));
    }
}
