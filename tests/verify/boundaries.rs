//! Filters and odometers at their boundary: exactly at the budget for some adversary, and over it
//! for none.

use std::sync::Arc;

use crate::support::*;
use queryables::compose::{Addressed, Filter, Message, Odometer, Parallel};
use queryables::machine::{
    CoinSource, Coins, Fault, Machine, Mechanism, Metered, NotPrivateSeededCoins, Script, interact,
    truncated_view,
};
use queryables::number::{Delta, Epsilon};
use queryables::privacy::{
    AddRemove, ApproxDp, EpsilonDelta, Private, PureDp, Rdp, RdpGrid, UnknownLoss, ZCdp,
};
use queryables::verify::{Children, Pair, Rational, Truncated, Verifier, VerifyError, copies_of};

#[test]
fn a_pure_filter_is_exactly_at_its_budget() {
    let pair = Pair::new(false, true);
    let menu = || Children::new(vec![once(3), once(9), once(2)], vec![()]);
    for (budget, largest) in [(ln(3), 3), (ln_times(3, 2), 9), (ln_times(3, 3), 27)] {
        for filter in [
            Filter::concurrent(PureDp, budget),
            Filter::concurrent(PureDp, budget).halting(),
            Filter::concurrent(PureDp, budget).at_most(2),
        ] {
            let filter = Addressed::<_, Respond>::new(filter);
            let verifier = Verifier::by_state(copies_of(&filter), &pair, menu(), 6);
            assert_eq!(exact(&verifier.worst_ratio().unwrap()), ratio(largest, 1));
            verifier.assert_private(&PureDp, &budget);
        }
        // One after the other.
        let filter = Addressed::<_, Respond>::new(Filter::sequential(PureDp, budget));
        let verifier = Verifier::by_state(copies_of(&filter), &pair, menu(), 6);
        assert_eq!(exact(&verifier.worst_ratio().unwrap()), ratio(largest, 1));
    }
}

#[test]
fn a_renyi_filter_is_exactly_at_its_budget() {
    let pair = Pair::new(false, true);
    for order in [2_u64, 4] {
        let rdp = Rdp::new(order.to_string().parse().unwrap());
        let budget = once(3).loss(&rdp).unwrap().checked_mul(2).unwrap();
        let filter = Addressed::<_, Respond>::new(Filter::concurrent(rdp, budget));
        let menu = Children::new(vec![once(3), once(2)], vec![()]);
        let verifier = Verifier::by_state(copies_of(&filter), &pair, menu, 6);
        let worst = verifier.worst_renyi(rdp.order()).unwrap();
        assert_eq!(exact(&worst), renyi_of_once(3, order).pow(2));
        verifier.assert_private(&rdp, &budget);
    }
}

/// Tells the bit with a probability of one in ten, and otherwise responds at odds of three.
#[derive(Clone, Copy, Debug, Hash)]
struct Leak;

#[derive(Hash)]
struct Leaking(bool, bool);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Heard {
    Surely(bool),
    Maybe(bool),
    Nothing,
}

impl Mechanism<bool> for Leak {
    type Machine = Leaking;
    fn start(&self, data: &Arc<bool>, _: &mut Coins<'_>) -> Result<Leaking, Fault> {
        Ok(Leaking(**data, false))
    }
}

impl Machine for Leaking {
    type Query = ();
    type Answer = Heard;
    fn step(&mut self, (): (), coins: &mut Coins<'_>) -> Result<Heard, Fault> {
        if std::mem::replace(&mut self.1, true) {
            return Ok(Heard::Nothing);
        }
        if coins.weighted(&[1, 9])? == 0 {
            return Ok(Heard::Surely(self.0));
        }
        Ok(Heard::Maybe(self.0 ^ (coins.weighted(&[3, 1])? == 1)))
    }
}

