use std::cell::{Cell, RefCell};

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};

use super::probe::probes;
use super::talk::Talk;
use super::{Case, Compositor, Outcome, Probe, Violation};
use crate::compose::Message;
use crate::number::Epsilon;
use crate::verify::strategies::conversations;

/// What a compositor is compared with: a filter or an odometer of pure privacy.
///
/// [`conformance`](super) shows how it is used. A case takes microseconds, so that the default number of
/// cases takes well below a second without optimisation.
#[derive(Clone, Debug)]
pub struct Conformance {
    budget: Option<Epsilon>,
    sequential: bool,
    cases: u32,
}

impl Conformance {
    /// A filter with this budget: what is told in all costs at most this.
    #[must_use]
    pub fn filter(budget: Epsilon) -> Self {
        Self {
            budget: Some(budget),
            ..Self::odometer()
        }
    }

    /// An odometer: what was told costs at most what is read.
    #[must_use]
    pub fn odometer() -> Self {
        Self {
            budget: None,
            sequential: false,
            cases: 1000,
        }
    }

    /// Children are used one after the other: once a child is started, earlier ones must not answer.
    #[must_use]
    pub fn sequential(self) -> Self {
        Self {
            sequential: true,
            ..self
        }
    }

    /// Tries this number of conversations; 1000 by default.
    #[must_use]
    pub fn cases(self, cases: u32) -> Self {
        Self { cases, ..self }
    }

    /// Conversations of up to twelve messages. A message to a child names it by its launch, where launches
    /// that were refused count, too.
    ///
    /// ```
    /// use proptest::prelude::*;
    /// use queryables::verify::conformance::{Conformance, Outcome};
    /// # use queryables::number::Epsilon;
    /// # use queryables::verify::conformance::{Compositor, Launch, Probe};
    /// # struct Mine(bool, Epsilon, Vec<Probe>);
    /// # impl Compositor for Mine {
    /// #     fn launch(&mut self, child: Probe) -> Launch {
    /// #         self.1 = self.1.checked_add(child.loss()).unwrap();
    /// #         if child.start(self.0).is_err() { return Launch::Failed }
    /// #         self.2.push(child);
    /// #         Launch::Started
    /// #     }
    /// #     fn ask(&mut self, child: usize) -> Option<u32> { self.2.get(child)?.answer(self.0).ok() }
    /// #     fn reading(&mut self) -> Option<Epsilon> { Some(self.1) }
    /// # }
    /// # let start = |bit| Mine(bit, Epsilon::ZERO, vec![]);
    /// let kit = Conformance::odometer();
    /// proptest!(|(talk in kit.conversations())| {
    ///     let outcome = kit.judge(start, &talk);
    ///     // A case that says nothing is no failure.
    ///     prop_assume!(outcome != Outcome::Vacuous);
    ///     prop_assert_eq!(outcome, Outcome::Conforms);
    /// });
    /// ```
    pub fn conversations(&self) -> impl Strategy<Value = Vec<Message<Probe, ()>>> + use<> {
        let budget = self.budget.filter(|budget| *budget > Epsilon::ZERO);
        let unit = Epsilon::from_units(10_u128.pow(27)).unwrap_or_default();
        conversations(probes(budget.unwrap_or(unit)), Just(()), 0..=12)
    }

    /// Has one conversation on each of the two datasets, with compositors that are started anew.
    pub fn judge<C: Compositor>(
        &self,
        start: impl Fn(bool) -> C,
        conversation: &[Message<Probe, ()>],
    ) -> Outcome {
        self.case(&start, conversation).outcome
    }

    fn case<C: Compositor>(
        &self,
        start: &impl Fn(bool) -> C,
        conversation: &[Message<Probe, ()>],
    ) -> Case {
        let [(one, violation), (other, _)] = [false, true].map(|bit| {
            let mut talk = Talk::new(start(bit), self.budget, self.sequential);
            let violation = talk.run(conversation).err();
            (talk, violation)
        });
        let outcome = match violation {
            Some(violation) => Outcome::Violates(violation),
            None if one.told != other.told => Outcome::Violates(Violation::Leaks),
            None => one.outcome(),
        };
        // Where the replies differ, both are shown, one after the other.
        let leaks = outcome == Outcome::Violates(Violation::Leaks);
        Case {
            tells: one.tells() || other.tells(),
            conversation: conversation.to_vec(),
            told: if leaks {
                one.told.into_iter().chain(other.told).collect()
            } else {
                one.told
            },
            outcome,
        }
    }

