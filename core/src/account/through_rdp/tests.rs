use super::*;
use crate::tests::oracle::{at_least_zero, deltas, epsilon_of, float, ln, orders, quantity, real};
use proptest::prelude::*;

fn pair(epsilon: &str, delta: &str) -> EpsilonDelta {
    EpsilonDelta::new(epsilon, delta).unwrap()
}

#[test]
fn parameters_are_checked() {
    let (slack, delta): (Delta, Delta) = ("2e-6".parse().unwrap(), "1e-6".parse().unwrap());
    let budget = pair("1", "1e-6");
    let at = |order: &str, slack| ThroughRdp::at(order.parse().unwrap(), budget, slack);
    let too_large = RuleError::SlackTooLarge { slack, delta };
    assert_eq!(at("8", Delta::ZERO), Err(RuleError::NoSlack));
    assert_eq!(at("8", slack), Err(too_large));
    // ln(1e6)/(α − 1) alone is more than 1.
    assert_eq!(at("2", delta), Err(RuleError::Order));
    let epsilon = "0.01".parse().unwrap();
    let chosen = |slack| ThroughRdp::chosen_for(budget, slack, epsilon);
    assert_eq!(chosen(Delta::ZERO), Err(RuleError::NoSlack));
    assert_eq!(chosen(slack), Err(too_large));
}

#[test]
fn no_other_order_admits_more() {
    let (budget, loss) = (pair("1", "1e-6"), pair("0.01", "0"));
    let admits = |mut rule: ThroughRdp| {
        let mut launches = 0;
        while let Ok(next) = rule.charge(&loss) {
            rule = next;
            launches += 1;
        }
        launches
    };
    let chosen = ThroughRdp::chosen_for(budget, budget.delta, loss.epsilon).unwrap();
    assert_eq!(admits(chosen), 490);
    for order in ["18", "20", "22", "24", "26", "30", "40"] {
        let rule = ThroughRdp::at(order.parse().unwrap(), budget, budget.delta).unwrap();
        assert!(admits(rule) <= 490, "{order}");
    }
}

#[test]
fn remaining_is_admitted_and_a_little_more_is_not() {
    let budget = pair("1", "1e-6");
    let mut rule =
        ThroughRdp::chosen_for(budget, "5e-7".parse().unwrap(), "0.01".parse().unwrap()).unwrap();
    rule = rule.charge(&pair("0.05", "1e-7")).unwrap();
    let remaining = rule.remaining();
    assert_eq!(remaining.delta, "4e-7".parse().unwrap());
    assert!(rule.charge(&remaining).is_ok());
    let units = remaining.epsilon.units();
    let more = Epsilon::from_units(units + units / 1_000_000_000).unwrap();
    let more = EpsilonDelta {
        epsilon: more,
        ..remaining
    };
    assert_eq!(rule.charge(&more), Err(Exceeded));
}

fn grid() -> RdpGrid {
    RdpGrid::new(["8", "24", "64"].map(|order| order.parse().unwrap())).unwrap()
}

fn curve(epsilons: [&str; 3]) -> RdpCurve {
    let epsilons = epsilons.map(|epsilon| epsilon.parse().unwrap());
    grid().curve(epsilons).unwrap()
}

#[test]
fn parameters_on_a_grid_are_checked() {
    let budget = pair("1", "1e-6");
    let at = |order: &str, limit| ThroughRdp::on_grid_at(grid(), order.parse().unwrap(), limit);
    assert_eq!(at("16", budget), Err(RuleError::NotOnGrid));
    assert_eq!(at("24", pair("1", "0")), Err(RuleError::NoSlack));
    // ln(1e6)/7 alone is more than 1.
    assert_eq!(at("8", budget), Err(RuleError::Order));
    let chosen = |limit, typical| ThroughRdp::on_grid_chosen_for(grid(), limit, typical);
    let typical = curve(["0.01", "0.03", "0.08"]);
    assert_eq!(chosen(pair("1", "0"), &typical), Err(RuleError::NoSlack));
    // At the order 64 it is still (ln(1e6) − ln(64))/63 = 0.15….
    let tiny = pair("0.1", "1e-6");
    assert_eq!(chosen(tiny, &typical), Err(RuleError::Order));
    let other = RdpGrid::new(["8".parse().unwrap()]).unwrap().zero();
    assert_eq!(chosen(budget, &other), Err(RuleError::NotOnGrid));
}

