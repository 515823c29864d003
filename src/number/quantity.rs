//! Privacy parameters as exact decimals.
//!
//! A parameter is a whole number of tiny units, so that adding is exact, does not depend on the
//! order, and costs nothing: ten times 0.1 is 1.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::str::FromStr;

use super::decimal::{NumberError, Unreadable, parse};

/// What a [`Quantity`] measures, and in which units.
pub trait Unit: 'static {
    /// The parameter's name in messages.
    const NAME: &'static str;
    /// The unit is `10^-DECIMALS`.
    const DECIMALS: u32;
    /// The largest value, in units.
    const LARGEST: u128;
    /// The largest value, for messages.
    const LARGEST_TEXT: &'static str;
    /// A value must be greater than this many units, if anything.
    const GREATER_THAN: Option<(u128, &'static str)> = None;
}

/// A privacy parameter: an exact, non-negative decimal number.
///
/// It is read from text or from a float, which stands for its shortest decimal; whatever it
/// cannot hold exactly is an error.
///
/// ```
/// use queryables::number::{Epsilon, NumberError};
///
/// let tenth = Epsilon::try_from("0.1")?;
/// assert_eq!(Epsilon::try_from(0.1)?, tenth);
///
/// let sum = (0..10).try_fold(Epsilon::ZERO, |sum, _| sum.checked_add(tenth));
/// assert_eq!(sum, Some(Epsilon::try_from("1")?));
///
/// assert_eq!(
///     Epsilon::try_from(-0.1),
///     Err(NumberError::Negative { what: "epsilon" }),
/// );
/// # Ok::<(), NumberError>(())
/// ```
pub struct Quantity<U> {
    units: u128,
    unit: PhantomData<fn() -> U>,
}

/// The units of the parameters in this crate.
pub mod units {
    use super::Unit;

