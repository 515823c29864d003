//! The kit on this crate's compositors, and on broken ones.

use std::sync::Arc;

use super::*;
use crate::compose::{Addressed, Filter, Message, Odometer, Reply};
use crate::machine::{CoinSource, Coins, Fault, Machine, Mechanism, NotPrivateSeededCoins};
use crate::number::Epsilon;
use crate::privacy::{AddRemove, Private, PureDp, UnknownLoss};

fn epsilon(text: &str) -> Epsilon {
    text.parse().unwrap()
}

impl Mechanism<bool> for Probe {
    type Machine = Probing;

    fn start(&self, data: &Arc<bool>, _: &mut Coins<'_>) -> Result<Probing, Fault> {
        Probe::start(self, **data)?;
        Ok(Probing(self.clone(), **data))
    }
}

impl Private<PureDp, AddRemove> for Probe {
    fn loss(&self, _: &PureDp) -> Result<Epsilon, UnknownLoss> {
        Ok(self.loss())
    }
}

#[derive(Debug)]
pub struct Probing(Probe, bool);

impl Machine for Probing {
    type Query = ();
    type Answer = u32;

    fn step(&mut self, (): (), _: &mut Coins<'_>) -> Result<u32, Fault> {
        self.0.answer(self.1)
    }
}

/// A compositor of this crate.
struct Ours<S>(S, NotPrivateSeededCoins);

fn ours<C: Mechanism<bool>>(compositor: &C) -> impl Fn(bool) -> Ours<C::Machine> {
    |bit| {
        let mut coins = NotPrivateSeededCoins::new(0);
        let machine = compositor.start(&Arc::new(bit), &mut coins.coins());
        Ours(machine.unwrap(), coins)
    }
}

impl<S> Compositor for Ours<S>
where
    S: Machine<Query = Message<Probe, ()>, Answer = Reply<u32, Epsilon>>,
{
    fn launch(&mut self, child: Probe) -> Launch {
        match self.0.step(Message::Launch(child), &mut self.1.coins()) {
            Ok(Reply::Launched(_)) => Launch::Started,
            Ok(Reply::NotLaunched(crate::compose::LaunchError::Failed)) => Launch::Failed,
            _ => Launch::Refused,
        }
    }

    fn ask(&mut self, child: usize) -> Option<u32> {
        match self.0.step(Message::Ask(child, ()), &mut self.1.coins()) {
            Ok(Reply::Answered(answer)) => Some(answer),
            _ => None,
        }
    }

    fn reading(&mut self) -> Option<Epsilon> {
        match self.0.step(Message::PrivacyLoss, &mut self.1.coins()) {
            Ok(Reply::PrivacyLoss(loss)) => Some(loss),
            _ => None,
        }
    }
}

#[test]
fn the_compositors_of_this_crate_conform() {
    for budget in ["1", "0.3", "7"].map(epsilon) {
        let kit = Conformance::filter(budget);
        let filter = Addressed::<_, Probe>::new(Filter::concurrent(PureDp, budget));
        kit.assert_conforms(ours(&filter));
        let filter = Addressed::<_, Probe>::new(Filter::sequential(PureDp, budget));
        kit.clone().sequential().assert_conforms(ours(&filter));
        // Used one after the other, children withhold what they would say to a concurrent filter.
        kit.assert_sound(ours(&filter));
        let found = kit.search(ours(&filter), |outcome| *outcome != Outcome::Conforms);
        assert!(matches!(found.unwrap().outcome, Outcome::Differs { .. }));
    }
    let odometer = Addressed::<_, Probe>::new(Odometer::concurrent(PureDp));
    Conformance::odometer().assert_conforms(ours(&odometer));
    let odometer = Addressed::<_, Probe>::new(Odometer::sequential(PureDp));
    Conformance::odometer()
        .sequential()
        .assert_conforms(ours(&odometer));
}

/// What is wrong with a home-made filter.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Bug {
    Nothing,
    ChargesAfterRunning,
    ForgetsFailedChild,
    ForgetsFinishedChild,
    OneBeyond,
    StrictlyLess,
    KeepsRefusedChild,
    NextChildAnswers,
    RefusesByData,
    ReadsHalf,
    NeverFreezes,
    RefusesAll,
}

const BUDGET: u128 = 10_u128.pow(27);

struct Home {
    bug: Bug,
    bit: bool,
    spent: u128,
    children: Vec<Probe>,
}

impl Compositor for Home {
    fn launch(&mut self, child: Probe) -> Launch {
        let loss = child.loss().units();
        if self.bug == Bug::ChargesAfterRunning && child.start(self.bit).is_err() {
            return Launch::Failed;
        }
        let admits = match self.bug {
            Bug::OneBeyond => self.spent < BUDGET,
            Bug::StrictlyLess => self.spent + loss < BUDGET,
            Bug::RefusesByData => self.spent + loss <= BUDGET && !self.bit,
            Bug::RefusesAll => false,
            _ => self.spent + loss <= BUDGET,
        };
        if self.bug == Bug::KeepsRefusedChild && !admits {
            self.children.push(child);
            return Launch::Refused;
        }
        if !admits {
            return Launch::Refused;
        }
        self.spent += loss;
        if self.bug != Bug::ChargesAfterRunning && child.start(self.bit).is_err() {
            if self.bug == Bug::ForgetsFailedChild {
                self.spent -= loss;
            }
            return Launch::Failed;
        }
        self.children.push(child);
        Launch::Started
    }

