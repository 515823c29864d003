use proptest::prelude::*;

use super::*;
use crate::privacy::fdp::Profile;

fn pair(epsilon: &str, delta: &str) -> EpsilonDelta {
    EpsilonDelta::new(epsilon, delta).unwrap()
}

fn sampled(rate: &str, mu: &str) -> RepeatedMechanism {
    let (rate, mu) = (rate.parse().unwrap(), mu.parse().unwrap());
    RepeatedMechanism::new(Profile::sampled_gaussian_by(rate, mu))
}

/// `truth` fit. Bounds leave a share of it open on both sides, which falls with the precision, and
/// some numbers entirely, unless they are computed finely.
fn searched(start: u64, cap: u64, truth: u64, open: impl Fn(u64, f64) -> bool) -> u64 {
    let mut last = None;
    let most = largest(start, cap, |units, precision| {
        assert!(units >= 1 && units <= cap, "{units}");
        assert_ne!(last.replace((units, precision)), Some((units, precision)));
        let excess = 30.0 * (units as f64 / (truth as f64 + 0.5)).ln();
        let decided = excess.abs() > 300.0 * precision && !open(units, precision);
        Ok(Tried {
            fits: decided.then_some(units <= truth),
            excess,
        })
    });
    most.unwrap()
}

#[test]
fn a_number_that_is_left_open_rules_out_nothing() {
    let never = |_, _| false;
    // From 47 on to 2000, the first bounds decide nothing.
    let floor = |units: u64, precision: f64| precision > 5e-3 && (47..2000).contains(&units);
    for truth in [1, 2, 3, 47, 100, 3000, 68_886, 70_000] {
        for most in [
            searched(1, MOST, truth, never),
            searched(1, MOST, truth, floor),
        ] {
            // The finest bounds leave 300 · 3e-5 / 30 of it open.
            let least = truth - truth * 4 / 10_000;
            assert!((least..=truth).contains(&most), "{most} of {truth}");
            assert!(truth > 100 || most == truth, "{most} of {truth}");
        }
    }
}

#[test]
fn a_cap_that_fits_is_tried_first_and_a_cap_that_does_not_is_searched_below() {
    let never = |_, _| false;
    let always = |_, _| true;
    assert_eq!(searched(500, 500, 1000, never), 500);
    assert_eq!(searched(1001, 1001, 1000, never), 1000);
    assert_eq!(searched(999, 999, 1000, never), 999);
    assert_eq!(searched(MOST, MOST, 1000, never), 1000);
    // Nothing is certified, so nothing is admitted.
    assert_eq!(searched(1, 1000, 1000, always), 0);
    assert_eq!(searched(1000, 1000, 1000, always), 0);
    // An error ends the search.
    let error = largest(1, 9, |_, _| Err(FdpError::NoParts));
    assert_eq!(error, Err(FdpError::NoParts));
}

#[test]
fn few_numbers_are_tried() {
    let mut tries = 0;
    let most = largest(1, MOST, |units, _| {
        tries += 1;
        // Far from linear.
        let excess = (units as f64 / 1e6).powi(4) - 1.0;
        let fits = Some(excess <= 0.0);
        Ok(Tried { fits, excess })
    });
    assert_eq!(most, Ok(1_000_000));
    assert!(tries <= 45, "{tries}");
}

/// By an integral along a line in the complex plane, with no grid: 19 launches have a δ of 9.637e-13,
/// and 20 of 1.021e-12.
#[test]
fn small_deltas_admit_as_many_as_fit() {
    assert_eq!(
        most(&sampled("0.01", "1"), pair("2.5", "1e-12")),
        Ok(Repetitions(19))
    );
}

/// Here removing a person's data tells more. With the laws exchanged, adding it does.
#[test]
fn the_worse_direction_decides() {
    let exchanged = RepeatedMechanism::new(sampled("0.01", "1").base().reversed());
    let limit = pair("2.5", "1e-12");
    assert_eq!(most(&exchanged, limit), Ok(Repetitions(19)));
    let read = |chain: &RepeatedMechanism| reading(chain, Repetitions(12), limit).unwrap();
    assert_eq!(read(&exchanged), read(&sampled("0.01", "1")));
    assert!(read(&exchanged) > Delta::ZERO);
}

/// By the same integral, 2748 have a δ of 9.997e-10 and 2749 of 1.0005e-9.
#[test]
fn small_deltas_admit_thousands() {
    let Repetitions(most) = most(&sampled("0.001", "1"), pair("0.5", "1e-9")).unwrap();
    assert!((2735..=2748).contains(&most), "{most}");
}

#[test]
fn a_pure_base_admits_what_adding_up_admits() {
    let laplace = RepeatedMechanism::new(Profile::laplace("0.1".parse().unwrap()));
    for delta in ["0", "1e-30", "1e-15"] {
        let Repetitions(most) = most(&laplace, pair("1", delta)).unwrap();
        assert!(most >= 10, "{most} at {delta}");
    }
    // Exactly: ε add up, and one more would need a δ.
    assert_eq!(most(&laplace, pair("1", "0")), Ok(Repetitions(10)));
    let range = RepeatedMechanism::new(Profile::bounded_range("0.5".parse().unwrap()));
    assert_eq!(most(&range, pair("1.5", "0")), Ok(Repetitions(3)));
    let discrete = RepeatedMechanism::new(Profile::discrete_laplace("0.2".parse().unwrap(), 2));
    assert_eq!(most(&discrete, pair("0.99", "0")), Ok(Repetitions(4)));
    // Steps that do not divide ε: that of a real sum over 0..=99.9, and of a variance.
    for steps in [1_636_762, 3 << 40] {
        let fine = RepeatedMechanism::new(Profile::discrete_laplace("0.5".parse().unwrap(), steps));
        assert_eq!(most(&fine, pair("1", "0")), Ok(Repetitions(2)));
        assert_eq!(most(&fine, pair("0.999", "0")), Ok(Repetitions(1)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    #[test]
    fn more_budget_never_admits_less(
        rate in prop_oneof![Just("0.05"), Just("0.1"), Just("0.3")],
        mu in prop_oneof![Just("1"), Just("2")],
        epsilon in 50..150_u32,
        more in 0..50_u32,
        digits in (4..15_u32, 0..4_u32),
    ) {
        let base = sampled(rate, mu);
        let at = |hundredths: u32, digits: u32| {
            let epsilon = format!("{hundredths}e-2");
            most(&base, pair(&epsilon, &format!("1e-{digits}"))).unwrap()
        };
        let (large, small) = (digits.0, digits.0 + digits.1);
        let least = at(epsilon, small);
        prop_assert!(at(epsilon, large) >= least);
        prop_assert!(at(epsilon + more, small) >= least);
    }

    #[test]
    fn more_budget_never_admits_less_of_a_pure_base(
        each in prop_oneof![Just("0.1"), Just("0.27"), Just("0.5")],
        epsilon in 10..250_u32,
        more in 0..100_u32,
        digits in (4..30_u32, 0..4_u32),
    ) {
        let base = RepeatedMechanism::new(Profile::laplace(each.parse().unwrap()));
        let at = |hundredths: u32, delta: &str| {
            most(&base, pair(&format!("{hundredths}e-2"), delta)).unwrap()
        };
        let (large, small) = (format!("1e-{}", digits.0), format!("1e-{}", digits.0 + digits.1));
        let least = at(epsilon, &small);
        prop_assert!(at(epsilon, "0") <= least);
        prop_assert!(at(epsilon, &large) >= least);
        prop_assert!(at(epsilon + more, &small) >= least);
    }
}
