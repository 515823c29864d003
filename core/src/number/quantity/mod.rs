//! Privacy parameters as exact decimals.
//!
//! A parameter is a whole number of tiny units, so that adding is exact, does not depend on the
//! order, and costs nothing: ten times 0.1 is 1.

mod float;
mod text;
#[doc(hidden)]
pub mod units;

pub(crate) use text::write_number;

use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

use super::decimal::{NumberError, Unreadable, parse};

mod sealed {
    use super::{Unit, units};

    pub trait Sealed {}

    /// A unit of which there can be none.
    pub trait MayBeZero: Unit {}

    impl MayBeZero for units::Epsilon {}
    impl MayBeZero for units::Rho {}
    impl MayBeZero for units::Mu {}
    impl MayBeZero for units::Delta {}
}

/// What a [`Quantity`] measures, and in which units.
///
/// Sealed: [`Epsilon`], [`Rho`], [`Mu`], [`Delta`], [`Scale`], [`Confidence`] and [`Order`] have the
/// units that there are, because the arithmetic of quantities relies on their ranges. A measure of your own takes one of them, or a loss of its own type.
pub trait Unit: sealed::Sealed + 'static {
    /// The parameter's name in messages.
    #[doc(hidden)]
    const NAME: &'static str;
    /// Its symbol, such as `ε`.
    #[doc(hidden)]
    const SYMBOL: &'static str = Self::NAME;
    /// The unit is `10^-DECIMALS`.
    #[doc(hidden)]
    const DECIMALS: u32;
    /// The largest value, in units.
    #[doc(hidden)]
    const LARGEST: u128;
    /// The largest value, for messages.
    #[doc(hidden)]
    const LARGEST_TEXT: &'static str;
    /// What to do about a literal that is larger.
    #[doc(hidden)]
    const TOO_LARGE: &'static str = "write a smaller number: this one cannot be held";
    /// A value must be greater than this number of units, if there is such a limit.
    #[doc(hidden)]
    const GREATER_THAN: Option<(u128, &'static str)> = None;
    /// How shortened output is rounded: up where it is a loss.
    #[doc(hidden)]
    const SHORTENED: Shortened = Shortened::Up;
}

/// How output with fewer digits is rounded.
///
/// Example: [`Quantity`](crate::number::Quantity).
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shortened {
    Up,
    Nearest,
    Down,
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

/// ε: a multiple of 10⁻²⁷, at most 3.4·10¹¹.
///
/// Example: [`Quantity`](crate::number::Quantity).
pub type Epsilon = Quantity<units::Epsilon>;
/// ρ: a multiple of 10⁻²⁷, at most 3.4·10¹¹.
///
/// Example: [`AnyLoss`](crate::privacy::AnyLoss).
pub type Rho = Quantity<units::Rho>;
/// μ: a multiple of 10⁻²⁷, at most 3.4·10¹¹.
///
/// Example: [`Gaussian`](crate::privacy::facts::Gaussian).
pub type Mu = Quantity<units::Mu>;
/// δ: a multiple of 10⁻³⁸, at most 1.
///
/// Example: [`Quantity`](crate::number::Quantity).
pub type Delta = Quantity<units::Delta>;
/// The scale of noise, or a sensitivity: a multiple of 10⁻²⁷, greater than 0, at most 3.4·10¹¹.
///
/// Example: [`Quantity`](crate::number::Quantity).
pub type Scale = Quantity<units::Scale>;
/// The probability with which a statement holds, such as 0.95: a multiple of 10⁻³⁸, greater than 0
/// and less than 1.
///
/// Example: [`Quantity`](crate::number::Quantity).
pub type Confidence = Quantity<units::Confidence>;
/// α: a multiple of 10⁻⁹, greater than 1, at most 10⁹.
///
/// Example: [`Quantity`](crate::number::Quantity).
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

    /// The quantity of this number of units.
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
            Err(Unreadable::Malformed) => Err(NumberError::Malformed {
                what,
                given: NumberError::given(text),
            }),
            Err(Unreadable::Negative) => Err(NumberError::Negative { what }),
        }
    }

    pub(super) const fn unchecked(units: u128) -> Self {
        Self {
            units,
            unit: PhantomData,
        }
    }
}

/// Arithmetic for what can be zero.
impl<U: sealed::MayBeZero> Quantity<U> {
    /// Zero.
    pub const ZERO: Self = Self {
        units: 0,
        unit: PhantomData,
    };

    /// The exact sum; `None` if it is larger than the largest quantity.
    #[must_use]
    pub fn checked_add(self, other: Self) -> Option<Self> {
        Self::from_units(self.units.checked_add(other.units)?).ok()
    }

    /// So many parts that add up to it: equal ones, rounded down, and what is left over stays with
    /// the last.
    ///
    /// ```
    /// use queryables_core::prelude::*;
    ///
    /// let parts: Vec<Epsilon> = epsilon!(1).split(3).collect();
    /// assert_eq!(parts[0].to_string(), "0.333333333333333333333333333");
    /// assert_eq!(parts[2].to_string(), "0.333333333333333333333333334");
    /// ```
    #[doc(alias = "budget")]
    #[must_use]
    pub fn split(self, parts: u32) -> impl ExactSizeIterator<Item = Self> {
        let each = self.units / u128::from(parts.max(1));
        let last = self.units - each * u128::from(parts.saturating_sub(1));
        (0..parts).map(move |part| Self::unchecked(if part + 1 == parts { last } else { each }))
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

impl<U: sealed::MayBeZero> Default for Quantity<U> {
    fn default() -> Self {
        Self::ZERO
    }
}

impl Delta {
    /// Certainty: every mechanism is (ε, 1)-private.
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

impl Confidence {
    /// The probability with which the statement fails: one minus this, exactly.
    ///
    /// ```
    /// use queryables::number::{Confidence, Delta, NumberError};
    ///
    /// assert_eq!(Confidence::try_from("0.95")?.failure(), Delta::try_from("0.05")?);
    /// # Ok::<(), NumberError>(())
    /// ```
    #[must_use]
    pub fn failure(self) -> Delta {
        Delta::unchecked(Delta::ONE.units - self.units)
    }

    /// The confidence that each of `number` statements needs so that all of them hold together with
    /// this one, whether they depend on each other or not: each may fail with a part of
    /// [`failure`](Self::failure), rounded down (the union bound). `None` if the part rounds to zero.
    ///
    /// ```
    /// use queryables::number::Confidence;
    ///
    /// let all: Confidence = "0.95".parse()?;
    /// assert_eq!(all.for_each_of(10), Some("0.995".parse()?));
    /// # Ok::<(), queryables_core::number::NumberError>(())
    /// ```
    #[must_use]
    pub fn for_each_of(self, number: u64) -> Option<Self> {
        let part = self.failure().units.checked_div(number.into())?;
        Self::from_units(Delta::ONE.units - part).ok()
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

// Derives would require the same of the unit, which is only a type parameter.
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
mod tests;
