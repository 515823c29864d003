//! The smallest loss for a wanted accuracy.

use super::{MechanismError, Noisy, Number};
use crate::number::{Confidence, Quantity, Unit};

/// How many digits the loss has: then it is at most one part in 10^5 too large, and easy to read.
const DIGITS: u32 = 6;

/// The mechanism with the smallest loss of six digits whose answers are within a distance of the
/// truth with at least this confidence, if `make` constructs it from a loss, and noise falls with
/// the loss.
pub(super) fn with_accuracy<U: Unit, M: Noisy>(
    within: <M::Number as Number>::Distance,
    confidence: Confidence,
    make: impl Fn(Quantity<U>) -> Result<M, MechanismError>,
) -> Result<M, MechanismError> {
    // A loss of one: whatever else is wrong is found first.
    let exponent = make(written(one::<U>())?)?.noise().exponent();
    let steps = M::Number::steps(within, exponent).ok_or(MechanismError::BadAccuracy)?;
    let (_, made) = least_loss(make, |made| made.noise().is_within(steps, confidence))?;
    Ok(made)
}

/// The smallest loss of six digits for which what `make` constructs is enough, and what it constructs.
/// If a loss is enough, so must be all that are larger.
pub(super) fn least_loss<U: Unit, M>(
    make: impl Fn(Quantity<U>) -> Result<M, MechanismError>,
    is_enough: impl Fn(&M) -> bool,
) -> Result<(Quantity<U>, M), MechanismError> {
    make(written(one::<U>())?)?;
    let suffices = |place: u64| {
        let made = written::<U>(place).and_then(&make);
        made.is_ok_and(|made| is_enough(&made))
    };
    let mut low = 0;
    let mut high = LAST;
    if !suffices(high) {
        return Err(MechanismError::TooAccurate);
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if suffices(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    let loss = written(high)?;
    Ok((loss, make(loss)?))
}

/// Numbers of six digits, by their place in the list of all: a million small ones, and then 900 000
/// with each further zero.
fn written<U: Unit>(place: u64) -> Result<Quantity<U>, MechanismError> {
    let small = 10_u64.pow(DIGITS);
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

/// The place of the number one.
fn one<U: Unit>() -> u64 {
    let decade = u64::from(U::DECIMALS + 1 - DIGITS);
    10_u64.pow(DIGITS) + (decade - 1) * (9 * 10_u64.pow(DIGITS - 1))
}

/// The place of 10^6, a loss at which no noise is left on whole numbers; with a sensitivity of
/// 2^50, its scale is still 10^9.
const LAST: u64 = 10_u64.pow(DIGITS) + 27 * 9 * 10_u64.pow(DIGITS - 1);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::{Epsilon, units};

    #[test]
    fn places_are_in_order_and_have_six_digits() {
        let at = |place| written::<units::Epsilon>(place).unwrap();
        let epsilon = |text: &str| -> Epsilon { text.parse().unwrap() };
        assert_eq!(at(0), Epsilon::ZERO);
        assert_eq!(at(1), epsilon("1e-27"));
        assert_eq!(at(999_999), epsilon("9.99999e-22"));
        assert_eq!(at(1_000_000), epsilon("1e-21"));
        assert_eq!(at(1_000_001), epsilon("1.00001e-21"));
        assert_eq!(at(1_900_000), epsilon("1e-20"));
        assert_eq!(at(one::<units::Epsilon>()), epsilon("1"));
        assert_eq!(at(LAST), epsilon("1e6"));
        assert_eq!(
            written::<units::Epsilon>(u64::MAX).unwrap_err(),
            MechanismError::TooLarge
        );
    }
}
