//! Launches, curves and filters against exact sums and independent formulas.

use proptest::prelude::*;

use super::lattice::Lattice;
use super::launch::Launch;
use super::sum::largest_budget;
use super::{MenuEntry, MenuError, MenuFilter, TwoPriceListFilter};
use crate::account::FixedCount;
use crate::account::{ApproxDpRule, ContinuationRule, Exceeded, Repeats, ThroughRdp};
use crate::number::{Delta, Epsilon};
use crate::privacy::EpsilonDelta;
use crate::tests::oracle::{self, Real, quantity, real};

fn epsilon(text: &str) -> Epsilon {
    text.parse().unwrap()
}

fn pair(epsilon: &str, delta: &str) -> EpsilonDelta {
    EpsilonDelta::new(epsilon, delta).unwrap()
}

/// δ of k-fold randomized response, as the sum over the number of lies, to 256 bits.
fn exact_delta(count: u64, each: Epsilon, target: Epsilon) -> Real {
    let (each, target) = (quantity(each), quantity(target));
    let odds = oracle::exp(&each);
    let lie = real(1.0) / (real(1.0) + &odds);
    let whole = |number: u64| oracle::whole(u128::from(number));
    // All tell the truth.
    let mut weight = (0..count).fold(real(1.0), |weight, _| weight * (real(1.0) - &lie));
    let mut sum = real(0.0);
    for lies in 0..=count {
        let loss = (whole(count) - real(2.0) * whole(lies)) * &each;
        if loss > target {
            sum += &weight * (real(1.0) - oracle::exp(&(&target - &loss)));
        }
        weight = weight * whole(count - lies) / whole(lies + 1) / &odds;
    }
    sum
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// A single entry of cost 1 is the optimal composition, also between the points.
    #[test]
    fn one_entry_is_the_optimal_composition(steps in 1..6_u64, count in 1..30_u64, at in 0..20_u64) {
        let step = epsilon("0.03");
        let each = step.checked_mul(steps).unwrap();
        let reach = each.checked_mul(count).unwrap();
        let lattice = Lattice::new(step, reach, reach).unwrap();
        let target = step.checked_mul(at).unwrap();
        let launch = Launch::approximate(&lattice, EpsilonDelta { epsilon: each, delta: Delta::ZERO });
        let mut delta = Delta::ZERO;
        super::sum::visit(&lattice, &[(launch, 1)], |left, curve| {
            delta = curve.delta(&lattice, target, true);
            left < count
        }).unwrap();
        let (bound, exact) = (quantity(delta), (exact_delta(count, each, target)));
        prop_assert!(&exact * real(1.0 - 1e-25) <= bound, "{exact} {bound}");
        prop_assert!(bound <= exact * real(1.0 + 1e-9) + real(1e-37));
        let lease = Launch::repeated(&lattice, each, count, 5.0).unwrap();
        let lease = largest_of(&lattice, lease, target);
        let exact = exact_delta(count, each, target);
        prop_assert!(&exact * real(1.0 - 1e-25) <= lease, "{exact} {lease}");
    }

    /// A window that is too small gives a larger bound, never a smaller one.
    #[test]
    fn a_narrow_window_is_above(below in 0..8_u64, above in 0..8_u64, count in 1..20_u64, at in 0..8_u64) {
        let step = epsilon("0.1");
        let reach = |steps| step.checked_mul(steps).unwrap();
        let lattice = Lattice::new(step, reach(below), reach(above)).unwrap();
        let launch = Launch::approximate(&lattice, pair("0.2", "0"));
        let target = reach(at.min(above));
        let mut delta = Delta::ZERO;
        super::sum::visit(&lattice, &[(launch, 1)], |left, curve| {
            delta = curve.delta(&lattice, target, true);
            left < count
        }).unwrap();
        let (bound, exact) = (quantity(delta), (exact_delta(count, epsilon("0.2"), target)));
        prop_assert!(exact * real(1.0 - 1e-25) <= bound);
    }

    /// Off the lattice the chords are above, and not by much.
    #[test]
    fn chords_are_above(units in 20_000..90_000_u32, count in 1..12_u64, at in 0..12_u64) {
        let each = Epsilon::from_units(u128::from(units) * 10_u128.pow(21)).unwrap();
        let step = epsilon("0.002");
        let reach = epsilon("1.5");
        let lattice = Lattice::new(step, reach, reach).unwrap();
        let target = step.checked_mul(at * 5).unwrap();
        let launch = Launch::approximate(&lattice, EpsilonDelta { epsilon: each, delta: Delta::ZERO });
        let mut delta = Delta::ZERO;
        super::sum::visit(&lattice, &[(launch, 1)], |left, curve| {
            delta = curve.delta(&lattice, target, true);
            left < count
        }).unwrap();
        let exact = exact_delta(count, each, target);
        let lease = Launch::repeated(&lattice, each, count, 5.0).unwrap();
        let lease = largest_of(&lattice, lease, target);
        for bound in [quantity(delta), lease] {
            prop_assert!(&exact * real(1.0 - 1e-25) <= bound, "{exact} {bound}");
            prop_assert!(bound <= &exact * real(1.05) + real(1e-4), "{exact} {bound}");
        }
    }
}

