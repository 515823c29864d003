use super::Slack;
#[cfg(doc)]
use super::TimeUniformOdometer;
use super::spent::{Variance, interval};
use super::variance_odometer::{Bound, VarianceOdometer};
use crate::account::twice_rho::squares;
use crate::number::{Interval, U256};

impl VarianceOdometer {
    /// The stitched odometer: one line for each doubling of V, and a union bound over them.
    ///
    /// ```text
    /// 1.7·√( V·(ln ln(2V/v₀) + 0.72·ln(5.2/δ')) ) + ½V + Σδ,   nothing known while V < v₀
    /// ```
    ///
    /// A larger v₀ is better once V has reached it: `ln ln(2V/v₀)` falls as v₀ rises. So the best v₀
    /// is the V at which it will be read. V is a little less than Σε², because ε·tanh(ε/2) is less than
    /// ε²/2: for a reading at Σε², take a little less.
    ///
    /// # Guarantee
    ///
    /// That of [`TimeUniformOdometer`], after Whitehouse et al. Thm 3(3), where the constant 5.2 is
    /// printed as `5·2`. The [module](super) proves that `exp(λS − ½λ²V)` is a supermartingale for
    /// every λ > 0, where S is the loss less its drift, and Howard et al. 2021, Theorem 1, asks for no
    /// more: each of its lines has a positive λ. (Whitehouse et al. Thm 6 also asks for −S.)
    ///
    /// The three constants round those of Howard et al. 2021, Theorem 1, for lines that double
    /// (η = 2) and weights h(k) ∝ k^−1.4. With `k₁ = (2^¼ + 2^−¼)/√2 = 1.4355…` that theorem has
    /// `k₁·√1.4 = 1.6985…` for 1.7, `1/1.4 = 0.7142…` for 0.72 and `ζ(1.4)/ln(2)^1.4 = 5.187…` for
    /// 5.2, each of them smaller.
    ///
    /// # Example
    ///
    /// ```
    /// use queryables::account::time_uniform::{Slack, TimeUniformOdometer, VarianceOdometer};
    /// use queryables::privacy::EpsilonDelta;
    ///
    /// let mut odometer = VarianceOdometer::stitched("0.019".parse()?, Slack::pure("1e-6".parse()?)?);
    /// odometer = odometer.add(&EpsilonDelta::new("0.1", "0")?)?;
    /// assert_eq!(odometer.reading().bound(), None);
    /// odometer = odometer.add(&EpsilonDelta::new("0.1", "0")?)?;
    /// // V = 4·0.1·tanh(0.05) = 0.01998.
    /// let most = "0.82".parse()?;
    /// assert!(odometer.reading().bound().is_some_and(|bound| bound < most));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stitched(start: Variance, slack: Slack) -> Self {
        Self::with_bound(Bound::Stitched(Stitched::new(start, slack)), slack)
    }
}

/// The bound of a stitched odometer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stitched {
    pub(super) start: Variance,
    /// 0.72·ln(5.2/δ').
    log: Interval,
}

impl Stitched {
    pub(super) fn new(start: Variance, slack: Slack) -> Self {
        let ratio = |numerator: u32, denominator: u32| {
            Interval::from(numerator) / Interval::from(denominator)
        };
        Self {
            start,
            log: ratio(72, 100) * (ratio(52, 10).ln() + slack.log()),
        }
    }

    /// At this V; `None` below v₀.
    pub(super) fn at(&self, spent: U256) -> Option<Interval> {
        let start = squares(self.start);
        if spent < start {
            return None;
        }
        let variance = interval(spent);
        // At least 2, so that both logarithms exist.
        let ratio = (Interval::TWO * variance / interval(start)).max(Interval::TWO);
        let logs = ratio.ln().ln() + self.log;
        let factor = Interval::from(17) / Interval::from(10);
        Some(factor * (variance * logs).sqrt() + Interval::exactly(0.5) * variance)
    }
}
