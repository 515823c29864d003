//! Numbers that are exact where they can be, and otherwise known to lie between two exact ones.

use std::cmp::Ordering;
use std::fmt;

use dashu_int::{IBig, UBig};

use super::Rational;

/// A non-negative number: exact, or certified to lie between two rationals.
///
/// Probabilities, their ratios and sums are never negative, and neither is an interval: what is
/// made of a negative number is made of zero instead.
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
/// assert!(e.to_string().starts_with("2.71828182845904523536"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Interval {
    low: Rational,
    /// `None` where the number is exactly `low`.
    high: Option<Rational>,
}

impl Interval {
    /// Nothing.
    pub const ZERO: Self = Self {
        low: Rational::ZERO,
        high: None,
    };

    /// This very number, or zero if it is negative.
    #[must_use]
    pub fn exact(number: Rational) -> Self {
        Self {
            low: number.max(Rational::ZERO),
            high: None,
        }
    }

    /// A number from `low` to `high`; the two are put in order, and zero takes the place of what
    /// is negative.
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

    /// Applies a function that does not decrease in any of its arguments.
    fn increasing(&self, other: &Self, f: impl Fn(&Rational, &Rational) -> Rational) -> Self {
        if self.is_exact() && other.is_exact() {
            Self::exact(f(&self.low, &other.low))
        } else {
            Self::rounded(&f(&self.low, &other.low), &f(self.high(), other.high()))
        }
    }

    /// From `low` to `high`, outward to multiples of 2⁻²⁵⁶: what is not exact anyway should not
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

    /// `e^x`, for `x` from 0 to 1000; `None` beyond.
    ///
    /// The exponent is halved until it is at most 1/2. Of the series, 48 terms are added in units
    /// of 2⁻²⁵⁶, each rounded down. What is missing is less than three units per term, two for the
    /// argument, and a rest below twice its first term, `(1/2)^48 / 48! < 2⁻²⁵¹`, which is 64 units:
    /// 210 in all, taken as 256. The halvings, 11 at most, are undone by squaring, rounded outward.
    #[must_use]
    pub fn exp(x: &Rational) -> Option<Self> {
        if *x < Rational::ZERO || *x > Rational::from(1000_u32) {
            return None;
        }
        if *x == Rational::ZERO {
            return Some(Self::exact(Rational::ONE));
        }
        let mut halvings = 0_usize;
        let mut small = x.clone();
        while small > Rational::from_parts(1.into(), 2_u8.into()) {
            small /= Rational::from(2_u8);
            halvings += 1;
        }
        let argument = fixed_floor(&small);
        let (mut sum, mut term) = (fixed_one(), fixed_one());
        for index in 1..48_u32 {
            term = ((term * &argument) >> BITS) / IBig::from(index);
            sum += &term;
        }
        let mut low = sum.clone();
        let mut high = sum + IBig::from(256_u32);
        for _ in 0..halvings {
            low = (&low * &low) >> BITS;
            high = ((&high * &high) >> BITS) + IBig::ONE;
        }
        Some(Self::between(fixed_rational(low), fixed_rational(high)))
    }

    /// `e^-x`, for `x >= 0`; beyond 1000 all that is known is that it is at most `e^-1000`.
    pub(super) fn exp_minus(x: &Rational) -> Self {
        let one = Self::exact(Rational::ONE);
        let inverse = |x: &Rational| Self::exp(x).and_then(|power| one.over(&power));
        inverse(x).unwrap_or_else(|| {
            let most = inverse(&Rational::from(1000_u32)).map(|most| most.high().clone());
            Self::between(Rational::ZERO, most.unwrap_or(Rational::ONE))
        })
    }

    /// `ln x`, for `x >= 1`; `None` below.
    ///
    /// `x = 2^k m` with `1 <= m < 2`, and `ln m = 2 artanh((m - 1) / (m + 1))`. The argument is at
    /// most 1/3, so that of the series 90 odd powers leave a rest below `3^-180 < 2⁻²⁸⁵`; each is
    /// rounded down in units of 2⁻²⁵⁶.
    #[must_use]
    pub fn ln(x: &Rational) -> Option<Self> {
        if *x < Rational::ONE {
            return None;
        }
        if *x == Rational::ONE {
            return Some(Self::ZERO);
        }
        let two = Rational::from(2_u8);
        let mut doublings = 0_u32;
        let mut mantissa = x.clone();
        while mantissa >= two {
            mantissa /= &two;
            doublings += 1;
        }
        let of_mantissa =
            twice_artanh(&((&mantissa - Rational::ONE) / (&mantissa + Rational::ONE)));
        let of_two = twice_artanh(&Rational::from_parts(1.into(), 3_u8.into()));
        let doublings = Self::exact(Rational::from(doublings));
        Some(of_mantissa.plus(&of_two.times(&doublings)))
    }

