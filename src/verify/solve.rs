//! Backward recursion: the best that any adversary can do from each point of the conversation.

use std::collections::HashMap;
use std::fmt::Debug;
use std::hash::{Hash, Hasher};
use std::sync::{Mutex, PoisonError};

use super::explorer::Explorer;
use super::menu::Menu;
use super::meter::Held;
use super::objective::{Objective, Value};
use super::offers::{Offer, Offers};
use super::tree::{Expansion, Node};
use super::{Interval, Rational, VerifyError};
use crate::machine::key_of;

/// What is maximised, and whether the two sides change places.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) objective: Objective,
    pub(super) swapped: bool,
}

impl Target {
    pub(super) fn leaf(&self, [p, q]: &[Interval; 2]) -> Value {
        if self.swapped {
            self.objective.leaf(q, p)
        } else {
            self.objective.leaf(p, q)
        }
    }

    fn with_cut(&self, value: Value, [p, q]: &[Rational; 2]) -> Value {
        let cut = if self.swapped { [q, p] } else { [p, q] };
        self.objective.with_cut(value, cut)
    }
}

/// The best for one target. Each end of the value is maximised separately: a cut after one query
/// must not hide what another query shows for certain. The query is the one that attains the low
/// end: `None` to stop.
#[derive(Clone, Debug)]
pub(super) struct Best {
    pub(super) value: Value,
    pub(super) query: Option<usize>,
    /// How many queries it takes: among equals, the shortest is the most readable.
    rounds: usize,
}

/// A point of the conversation, with what the menu remembers and how many queries are left.
#[derive(Clone, Debug)]
pub(super) struct Point<Q, A, S> {
    pub(super) node: Node<Q, A>,
    pub(super) menu: S,
    pub(super) left: usize,
    /// Which queries and answers led here, by number.
    place: Vec<(usize, usize)>,
}

/// A point of a conversation with this menu.
pub(super) type PointOf<Q, A, N> = Point<Q, A, <N as Menu<Q, A>>::State>;

/// What one query leads to: a point for each answer, and the mass that was not followed.
pub(super) type Asked<Q, A, N> = (Vec<PointOf<Q, A, N>>, [Rational; 2]);

/// The points where conversations begin, and their values for each target.
type Solved<Q, A, N> = (Vec<PointOf<Q, A, N>>, Vec<Value>);

/// Explores conversations once, for several targets together.
pub(super) struct Solver<'s, Q, A, N: Menu<Q, A>> {
    pub(super) explorer: &'s Explorer<Q, A>,
    menu: &'s N,
    pub(super) targets: Vec<Target>,
    memo: Vec<Mutex<HashMap<Vec<u8>, Vec<Best>>>>,
    /// The memory of what is remembered.
    held: Held,
    offers: &'s Offers,
}

/// The number of locks: with this many, two threads rarely need the same one.
const SHARDS: usize = 64;

/// Conversations no longer than this are remembered even if the machine shows no state: they are
/// where threads share their work.
pub(super) const SHARED_ROUNDS: usize = 2;

