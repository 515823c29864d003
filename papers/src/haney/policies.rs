//! Alg 8, 9, 13, 14 and 15 of Haney et al. under both policies for a launch over budget, with
//! children and a person in the middle that have state. `halting` has Alg 11 and 12.

use std::num::NonZeroU64;
use std::sync::Arc;

use super::odometers::{AddressedOdometer, Counting, NoReading};
use super::person_in_the_middle::{Simulating, unsimulate};
use super::restating::Restating;
use crate::support::*;
use queryables::compose::{Addressed, Filter, LaunchError, Message, Odometer, Refusal, Reply};
use queryables::machine::{
    Adversary, CoinSource, Coins, CoinsError, Fault, Inspect, Machine, Mechanism, Metered,
    StateKey, Stop,
};
use queryables::middle::{Middle, Move, ThroughExt};
use queryables::number::{Epsilon, Rho};
use queryables::privacy::{Private, PureDp, Rdp, Restated, ZCdp};
use queryables::queryable::AskError;
use queryables::verify::{ByRound, Rational, Verifier, Worst, copies_of, views};

const TWO: NonZeroU64 = NonZeroU64::new(2).unwrap();

/// Answers twice, and knows how often it has: a child with state.
fn twice(odds: u64) -> Respond {
    Respond { odds, answers: 2 }
}

#[track_caller]
fn assert_same<Q, A>(difference: &Worst<Q, A>) {
    assert_eq!(exact(difference), Rational::ZERO);
}

// ---- Alg 8, 9 --------------------------------------------------------------------------------

/// P: launches a mechanism and asks it once or twice, by a coin of its own, or asks the first one
/// again. It counts the `true`s that it heard, and says with the count what happened.
#[derive(Clone, Default)]
struct Assistant {
    heard: u8,
    latest: usize,
}

