//! Every rounding is outward, and within 1e-9: against the formulas as printed, at 256 bits, over
//! random and extreme arguments.

use std::num::NonZeroU64;

use super::*;
use crate::number::{Mu, Order, Rho, Scale};
use crate::tests::oracle::{
    self, Real, at_least_zero, better_epsilon, deltas, epsilon_of, epsilons, exp, float,
    is_above_given_terms, is_just_above, least_near, ln, orders, quantity, real, sizes, sqrt,
};
use proptest::prelude::*;

/// Canonne, Kamath, Steinke: ln δ at an order.
fn log_delta_of(order: &Real, tau: &Real, epsilon: &Real) -> Real {
    let excess = order.clone() - real(1.0);
    let shrink = ln(&(excess.clone() / order));
    &excess * (tau - epsilon) - ln(&excess) + order * &shrink
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn zcdp_losses_are_rounded_up(rho in sizes::<crate::number::units::Rho>(-18.0..3.0), delta in deltas()) {
        let (exact, target) = (quantity(rho), quantity(delta));
        let simple = &exact + real(2.0) * sqrt(&(-ln(&target) * &exact));
        is_just_above(zcdp::epsilon_simple(rho, delta).unwrap(), &simple);
        let tight = better_epsilon(&exact, &target);
        is_above_given_terms(zcdp::epsilon(rho, delta).unwrap(), &tight, &simple);
    }

    #[test]
    fn zcdp_deltas_are_rounded_up(rho in sizes::<crate::number::units::Rho>(-6.0..1.0), ratio in 1.0..12.0) {
        let size = float(&quantity(rho));
        let epsilon = Interval::exactly(ratio * size.sqrt()).up().unwrap();
        let (exact, target) = (quantity(rho), quantity(epsilon));
        let goal = float(&target);
        let hint = search::lowest(-20.0, 45.0, |log_excess| {
            let excess = log_excess.exp();
            excess * ((1.0 + excess) * size - goal - (1.0 / excess).ln_1p()) - excess.ln_1p()
        });
        let log = least_near(hint, |order| log_delta_of(order, &(&exact * order), &target));
        is_just_above(zcdp::delta(rho, epsilon), &exp(&log));
    }

    #[test]
    fn zcdp_budgets_are_rounded_down(epsilon in epsilons(), delta in deltas()) {
        let (target, exact) = (quantity(epsilon), quantity(delta));
        let log = -ln(&exact);
        let root = sqrt(&(&log + &target)) - sqrt(&log);
        let simple = zcdp::budget_simple(epsilon, delta).unwrap();
        let truth = &root * &root;
        prop_assert!(quantity(simple) <= truth);
        prop_assert!(quantity(simple) >= &truth * real(1.0 - 1e-9) - real(1e-27));
        let rho = zcdp::budget(epsilon, delta).unwrap();
        prop_assert!(rho >= simple);
        if rho.units() > 10_u128.pow(11) {
            prop_assert!(better_epsilon(&quantity(rho), &exact) <= target);
            let more = quantity(rho) * real(1.0 + 1e-9);
            prop_assert!(better_epsilon(&more, &exact) > target);
        }
    }

    #[test]
    fn renyi_conversions_are_rounded_outward(order in orders(), loss in epsilons(), delta in deltas()) {
        let (alpha, tau, target) = (quantity(order), quantity(loss), quantity(delta));
        let excess = &alpha - real(1.0);
        let simple = &tau - ln(&target) / &excess;
        is_just_above(rdp::epsilon_simple(order, loss, delta).unwrap(), &simple);
        let truth = epsilon_of(&alpha, &tau, &target);
        let epsilon = rdp::epsilon(order, loss, delta).unwrap();
        is_above_given_terms(epsilon, &at_least_zero(truth), &simple);
        // And back: the budget for that ε is at least the loss, but for rounding.
        if let Ok(budget) = rdp::budget(order, epsilon, delta) {
            let truth = quantity(epsilon) - (epsilon_of(&alpha, &tau, &target) - &tau);
            prop_assert!(quantity(budget) <= truth);
            prop_assert!(quantity(budget) >= &truth * real(1.0 - 1e-9) - &simple * real(1e-14));
        }
        let log = log_delta_of(&alpha, &tau, &quantity(epsilon));
        if log < real(0.0) && log > real(-80.0) {
            let given = rdp::delta(order, loss, epsilon);
            prop_assert!(quantity(given) >= exp(&log));
            // As precise as the exponent: (α − 1) times what floats lose in ε.
            let margin = real(1e-9) + excess * (simple + real(1.0)) * real(1e-14);
            prop_assert!(quantity(given) <= exp(&log) * (real(1.0) + margin) + real(1e-38));
        }
    }

    #[test]
    fn the_curve_of_pure_mechanisms_is_rounded_up(order in orders(), epsilon in epsilons()) {
        let (alpha, exact) = (quantity(order), quantity(epsilon));
        let truth = oracle::randomized_response(&alpha, &exact);
        let given = rdp::pure(order, epsilon);
        is_just_above(given, &truth);
        // No more than what zCDP says, and no more than ε.
        prop_assert!(truth <= &alpha * &exact * &exact / real(2.0));
        prop_assert!(given <= epsilon);
    }

    #[test]
    fn the_curve_of_laplace_noise_is_rounded_up(order in orders(), scale in sizes::<crate::number::units::Scale>(-2.0..6.0)) {
        let (alpha, ratio) = (quantity(order), real(1.0) / quantity(scale));
        let excess = &alpha - real(1.0);
        let both = &alpha + &excess;
        let moment = &alpha / &both * exp(&(&excess * &ratio)) + &excess / &both * exp(&-(&alpha * &ratio));
        let sensitivity: Scale = "1".parse().unwrap();
        is_just_above(rdp::laplace(order, sensitivity, scale).unwrap(), &(ln(&moment) / excess));
        let gaussian = alpha * &ratio * &ratio / real(2.0);
        is_just_above(rdp::gaussian(order, sensitivity, scale).unwrap(), &gaussian);
    }

    #[test]
    fn the_curve_of_discrete_laplace_noise_is_rounded_up(
        order in orders(), steps in 1..30_u64, epsilon in sizes::<crate::number::units::Epsilon>(-3.0..1.0),
    ) {
        let (alpha, exact) = (quantity(order), quantity(epsilon));
        let excess = &alpha - real(1.0);
        let step = &exact / real(steps as f64);
        let q = exp(&-&step);
        let moment = |d: i64| {
            // Below 0 and from d on the terms fall by q.
            let both = exp(&(&excess * &step * real(d as f64))) + exp(&-(&alpha * &step * real(d as f64)));
            let between = (1..d).map(|k| {
                let exponent = &alpha * real(k as f64) - &excess * real((d - k) as f64);
                exp(&-(exponent * &step))
            });
            (real(1.0) - &q) / (real(1.0) + &q)
                * between.fold(both / (real(1.0) - &q), |sum, term| sum + term)
        };
        let truth = ln(&moment(steps as i64)) / &excess;
        let given = rdp::discrete_laplace(order, NonZeroU64::new(steps).unwrap(), epsilon);
        prop_assert!(quantity(given) >= truth);
        prop_assert!(quantity(given) <= &truth * real(1.0 + 1e-9) + real(1e-14) / &excess);
        // No less for a smaller change, and between the two that it lies between.
        prop_assert!(moment(steps as i64 + 1) >= moment(steps as i64));
        prop_assert!(given <= rdp::pure(order, epsilon));
    }

    #[test]
    fn the_curve_of_subsampled_noise_is_rounded_up(
        order in 2..70_u32, rate in sizes::<crate::number::units::Delta>(-6.0..-0.01), sigma in sizes::<crate::number::units::Scale>(-0.7..2.0),
    ) {
        let (q, noise) = (quantity(rate), quantity(sigma));
        let mut weight = exp(&(real(f64::from(order)) * ln(&(real(1.0) - &q))));
        let mut moment = weight.clone();
        for k in 1..=order {
            weight = weight * real(f64::from(order - k + 1)) / real(f64::from(k)) * &q / (real(1.0) - &q);
            let exponent = real(f64::from(k) * f64::from(k - 1)) / (real(2.0) * &noise * &noise);
            moment += &weight * exp(&exponent);
        }
        let truth = ln(&moment) / real(f64::from(order - 1));
        let sensitivity: Scale = "1".parse().unwrap();
        let order = order.to_string().parse().unwrap();
        is_just_above(rdp::subsampled_gaussian(order, rate, sensitivity, sigma).unwrap(), &truth);
    }

    #[test]
    fn pdp_is_rounded_up(epsilon in epsilons(), delta in deltas()) {
        let loss = EpsilonDelta { epsilon, delta };
        let (exact, chance) = (quantity(epsilon), quantity(delta));
        let sound = chance * (real(1.0) + exp(&(&exact * real(-2.0)))) / (real(1.0) - exp(&-&exact));
        let given = probabilistic(loss).unwrap();
        if sound <= real(1.0) {
            is_just_above(given.delta, &sound);
        } else {
            prop_assert_eq!(given.delta, Delta::ONE);
        }
    }
}

