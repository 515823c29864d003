//! The law of every transcript on both datasets.

use std::fmt::Debug;
use std::hash::Hash;

use queryables::machine::{Fault, Machine, Mechanism, Script};
use queryables::verify::{Pair, Rational, views};

use super::ReductionError;

/// The masses of all transcripts of a mechanism with finite communication, on two datasets.
///
/// The mass of a transcript is the probability of its answers, given that its queries are asked. At
/// every query the masses of the answers add up to that of the transcript before it, so that a tree
/// of such masses *is* a machine: it answers with the ratio of the two.
#[derive(Clone, Debug, PartialEq)]
pub struct Transcripts<Q, A> {
    pub(super) menu: Vec<Q>,
    pub(super) root: Point<A, [Rational; 2]>,
}

/// A point of the conversation: its masses, and for each query of the menu what may follow.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Point<A, M> {
    pub(super) masses: M,
    /// Empty where the conversation ends.
    pub(super) queries: Vec<Vec<Next<A, M>>>,
}

/// An answer, and where it leads.
pub(super) type Next<A, M> = (Result<A, Fault>, Point<A, M>);

impl<Q, A> Transcripts<Q, A> {
    /// Asks the mechanism every sequence of `depth` queries, on both datasets.
    ///
    /// # Errors
    ///
    /// [`ReductionError::TooLarge`] if there are more than `limit` transcripts,
    /// [`ReductionError::NotExact`] if a probability is not a known fraction,
    /// [`ReductionError::DoesNotStart`] if the mechanism may fail to start.
    pub fn of<D, M>(
        mechanism: impl Fn() -> M + Clone + Send + 'static,
        pair: &Pair<D>,
        menu: Vec<Q>,
        depth: usize,
        limit: usize,
    ) -> Result<Self, ReductionError>
    where
        D: Send + Sync + ?Sized + 'static,
        M: Mechanism<D, Machine: Machine<Query = Q, Answer = A>>,
        Q: Clone + Debug + Send + 'static,
        A: Clone + Eq + Hash + Debug + Send + 'static,
    {
        let exponent = u32::try_from(depth).unwrap_or(u32::MAX);
        if menu
            .len()
            .checked_pow(exponent)
            .is_none_or(|scripts| scripts > limit)
        {
            return Err(ReductionError::TooLarge { limit });
        }
        let mut root = Point {
            masses: [Rational::ONE, Rational::ONE],
            queries: Vec::new(),
        };
        let mut transcripts = 0;
        for script in scripts(menu.len(), depth) {
            let queries: Vec<Q> = script.iter().map(|&number| menu[number].clone()).collect();
            for (side, data) in [pair.one(), pair.other()].into_iter().enumerate() {
                let asked = queries.clone();
                let law = views(
                    mechanism.clone(),
                    data,
                    move || Script::new(asked.clone()),
                    depth,
                )?;
                if *law.cut() > Rational::ZERO {
                    return Err(ReductionError::NotExact);
                }
                for (view, mass) in law.outcomes() {
                    view.start.map_err(|_| ReductionError::DoesNotStart)?;
                    if !mass.is_exact() {
                        return Err(ReductionError::NotExact);
                    }
                    let answers: Vec<_> = view.answers().cloned().collect();
                    let known = &script[..answers.len()];
                    let path = known.iter().copied().zip(answers);
                    transcripts += root.record(menu.len(), side, path, mass.low(), &script);
                }
                if transcripts > limit {
                    return Err(ReductionError::TooLarge { limit });
                }
            }
        }
        Ok(Self { menu, root })
    }
}

/// All sequences of numbers below `menu`, of this length.
fn scripts(menu: usize, depth: usize) -> impl Iterator<Item = Vec<usize>> {
    let count = menu.pow(u32::try_from(depth).unwrap_or(u32::MAX));
    (0..count).map(move |mut number| {
        let mut script = Vec::with_capacity(depth);
        for _ in 0..depth {
            script.push(number % menu);
            number /= menu;
        }
        script.reverse();
        script
    })
}

impl<A: Clone + Eq> Point<A, [Rational; 2]> {
    /// Adds the mass of what one script has led to, and returns how many points are new.
    ///
    /// Scripts with a common beginning meet the same points: a mass is added by the one script that
    /// asks nothing but the first query of the menu afterwards.
    fn record(
        &mut self,
        menu: usize,
        side: usize,
        path: impl Iterator<Item = (usize, Result<A, Fault>)>,
        mass: &Rational,
        script: &[usize],
    ) -> usize {
        let mut new = 0;
        let mut point = self;
        for (round, (query, answer)) in path.enumerate() {
            if point.queries.is_empty() {
                point.queries = vec![Vec::new(); menu];
            }
            let answers = &mut point.queries[query];
            let at = match answers.iter().position(|(known, _)| *known == answer) {
                Some(at) => at,
                None => {
                    new += 1;
                    let masses = [Rational::ZERO, Rational::ZERO];
                    let queries = Vec::new();
                    answers.push((answer, Point { masses, queries }));
                    answers.len() - 1
                }
            };
            point = &mut answers[at].1;
            if script[round + 1..].iter().all(|&later| later == 0) {
                point.masses[side] += mass;
            }
        }
        new
    }
}

impl<A, M> Point<A, M> {
    /// Whether nothing can be asked here.
    pub(super) fn is_leaf(&self) -> bool {
        self.queries.is_empty()
    }
}
