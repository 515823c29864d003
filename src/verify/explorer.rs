//! Runs machines, from their start, on every path of coins.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::branching::{Branching, Choice, Outcome, Told, every_path, hash};
use super::compared::Compared;
use super::meter::{Held, Meter};
use super::released::Window;
use super::side::{Running, Side};
use super::tree::{Branch, Ending, Expansion, Groups, Node, Step, size_of_path};
use super::{Rational, VerifyError};
use crate::machine::{CoinSource, Fault, Says};

/// How machines are run.
pub(super) struct Explorer<Q, A> {
    sides: Arc<[Side<Q, A>; 2]>,
    pub(super) meter: Arc<Meter>,
    care: Care,
    /// How many steps are still run as often as [`Care`] says.
    careful: AtomicU32,
    /// The number of every state that was shown so far.
    numbers: Mutex<HashMap<Vec<u8>, u32>>,
    /// What a shown state leads to, computed once.
    steps: Vec<Steps<A>>,
}

/// How carefully machines are run.
#[derive(Clone, Debug)]
pub(super) struct Care {
    /// Samplers are not followed beyond a path of this probability.
    pub(super) cut: Rational,
    /// How often each of the first steps is run, on all its paths together, at least.
    pub(super) replays: u32,
    /// Where released values are taken together: then what is found bounds divergences from above.
    pub(super) window: Option<Window>,
    /// What is known of noise that is compared, at this cut.
    pub(super) compared: Compared,
}

impl Default for Care {
    fn default() -> Self {
        Self {
            cut: Rational::from_parts(1.into(), (1_u64 << 30).into()),
            replays: REPLAYS,
            window: None,
            compared: Compared::default(),
        }
    }
}

/// A machine that behaves differently in one run of ten, whatever the coins are, behaves the same
/// in all 100 runs of a step with a probability of 0.9^100 = 2.7e-5 (and 0.1^100).
pub(super) const REPLAYS: u32 = 100;

/// The number of steps that are run [`REPLAYS`] times. Later ones are run twice on every path.
const CAREFUL_STEPS: u32 = 64;

type Steps<A> = Mutex<HashMap<(usize, u32, Asked), Arc<Step<A>>>>;

/// A query, by what the menu remembers and its number on the menu.
pub(super) type Asked = (u32, usize);

/// The number of locks: with this many, two threads rarely need the same one.
const SHARDS: u32 = 64;

impl<Q, A> Explorer<Q, A> {
    pub(super) fn new(sides: &Arc<[Side<Q, A>; 2]>, meter: &Arc<Meter>, care: Care) -> Self {
        Self {
            sides: Arc::clone(sides),
            meter: Arc::clone(meter),
            care,
            careful: AtomicU32::new(0),
            numbers: Mutex::default(),
            steps: (0..SHARDS).map(|_| Mutex::default()).collect(),
        }
    }

    /// Whether noise that was compared was ever beyond what is listed.
    pub(super) fn went_beyond(&self) -> bool {
        self.care.compared.went_beyond()
    }

    /// The kind of an answer: what either of the two machines takes it for.
    fn says(&self, answer: &A) -> Says {
        let kinds = self.sides.iter().map(|side| side.says(answer));
        kinds.max().unwrap_or_default()
    }

