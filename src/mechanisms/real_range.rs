//! Ranges of real numbers, in steps to which the numbers are rounded.

use std::num::NonZeroU64;
use std::ops::RangeInclusive;

use super::lattice::{EXPONENTS, LARGEST, bad_exponent, of_steps};
use super::{About, MechanismError};
use crate::data::steps_of;
use crate::machine::Description;
use crate::number::Interval;

/// The range that real numbers are clamped to, and the step to which they are rounded.
///
/// A range alone has steps of about 2^-20 of its width, a power of two. So rounding changes a number
/// by less than a millionth of the range. State another step only if you know why: noise is as large
/// as the range, whatever the step.
///
/// ```
/// use queryables::mechanisms::RealRange;
///
/// let rates = RealRange::from(0.0..=1.0);
/// // In steps of 2^-10.
/// let coarser = RealRange::from(0.0..=1.0).with_step(-10);
/// // Ages in years: nothing is lost by rounding numbers that are whole.
/// let ages = RealRange::of_whole_numbers(0..=100);
/// ```
///
/// # Guarantee
///
/// With steps of s, a number x becomes ⌊x/s + 1/2⌋ steps, in floats, and the ends of the range do
/// too; then the number is clamped to these ends. Rounding never changes an order. So what becomes of
/// x is the rounded number of what x is after clamping to the range as it was stated, and is at most
/// half a step away from that. A row that cannot be read, or whose value is infinite or NaN, is the
/// number of the range that is nearest to zero. A step above a hundredth of the range is refused,
/// unless numbers are said to be whole.
#[doc(alias = "bounds")]
#[doc(alias = "clamp")]
#[doc(alias = "clipping")]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RealRange {
    low: f64,
    high: f64,
    /// Steps of 2 to this power; by default they follow from the range.
    exponent: Option<i32>,
    /// Numbers are said to be multiples of the step.
    exact: bool,
}

impl From<RangeInclusive<f64>> for RealRange {
    fn from(range: RangeInclusive<f64>) -> Self {
        let (low, high) = range.into_inner();
        Self {
            low,
            high,
            exponent: None,
            exact: false,
        }
    }
}

/// Whole numbers: their own steps, which lose nothing.
impl From<RangeInclusive<i64>> for RealRange {
    fn from(range: RangeInclusive<i64>) -> Self {
        Self::of_whole_numbers(range)
    }
}

/// How many times narrower than the range a step is by default: 2 to this power.
const FINE: i32 = 20;

/// A range has at least this number of steps.
pub(super) const LEAST_STEPS: u64 = 100;

impl RealRange {
    /// The same range in steps of 2 to the power of `exponent`, which is from −500 to 500.
    #[must_use]
    pub fn with_step(self, exponent: i32) -> Self {
        Self {
            exponent: Some(exponent),
            ..self
        }
    }

    /// A range of whole numbers. Others are rounded to the nearest one, and estimates say so.
    #[must_use]
    pub fn of_whole_numbers(range: RangeInclusive<i64>) -> Self {
        let (low, high) = range.into_inner();
        Self::of_multiples(low as f64..=high as f64, 0)
    }

    /// A range of multiples of 2 to the power of `exponent`.
    pub(super) fn of_multiples(range: RangeInclusive<f64>, exponent: i32) -> Self {
        Self {
            exact: true,
            ..Self::from(range).with_step(exponent)
        }
    }

    /// Whether the numbers are said to be multiples of the step.
    #[cfg(feature = "table")]
    pub(super) fn is_exact(&self) -> bool {
        self.exact
    }

    /// Whether the step was chosen.
    #[cfg(feature = "table")]
    pub(super) fn has_step(&self) -> bool {
        self.exponent.is_some()
    }

    /// The range as it was stated.
    pub(super) fn stated(&self) -> RangeInclusive<f64> {
        self.low..=self.high
    }

    /// The range in steps.
    pub(super) fn in_steps(self) -> Result<Steps, MechanismError> {
        let Self { low, high, .. } = self;
        let bad = |problem| MechanismError::range(self.stated(), problem);
        let too_wide = "must end within 2^50 steps of zero on both sides";
        if low.is_nan() || high.is_nan() {
            return Err(bad("must have two numbers as its ends"));
        }
        if low > high {
            return Err(MechanismError::empty(self.stated()));
        }
        if low == high {
            return Err(MechanismError::constant(self.stated()));
        }
        let exponent = self.exponent.unwrap_or_else(|| default_step(low, high));
        if !EXPONENTS.contains(&exponent) {
            return Err(bad_exponent(exponent));
        }
        let per_unit = libm::scalbn(1.0, -exponent);
        let [start, end] = [low, high].map(|end| steps_of(end, per_unit));
        let farthest = start.unsigned_abs().max(end.unsigned_abs());
        if low.is_infinite() || high.is_infinite() || farthest > LARGEST.unsigned_abs() {
            return Err(bad(too_wide));
        }
        let steps = (high - low) * per_unit;
        if !self.exact && steps < LEAST_STEPS as f64 {
            return Err(match self.exponent {
                // A finer one would put the ends too many steps away from zero.
                None => bad(too_wide),
                Some(exponent) => MechanismError::CoarseStep {
                    exponent,
                    steps: steps as u64,
                    least: LEAST_STEPS,
                },
            });
        }
        let width = NonZeroU64::new(start.abs_diff(end));
        let width = width.ok_or_else(|| bad("is shorter than a step: make it wider"))?;
        Ok(Steps {
            start,
            width,
            exponent,
            exact: self.exact,
        })
    }

