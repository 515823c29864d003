use super::Slack;
#[cfg(doc)]
use super::TimeUniformOdometer;
use super::spent::{Variance, interval};
use super::variance_odometer::{Bound, VarianceOdometer};
use crate::account::twice_rho::squares;
use crate::number::{Interval, U256};

impl VarianceOdometer {
    /// The mixture odometer: lines of all slopes at once, weighted by a Gaussian.
    ///
    /// ```text
    /// √( (2 ln(1/δ') + ln(1 + V/γ)) · (V + γ) ) + ½V + Σδ
    /// ```
    ///
    /// A larger γ is better for large V, a smaller one for small V.
    ///
    /// # Guarantee
    ///
    /// That of [`TimeUniformOdometer`], after Whitehouse et al. Thm 3(2): the method of mixtures of
    /// Robbins 1970. The [module](super) proves that `exp(λS − ½λ²V)` is a supermartingale for every
    /// λ > 0, where S is the loss less its drift. So is its mean over λ = |N(0, 1/γ)|, which is
    ///
    /// ```text
    /// 2Φ(S/√(V + γ)) · √(γ/(V + γ)) · exp(S²/(2(V + γ)))
    /// ```
    ///
    /// For S ≥ 0 the first factor is at least 1, and what is left is 1/δ' where S is the root above.
    /// Ville's inequality does the rest. Whitehouse et al. Thm 5 takes the mean over λ of both signs,
    /// which needs more of the mechanisms and gives the same bound.
    ///
    /// # Example
    ///
    /// ```
    /// use queryables::account::time_uniform::{Slack, TimeUniformOdometer, VarianceOdometer};
    /// use queryables::privacy::EpsilonDelta;
    ///
    /// // The launches may have up to 1e-7 of δ of their own, all together.
    /// let slack = Slack::new("1e-6".parse()?, "1e-7".parse()?)?;
    /// let mut odometer = VarianceOdometer::mixture_at("0.05".parse()?, slack);
    /// for _ in 0..5 {
    ///     odometer = odometer.add(&EpsilonDelta::new("0.1", "2e-8")?)?;
    /// }
    /// let reading = odometer.reading();
    /// let most = "1.4".parse()?;
    /// assert!(reading.bound().is_some_and(|bound| bound < most));
    /// assert_eq!(reading.delta(), "1.1e-6".parse()?);
    ///
    /// odometer = odometer.add(&EpsilonDelta::new("0.1", "2e-8")?)?;
    /// assert_eq!(odometer.reading().bound(), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn mixture(gamma: Variance, slack: Slack) -> Self {
        let gamma = interval(squares(gamma)).middle();
        Self::with_bound(Bound::Mixture(Mixture::new(gamma, slack)), slack)
    }

    /// A [mixture](Self::mixture) with the γ that reads least at this variance.
    ///
    /// Put `γ = V/x`. The radicand is then `V·(2L + ln(1 + x))·(1 + 1/x)` with `L = ln(1/δ')`, and
    /// its derivative vanishes where `x = 2L + ln(1 + x)`. So x depends on δ' only.
    pub fn mixture_at(variance: Variance, slack: Slack) -> Self {
        let twice_log = 2.0 * slack.log().middle();
        // Newton's steps on x − 2L − ln(1 + x), which is convex, from the right of its root. Each
        // at least halves the distance. Where they end matters for tightness only.
        let mut ratio = 2.0 * twice_log + 2.0;
        for _ in 0..100 {
            let excess = ratio - twice_log - libm::log1p(ratio);
            ratio -= excess * (1.0 + ratio) / ratio;
        }
        let gamma = interval(squares(variance)).middle() / ratio;
        Self::with_bound(Bound::Mixture(Mixture::new(gamma, slack)), slack)
    }
}

/// The bound of a mixture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Mixture {
    pub(super) gamma: f64,
    /// 2 ln(1/δ').
    twice_log: Interval,
}

impl Mixture {
    pub(super) fn new(gamma: f64, slack: Slack) -> Self {
        Self {
            // Any positive γ keeps the guarantee, so that a float is enough.
            gamma: gamma.clamp(f64::MIN_POSITIVE, f64::MAX),
            twice_log: Interval::TWO * slack.log(),
        }
    }

    /// At this V.
    pub(super) fn at(&self, squares: U256) -> Interval {
        let (variance, gamma) = (interval(squares), Interval::exactly(self.gamma));
        let logs = self.twice_log + (variance / gamma).ln_1p();
        (logs * (variance + gamma)).sqrt() + Interval::exactly(0.5) * variance
    }
}