impl<'s, Q, A, N> Solver<'s, Q, A, N>
where
    Q: Clone + Debug + Send + Sync,
    A: Clone + Eq + Hash + Send + Sync,
    N: Menu<Q, A>,
{
    pub(super) fn new(
        explorer: &'s Explorer<Q, A>,
        menu: &'s N,
        offers: &'s Offers,
        targets: Vec<Target>,
    ) -> Self {
        Self {
            explorer,
            menu,
            targets,
            memo: (0..SHARDS).map(|_| Mutex::default()).collect(),
            held: Held::new(&explorer.runner.meter, 0),
            offers,
        }
    }

    /// What the menu offers at this point.
    pub(super) fn offered(&self, point: &PointOf<Q, A, N>) -> Result<Vec<Offer<Q>>, VerifyError> {
        let state = self.explorer.number(key_of(&("menu", &point.menu)));
        let queries = self.menu.queries(&point.menu);
        self.offers.offer(state, queries, &self.explorer.held)
    }

    /// The conversations that begin, and their values for each target.
    pub(super) fn solve(
        &self,
        depth: usize,
        threads: usize,
    ) -> Result<Solved<Q, A, N>, VerifyError> {
        let (points, cut) = self.begin(depth)?;
        self.share(&points, threads)?;
        let values = self.combine(&points, &cut)?.into_iter();
        Ok((points, values.map(|(value, _)| value).collect()))
    }

    /// The conversations that begin, and the mass that was cut at the start.
    pub(super) fn begin(&self, depth: usize) -> Result<Asked<Q, A, N>, VerifyError> {
        let Expansion { nodes, cut, .. } = self.explorer.root()?;
        for node in &nodes {
            self.offers.compare(&node.masses());
        }
        let points = self.points_of(nodes, &self.menu.start(), depth, &[], 0);
        Ok((points, cut))
    }

    fn points_of(
        &self,
        nodes: Vec<Node<Q, A>>,
        menu: &N::State,
        left: usize,
        place: &[(usize, usize)],
        query: usize,
    ) -> Vec<PointOf<Q, A, N>> {
        let nodes = nodes.into_iter().enumerate();
        nodes
            .map(|(answer, node)| Point {
                menu: match node.transcript.last() {
                    Some((query, answer)) => self.menu.after(menu, query, answer),
                    None => menu.clone(),
                },
                left: if node.open { left } else { 0 },
                place: [place, &[(query, answer)]].concat(),
                node,
            })
            .collect()
    }

    /// What asking this leads to.
    pub(super) fn ask(
        &self,
        point: &PointOf<Q, A, N>,
        offer: &Offer<Q>,
    ) -> Result<Asked<Q, A, N>, VerifyError> {
        let left = point.left.saturating_sub(1);
        let query = &offer.query;
        let Expansion { nodes, cut, kind } =
            self.explorer
                .expand(&point.node, query, offer.asked, left == 0)?;
        for node in &nodes {
            self.offers.note(offer, kind, || node.masses());
        }
        let points = self.points_of(nodes, &point.menu, left, &point.place, offer.asked.1);
        Ok((points, cut))
    }

    /// The value of all answers to a query for each target, and how many more queries it takes.
    fn combine(
        &self,
        points: &[PointOf<Q, A, N>],
        cut: &[Rational; 2],
    ) -> Result<Vec<(Value, usize)>, VerifyError> {
        let mut sums = vec![(Value::ZERO, 0); self.targets.len()];
        for point in points {
            let best = self.best(point)?;
            for (((value, rounds), best), target) in sums.iter_mut().zip(best).zip(&self.targets) {
                *value = target.objective.combine(value, &best.value);
                *rounds = best.rounds.max(*rounds);
            }
        }
        let sums = sums.into_iter().zip(&self.targets);
        Ok(sums
            .map(|((value, rounds), target)| (target.with_cut(value, cut), rounds))
            .collect())
    }

    /// The best for each target from here on.
    pub(super) fn best(&self, point: &PointOf<Q, A, N>) -> Result<Vec<Best>, VerifyError> {
        // A query may have a million answers, and a power of a long fraction takes long.
        self.explorer.runner.meter.check()?;
        let masses = point.node.masses();
        let stop = || {
            let best = |target: &Target| Best {
                value: target.leaf(&masses),
                query: None,
                rounds: 0,
            };
            self.targets.iter().map(best).collect()
        };
        // Where one side is impossible nothing more can be learned.
        if point.left == 0 || masses.iter().any(Interval::is_zero) {
            return Ok(stop());
        }
        let (key, scale) = self.key(point);
        let shard = key.as_ref().and_then(|key| self.shard(key));
        if let (Some(shard), Some(key)) = (shard, &key) {
            let memo = shard.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(known) = memo.get(key) {
                return Ok(self.scaled(known, &scale));
            }
        }
        let mut best: Vec<Best> = stop();
        self.explorer.runner.meter.count_point()?;
        for offer in &self.offered(point)? {
            let (points, cut) = self.ask(point, offer)?;
            let values = self.combine(&points, &cut)?;
            for (best, (value, rounds)) in best.iter_mut().zip(values) {
                let order = value.compare_low(&best.value);
                best.value = best.value.max(&value);
                if order.is_gt() || order.is_eq() && rounds + 1 < best.rounds {
                    best.query = Some(offer.asked.1);
                    best.rounds = rounds + 1;
                }
            }
        }
        if let (Some(shard), Some(key)) = (shard, key) {
            let inverse = Interval::exact(Rational::ONE).over(&scale);
            if let Some(inverse) = inverse {
                self.held.grow(key.len() + 200 * best.len());
                let mut memo = shard.lock().unwrap_or_else(PoisonError::into_inner);
                memo.insert(key, self.scaled(&best, &inverse));
            }
        }
        Ok(best)
    }

    fn scaled(&self, best: &[Best], factor: &Interval) -> Vec<Best> {
        best.iter()
            .zip(&self.targets)
            .map(|(best, target)| Best {
                value: target.objective.scale(&best.value, factor),
                query: best.query,
                rounds: best.rounds,
            })
            .collect()
    }

    fn shard(&self, key: &[u8]) -> Option<&Mutex<HashMap<Vec<u8>, Vec<Best>>>> {
        let mut hasher = std::collections::hash_map::DefaultHasher::new();
        key.hash(&mut hasher);
        self.memo.get(hasher.finish() as usize % SHARDS)
    }

    /// What the future depends on, up to a common factor of all masses, and that factor.
    ///
    /// It is: how many queries are left, what the menu remembers, and the law of the hidden state
    /// on each side. How the conversation came here is not part of it, so that interleavings which
    /// lead to the same states are one. A machine that does not show its state has its whole
    /// transcript for a state, and is remembered for short conversations only.
    pub(super) fn key(&self, point: &PointOf<Q, A, N>) -> (Option<Vec<u8>>, Interval) {
        let one = Interval::exact(Rational::ONE);
        let shows = point.node.sides.iter().flatten().all(|b| b.state.is_some());
        if !shows {
            return (self.transcript_key(point), one);
        }
        let mut states = [0, 1].map(|side: usize| {
            let branches = point.node.sides.get(side).into_iter().flatten();
            let mut states: Vec<_> = branches.map(|b| (b.state, &b.mass)).collect();
            states.sort_by_key(|(state, _)| *state);
            states
        });
        let scales = self.targets.iter().all(|target| target.objective.scales());
        let exact = scales && states.iter().flatten().all(|(_, mass)| mass.is_exact());
        let scale = match states.iter().flatten().next() {
            Some((_, first)) if exact => (*first).clone(),
            _ => one,
        };
        let scaled: Vec<Vec<_>> = states
            .iter_mut()
            .map(|side| {
                let scaled = side
                    .drain(..)
                    .map(|(state, mass)| (state, mass.over(&scale)));
                scaled.collect()
            })
            .collect();
        let key = key_of(&(point.left, &point.menu, scaled));
        (Some(key), scale)
    }

    /// The transcript as the place in the tree, where it is short.
    fn transcript_key(&self, point: &PointOf<Q, A, N>) -> Option<Vec<u8>> {
        // The first entry is the start.
        (point.place.len() <= 1 + SHARED_ROUNDS).then(|| key_of(&point.place))
    }
}
