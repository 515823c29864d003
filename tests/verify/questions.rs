//! Questions that ask nothing are errors, and every verdict says what it is about.

use std::sync::Arc;

use crate::support::*;
use queryables::compose::{Message, Reply};
use queryables::machine::{Coins, Fault, Machine, Mechanism, Released};
use queryables::number::Epsilon;
use queryables::privacy::{AddRemove, Private, PureDp, UnknownLoss};
use queryables::verify::{
    ByRound, Children, Menu, Pair, Value, Verdict, Verifier, VerifyError, by_transcript, copies_of,
};

fn pair() -> Pair<bool> {
    Pair::new(false, true)
}

/// What a check of randomized response comes to, with this menu and depth.
fn asked<N: Menu<(), bool>>(menu: N, depth: usize) -> Result<Verdict<(), bool>, VerifyError> {
    Verifier::new(copies_of(&once(3)), &pair(), menu, depth).check(&PureDp, &ln(3))
}

#[test]
fn no_depth_is_an_error() {
    assert_eq!(asked(vec![()], 0).unwrap_err(), VerifyError::NoDepth);
    assert!(asked(vec![()], 1).unwrap().holds());
}

#[test]
fn an_empty_menu_is_an_error() {
    assert_eq!(asked(vec![], 1).unwrap_err(), VerifyError::EmptyMenu);
    let nothing_first = ByRound(vec![vec![], vec![()]]);
    assert_eq!(asked(nothing_first, 2).unwrap_err(), VerifyError::EmptyMenu);
}

#[test]
fn a_menu_without_rounds_is_an_error() {
    assert_eq!(
        asked(ByRound(vec![]), 1).unwrap_err(),
        VerifyError::NoRounds
    );
}

#[test]
fn the_same_dataset_twice_is_an_error() {
    let pair = Pair::new(vec![1, 2], vec![1, 2]);
    let released = || Length(Released(0));
    let worst = Verifier::new(released, &pair, vec![()], 1).worst_ratio();
    assert_eq!(worst.unwrap_err(), VerifyError::SameDataset);
}

/// Answers with the number of rows.
#[derive(Clone)]
struct Length(Released<usize>);

impl Mechanism<Vec<u8>> for Length {
    type Machine = Released<usize>;
    fn start(&self, data: &Arc<Vec<u8>>, _: &mut Coins<'_>) -> Result<Released<usize>, Fault> {
        Ok(Released(data.len() + self.0.0))
    }
}

fn filter_asked(
    budget: Epsilon,
    menu: Children<Respond, ()>,
) -> Result<Verdict<Ask, Told>, VerifyError> {
    let filter = pure_filter::<Respond>(budget);
    Verifier::by_state(copies_of(&filter), &pair(), menu, 3).check(&PureDp, &budget)
}

#[test]
fn a_menu_without_launches_is_an_error() {
    let none = Children::new(vec![once(3)], vec![()]).at_most(0);
    let error = filter_asked(ln(3), none).unwrap_err();
    assert_eq!(error, VerifyError::NoLaunches);
    let none = Children::new(vec![], vec![()]);
    let error = filter_asked(ln(3), none).unwrap_err();
    assert_eq!(error, VerifyError::NoLaunches);
}

#[test]
fn a_budget_that_admits_nothing_is_an_error() {
    // Readings are answered, and say nothing about data.
    for menu in [
        Children::new(vec![once(3)], vec![()]),
        Children::new(vec![once(3)], vec![()]).without_reading(),
    ] {
        let error = filter_asked(ln(2), menu).unwrap_err();
        assert_eq!(error, VerifyError::NothingLaunched);
    }
}

/// Tells the bit, and claims a loss of 1.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Leak;

impl Mechanism<bool> for Leak {
    type Machine = Released<bool>;
    fn start(&self, data: &Arc<bool>, _: &mut Coins<'_>) -> Result<Released<bool>, Fault> {
        Ok(Released(**data))
    }
}

impl Private<PureDp, AddRemove> for Leak {
    fn loss(&self, _: &PureDp) -> Result<Epsilon, UnknownLoss> {
        "1".parse().map_err(|_| UnknownLoss("no number"))
    }
}

type LeakAsk = Message<Leak, ()>;
type LeakTold = Reply<bool, Epsilon>;

/// What a check of a filter comes to that claims no loss at all.
fn leak_asked<N>(budget: &str, menu: N, depth: usize) -> Result<bool, VerifyError>
where
    N: Menu<LeakAsk, LeakTold>,
{
    let filter = pure_filter::<Leak>(budget.parse().unwrap());
    Verifier::new(copies_of(&filter), &pair(), menu, depth)
        .check(&PureDp, &Epsilon::ZERO)
        .map(|verdict| verdict.holds())
}

