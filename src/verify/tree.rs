//! The tree of public transcripts, with the hidden states behind each as weighted coin paths.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use super::branching::Told;
use super::fork::Choice;
use super::meter::{Held, Meter};
use super::{Interval, Rational, VerifyError};
use crate::machine::{AnswerKind, Fault};

/// One hidden state: the coins that lead to it, given the transcript, and their probability.
#[derive(Clone, Debug)]
pub(super) struct Branch {
    pub(super) path: Vec<Choice>,
    pub(super) mass: Interval,
    /// The number of what the machine shows of its state.
    pub(super) state: Option<u32>,
    /// The memory that it takes; none for what is not kept.
    _held: Option<Held>,
}

/// Before the start: no coins yet.
impl Default for Branch {
    fn default() -> Self {
        Self {
            path: Vec::new(),
            mass: Interval::exact(Rational::ONE),
            state: None,
            _held: None,
        }
    }
}

/// About how many bytes a path of coins takes at most, with an entry of this type for it in lists
/// and tables. What answers allocate is not known.
pub(super) fn size_of_path<T>(path: &[Choice]) -> usize {
    // Probabilities that are long fractions, and the like.
    const REST: usize = 64;
    REST + size_of_val(path) + size_in_table::<T>()
}

/// About how many bytes an entry of this type takes at most in a list or a table.
pub(super) const fn size_in_table<T>() -> usize {
    // While one that is full is copied to another of twice its size, there are three places for
    // each entry. A table is full at seven eighths, and has a byte more for each place.
    3 * (size_of::<T>() + 1) * 8 / 7
}

/// What was said, and the hidden states that are possible behind it on each side.
#[derive(Clone, Debug)]
pub(super) struct Node<Q, A> {
    pub(super) transcript: Vec<(Q, Result<A, Fault>)>,
    /// How the start failed, if it did.
    pub(super) start: Result<(), Fault>,
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
    /// That of the most informative answer.
    pub(super) kind: AnswerKind,
}

/// All outcomes of one step of a machine.
pub(super) struct Step<A> {
    pub(super) endings: Vec<Ending<A>>,
    /// The probability of what was not followed.
    pub(super) cut: Rational,
    /// That of the most informative answer.
    pub(super) kind: AnswerKind,
}

/// One way in which a step can end.
pub(super) struct Ending<A> {
    pub(super) answer: Result<A, Fault>,
    /// The coins of the step; those of one path, if several have the same outcome.
    pub(super) path: Vec<Choice>,
    pub(super) mass: Interval,
    /// What the adversary is told besides the answer.
    pub(super) told: Vec<Told>,
    pub(super) state: Option<u32>,
    /// Nothing is asked after it, so paths with this answer can be merged.
    pub(super) last: bool,
    /// The memory that it takes.
    pub(super) _held: Held,
}

/// An answer, and what the adversary is told besides.
type Heard<A> = (Result<A, Fault>, Vec<Told>);

/// An answer by its number, a side, and a state.
type StateOf = (usize, usize, Option<u32>);

/// Branches sorted by what is heard, in the order of first appearance.
pub(super) struct Groups<A> {
    meter: Arc<Meter>,
    index: HashMap<Heard<A>, usize>,
    branches: Vec<[Vec<Branch>; 2]>,
    /// Where the branch with a known state is, or the only one that is kept.
    states: HashMap<StateOf, usize>,
    cut: [Rational; 2],
    kind: AnswerKind,
}

impl<A: Clone + Eq + Hash> Groups<A> {
    pub(super) fn new(meter: &Arc<Meter>) -> Self {
        Self {
            meter: Arc::clone(meter),
            index: HashMap::new(),
            branches: Vec::new(),
            states: HashMap::new(),
            cut: [Rational::ZERO, Rational::ZERO],
            kind: AnswerKind::Refused,
        }
    }

    pub(super) fn follow(
        &mut self,
        side: usize,
        branch: &Branch,
        step: &Step<A>,
    ) -> Result<(), VerifyError> {
        if let Some(cut) = self.cut.get_mut(side) {
            *cut += &step.cut * branch.mass.high();
        }
        self.kind = self.kind.max(step.kind);
        for ending in &step.endings {
            self.add(side, branch, ending);
            self.meter.check()?;
        }
        Ok(())
    }

    fn add(&mut self, side: usize, branch: &Branch, ending: &Ending<A>) {
        let heard = (ending.answer.clone(), ending.told.clone());
        let index = match self.index.get(&heard) {
            Some(index) => *index,
            None => {
                let next = self.branches.len();
                self.index.insert(heard, next);
                self.branches.push(Default::default());
                next
            }
        };
        let Some(branches) = self.branches.get_mut(index).and_then(|b| b.get_mut(side)) else {
            return;
        };
        let mass = branch.mass.times(&ending.mass);
        // Two paths to one state are one branch from now on.
        if ending.state.is_some() || ending.last {
            let key = (index, side, ending.state);
            let place = *self.states.entry(key).or_insert(branches.len());
            if let Some(known) = branches.get_mut(place) {
                known.mass = known.mass.plus(&mass);
                return;
            }
        }
        let path = [&branch.path[..], &ending.path[..]].concat();
        let bytes = size_of_path::<(Branch, [Vec<Branch>; 2], Heard<A>, StateOf)>(&path);
        if branches.is_empty() {
            // Often it stays the only one.
            branches.reserve_exact(1);
        }
        branches.push(Branch {
            _held: Some(Held::new(&self.meter, bytes)),
            path,
            mass,
            state: ending.state,
        });
    }

    pub(super) fn expansion<Q, B>(
        self,
        node: impl Fn(&Result<A, Fault>) -> Node<Q, B>,
    ) -> Expansion<Q, B> {
        let mut answers: Vec<_> = self.index.into_iter().collect();
        answers.sort_by_key(|(_, index)| *index);
        let nodes = answers
            .iter()
            .zip(self.branches)
            .map(|(((answer, _), _), sides)| Node {
                sides,
                ..node(answer)
            })
            .collect();
        Expansion {
            nodes,
            cut: self.cut,
            kind: self.kind,
        }
    }
}
