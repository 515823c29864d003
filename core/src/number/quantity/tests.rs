use super::*;
use crate::tests::oracle;
use proptest::prelude::*;

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

/// Noise has no end: nothing holds with certainty.
#[test]
fn a_confidence_is_below_one() {
    let most: Confidence = "0.99999999999999999999999999999999999999".parse().unwrap();
    assert_eq!(most.failure(), "1e-38".parse().unwrap());
    let (what, largest) = ("confidence", "1 - 1e-38 (write 0.95 for 95 %)");
    let error = NumberError::TooLarge { what, largest };
    assert_eq!("1".parse::<Confidence>(), Err(error.clone()));
    assert_eq!("95".parse::<Confidence>(), Err(error));
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
fn a_precision_rounds_losses_up() {
    for (text, precision, printed) in [
        ("12.3456", 2, "12.35"),
        ("12.3416", 2, "12.35"),
        ("12.3456", 1, "12.4"),
        ("12.3456", 0, "13"),
        ("12.3456", 6, "12.345600"),
        ("12", 2, "12.00"),
        ("0", 2, "0.00"),
        ("0", 0, "0"),
        ("0.0001", 1, "0.1"),
        ("99.99", 1, "100.0"),
        ("0.000000000000000000000000001", 2, "1.00e-27"),
        ("1.2345e-6", 2, "1.24e-6"),
        ("1.2345e-6", 0, "2e-6"),
        ("9.99e-6", 1, "1.0e-5"),
        ("9.99e-5", 1, "1.0e-4"),
        ("1e-6", 30, "1.000000000000000000000000000000e-6"),
        ("1.5", 30, "1.500000000000000000000000000000"),
        ("340000000000", 3, "340000000000.000"),
    ] {
        assert_eq!(format!("{:.precision$}", epsilon(text)), printed, "{text}");
    }
    let delta: Delta = "0.99999999999999999999999999999999999999".parse().unwrap();
    assert_eq!(format!("{delta:.3}"), "1.000");
    assert_eq!(format!("{:.2}", "0.001".parse::<Rho>().unwrap()), "0.01");
    assert_eq!(format!("{:.2}", "0.001".parse::<Mu>().unwrap()), "0.01");
}

#[test]
fn a_precision_rounds_scales_and_orders_to_the_nearest() {
    let scale = |text: &str| format!("{:.1}", text.parse::<Scale>().unwrap());
    assert_eq!(scale("1.04"), "1.0");
    assert_eq!(scale("1.05"), "1.1");
    assert_eq!(scale("1.449e-9"), "1.4e-9");
    assert_eq!(format!("{:.0}", "2.4".parse::<Order>().unwrap()), "2");
    assert_eq!(format!("{:.0}", "2.5".parse::<Order>().unwrap()), "3");
}

#[test]
fn width_and_fill_are_those_of_numbers() {
    let some = epsilon("1.25");
    assert_eq!(format!("{some:8}|"), "    1.25|");
    assert_eq!(format!("{some:<8}|"), "1.25    |");
    assert_eq!(format!("{some:*^8.1}|"), "**1.3***|");
    assert_eq!(format!("{some:08.1}|"), "000001.3|");
    assert_eq!(format!("{some:2}|"), "1.25|");
    assert_eq!(format!("{some:#}"), "ε = 1.25");
    assert_eq!(format!("{some:#5.1}|"), "ε =   1.3|");
    assert_eq!(format!("{:#}", Delta::ONE), "δ = 1");
    assert_eq!(format!("{:#}", Mu::ZERO), "μ = 0");
    assert_eq!(format!("{:#}", Rho::ZERO), "ρ = 0");
}

/// More would be said than holds, and 1 is no confidence.
#[test]
fn a_confidence_is_rounded_down() {
    let printed = |text: &str| format!("{:.1}", text.parse::<Confidence>().unwrap());
    assert_eq!(printed("0.999"), "0.9");
    assert_eq!(printed("0.95"), "0.9");
    assert_eq!(printed("0.9"), "0.9");
}

/// The value of a float, exactly: a whole number of units of 2^-1074, and so is a quantity if both
/// are multiplied by a power of ten.
fn compare<U: Unit>(float: f64, quantity: Quantity<U>) -> std::cmp::Ordering {
    let float = oracle::real(float) * oracle::power_of_ten(U::DECIMALS as usize);
    float.cmp(&oracle::whole(quantity.units()))
}

proptest! {
    #[test]
    fn what_is_printed_short_is_the_next_decimal_above(
        units in 0..=340_000_000_000 * 10_u128.pow(27), cut in 0..128_u32, precision in 0..32_usize,
    ) {
        let exact = Epsilon::from_units(units >> cut).unwrap();
        let printed = format!("{exact:.precision$}");
        let up = printed.parse::<Epsilon>();
        // Only the very largest has no decimal above it that can be held.
        let Ok(up) = up else {
            prop_assert!(exact > epsilon("300000000000"));
            return Ok(());
        };
        prop_assert!(up >= exact, "{} {}", printed, exact);
        let step = match printed.split_once("e-") {
            None => precision as i32,
            Some((_, exponent)) => precision as i32 + exponent.parse::<i32>().unwrap(),
        };
        let step = 10_u128.pow(u32::try_from(27 - step).unwrap_or(0));
        prop_assert!(up.units() - exact.units() < step, "{} {}", printed, exact);
        prop_assert_eq!(exact.to_string().parse::<Epsilon>().unwrap(), exact);
    }

    #[test]
    fn conversions_to_floats_are_the_nearest_on_their_side(
        units in 0..=340_000_000_000 * 10_u128.pow(27), cut in 0..128_u32,
    ) {
        use std::cmp::Ordering::{Greater, Less};
        let exact = Epsilon::from_units(units >> cut).unwrap();
        let (down, up) = (exact.to_f64_down(), exact.to_f64_up());
        prop_assert!(compare(down, exact) != Greater);
        prop_assert!(compare(up, exact) != Less);
        prop_assert!(compare(down.next_up(), exact) == Greater);
        prop_assert!(up == 0.0 || compare(up.next_down(), exact) == Less);
        prop_assert!(Epsilon::at_most(down).unwrap() <= exact);
        prop_assert!(Epsilon::at_least(up).unwrap_or(exact) >= exact);
    }

    #[test]
    fn floats_become_the_nearest_quantity_on_their_side(
        digits in 1.0..10.0_f64, exponent in -320..11,
    ) {
        use std::cmp::Ordering::{Greater, Less};
        let float = digits * 10_f64.powi(exponent);
        let (down, up) = (Epsilon::at_most(float).unwrap(), Epsilon::at_least(float).unwrap());
        prop_assert!(compare(float, down) != Less);
        prop_assert!(compare(float, up) != Greater);
        prop_assert!(up.units() - down.units() <= 1);
        prop_assert_eq!(up == down, compare(float, up).is_eq());
    }
}

#[test]
fn floats_by_direction() {
    assert_eq!(Epsilon::at_least(0.25), Ok(epsilon("0.25")));
    assert_eq!(Epsilon::at_most(0.25), Ok(epsilon("0.25")));
    assert_eq!(Epsilon::at_least(5e-324), Ok(epsilon("1e-27")));
    assert_eq!(Epsilon::at_most(5e-324), Ok(Epsilon::ZERO));
    assert_eq!(Epsilon::at_least(0.0), Ok(Epsilon::ZERO));
    assert_eq!(Delta::at_least(1.0), Ok(Delta::ONE));
    assert_eq!(epsilon("1").to_f64_up(), 1.0);
    assert_eq!(epsilon("1").to_f64_down(), 1.0);
    assert_eq!(epsilon("0.1").to_f64_up(), 0.1);
    assert_eq!(epsilon("0.1").to_f64_down(), 0.1_f64.next_down());
    assert_eq!(Epsilon::ZERO.to_f64_up(), 0.0);
    assert_eq!(Epsilon::ZERO.to_f64_down(), 0.0);
    assert_eq!(Epsilon::LARGEST.to_f64_up(), 3.4e11);
    let (what, largest) = ("epsilon", "3.4e11");
    for convert in [Epsilon::at_least, Epsilon::at_most] {
        for (float, error) in [
            (f64::NAN, NumberError::NotANumber { what }),
            (f64::INFINITY, NumberError::Infinite { what }),
            (f64::NEG_INFINITY, NumberError::Negative { what }),
            (-1e-300, NumberError::Negative { what }),
            (-0.0, NumberError::Negative { what }),
            (3.5e11, NumberError::TooLarge { what, largest }),
            (1e300, NumberError::TooLarge { what, largest }),
        ] {
            assert_eq!(convert(float), Err(error), "{float}");
        }
    }
    let (what, bound) = ("order", "1");
    assert_eq!(
        Order::at_most(1.0),
        Err(NumberError::TooSmall { what, bound })
    );
    assert_eq!(Order::at_least(1.1), "1.100000001".parse());
    assert_eq!(Order::at_most(1.1), "1.1".parse());
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

#[test]
fn an_error_shows_what_was_given_and_no_more_than_its_beginning() {
    let shown = |text: &str| text.parse::<Epsilon>().unwrap_err().to_string();
    let must = "epsilon must be a decimal number such as 0.1 or 1e-6";
    assert_eq!(shown("0,1"), format!(r#"{must}, not "0,1""#));
    let beginning = "é".repeat(40);
    let long = "é".repeat(1000);
    assert_eq!(shown(&long), format!("{must}, not {beginning:?}"));
    assert_eq!(
        "95".parse::<Confidence>().unwrap_err().to_string(),
        "confidence must be at most 1 - 1e-38 (write 0.95 for 95 %)"
    );
}
