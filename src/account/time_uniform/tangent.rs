use super::Slack;
#[cfg(doc)]
use super::TimeUniformOdometer;
use super::spent::{Variance, interval};
use super::variance_odometer::{Bound, VarianceOdometer};
use crate::account::RuleError;
use crate::account::twice_rho::squares;
use crate::number::{Epsilon, Interval, U256};

impl VarianceOdometer {
    /// The filter odometer: a straight line in V that touches the filter's curve at one point.
    ///
    /// ```text
    /// ½√(2y*L) + ½√(2L/y*)·V + ½V + Σδ,   L = ln(1/δ')
    /// ```
    ///
    /// The curve is that of Whitehouse et al. Thm 2, `√(2LV) + ½V`, and y* is where it reaches the
    /// target. It is tightest where the reading is the target. Without δ, none of the odometers here with the same δ' reads less than the curve; this one lies
    /// on it at y*.
    ///
    /// # Guarantee
    ///
    /// That of [`TimeUniformOdometer`], after Whitehouse et al. Thm 3(1). The [module](super) proves
    /// that `exp(λS − ½λ²V)` is a supermartingale for every λ > 0, where S is the loss less its drift.
    /// With `λ = √(2L/y*)` it passes 1/δ' where S passes the line, and Ville's inequality bounds the
    /// probability of that by δ', for every y* > 0. As printed, `+ ε` stands in y* where tangency at the
    /// target asks for `+ 2ε`: `y* = (√(2L + 2ε) − √(2L))²`.
    ///
    /// # Example
    ///
    /// ```
    /// use queryables::account::time_uniform::{Slack, TimeUniformOdometer, VarianceOdometer};
    /// use queryables::privacy::EpsilonDelta;
    ///
    /// let mut odometer = VarianceOdometer::tangent("1".parse()?, Slack::pure("1e-6".parse()?)?)?;
    /// for _ in 0..349 {
    ///     odometer = odometer.add(&EpsilonDelta::new("0.01", "0")?)?;
    /// }
    /// // The filter with this target admits 349 such launches, and reads the same.
    /// let bound = odometer.reading().bound();
    /// assert!(bound > Some("0.99".parse()?) && bound < Some("1".parse()?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`RuleError::OutOfRange`] if the target is zero.
    pub fn tangent(target: Epsilon, slack: Slack) -> Result<Self, RuleError> {
        if target == Epsilon::ZERO {
            return Err(NO_TARGET);
        }
        let (log, target) = (slack.log(), Interval::from(target));
        // √(2L + 2ε) − √(2L), without the cancellation.
        let root = Interval::TWO * target
            / ((Interval::TWO * (log + target)).sqrt() + (Interval::TWO * log).sqrt());
        Ok(Self::touching(root.square().middle(), slack))
    }

    /// A [tangent](Self::tangent) that is tightest where the variance is this: none of the odometers here, whatever its parameter,
    /// reads less there with the same δ'.
    pub fn tangent_at(variance: Variance, slack: Slack) -> Self {
        Self::touching(interval(squares(variance)).middle(), slack)
    }

    fn touching(tangent: f64, slack: Slack) -> Self {
        Self::with_bound(Bound::Tangent(Tangent::new(tangent, slack)), slack)
    }

    /// The variance y* at which a tangent is tightest; `None` for the other bounds.
    #[must_use]
    pub fn tangent_point(&self) -> Option<f64> {
        match self.bound {
            Bound::Tangent(Tangent { tangent, .. }) => Some(tangent),
            Bound::Mixture(_) | Bound::Stitched(_) => None,
        }
    }
}

const NO_TARGET: RuleError = RuleError::OutOfRange {
    what: "the target ε of a tangent",
    advice: "choose one greater than 0",
};

/// The bound of a filter odometer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Tangent {
    /// y*. Any positive number keeps the guarantee, so that a float is enough.
    pub(super) tangent: f64,
    /// ½√(2y*L).
    start: Interval,
    /// ½√(2L/y*) + ½.
    slope: Interval,
}

impl Tangent {
    pub(super) fn new(tangent: f64, slack: Slack) -> Self {
        let half = Interval::exactly(0.5);
        let twice_log = Interval::TWO * slack.log();
        let at = Interval::exactly(tangent);
        Self {
            tangent,
            start: half * (at * twice_log).sqrt(),
            slope: half * (twice_log / at).sqrt() + half,
        }
    }

    /// At this V.
    pub(super) fn at(&self, squares: U256) -> Interval {
        self.start + self.slope * interval(squares)
    }
}
