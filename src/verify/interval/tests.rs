//! Certified, against tables and another precision.

use dashu_float::FBig;

use dashu_int::{IBig, UBig};

use super::*;
use crate::verify::Rational;

fn ratio(numerator: i64, denominator: u64) -> Rational {
    Rational::from_parts(numerator.into(), denominator.into())
}

/// Thirty decimals, from a table.
fn assert_is(interval: &Interval, digits: &str) {
    let (whole, fraction) = digits.split_once('.').unwrap();
    let units = format!("{whole}{fraction}").parse::<IBig>().unwrap();
    let unit = Rational::from_parts(IBig::ONE, UBig::from(10_u8).pow(fraction.len()));
    let low = Rational::from(units) * &unit;
    assert!(
        *interval.low() < &low + &unit && *interval.high() >= low,
        "{interval}"
    );
    assert!(interval.high() - interval.low() < unit, "{interval}");
}

#[test]
fn exponentials_are_certified() {
    for (x, value) in [
        (ratio(1, 1), "2.718281828459045235360287471352"),
        (ratio(1, 10), "1.105170918075647624811707826490"),
        (ratio(10, 1), "22026.465794806716516957900645284244"),
    ] {
        assert_is(&Interval::exp(&x).unwrap(), value);
    }
    assert_eq!(Interval::exp(&Rational::ZERO), Some(Rational::ONE.into()));
    assert_eq!(Interval::exp(&ratio(-1, 1)), None);
    assert_eq!(Interval::exp(&ratio(1001, 1)), None);
}

#[test]
fn logarithms_are_certified() {
    for (x, value) in [
        (ratio(2, 1), "0.693147180559945309417232121458"),
        (ratio(3, 1), "1.098612288668109691395245236922"),
        (ratio(11, 10), "0.095310179804324860043952123280"),
    ] {
        assert_is(&Interval::ln(&x).unwrap(), value);
    }
    assert_eq!(Interval::ln(&Rational::ONE), Some(Interval::ZERO));
    assert_eq!(Interval::ln(&ratio(9, 10)), None);
}

#[test]
fn exponential_and_logarithm_undo_each_other() {
    for x in [ratio(1, 7), ratio(3, 2), ratio(500, 3)] {
        let there = Interval::exp(&x).unwrap();
        let (low, high) = (Interval::ln(there.low()), Interval::ln(there.high()));
        assert!(
            *low.unwrap().low() <= x && *high.unwrap().high() >= x,
            "{x}"
        );
    }
}

#[test]
fn both_ends_are_shown_unless_they_agree() {
    let shown = |low, high| Interval::between(low, high).to_string();
    assert_eq!(shown(ratio(1, 10), ratio(9, 10)), "[1/10, 9/10]");
    assert_eq!(
        shown(ratio(0, 1), ratio(1, 1_000_000_000)),
        "[0, 1/1000000000]"
    );
    // Zeros say nothing, and long fractions are rounded outward.
    let tiny = ratio(1, 3_000_000_000_000);
    assert_eq!(
        shown(tiny.clone(), &tiny + &tiny),
        "[3.3333e-13, 6.6667e-13]"
    );
    let small = ratio(1, 3000);
    assert_eq!(shown(small.clone(), &small + &small), "[1/3000, 1/1500]");
    let odd = ratio(1_000_000_007, 3_000_000_000_000);
    assert_eq!(shown(odd.clone(), &odd + &odd), "[0.00033333, 0.00066667]");
    let large = ratio(1 << 60, 7);
    assert_eq!(
        shown(large.clone(), &large + &large),
        "[1.6470e17, 3.2941e17]"
    );
    assert_eq!(shown(ratio(123_456, 1000), ratio(123_459, 1000)), "123.45…");
}

#[test]
fn a_long_fraction_is_shown_in_short_and_in_full_on_request() {
    let long = Interval::exact(ratio(2, 3).pow(100));
    assert_eq!(long.to_string(), "2.459654426e-18…");
    assert_eq!(
        format!("{long:#}"),
        "1267650600228229401496703205376/515377520732011331036461129765621272702107522001"
    );
    assert_eq!(Interval::exact(ratio(3, 4)).to_string(), "3/4");
    let e = Interval::exp(&ratio(1, 1)).unwrap();
    assert_eq!(e.to_string(), "2.718281828…");
    assert!(format!("{e:#}").starts_with('['));
    assert_eq!(Interval::ZERO.to_string(), "0");
}