/// δ(ε) of μ-GDP, as printed.
fn gaussian_delta(mu: &Real, epsilon: &Real) -> Real {
    let (middle, half) = (epsilon / mu, mu / real(2.0));
    oracle::cdf(&(&half - &middle)) - exp(epsilon) * oracle::cdf(&(-half - middle))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn gaussian_conversions_are_rounded_outward(mu in sizes::<crate::number::units::Mu>(-9.0..0.7), ratio in 0.01..11.0) {
        let size = float(&quantity(mu));
        let epsilon: Epsilon = Interval::exactly(ratio * size).up().unwrap();
        let truth = gaussian_delta(&quantity(mu), &quantity(epsilon));
        let delta = gdp::delta(mu, epsilon);
        is_just_above(delta, &truth);
        if delta.units() > 10_u128.pow(12) {
            // From that δ back to ε and to μ: certified, and not by much too far.
            let back = gdp::epsilon(mu, delta).unwrap();
            prop_assert!(gaussian_delta(&quantity(mu), &quantity(back)) <= quantity(delta));
            let less = quantity(back) * real(1.0 - 1e-9) - real(1e-27);
            prop_assert!(gaussian_delta(&quantity(mu), &less) > quantity(delta));
            let budget = gdp::budget(epsilon, delta);
            prop_assert!(gaussian_delta(&quantity(budget), &quantity(epsilon)) <= quantity(delta));
            let more = quantity(budget) * real(1.0 + 1e-9) + real(1e-27);
            prop_assert!(gaussian_delta(&more, &quantity(epsilon)) > quantity(delta));
        }
    }

    #[test]
    fn the_tradeoff_function_is_rounded_down(mu in sizes::<crate::number::units::Mu>(-9.0..0.7), z in -5.0_f64..5.0) {
        let chance = float(&oracle::cdf(&real(-z)));
        let alarms: Delta = Interval::exactly(chance).up().unwrap();
        // Newton's steps to the z with Φ(−z) = α: each squares the error of 1e-16.
        let mut exact = real(z);
        for _ in 0..2 {
            let error = oracle::cdf(&-&exact) - quantity(alarms);
            exact += error / oracle::density(&exact);
        }
        let truth = oracle::cdf(&(exact - quantity(mu)));
        let given = quantity(gdp::tradeoff(mu, alarms));
        prop_assert!(given <= truth);
        prop_assert!(given >= truth * real(1.0 - 1e-9));
    }

    #[test]
    fn pure_mechanisms_are_gaussian(epsilon in epsilons()) {
        let mu = gdp::pure(epsilon).unwrap();
        let corner = |mu: &Real| oracle::cdf(&(mu / real(-2.0)));
        let truth = real(1.0) / (real(1.0) + exp(&quantity(epsilon)));
        prop_assert!(corner(&quantity(mu)) <= truth);
        prop_assert!(corner(&(quantity(mu) * real(1.0 - 1e-9))) > truth);
    }
}

