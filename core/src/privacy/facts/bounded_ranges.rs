use std::num::NonZeroU64;

use super::{BoundedRange, Diverges, through};
use crate::number::{Epsilon, Mu, Order, Rho, U256};
use crate::privacy::convert::{gdp, rdp, zcdp};
use crate::privacy::{
    ApproxDp, ApproxZCdp, Distance, Gdp, Measure, Prices, ProbabilisticDp, PureDp, UnknownLoss,
    ZCdp,
};

/// Several choices, one after the other, each of which is a [`BoundedRange`] of length
/// ε/`choices`, whatever was chosen before: exponential mechanisms that divide a loss among them.
///
/// ```
/// use std::num::NonZeroU64;
/// use queryables::privacy::facts::{BoundedRange, BoundedRanges};
/// use queryables::privacy::{Prices, PureDp, ZCdp};
///
/// let choices = NonZeroU64::new(4).expect("not zero");
/// let fact = BoundedRanges { epsilon: "0.8".parse()?, choices };
/// assert_eq!(PureDp.price(&fact)?, "0.8".parse()?);
/// // 4 times (0.2)²/8.
/// assert_eq!(ZCdp.price(&fact)?, "0.02".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// Losses of a sequence in which each mechanism may depend on the answers before it add up: those of
/// pure privacy (Dwork and Roth 2014, Theorem 3.16), the Rényi divergences (Mironov 2017, Proposition
/// 1), zCDP (Bun and Steinke 2016, Lemma 2.3), and the squares of μ (Dong, Roth, Su 2022, Corollary
/// 3.3). What ε-DP implies for the whole is taken where it is less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BoundedRanges {
    /// The ε of all choices together.
    pub epsilon: Epsilon,
    /// How many there are.
    pub choices: NonZeroU64,
}

impl BoundedRanges {
    /// What is true at a distance of d: as many, each d times as long ([`BoundedRange::at`]).
    ///
    /// # Errors
    ///
    /// [`UnknownLoss`] if it cannot be held.
    pub fn at(&self, distance: Distance) -> Result<Self, UnknownLoss> {
        Ok(Self {
            epsilon: PureDp.group(&self.epsilon, distance)?,
            ..*self
        })
    }

    /// One of them; its length is rounded up.
    fn each(&self) -> BoundedRange {
        let units = self.epsilon.units().div_ceil(self.choices.get().into());
        BoundedRange {
            epsilon: Epsilon::from_units(units).unwrap_or(self.epsilon),
        }
    }
}

/// Losses add up.
impl Prices<BoundedRanges> for PureDp {
    fn price(&self, fact: &BoundedRanges) -> Result<Epsilon, UnknownLoss> {
        Ok(fact.epsilon)
    }
}

/// Losses add up, or what ε-DP implies.
impl Prices<BoundedRanges> for ZCdp {
    fn price(&self, fact: &BoundedRanges) -> Result<Rho, UnknownLoss> {
        let most = zcdp::pure(fact.epsilon);
        let all = self.price(&fact.each())?.checked_mul(fact.choices.get());
        Ok(all.map_or(most, |all| all.min(most)))
    }
}

/// Divergences add up, or what ε-DP implies.
impl Diverges for BoundedRanges {
    fn divergence(&self, order: Order) -> Result<Epsilon, UnknownLoss> {
        let most = rdp::pure(order, self.epsilon);
        let all = self.each().divergence(order)?;
        let all = all.checked_mul(self.choices.get());
        Ok(all.map_or(most, |all| all.min(most)))
    }
}

/// Squares add up, or what ε-DP implies.
impl Prices<BoundedRanges> for Gdp {
    fn price(&self, fact: &BoundedRanges) -> Result<Mu, UnknownLoss> {
        let most = gdp::pure(fact.epsilon);
        let square = U256::of(self.price(&fact.each())?).checked_mul(fact.choices.get().into());
        let all = square
            .and_then(U256::root_up)
            .and_then(|units| Mu::from_units(units).ok());
        match (all, most) {
            (Some(all), Ok(most)) => Ok(all.min(most)),
            (all, most) => all.map_or(most, Ok),
        }
    }
}

through!(BoundedRanges: PureDp => ApproxDp, PureDp => ProbabilisticDp, ZCdp => ApproxZCdp);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::Rdp;

    fn of(epsilon: &str, choices: u64) -> BoundedRanges {
        BoundedRanges {
            epsilon: epsilon.parse().unwrap(),
            choices: NonZeroU64::new(choices).unwrap(),
        }
    }

    #[test]
    fn one_choice_is_a_bounded_range() {
        let one = BoundedRange {
            epsilon: "0.3".parse().unwrap(),
        };
        let rdp = Rdp::new("3".parse().unwrap());
        assert_eq!(ZCdp.price(&of("0.3", 1)), ZCdp.price(&one));
        assert_eq!(rdp.price(&of("0.3", 1)), rdp.price(&one));
        assert_eq!(Gdp.price(&of("0.3", 1)), Gdp.price(&one));
    }

    #[test]
    fn choices_add_up_and_are_rounded_up() {
        assert_eq!(ZCdp.price(&of("0.6", 3)), Ok("0.015".parse().unwrap()));
        assert_eq!(
            of("1", 3).each().epsilon.units(),
            10_u128.pow(27).div_ceil(3)
        );
        // √4 times what a quarter has.
        let quarter: Mu = Gdp.price(&of("0.25", 1)).unwrap();
        assert_eq!(
            Gdp.price(&of("1", 4)),
            quarter.checked_mul(2).ok_or(UnknownLoss(""))
        );
        // So small that rounding up the parts would make the whole too large.
        let tiny = of("1e-27", 1000);
        assert_eq!(ZCdp.price(&tiny), Ok(zcdp::pure(tiny.epsilon)));
    }

    #[test]
    fn a_distance_lengthens_each() {
        let two = Distance::new(2).unwrap();
        assert_eq!(of("0.3", 5).at(two), Ok(of("0.6", 5)));
    }
}
