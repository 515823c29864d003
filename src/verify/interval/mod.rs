//! Numbers that are exact where they can be, and otherwise known to lie between two exact ones.

mod display;
mod functions;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;

use self::functions::{fixed_floor, fixed_one, fixed_rational};
use super::Rational;

/// A non-negative number: exact, or certified to lie between two rationals.
///
/// Probabilities, their ratios and sums are never negative, and neither is an interval: a negative
/// number becomes zero.
///
/// ```
/// use queryables::verify::{Interval, Rational};
///
/// let third = Interval::exact(Rational::new(1, 3).unwrap());
/// assert!(third.is_exact());
/// assert_eq!(third.to_string(), "1/3");
///
/// let e = Interval::exp(&Rational::ONE).unwrap();
/// assert!(!e.is_exact());
/// assert_eq!(e.to_string(), "2.718281828…");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Interval {
    low: Rational,
    /// `None` where the number is exactly `low`.
    high: Option<Rational>,
}

impl Interval {
    /// Zero.
    pub const ZERO: Self = Self {
        low: Rational::ZERO,
        high: None,
    };

    /// Exactly this number, or zero if it is negative.
    #[must_use]
    pub fn exact(number: Rational) -> Self {
        Self {
            low: number.max(Rational::ZERO),
            high: None,
        }
    }

    /// A number from `low` to `high`; the two are sorted, and negative ones become zero.
    #[must_use]
    pub fn between(low: Rational, high: Rational) -> Self {
        let (low, high) = (low.max(Rational::ZERO), high.max(Rational::ZERO));
        match low.cmp(&high) {
            Ordering::Less => Self {
                low,
                high: Some(high),
            },
            Ordering::Equal => Self::exact(low),
            Ordering::Greater => Self {
                low: high,
                high: Some(low),
            },
        }
    }

    /// It is at least this.
    #[must_use]
    pub fn low(&self) -> &Rational {
        &self.low
    }

    /// It is at most this.
    #[must_use]
    pub fn high(&self) -> &Rational {
        self.high.as_ref().unwrap_or(&self.low)
    }

    /// Whether the number is known exactly.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.high.is_none()
    }

    /// Whether it is certainly zero.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        *self.high() == Rational::ZERO
    }

    /// Whether it is certainly at most `other`.
    #[must_use]
    pub fn is_at_most(&self, other: &Self) -> bool {
        self.high() <= other.low()
    }

    /// Whether it is certainly more than `other`.
    #[must_use]
    pub fn is_more_than(&self, other: &Self) -> bool {
        self.low() > other.high()
    }

    /// About how many bytes it takes besides its own.
    pub(crate) fn size_on_heap(&self) -> usize {
        self.low.size_on_heap() + self.high.as_ref().map_or(0, Rational::size_on_heap)
    }

    /// Applies a function that does not decrease in any of its arguments.
    fn increasing(&self, other: &Self, f: impl Fn(&Rational, &Rational) -> Rational) -> Self {
        if self.is_exact() && other.is_exact() {
            Self::exact(f(&self.low, &other.low))
        } else {
            Self::rounded(&f(&self.low, &other.low), &f(self.high(), other.high()))
        }
    }

    /// From `low` to `high`, outward to multiples of 2⁻²⁵⁶: the size of inexact numbers must not
    /// grow with every operation.
    fn rounded(low: &Rational, high: &Rational) -> Self {
        let scaled = high * Rational::from(fixed_one());
        Self::between(
            fixed_rational(fixed_floor(low)),
            fixed_rational(scaled.ceil()),
        )
    }

    pub(crate) fn plus(&self, other: &Self) -> Self {
        self.increasing(other, |one, other| one + other)
    }

    pub(crate) fn times(&self, other: &Self) -> Self {
        self.increasing(other, |one, other| one * other)
    }

    /// The quotient; `None` if the divisor may be zero.
    pub(crate) fn over(&self, other: &Self) -> Option<Self> {
        if *other.low() == Rational::ZERO {
            return None;
        }
        if self.is_exact() && other.is_exact() {
            return Some(Self::exact(&self.low / &other.low));
        }
        Some(Self::rounded(
            &(self.low() / other.high()),
            &(self.high() / other.low()),
        ))
    }

    /// The difference, or zero where it would be negative.
    pub(crate) fn minus(&self, other: &Self) -> Self {
        let positive = |number: Rational| number.max(Rational::ZERO);
        if self.is_exact() && other.is_exact() {
            return Self::exact(positive(&self.low - &other.low));
        }
        Self::rounded(
            &positive(self.low() - other.high()),
            &positive(self.high() - other.low()),
        )
    }

    pub(crate) fn max(&self, other: &Self) -> Self {
        self.increasing(other, |one, other| one.max(other).clone())
    }

    pub(crate) fn power(&self, exponent: isize) -> Self {
        self.increasing(&Self::ZERO, |number, _| number.pow(exponent))
    }

    /// Enlarged upward by `slack`.
    pub(crate) fn up_by(&self, slack: &Rational) -> Self {
        Self::between(self.low.clone(), self.high() + slack)
    }

    /// Enlarged downward by `slack`, not below zero.
    pub(crate) fn down_by(&self, slack: &Rational) -> Self {
        let low = (&self.low - slack).max(Rational::ZERO);
        Self::between(low, self.high().clone())
    }
}

impl From<Rational> for Interval {
    fn from(number: Rational) -> Self {
        Self::exact(number)
    }
}
