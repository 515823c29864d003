//! The mean of a bounded attribute.

use std::ops::RangeInclusive;

use super::moments::{Moment, MomentAccuracy, Moments, SumScale};
use super::real_range::Steps;
use super::{MechanismError, RealRange};
use crate::data::{Attribute, Dataset, RealSum};
use crate::number::Interval;

/// The mean of an attribute that is clamped to a range and rounded to steps.
///
/// Use it for averages: it costs what one sum costs, not a sum and a count. Choose the range from
/// what is publicly known about the attribute, never from the data. Steps follow from the range
/// ([`RealRange`]).
///
/// The answer is a [`NoisyMean`], which has the noisy number of rows too;
/// [`estimate`](super::Estimates::estimate) has the interval in which the true mean is. For the
/// variance as well, see [`Variance`](super::Variance); for the mean of each group,
/// [`by`](super::Grouped::by).
///
/// ```
/// use queryables::data::Attribute;
/// use queryables::mechanisms::{Accuracy, Estimates, Mean};
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let ages: Arc<Vec<f64>> = Arc::new((0..2000).map(|person| 20.0 + (person % 50) as f64).collect());
/// let filter = start(&Filter::concurrent(PureDp, epsilon!(1)), ages)?;
///
/// // From 0 to 100 years.
/// let age = Attribute::new("age", |age: &f64| *age);
/// let mean = Mean::of(age, 0.0..=100.0).laplace(epsilon!(0.5))?;
/// // With a guess of the number of rows it says in advance how far off it will be.
/// assert!(mean.accuracy(confidence!(0.95)).for_rows(2000) < 0.38);
///
/// let answer = filter.release(&mean)?;
/// assert!((answer.value() - 44.5).abs() < 3.0);
/// assert!((answer.rows() - 2000.0).abs() < 100.0);
/// println!("the mean age is {:.1}", mean.estimate(answer, confidence!(0.95)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// Let each row be u above the start of the range and w − u below its end, in steps.
///
/// - A row that is added or removed changes the sum of u and the sum of w − u, by w together,
///   whatever u is; this is at most w in the Euclidean norm, too. So noise for w on each is enough,
///   without dividing the loss between them. Their sum is w times the number of rows, and the mean is
///   the start of the range plus w times the first, divided by their sum. The number of rows is never
///   used itself.
/// - Where a row is replaced, the number of rows is the same in all datasets that are compared, so
///   it is public. Only the sum of u is released, with noise for w, and it is divided by that number.
///
/// With Laplace noise, a sum with half of ε and a count with the other half, as deviations from the
/// middle of the range, would have twice the variance. With Gaussian noise it is the same as the sum
/// of these deviations with one half of ρ and the count with the other. With a share of θ for the
/// sum, the error of a mean that is d away from the middle has a variance proportional to
/// (w/2)²/θ + d²/(1 − θ); the worst case, d = w/2, is least for equal shares, and no other mean is
/// then farther than √2 times from its own best share.
///
/// The range is in whole steps, as numbers are, so that w is exact, rounding included ([`RealRange`]).
#[doc(alias = "average")]
pub type Mean<A> = Moments<A, NoisyMean>;

/// What a [`Mean`] answers: two noisy sums, and what follows from them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NoisyMean {
    /// The noisy sum of u.
    above: i128,
    /// The noisy sum of w − u.
    below: i128,
    steps: Steps,
}

impl Moment for NoisyMean {
    const NAME: &'static str = "Mean";
    const SUMS: usize = 2;

    /// The sum of u changes by u and that of w − u by w − u, which is w together.
    fn change(_: &RealRange, width: u64) -> Result<u64, MechanismError> {
        Ok(width)
    }

    fn of_sums(sums: &[i128], range: &RealRange, size_is_public: bool) -> Self {
        let sums = sums.first_chunk().copied();
        let [above, second] = sums.unwrap_or_default();
        let below = match size_is_public {
            true => second.saturating_sub(above),
            false => second,
        };
        Self {
            above,
            below,
            steps: range.steps(),
        }
    }

