//! Runs both machines, from their start, along a conversation.

use std::cell::Cell;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

use super::VerifyError;
use super::branching::Branching;
use super::fork::Choice;
use super::meter::{Held, Meter};
use super::runner::{Precision, Runner, Shown, is_open};
use super::side::{Running, Side};
use super::tree::{Branch, Expansion, Groups, Node, Step};
use crate::machine::{AnswerKind, CoinSource, Fault, observed};

/// Both machines, and what they did so far.
pub(super) struct Explorer<Q, A> {
    sides: Arc<[Side<Q, A>; 2]>,
    pub(super) runner: Runner,
    /// The memory of what is remembered for as long as this lives.
    pub(super) held: Held,
    /// The number of every state that was shown so far.
    numbers: Mutex<HashMap<Vec<u8>, u32>>,
    /// What a shown state leads to, computed once.
    steps: Vec<Steps<A>>,
}

type Steps<A> = Mutex<HashMap<(usize, u32, Asked), Arc<Step<A>>>>;

/// A query, by what the menu remembers and its number on the menu.
pub(super) type Asked = (u32, usize);

/// The number of locks: with this many, two threads rarely need the same one.
const SHARDS: u32 = 64;

impl<Q, A> Explorer<Q, A> {
    pub(super) fn new(sides: &Arc<[Side<Q, A>; 2]>, meter: &Arc<Meter>, care: Precision) -> Self {
        Self {
            sides: Arc::clone(sides),
            runner: Runner::new(meter, care),
            held: Held::new(meter, 0),
            numbers: Mutex::default(),
            steps: (0..SHARDS).map(|_| Mutex::default()).collect(),
        }
    }

    /// Whether noise that was compared was ever beyond what is listed.
    pub(super) fn went_beyond(&self) -> bool {
        self.runner.compared.went_beyond()
    }

    /// The number of a state, a new one if it is new.
    pub(super) fn number(&self, state: Vec<u8>) -> u32 {
        let mut numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        let next = numbers.len() as u32;
        match numbers.entry(state) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => {
                self.held.grow(64 + new.key().len());
                *new.insert(next)
            }
        }
    }
}

impl<Q, A> Explorer<Q, A>
where
    Q: Clone,
    A: Clone + Eq + Hash,
{
    /// The conversation before the first query. A failed start is an answer like any other, and
    /// includes the fault: that is what the analyst sees.
    pub(super) fn root(&self) -> Result<Expansion<Q, A>, VerifyError> {
        let mut groups = Groups::new(&self.runner.meter);
        for (index, side) in self.sides.iter().enumerate() {
            let run = |coins: &mut Branching<'_>| {
                let (answer, state) = match side.start(&mut coins.coins()) {
                    Ok(machine) => (Ok(()), machine.state()),
                    Err(fault) => (Err(fault), None),
                };
                Ok(Shown {
                    answer,
                    kind: AnswerKind::Refused,
                    state,
                })
            };
            let step = self.step(&[], false, run)?;
            groups.follow(index, &Branch::default(), &step)?;
        }
        Ok(groups.expansion(|start| Node {
            transcript: Vec::new(),
            start: *start,
            sides: Default::default(),
            open: start.is_ok(),
        }))
    }

    /// What asking `query` leads to; whether it is the last query.
    pub(super) fn expand(
        &self,
        node: &Node<Q, A>,
        query: &Q,
        asked: Asked,
        last: bool,
    ) -> Result<Expansion<Q, A>, VerifyError> {
        let mut groups = Groups::new(&self.runner.meter);
        for (index, (side, branches)) in self.sides.iter().zip(&node.sides).enumerate() {
            for branch in branches {
                let run = |coins: &mut Branching<'_>| {
                    let mut machine = replay(side, &node.transcript, coins)?;
                    // An answer whose kind is not stated may depend on data.
                    let kind = Cell::new(AnswerKind::Informative);
                    let answer = machine.answer(query.clone(), &mut observed(coins.coins(), &kind));
                    // A machine that failed is not touched again: it may have panicked halfway.
                    let state = is_open(&answer).then(|| machine.state()).flatten();
                    Ok(Shown {
                        answer,
                        kind: kind.get(),
                        state,
                    })
                };
                let step = match branch.state {
                    Some(state) => self.known_step((index, state, asked), &branch.path, run)?,
                    None => Arc::new(self.step(&branch.path, last, run)?),
                };
                groups.follow(index, branch, &step)?;
            }
        }
        Ok(groups.expansion(|answer| {
            let mut transcript = Vec::with_capacity(node.transcript.len() + 1);
            transcript.extend_from_slice(&node.transcript);
            transcript.push((query.clone(), answer.clone()));
            Node {
                transcript,
                start: Ok(()),
                sides: Default::default(),
                open: is_open(answer),
            }
        }))
    }

    fn step<B: Clone + Eq + Hash>(
        &self,
        path: &[Choice],
        last: bool,
        run: impl FnMut(&mut Branching<'_>) -> Result<Shown<B>, VerifyError>,
    ) -> Result<Step<B>, VerifyError> {
        // What answers allocate is not known.
        let number = |state| self.number(state);
        self.runner.step(path, last, number, |_| 0, run)
    }

    /// One step from a state that is shown, unless it is known.
    fn known_step(
        &self,
        key: (usize, u32, Asked),
        path: &[Choice],
        run: impl FnMut(&mut Branching<'_>) -> Result<Shown<A>, VerifyError>,
    ) -> Result<Arc<Step<A>>, VerifyError> {
        let Some(shard) = self.steps.get((key.1 % SHARDS) as usize) else {
            return Ok(Arc::new(self.step(path, false, run)?));
        };
        let lock = || shard.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(&key) {
            return Ok(Arc::clone(known));
        }
        let step = Arc::new(self.step(path, false, run)?);
        lock().insert(key, Arc::clone(&step));
        Ok(step)
    }
}

/// Starts a machine and brings it to where the transcript ends.
fn replay<Q: Clone, A: Eq>(
    side: &Side<Q, A>,
    transcript: &[(Q, Result<A, Fault>)],
    coins: &mut Branching<'_>,
) -> Result<Box<dyn Running<Q, A>>, VerifyError> {
    let mut machine = side
        .start(&mut coins.coins())
        .map_err(|_| VerifyError::Diverged)?;
    for (query, answer) in transcript {
        if machine.answer(query.clone(), &mut coins.coins()) != *answer {
            return Err(VerifyError::Diverged);
        }
    }
    Ok(machine)
}
