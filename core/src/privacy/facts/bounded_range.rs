use super::{Diverges, through};
use crate::number::{Delta, Epsilon, Mu, Order, Rho};
use crate::privacy::convert::{bounded_range, zcdp};
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
/// It is ε-DP, since the interval contains 0: ratios that are all larger than 1 do not have the mean 1.
///
/// It is ε²/8-zCDP (Cesar and Rogers 2021), and so has Rényi divergences of αε²/8. Why: let K(s) be
/// the logarithm of the mean of the ratios' s-th power on the second dataset. It is zero at 0 and
/// 1, and K″ is the variance of a number in an interval of length ε, ε²/4 at most. Hence K(s) −
/// ε²/8·s(s − 1) is concave, and not positive for s > 1; the divergence of order α is K(α)/(α − 1).
///
/// What it says under Rényi privacy, as (ε, δ), as f-DP and as GDP is the exact worst case (after Dong, Durfee, Rogers
/// 2020). *Proof*, with r(x) = 1 − e^(−x). Let the interval be [t − ε, t], where 0 ≤ t ≤ ε. A
/// divergence is the mean of a convex function of the ratio on the second dataset, where the ratio has
/// the mean 1 and lies between e^(t−ε) and e^t. A convex function lies below its chord, so the worst
/// law has these two values only. On the first dataset it has the larger one with probability
/// p = r(ε − t)/r(ε), and on the second with q = e^(−t)·p.
///
/// * Rényi, with a = α − 1: the moment e^(at)·p + e^(a(t−ε))·(1 − p) is
///   e^(at)·(r(αε) − e^(t−ε)·r(aε))/r(ε). Over all t it is largest where
///   e^(t−ε) = a·r(αε)/(α·r(aε)). The divergence there is t + ln(r(αε)/(α·r(ε)))/a.
/// * (g, δ) for g between 0 and ε: if t ≥ g, then δ is p − e^g·q = r(ε − t)·r(t − g)/r(ε); otherwise no
///   ratio is above e^g, and δ is 0. (t − ε is not above g, as t ≤ ε.) The logarithm of r is concave,
///   so the product is largest where both arguments are (ε − g)/2: δ = r((ε − g)/2)²/r(ε).
///
/// Each is attained, by a law with two answers.
///
/// * f-DP: for g between −ε and 0 the same argument holds, and δ has the same form. As a function of
///   all g it is the profile of logistic noise of scale 1/ε that is moved by 1. In terms of tests, with
///   x = e^(−ε), 1 − δ − e^g·α is largest where e^(g/2) = √x/(x + α·(1 − x)), and is
///   f(α) = x(1 − α)/(x + α·(1 − x)) there. So the odds of f(α) are those of 1 − α, times x: with Λ the
///   distribution function of logistic noise, f(α) = 1 − Λ(Λ⁻¹(α) + ε).
/// * GDP: with Φ that of Gaussian noise and h(z) = Φ⁻¹(Λ(z)), μ must be at least h(z) − h(z − ε) for all
///   z. h is odd. For z > 0 it is concave: with q = h(z), the logarithm of h′ changes by
///   q·Φ(q)Φ(−q)/φ(q) − (2Φ(q) − 1), which is −K(q)/φ(q) for K = φ·(2Φ − 1) − q·Φ(q)Φ(−q). K is 0 at 0
///   and in the limit. K′ = 2φ² − Φ(q)Φ(−q) is positive at 0, and K″ = φ·(2Φ − 1 − 4qφ), where the
///   second factor is 0 at 0, falls up to q = 1/√2 and then rises to 1. So K′ falls, and then rises to
///   0: K rises, then falls to 0, and is never negative. Hence the difference is largest at z = ε/2:
///   μ = 2Φ⁻¹(Λ(ε/2)), which is the μ of ε/2-DP ([`gdp::pure`](crate::privacy::convert::gdp::pure)). ∎
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BoundedRange {
    /// The length of the interval.
    pub epsilon: Epsilon,
}

impl BoundedRange {
    /// What is true at a distance of d: an interval of length d·ε. On a way of d steps between
    /// neighbours the logarithms of the ratios add up, and so do the intervals' lengths.
    ///
    /// # Errors
    ///
    /// [`UnknownLoss`] if it cannot be held.
    pub fn at(&self, distance: Distance) -> Result<Self, UnknownLoss> {
        let epsilon = PureDp.group(&self.epsilon, distance)?;
        Ok(Self { epsilon })
    }

    /// The smallest δ for which it is (`epsilon`, δ)-DP, rounded up.
    ///
    /// ```
    /// use queryables::privacy::facts::BoundedRange;
    ///
    /// let fact = BoundedRange { epsilon: "1".parse()? };
    /// // tanh(1/4), where ε-DP implies tanh(1/2) = 0.462….
    /// let delta = fact.delta("0".parse()?);
    /// assert!(delta > "0.24491".parse()? && delta < "0.24492".parse()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn delta(&self, epsilon: Epsilon) -> Delta {
        bounded_range::delta(self.epsilon, epsilon)
    }

    /// The smallest ε for which it is (ε, `delta`)-DP, rounded up.
    ///
    /// ```
    /// use queryables::privacy::facts::BoundedRange;
    ///
    /// let fact = BoundedRange { epsilon: "1".parse()? };
    /// assert!(fact.epsilon_at("0.01".parse()?) < "0.8344".parse()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn epsilon_at(&self, delta: Delta) -> Epsilon {
        bounded_range::epsilon(self.epsilon, delta)
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

/// The worst case, exactly (see [`BoundedRange`]).
impl Diverges for BoundedRange {
    fn divergence(&self, order: Order) -> Result<Epsilon, UnknownLoss> {
        let exact = bounded_range::divergence(order, self.epsilon);
        // αε²/8 is more, but for rounding.
        let concentrated = self
            .rho()
            .and_then(|rho| ZCdp.imply(&rho, &Rdp::new(order)));
        Ok(concentrated.map_or(exact, |loss| loss.min(exact)))
    }
}

/// What ε/2-DP implies, exactly (see [`BoundedRange`]).
impl Prices<BoundedRange> for Gdp {
    fn price(&self, fact: &BoundedRange) -> Result<Mu, UnknownLoss> {
        bounded_range::mu(fact.epsilon)
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