    /// Where the number of rows is public, the second one is w times that number.
    fn sum<D: Dataset + ?Sized>(
        attribute: &Attribute<D, f64>,
        range: &RealRange,
        data: &D,
        size_is_public: bool,
    ) -> [i128; 3] {
        let steps = range.steps();
        let mut sum = RealSum::new(steps.per_unit(), steps.range());
        attribute.fold(data, &mut sum);
        let rows = data.len() as i128;
        let all = i128::from(steps.width.get()).saturating_mul(rows);
        let start = i128::from(steps.start).saturating_mul(rows);
        let above = sum.total().saturating_sub(start);
        let second = match size_is_public {
            true => all,
            false => all.saturating_sub(above),
        };
        [above, second, 0]
    }

    fn row(above: i128, below: i128) -> [i128; 3] {
        [above, below, 0]
    }

    /// How far the mean is from that of the clamped values, at most, if there are this number of rows,
    /// with the confidence that was asked for: rounded up, with what rounding the mean to a float may
    /// add, and never more than the width of the range and half a step.
    ///
    /// If both sums are within a of the truth, the mean of n rows is within a/(n − 2a/w) of it; where
    /// the number of rows is public, within a/n. Rounding the values adds half a step.
    fn for_rows(accuracy: &MomentAccuracy<Self>, rows: u64) -> f64 {
        let scale = accuracy.scale;
        let width = Interval::whole(scale.width.get().into());
        let error = accuracy.each.map_or(width, |each| {
            let each = Interval::whole(each);
            let rows = Interval::whole(rows.into());
            let counted = match accuracy.size_is_public {
                true => rows,
                false => rows - Interval::TWO * each / width,
            };
            match counted.low() > 0.0 {
                true => (each / counted).min(width),
                false => width,
            }
        });
        match scale.rounding() {
            None => scale.rounded(error, width),
            Some(half) => scale.rounded(error + half, width + half),
        }
    }

    /// It is wider by half a step on both sides: what rounding changes each number by, at most, it
    /// changes their mean by.
    fn between(self, scale: SumScale, each: Option<u128>) -> (f64, RangeInclusive<f64>) {
        let (low, high) = scale.ends;
        let value = self.value().clamp(low, high);
        let within = each.and_then(|each| self.possible(each, &(low..=high)));
        (value, within.unwrap_or(low..=high))
    }
}

impl NoisyMean {
    #[cfg(test)]
    pub(super) fn sums(&self) -> (i128, i128) {
        (self.above, self.below)
    }

    /// The mean: a number of the range, whose ends are rounded to steps, and its middle if the sums say
    /// that there are no rows.
    #[must_use]
    pub fn value(&self) -> f64 {
        // What is below zero is noise.
        let [above, below] = [self.above, self.below].map(|sum| sum.max(0) as f64);
        let all = above + below;
        let fraction = if all > 0.0 { above / all } else { 0.5 };
        self.steps.value(fraction)
    }

    /// The noisy number of rows; the true one where it is public.
    #[must_use]
    pub fn rows(&self) -> f64 {
        let width = self.steps.width.get();
        self.above.saturating_add(self.below) as f64 / width as f64
    }

    /// The means before rounding, if each sum is at most so far from the truth and numbers are in this
    /// range; `None` if there may be no rows.
    fn possible(&self, each: u128, range: &RangeInclusive<f64>) -> Option<RangeInclusive<f64>> {
        let each = i128::try_from(each).unwrap_or(i128::MAX);
        let scale = self.steps;
        // True sums are not negative.
        let least = |sum: i128| sum.saturating_sub(each).max(0).unsigned_abs();
        let most = |sum: i128| sum.saturating_add(each).max(0).unsigned_abs();
        // Where the number of rows is public the two errors are opposite, so these add up to it.
        let low = fraction(least(self.above), most(self.below));
        let high = fraction(most(self.above), least(self.below));
        let low = scale.before_rounding(low?).low().max(*range.start());
        let high = scale.before_rounding(high?).high().min(*range.end());
        Some(low..=high)
    }
}

/// `above / (above + below)`; `None` if both are zero.
fn fraction(above: u128, below: u128) -> Option<Interval> {
    let all = Interval::whole(above.saturating_add(below));
    (above > 0 || below > 0).then(|| Interval::whole(above) / all)
}

#[cfg(test)]
#[path = "mean_tests.rs"]
mod tests;
