//! One conversation with a compositor, beside the reference.

use std::collections::HashSet;

use super::outcome::Told;
use super::reference::Reference;
use super::{Compositor, Launch, Outcome, Probe, Violation};
use crate::compose::Message;
use crate::number::Epsilon;

/// One conversation on one dataset.
pub(super) struct Talk<C> {
    compositor: C,
    reference: Reference,
    budget: Option<Epsilon>,
    sequential: bool,
    /// Every launch: the child, and its number if it was started.
    launches: Vec<(Probe, Option<usize>)>,
    started: usize,
    /// The answers that were told.
    answers: HashSet<u32>,
    /// What was told costs this.
    lost: Epsilon,
    pub(super) told: Vec<Told>,
    /// Where it first does otherwise than the reference.
    differs: Option<Outcome>,
}

impl<C: Compositor> Talk<C> {
    pub(super) fn new(compositor: C, budget: Option<Epsilon>, sequential: bool) -> Self {
        Self {
            compositor,
            reference: Reference::new(budget, sequential),
            budget,
            sequential,
            launches: Vec::new(),
            started: 0,
            answers: HashSet::new(),
            lost: Epsilon::ZERO,
            told: Vec::new(),
            differs: None,
        }
    }

    /// Talks, then asks all children until they stop, and reads.
    pub(super) fn run(&mut self, conversation: &[Message<Probe, ()>]) -> Result<(), Violation> {
        for message in conversation {
            match message {
                Message::Launch(probe) => self.launch(probe)?,
                Message::Ask(launch, ()) => {
                    self.ask(*launch)?;
                }
                Message::PrivacyLoss | Message::Remaining => self.read()?,
                // The kit's conversations have none.
                Message::Close(_) => (),
            }
        }
        for launch in 0..self.launches.len() {
            // More often than any probe answers: a compositor may say the last answer again for ever.
            for _ in 0..8 {
                if !self.ask(launch)? {
                    break;
                }
            }
        }
        self.read()
    }

    fn launch(&mut self, probe: &Probe) -> Result<(), Violation> {
        let number = self.launches.len();
        let probe = probe.fresh(number);
        let how = self.compositor.launch(probe.clone());
        self.told.push(Told::Launch(number, probe.clone(), how));
        let child = (how == Launch::Started).then_some(self.started);
        self.started += usize::from(child.is_some());
        self.launches.push((probe.clone(), child));
        let expected = self.reference.launch(&probe);
        self.compare(how, expected, |how| format!("launch #{number}: {how:?}"));
        match how {
            Launch::Refused if probe.is_touched() => Err(Violation::TouchedData),
            // A start that fails tells something.
            Launch::Failed if probe.is_touched() => self.lose(probe.loss()),
            _ => Ok(()),
        }
    }

    /// Asks the child of this launch; whether there was an answer.
    fn ask(&mut self, launch: usize) -> Result<bool, Violation> {
        let Some((probe, child)) = self.launches.get(launch).cloned() else {
            return Ok(false);
        };
        // A launch that was refused left no child: the next number must not be one.
        let answer = self.compositor.ask(child.unwrap_or(self.started));
        self.told.push(Told::Ask(launch, answer));
        let expected = self.reference.ask(launch);
        let word = |answered| if answered { "an answer" } else { "no answer" };
        self.compare(answer.is_some(), expected, |answered| {
            format!("ask #{launch}: {}", word(answered))
        });
        let Some(answer) = answer else {
            return Ok(false);
        };
        if !probe.has_given(answer) {
            return Err(Violation::WrongAnswer);
        }
        // Saying the same answer again costs nothing.
        if self.answers.insert(answer) {
            let later = self.launches.iter().skip(launch + 1);
            if self.sequential && later.into_iter().any(|(_, child)| child.is_some()) {
                return Err(Violation::NotFrozen);
            }
            self.lose(probe.loss_of_one())?;
        }
        Ok(true)
    }

    fn read(&mut self) -> Result<(), Violation> {
        let reading = self.compositor.reading();
        self.told.push(Told::Reading(reading));
        let expected = self.reference.reading();
        let said = |reading: Option<Epsilon>| match reading {
            Some(reading) => format!("read: ε = {reading}"),
            None => "read: no reading".to_owned(),
        };
        self.compare(reading, Some(expected), said);
        match reading {
            Some(reading) if reading < self.lost => Err(Violation::UnderRead {
                lost: self.lost,
                reading,
            }),
            _ => Ok(()),
        }
    }

    fn lose(&mut self, loss: Epsilon) -> Result<(), Violation> {
        self.lost = self.lost.checked_add(loss).unwrap_or(Epsilon::LARGEST);
        match self.budget {
            Some(budget) if self.lost > budget => Err(Violation::OverBudget {
                lost: self.lost,
                budget,
            }),
            _ => Ok(()),
        }
    }

    /// Remembers the first difference. After it the two are not in the same state.
    fn compare<T: PartialEq>(&mut self, said: T, expected: T, name: impl Fn(T) -> String) {
        if said != expected && self.differs.is_none() {
            self.differs = Some(Outcome::Differs {
                said: name(said),
                expected: name(expected),
            });
        }
    }

    /// Whether anything was told that costs anything.
    pub(super) fn tells(&self) -> bool {
        self.lost > Epsilon::ZERO
    }

    /// What it shows, if nothing is violated.
    pub(super) fn outcome(&self) -> Outcome {
        match &self.differs {
            Some(differs) => differs.clone(),
            None if !self.tells() => Outcome::Vacuous,
            None => Outcome::Conforms,
        }
    }
}
