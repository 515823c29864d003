use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use proptest::prelude::*;

use crate::machine::Fault;
use crate::number::Epsilon;

/// A child for a compositor under test: it says what it costs, and gives a few answers, or fails to start.
///
/// Its answers are fixed in advance, and do not depend on the data: [`conformance`](super) says why this
/// finds real losses. No two answers in a conversation are equal, so that each can be told from all
/// others. Clones are the same child.
///
/// ```
/// use queryables::verify::conformance::Conformance;
/// use queryables::compose::Message;
/// use proptest::prelude::*;
///
/// let kit = Conformance::odometer();
/// proptest!(|(talk in kit.conversations())| {
///     for message in talk {
///         if let Message::Launch(probe) = message {
///             prop_assert_eq!(probe.start(true).is_err(), probe.fails());
///         }
///     }
/// });
/// ```
#[derive(Clone)]
pub struct Probe {
    /// What one answer costs, or the failure.
    each: Epsilon,
    answers: u32,
    fails: bool,
    /// The answers, bit by bit.
    script: u32,
    run: Arc<Run>,
}

/// What a probe has done.
#[derive(Default)]
struct Run {
    /// Which launch of the conversation it is.
    launch: u32,
    touched: AtomicU32,
    given: AtomicU32,
}

/// The most answers that a probe gives.
const MOST_ANSWERS: u32 = 2;

impl Probe {
    /// The loss of all that it tells.
    #[must_use]
    pub fn loss(&self) -> Epsilon {
        self.each
            .checked_mul(u64::from(self.answers))
            .unwrap_or(Epsilon::LARGEST)
    }

    /// How many answers it gives; a failure counts as one.
    #[must_use]
    pub fn answers(&self) -> u32 {
        self.answers
    }

    /// What each of its answers costs.
    #[must_use]
    pub fn loss_of_one(&self) -> Epsilon {
        self.each
    }

    /// Whether it fails when it is started.
    #[must_use]
    pub fn fails(&self) -> bool {
        self.fails
    }

    /// Runs it on the data. A compositor does this after it has charged.
    ///
    /// # Errors
    ///
    /// [`Fault::Failed`] if it [fails](Self::fails).
    pub fn start(&self, _data: bool) -> Result<(), Fault> {
        self.run.touched.fetch_add(1, Ordering::Relaxed);
        if self.fails {
            Err(Fault::Failed)
        } else {
            Ok(())
        }
    }

    /// Its next answer on the data.
    ///
    /// # Errors
    ///
    /// [`Fault::Exhausted`] when all have been given, or if it [fails](Self::fails).
    pub fn answer(&self, _data: bool) -> Result<u32, Fault> {
        self.run.touched.fetch_add(1, Ordering::Relaxed);
        let index = self.run.given.fetch_add(1, Ordering::Relaxed);
        if self.fails || index >= self.answers {
            return Err(Fault::Exhausted);
        }
        Ok(self.token(index))
    }

    /// The answer with this number: which launch, which answer, and a bit.
    fn token(&self, index: u32) -> u32 {
        let bit = self.script >> index & 1;
        (self.run.launch * MOST_ANSWERS + index) << 1 | bit
    }

    /// The same child, not run yet, as this launch of the conversation.
    pub(super) fn fresh(&self, launch: usize) -> Self {
        let launch = u32::try_from(launch).unwrap_or(u32::MAX / 8);
        let run = Arc::new(Run {
            launch,
            ..Run::default()
        });
        Self {
            run,
            ..self.clone()
        }
    }

    /// Whether it was run on the data.
    pub(super) fn is_touched(&self) -> bool {
        self.run.touched.load(Ordering::Relaxed) > 0
    }

    /// Whether this is one of its answers, and one that it has given.
    pub(super) fn has_given(&self, answer: u32) -> bool {
        let given = self.run.given.load(Ordering::Relaxed);
        (0..given.min(self.answers)).any(|index| self.token(index) == answer)
    }
}

impl PartialEq for Probe {
    /// Whether they behave alike.
    fn eq(&self, other: &Self) -> bool {
        let seen = |probe: &Self| (probe.each, probe.answers, probe.fails, probe.script);
        seen(self) == seen(other)
    }
}

impl fmt::Debug for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ε = {}, ", self.loss())?;
        match (self.fails, self.answers) {
            (true, _) => f.write_str("fails"),
            (false, 1) => f.write_str("1 answer"),
            (false, answers) => write!(f, "{answers} answers"),
        }
    }
}

/// Probes of which a few fit in the budget. They shrink to a quarter of it, with one answer. Of every
/// fifth, each answer costs one unit more, which is lost if it is added in floats.
pub(super) fn probes(budget: Epsilon) -> impl Strategy<Value = Probe> + Clone {
    // Quarters fill a budget exactly; tenths are not floats.
    let parts = prop::sample::select(vec![4_u32, 10, 100]);
    let parts = parts.prop_flat_map(|parts| (Just(parts), 1..=parts));
    let odd = prop::bool::weighted(0.2).prop_map(u128::from);
    let rest = (1..=MOST_ANSWERS, prop::bool::weighted(0.2), 0..4_u32);
    // What stands first is made smaller first.
    (odd, parts, rest).prop_map(move |(odd, (parts, share), (answers, fails, script))| {
        let answers = if fails { 1 } else { answers };
        let whole = budget.units() / u128::from(parts) * u128::from(share);
        Probe {
            each: Epsilon::from_units(whole / u128::from(answers) + odd).unwrap_or_default(),
            answers,
            fails,
            script,
            run: Arc::default(),
        }
    })
}