    macro_rules! unit {
        ($(#[$doc:meta])* $unit:ident, $name:literal) => {
            $(#[$doc])*
            #[derive(Clone, Copy, Debug)]
            pub struct $unit;

            impl Unit for $unit {
                const NAME: &'static str = $name;
                const DECIMALS: u32 = 27;
                const LARGEST: u128 = 340_000_000_000 * 10_u128.pow(Self::DECIMALS);
                const LARGEST_TEXT: &'static str = "3.4e11";
            }
        };
    }

    unit!(/** ε. */ Epsilon, "epsilon");
    unit!(/** ρ of zero-concentrated privacy. */ Rho, "rho");
    unit!(/** μ of Gaussian privacy. */ Mu, "mu");

    /// δ, a probability.
    #[derive(Clone, Copy, Debug)]
    pub struct Delta;

    impl Unit for Delta {
        const NAME: &'static str = "delta";
        const DECIMALS: u32 = 38;
        const LARGEST: u128 = 10_u128.pow(38);
        const LARGEST_TEXT: &'static str = "1";
    }

    /// How far noise spreads, or how far an answer can move: a positive number.
    #[derive(Clone, Copy, Debug)]
    pub struct Scale;

    impl Unit for Scale {
        const NAME: &'static str = "scale";
        const DECIMALS: u32 = 27;
        const LARGEST: u128 = 340_000_000_000 * 10_u128.pow(Self::DECIMALS);
        const LARGEST_TEXT: &'static str = "3.4e11";
        const GREATER_THAN: Option<(u128, &'static str)> = Some((0, "0"));
    }

    /// α, the order of a Rényi divergence.
    #[derive(Clone, Copy, Debug)]
    pub struct Order;

    impl Unit for Order {
        const NAME: &'static str = "order";
        const DECIMALS: u32 = 9;
        const LARGEST: u128 = 10_u128.pow(9 + 9);
        const LARGEST_TEXT: &'static str = "1e9";
        const GREATER_THAN: Option<(u128, &'static str)> = Some((10_u128.pow(9), "1"));
    }
}

/// ε: a multiple of 10⁻²⁷, at most 3.4·10¹¹.
pub type Epsilon = Quantity<units::Epsilon>;
/// ρ: a multiple of 10⁻²⁷, at most 3.4·10¹¹.
pub type Rho = Quantity<units::Rho>;
/// μ: a multiple of 10⁻²⁷, at most 3.4·10¹¹.
pub type Mu = Quantity<units::Mu>;
/// δ: a multiple of 10⁻³⁸, at most 1.
pub type Delta = Quantity<units::Delta>;
/// The scale of noise, or a sensitivity: a multiple of 10⁻²⁷, greater than 0, at most 3.4·10¹¹.
pub type Scale = Quantity<units::Scale>;
/// α: a multiple of 10⁻⁹, greater than 1, at most 10⁹.
pub type Order = Quantity<units::Order>;

impl<U: Unit> Quantity<U> {
    /// The largest quantity that can be held.
    pub const LARGEST: Self = Self {
        units: U::LARGEST,
        unit: PhantomData,
    };

    /// The number of units.
    #[must_use]
    pub fn units(self) -> u128 {
        self.units
    }

    /// The quantity of so many units.
    ///
    /// # Errors
    ///
    /// [`NumberError::TooLarge`] or [`NumberError::TooSmall`].
    pub fn from_units(units: u128) -> Result<Self, NumberError> {
        let what = U::NAME;
        if units > U::LARGEST {
            let largest = U::LARGEST_TEXT;
            return Err(NumberError::TooLarge { what, largest });
        }
        match U::GREATER_THAN {
            Some((floor, bound)) if units <= floor => Err(NumberError::TooSmall { what, bound }),
            _ => Ok(Self::unchecked(units)),
        }
    }

    /// The smallest quantity that is at least the number in `text`: for losses.
    ///
    /// # Errors
    ///
    /// As for reading the number, except that it may have any number of digits.
    pub fn round_up(text: &str) -> Result<Self, NumberError> {
        let (units, inexact) = Self::read(text)?;
        Self::from_units(units + u128::from(inexact))
    }

    /// The largest quantity that is at most the number in `text`: for budgets.
    ///
    /// # Errors
    ///
    /// As for reading the number, except that it may have any number of digits.
    pub fn round_down(text: &str) -> Result<Self, NumberError> {
        Self::from_units(Self::read(text)?.0)
    }

    fn read(text: &str) -> Result<(u128, bool), NumberError> {
        let what = U::NAME;
        match parse(text, U::DECIMALS) {
            // One more unit must still fit, for rounding up.
            Ok(parsed) if parsed.units < u128::MAX => Ok((parsed.units, parsed.inexact)),
            Ok(_) | Err(Unreadable::TooLarge) => Err(NumberError::TooLarge {
                what,
                largest: U::LARGEST_TEXT,
            }),
            Err(Unreadable::Malformed) => Err(NumberError::Malformed { what }),
            Err(Unreadable::Negative) => Err(NumberError::Negative { what }),
        }
    }

    fn unchecked(units: u128) -> Self {
        Self {
            units,
            unit: PhantomData,
        }
    }
}

/// Arithmetic for what can be zero: everything but orders.
macro_rules! arithmetic {
    ($($unit:ident)*) => {$(
        impl Quantity<units::$unit> {
            /// Nothing.
            pub const ZERO: Self = Self {
                units: 0,
                unit: PhantomData,
            };

            /// The exact sum; `None` if it is larger than the largest quantity.
            #[must_use]
            pub fn checked_add(self, other: Self) -> Option<Self> {
                Self::from_units(self.units.checked_add(other.units)?).ok()
            }

            /// The exact multiple; `None` if it is larger than the largest quantity.
            #[must_use]
            pub fn checked_mul(self, factor: u64) -> Option<Self> {
                Self::from_units(self.units.checked_mul(u128::from(factor))?).ok()
            }

            /// The exact difference, or zero where it would be negative.
            #[must_use]
            pub fn saturating_sub(self, other: Self) -> Self {
                Self::unchecked(self.units.saturating_sub(other.units))
            }
        }

        impl Default for Quantity<units::$unit> {
            fn default() -> Self {
                Self::ZERO
            }
        }
    )*};
}

arithmetic!(Epsilon Rho Mu Delta);

impl Delta {
    /// Certainty. Every mechanism whatever is (ε, 1)-private.
    pub const ONE: Self = Self {
        units: 10_u128.pow(38),
        unit: PhantomData,
    };

    /// The sum, or 1 where it would be more.
    #[must_use]
    pub fn saturating_add(self, other: Self) -> Self {
        self.checked_add(other).unwrap_or(Self::ONE)
    }
}

impl Order {
    /// The order, where it is a whole number.
    ///
    /// ```
    /// use queryables::number::{NumberError, Order};
    ///
    /// assert_eq!(Order::try_from("16")?.whole(), Some(16));
    /// assert_eq!(Order::try_from("2.5")?.whole(), None);
    /// # Ok::<(), NumberError>(())
    /// ```
    #[must_use]
    pub fn whole(self) -> Option<u32> {
        let one = 10_u128.pow(units::Order::DECIMALS);
        self.units
            .is_multiple_of(one)
            .then(|| u32::try_from(self.units / one).ok())?
    }
}

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

impl<U: Unit> TryFrom<f64> for Quantity<U> {
    type Error = NumberError;

    fn try_from(number: f64) -> Result<Self, NumberError> {
        let what = U::NAME;
        if number.is_nan() {
            Err(NumberError::NotANumber { what })
        } else if number.is_sign_negative() {
            Err(NumberError::Negative { what })
        } else if number.is_infinite() {
            Err(NumberError::Infinite { what })
        } else {
            // The shortest decimal that reads back as the same float.
            format!("{number:e}").parse()
        }
    }
}

impl<U: Unit> fmt::Display for Quantity<U> {
    /// Plain from 0.0001 upwards, with an exponent below: `0.25`, `1e-6`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let one = 10_u128.pow(U::DECIMALS);
        let text = if self.units == 0 || self.units >= one / 10_000 {
            let fraction = format!("{:0width$}", self.units % one, width = U::DECIMALS as usize);
            format!("{}.{fraction}", self.units / one)
        } else {
            let digits = self.units.to_string();
            let exponent = U::DECIMALS as usize + 1 - digits.len();
            let (first, rest) = digits.split_at(1);
            let rest = rest.trim_end_matches('0');
            let point = if rest.is_empty() { "" } else { "." };
            return f.pad(&format!("{first}{point}{rest}e-{exponent}"));
        };
        f.pad(text.trim_end_matches('0').trim_end_matches('.'))
    }
}

impl<U: Unit> fmt::Debug for Quantity<U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {self}", U::NAME)
    }
}

// Derives would ask the same of the unit, which is only a name.
impl<U> Clone for Quantity<U> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<U> Copy for Quantity<U> {}

impl<U> PartialEq for Quantity<U> {
    fn eq(&self, other: &Self) -> bool {
        self.units == other.units
    }
}

impl<U> Eq for Quantity<U> {}

impl<U> PartialOrd for Quantity<U> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<U> Ord for Quantity<U> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.units.cmp(&other.units)
    }
}

