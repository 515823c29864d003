//! More bugs that the kit must find: of panics, of floats, and of several children at once.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::*;
use crate::number::Epsilon;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Bug {
    Nothing,
    /// Nothing either: floats are rounded up, in all that is added, decided and read.
    RoundsFloatsUp,
    /// The charge comes after the start, and a panic skips it.
    LosesChargeAtPanic,
    /// What fits in a float fits.
    DecidesInFloats,
    /// What fits in a float fits, and so does what is over by 10⁻⁹.
    ToleratesABillionth,
    /// The reading is a sum of floats, and nobody rounds it up.
    ReadsInFloats,
    /// The balance is looked at when a child is launched, and charged when it first answers.
    StaleBalance,
    /// Children that are open at once cost as much as the largest, as if they saw disjoint data.
    LargestOfOpen,
    /// The second answer is thought to be paid for by the next launch.
    ReadsOneLate,
    /// A launch closes the children before it.
    FreezesSibling,
    /// After a refusal nobody is answered.
    Halts,
}

const BUDGET: u128 = 10_u128.pow(27);

struct Home {
    bug: Bug,
    bit: bool,
    spent: u128,
    floats: f64,
    /// With what was spent when it was launched.
    children: Vec<(Probe, u128)>,
    asked: Vec<bool>,
    halted: bool,
}

fn home(bug: Bug) -> impl Fn(bool) -> Home {
    move |bit| Home {
        bug,
        bit,
        spent: 0,
        floats: 0.0,
        children: vec![],
        asked: vec![],
        halted: false,
    }
}

fn float(loss: Epsilon) -> f64 {
    loss.to_string().parse().unwrap()
}

/// At least the sum. Zero is added exactly.
fn sum_up(one: f64, other: f64) -> f64 {
    match (one + other).next_up() {
        _ if one == 0.0 => other,
        sum => sum,
    }
}

impl Home {
    fn admits(&self, loss: Epsilon) -> bool {
        match self.bug {
            Bug::RoundsFloatsUp => sum_up(self.floats, loss.to_f64_up()) <= 1.0,
            Bug::DecidesInFloats => self.floats + float(loss) <= 1.0,
            Bug::ToleratesABillionth => self.floats + float(loss) <= 1.0 + 1e-9,
            Bug::LargestOfOpen => loss.units() <= BUDGET,
            _ => self.spent + loss.units() <= BUDGET,
        }
    }

    fn charge(&mut self, loss: Epsilon) {
        self.floats = match self.bug {
            Bug::RoundsFloatsUp => sum_up(self.floats, loss.to_f64_up()),
            _ => self.floats + float(loss),
        };
        self.spent = match self.bug {
            Bug::LargestOfOpen => self.spent.max(loss.units()),
            _ => self.spent + loss.units(),
        };
    }
}

impl Compositor for Home {
    fn launch(&mut self, child: Probe) -> Launch {
        if self.halted || !self.admits(child.loss()) {
            self.halted = self.bug == Bug::Halts;
            return Launch::Refused;
        }
        let before = self.spent;
        if !matches!(self.bug, Bug::LosesChargeAtPanic | Bug::StaleBalance) {
            self.charge(child.loss());
        }
        let run = || {
            child
                .start(self.bit)
                .map_err(|_| std::panic::resume_unwind(Box::new(())))
        };
        if catch_unwind(AssertUnwindSafe(run)).is_err() {
            if self.bug == Bug::StaleBalance {
                self.charge(child.loss());
            }
            return Launch::Failed;
        }
        if self.bug == Bug::LosesChargeAtPanic {
            self.charge(child.loss());
        }
        if self.bug == Bug::FreezesSibling {
            self.children
                .iter_mut()
                .for_each(|(_, spent)| *spent = BUDGET);
        }
        self.children.push((child, before));
        self.asked.push(false);
        Launch::Started
    }

    fn ask(&mut self, number: usize) -> Option<u32> {
        let (child, before) = self.children.get(number)?.clone();
        if self.halted || self.bug == Bug::FreezesSibling && before == BUDGET {
            return None;
        }
        if self.bug == Bug::StaleBalance && !self.asked[number] {
            self.asked[number] = true;
            self.spent = self.spent.max(before + child.loss().units());
        }
        child.answer(self.bit).ok()
    }

    fn reading(&mut self) -> Option<Epsilon> {
        match self.bug {
            Bug::RoundsFloatsUp => Epsilon::at_least(self.floats).ok(),
            Bug::ReadsInFloats => Epsilon::at_most(self.floats).ok(),
            Bug::ReadsOneLate => {
                let last = self
                    .children
                    .last()
                    .map_or(0, |(child, _)| match child.answers() {
                        2 => child.loss_of_one().units(),
                        _ => 0,
                    });
                Epsilon::from_units(self.spent.saturating_sub(last)).ok()
            }
            _ => Epsilon::from_units(self.spent).ok(),
        }
    }
}

