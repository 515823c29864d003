//! Runs machines, from their start, on every path of coins.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::branching::{Branching, Choice, every_path_twice};
use super::error::LIMIT;
use super::side::{Running, Side};
use super::tree::{Branch, Ending, Expansion, Groups, Node, Step};
use super::{Rational, VerifyError};
use crate::machine::{CoinSource, Fault};

/// How machines are run.
pub(super) struct Explorer<'a, Q, A> {
    pub(super) sides: [Side<'a, Q, A>; 2],
    pub(super) cut: Rational,
    pub(super) limit: u64,
    runs: AtomicU64,
    /// Every state that was shown so far has a number.
    numbers: Mutex<HashMap<Vec<u8>, u32>>,
    /// What a state that was shown leads to: it is found out once.
    steps: Vec<Steps<A>>,
}

type Steps<A> = Mutex<HashMap<(usize, u32, Asked), Arc<Step<A>>>>;

/// A query, by what the menu remembers and its number on the menu.
pub(super) type Asked = (u32, usize);

/// So many locks that two threads seldom want the same one.
const SHARDS: u32 = 64;

impl<'a, Q, A> Explorer<'a, Q, A> {
    pub(super) fn new(sides: [Side<'a, Q, A>; 2]) -> Self {
        Self {
            sides,
            cut: Rational::from_parts(1.into(), (1_u64 << 30).into()),
            limit: LIMIT,
            runs: AtomicU64::new(0),
            numbers: Mutex::default(),
            steps: (0..SHARDS).map(|_| Mutex::default()).collect(),
        }
    }

    /// How often a machine was run since the last call.
    pub(super) fn take_runs(&self) -> u64 {
        self.runs.swap(0, Ordering::Relaxed)
    }

    /// The number of a state, a new one if it is new.
    pub(super) fn number(&self, state: Vec<u8>) -> u32 {
        let mut numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        let next = numbers.len() as u32;
        *numbers.entry(state).or_insert(next)
    }

    fn count_run(&self) -> Result<(), VerifyError> {
        if self.runs.fetch_add(1, Ordering::Relaxed) < self.limit {
            Ok(())
        } else {
            Err(VerifyError::Limit { limit: self.limit })
        }
    }
}

impl<Q, A> Explorer<'_, Q, A>
where
    Q: Clone,
    A: Clone + Eq + Hash,
{
    /// The conversation before the first query. A start that fails is an answer like others.
    pub(super) fn root(&self) -> Result<Expansion<Q, A>, VerifyError> {
        let mut groups = Groups::default();
        for (index, side) in self.sides.iter().enumerate() {
            let step = self.step(&[], |coins| {
                Ok(match side.start(&mut coins.coins()) {
                    Ok(machine) => (Ok(()), machine.state()),
                    Err(_) => (Err(Fault::Failed), None),
                })
            })?;
            groups.follow(index, &Branch::default(), &step);
        }
        Ok(groups.expansion(|answer| Node {
            transcript: Vec::new(),
            sides: Default::default(),
            open: answer.is_ok(),
        }))
    }

    /// What asking `query` leads to.
    pub(super) fn expand(
        &self,
        node: &Node<Q, A>,
        query: &Q,
        asked: Asked,
    ) -> Result<Expansion<Q, A>, VerifyError> {
        let mut groups = Groups::default();
        for (index, (side, branches)) in self.sides.iter().zip(&node.sides).enumerate() {
            for branch in branches {
                let run = |coins: &mut Branching<'_>| {
                    let mut machine = replay(side, &node.transcript, coins)?;
                    let answer = machine.answer(query.clone(), &mut coins.coins());
                    // A machine that failed is not touched again: it may have panicked halfway.
                    let state = is_open(&answer).then(|| machine.state()).flatten();
                    Ok((answer, state))
                };
                let step = match branch.state {
                    Some(state) => self.known_step((index, state, asked), &branch.path, run)?,
                    None => Arc::new(self.step(&branch.path, run)?),
                };
                groups.follow(index, branch, &step);
            }
        }
        Ok(groups.expansion(|answer| {
            let mut transcript = node.transcript.clone();
            transcript.push((query.clone(), answer.clone()));
            Node {
                transcript,
                sides: Default::default(),
                open: is_open(answer),
            }
        }))
    }

    /// Runs a machine on every path beyond `path`, twice.
    fn step<B: PartialEq>(
        &self,
        path: &[Choice],
        mut run: impl FnMut(&mut Branching<'_>) -> Result<Shown<B>, VerifyError>,
    ) -> Result<Step<B>, VerifyError> {
        let found = every_path_twice(path, &self.cut, |coins| {
            self.count_run()?;
            run(coins)
        })?;
        let endings = found.list.into_iter().map(|outcome| {
            let (answer, state) = outcome.result;
            Ending {
                answer,
                path: outcome.path,
                mass: outcome.mass,
                state: state.map(|state| self.number(state)),
            }
        });
        Ok(Step {
            endings: endings.collect(),
            cut: found.cut,
        })
    }

    /// The same, unless it is known.
    fn known_step(
        &self,
        key: (usize, u32, Asked),
        path: &[Choice],
        run: impl FnMut(&mut Branching<'_>) -> Result<Shown<A>, VerifyError>,
    ) -> Result<Arc<Step<A>>, VerifyError> {
        let Some(shard) = self.steps.get((key.1 % SHARDS) as usize) else {
            return Ok(Arc::new(self.step(path, run)?));
        };
        let lock = || shard.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(&key) {
            return Ok(Arc::clone(known));
        }
        let step = Arc::new(self.step(path, run)?);
        lock().insert(key, Arc::clone(&step));
        Ok(step)
    }
}

/// An answer, and what the machine shows of its state after it.
type Shown<A> = (Result<A, Fault>, Option<Vec<u8>>);

/// Whether a machine that said this can still be asked.
fn is_open<A>(answer: &Result<A, Fault>) -> bool {
    answer
        .as_ref()
        .err()
        .is_none_or(|fault| fault.is_recoverable())
}

/// Starts a machine and brings it to where the transcript ends.
fn replay<'a, Q: Clone, A: Eq>(
    side: &Side<'a, Q, A>,
    transcript: &[(Q, Result<A, Fault>)],
    coins: &mut Branching<'_>,
) -> Result<Box<dyn Running<Q, A> + 'a>, VerifyError> {
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
