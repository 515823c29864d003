use proptest::prelude::*;

use super::*;
use crate::tests::oracle::sizes;

fn half(mu: f64) -> Interval {
    Interval::exactly(mu).square() / Interval::TWO
}

fn order(units: u128) -> Order {
    Order::from_units(units).unwrap()
}

/// As floats, for comparisons up to rounding.
fn value(loss: Epsilon) -> f64 {
    Interval::from(loss).middle()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// The sum at whole orders and the integral are two ways to the same number.
    #[test]
    fn the_sum_is_the_integral(
        whole in 2..200_u32, rate in sizes::<units::Delta>(-8.0..-0.01), mu in 0.05..4.0_f64,
    ) {
        let sum = log_moment_at(whole, rate, half(mu));
        let excess = Interval::from(whole - 1);
        let integral = Mixture::new(rate, half(mu)).log_moment(Against::Nothing, excess).unwrap();
        prop_assert!(sum.low() <= integral.high() && integral.low() <= sum.high());
        prop_assert!(sum.high() <= integral.high() * (1.0 + 1e-9), "{sum:?} {integral:?}");
        prop_assert!(integral.high() - integral.low() <= 1e-9 * integral.high());
    }

    /// More rows, less noise and a larger order lose more; and what is replaced loses more than what
    /// is added, less than twice removed, and never more than all rows.
    #[test]
    fn losses_rise(
        at in 1_000_000_001..40_000_000_000_u128, more in 0..2_000_000_000_u128,
        rate in sizes::<units::Delta>(-6.0..-0.02), mu in 0.05..3.0_f64, stretch in 1.0..1.5_f64,
    ) {
        for loss in [added, replaced] {
            let here = loss(order(at), rate, half(mu)).unwrap();
            // Up to what is rounded.
            let less = Epsilon::from_units(here.units() - here.units() / 1_000_000_000).unwrap();
            prop_assert!(loss(order(at + more), rate, half(mu)).unwrap() >= less);
            prop_assert!(loss(order(at), rate, half(stretch * mu)).unwrap() >= less);
            let larger = rate.saturating_add(rate).min("0.999".parse().unwrap());
            prop_assert!(larger < rate || loss(order(at), larger, half(mu)).unwrap() >= less);
        }
        let (one, other) = (added(order(at), rate, half(mu)), replaced(order(at), rate, half(mu)));
        let (one, other) = (value(one.unwrap()), value(other.unwrap()));
        let alpha = at as f64 / 1e9;
        prop_assert!(one <= other * (1.0 + 1e-9) && other <= 2.0 * alpha * mu * mu * (1.0 + 1e-9));
        let rest = 1.0 - Interval::from(rate).middle();
        prop_assert!(other <= (one - rest.ln()) * (1.0 + 1e-9), "{one} {other}");
    }
}

/// Where a row is seldom in the sample, the integrand has two peaks with next to nothing between them.
#[test]
fn both_peaks_are_summed_up() {
    for (rate, mu, whole) in [("1e-30", 1.0, 200), ("1e-12", 0.5, 300), ("1e-35", 2.0, 90)] {
        let (rate, excess) = (rate.parse().unwrap(), Interval::from(whole - 1));
        let sum = log_moment_at(whole, rate, half(mu));
        let integral = Mixture::new(rate, half(mu)).log_moment(Against::Nothing, excess);
        let apart = integral.unwrap().middle() / sum.middle() - 1.0;
        assert!(
            sum.low() > 1.0 && apart.abs() < 1e-9,
            "{whole} {sum:?} {apart}"
        );
    }
}

/// Divergences from another program, with 100 digits and another quadrature.
#[test]
fn far_parameters_are_enclosed_or_bounded() {
    let loss = |of: fn(_, _, _) -> _, at: &str, rate: &str, mu: f64| -> f64 {
        value(Result::unwrap(of(
            at.parse().unwrap(),
            rate.parse().unwrap(),
            half(mu),
        )))
    };
    // Long sums, and rates next to 1.
    for (at, rate, mu, truth) in [
        ("2", "0.99999999", 0.000_429_683, 1.846_274_767_96e-7),
        ("7", "0.99999992", 0.108_342, 0.041_082_955_026_9),
        ("1157", "0.9999997", 0.000_158_76, 1.458_093_195_32e-5),
        ("349842", "0.4742", 9.064_04e-5, 3.233_851_153_38e-4),
    ] {
        let given = loss(added, at, rate, mu);
        assert!(
            (given / truth - 1.0).abs() < 1e-9,
            "{at} {rate}: {given} {truth}"
        );
    }
    // Too many places: the chord, or what follows from all rows.
    for (of, at, rate, mu, truth, excess) in [
        (
            added as fn(_, _, _) -> _,
            "1.000000001",
            "0.01",
            150.0,
            112.444_624_553_144,
            1e-3,
        ),
        (
            replaced,
            "1.000000001",
            "0.01",
            150.0,
            112.454_674_888_997,
            3.1,
        ),
        (added, "7.6", "1e-30", 66.0, 16_473.256_151_332_9, 5e-3),
        (added, "2000.5", "0.001", 5.0, 24_999.338_789_979_7, 1e-7),
    ] {
        let given = loss(of, at, rate, mu);
        let over = given / truth - 1.0;
        assert!(
            over >= -1e-12 && over < excess,
            "{at} {rate}: {given} {truth}"
        );
    }
}

#[test]
fn where_the_integral_is_too_long_a_bound_is_left() {
    let rate: Delta = "0.01".parse().unwrap();
    let more = |units| {
        let [one, other] = [added, replaced].map(|of| of(order(units), rate, half(1.0)));
        value(other.unwrap()) - value(one.unwrap())
    };
    // With ln(1/(1 − q)) = 0.0100503358535….
    let long = more(10_000_000_000_000);
    assert!((long - 0.010_050_335_853_5).abs() < 1e-9, "{long}");
    // The bound is near the truth at orders for which the integral is short enough.
    let near = more(3_000_000_000_000);
    assert!(near < long && near > 0.999 * long, "{near}");
}

/// Of all rows the curve is known, and a rate next to 1 is next to it.
#[test]
fn everybody_in_the_sample_is_no_sample() {
    let nearly = "0.9999999999999999".parse().unwrap();
    for at in ["1.000000001", "2.5", "3", "8.5"] {
        let at: Order = at.parse().unwrap();
        let alpha = Interval::from(at).middle();
        for (loss, expected) in [
            (added as fn(_, _, _) -> _, 0.5 * alpha * 0.49),
            (replaced, 2.0 * alpha * 0.49),
        ] {
            let all = value(loss(at, Delta::ONE, half(0.7)).unwrap());
            assert!((all / expected - 1.0).abs() < 1e-12, "{all} {expected}");
            let most = value(loss(at, nearly, half(0.7)).unwrap());
            assert!(
                most <= all * (1.0 + 1e-12) && most > all * (1.0 - 1e-9),
                "{most} {all}"
            );
        }
    }
}

#[test]
fn zero_rate_has_zero_loss() {
    let at = "2.5".parse().unwrap();
    for loss in [added, replaced] {
        assert_eq!(loss(at, Delta::ZERO, half(1.0)), Ok(Epsilon::ZERO));
        // Rounded up.
        let still = loss(at, "0.5".parse().unwrap(), Interval::ZERO).unwrap();
        assert!(still.units() <= 1, "{still}");
    }
}