#[test]
fn the_ends_of_the_scale() {
    let (zero, one) = (Epsilon::ZERO, Delta::ONE);
    let mu: Mu = "1".parse().unwrap();
    let needs = Err(UnknownLoss("this conversion needs δ > 0"));
    assert_eq!(gdp::delta(Mu::ZERO, zero), Delta::ZERO);
    assert_eq!(gdp::epsilon(Mu::ZERO, Delta::ZERO), Ok(zero));
    assert_eq!(gdp::epsilon(mu, Delta::ZERO), needs);
    assert_eq!(gdp::epsilon(mu, one), Ok(zero));
    assert_eq!(gdp::budget(zero, Delta::ZERO), Mu::ZERO);
    assert_eq!(gdp::budget(zero, one).to_string(), "340000000000");
    assert_eq!(gdp::tradeoff(mu, Delta::ZERO), one);
    assert_eq!(gdp::tradeoff(mu, one), Delta::ZERO);
    // Φ⁻¹(½) is exactly 0, so that nothing is rounded but the last digits.
    let (truth, half) = (oracle::cdf(&real(-1.0)), "0.5".parse().unwrap());
    let given = quantity(gdp::tradeoff(mu, half));
    let margin = &truth / oracle::power_of_ten(24);
    assert!(given <= truth && given >= truth - margin, "{given}");
    assert_eq!(gdp::pure(zero), Ok(Mu::ZERO));
    // Less than √(8ε), where the exponential is out of reach.
    let far = gdp::pure("20000".parse().unwrap()).unwrap();
    assert_eq!(format!("{far:.5}"), "399.93783");
    assert_eq!(zcdp::epsilon(Rho::ZERO, Delta::ZERO), Ok(zero));
    assert_eq!(zcdp::epsilon("1".parse().unwrap(), Delta::ZERO), needs);
    assert_eq!(zcdp::delta(Rho::ZERO, zero), Delta::ZERO);
    assert_eq!(zcdp::delta("100".parse().unwrap(), zero), one);
    assert_eq!(
        zcdp::budget(zero, Delta::ZERO),
        Err(UnknownLoss("this conversion needs δ > 0"))
    );
    let large: Epsilon = "3.4e11".parse().unwrap();
    let order: Order = "1e9".parse().unwrap();
    assert_eq!(rdp::pure(order, large), large);
    assert_eq!(
        rdp::epsilon(order, large, "1e-30".parse().unwrap()),
        Err(UnknownLoss("the loss is more than can be held"))
    );
    let scale: Scale = "1".parse().unwrap();
    let half: Delta = "0.5".parse().unwrap();
    for sampled in [rdp::subsampled_gaussian, rdp::subsampled_gaussian_replaced] {
        let at = |order: &str, rate: Delta| sampled(order.parse().unwrap(), rate, scale, scale);
        // Where the sum is too long, what follows from all rows is left.
        for order in ["1000000.000000001", "1000001", "1000000000"] {
            let (some, all) = (at(order, half).unwrap(), at(order, one).unwrap());
            let share = Interval::from(some).middle() / Interval::from(all).middle();
            assert!(share < 1.0 + 1e-12 && share > 0.25, "{order} {share}");
        }
    }
    // Everything is (ε, 1)-DP.
    let rho = "1000".parse().unwrap();
    assert_eq!(zcdp::epsilon(rho, one), Ok(Epsilon::ZERO));
    assert_eq!(zcdp::budget(Epsilon::ZERO, one), Ok(Rho::LARGEST));
    // So near 1 that floats do not tell: as for all rows.
    let nearly = "0.99999999999999999999".parse().unwrap();
    let three = "3".parse().unwrap();
    assert_eq!(
        rdp::subsampled_gaussian(three, nearly, scale, scale),
        rdp::subsampled_gaussian(three, one, scale, scale)
    );
}

