//! Quantities and floats: by the direction of rounding, or by the float's shortest decimal.

use std::cmp::Ordering;

use super::{NumberError, Quantity, Unit};
use crate::number::float::units_of;

impl<U: Unit> Quantity<U> {
    /// The smallest quantity that is at least this float, which stands for its exact binary value:
    /// for losses that were computed in floats.
    ///
    /// `try_from` reads the shortest decimal instead, which is what people mean by `0.1`, and which
    /// may be less than the float is.
    ///
    /// # Errors
    ///
    /// [`NumberError`] if the float is negative (−0 included), infinite, not a number, or more
    /// than the largest quantity.
    ///
    /// ```
    /// use queryables::number::Epsilon;
    ///
    /// // The float is 0.1000000000000000055511151231….
    /// assert_eq!(Epsilon::at_least(0.1)?, "0.100000000000000005551115124".parse()?);
    /// assert_eq!(Epsilon::at_most(0.1)?, "0.100000000000000005551115123".parse()?);
    /// assert_eq!(Epsilon::at_least(0.5)?, "0.5".parse()?);
    /// # Ok::<(), queryables::number::NumberError>(())
    /// ```
    pub fn at_least(number: f64) -> Result<Self, NumberError> {
        let (units, cut) = Self::exactly(number)?;
        Self::from_units(units.saturating_add(u128::from(cut)))
    }

    /// The largest quantity that is at most this float, which stands for its exact binary value:
    /// for budgets that were computed in floats.
    ///
    /// # Errors
    ///
    /// As for [`at_least`](Self::at_least), and [`NumberError::TooSmall`] if the number is below
    /// every quantity: a scale of 1e-300, an order of 0.5.
    pub fn at_most(number: f64) -> Result<Self, NumberError> {
        Self::from_units(Self::exactly(number)?.0)
    }

    /// The smallest float that is at least this quantity.
    ///
    /// ```
    /// use queryables::number::Epsilon;
    ///
    /// let third: Epsilon = "0.333333333333333333333333333".parse()?;
    /// assert_eq!(third.to_f64_up(), 1.0 / 3.0 + f64::EPSILON / 4.0);
    /// assert_eq!(third.to_f64_down(), 1.0 / 3.0);
    /// # Ok::<(), queryables::number::NumberError>(())
    /// ```
    #[must_use]
    pub fn to_f64_up(self) -> f64 {
        let mut float = self.nearby();
        while self.compared_with(float) == Ordering::Greater {
            float = float.next_up();
        }
        while float > 0.0 && self.compared_with(float.next_down()) != Ordering::Greater {
            float = float.next_down();
        }
        float
    }

    /// The largest float that is at most this quantity.
    ///
    /// [`to_f64_up`](Self::to_f64_up) has an example.
    #[must_use]
    pub fn to_f64_down(self) -> f64 {
        let up = self.to_f64_up();
        if self.compared_with(up) == Ordering::Equal {
            up
        } else {
            up.next_down()
        }
    }

    /// A float within a few steps: two roundings to the nearest.
    fn nearby(self) -> f64 {
        self.units as f64 / 10_u128.pow(U::DECIMALS) as f64
    }

    /// Exactly, with a float that is not negative.
    fn compared_with(self, float: f64) -> Ordering {
        let Some((units, cut)) = units_of::<1>(float, U::DECIMALS) else {
            return Ordering::Less;
        };
        match units.to_u128() {
            Some(units) if units <= self.units => match (units == self.units, cut) {
                (true, false) => Ordering::Equal,
                (true, true) => Ordering::Less,
                (false, _) => Ordering::Greater,
            },
            _ => Ordering::Less,
        }
    }

    /// A float in units, rounded down, and whether something was cut off.
    fn exactly(number: f64) -> Result<(u128, bool), NumberError> {
        check::<U>(number)?;
        units_of::<1>(number, U::DECIMALS)
            .and_then(|(units, cut)| Some((units.to_u128()?, cut)))
            .ok_or(NumberError::TooLarge {
                what: U::NAME,
                largest: U::LARGEST_TEXT,
            })
    }
}

impl<U: Unit> TryFrom<f64> for Quantity<U> {
    type Error = NumberError;

    /// The float's shortest decimal: `0.1` is 1/10.
    fn try_from(number: f64) -> Result<Self, NumberError> {
        check::<U>(number)?;
        // The shortest decimal that reads back as the same float.
        format!("{number:e}").parse()
    }
}

/// Rejects floats that are no quantity.
fn check<U: Unit>(number: f64) -> Result<(), NumberError> {
    let what = U::NAME;
    if number.is_nan() {
        Err(NumberError::NotANumber { what })
    } else if number.is_sign_negative() {
        Err(NumberError::Negative { what })
    } else if number.is_infinite() {
        Err(NumberError::Infinite { what })
    } else {
        Ok(())
    }
}
