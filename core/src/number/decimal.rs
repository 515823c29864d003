//! Reading decimal numbers exactly.

use thiserror::Error;

/// Why a number is not accepted as a privacy parameter.
///
/// `what` is the parameter's name. Of a text that is no number it has the beginning: who reads numbers
/// from a file or a request wants to see which one it was.
///
/// Example: [`Quantity`](crate::number::Quantity).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Error)]
#[non_exhaustive]
pub enum NumberError {
    /// Not a decimal number.
    #[error("{what} must be a decimal number such as 0.1 or 1e-6, not {given:?}")]
    Malformed {
        /// The parameter.
        what: &'static str,
        /// The beginning of the text.
        given: Box<str>,
    },
    /// Not two numbers in parentheses.
    #[error("{what} must be a pair such as (1, 1e-6), not {given:?}")]
    NotAPair {
        /// The parameters.
        what: &'static str,
        /// The beginning of the text.
        given: Box<str>,
    },
    /// Not a whole number.
    #[error("{what} must be a whole number such as 1 or 20, not {given:?}")]
    NotWhole {
        /// The parameter.
        what: &'static str,
        /// The beginning of the text.
        given: Box<str>,
    },
    /// Not a number.
    #[error("{what} must be a number, not NaN")]
    NotANumber {
        /// The parameter.
        what: &'static str,
    },
    /// Infinite.
    #[error("{what} must be finite")]
    Infinite {
        /// The parameter.
        what: &'static str,
    },
    /// Below zero.
    #[error("{what} must not be negative")]
    Negative {
        /// The parameter.
        what: &'static str,
    },
    /// Below the smallest value that makes sense.
    #[error("{what} must be greater than {bound}")]
    TooSmall {
        /// The parameter.
        what: &'static str,
        /// It must be greater than this.
        bound: &'static str,
    },
    /// Above the largest value that can be held.
    #[error("{what} must be at most {largest}")]
    TooLarge {
        /// The parameter.
        what: &'static str,
        /// It must be at most this.
        largest: &'static str,
    },
    /// More digits than can be held, or so small (a subnormal float, say) that none is left.
    ///
    /// Rounding is left to the caller, because its direction depends on the use: a loss is
    /// rounded up ([`Quantity::round_up`](super::Quantity::round_up)), a budget down.
    #[error("{what} has digits beyond 1e-{decimals}: round it first, a loss up and a budget down")]
    TooFine {
        /// The parameter.
        what: &'static str,
        /// How many decimals it can have.
        decimals: u32,
    },
}

impl NumberError {
    /// The beginning of a text, for an error that shows it.
    pub(crate) fn given(text: &str) -> Box<str> {
        text.chars().take(40).collect()
    }
}

/// For generic code: a value that already is a parameter needs no parsing.
impl From<std::convert::Infallible> for NumberError {
    fn from(never: std::convert::Infallible) -> Self {
        match never {}
    }
}

/// A number in units of `10^-decimals`, and whether something was cut off below.
pub(super) struct Parsed {
    pub(super) units: u128,
    pub(super) inexact: bool,
}

/// Why a text could not be read in units of `10^-decimals`.
pub(super) enum Unreadable {
    Malformed,
    Negative,
    TooLarge,
}

/// Reads an unsigned decimal number, optionally with an exponent, in units of `10^-decimals`,
/// rounding towards zero.
pub(super) fn parse(text: &str, decimals: u32) -> Result<Parsed, Unreadable> {
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => {
            let (mantissa, exponent) = text.split_at(at);
            (
                mantissa,
                exponent_of(exponent.get(1..).unwrap_or_default())?,
            )
        }
        None => (text, 0),
    };
    if let Some(rest) = mantissa.strip_prefix('-') {
        digits_of(rest)?;
        return Err(Unreadable::Negative);
    }
    let (digits, point) = digits_of(mantissa)?;
    // The digit at index i stands for 10^(point - 1 - i + exponent).
    let shift = (point as i64)
        .saturating_add(exponent)
        .saturating_add(i64::from(decimals));
    let mut parsed = Parsed {
        units: 0,
        inexact: false,
    };
    for (index, &digit) in digits.iter().enumerate() {
        if (index as i64) < shift {
            parsed.units = push(parsed.units, digit)?;
        } else {
            parsed.inexact |= digit != 0;
        }
    }
    for _ in digits.len() as i64..shift {
        if parsed.units == 0 {
            break;
        }
        parsed.units = push(parsed.units, 0)?;
    }
    Ok(parsed)
}

fn push(units: u128, digit: u8) -> Result<u128, Unreadable> {
    units
        .checked_mul(10)
        .and_then(|units| units.checked_add(u128::from(digit)))
        .ok_or(Unreadable::TooLarge)
}

