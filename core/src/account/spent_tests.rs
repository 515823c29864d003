//! What every rule and accumulator says is spent: at least the bound of its theorem, evaluated at
//! 256 bits over the same losses, and within 1e-9 of it.

use super::twice_rho::twice_rho;
use super::{
    Accumulator, AdvancedComposition, ContinuationRule, Rogers, Sum, ThroughRdp, ThroughZCdp,
};
use crate::number::{Delta, Epsilon, Interval, Order, Rho, units};
use crate::privacy::{ApproxDp, EpsilonDelta, RdpGrid};
use crate::tests::oracle::{
    Real, at_least_zero, better_epsilon, deltas, epsilon_of, epsilons, exp, float,
    is_above_given_terms, is_just_above, ln, orders, quantity, randomized_response, real,
    simple_epsilon, sizes, sqrt, squares,
};
use proptest::prelude::*;

/// Launches parts of what remains, one after the other, and says which.
fn charged<F>(rule: &mut F, parts: &[f64]) -> Vec<EpsilonDelta>
where
    F: ContinuationRule<Children = ApproxDp>,
{
    let launch = |part: &f64| {
        let remaining = rule.remaining();
        let of = |units: u128| ((units as f64 * part) as u128).min(units);
        let loss = EpsilonDelta {
            epsilon: Epsilon::from_units(of(remaining.epsilon.units())).unwrap(),
            delta: Delta::from_units(of(remaining.delta.units())).unwrap(),
        };
        *rule = rule.charge(&loss).unwrap();
        loss
    };
    parts.iter().map(launch).collect()
}

fn parts() -> impl Strategy<Value = Vec<f64>> {
    proptest::collection::vec(prop_oneof![4 => 0.0..1.0, 1 => Just(1.0)], 1..5)
}

fn total(losses: &[EpsilonDelta], each: impl Fn(&Real) -> Real) -> Real {
    let add = |sum: Real, loss: &EpsilonDelta| sum + each(&quantity(loss.epsilon));
    losses.iter().fold(real(0.0), add)
}

/// Σρ, each as it is counted: `twice_rho` has tests of its own.
fn rho_of(losses: &[EpsilonDelta]) -> Real {
    let add = |sum: Real, loss: &EpsilonDelta| sum + squares(twice_rho(loss.epsilon));
    losses.iter().fold(real(0.0), add) / real(2.0)
}

fn sum_of_deltas(slack: Delta, losses: &[EpsilonDelta]) -> Delta {
    let add = |sum: Delta, loss: &EpsilonDelta| sum.checked_add(loss.delta).unwrap();
    losses.iter().fold(slack, add)
}

