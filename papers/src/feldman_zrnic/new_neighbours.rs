//! The stronger adversary of Rogers et al. Alg 2, who names new neighbours in every round, against
//! the filters of which Feldman and Zrnic say that they hold against it (after Thm 4.3): the Rényi
//! filter, and those that rest on it.

use std::convert::Infallible;
use std::sync::Arc;

use crate::support::*;
use queryables::account::{ThroughRdp, ThroughZCdp};
use queryables::compose::{Addressed, Filter, Message};
use queryables::machine::{Coins, Fault, Mechanism, Released};
use queryables::number::{Epsilon, Order, Rho};
use queryables::privacy::{
    AddRemove, ApproxDp, EpsilonDelta, Measure, Private, Rdp, UnknownLoss, ZCdp,
};
use queryables::verify::{Pair, Verifier, copies_of};

/// A dataset: two people, each with a bit.
type People = [bool; 2];

/// What the adversary names in a round: neighbouring datasets x⁰ and x¹, and a mechanism, which
/// tells one person's bit with these odds. It runs on xᵇ, where b is the secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Challenge {
    pair: [People; 2],
    person: usize,
    odds: u64,
}

/// What the game runs on: nothing but the secret bit b.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Secret(bool);

impl Mechanism<Secret> for Challenge {
    type Machine = Released<bool>;
    fn start(&self, data: &Arc<Secret>, coins: &mut Coins<'_>) -> Result<Released<bool>, Fault> {
        let chosen = self.pair[usize::from(data.0)];
        let bit = chosen[self.person];
        Ok(Released(bit ^ (coins.weighted(&[self.odds, 1])? == 1)))
    }
}

/// What the mechanism costs, whichever neighbours it is run on.
impl<Me: Measure> Private<Me, AddRemove> for Challenge
where
    Respond: Private<Me, AddRemove>,
{
    fn loss(&self, measure: &Me) -> Result<Me::Loss, UnknownLoss> {
        once(self.odds).loss(measure)
    }
}

const PEOPLE: [People; 3] = [[false, false], [false, true], [true, false]];

/// Every pair of datasets that differ in one person, in both orders, and each dataset with itself;
/// every person; these odds.
fn menu(odds: &[u64]) -> Vec<Message<Challenge, Infallible>> {
    let mut menu = Vec::new();
    for (zero, one) in PEOPLE
        .iter()
        .flat_map(|zero| PEOPLE.map(|one| (*zero, one)))
    {
        let differ = (0..2).filter(|person| zero[*person] != one[*person]);
        if differ.count() <= 1 {
            for (person, odds) in (0..2).flat_map(|person| odds.iter().map(move |o| (person, *o))) {
                let pair = [zero, one];
                menu.push(Message::Launch(Challenge { pair, person, odds }));
            }
        }
    }
    menu
}

fn secret() -> Pair<Secret> {
    Pair::new(Secret(false), Secret(true))
}

fn rdp(order: u64) -> Rdp {
    Rdp::new(order.to_string().parse::<Order>().unwrap())
}

/// F Alg 2 is the non-interactive filter that halts; the other policy is the remark before
/// Thm 4.3, that the analyst may ask for less instead.
#[test]
fn theorem_4_3_the_renyi_filter_holds_against_new_neighbours_in_every_round() {
    for order in [2, 3] {
        let measure = rdp(order);
        let budget = once(3).loss(&measure).unwrap().checked_mul(2).unwrap();
        for filter in [
            Filter::noninteractive(measure, budget).halting(),
            Filter::noninteractive(measure, budget),
        ] {
            let filter = Addressed::<_, Challenge>::new(filter);
            let verifier = Verifier::by_state(copies_of(&filter), &secret(), menu(&[3, 2]), 3);
            verifier.assert_private(&measure, &budget);
            // And this is tight: two responses at odds of three are all of it.
            let worst = verifier.worst_renyi(measure.order()).unwrap();
            assert_eq!(exact(&worst), renyi_of_once(3, order).pow(2));
        }
        // One unit less has no room for the second.
        let less = Epsilon::from_units(budget.units() - 1).unwrap();
        let filter = Addressed::<_, Challenge>::new(Filter::noninteractive(measure, less));
        let verifier = Verifier::by_state(copies_of(&filter), &secret(), menu(&[3]), 3);
        let worst = verifier.worst_renyi(measure.order()).unwrap();
        assert_eq!(exact(&worst), renyi_of_once(3, order));
    }
}

/// F Alg 2 against the same without a filter: the adversary gets more than the budget.
#[test]
fn without_the_filter_new_neighbours_cost_more() {
    let measure = rdp(2);
    let budget = once(3).loss(&measure).unwrap().checked_mul(2).unwrap();
    let twice = budget.checked_mul(2).unwrap();
    let filter = Addressed::<_, Challenge>::new(Filter::noninteractive(measure, twice));
    let verifier = Verifier::by_state(copies_of(&filter), &secret(), menu(&[3]), 3);
    let verdict = verifier.check(&measure, &budget).unwrap();
    assert!(verdict.is_refuted(), "{verdict}");
}

/// F Rem. 4.4: the stopping rule does not depend on the order, so that one filter holds at each.
#[test]
fn remark_4_4_a_zcdp_filter_is_a_renyi_filter_at_every_order() {
    let one: Rho = once(3).loss(&ZCdp).unwrap();
    let budget = one.checked_mul(2).unwrap();
    let filter = Addressed::<_, Challenge>::new(Filter::noninteractive(ZCdp, budget).halting());
    let verifier = Verifier::by_state(copies_of(&filter), &secret(), menu(&[3]), 3);
    for order in [2, 3, 4, 8] {
        let at_order = Epsilon::from_units(budget.units() * u128::from(order)).unwrap();
        verifier.assert_private(&rdp(order), &at_order);
        let worst = verifier.worst_renyi(rdp(order).order()).unwrap();
        assert_eq!(exact(&worst), renyi_of_once(3, order).pow(2));
    }
}

/// F 4.3 and 4.7 with an (ε, δ) budget.
#[test]
fn filters_through_renyi_and_zcdp_hold_against_new_neighbours_in_every_round() {
    let budget = EpsilonDelta::new("3", "0.3").unwrap();
    let through_rdp = ThroughRdp::at("2".parse().unwrap(), budget, budget.delta).unwrap();
    let filter = Addressed::<_, Challenge>::new(Filter::noninteractive_with(through_rdp));
    let verifier = Verifier::by_state(copies_of(&filter), &secret(), menu(&[3]), 3);
    verifier.assert_private(&ApproxDp, &budget);

    let through_zcdp = ThroughZCdp::tight(budget, budget.delta).unwrap();
    let filter = Addressed::<_, Challenge>::new(Filter::noninteractive_with(through_zcdp));
    let verifier = Verifier::by_state(copies_of(&filter), &secret(), menu(&[3]), 3);
    verifier.assert_private(&ApproxDp, &budget);
}