/// With q = a/b all sums are fractions: Σ P^α Q^(1−α) ≤ e^(α(α−1)ρ) for whole orders and every change of
/// up to k steps, where e^ρ = q^−c with the fraction c = k − 2q(1 − q^k)/(1 − q²).
#[test]
fn small_discrete_laplace_noise_is_concentrated_in_fractions() {
    use dashu_int::{IBig, UBig};
    use dashu_ratio::RBig;
    let one = RBig::ONE;
    for (a, b) in [(1_u128, 5_u128), (1, 3), (1, 2), (2, 3), (4, 5)] {
        let q = RBig::from_parts(a.into(), b.into());
        for steps in 1..=4_isize {
            let c =
                RBig::from(steps) - RBig::from(2) * &q * (&one - q.pow(steps)) / (&one - q.pow(2));
            let (numerator, denominator) = c.into_parts();
            let power = isize::try_from(denominator.clone()).unwrap();
            for (order, change) in [2, 3, 5]
                .into_iter()
                .flat_map(|order| (1..=steps).map(move |d| (order, d)))
            {
                // P(j)^α P(j − d)^(1−α) = (1 − q)/(1 + q) · q^(α|j| + (1−α)|j − d|).
                let ends = q.pow(order * change) + q.pow((1 - order) * change);
                let between = (1..change).map(|j| q.pow(order * j + (1 - order) * (change - j)));
                let sum = between.fold(ends / (&one - &q), |sum, term| sum + term);
                let moment = sum * (&one - &q) / (&one + &q);
                let exponent = IBig::from(order * (order - 1)) * &numerator;
                let most = q.pow(-isize::try_from(exponent).unwrap());
                assert!(
                    moment.pow(power) <= most,
                    "{a}/{b}, {change} of {steps} steps, order {order}"
                );
            }
            // And c·ln(1/q) is what is charged.
            let step = oracle::ln(&(oracle::whole(b) / oracle::whole(a)));
            let real_of = |number: UBig| oracle::power_of_ten(0) * Real::from(IBig::from(number));
            let truth = &step * real_of(numerator.try_into().unwrap()) / real_of(denominator);
            let units = step * oracle::whole(steps as u128) * oracle::power_of_ten(27);
            let units = u128::try_from(units.ceil().to_int().value()).unwrap();
            let steps = NonZeroU64::new(steps as u64).unwrap();
            is_just_above(
                zcdp::discrete_laplace(steps, Epsilon::from_units(units).unwrap()),
                &truth,
            );
        }
    }
}