    /// `x^exponent` for a rational exponent above 0, within what [`exp`](Self::exp) covers.
    pub(crate) fn rational_power(&self, exponent: &Rational) -> Option<Self> {
        let of = |number: &Rational| -> Option<Self> {
            if *number == Rational::ZERO {
                return Some(Self::ZERO);
            }
            if *number >= Rational::ONE {
                let log = Self::ln(number)?.times(&Self::exact(exponent.clone()));
                let (low, high) = (Self::exp(log.low())?, Self::exp(log.high())?);
                return Some(Self::between(low.low, high.high().clone()));
            }
            let inverse = Self::exact(Rational::ONE / number);
            Self::exact(Rational::ONE).over(&inverse.rational_power(exponent)?)
        };
        let (low, high) = (of(self.low())?, of(self.high())?);
        Some(Self::between(low.low, high.high().clone()))
    }
}

/// Fixed-point numbers have this many binary places.
const BITS: usize = 256;

fn fixed_one() -> IBig {
    IBig::ONE << BITS
}

fn fixed_floor(number: &Rational) -> IBig {
    (number * Rational::from(fixed_one())).floor()
}

fn fixed_rational(number: IBig) -> Rational {
    Rational::from_parts(number, UBig::ONE << BITS)
}

/// `2 artanh(z)` for `0 <= z <= 1/3`, see [`Interval::ln`].
fn twice_artanh(z: &Rational) -> Interval {
    if *z == Rational::ZERO {
        return Interval::ZERO;
    }
    let argument = fixed_floor(z);
    let square = (&argument * &argument) >> BITS;
    let mut sum = IBig::ZERO;
    let mut power = argument;
    for index in 0..90_u32 {
        sum += &power / IBig::from(2 * index + 1);
        power = (power * &square) >> BITS;
    }
    // Each power is off by less than four units, each quotient by one more; twice that.
    let low = fixed_rational(IBig::from(2_u8) * sum);
    let slack = fixed_rational(IBig::from(2 * 5 * 90 + 1));
    let high = &low + slack;
    Interval::between(low, high)
}

impl From<Rational> for Interval {
    fn from(number: Rational) -> Self {
        Self::exact(number)
    }
}

impl fmt::Display for Interval {
    /// A fraction if it is exact; otherwise the decimals that both ends share, or both ends if
    /// they share few.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_exact() {
            return fmt::Display::fmt(&self.low, f);
        }
        let (low, high) = (decimals(&self.low), decimals(self.high()));
        let common = low
            .bytes()
            .zip(high.bytes())
            .take_while(|(one, other)| one == other)
            .count();
        match low.get(..common.min(24)) {
            Some(shared) if shared.contains('.') && significant(shared) >= FEW => {
                write!(f, "{shared}…")
            }
            _ => write!(
                f,
                "[{}, {}]",
                end(&self.low, Rational::floor),
                end(self.high(), Rational::ceil)
            ),
        }
    }
}

/// So many digits that two ends share say how large a number is.
const FEW: usize = 5;

/// How many digits there are from the first that is not zero.
fn significant(decimals: &str) -> usize {
    let digits = decimals.chars().filter(char::is_ascii_digit);
    digits.skip_while(|digit| *digit == '0').count()
}

/// One end of an interval: a short fraction, or a few digits, rounded outward.
fn end(number: &Rational, outward: impl Fn(&Rational) -> IBig) -> String {
    let fraction = number.to_string();
    if fraction.len() <= 12 {
        return fraction;
    }
    let ten = Rational::from(10_u8);
    let enough = Rational::from(UBig::from(10_u8).pow(FEW - 1));
    // Not zero, which is a short fraction: there are so many digits at one power of ten.
    let (mut scaled, mut exponent) = (number.clone(), 0_i32);
    while scaled < enough {
        scaled *= &ten;
        exponent -= 1;
    }
    while scaled >= &enough * &ten {
        scaled /= &ten;
        exponent += 1;
    }
    format!("{}e{exponent}", outward(&scaled))
}