    /// The same, of a range that was found to be in steps.
    pub(super) fn steps(&self) -> Steps {
        self.in_steps().unwrap_or(Steps {
            start: 0,
            width: NonZeroU64::MIN,
            exponent: 0,
            exact: true,
        })
    }

    pub(super) fn describe(&self, description: Description) -> Description {
        let Self { low, high, .. } = self;
        description
            .with("range", format_args!("{low}..={high}"))
            .with("exponent", self.steps().exponent)
    }

    /// What an estimate is about that allows for rounding.
    pub(super) fn about(&self) -> About {
        let Self { low, high, .. } = self;
        let about = About::all_rows().clamped(format_args!("{low}..={high}"));
        match self.exact {
            true => about.of_multiples(self.steps().exponent),
            false => about,
        }
    }

    /// What an estimate is about that does not.
    pub(super) fn about_rounded(&self) -> About {
        let steps = self.steps();
        match steps.rounding() {
            None => self.about(),
            Some(half) => {
                let most = libm::scalbn(half.high(), steps.exponent);
                self.about().rounded(steps.exponent, most)
            }
        }
    }
}

/// About 2^-20 of the width; more, if the range is so far from zero that its ends would have too many
/// steps.
fn default_step(low: f64, high: f64) -> i32 {
    let fine = libm::ilogb(high - low).saturating_sub(FINE);
    // Less than 2^50 steps for what is less than twice a power of two.
    let coarse = libm::ilogb(low.abs().max(high.abs())).saturating_sub(49);
    fine.max(coarse).clamp(*EXPONENTS.start(), *EXPONENTS.end())
}

/// A range of numbers, in steps of a power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Steps {
    pub(super) start: i64,
    pub(super) width: NonZeroU64,
    pub(super) exponent: i32,
    /// Numbers are said to be multiples of the step, so that rounding changes none.
    exact: bool,
}

impl Steps {
    pub(super) fn range(&self) -> RangeInclusive<i64> {
        self.start..=self.start.saturating_add_unsigned(self.width.get())
    }

    /// The range, in units.
    pub(super) fn values(&self) -> RangeInclusive<f64> {
        let (low, high) = self.range().into_inner();
        let value = |end: i64| of_steps(end.into(), self.exponent);
        value(low)..=value(high)
    }

    pub(super) fn per_unit(&self) -> f64 {
        libm::scalbn(1.0, -self.exponent)
    }

    /// By how much rounding changes a number, at most, in steps; `None` if not at all.
    ///
    /// Half a step. The float before 1/2 is rounded to 1, because 1/2 more than it is 1 in floats;
    /// there is no other such number: wherever else half a step more is no float, a whole number is
    /// as far away as it was. So a little more is allowed for.
    pub(super) fn rounding(&self) -> Option<Interval> {
        (!self.exact).then_some(Interval::exactly(0.5 + f64::EPSILON))
    }

    /// An error of a number that is at most `most` units of steps large, with room for rounding it to a
    /// float: its formula has fewer than 16 operations, each with an error of 2^-53.
    pub(super) fn rounded(&self, error: Interval, most: Interval) -> f64 {
        let start = Interval::whole(self.start.unsigned_abs().into());
        let rounding = (start + most) * Interval::exactly(2_f64.powi(-49));
        libm::scalbn((error + rounding).min(most).high(), self.exponent)
    }

    /// The number of the range at a fraction of its width, rounded.
    pub(super) fn value(&self, fraction: f64) -> f64 {
        let steps = self.start as f64 + self.width.get() as f64 * fraction;
        let (low, high) = self.values().into_inner();
        libm::scalbn(steps, self.exponent).clamp(low, high)
    }

    /// All that the numbers at these fractions may have been before they were rounded.
    pub(super) fn before_rounding(&self, fraction: Interval) -> Interval {
        let width = Interval::whole(self.width.get().into());
        let steps = Interval::exactly(self.start as f64) + width * fraction;
        let steps = match self.rounding() {
            None => steps,
            Some(half) => Interval::between((steps - half).low(), (steps + half).high()),
        };
        // Exact: a power of two, far from the ends of floats.
        let value = |steps: f64| libm::scalbn(steps, self.exponent);
        Interval::between(value(steps.low()), value(steps.high()))
    }
}

#[cfg(test)]
#[path = "real_range_tests.rs"]
mod tests;