impl Middle<Ask, Told> for Assistant {
    type OuterQuery = bool;
    type OuterAnswer = (&'static str, u8);

    fn on_query(
        &mut self,
        launch: bool,
        _: &mut Coins<'_>,
    ) -> Result<Move<Ask, (&'static str, u8)>, Fault> {
        Ok(Move::Ask(if launch {
            Message::Launch(twice(3))
        } else {
            Message::Ask(0, ())
        }))
    }

    fn on_answer(
        &mut self,
        answer: Told,
        coins: &mut Coins<'_>,
    ) -> Result<Move<Ask, (&'static str, u8)>, Fault> {
        let said = match answer {
            Reply::Launched(number) => {
                self.latest = number;
                return Ok(Move::Ask(Message::Ask(number, ())));
            }
            Reply::Answered(answer) => {
                self.heard += u8::from(answer);
                if coins.weighted(&[2, 1])? == 1 {
                    return Ok(Move::Ask(Message::Ask(self.latest, ())));
                }
                "heard"
            }
            Reply::NotLaunched(LaunchError::Stopped(_)) => "not launched: halted",
            Reply::NotLaunched(_) => "not launched",
            Reply::NotAnswered(AskError::Stopped(_)) => "not answered: halted",
            Reply::NotAnswered(_) => "not answered",
            Reply::PrivacyLoss(_) => "spent",
            Reply::Unknown(_) => "nobody there",
            Reply::Closed(_) | Reply::Remaining(_) | Reply::NotRead(_) => {
                return Err(Fault::Failed);
            }
        };
        Ok(Move::Answer((said, self.heard)))
    }

    fn on_fault(
        &mut self,
        _: Fault,
        _: &mut Coins<'_>,
    ) -> Result<Move<Ask, (&'static str, u8)>, Fault> {
        Ok(Move::Answer(("fault", self.heard)))
    }
}

/// A: three questions, each a launch or not by a fair coin.
#[derive(Clone, Default)]
struct Coins3 {
    asked: u8,
}

impl Adversary for Coins3 {
    type Query = bool;
    type Answer = (&'static str, u8);

    fn ask(
        &mut self,
        _: Option<&Result<Self::Answer, Fault>>,
        coins: &mut dyn CoinSource,
    ) -> Result<Option<bool>, CoinsError> {
        if self.asked == 3 {
            return Ok(None);
        }
        self.asked += 1;
        Ok(Some(coins.uniform(TWO)? == 0))
    }
}

#[test]
fn alg_8_and_9_hold_before_a_filter_under_both_policies() {
    let budget = ln_times(3, 2);
    let mut seen = Vec::new();
    for filter in [
        Filter::concurrent(PureDp, budget),
        Filter::concurrent(PureDp, budget).halting(),
    ] {
        let filter = Addressed::<_, Respond>::new(filter);
        let outer = filter.clone().through(Assistant::default());
        for bit in [false, true] {
            let data = Arc::new(bit);
            let through = views(copies_of(&outer), &data, Coins3::default, 10).unwrap();
            let simulating = || Simulating::new(Coins3::default(), Assistant::default());
            let simulated = views(copies_of(&filter), &data, simulating, 20).unwrap();
            let simulated =
                simulated.map(|view| unsimulate(view, Coins3::default(), Assistant::default()));
            assert!(through.is_same_as(&simulated), "{bit}");
            seen.push(through);
        }
    }
    // The data and the policy make a difference: neither comparison was an empty one.
    assert!(!seen[0].is_same_as(&seen[1]) && !seen[2].is_same_as(&seen[3]));
    assert!(!seen[0].is_same_as(&seen[2]) && !seen[1].is_same_as(&seen[3]));
}

// ---- Alg 13 ----------------------------------------------------------------------------------

#[test]
fn alg_13_holds_under_both_policies() {
    let rho: Rho = twice(3).loss(&ZCdp).unwrap().checked_mul(2).unwrap();
    let epsilon = Epsilon::from_units(2 * rho.units()).unwrap();
    let rdp = Rdp::new("2".parse().unwrap());
    // Every message that there is.
    let menu = || {
        let launches = [twice(3), once(9)].map(Message::Launch);
        let others = [0, 1].map(|child| Message::Ask(child, ()));
        let all = launches.into_iter().chain(others);
        let all = all.chain([Message::Close(0), Message::PrivacyLoss, Message::Remaining]);
        ByRound(vec![all.collect::<Vec<Ask>>(); 4])
    };
    let direct = |halts| {
        let filter = Filter::concurrent(ZCdp, rho);
        Addressed::<_, Respond>::new(if halts { filter.halting() } else { filter })
    };
    let reduced = |halts| {
        let filter = Filter::concurrent(rdp, epsilon);
        let filter = if halts { filter.halting() } else { filter };
        Addressed::<_, Restated<ZCdp, Respond>>::new(filter).through(Restating)
    };
    for bit in [false, true] {
        let data = Arc::new(bit);
        for (one, other, same) in [
            (false, false, true),
            (true, true, true),
            (true, false, false),
        ] {
            let verifier = Verifier::comparing_by_state(
                copies_of(&direct(one)),
                copies_of(&reduced(other)),
                &data,
                menu(),
                4,
            );
            if same {
                assert_same(&verifier.difference().unwrap());
            } else {
                assert_eq!(exact(&verifier.difference().unwrap()), Rational::ONE);
            }
        }
    }
}

// ---- Alg 14, 15 ------------------------------------------------------------------------------

/// The machine M of the proof of Lemma 2.19, with the policy spelled out: an odometer that checks
/// the total before each launch and says where it would be over `limit`. There it keeps its state
/// as printed; or halts, as FiltCon does.
#[derive(Clone)]
struct Checked {
    limit: Epsilon,
    halts: bool,
}

struct CheckedMachine {
    odometer: AddressedOdometer,
    checked: Checked,
    halted: bool,
}

impl Mechanism<bool> for Checked {
    type Machine = CheckedMachine;
    fn start(&self, data: &Arc<bool>, coins: &mut Coins<'_>) -> Result<CheckedMachine, Fault> {
        let odometer = Addressed::<_, Respond>::new(Odometer::concurrent(PureDp));
        Ok(CheckedMachine {
            odometer: odometer.start(data, coins)?,
            checked: self.clone(),
            halted: false,
        })
    }
}

impl Machine for CheckedMachine {
    type Query = Ask;
    type Answer = Told;
    fn step(&mut self, query: Ask, coins: &mut Coins<'_>) -> Result<Told, Fault> {
        let halted = self.halted.then_some(Stop::Halted);
        let spent = self.odometer.privacy_loss();
        match (&query, halted) {
            (Message::Launch(_), Some(halted)) => {
                return Ok(Reply::NotLaunched(LaunchError::Stopped(halted)));
            }
            (Message::Ask(..), Some(halted)) => {
                return Ok(Reply::NotAnswered(AskError::Stopped(halted)));
            }
            (Message::Launch(respond), None) => {
                let requested = respond.loss(&PureDp).map_err(|_| Fault::Failed)?;
                let limit = self.checked.limit;
                if spent.checked_add(requested).is_none_or(|sum| sum > limit) {
                    self.halted = self.checked.halts;
                    let remaining = limit.saturating_sub(spent);
                    return Ok(Reply::NotLaunched(LaunchError::Refused(Refusal {
                        spent,
                        set_aside: None,
                        requested,
                        remaining,
                        limit,
                    })));
                }
            }
            _ => {}
        }
        self.odometer.step(query, coins)
    }
}

impl Inspect for CheckedMachine {
    fn inspect(&self, key: &mut StateKey) {
        key.write(&self.odometer);
        key.write(&self.halted);
    }
}

#[test]
fn alg_14_and_15_hold_under_both_policies() {
    let limit = ln_times(3, 3);
    let menu_with = |readings: bool| {
        let first = Message::Ask(0, ());
        let mut all: Vec<Ask> = [twice(3), once(3), once(27)].map(Message::Launch).into();
        all.push(first);
        all.extend(readings.then_some(Message::PrivacyLoss));
        // Children that have not been launched are not asked: after a halt the machines differ in
        // whether they say that there is none, or that all has ended.
        let mut rounds = vec![all; 4];
        rounds.insert(0, vec![Message::Launch(twice(3)), Message::Launch(once(3))]);
        ByRound(rounds)
    };
    let menu = || menu_with(true);
    let filter = |halts| {
        let filter = Filter::concurrent(PureDp, limit);
        Addressed::<_, Respond>::new(if halts { filter.halting() } else { filter })
    };
    for (bit, halts) in [(false, false), (false, true), (true, false), (true, true)] {
        let data = Arc::new(bit);
        let checked = Checked { limit, halts };
        let compare = |counting: bool, with: &Checked| {
            if counting {
                // Alg 14.
                let counting = filter(halts).through(Counting::new());
                Verifier::comparing_by_state(
                    copies_of(&counting),
                    copies_of(with),
                    &data,
                    menu(),
                    5,
                )
            } else {
                // Alg 15.
                let silent = with.clone().through(NoReading);
                let without = filter(halts).through(NoReading);
                Verifier::comparing_by_state(
                    copies_of(&silent),
                    copies_of(&without),
                    &data,
                    menu(),
                    5,
                )
            }
        };
        let other = Checked {
            limit,
            halts: !halts,
        };
        for counting in [true, false] {
            assert_same(&compare(counting, &checked).difference().unwrap());
            // The other policy is noticed.
            let difference = compare(counting, &other).difference().unwrap();
            assert_eq!(exact(&difference), Rational::ONE);
        }
        // Alg 15 passes on all but readings.
        let (silent, filter) = (checked.through(NoReading), filter(halts));
        for (readings, expected) in [(false, Rational::ZERO), (true, Rational::ONE)] {
            let menu = menu_with(readings);
            let difference = difference_by_state!(&silent, &filter, &data, menu, 5);
            assert_eq!(exact(&difference), expected);
        }
    }
}
