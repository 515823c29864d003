//! Exact parameters of laws.

use std::fmt;
use std::num::NonZeroU128;

use super::{Quantity, Unit};

/// A rational number that is not negative, in lowest terms: the exact parameter of a law.
///
/// ```
/// use queryables::number::Ratio;
///
/// let third = Ratio::new(2, 6).expect("six is not zero");
/// assert_eq!(third.to_string(), "1/3");
/// assert_eq!(third.inverse(), Some(Ratio::from(3)));
/// assert_eq!(Ratio::new(1, 0), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ratio {
    numerator: u128,
    denominator: NonZeroU128,
}

impl Ratio {
    /// `numerator / denominator`; `None` if the denominator is zero.
    #[must_use]
    pub fn new(numerator: u128, denominator: u128) -> Option<Self> {
        let common = greatest_common_divisor(numerator, denominator).max(1);
        Some(Self {
            numerator: numerator / common,
            denominator: NonZeroU128::new(denominator / common)?,
        })
    }

    /// The number above the line, in lowest terms.
    #[must_use]
    pub fn numerator(self) -> u128 {
        self.numerator
    }

    /// The number below the line, in lowest terms.
    #[must_use]
    pub fn denominator(self) -> NonZeroU128 {
        self.denominator
    }

    /// One over this; `None` for zero.
    #[must_use]
    pub fn inverse(self) -> Option<Self> {
        Some(Self {
            numerator: self.denominator.get(),
            denominator: NonZeroU128::new(self.numerator)?,
        })
    }

    /// The exact product; `None` if its numbers need more than 128 bits.
    #[must_use]
    pub fn checked_mul(self, other: Self) -> Option<Self> {
        // Crosswise first: what is left of the products is then in lowest terms.
        let one = Self::new(self.numerator, other.denominator.get())?;
        let two = Self::new(other.numerator, self.denominator.get())?;
        Some(Self {
            numerator: one.numerator.checked_mul(two.numerator)?,
            denominator: one.denominator.checked_mul(two.denominator)?,
        })
    }
}

impl From<u64> for Ratio {
    fn from(whole: u64) -> Self {
        Self {
            numerator: u128::from(whole),
            denominator: NonZeroU128::MIN,
        }
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.denominator == NonZeroU128::MIN {
            write!(f, "{}", self.numerator)
        } else {
            write!(f, "{}/{}", self.numerator, self.denominator)
        }
    }
}

fn greatest_common_divisor(mut one: u128, mut other: u128) -> u128 {
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
}

/// A decimal is a ratio.
///
/// ```
/// use queryables::{number::Ratio, number::Epsilon};
///
/// let epsilon = Epsilon::try_from("0.15")?;
/// assert_eq!(Some(Ratio::from(epsilon)), Ratio::new(3, 20));
/// # Ok::<(), queryables::number::NumberError>(())
/// ```
impl<U: Unit> From<Quantity<U>> for Ratio {
    fn from(quantity: Quantity<U>) -> Self {
        // A power of ten is not zero; the fallback keeps this total without a panic.
        Self::new(quantity.units(), 10_u128.pow(U::DECIMALS)).unwrap_or(Self::from(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(numerator: u128, denominator: u128) -> Ratio {
        Ratio::new(numerator, denominator).unwrap()
    }

    #[test]
    fn equal_numbers_are_equal() {
        assert_eq!(ratio(6, 4), ratio(3, 2));
        assert_eq!(ratio(0, 7), Ratio::from(0));
        assert_eq!(ratio(u128::MAX, u128::MAX), Ratio::from(1));
        assert_eq!(Ratio::new(0, 0), None);
        assert_eq!(Ratio::from(0).inverse(), None);
        assert_eq!(ratio(10, 4).to_string(), "5/2");
        assert_eq!(ratio(10, 5).to_string(), "2");
    }

    #[test]
    fn products_are_reduced_before_they_are_multiplied_out() {
        let huge = ratio(u128::MAX, 7);
        assert_eq!(huge.checked_mul(ratio(7, u128::MAX)), Some(Ratio::from(1)));
        assert_eq!(ratio(2, 3).checked_mul(ratio(9, 4)), Some(ratio(3, 2)));
        assert_eq!(huge.checked_mul(Ratio::from(2)), None);
        assert_eq!(Ratio::from(0).checked_mul(huge), Some(Ratio::from(0)));
    }
}