    fn ask(&mut self, child: usize) -> Option<u32> {
        let other = usize::from(self.bug == Bug::NextChildAnswers && child == 1);
        let child = self.children.get(child - other)?;
        let answer = child.answer(self.bit).ok();
        if answer.is_none() && self.bug == Bug::ForgetsFinishedChild {
            self.spent = self.spent.saturating_sub(child.loss().units());
        }
        answer
    }

    fn reading(&mut self) -> Option<Epsilon> {
        let reading = match self.bug {
            Bug::ReadsHalf => self.spent / 2,
            _ => self.spent,
        };
        Epsilon::from_units(reading).ok()
    }
}

fn home(bug: Bug) -> impl Fn(bool) -> Home {
    move |bit| Home {
        bug,
        bit,
        spent: 0,
        children: vec![],
    }
}

fn violation(kit: &Conformance, bug: Bug) -> String {
    let found = kit.search(home(bug), |outcome| matches!(outcome, Outcome::Violates(_)));
    found.unwrap().to_string()
}

#[test]
fn a_home_made_filter_conforms() {
    Conformance::filter(epsilon("1")).assert_conforms(home(Bug::Nothing));
}

#[test]
fn broken_filters_are_found_with_the_smallest_adversary() {
    let kit = Conformance::filter(epsilon("1"));
    let expected = [
        (
            Bug::ChargesAfterRunning,
            "\
not sound: what was told costs ε = 0.25, and the reading is ε = 0
  launch #0 (ε = 0.25, fails): failed
  ask #0: no answer
  read: ε = 0",
        ),
        (
            Bug::ForgetsFailedChild,
            "\
not sound: what was told costs ε = 0.25, and the reading is ε = 0
  launch #0 (ε = 0.25, fails): failed
  ask #0: no answer
  read: ε = 0",
        ),
        (
            Bug::ForgetsFinishedChild,
            "\
not sound: what was told costs ε = 0.25, and the reading is ε = 0
  launch #0 (ε = 0.25, 1 answer): started
  ask #0: answered 0
  ask #0: no answer
  read: ε = 0",
        ),
        (
            Bug::OneBeyond,
            "\
not sound: what was told costs ε = 1.25, and the budget is ε = 1
  launch #0 (ε = 0.75, 1 answer): started
  launch #1 (ε = 0.5, 1 answer): started
  ask #0: answered 0
  ask #0: no answer
  ask #1: answered 4",
        ),
        (
            Bug::KeepsRefusedChild,
            "\
not sound: what was told costs ε = 1.25, and the budget is ε = 1
  launch #0 (ε = 0.25, 1 answer): started
  launch #1 (ε = 1, 1 answer): refused
  ask #0: answered 0
  ask #0: no answer
  ask #1: answered 4",
        ),
        (
            Bug::NextChildAnswers,
            "\
not sound: the answer is none that the child has given
  launch #0 (ε = 0.25, fails): failed
  launch #1 (ε = 0.25, 1 answer): started
  ask #0: answered 4",
        ),
        (
            Bug::RefusesByData,
            "\
not sound: the replies differ on the two datasets, though the children answer the same
  launch #0 (ε = 0.25, 1 answer): started
  ask #0: answered 0
  ask #0: no answer
  read: ε = 0.25
  launch #0 (ε = 0.25, 1 answer): refused
  ask #0: no answer
  read: ε = 0",
        ),
        (
            Bug::ReadsHalf,
            "\
not sound: what was told costs ε = 0.25, and the reading is ε = 0.125
  launch #0 (ε = 0.25, 1 answer): started
  ask #0: answered 0
  ask #0: no answer
  read: ε = 0.125",
        ),
    ];
    let found = expected.map(|(bug, _)| (bug, violation(&kit, bug)));
    assert_eq!(
        found,
        expected.map(|(bug, adversary)| (bug, adversary.to_owned()))
    );
    // The first of them has another fault.
    let touched = |outcome: &Outcome| *outcome == Outcome::Violates(Violation::TouchedData);
    let found = kit.search(home(Bug::ChargesAfterRunning), touched);
    assert_eq!(
        found.unwrap().to_string(),
        "\
not sound: a child was run on the data, and then refused
  launch #0 (ε = 1, 1 answer): started
  launch #1 (ε = 0.25, 1 answer): refused"
    );
    assert_eq!(
        violation(&kit.sequential(), Bug::NeverFreezes),
        "\
not sound: a child answers after a later launch
  launch #0 (ε = 0.25, 1 answer): started
  launch #1 (ε = 0.25, 1 answer): started
  ask #0: answered 0"
    );
}

#[test]
fn what_is_only_stricter_is_sound() {
    let kit = Conformance::filter(epsilon("1"));
    kit.assert_sound(home(Bug::StrictlyLess));
    let found = kit.search(home(Bug::StrictlyLess), |outcome| {
        *outcome != Outcome::Conforms
    });
    assert_eq!(
        found.unwrap().to_string(),
        "\
sound, and differs: launch #0: Refused, where the reference says: launch #0: Started
  launch #0 (ε = 1, 1 answer): refused
  ask #0: no answer
  read: ε = 0"
    );
}

#[test]
#[should_panic(expected = "vacuous: nothing was told that costs anything")]
fn a_filter_that_refuses_everything_was_not_tested() {
    Conformance::filter(epsilon("1")).assert_sound(home(Bug::RefusesAll));
}
