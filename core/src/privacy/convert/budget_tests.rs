//! Budgets that undo a loss: rounded down, and within 1e-9.

use super::*;
use crate::number::units;
use crate::tests::oracle::{
    self, Real, deltas, epsilons, exp, float, is_just_above, ln, orders, quantity,
    randomized_response, real, sizes,
};
use proptest::prelude::*;

/// A monotone claim holds at the budget, and no longer holds 1e-9 or one unit above it.
#[track_caller]
fn is_the_most<U: crate::number::Unit>(
    budget: crate::number::Quantity<U>,
    holds: impl Fn(&Real) -> bool,
) {
    let exact = quantity(budget);
    assert!(holds(&exact), "{budget} is too much");
    let unit = real(1.0) / oracle::power_of_ten(U::DECIMALS as usize);
    let more = exact * real(1.0 + 1e-9) + unit;
    assert!(!holds(&more), "{budget} is far too little");
}

/// A part of a probability, at least one unit.
fn part_of(delta: Delta, part: f64) -> Delta {
    let units = (delta.units() as f64 * part) as u128;
    Delta::from_units(units.clamp(1, delta.units())).unwrap()
}

/// ε·tanh(ε/2).
fn concentrated(epsilon: &Real) -> Real {
    let power = exp(&-epsilon);
    epsilon * (real(1.0) - &power) / (real(1.0) + power)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn simple_renyi_budgets_are_rounded_down(order in orders(), size in -9.0..2.0_f64, delta in deltas()) {
        let surcharge = -ln(&quantity(delta)) / (quantity(order) - real(1.0));
        let room = float(&surcharge) + libm::exp10(size);
        let epsilon = Interval::exactly(room).up().unwrap();
        let truth = quantity(epsilon) - &surcharge;
        let given = quantity(rdp::budget_simple(order, epsilon, delta).unwrap());
        prop_assert!(given <= truth);
        // What floats lose where two large numbers cancel.
        let margin = &truth * real(1e-9) + quantity(epsilon) * real(1e-14) + real(1e-27);
        prop_assert!(given >= truth - margin);
        if let Some(less) = Interval::exactly(float(&surcharge) * 0.999).down() {
            let none = UnknownLoss("by this conversion no Rényi loss of this order is within the budget");
            prop_assert_eq!(rdp::budget_simple(order, less, delta), Err(none));
        }
    }

    #[test]
    fn approximate_budgets_are_rounded_down(
        order in orders(), epsilon in epsilons(), delta in deltas(), part in 0.0..1.0,
    ) {
        let (limit, slack) = (EpsilonDelta { epsilon, delta }, part_of(delta, part));
        let budget = zcdp::approximate_budget(limit, slack).unwrap();
        prop_assert_eq!(budget.rho, zcdp::budget(epsilon, slack).unwrap());
        let both = |one: &Real| one + quantity(slack) - one * quantity(slack);
        is_the_most(budget.delta, |one| both(one) <= quantity(delta));
        // To the last unit, and the loss that follows from the budget is within δ again.
        let more = Delta::from_units(budget.delta.units() + 1).unwrap();
        prop_assert!(either(budget.delta, slack) <= delta && either(more, slack) > delta);
        let renyi = rdp::approximate_budget(order, limit, slack).unwrap();
        prop_assert_eq!(renyi.epsilon, rdp::budget_exact(order, epsilon, slack).unwrap());
        prop_assert_eq!(renyi.delta, budget.delta);
    }

    #[test]
    fn pure_budgets_for_renyi_are_rounded_down(order in orders(), loss in epsilons()) {
        let alpha = quantity(order);
        is_the_most(rdp::pure_budget(order, loss), |epsilon| {
            randomized_response(&alpha, epsilon) <= quantity(loss)
        });
    }

    #[test]
    fn pure_budgets_for_zcdp_are_rounded_down(rho in sizes::<units::Rho>(-24.0..11.0)) {
        is_the_most(zcdp::pure_budget(rho), |epsilon| {
            concentrated(epsilon) <= quantity(rho)
        });
    }

    #[test]
    fn pure_mechanisms_are_concentrated(epsilon in sizes::<units::Epsilon>(-12.0..11.0), order in orders()) {
        let exact = quantity(epsilon);
        is_just_above(zcdp::pure(epsilon), &concentrated(&exact));
        // No Rényi divergence is larger.
        let alpha = quantity(order);
        if exact < real(100.0) {
            let bound = &alpha * quantity(zcdp::pure(epsilon));
            prop_assert!(randomized_response(&alpha, &exact) <= bound);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn pure_budgets_for_gdp_are_rounded_down(mu in sizes::<units::Mu>(-9.0..1.4)) {
        let corner = oracle::cdf(&(quantity(mu) / real(-2.0)));
        is_the_most(gdp::pure_budget(mu), |epsilon| {
            corner <= real(1.0) / (real(1.0) + exp(epsilon))
        });
    }
}

proptest! {
    /// For large losses and δ near 1 the best order is so near 1 that the simple conversion is the
    /// better one.
    #[test]
    fn zcdp_is_never_worse_than_the_simple_conversion(
        rho in sizes::<units::Rho>(-9.0..11.0), epsilon in sizes::<units::Epsilon>(-9.0..11.0), gap in -9.0..0.0_f64,
    ) {
        let delta = Interval::exactly((1.0 - libm::exp10(gap)).max(1e-30)).up().unwrap();
        prop_assert!(zcdp::epsilon(rho, delta).unwrap() <= zcdp::epsilon_simple(rho, delta).unwrap());
        prop_assert!(zcdp::budget(epsilon, delta).unwrap() >= zcdp::budget_simple(epsilon, delta).unwrap());
    }
}

#[test]
fn the_ends_of_the_scale() {
    let (slack, limit) = (
        "2e-6".parse().unwrap(),
        EpsilonDelta::new("1", "1e-6").unwrap(),
    );
    let too_much = UnknownLoss("the slack is more than the budget's δ");
    assert_eq!(zcdp::approximate_budget(limit, slack), Err(too_much));
    assert_eq!(
        rdp::approximate_budget("100".parse().unwrap(), limit, slack),
        Err(too_much)
    );
    let needs = UnknownLoss("this conversion needs δ > 0");
    assert_eq!(zcdp::approximate_budget(limit, Delta::ZERO), Err(needs));
    let certain = EpsilonDelta::new("1", "1").unwrap();
    let all = zcdp::approximate_budget(certain, Delta::ONE).unwrap();
    assert_eq!(all.delta, Delta::ONE);
    assert!(all.rho >= zcdp::budget_simple(certain.epsilon, Delta::ONE).unwrap());
    assert_eq!(zcdp::pure_budget(crate::number::Rho::ZERO), Epsilon::ZERO);
    assert_eq!(
        rdp::pure_budget("2".parse().unwrap(), Epsilon::ZERO),
        Epsilon::ZERO
    );
    assert_eq!(
        rdp::pure_budget("2".parse().unwrap(), Epsilon::LARGEST),
        Epsilon::LARGEST
    );
    assert_eq!(gdp::pure_budget(crate::number::Mu::ZERO), Epsilon::ZERO);
    // More than μ²/8, where the exponential is out of reach.
    let epsilon = gdp::pure_budget("400".parse().unwrap());
    assert!(epsilon > "20006.2".parse().unwrap() && epsilon < "20006.3".parse().unwrap());
}
