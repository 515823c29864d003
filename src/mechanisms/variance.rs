//! The variance of a bounded attribute.

use std::ops::RangeInclusive;

use super::moments::{Moment, MomentAccuracy, Moments, SumScale};
use super::real_range::Steps;
use super::{MechanismError, RealRange};
use crate::data::{Attribute, Dataset};
use crate::number::Interval;

/// The variance of an attribute that is clamped to a range and rounded to steps ([`RealRange`]), with
/// discrete Laplace noise.
///
/// Use it for a spread: the answer, a [`Variance`], has the variance, the mean and the noisy number of
/// rows, at the price of one sum. If only the mean is needed, [`Mean`](super::Mean) is more
/// accurate.
///
/// ```
/// use queryables::data::Attribute;
/// use queryables::mechanisms::{Estimates, Variance};
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// // From 20 to 69: a variance of (50² − 1)/12 = 208.25.
/// let ages: Arc<Vec<f64>> = Arc::new((0..20_000).map(|person| 20.0 + (person % 50) as f64).collect());
/// let filter = start(&Filter::concurrent(PureDp, epsilon!(1)), ages)?;
///
/// let age = Attribute::new("age", |age: &f64| *age);
/// let spread = Variance::of(age, 0.0..=100.0).laplace(epsilon!(0.5))?;
/// let answer = filter.release(&spread)?;
/// assert!((answer.value() - 208.25).abs() < 20.0);
/// assert!((answer.mean() - 44.5).abs() < 1.0);
/// println!("the variance is {:.0}", spread.estimate(answer, confidence!(0.95)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// ε-DP, and this is tight, for neighbours under `R`. Let each row be u above the start of the range,
/// of width w, in steps.
///
/// - A row that is added or removed changes the sums P of u², M of 2u(w − u) and B of (w − u)², by w²
///   together, whatever u is. So noise of scale w²/ε on each is ε-DP. They add up to w² times the
///   number of rows n, and the variance is (PB − M²/4)/(n²w²).
/// - Where a row is replaced, the number of rows is public. The sums X of uw and Y of u(w − u) are
///   released: with u and v in units of w, |u − v| + |u(1 − u) − v(1 − v)| =
///   |u − v|·(1 + |1 − u − v|) ≤ 1, because |u − v| is at most s = u + v and 2 − s, and s(2 − s) ≤ 1.
///   So they change by w² together, too. The variance is (X/nw)(w − X/nw) − Y/n.
///
/// It states [`Laplace`](crate::privacy::facts::Laplace) noise on numbers that change by w² together. The range is in whole steps, as
/// numbers are, so that w is exact, rounding included ([`RealRange`]).
#[doc(alias = "spread")]
#[doc(alias = "standard deviation")]
pub type Variance<A> = Moments<A, NoisyVariance>;

/// What a [`Variance`] answers: three noisy sums, and what follows from them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NoisyVariance {
    /// P, M and B; or X, Y and w² times the number of rows, where that is public.
    sums: [i128; 3],
    scale: Steps,
    size_is_public: bool,
}

/// The width of a range whose square a fact can hold.
const WIDEST: u64 = (1 << 32) - 1;

impl Moment for NoisyVariance {
    const NAME: &'static str = "Variance";
    const SUMS: usize = 3;

    /// All sums together change by w².
    fn change(range: &RealRange, width: u64) -> Result<u64, MechanismError> {
        if width > WIDEST {
            let problem =
                "must be less than 2^32 steps wide for a variance: take a larger exponent";
            return Err(MechanismError::range(range.stated(), problem));
        }
        Ok(width * width)
    }

    fn of_sums(sums: &[i128], range: &RealRange, size_is_public: bool) -> Self {
        Self {
            sums: sums.first_chunk().copied().unwrap_or_default(),
            scale: range.steps(),
            size_is_public,
        }
    }

    /// Where the number of rows is public, the last one is w² times that number.
    fn sum<D: Dataset + ?Sized>(
        attribute: &Attribute<D, f64>,
        range: &RealRange,
        data: &D,
        size_is_public: bool,
    ) -> [i128; 3] {
        let steps = range.steps();
        let mut moments = crate::data::Moments::new(steps.per_unit(), steps.range());
        attribute.fold_into(data, &mut moments);
        let (high, mixed, low) = (moments.high(), moments.mixed(), moments.low());
        if size_is_public {
            // u² + u(w − u) = uw, and all three add up to w².
            [high + mixed / 2, mixed / 2, high + mixed + low]
        } else {
            [high, mixed, low]
        }
    }