/// A number for people: a short fraction, about four digits, or both ends where they differ more.
pub(super) fn in_short(number: &Interval) -> String {
    let fraction = number.to_string();
    if fraction.len() <= 12 || fraction.starts_with('[') {
        return fraction;
    }
    let float = number.high().to_f64();
    if (0.001..10_000.0).contains(&float) {
        format!("about {float:.5}")
    } else {
        format!("about {float:.3e}")
    }
}

/// Forty decimals, rounded down.
fn decimals(number: &Rational) -> String {
    const PLACES: usize = 40;
    let scaled = (number * Rational::from(UBig::from(10_u8).pow(PLACES))).floor();
    let digits = scaled.to_string();
    let digits = format!("{digits:0>width$}", width = PLACES + 1);
    let (whole, fraction) = digits.split_at(digits.len() - PLACES);
    format!("{whole}.{fraction}")
}

#[cfg(test)]
mod tests {
    use dashu_float::FBig;

    use super::*;

    fn ratio(numerator: i64, denominator: u64) -> Rational {
        Rational::from_parts(numerator.into(), denominator.into())
    }

    /// Thirty decimals, from a table.
    fn assert_is(interval: &Interval, digits: &str) {
        let (whole, fraction) = digits.split_once('.').unwrap();
        let units = format!("{whole}{fraction}").parse::<IBig>().unwrap();
        let unit = Rational::from_parts(IBig::ONE, UBig::from(10_u8).pow(fraction.len()));
        let low = Rational::from(units) * &unit;
        assert!(
            *interval.low() < &low + &unit && *interval.high() >= low,
            "{interval}"
        );
        assert!(interval.high() - interval.low() < unit, "{interval}");
    }

    #[test]
    fn exponentials_are_certified() {
        for (x, value) in [
            (ratio(1, 1), "2.718281828459045235360287471352"),
            (ratio(1, 10), "1.105170918075647624811707826490"),
            (ratio(10, 1), "22026.465794806716516957900645284244"),
        ] {
            assert_is(&Interval::exp(&x).unwrap(), value);
        }
        assert_eq!(Interval::exp(&Rational::ZERO), Some(Rational::ONE.into()));
        assert_eq!(Interval::exp(&ratio(-1, 1)), None);
        assert_eq!(Interval::exp(&ratio(1001, 1)), None);
    }

    #[test]
    fn logarithms_are_certified() {
        for (x, value) in [
            (ratio(2, 1), "0.693147180559945309417232121458"),
            (ratio(3, 1), "1.098612288668109691395245236922"),
            (ratio(11, 10), "0.095310179804324860043952123280"),
        ] {
            assert_is(&Interval::ln(&x).unwrap(), value);
        }
        assert_eq!(Interval::ln(&Rational::ONE), Some(Interval::ZERO));
        assert_eq!(Interval::ln(&ratio(9, 10)), None);
    }

    #[test]
    fn exponential_and_logarithm_undo_each_other() {
        for x in [ratio(1, 7), ratio(3, 2), ratio(500, 3)] {
            let there = Interval::exp(&x).unwrap();
            let (low, high) = (Interval::ln(there.low()), Interval::ln(there.high()));
            assert!(
                *low.unwrap().low() <= x && *high.unwrap().high() >= x,
                "{x}"
            );
        }
    }

    #[test]
    fn both_ends_are_shown_unless_they_agree() {
        let shown = |low, high| Interval::between(low, high).to_string();
        assert_eq!(shown(ratio(1, 10), ratio(9, 10)), "[1/10, 9/10]");
        assert_eq!(
            shown(ratio(0, 1), ratio(1, 1_000_000_000)),
            "[0, 1/1000000000]"
        );
        // Zeros say nothing, and long fractions are rounded outward.
        let tiny = ratio(1, 3_000_000_000_000);
        assert_eq!(shown(tiny.clone(), &tiny + &tiny), "[33333e-17, 66667e-17]");
        let large = ratio(1 << 60, 7);
        assert_eq!(
            shown(large.clone(), &large + &large),
            "[16470e13, 32941e13]"
        );
        assert_eq!(shown(ratio(123_456, 1000), ratio(123_459, 1000)), "123.45…");
        let wide = Interval::between(tiny.clone(), &tiny + &tiny);
        assert_eq!(in_short(&wide), wide.to_string());
    }

