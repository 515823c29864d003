//! Quantities as text: read exactly, printed in full or to a given number of digits.

use std::fmt;
use std::str::FromStr;

use super::{NumberError, Quantity, Shortened, Unit};

impl<U: Unit> FromStr for Quantity<U> {
    type Err = NumberError;

    fn from_str(text: &str) -> Result<Self, NumberError> {
        match Self::read(text)? {
            (units, false) => Self::from_units(units),
            (_, true) => Err(NumberError::TooFine {
                what: U::NAME,
                decimals: U::DECIMALS,
            }),
        }
    }
}

impl<U: Unit> TryFrom<&str> for Quantity<U> {
    type Error = NumberError;

    fn try_from(text: &str) -> Result<Self, NumberError> {
        text.parse()
    }
}

impl<U: Unit> fmt::Display for Quantity<U> {
    /// Plain from 0.0001 upwards, with an exponent below: `0.25`, `1e-6`.
    ///
    /// All digits by default. A precision is the number of digits after the point, and what is cut
    /// off is rounded: ε, ρ, μ and δ up, because they are losses; a confidence down; scales and orders to
    /// the nearest.
    /// Width, fill and alignment are those of numbers. The alternate form says what it is: `ε = 0.25`.
    ///
    /// ```
    /// use queryables::number::{Delta, Epsilon};
    ///
    /// let epsilon: Epsilon = "12.3416".parse()?;
    /// assert_eq!(format!("{epsilon}"), "12.3416");
    /// assert_eq!(format!("{epsilon:.2}"), "12.35");
    /// assert_eq!(format!("{epsilon:*>8.1}"), "****12.4");
    /// assert_eq!(format!("{epsilon:#}"), "ε = 12.3416");
    /// let delta: Delta = "1.2345e-6".parse()?;
    /// assert_eq!(format!("{delta:.1}"), "1.3e-6");
    /// # Ok::<(), queryables::number::NumberError>(())
    /// ```
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = if self.units == 0 || self.units >= 10_u128.pow(U::DECIMALS) / 10_000 {
            plain::<U>(self.units, f.precision())
        } else {
            with_exponent::<U>(self.units, f.precision())
        };
        write_number(f, U::SYMBOL, &text)
    }
}

impl<U: Unit> fmt::Debug for Quantity<U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {self}", U::NAME)
    }
}

/// With the width, fill and alignment that were asked for, and after the symbol in the alternate
/// form. The text already has the right precision and must not be cut again, which `Formatter::pad`
/// would do.
pub(crate) fn write_number(f: &mut fmt::Formatter<'_>, symbol: &str, text: &str) -> fmt::Result {
    if f.alternate() {
        write!(f, "{symbol} = ")?;
    }
    f.pad_integral(true, "", text)
}

fn plain<U: Unit>(units: u128, precision: Option<usize>) -> String {
    let (number, places) = cut::<U>(units, U::DECIMALS, precision);
    with_point(number, places, precision)
}

/// For what is greater than zero.
fn with_exponent<U: Unit>(units: u128, precision: Option<usize>) -> String {
    let behind_first = units.ilog10();
    let (number, places) = cut::<U>(units, behind_first, precision);
    let exponent = U::DECIMALS - behind_first;
    // Rounding up may have given it one digit more: 9.99 became 10.0.
    let (number, exponent) = if number.ilog10() > places {
        (number / 10, exponent - 1)
    } else {
        (number, exponent)
    };
    format!("{}e-{exponent}", with_point(number, places, precision))
}

/// A number with `places` decimal places, cut to at most `precision` places.
fn cut<U: Unit>(number: u128, places: u32, precision: Option<usize>) -> (u128, u32) {
    let precision = precision.and_then(|precision| u32::try_from(precision).ok());
    match precision {
        Some(precision) if precision < places => {
            let step = 10_u128.pow(places - precision);
            let up = match U::SHORTENED {
                Shortened::Up => !number.is_multiple_of(step),
                Shortened::Nearest => number % step >= step / 2,
                Shortened::Down => false,
            };
            (number / step + u128::from(up), precision)
        }
        _ => (number, places),
    }
}

/// With a point before the last `places` digits; without trailing zeros, unless a precision asks
/// for them.
fn with_point(number: u128, places: u32, precision: Option<usize>) -> String {
    let one = 10_u128.pow(places);
    let (whole, places) = (number / one, places as usize);
    let fraction = format!("{:0places$}", number % one);
    let fraction = if places == 0 { "" } else { &*fraction };
    match precision {
        None => match fraction.trim_end_matches('0') {
            "" => whole.to_string(),
            fraction => format!("{whole}.{fraction}"),
        },
        Some(0) => whole.to_string(),
        Some(precision) => format!("{whole}.{fraction:0<precision$}"),
    }
}

/// A decimal string, which no reader rounds.
#[cfg(feature = "serde")]
impl<U: Unit> serde::Serialize for Quantity<U> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Reads what [`FromStr`](std::str::FromStr) reads, and only from a string: most readers treat a
/// JSON number as a float.
#[cfg(feature = "serde")]
impl<'de, U: Unit> serde::Deserialize<'de> for Quantity<U> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