fn kit() -> Conformance {
    Conformance::filter(Epsilon::from_units(BUDGET).unwrap())
}

/// What is printed for the first difference of this kind.
fn printed(bug: Bug, wanted: fn(&Outcome) -> bool) -> String {
    kit().search(home(bug), wanted).unwrap().to_string()
}

fn violates(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Violates(_))
}

#[test]
fn planted_bugs_are_found_with_the_smallest_adversary() {
    let expected = [
        (
            Bug::LosesChargeAtPanic,
            "\
not sound: what was told costs ε = 0.25, and the reading is ε = 0
  launch #0 (ε = 0.25, fails): failed
  ask #0: no answer
  read: ε = 0",
        ),
        (
            Bug::DecidesInFloats,
            "\
not sound: what was told costs ε = 1.000000000000000000000000001, and the budget is ε = 1
  launch #0 (ε = 0.750000000000000000000000001, 1 answer): started
  launch #1 (ε = 0.25, 1 answer): started
  ask #0: answered 0
  ask #0: no answer
  ask #1: answered 4",
        ),
        (
            Bug::ToleratesABillionth,
            "\
not sound: what was told costs ε = 1.000000000000000000000000001, and the budget is ε = 1
  launch #0 (ε = 0.750000000000000000000000001, 1 answer): started
  launch #1 (ε = 0.25, 1 answer): started
  ask #0: answered 0
  ask #0: no answer
  ask #1: answered 4",
        ),
        (
            Bug::ReadsInFloats,
            "\
not sound: what was told costs ε = 0.6, and the reading is ε = 0.599999999999999977795539507
  launch #0 (ε = 0.6, 1 answer): started
  ask #0: answered 0
  ask #0: no answer
  read: ε = 0.599999999999999977795539507",
        ),
        (
            Bug::StaleBalance,
            "\
not sound: what was told costs ε = 0.5, and the reading is ε = 0.25
  launch #0 (ε = 0.25, 1 answer): started
  launch #1 (ε = 0.25, 1 answer): started
  ask #0: answered 0
  ask #0: no answer
  ask #1: answered 4
  ask #1: no answer
  read: ε = 0.25",
        ),
        (
            Bug::LargestOfOpen,
            "\
not sound: what was told costs ε = 0.5, and the reading is ε = 0.25
  launch #0 (ε = 0.25, 1 answer): started
  launch #1 (ε = 0.25, 1 answer): started
  ask #0: answered 0
  ask #0: no answer
  ask #1: answered 4
  ask #1: no answer
  read: ε = 0.25",
        ),
        (
            Bug::ReadsOneLate,
            "\
not sound: what was told costs ε = 0.25, and the reading is ε = 0.125
  launch #0 (ε = 0.25, 2 answers): started
  ask #0: answered 0
  ask #0: answered 2
  ask #0: no answer
  read: ε = 0.125",
        ),
    ];
    let found = expected.map(|(bug, _)| (bug, printed(bug, violates)));
    assert_eq!(
        found,
        expected.map(|(bug, adversary)| (bug, adversary.to_owned()))
    );
}

/// Nothing is lost by these: `assert_sound` passes, `assert_conforms` does not.
#[test]
fn what_withholds_more_is_sound_and_differs() {
    let expected = [
        (
            Bug::FreezesSibling,
            "\
sound, and differs: ask #0: no answer, where the reference says: ask #0: an answer
  launch #0 (ε = 0.25, 1 answer): started
  launch #1 (ε = 0.25, 1 answer): started
  ask #0: no answer
  ask #1: answered 4
  ask #1: no answer
  read: ε = 0.5",
        ),
        (
            Bug::Halts,
            "\
sound, and differs: ask #0: no answer, where the reference says: ask #0: an answer
  launch #0 (ε = 1, 1 answer): started
  launch #1 (ε = 0.25, 1 answer): refused
  ask #0: no answer
  ask #1: no answer
  read: ε = 1",
        ),
    ];
    let found = expected.map(|(bug, _)| {
        kit().assert_sound(home(bug));
        (bug, printed(bug, |outcome| *outcome != Outcome::Conforms))
    });
    assert_eq!(
        found,
        expected.map(|(bug, adversary)| (bug, adversary.to_owned()))
    );
}

#[test]
fn a_right_filter_is_not_accused_in_ten_thousand_conversations() {
    kit().cases(10_000).assert_conforms(home(Bug::Nothing));
    // It spends more than the reference, and is sound.
    kit().cases(10_000).assert_sound(home(Bug::RoundsFloatsUp));
}