/// A part of a probability, at least one unit.
fn part_of(delta: Delta, part: f64) -> Delta {
    let units = (delta.units() as f64 * part) as u128;
    Delta::from_units(units.clamp(1, delta.units())).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn what_is_added_up_is_spent_exactly(epsilon in epsilons(), delta in deltas(), parts in parts()) {
        let mut rule = Sum::new(ApproxDp).capped(EpsilonDelta { epsilon, delta });
        let losses = charged(&mut rule, &parts);
        let spent = rule.spent();
        let units: u128 = losses.iter().map(|loss| loss.epsilon.units()).sum();
        prop_assert_eq!(spent.epsilon.units(), units);
        prop_assert_eq!(spent.delta, sum_of_deltas(Delta::ZERO, &losses));
    }

    /// Rogers et al. 5.1.
    #[test]
    fn what_the_first_filter_spends(
        epsilon in epsilons(), delta in sizes::<units::Delta>(-30.0..-0.5), parts in parts(),
    ) {
        let mut rule = Rogers::new(EpsilonDelta { epsilon, delta }).unwrap();
        let losses = charged(&mut rule, &parts);
        let squares = total(&losses, |loss| loss * loss);
        if squares == Real::ZERO {
            prop_assert_eq!(rule.spent().epsilon, Epsilon::ZERO);
            return Ok(());
        }
        let drift = total(&losses, |loss| loss * (exp(loss) - real(1.0)) / real(2.0));
        let (log, goal) = (-ln(&quantity(delta)), quantity(epsilon));
        let c = real(2804.0) / real(100.0) * &log;
        let offset = &goal * &goal / c;
        let spread = real(1.0) + ln(&(&squares / &offset + real(1.0))) / real(2.0);
        let inner = real(2.0) * (squares + offset) * spread * (log + ln(&real(2.0)));
        is_just_above(rule.spent().epsilon, &(drift + sqrt(&inner)));
    }

    /// Whitehouse et al. Thm 2, as a filter and as a capped accumulator.
    #[test]
    fn what_the_simple_filter_spends(
        epsilon in epsilons(), delta in deltas(), part in 0.01..1.0, parts in parts(),
    ) {
        let (limit, slack) = (EpsilonDelta { epsilon, delta }, part_of(delta, part));
        let mut rule = ThroughZCdp::simple(limit, slack).unwrap();
        let mut capped = AdvancedComposition::new(slack).unwrap().capped(limit);
        let losses = charged(&mut rule, &parts);
        let rho = rho_of(&losses);
        let truth = simple_epsilon(&rho, &quantity(slack));
        is_just_above(rule.spent().epsilon, &truth);
        for loss in &losses {
            capped = capped.charge(loss).unwrap();
        }
        is_just_above(capped.spent().epsilon, &truth);
        for spent in [rule.spent(), capped.spent()] {
            prop_assert_eq!(spent.delta, sum_of_deltas(slack, &losses));
        }
    }

    /// Through zCDP, by the better of the two conversions.
    #[test]
    fn what_the_tight_filter_spends(
        epsilon in epsilons(), delta in deltas(), part in 0.01..1.0, parts in parts(),
    ) {
        let slack = part_of(delta, part);
        let mut rule = ThroughZCdp::tight(EpsilonDelta { epsilon, delta }, slack).unwrap();
        let losses = charged(&mut rule, &parts);
        prop_assert_eq!(rule.spent().delta, sum_of_deltas(slack, &losses));
        let rho = rho_of(&losses);
        if rho == Real::ZERO {
            prop_assert_eq!(rule.spent().epsilon, Epsilon::ZERO);
            return Ok(());
        }
        let exact = quantity(slack);
        let (truth, terms) = (better_epsilon(&rho, &exact), simple_epsilon(&rho, &exact));
        is_above_given_terms(rule.spent().epsilon, &truth, &terms);
    }

    /// Through Rényi privacy, at orders of every size.
    #[test]
    fn what_the_renyi_filter_spends(
        order in orders(), size in -6.0..1.0_f64, delta in deltas(), part in 0.01..1.0, parts in parts(),
    ) {
        let slack = part_of(delta, part);
        let (alpha, exact) = (quantity(order), quantity(slack));
        // A limit that has room at this order.
        let surcharge = epsilon_of(&alpha, &real(0.0), &exact);
        let limit = float(&at_least_zero(surcharge.clone())) + libm::exp10(size);
        let epsilon = Interval::exactly(limit).up().unwrap();
        let mut rule = ThroughRdp::at(order, EpsilonDelta { epsilon, delta }, slack).unwrap();
        let losses = charged(&mut rule, &parts);
        prop_assert_eq!(rule.spent().delta, sum_of_deltas(slack, &losses));
        let tau = total(&losses, |loss| randomized_response(&alpha, loss));
        if tau == Real::ZERO {
            prop_assert_eq!(rule.spent().epsilon, Epsilon::ZERO);
            return Ok(());
        }
        let terms = &tau - ln(&exact) / (&alpha - real(1.0));
        let truth = at_least_zero(&tau + surcharge);
        is_above_given_terms(rule.spent().epsilon, &truth, &terms);
    }

    /// Children under zCDP, by both conversions.
    #[test]
    fn what_zcdp_children_spend(epsilon in epsilons(), delta in deltas(), parts in parts()) {
        let limit = EpsilonDelta { epsilon, delta };
        let exact = quantity(delta);
        for tight in [false, true] {
            let new = if tight { ThroughZCdp::for_zcdp } else { ThroughZCdp::for_zcdp_simple };
            let mut rule = new(limit).unwrap();
            let mut sum = Real::ZERO;
            for part in &parts {
                let left = rule.remaining().units();
                let rho = Rho::from_units(((left as f64 * part) as u128).min(left)).unwrap();
                rule = rule.charge(&rho).unwrap();
                sum += quantity(rho);
            }
            prop_assert_eq!(rule.spent().delta, delta);
            if sum == Real::ZERO {
                prop_assert_eq!(rule.spent().epsilon, Epsilon::ZERO);
                continue;
            }
            let terms = simple_epsilon(&sum, &exact);
            let truth = if tight { better_epsilon(&sum, &exact) } else { terms.clone() };
            is_above_given_terms(rule.spent().epsilon, &truth, &terms);
        }
    }

    /// Children on a grid, at one order of it.
    #[test]
    fn what_children_on_a_grid_spend(
        order in orders(), size in -6.0..1.0_f64, delta in deltas(), parts in parts(),
    ) {
        let (alpha, exact) = (quantity(order), quantity(delta));
        // A limit that has room at this order.
        let surcharge = epsilon_of(&alpha, &real(0.0), &exact);
        let limit = float(&at_least_zero(surcharge.clone())) + libm::exp10(size);
        let epsilon = Interval::exactly(limit).up().unwrap();
        // The other order is always more.
        let above = Order::from_units(order.units() + 1).unwrap();
        let grid = RdpGrid::new([order, above]).unwrap();
        let limit = EpsilonDelta { epsilon, delta };
        let mut rule = ThroughRdp::on_grid_at(grid.clone(), order, limit).unwrap();
        let mut tau = Real::ZERO;
        for part in &parts {
            let left = rule.remaining().epsilons()[0].units();
            let cost = Epsilon::from_units(((left as f64 * part) as u128).min(left)).unwrap();
            rule = rule.charge(&grid.curve([cost, Epsilon::LARGEST]).unwrap()).unwrap();
            tau += quantity(cost);
        }
        prop_assert_eq!(rule.spent().delta, delta);
        if tau == Real::ZERO {
            prop_assert_eq!(rule.spent().epsilon, Epsilon::ZERO);
            return Ok(());
        }
        let terms = &tau - ln(&exact) / (&alpha - real(1.0));
        let truth = at_least_zero(&tau + surcharge);
        is_above_given_terms(rule.spent().epsilon, &truth, &terms);
    }

    /// Haney et al. 3.8.
    #[test]
    fn what_the_accumulator_totals(
        losses in proptest::collection::vec((epsilons(), deltas()), 0..6), slack in deltas(),
    ) {
        let mut sum = AdvancedComposition::new(slack).unwrap();
        let mut deltas = slack;
        let mut rho = real(0.0);
        for (epsilon, delta) in losses {
            sum = sum.add(&EpsilonDelta { epsilon, delta }).unwrap();
            deltas = deltas.saturating_add(delta);
            rho += squares(twice_rho(epsilon)) / real(2.0);
        }
        prop_assert_eq!(sum.total().delta, deltas);
        is_just_above(sum.total().epsilon, &simple_epsilon(&rho, &quantity(slack)));
    }
}

