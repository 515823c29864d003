use super::Exceeded;
use super::compare::largest;
use super::menu::MenuError;
use super::nonadaptive::tight_delta;
use crate::number::{Delta, Epsilon};
use crate::privacy::EpsilonDelta;

/// The powers of one base function: how private n launches of one mechanism are together, if their
/// number is fixed.
///
/// # Guarantee
///
/// [`delta`](Self::delta) is at least the smallest δ such that n launches are together (ε, δ)-DP, in
/// both directions. Whoever implements it vouches for that.
///
/// Implemented by every function `Fn(u64, Epsilon) -> Delta`.
pub trait Powers {
    /// An upper bound of δ(ε) of the n-fold power.
    fn delta(&self, launches: u64, epsilon: Epsilon) -> Delta;
}

impl<F: Fn(u64, Epsilon) -> Delta> Powers for F {
    fn delta(&self, launches: u64, epsilon: Epsilon) -> Delta {
        self(launches, epsilon)
    }
}

/// The powers of ε-randomized response, and so of every ε-DP mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PurePowers(pub Epsilon);

impl Powers for PurePowers {
    fn delta(&self, launches: u64, epsilon: Epsilon) -> Delta {
        tight_delta(launches, self.0, epsilon)
    }
}

/// The filter for repetitions of one mechanism: each launch is worth a number of *units*, chosen on
/// the way, and all of them together at most N. It is exact: N is the number of units that could be
/// launched if it were fixed in advance.
///
/// A launch is worth n units if n launches of the base mechanism together are at least as
/// informative.
///
/// # Guarantee
///
/// The whole is (ε, δ)-DP. The powers of one trade-off function are a Blackwell chain, closed under
/// composition, so the natural filter is valid (Tran et al. Thm 3.6 with Ex. D.3). *Directly*: fix
/// two neighbouring datasets, and draw N responses of the base pair in advance. A launch of n units
/// is a postprocessing of the next n of them; a launch that is not made leaves them unused. So the
/// analyst sees a postprocessing of the N-fold power. For interactive children Haney et al. 1.21,
/// with finite communication.
///
/// # Example
///
/// ```
/// use queryables::account::{Exceeded, PurePowers, UnitFilter};
/// use queryables::privacy::EpsilonDelta;
///
/// let limit = EpsilonDelta::new("1", "1e-6")?;
/// let mut filter = UnitFilter::new(limit, &PurePowers("0.01".parse()?))?;
/// assert_eq!(filter.units(), 562);
/// filter = filter.charge(500)?;
/// assert_eq!(filter.charge(63), Err(Exceeded));
/// assert_eq!(filter.remaining(), 62);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitFilter {
    limit: EpsilonDelta,
    units: u64,
    used: u64,
}

/// The most units; more are never tried.
const MOST: u64 = 1 << 40;

impl UnitFilter {
    /// As many units as fit. The powers are asked for some sixty numbers at most; the answer for
    /// the number that is taken was within the limit.
    ///
    /// # Errors
    ///
    /// [`MenuError::Endless`] if 2⁴⁰ or more fit.
    pub fn new(limit: EpsilonDelta, powers: &impl Powers) -> Result<Self, MenuError> {
        let fits = |units| units <= MOST && powers.delta(units, limit.epsilon) <= limit.delta;
        let units = largest(fits);
        if units >= MOST {
            return Err(MenuError::Endless);
        }
        Ok(Self {
            limit,
            units,
            used: 0,
        })
    }

    /// The budget.
    #[must_use]
    pub fn limit(&self) -> &EpsilonDelta {
        &self.limit
    }

    /// How many units there are.
    #[must_use]
    pub fn units(&self) -> u64 {
        self.units
    }

    /// How many are used.
    #[must_use]
    pub fn used(&self) -> u64 {
        self.used
    }

    /// The most units that one more launch may be worth.
    #[must_use]
    pub fn remaining(&self) -> u64 {
        self.units - self.used
    }

    /// Counts one more launch.
    ///
    /// # Errors
    ///
    /// [`Exceeded`]; nothing has changed then.
    pub fn charge(&self, units: u64) -> Result<Self, Exceeded> {
        if units > self.remaining() {
            return Err(Exceeded);
        }
        Ok(Self {
            used: self.used + units,
            ..*self
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::{Interval, Mu};
    use crate::privacy::convert::gdp;

    #[test]
    fn gaussians_are_the_gdp_filter() {
        let limit = EpsilonDelta::new("1", "1e-6").unwrap();
        // n launches of μ are √n μ.
        let powers = |launches: u64, epsilon: Epsilon| {
            let mu = Interval::whole(u128::from(launches)).sqrt() * Interval::exactly(0.01);
            gdp::delta(mu.up().unwrap_or(Mu::LARGEST), epsilon)
        };
        let filter = UnitFilter::new(limit, &powers).unwrap();
        assert_eq!(filter.units(), 560);
    }

    #[test]
    fn what_never_ends_is_an_error_and_what_never_fits_admits_nothing() {
        let limit = EpsilonDelta::new("1", "1e-6").unwrap();
        let free = |_: u64, _: Epsilon| Delta::ZERO;
        assert_eq!(UnitFilter::new(limit, &free), Err(MenuError::Endless));
        let all = |_: u64, _: Epsilon| Delta::ONE;
        let filter = UnitFilter::new(limit, &all).unwrap();
        assert_eq!(
            (filter.charge(1), filter.charge(0)),
            (Err(Exceeded), Ok(filter))
        );
        assert_eq!((filter.used(), filter.limit()), (0, &limit));
    }
}