    #[test]
    fn nothing_is_negative() {
        assert_eq!(Interval::exact(ratio(-1, 2)), Interval::ZERO);
        assert_eq!(Interval::from(ratio(-1, 2)), Interval::ZERO);
        assert_eq!(
            Interval::between(ratio(1, 3), ratio(-1, 3)),
            Interval::between(ratio(0, 1), ratio(1, 3))
        );
        assert!(Interval::between(ratio(-2, 1), ratio(-1, 3)).is_zero());
        // A power of it comes to an end.
        let none = Interval::exact(ratio(-1, 2)).rational_power(&ratio(5, 2));
        assert_eq!(none, Some(Interval::ZERO));
    }

    /// A number of another make, at 400 bits.
    fn precise(x: &Rational) -> FBig {
        let part = |part: IBig| FBig::from(part).with_precision(400).value();
        part(x.numerator().clone()) / part(x.denominator().clone().into())
    }

    /// The interval holds this number strictly: another precision has other digits at the end.
    fn assert_holds(interval: &Interval, truth: &FBig, x: &Rational) {
        assert!(precise(interval.low()) < *truth, "{x}: {interval}");
        assert!(precise(interval.high()) > *truth, "{x}: {interval}");
    }

    #[test]
    fn another_precision_agrees() {
        // At 1/2 the rest of the series is largest; small arguments have no halvings to hide
        // behind.
        for x in [
            ratio(1, 2),
            ratio(1, 7),
            ratio(3, 10),
            ratio(500, 3),
            ratio(999, 1),
        ] {
            assert_holds(&Interval::exp(&x).unwrap(), &precise(&x).exp(), &x);
        }
        for x in [
            ratio(2, 1),
            ratio(3, 1),
            ratio(4, 3),
            ratio(1999, 1000),
            ratio(1 << 40, 3),
        ] {
            assert_holds(&Interval::ln(&x).unwrap(), &precise(&x).ln(), &x);
        }
    }

    #[test]
    fn powers_of_an_interval_hold_those_of_both_ends() {
        let root = Interval::between(ratio(4, 9), ratio(9, 4))
            .rational_power(&ratio(1, 2))
            .unwrap();
        assert!(
            *root.low() <= ratio(2, 3) && *root.high() >= ratio(3, 2),
            "{root}"
        );
        assert!(root.high() - root.low() < ratio(84, 100), "{root}");
    }

    #[test]
    fn powers_hold_the_truth() {
        let root = Interval::exact(ratio(9, 4))
            .rational_power(&ratio(1, 2))
            .unwrap();
        assert!(*root.low() <= ratio(3, 2) && *root.high() >= ratio(3, 2));
        let below_one = Interval::exact(ratio(4, 9))
            .rational_power(&ratio(3, 2))
            .unwrap();
        assert!(*below_one.low() <= ratio(8, 27) && *below_one.high() >= ratio(8, 27));
        assert!(below_one.high() - below_one.low() < ratio(1, 1 << 60));
    }

    #[test]
    fn differences_stop_at_zero() {
        let small = Interval::between(ratio(1, 4), ratio(1, 2));
        let large = Interval::exact(ratio(3, 8));
        assert_eq!(
            small.minus(&large),
            Interval::between(ratio(0, 1), ratio(1, 8))
        );
        assert_eq!(large.minus(&Interval::exact(ratio(1, 1))), Interval::ZERO);
        assert_eq!(small.over(&Interval::ZERO), None);
    }

    #[test]
    fn what_is_rounded_is_rounded_outward() {
        let small = Interval::between(ratio(1, 5), ratio(1, 2));
        let third = Interval::exact(ratio(1, 3));
        let product = small.times(&third);
        assert!(*product.low() < ratio(1, 15) && *product.high() > ratio(1, 6));
        let quotient = third
            .over(&Interval::between(ratio(1, 2), ratio(7, 1)))
            .unwrap();
        assert!(*quotient.low() < ratio(1, 21) && *quotient.high() > ratio(2, 3));
        let difference = small.minus(&Interval::exact(ratio(1, 7)));
        assert!(*difference.low() < ratio(2, 35) && *difference.high() > ratio(5, 14));
    }
}