    /// The number of a state, a new one if it is new.
    pub(super) fn number(&self, state: Vec<u8>) -> u32 {
        let mut numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        let next = numbers.len() as u32;
        match numbers.entry(state) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => {
                self.meter.keep(64 + new.key().len());
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
        let mut groups = Groups::new(&self.meter);
        for (index, side) in self.sides.iter().enumerate() {
            let run = |coins: &mut Branching<'_>| {
                Ok(match side.start(&mut coins.coins()) {
                    Ok(machine) => (Ok(()), machine.state()),
                    Err(fault) => (Err(fault), None),
                })
            };
            let step = self.step(&[], false, run, |()| Says::Refused)?;
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
        let mut groups = Groups::new(&self.meter);
        for (index, (side, branches)) in self.sides.iter().zip(&node.sides).enumerate() {
            for branch in branches {
                let run = |coins: &mut Branching<'_>| {
                    let mut machine = replay(side, &node.transcript, coins)?;
                    coins.heard = None;
                    let answer = machine.answer(query.clone(), &mut coins.coins());
                    // A machine that failed is not touched again: it may have panicked halfway.
                    let state = is_open(&answer).then(|| machine.state()).flatten();
                    Ok((answer, state))
                };
                let step = match branch.state {
                    Some(state) => self.known_step((index, state, asked), &branch.path, run)?,
                    None => Arc::new(self.step(&branch.path, last, run, |a| self.says(a))?),
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

    /// Runs a machine on every path beyond `path`, twice, and the first steps more often: this
    /// detects code that takes randomness or state from elsewhere. Paths with the same outcome are
    /// merged as they are found.
    fn step<B: Clone + Eq + Hash>(
        &self,
        path: &[Choice],
        last: bool,
        mut run: impl FnMut(&mut Branching<'_>) -> Result<Shown<B>, VerifyError>,
        says: impl Fn(&B) -> Says,
    ) -> Result<Step<B>, VerifyError> {
        let mut run = |coins: &mut Branching<'_>| {
            self.meter.count_run()?;
            run(coins)
        };
        let care = &self.care;
        let mut found = Endings::new(&self.meter, last);
        let mut paths = 0;
        // A hash of all paths so far, and of what each came to.
        let mut log = 0;
        let mut most = Says::default();
        let first = every_path(path, care, &mut run, |outcome| {
            paths += 1;
            if let Ok(answer) = &outcome.result.0 {
                most = most.max(says(answer).capped(outcome.heard));
            }
            let taken = hash(&outcome.path);
            log = hash(&(log, taken, found.add(outcome, |state| self.number(state))));
            Ok(())
        })?;
        let careful = self.careful.fetch_add(1, Ordering::Relaxed) < CAREFUL_STEPS;
        let rounds = match careful {
            // At least twice, and until there were `replays` runs.
            true => (self.care.replays.div_ceil(paths.max(1))).max(2),
            false => 2,
        };
        for _ in 1..rounds {
            let mut again = 0;
            let second = every_path(path, care, &mut run, |outcome| {
                let place = found.find(&outcome, |state| self.number(state));
                let place = place.ok_or(VerifyError::Diverged)?;
                again = hash(&(again, hash(&outcome.path), place));
                Ok(())
            })?;
            if second != first || again != log {
                return Err(VerifyError::Diverged);
            }
        }
        Ok(Step {
            endings: found.list,
            cut: first,
            says: most,
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
            return Ok(Arc::new(self.step(path, false, run, |a| self.says(a))?));
        };
        let lock = || shard.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(&key) {
            return Ok(Arc::clone(known));
        }
        let step = Arc::new(self.step(path, false, run, |a| self.says(a))?);
        lock().insert(key, Arc::clone(&step));
        Ok(step)
    }
}

/// An answer, and what the machine shows of its state after it.
type Shown<A> = (Result<A, Fault>, Option<Vec<u8>>);

/// The same, with the number of the state, and what the adversary is told besides.
type Known<A> = (Result<A, Fault>, Option<u32>, Vec<Told>);

/// A number, and where it is in the list if all that say and show the same are one.
type Place = (usize, Option<usize>);

/// The ways in which a step ends, found one after the other.
struct Endings<'a, A> {
    meter: &'a Arc<Meter>,
    last: bool,
    /// By what the machine says and shows.
    index: HashMap<Known<A>, Place>,
    list: Vec<Ending<A>>,
}

impl<'a, A: Clone + Eq + Hash> Endings<'a, A> {
    fn new(meter: &'a Arc<Meter>, last: bool) -> Self {
        Self {
            meter,
            last,
            index: HashMap::new(),
            list: Vec::new(),
        }
    }

    fn key(outcome: &Outcome<Shown<A>>, number: impl Fn(Vec<u8>) -> u32) -> Known<A> {
        let (answer, state) = &outcome.result;
        let told = outcome.told.clone();
        (answer.clone(), state.clone().map(number), told)
    }

    /// The number of what was said and shown, if it is known.
    fn find(&self, outcome: &Outcome<Shown<A>>, number: impl Fn(Vec<u8>) -> u32) -> Option<usize> {
        self.index
            .get(&Self::key(outcome, number))
            .map(|(id, _)| *id)
    }

    /// The same, and it is known from now on.
    fn add(&mut self, outcome: Outcome<Shown<A>>, number: impl Fn(Vec<u8>) -> u32) -> usize {
        let key = Self::key(&outcome, number);
        let (answer, state, told) = key.clone();
        let last = self.last || !is_open(&answer);
        let next = (self.index.len(), None);
        let known = self.index.entry(key).or_insert(next);
        if let Some(same) = known.1.and_then(|place| self.list.get_mut(place)) {
            same.mass = same.mass.plus(&outcome.mass);
            return known.0;
        }
        if last || state.is_some() {
            known.1 = Some(self.list.len());
        }
        let bytes = size_of_path::<(Ending<A>, Known<A>, Place)>(&outcome.path);
        self.list.push(Ending {
            answer,
            _held: Held::new(self.meter, bytes),
            path: outcome.path,
            mass: outcome.mass,
            told,
            state,
            last,
        });
        known.0
    }
}

/// Whether a machine can be asked again after this answer.
fn is_open<A>(answer: &Result<A, Fault>) -> bool {
    answer
        .as_ref()
        .err()
        .is_none_or(|fault| fault.is_recoverable())
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
