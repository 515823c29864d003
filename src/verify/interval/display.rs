//! Numbers in readable form.

use std::fmt;

use dashu_int::ops::BitTest;
use dashu_int::{IBig, UBig};

use super::Interval;
use crate::verify::Rational;

/// The number of digits that are shown, unless a precision says otherwise.
const DIGITS: usize = 10;

/// With fewer digits in common than this, both ends are shown.
const FEW: usize = 5;

/// A fraction that is no longer than this is shown as it is.
const SHORT: usize = 12;

impl fmt::Display for Interval {
    /// A short fraction as it is; otherwise the digits that are certain and `…`, or both ends,
    /// rounded outward, where they have few digits in common. A precision is the number of digits. With `{:#}`,
    /// fractions in full.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.alternate() {
            return match self.is_exact() {
                true => write!(f, "{}", self.low()),
                false => write!(f, "[{}, {}]", self.low(), self.high()),
            };
        }
        if self.is_exact()
            && let Some(fraction) = short(self.low())
        {
            return f.write_str(&fraction);
        }
        if let Some(digits) = self.certain_digits(f.precision().unwrap_or(DIGITS)) {
            return f.write_str(&digits);
        }
        write!(
            f,
            "[{}, {}]",
            rounded(self.low(), Rational::floor),
            rounded(self.high(), Rational::ceil)
        )
    }
}

impl Interval {
    /// The leading digits that every number in the interval has, with `…`.
    fn certain_digits(&self, count: usize) -> Option<String> {
        let (mut low, exponent) = digits(self.low(), count, Rational::floor)?;
        let scaled = scaled(self.high(), exponent).floor().to_string();
        if scaled.len() != low.len() {
            return None;
        }
        let pairs = low.bytes().zip(scaled.bytes());
        let common = pairs.take_while(|(one, other)| one == other).count();
        let dropped = low.len() - common;
        low.truncate(common);
        (common >= FEW).then(|| format!("{}…", placed(&low, exponent + dropped as i64)))
    }
}

/// A fraction of a few digits.
fn short(number: &Rational) -> Option<String> {
    // Checked first, because printing a long one takes long.
    if number.denominator().bit_len() > 4 * SHORT {
        return None;
    }
    Some(number.to_string()).filter(|fraction| fraction.len() <= SHORT)
}

/// A few digits, rounded outward.
fn rounded(number: &Rational, outward: impl Fn(&Rational) -> IBig) -> String {
    if let Some(fraction) = short(number) {
        return fraction;
    }
    match digits(number, FEW, outward) {
        Some((digits, exponent)) => placed(&digits, exponent),
        None => "0".to_owned(),
    }
}

/// `number / 10^exponent`.
fn scaled(number: &Rational, exponent: i64) -> Rational {
    let power = Rational::from(UBig::from(10_u8).pow(exponent.unsigned_abs() as usize));
    if exponent > 0 {
        number / power
    } else {
        number * power
    }
}

/// About `count` digits of a positive number, and the power of ten of the last one.
fn digits(
    number: &Rational,
    count: usize,
    round: impl Fn(&Rational) -> IBig,
) -> Option<(String, i64)> {
    if *number <= Rational::ZERO {
        return None;
    }
    // How many digits there are before the point, up to one: 2^10 is about 10^3.
    let bits = number.numerator().bit_len() as i64 - number.denominator().bit_len() as i64;
    let magnitude = bits * 301 / 1000;
    let mut exponent = magnitude - count as i64;
    loop {
        let digits = round(&scaled(number, exponent)).to_string();
        if digits.len() <= count {
            return Some((digits, exponent));
        }
        exponent += (digits.len() - count) as i64;
    }
}

/// Digits with their point in the right place, or with an exponent where that is far away.
fn placed(digits: &str, exponent: i64) -> String {
    let leading = digits.len() as i64 + exponent;
    if exponent >= 0 && leading <= 12 {
        return format!("{digits}{}", "0".repeat(exponent as usize));
    }
    if (1..=12).contains(&leading) {
        let (whole, fraction) = digits.split_at(leading as usize);
        return format!("{whole}.{fraction}");
    }
    if (-4..=0).contains(&leading) {
        return format!("0.{}{digits}", "0".repeat(-leading as usize));
    }
    let (first, rest) = digits.split_at(1.min(digits.len()));
    let point = if rest.is_empty() { "" } else { "." };
    format!("{first}{point}{rest}e{}", leading - 1)
}
