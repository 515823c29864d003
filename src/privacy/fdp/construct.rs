//! Profiles of mechanisms, by the parameters of their noise.

use std::sync::Arc;

use super::curve::{Curve, Deviation, MOST_STEPS};
use super::{FdpError, Profile};
use crate::number::{Delta, Epsilon, Mu, Rho, Scale, WideInterval};
use crate::privacy::EpsilonDelta;

impl Profile {
    /// The profile of a mechanism that reveals nothing.
    #[must_use]
    pub fn perfect() -> Self {
        Self::gaussian(Mu::ZERO)
    }

    /// Gaussian noise of deviation 1/μ on an answer that changes by at most 1.
    #[must_use]
    pub fn gaussian(mu: Mu) -> Self {
        Self::closed(Curve::Gaussian(mu))
    }

    /// Laplace noise of scale 1/ε on an answer that changes by at most 1.
    #[must_use]
    pub fn laplace(epsilon: Epsilon) -> Self {
        Self::closed(Curve::Laplace(epsilon))
    }

    /// Noise on the integers with odds e^(−ε|k|/steps), on an answer that changes by at most `steps`:
    /// ε-DP. Of more than 2^44 steps it is the profile of everything that is ε-DP.
    #[must_use]
    pub fn discrete_laplace(epsilon: Epsilon, steps: u64) -> Self {
        if steps > MOST_STEPS {
            return Self::randomized_response(epsilon);
        }
        Self::closed(Curve::DiscreteLaplace { epsilon, steps })
    }

    /// Gaussian noise of deviation σ, rounded to integers, on an answer that changes by at most
    /// `steps`.
    #[must_use]
    pub fn rounded_gaussian(sigma: Scale, steps: u32) -> Self {
        let deviation = Deviation::Sigma(sigma);
        Self::closed(Curve::RoundedGaussian { deviation, steps })
    }

    /// The same by what is stated of a count, with σ = 1/μ = 1/√(2ρ), which is exact.
    pub(super) fn rounded_count(deviation: Deviation) -> Self {
        let nothing = match deviation {
            Deviation::OverMu(mu) => mu == Mu::ZERO,
            Deviation::OverRho(rho) => rho == Rho::ZERO,
            Deviation::Sigma(_) => false,
        };
        if nothing {
            return Self::perfect();
        }
        let steps = 1;
        Self::closed(Curve::RoundedGaussian { deviation, steps })
    }

    /// Randomized response: the largest profile that ε-DP allows.
    #[must_use]
    pub fn randomized_response(epsilon: Epsilon) -> Self {
        Self::approx_dp(EpsilonDelta {
            epsilon,
            delta: Delta::ZERO,
        })
    }

    /// The largest profile that (ε, δ)-DP allows (Kairouz, Oh, Viswanath 2015).
    #[must_use]
    pub fn approx_dp(loss: EpsilonDelta) -> Self {
        Self::closed(Curve::Response(loss))
    }

    /// Logistic noise of scale 1/ε on an answer that changes by at most 1: the largest profile of
    /// mechanisms whose log-ratios lie within an interval of length ε, as those of the exponential
    /// mechanism do ([`BoundedRange`](crate::privacy::facts::BoundedRange)).
    ///
    /// ```
    /// use queryables::privacy::fdp::{Adjacency, Profile};
    ///
    /// // As trade-off function it is (1 − α)/(1 + α·(e^ε − 1)): here 1/(1 + e).
    /// let choice = Profile::bounded_range("1".parse()?);
    /// let missed = choice.trade_off(Adjacency::Remove, "0.5".parse()?);
    /// assert!(missed.lower > "0.26894".parse()? && missed.upper < "0.26895".parse()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn bounded_range(epsilon: Epsilon) -> Self {
        Self::closed(Curve::BoundedRange(epsilon))
    }

    /// The polygon with these corners (α, β) as trade-off function T\[P, Q\]: false alarms under P,
    /// misses under Q (Tran et al. 2.2, 2.3). The corners (0, 1) and (1, 0) are implied.
    ///
    /// # Errors
    ///
    /// [`FdpError::NotATradeOff`] if the polygon does not fall, is not convex, or a corner lies
    /// above the line from (0, 1) to (1, 0).
    ///
    /// ```
    /// use queryables::privacy::fdp::{FdpError, Profile};
    ///
    /// let corner = |alpha: &str, beta: &str| Ok::<_, Box<dyn std::error::Error>>(
    ///     (alpha.parse()?, beta.parse()?));
    /// Profile::from_trade_off(&[corner("0.25", "0.25")?])?;
    /// assert_eq!(
    ///     Profile::from_trade_off(&[corner("0.5", "0.75")?]),
    ///     Err(FdpError::NotATradeOff { corner: 0, why: "β is more than 1 − α" }),
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_trade_off(corners: &[(Delta, Delta)]) -> Result<Self, FdpError> {
        super::polygon::masses(corners).map(|masses| Self::closed(Curve::Finite(masses)))
    }

    /// Gaussian noise of deviation σ, with sensitivity 1, on a Poisson sample at this rate.
    #[must_use]
    pub fn sampled_gaussian(rate: Delta, sigma: Scale) -> Self {
        // 1/σ to 27 digits, rounded up: more μ is less private.
        let mu = (WideInterval::whole(1) / WideInterval::from(sigma)).up();
        Self::sampled_gaussian_by(rate, mu.unwrap_or(Mu::LARGEST))
    }

    /// The same, by μ = 1/σ (Tran et al. §2.2).
    #[must_use]
    pub fn sampled_gaussian_by(rate: Delta, mu: Mu) -> Self {
        Self::closed(Curve::Sampled {
            rate,
            base: Arc::new(Curve::Gaussian(mu)),
        })
    }

    /// The same for a row that is replaced by another one, each of which moves the sum by at most 1 in
    /// any direction: see [`SampledReplacement`](crate::privacy::facts::SampledReplacement).
    ///
    /// ```
    /// use queryables::privacy::fdp::Profile;
    ///
    /// let (rate, mu) = ("0.01".parse()?, "1".parse()?);
    /// let added = Profile::sampled_gaussian_by(rate, mu).worst_delta("0".parse()?);
    /// let replaced = Profile::sampled_replacement(rate, mu).worst_delta("0".parse()?);
    /// assert!(added.upper < "0.00383".parse()? && replaced.lower > "0.00682".parse()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn sampled_replacement(rate: Delta, mu: Mu) -> Self {
        Self::closed(Curve::Opposite { rate, mu })
    }

    /// A mechanism with this profile for adding or removing a person, on a Poisson sample.
    ///
    /// # Guarantee
    ///
    /// (1−q)Q + qP against Q dominates, if P against Q does (Zhu, Dong, Wang 2022, Theorem 11).
    /// `None` for a profile that is known by a table or as the worst of several.
    #[must_use]
    pub fn sampled(&self, rate: Delta) -> Option<Self> {
        let base = Arc::new(self.plain_curve()?.clone());
        Some(Self::closed(Curve::Sampled { rate, base }))
    }
}
