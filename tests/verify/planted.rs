//! Planted bugs, and what catches each: `verify`, by a loss above the claim or by views that differ
//! from those of the right one; property tests; or the compiler.

use std::sync::Arc;

use crate::filter::{Bug, COST, Home, Kid, Query, Reply};
use crate::support::*;
use crate::threshold::AboveThreshold;
use queryables::machine::{CoinSource, Coins, Fault, Machine, Mechanism};
use queryables::number::Epsilon;
use queryables::privacy::PureDp;
use queryables::verify::{Pair, Rational, Truncated, Value, Verdict, Verifier, copies_of};

/// Two responses fit.
const BUDGET: i64 = 2 * COST;

/// Thousandths as ε.
fn epsilon(thousandths: i64) -> Epsilon {
    format!("{thousandths}e-3").parse().unwrap()
}

/// Launches of these, and what else is said, to the first three handles.
fn menu(kids: &[Kid], also: &[Query]) -> Vec<Query> {
    let launches = kids.iter().copied().map(Query::Launch);
    let asks = (0..3).map(Query::Ask);
    launches.chain(asks).chain(also.iter().copied()).collect()
}

/// What became of the claim that this budget is kept.
fn verdict(home: &Home, budget: i64, menu: &[Query], depth: usize) -> Verdict<Query, Reply> {
    let pair = Pair::new(false, true);
    let verdict = Verifier::by_state(copies_of(home), &pair, menu.to_vec(), depth)
        .check(&PureDp, &epsilon(budget))
        .unwrap();
    assert_ne!(verdict.holds(), verdict.is_refuted());
    verdict
}

/// Asserts that the right one keeps its budget, and the wrong one does not; how, is returned.
#[track_caller]
fn assert_over_budget(bug: Bug, menu: &[Query], depth: usize) -> String {
    let right = verdict(&Home::filter(Bug::Nothing, BUDGET), BUDGET, menu, depth);
    assert!(right.holds(), "{right}");
    let wrong = verdict(&Home::filter(bug, BUDGET), BUDGET, menu, depth);
    assert!(wrong.is_refuted(), "{wrong}");
    wrong.to_string()
}

/// The largest total variation between the views of the right one and of the other.
fn told_apart(right: &Home, bug: Bug, depth: usize) -> Rational {
    let wrong = Home {
        bug,
        ..right.clone()
    };
    let data = Arc::new(true);
    let difference = |other: &Home| {
        let menu = menu(&[Kid::Respond], &[]);
        let verifier =
            Verifier::comparing_by_state(copies_of(right), copies_of(other), &data, menu, depth);
        exact(&verifier.difference().unwrap())
    };
    assert_eq!(difference(right), Rational::ZERO);
    difference(&wrong)
}

#[test]
fn the_right_one_is_exactly_at_its_budget() {
    let kids = [
        Kid::Respond,
        Kid::RespondToNothing,
        Kid::Failing,
        Kid::Claiming(-COST),
    ];
    let menu = menu(&kids, &[Query::Clone(0), Query::LaunchUnder(Kid::Respond)]);
    let right = verdict(&Home::filter(Bug::Nothing, BUDGET), BUDGET, &menu, 4);
    assert!(right.holds(), "{right}");
    assert_eq!(right.worst.value.exact(), Some(&ratio(9, 1)));
}

#[test]
fn check_after_release_is_caught_by_verify() {
    let message = assert_over_budget(Bug::CheckAfterRelease, &menu(&[Kid::Respond], &[]), 6);
    assert!(message.contains("Refused: ask"), "{message}");
}

#[test]
fn refund_after_a_failure_that_touched_the_data_is_caught_by_verify() {
    let message = assert_over_budget(Bug::RefundAfterFailure, &menu(&[Kid::Failing], &[]), 4);
    assert!(message.contains("Failed: ask Launch(Failing)"), "{message}");
}

#[test]
fn a_refusal_that_leaks_is_caught_by_verify() {
    let message = assert_over_budget(Bug::LeakyRefusal, &menu(&[Kid::Respond], &[]), 4);
    assert!(message.contains("infinite"), "{message}");
}

#[test]
fn forked_state_is_caught_by_verify() {
    let menu = menu(&[Kid::Respond], &[Query::Clone(0)]);
    let message = assert_over_budget(Bug::ForkedState, &menu, 6);
    assert!(message.contains("Clone(0)"), "{message}");
}

#[test]
fn reused_noise_is_caught_by_verify() {
    let menu = menu(&[Kid::Respond, Kid::RespondToNothing], &[]);
    let message = assert_over_budget(Bug::ReusedNoise, &menu, 4);
    assert!(message.contains("infinite"), "{message}");
}

#[test]
fn a_negative_loss_is_caught_by_verify() {
    let menu = menu(&[Kid::Respond, Kid::Claiming(-COST)], &[Query::Ask(3)]);
    let message = assert_over_budget(Bug::NegativeLoss, &menu, 7);
    assert!(message.contains("Claiming(-1099)"), "{message}");
}

#[test]
fn rounding_down_is_caught_by_verify() {
    // 1.09 twice is within 2.18, and the truth is 2.197.
    let budget = 2 * (COST / 10 * 10);
    let menu = menu(&[Kid::Respond], &[]);
    let right = verdict(&Home::filter(Bug::Nothing, budget), budget, &menu, 5);
    assert!(right.holds(), "{right}");
    assert_eq!(right.worst.value.exact(), Some(&ratio(3, 1)));
    let wrong = verdict(&Home::filter(Bug::RoundingDown, budget), budget, &menu, 5);
    assert!(wrong.is_refuted(), "{wrong}");
    assert_eq!(wrong.worst.value.exact(), Some(&ratio(9, 1)));
}