/// The digits of `12.34` and how many stand before the point.
fn digits_of(text: &str) -> Result<(Vec<u8>, usize), Unreadable> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits: Option<Vec<u8>> = whole
        .bytes()
        .chain(fraction.bytes())
        .map(|byte| byte.is_ascii_digit().then(|| byte - b'0'))
        .collect();
    match digits {
        Some(digits) if !digits.is_empty() => Ok((digits, whole.len())),
        _ => Err(Unreadable::Malformed),
    }
}

/// An exponent, clamped: beyond the number of digits that a text can have, a larger one makes no
/// difference.
fn exponent_of(text: &str) -> Result<i64, Unreadable> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Unreadable::Malformed);
    }
    const LARGEST: i64 = i64::MAX / 4;
    Ok(sign * digits.parse().unwrap_or(LARGEST).min(LARGEST))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dashu_int::UBig;
    use proptest::prelude::*;

    /// A number in units of 1e-6, by another route: as one integer over a power of ten.
    fn by_integers(digits: &str, fraction: usize, exponent: i64) -> Option<(u128, bool)> {
        let number: UBig = digits.parse().unwrap();
        let power = 6 + exponent - fraction as i64;
        let ten = |power: i64| UBig::from(10_u8).pow(usize::try_from(power).unwrap());
        let (units, rest) = if power >= 0 {
            (number * ten(power), UBig::ZERO)
        } else {
            (&number / ten(-power), number % ten(-power))
        };
        Some((u128::try_from(&units).ok()?, rest != UBig::ZERO))
    }

    proptest! {
        #[test]
        fn every_shape_of_a_number_is_read_exactly(
            digits in "0{0,50}[0-9]{1,45}0{0,50}", point in any::<prop::sample::Index>(),
            exponent in -160_i64..160, zeros in 0..30_usize, plus in any::<bool>(),
        ) {
            let point = point.index(digits.len() + 1);
            let (whole, fraction) = digits.split_at(point);
            let sign = if exponent < 0 { "-" } else if plus { "+" } else { "" };
            let zeros = "0".repeat(zeros);
            let text = format!("{whole}.{fraction}e{sign}{zeros}{}", exponent.abs());
            let given = parse(&text, 6).ok().map(|parsed| (parsed.units, parsed.inexact));
            prop_assert_eq!(given, by_integers(&digits, fraction.len(), exponent), "{}", text);
        }
    }

    #[test]
    fn a_long_mantissa_and_a_large_exponent_outweigh_each_other() {
        for zeros in [0, 26, 999_998, 999_999, 1_000_000, 1_500_000] {
            let many = "0".repeat(zeros);
            assert_eq!(
                units(&format!("0.{many}1e{}", zeros + 1)),
                (1_000_000, false)
            );
            assert_eq!(
                units(&format!("0.{many}1e{}", zeros - zeros.min(6))).1,
                zeros > 5
            );
            assert_eq!(units(&format!("1{many}e-{zeros}")), (1_000_000, false));
            assert_eq!(
                units(&format!("1{many}5e-{}", zeros + 1)).0,
                if zeros > 5 { 1_000_000 } else { 1_500_000 }
            );
            assert_eq!(units(&format!("{many}1")), (1_000_000, false));
        }
    }

    fn units(text: &str) -> (u128, bool) {
        match parse(text, 6) {
            Ok(parsed) => (parsed.units, parsed.inexact),
            Err(_) => panic!("{text} is a number"),
        }
    }

    #[test]
    fn decimals_are_read_exactly() {
        assert_eq!(units("0.1"), (100_000, false));
        assert_eq!(units("1"), (1_000_000, false));
        assert_eq!(units("12.345678"), (12_345_678, false));
        assert_eq!(units("1e-6"), (1, false));
        assert_eq!(units("1.50E+1"), (15_000_000, false));
        assert_eq!(units(".5"), (500_000, false));
        assert_eq!(units("5."), (5_000_000, false));
        assert_eq!(units("0e999999999999999999999"), (0, false));
    }

    #[test]
    fn what_is_cut_off_is_reported() {
        assert_eq!(units("1.0000001"), (1_000_000, true));
        assert_eq!(units("9e-7"), (0, true));
        assert_eq!(units("1.0000000"), (1_000_000, false));
        assert_eq!(units("1e-99999999999999999999"), (0, true));
    }

    #[test]
    fn everything_else_is_refused() {
        for text in [
            "", ".", "x", "1e", "1e+", "e5", "0x1", "1_000", " 1", "1.2.3", "+1", "--1", "-x",
        ] {
            assert!(
                matches!(parse(text, 6), Err(Unreadable::Malformed)),
                "{text}"
            );
        }
        for text in ["-1", "-0", "-1e-300"] {
            assert!(
                matches!(parse(text, 6), Err(Unreadable::Negative)),
                "{text}"
            );
        }
        for text in ["1e33", "340282366920938463463374607431769", "1e999999"] {
            assert!(
                matches!(parse(text, 6), Err(Unreadable::TooLarge)),
                "{text}"
            );
        }
    }
}