/// The losses below zero of one lease count in the next.
#[test]
fn two_leases_are_above_their_launches() {
    let (step, each, count) = (epsilon("0.03"), epsilon("0.06"), 4);
    let reach = each.checked_mul(4 * count).unwrap();
    let lattice = Lattice::new(step, reach, reach).unwrap();
    let lease = Launch::repeated(&lattice, each, count, 5.0).unwrap();
    for at in 0..16 {
        let target = step.checked_mul(at).unwrap();
        let mut delta = Delta::ZERO;
        super::sum::visit(&lattice, &[(lease.clone(), 1)], |left, curve| {
            delta = curve.delta(&lattice, target, true);
            left < 2
        })
        .unwrap();
        let (bound, exact) = (quantity(delta), exact_delta(2 * count, each, target));
        assert!(&exact * real(1.0 - 1e-25) <= bound, "{at}: {exact} {bound}");
        assert!(bound <= exact * real(1.05) + real(1e-4), "{at}: {bound}");
    }
}

/// δ of one launch.
fn largest_of(lattice: &Lattice, launch: Launch, target: Epsilon) -> Real {
    let mut delta = Delta::ZERO;
    super::sum::visit(lattice, &[(launch, 1)], |left, curve| {
        delta = curve.delta(lattice, target, true);
        left < 1
    })
    .unwrap();
    quantity(delta)
}

#[test]
fn a_single_entry_admits_what_the_exact_sum_admits() {
    let limit = pair("1", "1e-6");
    let menu = [MenuEntry::new(epsilon("0.05"), 1)];
    let rule = MenuFilter::new(limit, limit.delta, epsilon("0.05"), &menu).unwrap();
    let each = EpsilonDelta::new("0.05", "0").unwrap();
    let exact = FixedCount::most(limit, each).unwrap().count();
    assert_eq!(rule.budget(), exact);
}

/// The rows of a published table for the menu 0.01, 0.02, 0.03, 0.05, 0.1, 0.2 in (1, 1e-6).
#[test]
fn costs_buy_what_they_should() {
    let limit = pair("1", "1e-6");
    let mut rule = MenuFilter::many_small(limit, limit.delta, epsilon("0.01")).unwrap();
    assert_eq!(rule.budget(), 551);
    rule = rule.charge(&pair("0.1", "0")).unwrap();
    let left = rule.admits(&pair("0.01", "0")).certainly();
    assert_eq!(left, 451);
    // Lossless costs keep 562.
    let lossless = [(1, 1), (2, 7), (3, 15), (5, 39), (10, 157)];
    let entry =
        |(multiple, cost)| MenuEntry::new(epsilon("0.01").checked_mul(multiple).unwrap(), cost);
    let rule = MenuFilter::new(limit, limit.delta, epsilon("0.01"), &lossless.map(entry));
    assert_eq!(rule.unwrap().budget(), 562);
}

