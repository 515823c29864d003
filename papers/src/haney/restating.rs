//! Alg 13 of Haney et al., as an equality of views for every adversary: a zCDP filter is a
//! postprocessing of a Rényi filter.

use std::sync::Arc;

use crate::support::*;
use queryables::compose::{Addressed, Filter, LaunchError, Message, Refusal, Reply};
use queryables::machine::{Coins, Fault};
use queryables::middle::{Middle, Move, ThroughExt};
use queryables::number::{Epsilon, Rho};
use queryables::privacy::{Private, Rdp, Restated, ZCdp};
use queryables::verify::{Children, Rational, Verifier, Worst, copies_of};

/// P of Alg 13, at order 2: launches are restated, all else is passed on. Twice ρ is the Rényi
/// loss, so that refusals can be stated in ρ again.
#[derive(Clone, Hash)]
pub(crate) struct Restating;

fn half(epsilon: Epsilon) -> Rho {
    assert_eq!(epsilon.units() % 2, 0);
    Rho::from_units(epsilon.units() / 2).unwrap()
}

impl Middle<Message<Restated<ZCdp, Respond>, ()>, Told> for Restating {
    type OuterQuery = Ask;
    type OuterAnswer = Reply<bool, Rho>;

    fn on_query(
        &mut self,
        query: Ask,
        _: &mut Coins<'_>,
    ) -> Result<Move<Message<Restated<ZCdp, Respond>, ()>, Reply<bool, Rho>>, Fault> {
        Ok(Move::Ask(match query {
            Message::Launch(respond) => Message::Launch(Restated::new(ZCdp, respond)),
            Message::Ask(number, ()) => Message::Ask(number, ()),
            Message::Close(number) => Message::Close(number),
            Message::PrivacyLoss => Message::PrivacyLoss,
            Message::Remaining => Message::Remaining,
        }))
    }

    fn on_answer(
        &mut self,
        answer: Told,
        _: &mut Coins<'_>,
    ) -> Result<Move<Message<Restated<ZCdp, Respond>, ()>, Reply<bool, Rho>>, Fault> {
        Ok(Move::Answer(match answer {
            Reply::Launched(number) => Reply::Launched(number),
            Reply::NotLaunched(LaunchError::Refused(refusal)) => {
                Reply::NotLaunched(LaunchError::Refused(Refusal {
                    spent: half(refusal.spent),
                    set_aside: refusal.set_aside.map(|aside| Box::new(half(*aside))),
                    requested: half(refusal.requested),
                    remaining: half(refusal.remaining),
                    limit: half(refusal.limit),
                }))
            }
            Reply::NotLaunched(LaunchError::Stopped(stop)) => {
                Reply::NotLaunched(LaunchError::Stopped(stop))
            }
            Reply::NotLaunched(_) => return Err(Fault::Failed),
            Reply::Answered(answer) => Reply::Answered(answer),
            Reply::NotAnswered(error) => Reply::NotAnswered(error),
            Reply::Closed(number) => Reply::Closed(number),
            Reply::Unknown(number) => Reply::Unknown(number),
            Reply::PrivacyLoss(spent) => Reply::PrivacyLoss(half(spent)),
            Reply::NotRead(error) => Reply::NotRead(error),
            Reply::Remaining(left) => Reply::Remaining(left.map(half)),
        }))
    }
}

/// How far a zCDP filter that has room for three responses is from P of Alg 13 before a Rényi
/// filter whose budget is this function of ρ, in units.
fn alg_13(budget: impl Fn(u128) -> u128) -> [Worst<Ask, Reply<bool, Rho>>; 2] {
    let rho: Rho = once(3).loss(&ZCdp).unwrap().checked_mul(3).unwrap();
    let epsilon = Epsilon::from_units(budget(rho.units())).unwrap();
    let direct = Addressed::<_, Respond>::new(Filter::concurrent(ZCdp, rho));
    let rdp = Rdp::new("2".parse().unwrap());
    let reduced = Addressed::<_, Restated<ZCdp, Respond>>::new(Filter::concurrent(rdp, epsilon))
        .through(Restating);
    let menu = || Children::new(vec![once(3), once(9)], vec![()]).with_remaining();
    [false, true].map(|bit| {
        let data = Arc::new(bit);
        let verifier =
            Verifier::comparing_by_state(copies_of(&direct), copies_of(&reduced), &data, menu(), 5);
        verifier.difference().unwrap()
    })
}

#[test]
fn alg_13_zcdp_filters_are_postprocessings_of_renyi_filters() {
    for difference in alg_13(|rho| 2 * rho) {
        assert_eq!(
            difference.value.exact(),
            Some(&Rational::ZERO),
            "{difference}"
        );
    }
}

#[test]
fn alg_13_needs_its_very_factor() {
    // Twice as much admits what should be refused; two units less refuse the third response.
    let wrong: [fn(u128) -> u128; 2] = [|rho| 4 * rho, |rho| 2 * rho - 2];
    for budget in wrong {
        for difference in alg_13(budget) {
            assert_eq!(
                difference.value.exact(),
                Some(&Rational::ONE),
                "{difference}"
            );
        }
    }
}
