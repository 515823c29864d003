//! Runs one step of a machine on every path of its coins, and again, to see whether it goes alike.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::branching::{Branching, Outcome, Told, every_path, hash};
use super::compared::Compared;
use super::fork::Choice;
use super::meter::{Held, Meter};
use super::released::Window;
use super::tree::{Ending, Step, size_of_path};
use super::{Rational, VerifyError};
use crate::machine::{AnswerKind, Fault};

/// How carefully machines are run.
#[derive(Clone, Debug)]
pub(super) struct Precision {
    /// Samplers are not followed beyond a path of this probability.
    pub(super) cut: Rational,
    /// How often each of the first steps is run, on all its paths together, at least.
    pub(super) replays: u32,
    /// Where released values are taken together: then what is found bounds divergences from above.
    pub(super) window: Option<Window>,
}

impl Default for Precision {
    fn default() -> Self {
        Self {
            cut: Rational::from_parts(1.into(), (1_u64 << 30).into()),
            replays: REPLAYS,
            window: None,
        }
    }
}

/// A machine that behaves differently in one run of ten, whatever the coins are, behaves the same
/// in all 100 runs of a step with a probability of 0.9^100 = 2.7e-5 (and 0.1^100).
const REPLAYS: u32 = 100;

/// The number of steps that are run [`REPLAYS`] times. Later ones are run twice on every path.
const CAREFUL_STEPS: u32 = 64;

/// Runs machines.
#[derive(Debug)]
pub(super) struct Runner {
    pub(super) meter: Arc<Meter>,
    pub(super) care: Precision,
    /// What is known of noise that is compared, at this cut.
    pub(super) compared: Compared,
    /// How many steps there were so far.
    steps: AtomicU32,
}

impl Runner {
    pub(super) fn new(meter: &Arc<Meter>, care: Precision) -> Self {
        Self {
            meter: Arc::clone(meter),
            care,
            compared: Compared::new(meter),
            steps: AtomicU32::new(0),
        }
    }

    /// Runs a machine on every path beyond `path`, twice, and the first steps more often: this
    /// detects code that takes randomness or state from elsewhere. Paths with the same outcome are
    /// merged as they are found.
    ///
    /// `last` says that nothing is asked after it, `number` gives a state its number, and `size` says
    /// what an answer takes besides its own bytes.
    pub(super) fn step<A: Clone + Eq + Hash>(
        &self,
        path: &[Choice],
        last: bool,
        number: impl Fn(Vec<u8>) -> u32,
        size: impl Fn(&A) -> usize,
        mut run: impl FnMut(&mut Branching<'_>) -> Result<Shown<A>, VerifyError>,
    ) -> Result<Step<A>, VerifyError> {
        let mut found = Endings::new(&self.meter, last);
        let mut paths = 0;
        // A hash of all paths so far, and of what each came to.
        let mut log = 0;
        let mut kind = AnswerKind::Refused;
        let first = every_path(path, self, &mut run, |outcome| {
            paths += 1;
            if outcome.result.answer.is_ok() {
                kind = kind.max(outcome.result.kind);
            }
            let taken = hash(&outcome.path);
            log = hash(&(log, taken, found.add(outcome, &number, &size)));
            Ok(())
        })?;
        let careful = self.steps.fetch_add(1, Ordering::Relaxed) < CAREFUL_STEPS;
        let rounds = match careful {
            // At least twice, and until there were `replays` runs.
            true => (self.care.replays.div_ceil(paths.max(1))).max(2),
            false => 2,
        };
        for _ in 1..rounds {
            let mut again = 0;
            let second = every_path(path, self, &mut run, |outcome| {
                let place = found.find(&outcome, &number);
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
            kind,
        })
    }
}

/// How a machine ended a step, as far as it is seen.
pub(super) struct Shown<A> {
    pub(super) answer: Result<A, Fault>,
    /// As the machine has stated it.
    pub(super) kind: AnswerKind,
    /// What the machine shows of its state after it.
    pub(super) state: Option<Vec<u8>>,
}

/// An answer, the number of the state after it, and what the adversary is told besides.
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
        let Shown { answer, state, .. } = &outcome.result;
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
    fn add(
        &mut self,
        outcome: Outcome<Shown<A>>,
        number: impl Fn(Vec<u8>) -> u32,
        size: impl Fn(&A) -> usize,
    ) -> usize {
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
        // In the table and in the list.
        let answers = 2 * answer.as_ref().map_or(0, size);
        let bytes = size_of_path::<(Ending<A>, Known<A>, Place)>(&outcome.path);
        self.list.push(Ending {
            answer,
            _held: Held::new(self.meter, bytes + answers),
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
pub(super) fn is_open<A>(answer: &Result<A, Fault>) -> bool {
    answer
        .as_ref()
        .err()
        .is_none_or(|fault| fault.is_recoverable())
}