impl Private<ApproxDp, AddRemove> for Leak {
    fn loss(&self, _: &ApproxDp) -> Result<EpsilonDelta, UnknownLoss> {
        Ok(EpsilonDelta {
            epsilon: ln(3),
            delta: "0.1".parse::<Delta>().unwrap(),
        })
    }
}

#[test]
fn an_approximate_filter_stays_within_its_budget() {
    let pair = Pair::new(false, true);
    let budget = EpsilonDelta {
        epsilon: ln_times(3, 2),
        delta: "0.2".parse().unwrap(),
    };
    let filter = Addressed::<_, Leak>::new(Filter::concurrent(ApproxDp, budget));
    let menu = || Children::new(vec![Leak], vec![()]);
    let verifier = Verifier::by_state(copies_of(&filter), &pair, menu(), 6);
    verifier.assert_private(&ApproxDp, &budget);
    // At e^ε = 9 only leaks are left: 1 - (9/10)², which the sum 2/10 rounds up.
    assert_eq!(
        exact(&verifier.worst_delta(ratio(9, 1)).unwrap()),
        ratio(19, 100)
    );
}

#[test]
fn an_approximate_filter_is_exactly_at_its_budget() {
    let pair = Pair::new(false, true);
    // One launch is all of the budget, ε and δ.
    let budget = Leak.loss(&ApproxDp).unwrap();
    let filter = Addressed::<_, Leak>::new(Filter::concurrent(ApproxDp, budget));
    let menu = Children::new(vec![Leak], vec![()]);
    let verifier = Verifier::by_state(copies_of(&filter), &pair, menu, 5);
    let worst = verifier.worst_delta_at(budget.epsilon).unwrap();
    assert_eq!(exact(&worst), ratio(1, 10), "{worst}");
    verifier.assert_private(&ApproxDp, &budget);
    let less = EpsilonDelta {
        delta: Delta::from_units(budget.delta.units() - 1).unwrap(),
        ..budget
    };
    let verdict = verifier.check(&ApproxDp, &less).unwrap();
    assert!(verdict.is_refuted(), "{verdict}");
}

#[test]
fn a_zcdp_filter_is_within_its_budget_at_every_order() {
    let pair = Pair::new(false, true);
    let rho = once(3).loss(&ZCdp).unwrap().checked_mul(2).unwrap();
    let filter = Addressed::<_, Respond>::new(Filter::concurrent(ZCdp, rho));
    let menu = Children::new(vec![once(3)], vec![()]);
    let verifier = Verifier::by_state(copies_of(&filter), &pair, menu, 6);
    let orders = [2_u64, 3, 8];
    let grid = RdpGrid::new(orders.map(|order| order.to_string().parse().unwrap())).unwrap();
    // α ρ at each order.
    let at = |order: u64| Epsilon::from_units(rho.units() * u128::from(order)).unwrap();
    verifier.assert_private(&grid, &grid.curve(orders.map(at)).unwrap());
    for order in orders {
        // Two responses, and not a third.
        let worst = verifier.worst_renyi(order.to_string().parse().unwrap());
        let both = renyi_of_once(3, order).pow(2);
        assert_eq!(exact(&worst.unwrap()), both);
    }
    // Half of that is too little.
    let half = |order: u64| Epsilon::from_units(rho.units() * u128::from(order) / 2).unwrap();
    let verdict = verifier.check(&grid, &grid.curve(orders.map(half)).unwrap());
    assert!(verdict.unwrap().is_refuted());
}

#[test]
fn an_odometer_is_exactly_at_every_threshold() {
    let pair = Pair::new(false, true);
    let odometer = Addressed::<_, Respond>::new(Odometer::concurrent(PureDp));
    let worst = |threshold| {
        let truncated = Truncated::new(odometer.clone(), threshold);
        let menu = Children::new(vec![once(3), once(9)], vec![()]);
        Verifier::by_state(copies_of(&truncated), &pair, menu, 5).worst_ratio()
    };
    for (threshold, largest) in [(ln(3), 3), (ln_times(3, 2), 9)] {
        assert_eq!(exact(&worst(threshold).unwrap()), ratio(largest, 1));
    }
    // Every launch crosses: nothing is asked.
    let nothing = worst(Epsilon::ZERO).unwrap_err();
    assert_eq!(nothing, VerifyError::NothingLaunched);
}

