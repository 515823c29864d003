//! The smallest loss for a wanted accuracy.

use std::ops::RangeInclusive;

use super::MechanismError;
use crate::number::{Quantity, Unit};
use crate::privacy::convert::search::{bisect, next_to_each_other};

/// How many digits the loss has: then it is at most one part in 10^5 too large, and easy to read.
/// Fewer, where the noise for six digits needs longer numbers than can be held.
const DIGITS: u32 = 6;

/// What `make` constructs from the smallest loss of six digits for which that is enough.
/// If a loss is enough, so must be all that are larger.
///
/// Where the next smaller loss cannot be constructed, it is not known that less is not enough. Then the
/// loss is the smallest one of fewer digits, and if that is not known either, there is none.
pub(super) fn least_loss<U: Unit, M>(
    make: impl Fn(Quantity<U>) -> Result<M, MechanismError>,
    is_enough: impl Fn(&M) -> bool,
) -> Result<M, MechanismError> {
    make(one()?)?;
    let mut unknown = MechanismError::TooAccurate;
    for digits in (1..=DIGITS).rev() {
        let at = |place: u64| written::<U>(place, digits).and_then(&make);
        let suffices = |place: u64| at(place).is_ok_and(|made| is_enough(&made));
        let high = last(digits);
        if !suffices(high) {
            return Err(MechanismError::TooAccurate);
        }
        let (high, low) = bisect(high, 0, next_to_each_other, suffices);
        match at(low) {
            Ok(_) | Err(MechanismError::NoLoss(_) | MechanismError::TooSmall) => {
                return at(high);
            }
            Err(error) => unknown = error,
        }
    }
    Err(unknown)
}

/// The least number in a range for which this holds, if it holds for every larger one; the last one, if
/// it holds for none.
pub(super) fn least(range: RangeInclusive<u64>, holds: impl Fn(u64) -> bool) -> u64 {
    let (first, last) = range.into_inner();
    if holds(first) {
        return first;
    }
    bisect(last, first, next_to_each_other, holds).0
}

/// Numbers of at most `digits` digits, by their place in the list of all: for six digits, a million small
/// ones, and then 900 000 with each further zero.
fn written<U: Unit>(place: u64, digits: u32) -> Result<Quantity<U>, MechanismError> {
    let small = 10_u64.pow(digits);
    let units = match place.checked_sub(small) {
        None => place.into(),
        Some(beyond) => {
            let in_decade = small - small / 10;
            let digits = u128::from(small / 10 + beyond % in_decade);
            let zeros = u32::try_from(beyond / in_decade + 1).unwrap_or(u32::MAX);
            let power = 10_u128.checked_pow(zeros);
            let units = power.and_then(|power| digits.checked_mul(power));
            units.ok_or(MechanismError::TooLarge)?
        }
    };
    Quantity::from_units(units).map_err(|_| MechanismError::TooLarge)
}

/// A loss of one.
fn one<U: Unit>() -> Result<Quantity<U>, MechanismError> {
    Quantity::from_units(10_u128.pow(U::DECIMALS)).map_err(|_| MechanismError::TooLarge)
}

/// The place of 10^6, a loss at which no noise is left on whole numbers; with a sensitivity of
/// 2^50, its scale is still 10^9.
fn last(digits: u32) -> u64 {
    10_u64.pow(digits) + u64::from(33 - digits) * (9 * 10_u64.pow(digits - 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::{Epsilon, units};

    fn epsilon(text: &str) -> Epsilon {
        text.parse().unwrap()
    }

    #[test]
    fn places_are_in_order_and_have_six_digits() {
        let at = |place| written::<units::Epsilon>(place, 6).unwrap();
        assert_eq!(at(0), Epsilon::ZERO);
        assert_eq!(at(1), epsilon("1e-27"));
        assert_eq!(at(999_999), epsilon("9.99999e-22"));
        assert_eq!(at(1_000_000), epsilon("1e-21"));
        assert_eq!(at(1_000_001), epsilon("1.00001e-21"));
        assert_eq!(at(1_900_000), epsilon("1e-20"));
        assert_eq!(one::<units::Epsilon>(), Ok(epsilon("1")));
        for digits in 1..=DIGITS {
            assert_eq!(written(last(digits), digits), Ok(epsilon("1e6")));
        }
        assert_eq!(
            written::<units::Epsilon>(u64::MAX, 6),
            Err(MechanismError::TooLarge)
        );
    }

    /// Of the losses that can be made, the smallest that is at least `needed`.
    fn least(
        needed: &str,
        can_be_made: impl Fn(Epsilon) -> bool,
    ) -> Result<Epsilon, MechanismError> {
        let needed = epsilon(needed);
        let make = |loss: Epsilon| {
            if loss == Epsilon::ZERO {
                Err(MechanismError::NoLoss("epsilon"))
            } else if can_be_made(loss) {
                Ok(loss)
            } else {
                Err(MechanismError::TooFine)
            }
        };
        least_loss(make, |made| *made >= needed)
    }

    #[test]
    fn a_loss_has_fewer_digits_where_more_cannot_be_made() {
        assert_eq!(least("0.12345678", |_| true), Ok(epsilon("0.123457")));
        let thousandths = |loss: Epsilon| loss.units().is_multiple_of(10_u128.pow(24));
        assert_eq!(least("0.12345678", thousandths), Ok(epsilon("0.124")));
        assert_eq!(least("12.345678", thousandths), Ok(epsilon("12.346")));
        // A loss that is much larger than necessary is not taken instead.
        let large = |loss: Epsilon| loss >= epsilon("1");
        assert_eq!(least("0.3", large), Err(MechanismError::TooFine));
        assert_eq!(least("1.00001", large), Ok(epsilon("1.00001")));
        assert_eq!(
            least("1000000.1", |_| true),
            Err(MechanismError::TooAccurate)
        );
        assert_eq!(least("1e-27", |_| true), Ok(epsilon("1e-27")));
    }
}