#[test]
fn what_an_answer_says_does_not_depend_on_the_menu() {
    let (launch, ask) = (Message::Launch(Leak), Message::Ask(0, ()));
    let reading = || vec![Message::PrivacyLoss];
    // Only readings.
    assert_eq!(
        leak_asked("1", reading(), 2),
        Err(VerifyError::NothingLaunched)
    );
    let rounds = ByRound(vec![reading(), reading()]);
    assert_eq!(
        leak_asked("1", rounds, 2),
        Err(VerifyError::NothingLaunched)
    );
    let transcript =
        by_transcript(|_: &[(LeakAsk, Result<LeakTold, Fault>)]| vec![Message::PrivacyLoss]);
    assert_eq!(
        leak_asked("1", transcript, 2),
        Err(VerifyError::NothingLaunched)
    );
    // Launches that are always refused.
    let both = || vec![launch.clone(), ask.clone()];
    assert_eq!(
        leak_asked("0.5", both(), 2),
        Err(VerifyError::NothingLaunched)
    );
    // With a budget for it, the same menu finds the leak.
    assert_eq!(leak_asked("1", both(), 2), Ok(false));
}

#[test]
fn children_that_are_never_asked_are_an_error() {
    let (launch, ask) = (Message::Launch(Leak), Message::Ask(0, ()));
    let late = ByRound(vec![vec![ask.clone()], vec![launch.clone()]]);
    assert_eq!(leak_asked("1", late, 2), Err(VerifyError::NoChildAnswered));
    let silent = || Children::new(vec![Leak], vec![]);
    assert_eq!(
        leak_asked("1", silent(), 3),
        Err(VerifyError::NoChildAnswered)
    );
    // Too short to ask.
    let menu = || Children::new(vec![Leak], vec![()]);
    assert_eq!(
        leak_asked("1", menu(), 1),
        Err(VerifyError::NoChildAnswered)
    );
    assert_eq!(leak_asked("1", menu(), 2), Ok(false));
    let in_time = ByRound(vec![vec![launch], vec![ask]]);
    assert_eq!(leak_asked("1", in_time, 2), Ok(false));
}

/// Understands nothing.
#[derive(Clone, Copy)]
enum Deaf {
    Alike,
    /// Says how it did not understand, by the bit.
    Differently,
    NeverStarts,
}

struct DeafMachine(bool);

impl Mechanism<bool> for Deaf {
    type Machine = DeafMachine;
    fn start(&self, data: &Arc<bool>, _: &mut Coins<'_>) -> Result<DeafMachine, Fault> {
        match self {
            Self::Alike => Ok(DeafMachine(false)),
            Self::Differently => Ok(DeafMachine(**data)),
            Self::NeverStarts => Err(Fault::Failed),
        }
    }
}

impl Machine for DeafMachine {
    type Query = ();
    type Answer = bool;
    fn step(&mut self, (): (), _: &mut Coins<'_>) -> Result<bool, Fault> {
        Err(if self.0 {
            Fault::Exhausted
        } else {
            Fault::Failed
        })
    }
}

#[test]
fn a_menu_of_which_nothing_is_answered_is_an_error() {
    for deaf in [Deaf::Alike, Deaf::NeverStarts] {
        let worst = Verifier::new(copies_of(&deaf), &pair(), vec![()], 2).worst_ratio();
        assert_eq!(worst.unwrap_err(), VerifyError::NothingAnswered);
    }
    // A leak through faults is a leak.
    let leak = Verifier::new(copies_of(&Deaf::Differently), &pair(), vec![()], 2);
    assert_eq!(leak.worst_ratio().unwrap().value, Value::Infinite);
}

#[test]
fn a_verdict_says_its_scope() {
    // Two launches are admitted, the other never.
    let menu = Children::new(vec![once(3), once(100)], vec![()]);
    let verdict = filter_asked(ln_times(3, 2), menu).unwrap();
    let scope = &verdict.worst.scope;
    assert_eq!(scope.sides, ["false".to_owned(), "true".to_owned()]);
    assert_eq!(scope.depth, 3);
    let never: Vec<_> = scope
        .menu
        .iter()
        .filter(|(_, answered)| !answered)
        .collect();
    assert_eq!(never.len(), 1, "{scope}");
    assert!(never[0].0.contains("100"), "{scope}");
    assert!(scope.points > 0 && scope.runs > 0);
    let printed = verdict.to_string();
    let last = printed.lines().last().unwrap();
    assert!(
        last.starts_with("scope: false against true; 5 queries on the menu, up to 3 rounds, "),
        "{printed}"
    );
    assert!(
        last.contains("never answered: Launch(Respond { odds: 100"),
        "{printed}"
    );
}

