//! Between OpenDP's floats and exact quantities, always to the safe side.

use crate::number::{Interval, Quantity, Unit};
use crate::privacy::UnknownLoss;

/// The smallest quantity that is at least this float, whose binary value is taken at its word:
/// what OpenDP writes as 0.1 is a little more than 1/10.
pub(super) fn loss_from<U: Unit>(float: f64) -> Result<Quantity<U>, UnknownLoss> {
    if float.is_nan() {
        Err(UnknownLoss("OpenDP's privacy map says NaN"))
    } else if float.is_sign_negative() {
        Err(UnknownLoss("OpenDP's privacy map says less than nothing"))
    } else if float.is_infinite() {
        Err(UnknownLoss("OpenDP's privacy map says that it is infinite"))
    } else {
        let too_large = UnknownLoss("OpenDP's privacy map says more than can be held");
        Interval::exactly(float).up().ok_or(too_large)
    }
}

/// The smallest float that is at least this quantity.
pub(super) fn float_up<U: Unit>(quantity: Quantity<U>) -> f64 {
    // A few floats below at most.
    let mut float = Interval::from(quantity).low().max(0.0);
    while Interval::exactly(float).down() < Some(quantity) {
        float = float.next_up();
    }
    float
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::{Delta, Epsilon, Order};
    use proptest::prelude::*;

    #[test]
    fn a_float_is_taken_at_its_word_and_rounded_up() {
        for (float, text) in [
            (0.0, "0"),
            (0.125, "0.125"),
            (1.0, "1"),
            // 0.1000000000000000055511151231257827…
            (0.1, "0.100000000000000005551115124"),
            // 0.0100000000000000002081668171172168…
            (0.01, "0.010000000000000000208166818"),
            (f64::MIN_POSITIVE, "1e-27"),
            (5e-324, "1e-27"),
            (3.4e11, "340000000000"),
        ] {
            let expected: Epsilon = text.parse().unwrap();
            assert_eq!(loss_from(float), Ok(expected), "{float}");
        }
        assert_eq!(loss_from(1.0), Ok(Delta::ONE));
    }

    #[test]
    fn what_is_no_loss_is_refused() {
        let epsilon = loss_from::<crate::number::units::Epsilon>;
        for (float, reason) in [
            (f64::NAN, "OpenDP's privacy map says NaN"),
            (-f64::NAN, "OpenDP's privacy map says NaN"),
            (-1.0, "OpenDP's privacy map says less than nothing"),
            (-5e-324, "OpenDP's privacy map says less than nothing"),
            (-0.0, "OpenDP's privacy map says less than nothing"),
            (
                f64::NEG_INFINITY,
                "OpenDP's privacy map says less than nothing",
            ),
            (
                f64::INFINITY,
                "OpenDP's privacy map says that it is infinite",
            ),
            (
                3.4e11_f64.next_up(),
                "OpenDP's privacy map says more than can be held",
            ),
            (f64::MAX, "OpenDP's privacy map says more than can be held"),
        ] {
            assert_eq!(epsilon(float), Err(UnknownLoss(reason)), "{float}");
        }
        assert_eq!(
            loss_from::<crate::number::units::Delta>(1.0_f64.next_up()),
            Err(UnknownLoss(
                "OpenDP's privacy map says more than can be held"
            ))
        );
    }

    #[test]
    fn a_quantity_becomes_the_next_float_up() {
        for (text, float) in [
            ("0", 0.0),
            ("1", 1.0),
            ("0.125", 0.125),
            ("0.1", 0.1),
            // The float nearest to 0.3 is below it.
            ("0.3", 0.3_f64.next_up()),
            ("1e-27", 1e-27_f64),
            ("340000000000", 3.4e11),
        ] {
            let quantity: Epsilon = text.parse().unwrap();
            assert_eq!(float_up(quantity).to_bits(), float.to_bits(), "{text}");
        }
        let order: Order = "1.000000001".parse().unwrap();
        assert!(float_up(order) > 1.0);
    }

    proptest! {
        #[test]
        fn there_and_back_never_falls(units in 0..=10_u128.pow(38)) {
            let quantity = Epsilon::from_units(units).unwrap();
            let float = float_up(quantity);
            prop_assert!(loss_from(float).unwrap() >= quantity);
            let below = loss_from::<crate::number::units::Epsilon>(float.next_down());
            prop_assert!(float == 0.0 || below.unwrap() <= quantity);
        }
    }
}