impl<U> Hash for Quantity<U> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.units.hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn epsilon(text: &str) -> Epsilon {
        text.parse().unwrap()
    }

    #[test]
    fn a_float_means_its_shortest_decimal() {
        for (float, text) in [
            (0.1, "0.1"),
            (1e-6, "1e-6"),
            (3.0, "3"),
            (0.0, "0"),
            (1e9, "1e9"),
        ] {
            assert_eq!(Epsilon::try_from(float), Ok(epsilon(text)));
        }
    }

    #[test]
    fn floats_that_are_no_parameters() {
        let what = "epsilon";
        let decimals = 27;
        for (float, error) in [
            (f64::NAN, NumberError::NotANumber { what }),
            (-f64::NAN, NumberError::NotANumber { what }),
            (f64::INFINITY, NumberError::Infinite { what }),
            (f64::NEG_INFINITY, NumberError::Negative { what }),
            (-1.0, NumberError::Negative { what }),
            (-0.0, NumberError::Negative { what }),
            (5e-324, NumberError::TooFine { what, decimals }),
            (1e-28, NumberError::TooFine { what, decimals }),
            (
                1e300,
                NumberError::TooLarge {
                    what,
                    largest: "3.4e11",
                },
            ),
        ] {
            assert_eq!(Epsilon::try_from(float), Err(error), "{float}");
        }
    }

    #[test]
    fn the_largest_is_held_and_one_unit_more_is_not() {
        let largest = "340000000000";
        assert_eq!(epsilon(largest).to_string(), largest);
        let error = NumberError::TooLarge {
            what: "epsilon",
            largest: "3.4e11",
        };
        assert_eq!(
            "340000000000.000000000000000000000000001".parse::<Epsilon>(),
            Err(error.clone())
        );
        assert_eq!("1e400".parse::<Epsilon>(), Err(error));
        assert_eq!(epsilon(largest).checked_add(epsilon("1e-27")), None);
        assert_eq!(epsilon(largest).checked_mul(2), None);
        assert_eq!("1".parse::<Delta>(), Ok(Delta::ONE));
        assert_eq!(
            "1.1".parse::<Delta>(),
            Err(NumberError::TooLarge {
                what: "delta",
                largest: "1"
            })
        );
    }

    #[test]
    fn an_order_is_greater_than_one() {
        let error = NumberError::TooSmall {
            what: "order",
            bound: "1",
        };
        assert_eq!("1".parse::<Order>(), Err(error.clone()));
        assert_eq!("0".parse::<Order>(), Err(error));
        assert_eq!(
            "1.000000001".parse::<Order>().unwrap().to_string(),
            "1.000000001"
        );
    }

    #[test]
    fn rounding_goes_the_way_it_says() {
        let third = "0.3333333333333333333333333333333333";
        assert_eq!(
            third.parse::<Epsilon>(),
            Err(NumberError::TooFine {
                what: "epsilon",
                decimals: 27
            })
        );
        assert_eq!(
            Epsilon::round_down(third),
            Ok(epsilon("0.333333333333333333333333333"))
        );
        assert_eq!(
            Epsilon::round_up(third),
            Ok(epsilon("0.333333333333333333333333334"))
        );
        assert_eq!(Epsilon::round_up("0.5"), Ok(epsilon("0.5")));
        assert_eq!(Epsilon::round_up("1e-400"), Ok(epsilon("1e-27")));
        assert_eq!(Epsilon::round_down("1e-400"), Ok(Epsilon::ZERO));
        assert_eq!(
            Epsilon::round_up("-1e-400"),
            Err(NumberError::Negative { what: "epsilon" })
        );
        // The largest u128 reads, but has no successor.
        assert_eq!(
            Epsilon::round_up("340282366920.9384634633746074317682114555"),
            Err(NumberError::TooLarge {
                what: "epsilon",
                largest: "3.4e11"
            })
        );
    }

    #[test]
    fn numbers_print_as_people_write_them() {
        for text in [
            "0", "0.1", "1", "12.5", "0.0001", "9.9e-5", "1e-6", "1.25e-27",
        ] {
            let delta_like = text.parse::<Quantity<units::Rho>>();
            match delta_like {
                Ok(value) => assert_eq!(value.to_string(), text),
                Err(error) => assert_eq!(
                    (text, error),
                    (
                        "1.25e-27",
                        NumberError::TooFine {
                            what: "rho",
                            decimals: 27
                        }
                    )
                ),
            }
        }
        assert_eq!(Delta::ONE.to_string(), "1");
        assert_eq!("1e-38".parse::<Delta>().unwrap().to_string(), "1e-38");
        assert_eq!(format!("{:?}", epsilon("0.5")), "epsilon 0.5");
        assert_eq!(format!("{:>6}", epsilon("0.5")), "   0.5");
    }

    #[test]
    fn sums_of_probabilities_stop_at_one() {
        let half = "0.5".parse::<Delta>().unwrap();
        assert_eq!(half.saturating_add(half), Delta::ONE);
        assert_eq!(half.checked_add(half), Some(Delta::ONE));
        assert_eq!(Delta::ONE.checked_add(half), None);
        assert_eq!(Delta::ONE.saturating_add(half), Delta::ONE);
        assert_eq!(half.saturating_sub(Delta::ONE), Delta::ZERO);
    }
}
