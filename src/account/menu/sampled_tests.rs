//! Gaussians on samples against their densities, and the filter on them.

use proptest::prelude::*;

use super::{Detail, MenuError, SampledGaussians, sampled};
use crate::account::ContinuationRule;
use crate::account::Exceeded;
use crate::number::{Delta, Interval, Mu, Scale};
use crate::privacy::EpsilonDelta;
use crate::tests::oracle::{self, Real, quantity, real};

fn pair(epsilon: &str, delta: &str) -> EpsilonDelta {
    EpsilonDelta::new(epsilon, delta).unwrap()
}

/// Φ(−t) for every t.
fn tail(t: &Real) -> Real {
    if *t < real(0.0) {
        real(1.0) - oracle::tail(&oracle::abs(t))
    } else {
        oracle::tail(t)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// From the densities: H(s) = qΦ(μ − x) + (1 − q − γ)Φ(−x), where x is where P = γQ.
    #[test]
    fn the_excess_of_a_sampled_gaussian_is_rounded_up(
        s in prop_oneof![-0.05..0.05_f64, 0.0..1.5], rate in 1..50_u32, noise in 0.3..1.2_f64,
    ) {
        let rate = Delta::from_units(u128::from(rate) * 10_u128.pow(36)).unwrap();
        let mu = Mu::try_from((noise * 1e6).round() / 1e6).unwrap();
        let bound = sampled::excess(rate, mu, Interval::exactly(s));
        let (q, mu, gamma) = (quantity(rate), quantity(mu), oracle::exp(&real(s)));
        let nothing = if s < 0.0 { real(1.0) - &gamma } else { real(0.0) };
        let odds = (gamma.clone() - real(1.0) + &q) / &q;
        if odds <= real(0.0) {
            prop_assert_eq!(bound, 0.0);
            return Ok(());
        }
        let x = oracle::ln(&odds) / &mu + &mu / real(2.0);
        let inside = &q * tail(&(&x - &mu)) - (&gamma - real(1.0) + &q) * tail(&x);
        let exact = inside - nothing;
        prop_assert!(exact <= real(bound), "{exact} {bound}");
        prop_assert!(real(bound) <= &exact * real(1.0 + 1e-9) + real(1e-37), "{exact} {bound}");
    }
}

/// The other direction is e^s W(−s), which is w·δ(ln(γq/w)) with w = 1 − γ(1 − q), where δ is the profile
/// of N(5, 1) against N(0, 1): in 80 digits (mpmath), at s = 35.
#[test]
fn the_other_direction_of_rates_next_to_one_loses_no_digits() {
    for (rate, exact) in [
        ("0.999999999", 0.0),
        ("0.9999999999999999", 1.234_778_246_412_825_6e-6),
        ("0.99999999999999999999", 1.733_175_029_076_178_7e-6),
        ("1", 1.733_228_916_226_941e-6),
    ] {
        let at = Interval::exactly(-35.0);
        let excess = sampled::excess(rate.parse().unwrap(), "5".parse().unwrap(), at);
        let back = excess * 35.0_f64.exp();
        assert!(
            back >= exact * (1.0 - 1e-14) && back <= exact * (1.0 + 1e-11),
            "{rate}: {back}"
        );
    }
}

fn sampled_menu(sigmas: &[&str]) -> Result<SampledGaussians, MenuError> {
    let sigmas: Vec<Scale> = sigmas.iter().map(|sigma| sigma.parse().unwrap()).collect();
    let detail = Detail {
        step: "0.005".parse().unwrap(),
        ratio: 4,
        cheapest: 4,
    };
    let target = pair("2", "1e-3");
    SampledGaussians::new("0.1".parse().unwrap(), &sigmas, 5, target, detail)
}

#[test]
fn leases_of_sampled_gaussians_are_paid_and_used_up() {
    let menu = sampled_menu(&["3", "1.5"]).unwrap();
    assert_eq!(menu.costs().len(), 2);
    assert!(menu.costs()[0] < menu.costs()[1], "{:?}", menu.costs());
    let limit = pair("2", "1e-3");
    let mut filter = menu.filter(limit).unwrap();
    assert_eq!(filter.spent(), pair("0", "0"));
    let weak: Mu = "0.3".parse().unwrap();
    let mut counts = 0;
    let mut readings = Vec::new();
    while let Ok(next) = filter.charge(&weak) {
        filter = next;
        counts += 1;
        readings.push(filter.spent().delta);
        assert!(filter.spent() <= limit);
    }
    assert!(counts > 20 && counts % 5 == 0, "{counts}");
    // Five launches are one lease.
    assert_eq!(readings[0], readings[4]);
    assert!(readings[4] < readings[5]);
    assert_eq!(filter.remaining(), Mu::ZERO);
    assert_eq!(filter.charge(&"1".parse().unwrap()), Err(Exceeded));
    assert_eq!(filter.charge(&Mu::ZERO).map(|_| ()), Ok(()));
}

#[test]
fn bad_sampled_menus_are_errors() {
    assert_eq!(sampled_menu(&[]).unwrap_err(), MenuError::Empty);
    let little = sampled_menu(&["0.05"]).unwrap_err();
    assert!(matches!(
        little,
        MenuError::OutOfRange {
            what: "the noise of a sampled Gaussian",
            ..
        }
    ));
    let menu = sampled_menu(&["2"]).unwrap();
    let plan = [("1".parse().unwrap(), 3)];
    let error = menu.cost_of(&plan).unwrap_err();
    assert!(matches!(
        error,
        MenuError::OutOfRange {
            what: "the noise σ",
            ..
        }
    ));
}