#[test]
fn nothing_is_negative() {
    assert_eq!(Interval::exact(ratio(-1, 2)), Interval::ZERO);
    assert_eq!(Interval::from(ratio(-1, 2)), Interval::ZERO);
    assert_eq!(
        Interval::between(ratio(1, 3), ratio(-1, 3)),
        Interval::between(ratio(0, 1), ratio(1, 3))
    );
    assert!(Interval::between(ratio(-2, 1), ratio(-1, 3)).is_zero());
    // A power of it terminates.
    let none = Interval::exact(ratio(-1, 2)).rational_power(&ratio(5, 2));
    assert_eq!(none, Some(Interval::ZERO));
}

/// A number of another make, at 400 bits.
fn precise(x: &Rational) -> FBig {
    let part = |part: IBig| FBig::from(part).with_precision(400).value();
    part(x.numerator().clone()) / part(x.denominator().clone().into())
}

/// The interval holds this number strictly: another precision has other digits at the end.
fn assert_holds(interval: &Interval, truth: &FBig, x: &Rational) {
    assert!(precise(interval.low()) < *truth, "{x}: {interval}");
    assert!(precise(interval.high()) > *truth, "{x}: {interval}");
}

#[test]
fn another_precision_agrees() {
    // At 1/2 the rest of the series is largest; small arguments have no halvings to hide
    // behind.
    for x in [
        ratio(1, 2),
        ratio(1, 7),
        ratio(3, 10),
        ratio(500, 3),
        ratio(999, 1),
    ] {
        assert_holds(&Interval::exp(&x).unwrap(), &precise(&x).exp(), &x);
    }
    for x in [
        ratio(2, 1),
        ratio(3, 1),
        ratio(4, 3),
        ratio(1999, 1000),
        ratio(1 << 40, 3),
    ] {
        assert_holds(&Interval::ln(&x).unwrap(), &precise(&x).ln(), &x);
    }
}

#[test]
fn powers_of_an_interval_hold_those_of_both_ends() {
    let root = Interval::between(ratio(4, 9), ratio(9, 4))
        .rational_power(&ratio(1, 2))
        .unwrap();
    assert!(
        *root.low() <= ratio(2, 3) && *root.high() >= ratio(3, 2),
        "{root}"
    );
    assert!(root.high() - root.low() < ratio(84, 100), "{root}");
}

#[test]
fn powers_hold_the_truth() {
    let root = Interval::exact(ratio(9, 4))
        .rational_power(&ratio(1, 2))
        .unwrap();
    assert!(*root.low() <= ratio(3, 2) && *root.high() >= ratio(3, 2));
    let below_one = Interval::exact(ratio(4, 9))
        .rational_power(&ratio(3, 2))
        .unwrap();
    assert!(*below_one.low() <= ratio(8, 27) && *below_one.high() >= ratio(8, 27));
    assert!(below_one.high() - below_one.low() < ratio(1, 1 << 60));
}

#[test]
fn differences_stop_at_zero() {
    let small = Interval::between(ratio(1, 4), ratio(1, 2));
    let large = Interval::exact(ratio(3, 8));
    assert_eq!(
        small.minus(&large),
        Interval::between(ratio(0, 1), ratio(1, 8))
    );
    assert_eq!(large.minus(&Interval::exact(ratio(1, 1))), Interval::ZERO);
    assert_eq!(small.over(&Interval::ZERO), None);
}

#[test]
fn what_is_rounded_is_rounded_outward() {
    let small = Interval::between(ratio(1, 5), ratio(1, 2));
    let third = Interval::exact(ratio(1, 3));
    let product = small.times(&third);
    assert!(*product.low() < ratio(1, 15) && *product.high() > ratio(1, 6));
    let quotient = third
        .over(&Interval::between(ratio(1, 2), ratio(7, 1)))
        .unwrap();
    assert!(*quotient.low() < ratio(1, 21) && *quotient.high() > ratio(2, 3));
    let difference = small.minus(&Interval::exact(ratio(1, 7)));
    assert!(*difference.low() < ratio(2, 35) && *difference.high() > ratio(5, 14));
}