#[test]
fn one_order_of_the_grid_decides_and_the_others_do_not() {
    let budget = pair("1", "1e-6");
    let rule = ThroughRdp::on_grid_at(grid(), "24".parse().unwrap(), budget).unwrap();
    let room = rdp::budget("24".parse().unwrap(), budget.epsilon, budget.delta).unwrap();
    let unit = |units: u128| Epsilon::from_units(units).unwrap();
    let with = |epsilon| grid().curve([Epsilon::LARGEST, epsilon, Epsilon::LARGEST]);
    assert_eq!(rule.remaining(), with(room).unwrap());

    // At 24 it is too much by one unit, though at 64 and 8 it costs nothing.
    let more = unit(room.units() + 1);
    let more = grid().curve([Epsilon::ZERO, more, Epsilon::ZERO]).unwrap();
    assert_eq!(rule.charge(&more), Err(Exceeded));

    // At 24 it just fits, though at the others it is as much as can be held.
    let rule = rule.charge(&with(unit(room.units() - 1)).unwrap()).unwrap();
    assert_eq!(rule.remaining(), with(unit(1)).unwrap());
    let rule = rule.charge(&with(unit(1)).unwrap()).unwrap();
    assert_eq!(rule.remaining(), with(Epsilon::ZERO).unwrap());
    assert_eq!(rule.charge(&with(unit(1)).unwrap()), Err(Exceeded));
    assert!(rule.spent() <= budget);
    assert!(rule.spent() >= pair("0.999999999", "1e-6"));
}

#[test]
fn a_curve_of_another_grid_is_refused() {
    let budget = pair("1", "1e-6");
    let rule = ThroughRdp::on_grid_at(grid(), "24".parse().unwrap(), budget).unwrap();
    let others = ["8", "25", "64"].map(|order| order.parse().unwrap());
    let zero = RdpGrid::new(others).unwrap().zero();
    assert_eq!(rule.charge(&zero), Err(Exceeded));
    assert!(rule.charge(&grid().zero()).is_ok());
}

fn launches<C: RdpChildren>(mut rule: ThroughRdp<C>, loss: &C::Loss) -> u32 {
    let mut launches = 0;
    while let Ok(next) = rule.charge(loss) {
        rule = next;
        launches += 1;
    }
    launches
}

#[test]
fn no_other_order_of_the_grid_admits_more_of_the_typical_curve() {
    let budget = pair("1", "1e-6");
    let orders = ["6", "12", "18", "24", "30", "40", "64", "128"];
    let grid = RdpGrid::new(orders.map(|order| order.parse().unwrap())).unwrap();
    let (one, epsilon) = ("1".parse().unwrap(), "0.3".parse().unwrap());
    let gaussian = |sigma: &str| {
        let sigma = sigma.parse().unwrap();
        grid.at_each_order(|order| rdp::gaussian(order, one, sigma))
            .unwrap()
    };
    let sampled = grid.at_each_order(|order| {
        let (rate, sigma) = ("0.01".parse().unwrap(), "1.5".parse().unwrap());
        rdp::subsampled_gaussian(order, rate, one, sigma)
    });
    let pure = grid.at_each_order(|order| Ok(rdp::pure(order, epsilon)));
    // τ*/curve at 30 digits is largest there: 1933.53…, 3.17… and 730.75….
    for (typical, best, most) in [
        (gaussian("200"), "24", 1933),
        (pure.unwrap(), "128", 3),
        (sampled.unwrap(), "18", 730),
    ] {
        let chosen = ThroughRdp::on_grid_chosen_for(grid.clone(), budget, &typical).unwrap();
        let admitted = launches(chosen.clone(), &typical);
        assert_eq!(
            (chosen.order().to_string().as_str(), admitted),
            (best, most)
        );
        for order in grid.orders() {
            match ThroughRdp::on_grid_at(grid.clone(), *order, budget) {
                Ok(rule) => assert!(launches(rule, &typical) <= most, "{order}"),
                Err(error) => assert_eq!(error, RuleError::Order),
            }
        }
    }
}

#[test]
fn a_typical_curve_that_costs_nothing_has_an_order_too() {
    let budget = pair("1", "1e-6");
    let chosen = ThroughRdp::on_grid_chosen_for(grid(), budget, &grid().zero()).unwrap();
    // Where τ* is largest.
    assert_eq!(chosen.order(), "64".parse().unwrap());
    // Where it is zero at one order, that one.
    let typical = curve(["0", "0", "0.1"]);
    let chosen = ThroughRdp::on_grid_chosen_for(grid(), budget, &typical).unwrap();
    assert_eq!(chosen.order(), "24".parse().unwrap());
}

#[test]
fn pure_curves_cost_what_pure_children_do() {
    let (budget, loss) = (pair("1", "1e-6"), pair("0.05", "0"));
    let order = "24".parse().unwrap();
    let curve = grid().at_each_order(|order| Ok(rdp::pure(order, loss.epsilon)));
    let curve = curve.unwrap();
    let mut pairs = ThroughRdp::at(order, budget, budget.delta).unwrap();
    let mut curves = ThroughRdp::on_grid_at(grid(), order, budget).unwrap();
    let mut launched = 0;
    loop {
        assert_eq!(pairs.spent(), curves.spent());
        assert_eq!(pairs.limit(), curves.limit());
        let Ok(next) = pairs.charge(&loss) else {
            assert_eq!(curves.charge(&curve), Err(Exceeded));
            break;
        };
        (pairs, curves) = (next, curves.charge(&curve).unwrap());
        launched += 1;
    }
    // τ* = 0.58006…, D₂₄(0.05) = 0.024897….
    assert_eq!(launched, 23);
}