/// A rule that has counted nothing has spent what it set aside, and that does not change.
#[track_caller]
fn sets_aside<F>(rule: F, expected: &str)
where
    F: ContinuationRule<Children = ApproxDp, Whole = ApproxDp>,
{
    assert_eq!(rule.set_aside().to_string(), expected);
    assert_eq!(rule.spent(), rule.set_aside());
    let loss = EpsilonDelta::new("0.01", "1e-8").unwrap();
    let later = rule.charge(&loss).unwrap();
    assert_eq!(later.set_aside(), rule.set_aside());
    assert!(later.spent() > later.set_aside());
}

#[test]
fn what_is_set_aside_is_told_apart_from_what_launches_cost() {
    let limit = EpsilonDelta::new("1", "1e-6").unwrap();
    let slack: Delta = "4e-7".parse().unwrap();
    sets_aside(ThroughZCdp::tight(limit, slack).unwrap(), "(0, 4e-7)");
    sets_aside(ThroughZCdp::simple(limit, slack).unwrap(), "(0, 4e-7)");
    let order = "24".parse().unwrap();
    sets_aside(ThroughRdp::at(order, limit, slack).unwrap(), "(0, 4e-7)");
    sets_aside(
        AdvancedComposition::new(slack).unwrap().capped(limit),
        "(0, 4e-7)",
    );
    sets_aside(Rogers::new(limit).unwrap(), "(0, 5e-7)");
    sets_aside(Sum::new(ApproxDp).capped(limit), "(0, 0)");
    // Of an odd number of units, the larger half.
    let odd = Rogers::new(EpsilonDelta::new("1", "3e-38").unwrap()).unwrap();
    assert_eq!(odd.set_aside().to_string(), "(0, 2e-38)");
}