    /// Looks for a conversation with an outcome that is wanted, and makes it as small as it can. The
    /// conversations are the same in every run. If in none of them anything was told that costs anything, a
    /// [vacuous](Outcome::Vacuous) one is returned, wanted or not: nothing was tested.
    ///
    /// ```
    /// use queryables::number::Epsilon;
    /// use queryables::verify::conformance::{Compositor, Conformance, Launch, Outcome, Probe};
    ///
    /// /// Charges when a child answers.
    /// struct Late(bool, Epsilon, Vec<Probe>);
    ///
    /// impl Compositor for Late {
    ///     fn launch(&mut self, child: Probe) -> Launch {
    ///         if child.start(self.0).is_err() { return Launch::Failed }
    ///         self.2.push(child);
    ///         Launch::Started
    ///     }
    ///     fn ask(&mut self, child: usize) -> Option<u32> {
    ///         let child = self.2.get(child)?;
    ///         let answer = child.answer(self.0).ok()?;
    ///         self.1 = self.1.checked_add(child.loss_of_one())?;
    ///         Some(answer)
    ///     }
    ///     fn reading(&mut self) -> Option<Epsilon> { Some(self.1) }
    /// }
    ///
    /// let start = |bit| Late(bit, Epsilon::ZERO, vec![]);
    /// let found = Conformance::odometer().search(start, |outcome| matches!(outcome, Outcome::Violates(_)));
    /// assert_eq!(found.unwrap().to_string(), "\
    /// not sound: what was told costs ε = 0.25, and the reading is ε = 0
    ///   launch #0 (ε = 0.25, fails): failed
    ///   ask #0: no answer
    ///   read: ε = 0");
    /// ```
    pub fn search<C: Compositor>(
        &self,
        start: impl Fn(bool) -> C,
        wanted: impl Fn(&Outcome) -> bool,
    ) -> Option<Case> {
        let config = Config {
            cases: self.cases,
            failure_persistence: None,
            ..Config::default()
        };
        let random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
        let telling = Cell::new(false);
        let silent = RefCell::new(None);
        let outcome =
            TestRunner::new_with_rng(config, random).run(&self.conversations(), |conversation| {
                let case = self.case(&start, &conversation);
                telling.set(telling.get() || case.tells);
                prop_assert!(case.outcome == Outcome::Vacuous || !wanted(&case.outcome));
                if !case.tells {
                    let outcome = Outcome::Vacuous;
                    *silent.borrow_mut() = Some(Case { outcome, ..case });
                }
                Ok(())
            });
        match outcome {
            Err(TestError::Fail(_, conversation)) => {
                let fails = |talk: &[_]| {
                    let outcome = self.case(&start, talk).outcome;
                    outcome != Outcome::Vacuous && wanted(&outcome)
                };
                Some(self.case(&start, &shortest(conversation, fails)))
            }
            _ if telling.get() => None,
            _ => silent.into_inner(),
        }
    }

    /// For tests: no promise is broken. It may withhold what the reference gives.
    ///
    /// # Panics
    ///
    /// If a promise is broken; the message shows the adversary. Also if nothing was ever told that costs
    /// anything.
    #[track_caller]
    pub fn assert_sound<C: Compositor>(&self, start: impl Fn(bool) -> C) {
        let found = self.search(start, |outcome| matches!(outcome, Outcome::Violates(_)));
        assert_nothing(found);
    }

    /// For tests: every reply is that of the reference.
    ///
    /// # Panics
    ///
    /// If one is not; the message shows the adversary. Also if nothing was ever told that costs anything.
    #[track_caller]
    pub fn assert_conforms<C: Compositor>(&self, start: impl Fn(bool) -> C) {
        let found = self.search(start, |outcome| *outcome != Outcome::Conforms);
        assert_nothing(found);
    }
}

/// Leaves out messages, one at a time, for as long as it still fails. (Proptest leaves out messages before
/// it makes them smaller, and does not come back.)
fn shortest(
    mut conversation: Vec<Message<Probe, ()>>,
    fails: impl Fn(&[Message<Probe, ()>]) -> bool,
) -> Vec<Message<Probe, ()>> {
    let mut at = 0;
    while at < conversation.len() {
        let shorter = without(&conversation, at);
        if fails(&shorter) {
            conversation = shorter;
            at = 0;
        } else {
            at += 1;
        }
    }
    conversation
}

/// The same without one message; without a launch, its child is not asked either.
fn without(conversation: &[Message<Probe, ()>], left_out: usize) -> Vec<Message<Probe, ()>> {
    let is_launch = |message: &&Message<Probe, ()>| matches!(message, Message::Launch(_));
    let launch = conversation.get(left_out).filter(is_launch).map(|_| {
        let earlier = conversation.iter().take(left_out);
        earlier.filter(is_launch).count()
    });
    let others = conversation.iter().enumerate();
    others
        .filter(|(at, _)| *at != left_out)
        .filter_map(|(_, message)| match (message, launch) {
            (Message::Ask(child, ()), Some(launch)) if *child == launch => None,
            (Message::Ask(child, ()), Some(launch)) if *child > launch => {
                Some(Message::Ask(child - 1, ()))
            }
            (message, _) => Some(message.clone()),
        })
        .collect()
}

#[track_caller]
#[expect(clippy::panic, reason = "it is an assertion, and documented to panic")]
fn assert_nothing(found: Option<Case>) {
    if let Some(case) = found {
        panic!("{case}");
    }
}