#[test]
fn the_last_cost_that_is_kept_is_the_right_one() {
    let budget = pair("5", "1e-6");
    let mut rule = ThroughRdp::at("8".parse().unwrap(), budget, budget.delta).unwrap();
    let mut plain = Epsilon::ZERO;
    for epsilon in ["0.1", "0.1", "0.2", "0", "0.1"] {
        rule = rule.charge(&pair(epsilon, "0")).unwrap();
        let cost = rdp::pure(rule.order(), epsilon.parse().unwrap());
        plain = plain.checked_add(cost).unwrap();
        assert_eq!(rule.budget.total, plain);
    }
}
proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The threshold is ε less the surcharge of the order, rounded down, to 1e-9.
    #[test]
    fn the_threshold_is_rounded_down(
        order in orders(), size in -9.0..2.0_f64, delta in deltas(),
    ) {
        let (alpha, exact) = (quantity(order), quantity(delta));
        let surcharge = epsilon_of(&alpha, &real(0.0), &exact);
        let room = float(&at_least_zero(surcharge.clone())) + libm::exp10(size);
        let epsilon = Interval::exactly(room).up().unwrap();
        let rule = ThroughRdp::at(order, EpsilonDelta { epsilon, delta }, delta).unwrap();
        let truth = quantity(epsilon) - surcharge;
        prop_assert!(quantity(rule.threshold) <= truth);
        let terms = quantity(epsilon) - ln(&exact) / (alpha - real(1.0));
        let margin = &truth * real(1e-9) + terms * real(1e-14) + real(1e-27);
        prop_assert!(quantity(rule.threshold) >= &truth - &margin);
        // On a grid the same is left to children.
        let grid = RdpGrid::new([order]).unwrap();
        let rule = ThroughRdp::on_grid_at(grid, order, EpsilonDelta { epsilon, delta }).unwrap();
        let left = quantity(rule.remaining().epsilons()[0]);
        prop_assert!(left <= truth && left >= &truth - &margin);
    }

    /// A curve is admitted if and only if it is at most what remains.
    #[test]
    fn on_a_grid_what_remains_is_the_largest(
        units in proptest::collection::vec(proptest::array::uniform3(0..10_u128.pow(27)), 1..8), index in 1..3_usize,
    ) {
        let budget = pair("1", "1e-6");
        let mut rule = ThroughRdp::on_grid_at(grid(), grid().orders()[index], budget).unwrap();
        for units in units {
            let epsilons = units.map(|units| Epsilon::from_units(units / 4).unwrap());
            let loss = grid().curve(epsilons).unwrap();
            let next = rule.charge(&loss);
            prop_assert_eq!(next.is_ok(), loss <= rule.remaining());
            rule = next.unwrap_or(rule);
            prop_assert!(rule.spent() <= budget);
        }
    }
}
/// Charges a part of what there is, and then, each to a copy, what remains and less.
fn check_everything_less(order: Order, size: f64, delta: Delta, part: f64) {
    let (alpha, exact) = (quantity(order), quantity(delta));
    let surcharge = float(&at_least_zero(epsilon_of(&alpha, &real(0.0), &exact)));
    let room = Interval::exactly(surcharge + libm::exp10(size));
    let epsilon = room.up().unwrap();
    let mut rule = ThroughRdp::at(order, EpsilonDelta { epsilon, delta }, delta).unwrap();
    let launch = |units: u128| EpsilonDelta {
        epsilon: Epsilon::from_units(units).unwrap(),
        delta: Delta::ZERO,
    };
    let units = rule.remaining().epsilon.units();
    rule = rule.charge(&launch((units as f64 * part) as u128)).unwrap();
    let units = rule.remaining().epsilon.units();
    // A few floats apart, where rounding shows, and then further down.
    let near = (0..400).map(|step| units - (units >> 51) * step);
    for less in near.chain((1..40).map(|bits| units >> bits)) {
        assert!(rule.charge(&launch(less)).is_ok());
    }
}

/// Without the margin these fail.
#[test]
fn rounding_does_not_stand_between_what_remains_and_less() {
    for (order, size, delta, part) in [
        (
            "1.046294612",
            1.6432714868775804,
            "2.984302737682218e-23",
            0.7174052895815983,
        ),
        (
            "1.004597418",
            1.5458000321814223,
            "0.0816147036645377133012857484573032707",
            0.5437240275317223,
        ),
    ] {
        let (order, delta) = (order.parse().unwrap(), delta.parse().unwrap());
        check_everything_less(order, size, delta, part);
    }
}

/// Where D_α is rounded most.
fn orders_near_one() -> impl Strategy<Value = Order> {
    (1..100_000_000_u128).prop_map(|units| Order::from_units(1_000_000_000 + units).unwrap())
}

proptest! {
    #[test]
    fn everything_less_than_what_remains_is_admitted(
        order in prop_oneof![orders(), orders_near_one()],
        size in prop_oneof![-6.0..2.0_f64, 1.0..1.7],
        delta in deltas(),
        part in 0.0..1.0,
    ) {
        check_everything_less(order, size, delta, part);
    }
}