#[test]
fn launches_fit_while_their_sum_is_small() {
    let limit = pair("1", "1e-6");
    let menu = [
        MenuEntry::new(epsilon("0.1"), 1),
        MenuEntry::new(epsilon("0.5"), 30),
    ];
    let mut rule = MenuFilter::new(limit, limit.delta, epsilon("0.1"), &menu).unwrap();
    // Larger than every entry, and the price list is of no use any more.
    rule = rule.charge(&pair("0.7", "0")).unwrap();
    assert_eq!((rule.cost(), rule.spent()), (None, pair("0.7", "0")));
    assert_eq!(rule.remaining(), pair("0.3", "0"));
    assert_eq!(rule.charge(&pair("0.4", "0")), Err(Exceeded));
    rule = rule.charge(&pair("0.3", "0")).unwrap();
    rule = rule.charge(&pair("0", "0")).unwrap();
    assert_eq!(rule.charge(&pair("0", "1e-9")), Err(Exceeded));
}

#[test]
fn children_pay_their_own_delta_out_of_the_rest() {
    let limit = pair("1", "1e-6");
    let slack: Delta = "9e-7".parse().unwrap();
    let mut rule = MenuFilter::many_small(limit, slack, epsilon("0.04")).unwrap();
    assert_eq!(rule.remaining().delta, "1e-7".parse().unwrap());
    rule = rule.charge(&pair("0.1", "8e-8")).unwrap();
    let before = rule.clone();
    assert_eq!(rule.charge(&pair("0.1", "3e-8")), Err(Exceeded));
    assert_eq!(rule, before);
    while let Ok(next) = rule.charge(&pair("0.04", "0")) {
        rule = next;
    }
    let spent = rule.spent();
    assert!(
        spent <= limit && spent.delta > "8e-8".parse().unwrap(),
        "{spent}"
    );
}

#[test]
fn two_sums_admit_more_than_either() {
    let limit = pair("1", "1e-6");
    let entries = [(epsilon("0.05"), [1, 10]), (epsilon("0.1"), [4, 30])];
    let rule =
        TwoPriceListFilter::new(limit, limit.delta, epsilon("0.05"), &entries, [20, 180]).unwrap();
    let mut small = rule.clone();
    small = small.charge_times(&pair("0.05", "0"), 20).unwrap();
    assert_eq!(small.left(), [Some(0), None]);
    let mut large = rule.clone();
    large = large.charge_times(&pair("0.1", "0"), 6).unwrap();
    assert_eq!(large.left(), [None, Some(0)]);
    let over = TwoPriceListFilter::new(limit, limit.delta, epsilon("0.05"), &entries, [20, 600]);
    let Err(MenuError::OverBudget { delta, limit }) = over else {
        panic!("{over:?}");
    };
    assert!(delta > limit && limit == "1e-6".parse().unwrap());
}

#[test]
fn bad_menus_are_errors_that_say_what_to_do() {
    let limit = pair("1", "1e-6");
    let build = |step: &str, entries: &[MenuEntry]| {
        MenuFilter::new(limit, limit.delta, epsilon(step), entries).unwrap_err()
    };
    let entry = |loss: &str, cost| MenuEntry::new(epsilon(loss), cost);
    assert_eq!(build("0.1", &[]), MenuError::Empty);
    assert_eq!(
        build("0.1", &[entry("0.1", 0)]),
        MenuError::CostsNothing { entry: 0 }
    );
    assert_eq!(
        build("0.1", &[entry("0", 1)]),
        MenuError::LosesNothing { entry: 0 }
    );
    let falling = [entry("0.2", 1), entry("0.1", 1)];
    assert_eq!(build("0.1", &falling), MenuError::NotRising { entry: 1 });
    assert_eq!(build("0", &[entry("0.1", 1)]), MenuError::NoStep);
    let (step, loss) = (epsilon("0.04"), epsilon("0.1"));
    assert_eq!(
        build("0.04", &[entry("0.1", 1)]),
        MenuError::StepTooCoarse { step, loss }
    );
    let step = epsilon("1e-9");
    assert_eq!(
        build("1e-9", &[entry("0.1", 1)]),
        MenuError::StepTooFine { step }
    );
    assert_eq!(build("0.1", &[entry("0.1", 1 << 40)]), MenuError::TooLarge);
    let one = epsilon("1");
    assert_eq!(
        build("2", &[entry("2", 1)]),
        MenuError::BudgetTooSmall { epsilon: one }
    );
    let filter = |slack: &str| {
        let slack = slack.parse().unwrap();
        MenuFilter::many_small(limit, slack, epsilon("0.1")).unwrap_err()
    };
    assert_eq!(filter("0"), MenuError::NoSlack);
    let (slack, delta) = ("1e-5".parse().unwrap(), limit.delta);
    assert_eq!(filter("1e-5"), MenuError::SlackTooLarge { slack, delta });
    let message = MenuError::CostsNothing { entry: 2 }.to_string();
    assert_eq!(
        message,
        "entry 2 costs nothing: give it a cost of at least 1, or leave it out"
    );
}