#[test]
fn the_truncated_machine_has_the_truncated_view() {
    let odometer = Addressed::<_, Respond>::new(Odometer::concurrent(PureDp));
    let data = Arc::new(true);
    let script = || {
        [
            Message::Launch(once(3)),
            Message::Ask(0, ()),
            Message::Launch(once(9)),
            Message::Ask(1, ()),
        ]
    };
    let coins = || NotPrivateSeededCoins::new(3);
    let mut machine = odometer.start(&data, &mut coins().coins()).unwrap();
    let view = truncated_view(
        &mut Script::new(script()),
        &mut machine,
        &ln(3),
        &mut coins(),
        &mut coins(),
        9,
    );
    assert!(machine.privacy_loss() > ln(3));
    let mut machine = Truncated::new(odometer, ln(3))
        .start(&data, &mut coins().coins())
        .unwrap();
    let other = interact(
        &mut Script::new(script()),
        &mut machine,
        &mut coins(),
        &mut coins(),
        9,
    );
    // The machine says that the threshold is crossed, and is silent after that; the view just ends.
    let mut answers: Vec<_> = other.answers().cloned().collect();
    assert_eq!(answers.pop(), Some(Err(Fault::Failed)));
    assert_eq!(answers.pop(), Some(Ok(None)));
    let said = view.answers().cloned().map(|answer| answer.map(Some));
    assert!(said.eq(answers));
}

/// Tells whether there is any row, at odds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Any(u64);

impl Mechanism<Vec<u8>> for Any {
    type Machine = Responding;
    fn start(&self, data: &Arc<Vec<u8>>, coins: &mut Coins<'_>) -> Result<Responding, Fault> {
        once(self.0).start(&Arc::new(!data.is_empty()), coins)
    }
}

impl Private<PureDp, AddRemove> for Any {
    fn loss(&self, _: &PureDp) -> Result<Epsilon, UnknownLoss> {
        Ok(ln(self.0))
    }
}

#[test]
fn parallel_composition_costs_the_maximum() {
    let budgets = [(0_u8, ln_times(3, 2)), (1, ln(3))];
    let parts = Parallel::new(
        |row: &u8| row % 3,
        budgets.map(|(key, budget)| {
            let filter = Filter::concurrent(PureDp, budget);
            (key, Addressed::<_, Any>::new(filter))
        }),
    )
    .unwrap();
    assert_eq!(parts.loss(&PureDp), Ok(ln_times(3, 2)));
    let menu: Vec<_> = [0, 1]
        .into_iter()
        .flat_map(|key| {
            [
                Message::Launch(Any(3)),
                Message::Ask(0, ()),
                Message::Ask(1, ()),
            ]
            .map(|message| (key, message))
        })
        .collect();
    for (one, other, largest) in [
        // One row more in the first part: that part's budget.
        (vec![], vec![3_u8], 9),
        // One row more in the second part.
        (vec![3], vec![3, 1], 3),
        // One row more in no part.
        (vec![], vec![2], 1),
    ] {
        let pair = Pair::new(one, other);
        let worst = Verifier::by_state(copies_of(&parts), &pair, menu.clone(), 5)
            .worst_ratio()
            .unwrap();
        assert_eq!(exact(&worst), ratio(largest, 1), "{worst}");
    }
    // Replacing a row moves it from one part to another, and costs both budgets.
    let moved = Pair::new(vec![3_u8], vec![1]);
    let worst = Verifier::by_state(copies_of(&parts), &moved, menu, 6)
        .worst_ratio()
        .unwrap();
    assert_eq!(exact(&worst), Rational::from(27_u8));
}