    fn row(above: i128, below: i128) -> [i128; 3] {
        [above * above, 2 * above * below, below * below]
    }

    /// How far the variance is from that of the clamped values, at most, if there are this number of
    /// rows, with the confidence that was asked for: rounded up, with what rounding the variance to a
    /// float may add, and never more than (w/2 + h)², which is the largest variance before rounding to
    /// steps, where h is half a step.
    ///
    /// Let all sums be within e of the truth, in units of w². Where the number n of rows is public the
    /// variance is within 2e/n, in the same units: X/n and Y/n are within e/n. Otherwise shares of
    /// P, M and B in their sum are within r = 2e/(n − 3e), and the variance is within r(1 + 5r/4).
    /// Rounding changes a standard deviation s, at most w/2, by h at most, and so the variance by
    /// h(2s + h) at most, which is h(w + h).
    fn for_rows(accuracy: &MomentAccuracy<Self>, rows: u64) -> f64 {
        let (scale, square) = (accuracy.scale, square(accuracy.scale));
        let quarter = Interval::exactly(0.25);
        let error = accuracy.each.map_or(quarter, |each| {
            let each = Interval::whole(each) / square;
            let rows = Interval::whole(rows.into());
            if accuracy.size_is_public {
                // Of no rows nothing is known.
                return match rows.low() > 0.0 {
                    true => (Interval::TWO * each / rows).min(quarter),
                    false => quarter,
                };
            }
            let counted = rows - Interval::exactly(3.0) * each;
            let share = Interval::TWO * each / counted;
            match counted.low() > 0.0 {
                true => (share * (Interval::ONE + Interval::exactly(1.25) * share)).min(quarter),
                false => quarter,
            }
        });
        // The formula has fewer than 32 operations, each with an error of 2^-53 of at most one.
        let rounding = Interval::exactly(2_f64.powi(-48));
        let error = (error + rounding).min(quarter) * square;
        let error = match scale.rounding() {
            None => error,
            Some(half) => error + half * (Interval::whole(scale.width.get().into()) + half),
        };
        scaled_up(error.high(), scale)
    }

    /// It is wider by what rounding can do. If no number changes by more than h, their standard
    /// deviation does not either: it is a norm of the distances from the mean, and the change has a
    /// standard deviation of at most h.
    fn between(self, _: SumScale, each: Option<u128>) -> (f64, RangeInclusive<f64>) {
        (self.value(), self.before_rounding(each))
    }
}

/// w².
fn square(scale: Steps) -> Interval {
    Interval::whole(scale.width.get().into()).square()
}

/// Squared steps as a number.
fn scaled(squares: f64, scale: Steps) -> f64 {
    libm::scalbn(squares, 2 * scale.exponent)
}

/// The same, rounded up: a power of two is exact, unless digits are lost near zero.
fn scaled_up(squares: f64, scale: Steps) -> f64 {
    let number = scaled(squares, scale);
    if squares > 0.0 && number < f64::MIN_POSITIVE {
        number.next_up()
    } else {
        number
    }
}

/// The same, rounded down and not negative: unless digits are lost near zero, or it overflows.
fn scaled_down(squares: f64, scale: Steps) -> f64 {
    let number = scaled(squares, scale);
    if number < f64::MIN_POSITIVE {
        number.next_down().max(0.0)
    } else {
        number.min(f64::MAX)
    }
}

impl NoisyVariance {
    /// The variance (that of all rows, divided by their number): from zero to a quarter of the squared
    /// width.
    #[must_use]
    pub fn value(&self) -> f64 {
        // What is below zero is noise.
        let [one, two, three] = self.sums.map(|sum| sum.max(0) as f64);
        let share = if self.size_is_public {
            let mean = (one / three).min(1.0);
            mean * (1.0 - mean) - two / three
        } else {
            let all = one + two + three;
            (one / all) * (three / all) - (two / all) * (two / all) / 4.0
        };
        // Without rows it is not a number.
        let share = if share > 0.0 { share.min(0.25) } else { 0.0 };
        scaled(share * square(self.scale).middle(), self.scale)
    }

    /// The mean: a number of the range.
    #[must_use]
    pub fn mean(&self) -> f64 {
        let [one, two, three] = self.sums.map(|sum| sum.max(0) as f64);
        let (above, all) = if self.size_is_public {
            (one.min(three), three)
        } else {
            (one + two / 2.0, one + two + three)
        };
        let fraction = if all > 0.0 { above / all } else { 0.5 };
        self.scale.value(fraction)
    }

