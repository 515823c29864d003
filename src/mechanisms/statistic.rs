//! The values that noisy totals mean, and how far they are from the truth.

use std::ops::RangeInclusive;

use super::lattice::of_steps;
use crate::noise::Noise;
use crate::number::Confidence;

/// A value that is computed from noisy totals: how far it is from the truth, and in which interval
/// the truth is.
///
/// Example: [`QueryExt`](crate::mechanisms::query::QueryExt).
///
/// # What an implementer owes
///
/// With at least the given confidence, over independent draws of the noise on each total, the value
/// is within [`distance`](Self::distance) of the truth, and the truth within
/// [`interval`](Self::interval).
pub trait Statistic: Sized {
    /// What is public about the totals: in which steps they are, for instance.
    type Scale: Copy;
    /// The type of an estimate: `i64` or `f64`.
    type Number;
    /// How far an answer is from the truth.
    type Distance;
    /// What can be asked for as a distance.
    type Within: Copy + std::fmt::Debug;

    /// The noise of one total, with its step. By default that is one.
    fn in_steps(_scale: Self::Scale, noise: Noise) -> Noise {
        noise
    }

    /// How far it is from the truth, at most.
    fn distance(scale: Self::Scale, noise: Noise, confidence: Confidence) -> Self::Distance;

    /// Whether this can be asked for: a number that is not negative. By default every one is.
    fn is_distance(_within: Self::Within) -> bool {
        true
    }

    /// Whether it is at most this far from the truth.
    fn is_within(
        scale: Self::Scale,
        noise: Noise,
        within: Self::Within,
        confidence: Confidence,
    ) -> bool;

    /// The best guess, and where the truth is.
    fn interval(
        self,
        scale: Self::Scale,
        noise: Noise,
        confidence: Confidence,
    ) -> (Self::Number, RangeInclusive<Self::Number>);
}

impl Statistic for i64 {
    type Scale = ();
    type Number = Self;
    type Distance = u128;
    type Within = u128;

    fn distance((): (), noise: Noise, confidence: Confidence) -> u128 {
        noise.steps_within(confidence)
    }

    fn is_within((): (), noise: Noise, within: u128, confidence: Confidence) -> bool {
        noise.is_within(within, confidence)
    }

    fn interval(
        self,
        (): (),
        noise: Noise,
        confidence: Confidence,
    ) -> (Self, RangeInclusive<Self>) {
        (self, around(self, noise.steps_within(confidence)))
    }
}

/// The numbers that are at most this far away.
pub(super) fn around(center: i64, distance: u128) -> RangeInclusive<i64> {
    let distance = i128::try_from(distance).unwrap_or(i128::MAX);
    let center = i128::from(center);
    clamped(center.saturating_sub(distance))..=clamped(center.saturating_add(distance))
}

/// The nearest number that an `i64` holds.
pub(super) fn clamped(number: i128) -> i64 {
    number.clamp(i64::MIN.into(), i64::MAX.into()) as i64
}

/// The first total, as an `i64`.
///
/// This is postprocessing, and exact: noise that reached the end of an `i128` is still beyond the
/// end of an `i64` after any count was added to it.
pub(super) fn fitted(totals: &[i128]) -> i64 {
    clamped(totals.first().copied().unwrap_or_default())
}

/// A number in steps of two to the power of the scale.
impl Statistic for f64 {
    type Scale = i32;
    type Number = Self;
    type Distance = Self;
    type Within = Self;

    fn in_steps(exponent: i32, noise: Noise) -> Noise {
        noise.in_steps_of(exponent)
    }

    /// Rounded up.
    fn distance(exponent: i32, noise: Noise, confidence: Confidence) -> Self {
        let steps = i128::try_from(noise.steps_within(confidence)).unwrap_or(i128::MAX);
        let distance = of_steps(steps, exponent);
        if steps <= 1 << Self::MANTISSA_DIGITS {
            distance
        } else {
            distance.next_up()
        }
    }

    fn is_distance(within: Self) -> bool {
        within >= 0.0
    }

    fn is_within(exponent: i32, noise: Noise, within: Self, confidence: Confidence) -> bool {
        let steps = libm::scalbn(within, exponent.saturating_neg());
        steps >= 0.0 && noise.is_within(steps as u128, confidence)
    }

    /// Floats hold each number of steps below 2^53: there the ends are exact. Beyond, the answer may have been
    /// rounded to a float, and so are the ends.
    fn interval(
        self,
        exponent: i32,
        noise: Noise,
        confidence: Confidence,
    ) -> (Self, RangeInclusive<Self>) {
        let distance = Self::distance(exponent, noise, confidence);
        let steps = libm::scalbn(self, exponent.saturating_neg());
        let exact_below = of_steps(1 << Self::MANTISSA_DIGITS, exponent);
        // A sum that is rounded to less than this is less.
        if steps == libm::trunc(steps) && self.abs() + distance < exact_below {
            return (self, self - distance..=self + distance);
        }
        let (low, high) = (self.next_down() - distance, self.next_up() + distance);
        (self, low.next_down()..=high.next_up())
    }
}