#[test]
fn an_endless_budget_is_an_error() {
    // δ = 1 is never exceeded.
    let limit = pair("0.1", "1");
    let lattice = Lattice::new(epsilon("0.1"), epsilon("0.1"), epsilon("0.1")).unwrap();
    let launch = Launch::approximate(&lattice, pair("0.1", "0"));
    assert_eq!(
        largest_budget(&lattice, &[(launch, 1)], limit),
        Err(MenuError::Endless)
    );
}

#[test]
fn a_balanced_menu_keeps_up_with_the_renyi_filter() {
    // A small one; the example has the one that counts.
    let limit = pair("1", "1e-6");
    let rule = MenuFilter::balanced(limit, limit.delta, epsilon("0.05"), 12).unwrap();
    for size in ["0.05", "0.2", "0.5"] {
        let loss = pair(size, "0");
        let renyi = ThroughRdp::chosen_for(limit, limit.delta, loss.epsilon).unwrap();
        let renyi = renyi.admits(&loss).certainly();
        let here = rule.admits(&loss).certainly();
        assert!(here >= renyi, "{size}: {here} {renyi}");
    }
}

#[test]
fn a_balanced_menu_has_leases_for_half_the_typical_loss() {
    let limit = pair("1", "1e-6");
    let build = |detail| MenuFilter::balanced(limit, limit.delta, epsilon("0.05"), detail);
    let Err(MenuError::OutOfRange { what, .. }) = build(3) else {
        panic!("a detail of 3");
    };
    assert_eq!(what, "the typical loss or the detail");
    let rule = ApproxDpRule::Menu(build(4).unwrap());
    let (typical, half) = (pair("0.05", "0"), pair("0.025", "0"));
    // Costs are in proportion to ε², up to the roundings of such a small menu.
    let [typical, half] = [typical, half].map(|loss| rule.admits(&loss).certainly());
    assert!(half >= 3 * typical, "{half} {typical}");
}

#[test]
fn two_sums_admit_what_fits_a_list_or_the_plain_sum_and_nothing_else() {
    let limit = pair("1", "1e-6");
    let entries = [(epsilon("0.05"), [1, 2]), (epsilon("0.1"), [4, 7])];
    let rule =
        TwoPriceListFilter::new(limit, limit.delta, epsilon("0.05"), &entries, [20, 38]).unwrap();
    assert_eq!(*rule.limit(), limit);
    // Twenty exhaust the first list and the plain sum; the second had room for nineteen.
    let small = pair("0.05", "0");
    let full = rule.charge_times(&small, 20).unwrap();
    assert_eq!(full.left(), [Some(0), None]);
    assert_eq!(full.charge(&small), Err(Exceeded));
    assert_eq!(rule.charge_times(&small, 21), Err(Exceeded));
    // What no entry is large enough for counts in the plain sum alone.
    let large = rule.charge(&pair("0.9", "0")).unwrap();
    assert_eq!(large.left(), [None; 2]);
    let full = large.charge(&pair("0.1", "0")).unwrap();
    assert_eq!(full.charge(&pair("1e-27", "0")), Err(Exceeded));
}