    /// The noisy number of rows; the true one where it is public.
    #[must_use]
    pub fn rows(&self) -> f64 {
        let [one, two, three] = self.sums.map(|sum| sum as f64);
        let all = match self.size_is_public {
            true => three,
            false => one + two + three,
        };
        all / square(self.scale).middle()
    }

    /// The variances before rounding, if each sum is at most so far from the truth; `None` if nothing
    /// is known of that.
    fn before_rounding(&self, each: Option<u128>) -> RangeInclusive<f64> {
        let scale = self.scale;
        let all = Interval::between(0.0, 0.25);
        let share = each.and_then(|each| self.possible(each)).unwrap_or(all);
        let variance = share * square(scale);
        let (least, most) = match scale.rounding() {
            None => (variance.low(), variance.high()),
            Some(half) => {
                let root = variance.sqrt();
                let least = Interval::exactly(root.low()) - half;
                let most = Interval::exactly(root.high()) + half;
                (
                    least.max(Interval::ZERO).square().low(),
                    most.square().high(),
                )
            }
        };
        scaled_down(least, scale)..=scaled_up(most, scale)
    }

    /// The variances in units of w², if each sum is at most so far from the truth; `None` if there may
    /// be no rows.
    fn possible(&self, each: u128) -> Option<Interval> {
        let each = i128::try_from(each).unwrap_or(i128::MAX);
        // True sums are not negative.
        let around = |sum: i128| {
            let least = sum.saturating_sub(each).max(0).unsigned_abs();
            let most = sum.saturating_add(each).max(0).unsigned_abs();
            Interval::between(Interval::whole(least).low(), Interval::whole(most).high())
        };
        let [one, two, three] = self.sums;
        let (zero, quarter) = (Interval::ZERO, Interval::exactly(0.25));
        let variance = if self.size_is_public {
            let all = Interval::whole(u128::try_from(three).ok().filter(|all| *all > 0)?);
            let mean = (around(one) / all).max(zero).min(Interval::ONE);
            // u(1 − u) rises up to one half and falls from there on.
            let [low, high] = [mean.low(), mean.high()].map(|mean| {
                let mean = Interval::exactly(mean);
                mean * (Interval::ONE - mean)
            });
            let most = match (mean.low()..=mean.high()).contains(&0.5) {
                true => quarter,
                false => low.max(high),
            };
            let products = Interval::between(low.min(high).low(), most.high());
            products - around(two) / all
        } else {
            possible_share([one, two, three].map(around))?
        };
        Some(variance.max(zero).min(quarter))
    }
}

/// The least and the largest of F = (PB − M²/4)/S², with S = P + M + B, for P, M and B within these
/// intervals; `None` if all may be zero.
///
/// F is a variance in units of w², so it is not negative where the sums are those of numbers, and falls
/// with M. Its derivative in P has the sign of B² + MB − PB + M²/2: it rises up to
/// P = B + M + M²/(2B), and falls from there on. So it is least at an end of P, and as in P, so in B.
/// Inside of both intervals the two derivatives are not zero together unless M is zero and P = B. So it is
/// largest at an end of one of the two, and in the other at the place where it stops to rise, if that is
/// inside, or at the end next to it. Where F is negative, what is found is cut off at zero by the caller.
fn possible_share(sums: [Interval; 3]) -> Option<Interval> {
    let [high, mixed, low] = sums;
    let (least, most) = (
        Interval::exactly(mixed.low()),
        Interval::exactly(mixed.high()),
    );
    if (high + mixed + low).low() <= 0.0 {
        return None;
    }
    let ends = |sum: Interval| [sum.low(), sum.high()].map(Interval::exactly);
    let share = |high: Interval, mixed: Interval, low: Interval| {
        let product = high * low - mixed.square() * Interval::exactly(0.25);
        product / (high + mixed + low).square()
    };
    let pairs = ends(high).map(|high| ends(low).map(|low| (high, low)));
    let corners = pairs.iter().flatten();
    let smallest = corners.map(|(high, low)| share(*high, most, *low).low());
    // The place where it stops to rise in one, if the other is this.
    let top = |other: Interval, within: Interval| {
        let [first, last] = ends(within);
        let top = other + least + least.square() / (Interval::TWO * other);
        if other.low() > 0.0 {
            top.max(first).min(last)
        } else {
            last
        }
    };
    let in_high = ends(low).map(|low| share(top(low, high), least, low).high());
    let in_low = ends(high).map(|high| share(high, least, top(high, low)).high());
    let largest = in_high.into_iter().chain(in_low).fold(0.0, f64::max);
    Some(Interval::between(smallest.fold(largest, f64::min), largest))
}

#[cfg(test)]
#[path = "variance_tests.rs"]
mod tests;
