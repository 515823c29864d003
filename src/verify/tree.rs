//! The tree of public transcripts, with the hidden states behind each as weighted coin paths.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::atomic::{AtomicU64, Ordering};

use super::branching::{Choice, every_path};
use super::side::{Running, Side};
use super::{Interval, Rational, VerifyError};
use crate::machine::Fault;

/// One hidden state: the coins that lead to it, given the transcript, and their probability.
#[derive(Clone, Debug)]
pub(super) struct Branch {
    path: Vec<Choice>,
    pub(super) mass: Interval,
    /// What the machine shows of its state.
    pub(super) state: Option<Vec<u8>>,
}

/// What was said, and the hidden states that are possible behind it on each side.
#[derive(Clone, Debug)]
pub(super) struct Node<Q, A> {
    pub(super) transcript: Vec<(Q, Result<A, Fault>)>,
    pub(super) sides: [Vec<Branch>; 2],
    /// Whether the machine can still be asked.
    pub(super) open: bool,
}

impl<Q, A> Node<Q, A> {
    /// The probability of the transcript on each side.
    pub(super) fn masses(&self) -> [Interval; 2] {
        [0, 1].map(|side: usize| {
            let branches = self.sides.get(side).into_iter().flatten();
            branches.fold(Interval::ZERO, |sum, branch| sum.plus(&branch.mass))
        })
    }
}

/// What one query leads to.
#[derive(Debug)]
pub(super) struct Expansion<Q, A> {
    /// One for each answer.
    pub(super) nodes: Vec<Node<Q, A>>,
    /// The mass that was not followed on each side.
    pub(super) cut: [Rational; 2],
}

/// How machines are run.
pub(super) struct Explorer<'a, Q, A> {
    pub(super) sides: [Side<'a, Q, A>; 2],
    pub(super) cut: Rational,
    pub(super) limit: u64,
    runs: AtomicU64,
}

impl<'a, Q, A> Explorer<'a, Q, A> {
    pub(super) fn new(sides: [Side<'a, Q, A>; 2]) -> Self {
        Self {
            sides,
            cut: Rational::from_parts(1.into(), (1_u64 << 30).into()),
            limit: 20_000_000,
            runs: AtomicU64::new(0),
        }
    }

    /// How often a machine was run since the last call.
    pub(super) fn take_runs(&self) -> u64 {
        self.runs.swap(0, Ordering::Relaxed)
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
        let root = Branch {
            path: Vec::new(),
            mass: Interval::exact(Rational::ONE),
            state: None,
        };
        let mut groups = Groups::default();
        for (index, side) in self.sides.iter().enumerate() {
            self.follow(&mut groups, index, &root, |coins| {
                Ok(match side.start(coins) {
                    Ok(machine) => (Ok(()), machine.state()),
                    Err(_) => (Err(Fault::Failed), None),
                })
            })?;
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
    ) -> Result<Expansion<Q, A>, VerifyError> {
        let mut groups = Groups::default();
        for (index, (side, branches)) in self.sides.iter().zip(&node.sides).enumerate() {
            for branch in branches {
                self.follow(&mut groups, index, branch, |coins| {
                    let mut machine = replay(side, &node.transcript, coins)?;
                    let answer = machine.answer(query.clone(), coins);
                    Ok((answer, machine.state()))
                })?;
            }
        }
        Ok(groups.expansion(|answer| {
            let mut transcript = node.transcript.clone();
            transcript.push((query.clone(), answer.clone()));
            Node {
                transcript,
                sides: Default::default(),
                open: answer.as_ref().err().is_none_or(|fault| fault.is_recoverable()),
            }
        }))
    }

    fn follow<B: Clone + Eq + Hash>(
        &self,
        groups: &mut Groups<B>,
        side: usize,
        branch: &Branch,
        mut run: impl FnMut(
            &mut super::branching::Branching<'_>,
        ) -> Result<(Result<B, Fault>, Option<Vec<u8>>), VerifyError>,
    ) -> Result<(), VerifyError> {
        let outcomes = every_path(&branch.path, &self.cut, |coins| {
            self.count_run()?;
            run(coins)
        })?;
        if let Some(cut) = groups.cut.get_mut(side) {
            *cut += outcomes.cut * branch.mass.high();
        }
        for outcome in outcomes.list {
            let (answer, state) = outcome.result;
            let mut path = branch.path.clone();
            path.extend(outcome.path);
            let mass = branch.mass.times(&outcome.mass);
            groups.add(answer, side, Branch { path, mass, state });
        }
        Ok(())
    }
}

/// Starts a machine and brings it to where the transcript ends.
fn replay<'a, Q: Clone, A: Eq>(
    side: &Side<'a, Q, A>,
    transcript: &[(Q, Result<A, Fault>)],
    coins: &mut super::branching::Branching<'_>,
) -> Result<Box<dyn Running<Q, A> + 'a>, VerifyError> {
    let mut machine = side.start(coins).map_err(|_| VerifyError::Diverged)?;
    for (query, answer) in transcript {
        if machine.answer(query.clone(), coins) != *answer {
            return Err(VerifyError::Diverged);
        }
    }
    Ok(machine)
}

/// Branches sorted by the answer that they give, in the order of first appearance.
struct Groups<A> {
    index: HashMap<Result<A, Fault>, usize>,
    branches: Vec<[Vec<Branch>; 2]>,
    /// Where the branch with a known state is.
    states: HashMap<(usize, usize, Vec<u8>), usize>,
    cut: [Rational; 2],
}

impl<A> Default for Groups<A> {
    fn default() -> Self {
        Self {
            index: HashMap::new(),
            branches: Vec::new(),
            states: HashMap::new(),
            cut: [Rational::ZERO, Rational::ZERO],
        }
    }
}

impl<A: Eq + Hash> Groups<A> {
    fn add(&mut self, answer: Result<A, Fault>, side: usize, branch: Branch) {
        let next = self.branches.len();
        let index = *self.index.entry(answer).or_insert(next);
        if index == next {
            self.branches.push(Default::default());
        }
        let Some(branches) = self.branches.get_mut(index).and_then(|b| b.get_mut(side)) else {
            return;
        };
        // Two paths to one state are one branch from now on.
        if let Some(state) = &branch.state {
            let place = *self
                .states
                .entry((index, side, state.clone()))
                .or_insert(branches.len());
            if let Some(known) = branches.get_mut(place) {
                known.mass = known.mass.plus(&branch.mass);
                return;
            }
        }
        branches.push(branch);
    }

    fn expansion<Q, B>(self, node: impl Fn(&Result<A, Fault>) -> Node<Q, B>) -> Expansion<Q, B> {
        let mut answers: Vec<_> = self.index.into_iter().collect();
        answers.sort_by_key(|(_, index)| *index);
        let nodes = answers
            .iter()
            .zip(self.branches)
            .map(|((answer, _), sides)| Node {
                sides,
                ..node(answer)
            })
            .collect();
        Expansion {
            nodes,
            cut: self.cut,
        }
    }
}