/// Offers the same queries in another order each time.
struct Shuffled(std::sync::atomic::AtomicBool);

impl Menu<u8, u8> for Shuffled {
    type State = ();
    fn start(&self) {}
    fn queries(&self, (): &()) -> Vec<u8> {
        let flips = self.0.fetch_xor(true, std::sync::atomic::Ordering::Relaxed);
        if flips { vec![0, 1] } else { vec![1, 0] }
    }
    fn after(&self, (): &(), _: &u8, _: &Result<u8, Fault>) {}
}

/// Tells the bit to query 1.
#[derive(Clone, Hash)]
struct OnOne(bool);

impl Mechanism<bool> for OnOne {
    type Machine = OnOne;
    fn start(&self, data: &Arc<bool>, _: &mut Coins<'_>) -> Result<OnOne, Fault> {
        Ok(OnOne(**data))
    }
}

impl Machine for OnOne {
    type Query = u8;
    type Answer = u8;
    fn step(&mut self, query: u8, _: &mut Coins<'_>) -> Result<u8, Fault> {
        Ok(if query == 1 { self.0.into() } else { 0 })
    }
}

#[test]
fn a_menu_whose_order_varies_is_an_error() {
    let menu = || Shuffled(false.into());
    let opaque = Verifier::new(|| OnOne(false), &pair(), menu(), 2).worst_ratio();
    assert_eq!(opaque.unwrap_err(), VerifyError::MenuDiverged);
    let by_state = Verifier::by_state(|| OnOne(false), &pair(), menu(), 2).worst_ratio();
    assert_eq!(by_state.unwrap_err(), VerifyError::MenuDiverged);
}

/// Fails to start half of the time on one dataset, in one of two ways.
#[derive(Clone, Copy)]
struct Shy(Fault, Fault);

impl Mechanism<bool> for Shy {
    type Machine = Released<bool>;
    fn start(&self, data: &Arc<bool>, coins: &mut Coins<'_>) -> Result<Released<bool>, Fault> {
        match (coins.weighted(&[1, 1])?, **data) {
            (0, _) => Ok(Released(true)),
            (_, false) => Err(self.0),
            (_, true) => Err(self.1),
        }
    }
}

#[test]
fn starts_that_fail_differently_are_told_apart() {
    let shy = Shy(Fault::Failed, Fault::Exhausted);
    let worst = Verifier::new(copies_of(&shy), &pair(), vec![()], 1)
        .difference()
        .unwrap();
    assert_eq!(exact(&worst), ratio(1, 2));
    let same = Shy(Fault::Failed, Fault::Failed);
    let worst = Verifier::new(copies_of(&same), &pair(), vec![()], 1).difference();
    assert_eq!(exact(&worst.unwrap()), ratio(0, 1));
    // What leaks is written down.
    let worst = Verifier::new(copies_of(&shy), &pair(), vec![()], 1).worst_ratio();
    let printed = worst.unwrap().to_string();
    assert!(
        printed.contains("did not start, the mechanism failed: stop  (probability 1/2 and 0)"),
        "{printed}"
    );
}

#[test]
fn a_cut_that_is_set_after_a_run_has_an_effect_by_state() {
    let mechanism = || Tails(0);
    let verifier = Verifier::by_state(mechanism, &pair(), vec![()], 1).cut(ratio(1, 4));
    let early = verifier.difference().unwrap();
    let verifier = verifier.cut(ratio(1, 1 << 20));
    let late = verifier.difference().unwrap();
    assert!(late.value.high().unwrap() < early.value.high().unwrap());
}

/// Answers with the number of tails before heads.
#[derive(Clone, Hash)]
struct Tails(u8);

#[derive(Debug)]
struct CountTails;

impl queryables::machine::Law for CountTails {
    fn sample(
        &self,
        coins: &mut dyn queryables::machine::CoinSource,
    ) -> Result<i128, queryables::machine::CoinsError> {
        let mut tails = 0;
        while coins.weighted(&[1, 1])? == 0 {
            tails += 1;
        }
        Ok(tails)
    }
}

impl Mechanism<bool> for Tails {
    type Machine = Tails;
    fn start(&self, _: &Arc<bool>, _: &mut Coins<'_>) -> Result<Tails, Fault> {
        Ok(Tails(0))
    }
}

impl Machine for Tails {
    type Query = ();
    type Answer = i128;
    fn step(&mut self, (): (), coins: &mut Coins<'_>) -> Result<i128, Fault> {
        Ok(coins.draw(&CountTails)?)
    }
}