#[test]
fn less_for_at_most_is_caught_by_verify_as_other_views() {
    let right = Home::filter(Bug::Nothing, BUDGET);
    assert_eq!(told_apart(&right, Bug::StrictlyLess, 3), Rational::ONE);
}

#[test]
fn a_child_that_outlives_its_freeze_is_caught_by_verify_as_other_views() {
    let right = Home {
        sequential: true,
        ..Home::filter(Bug::Nothing, BUDGET)
    };
    assert_eq!(told_apart(&right, Bug::OutlivesFreeze, 3), Rational::ONE);
}

#[test]
fn one_launch_too_many_is_caught_by_verify_as_other_views() {
    let right = Home {
        most: 1,
        ..Home::filter(Bug::Nothing, BUDGET)
    };
    assert_eq!(told_apart(&right, Bug::OneLaunchTooMany, 2), Rational::ONE);
}

#[test]
fn a_halt_that_forgets_children_is_caught_by_verify_as_other_views() {
    let right = Home {
        halts: true,
        ..Home::filter(Bug::Nothing, COST)
    };
    assert_eq!(
        told_apart(&right, Bug::HaltForgetsChildren, 3),
        Rational::ONE
    );
}

#[test]
fn an_odometer_that_forgets_a_grandchild_is_caught_by_verify() {
    let pair = Pair::new(false, true);
    let holds = |bug| {
        let odometer = Home {
            budget: None,
            ..Home::filter(bug, 0)
        };
        let truncated = Truncated::new(odometer, COST);
        let menu = menu(&[Kid::Respond], &[Query::LaunchUnder(Kid::Respond)]);
        let verdict = Verifier::by_state(copies_of(&truncated), &pair, menu, 5)
            .check(&PureDp, &epsilon(COST))
            .unwrap();
        assert_ne!(verdict.holds(), verdict.is_refuted(), "{verdict}");
        verdict.holds()
    };
    assert!(holds(Bug::Nothing));
    assert!(!holds(Bug::ForgottenGrandchild));
}

#[test]
fn above_threshold_that_spends_nothing_after_the_first_hit_is_caught_by_verify() {
    let pair = Pair::new(vec![7, 7, 8], vec![7, 8]);
    // 2 ln 2: one step of the threshold and one of the count.
    let claim: Epsilon = "1.387".parse().unwrap();
    let holds = |bug| {
        let mechanism = AboveThreshold(bug);
        let verifier = Verifier::by_state(copies_of(&mechanism), &pair, vec![7, 8], 5);
        verifier.check(&PureDp, &claim).unwrap().holds()
    };
    assert!(holds(crate::threshold::Bug::Nothing));
    assert!(!holds(crate::threshold::Bug::GoesOn));
    assert!(!holds(crate::threshold::Bug::NoQueryNoise));
}

/// "Rounds" the answers of a response, and has got hold of the data: started as a mechanism, not
/// as a middle. A middle that asks for the data does not compile
/// (`tests/compile_fail/library/middle_that_reads_the_data.rs`).
#[derive(Clone)]
struct Peeking;
struct PeekingMachine(Responding, bool);

impl Mechanism<bool> for Peeking {
    type Machine = PeekingMachine;
    fn start(&self, data: &Arc<bool>, coins: &mut Coins<'_>) -> Result<PeekingMachine, Fault> {
        Ok(PeekingMachine(once(3).start(data, coins)?, **data))
    }
}

impl Machine for PeekingMachine {
    type Query = ();
    type Answer = bool;
    fn step(&mut self, (): (), coins: &mut Coins<'_>) -> Result<bool, Fault> {
        Ok(self.0.step((), coins)? && self.1)
    }
}

#[test]
fn a_middle_that_reads_the_data_is_caught_by_verify() {
    let pair = Pair::new(false, true);
    let verifier = Verifier::new(copies_of(&Peeking), &pair, vec![()], 1);
    assert!(verifier.check(&PureDp, &ln(3)).unwrap().is_refuted());
    assert_eq!(verifier.worst_ratio().unwrap().value, Value::Infinite);
}

#[test]
fn replies_are_as_expected() {
    // The planted filter is a right one to begin with: what it says is what one expects.
    let mut machine = Home::filter(Bug::Nothing, COST)
        .start(&Arc::new(true), &mut coins().coins())
        .unwrap();
    let mut ask = |query| machine.step(query, &mut coins().coins()).unwrap();
    assert_eq!(ask(Query::Launch(Kid::Claiming(-1))), Reply::NotALoss);
    assert_eq!(ask(Query::Launch(Kid::Respond)), Reply::Child(0));
    assert_eq!(ask(Query::Launch(Kid::Respond)), Reply::Refused);
    assert_eq!(ask(Query::Clone(0)), Reply::Child(1));
    assert!(matches!(ask(Query::Ask(1)), Reply::Answer(_)));
    assert_eq!(ask(Query::Ask(0)), Reply::NoAnswer);
    assert_eq!(ask(Query::Loss), Reply::Loss(COST));
}

fn coins() -> queryables::machine::NotPrivateSeededCoins {
    queryables::machine::NotPrivateSeededCoins::new(0)
}
