//! Running a mechanism on two datasets, again and again.

use std::fmt::Debug;
use std::hash::Hash;
use std::num::NonZeroU64;
use std::sync::Arc;

use super::event::{Counts, Side, Tally};
use super::finding::{Finding, Level};
use super::{AuditError, Refutable, SequentialTest};
use crate::machine::{
    Adversary, CoinSource, CoinsError, Direction, Machine, Mechanism, NotPrivateSeededCoins, Pair,
    SystemCoins, View, view_of,
};
use crate::number::Delta;

/// A mechanism, two datasets and an adversary, to be run against each other many times.
///
/// | to audit | use |
/// |---|---|
/// | whatever tells the two datasets apart, where views repeat themselves | [`run`](Self::run) |
/// | whatever tells them apart in some feature of the view | [`run_by`](Self::run_by) |
/// | one event, named beforehand | [`run_on`](Self::run_on) |
/// | a claim, until it is refuted, with as few runs as that takes | [`test`](Self::test), [`test_by`](Self::test_by) |
///
/// # Example
///
/// ```
/// use queryables::audit::{Audit, Pair};
/// use queryables::machine::Script;
/// use queryables::data::Predicate;
/// use queryables::mechanisms::Count;
/// use queryables::prelude::*;
///
/// let everybody = Predicate::new("everybody", |_: &u8| true);
/// let count = Count::of(everybody).laplace(epsilon!(2))?;
/// // One row more or less, and one question; noise is all that a view holds.
/// let pair = Pair::new(vec![7, 7], vec![7]);
/// let audit = Audit::new(&count, &pair, || Script::new([()]), 1).trials(2000);
///
/// let finding = audit.run()?;
/// assert!(finding.epsilon > "1".parse()?);
/// assert!(finding.check(&PureDp, &"1".parse()?).is_refuted());
/// assert!(!finding.check(&PureDp, &"2".parse()?).is_refuted());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// That of [`Finding`], if every run is independent of the others: the mechanism and the adversary
/// start afresh each time, and labels depend on the view alone. Nothing else is assumed.
///
/// Why: each of the four numbers that a run of the audit computes is a Clopper–Pearson bound at a
/// quarter of the failure probability. For a given event they bound its probability from below and
/// from above on each dataset, and thereby also that of its opposite. For learned ones there are
/// two, one for each direction, with two bounds each; both are fixed before the first of the runs
/// on which they are counted.
pub struct Audit<'a, A> {
    view: Box<Run<'a, A>>,
    trials: u32,
    failure: Delta,
    delta: Delta,
    seed: Option<u64>,
}

type Run<'a, A> = dyn Fn(Side, &mut dyn CoinSource, &mut dyn CoinSource) -> View<A> + 'a;

impl<'a, A> Audit<'a, A> {
    /// Audits a mechanism on a pair of neighbouring datasets, against an adversary that is created
    /// anew for each run and asks at most `rounds` queries.
    ///
    /// The defaults are 10 000 trials, a failure probability of 1e-9, δ = 0, and the operating
    /// system's coins.
    pub fn new<D, M, V>(
        mechanism: &'a M,
        pair: &'a Pair<D>,
        adversary: impl Fn() -> V + 'a,
        rounds: usize,
    ) -> Self
    where
        D: ?Sized,
        M: Mechanism<D, Machine: Machine<Query = V::Query, Answer = A>> + ?Sized,
        V: Adversary<Answer = A>,
    {
        let view =
            move |side, of_adversary: &mut dyn CoinSource, of_machine: &mut dyn CoinSource| {
                let data: &Arc<D> = match side {
                    Side::First => pair.one(),
                    Side::Second => pair.other(),
                };
                let mut adversary = adversary();
                view_of(
                    mechanism,
                    data,
                    &mut adversary,
                    of_adversary,
                    of_machine,
                    rounds,
                )
            };
        Self {
            view: Box::new(view),
            trials: 10_000,
            // 1e-9 in units of 1e-38.
            failure: Delta::from_units(10_u128.pow(29)).unwrap_or_default(),
            delta: Delta::ZERO,
            seed: None,
        }
    }

    /// Counts this number of runs on each dataset. Learning an event takes as many again.
    #[must_use]
    pub fn trials(self, trials: u32) -> Self {
        Self { trials, ..self }
    }

    /// The largest probability with which the finding may be wrong.
    #[must_use]
    pub fn failure(self, failure: Delta) -> Self {
        Self { failure, ..self }
    }

    /// The δ at which ε is bounded, and for which an event is learned.
    #[must_use]
    pub fn delta(self, delta: Delta) -> Self {
        Self { delta, ..self }
    }

    /// Runs with the coins of a seed, so that the audit gives the same finding each time.
    ///
    /// The seed must be chosen before any of its outcomes are seen: a claim, an event, or a seed, that
    /// was picked because of the outcomes of this seed is not covered by the failure probability. A
    /// claim that was tightened after a run, to what that run seemed to allow, is such a claim. (An
    /// event that [`run`](Self::run) has learned may be given to [`run_on`](Self::run_on) with the
    /// same seed; it is then counted on the same runs again.)
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self {
            seed: Some(seed),
            ..self
        }
    }

    /// Learns which views tell the datasets apart, and counts them on runs of their own.
    ///
    /// It works where views repeat themselves: answers from a small set, and an adversary without
    /// coins. Otherwise use [`run_by`](Self::run_by).
    ///
    /// # Errors
    ///
    /// [`AuditError`], before anything is run.
    pub fn run(&self) -> Result<Finding, AuditError>
    where
        A: Debug + Eq + Hash,
    {
        self.learn(|view| view, describe)
    }

    /// Learns which labels tell the datasets apart, and counts them on runs of their own. A label
    /// is a feature of the view: how many answers there were, say, or in which range the last one
    /// was. It must depend on the view alone.
    ///
    /// # Errors
    ///
    /// [`AuditError`], before anything is run.
    pub fn run_by<L: Debug + Eq + Hash>(
        &self,
        label: impl Fn(&View<A>) -> L,
    ) -> Result<Finding, AuditError> {
        self.learn(|view| label(&view), |label| format!("{label:?}"))
    }

    /// Counts one event. Its opposite is considered too, and both directions.
    ///
    /// Whether it holds must depend on the view alone, and the event must have been chosen without
    /// regard to the runs on which it is counted. With the operating system's coins these are new
    /// each time; with a [`seed`](Self::seed), see there.
    ///
    /// # Errors
    ///
    /// [`AuditError`], before anything is run.
    pub fn run_on(
        &self,
        event: &str,
        holds: impl Fn(&View<A>) -> bool,
    ) -> Result<Finding, AuditError> {
        let Ready {
            level, mut counted, ..
        } = self.begin()?;
        let mut seen = [0, 0];
        counted.each(self.trials, |view, side| {
            if holds(&view) {
                side.count(&mut seen);
            }
        });
        let [first, second] = seen;
        let opposite = (self.trials - first, self.trials - second);
        // Four bounds: what is at least the probability of the event is one minus what is at most
        // that of its opposite, and the other way round.
        let of = |name: &str, direction, counts| level.finding(name.to_owned(), direction, counts);
        let not = format!("not: {event}");
        let others = [
            of(event, Direction::Backward, (first, second)),
            of(&not, Direction::Forward, opposite),
            of(&not, Direction::Backward, opposite),
        ];
        let forward = of(event, Direction::Forward, (first, second));
        Ok(others.into_iter().fold(forward, better))
    }

    /// Tests a claim, run by run, by whichever views tell the datasets apart: [`SequentialTest`]. Nothing is
    /// run yet. The number of [`trials`](Self::trials) and [`delta`](Self::delta) are not used.
    ///
    /// It works where views repeat themselves; otherwise use [`test_by`](Self::test_by).
    ///
    /// # Errors
    ///
    /// [`AuditError`], before anything is run.
    pub fn test<Me: Refutable>(
        &self,
        measure: &Me,
        loss: &Me::Loss,
    ) -> Result<SequentialTest<'_, 'a, A, View<A>>, AuditError>
    where
        A: Debug + Eq + Hash,
    {
        let runs = self.begin()?.counted;
        let label = Box::new(|view| view);
        Ok(SequentialTest::new(
            measure,
            loss,
            self.failure,
            runs,
            label,
            describe,
        ))
    }

    /// Tests a claim, run by run, by whichever labels tell the datasets apart. A label is a feature of the
    /// view, as for [`run_by`](Self::run_by); whether an event holds is one.
    ///
    /// # Errors
    ///
    /// [`AuditError`], before anything is run.
    pub fn test_by<'r, Me: Refutable, L: Debug + Eq + Hash>(
        &'r self,
        measure: &Me,
        loss: &Me::Loss,
        label: impl Fn(&View<A>) -> L + 'r,
    ) -> Result<SequentialTest<'r, 'a, A, L>, AuditError> {
        let runs = self.begin()?.counted;
        let label = Box::new(move |view| label(&view));
        let name = |label: &L| format!("{label:?}");
        Ok(SequentialTest::new(
            measure,
            loss,
            self.failure,
            runs,
            label,
            name,
        ))
    }

    fn learn<L: Eq + Hash>(
        &self,
        label: impl Fn(View<A>) -> L,
        name: impl Fn(&L) -> String,
    ) -> Result<Finding, AuditError> {
        let Ready {
            level,
            mut counted,
            mut learned_from,
        } = self.begin()?;
        // Half of the runs to learn from rank the labels, the others cut the list.
        let to_cut = self.trials / 2;
        let mut tally = Tally::new();
        learned_from.each(self.trials - to_cut, |view, side| {
            tally.see(label(view), side);
        });
        let ranking = tally.rank();
        let mut seen = ranking.nothing_seen();
        learned_from.each(to_cut, |view, side| {
            if let Some(counts) = seen.get_mut(ranking.place(&label(view))) {
                side.count(counts);
            }
        });
        let (beginning, ending) = ranking.cut(&seen, to_cut, &level);
        // The events are fixed: from here on, only they are counted.
        let (mut forward, mut backward): (Counts, Counts) = ([0, 0], [0, 0]);
        counted.each(self.trials, |view, side| {
            let place = ranking.place(&label(view));
            if place < beginning {
                side.count(&mut forward);
            }
            if place >= ending {
                side.count(&mut backward);
            }
        });
        let of = |direction, [first, second]: Counts| {
            let event = match direction {
                Direction::Forward => ranking.describe(0..beginning, &name),
                Direction::Backward => ranking.describe((ending..seen.len()).rev(), &name),
            };
            level.finding(event, direction, (first, second))
        };
        // Four bounds: two for each.
        let forward = of(Direction::Forward, forward);
        Ok(better(forward, of(Direction::Backward, backward)))
    }

    /// Checks the parameters, and fetches coins.
    fn begin(&self) -> Result<Ready<'_, 'a, A>, AuditError> {
        let level = Level::new(self.trials, self.failure, self.delta)?;
        let mut seeds = self.seed.map(NotPrivateSeededCoins::new);
        let mut coins = || -> Result<Box<dyn CoinSource>, CoinsError> {
            let mut coins: Box<dyn CoinSource> = match &mut seeds {
                None => Box::new(SystemCoins::new()),
                Some(seeds) => {
                    let seed = seeds.uniform(NonZeroU64::MAX)?;
                    Box::new(NotPrivateSeededCoins::new(seed))
                }
            };
            // Without coins every machine fails, on both datasets, and would look private.
            coins.uniform(NonZeroU64::MAX)?;
            Ok(coins)
        };
        let mut runs = || -> Result<_, CoinsError> {
            Ok(Runs {
                audit: self,
                machine: coins()?,
                adversary: coins()?,
            })
        };
        Ok(Ready {
            level,
            counted: runs()?,
            learned_from: runs()?,
        })
    }
}

/// An audit that is about to begin.
struct Ready<'r, 'a, A> {
    level: Level,
    /// Runs on which only a given event is counted.
    counted: Runs<'r, 'a, A>,
    /// Runs from which to learn an event. They use other coins, even for the same seed: an event
    /// that was learned and then given is not counted on the runs from which it was learned.
    learned_from: Runs<'r, 'a, A>,
}

/// Runs, one after the other, each with its own coins.
pub(super) struct Runs<'r, 'a, A> {
    audit: &'r Audit<'a, A>,
    machine: Box<dyn CoinSource>,
    adversary: Box<dyn CoinSource>,
}

impl<A> Runs<'_, '_, A> {
    /// Does this number of further runs on each dataset.
    fn each(&mut self, runs: u32, mut seen: impl FnMut(View<A>, Side)) {
        for _ in 0..runs {
            for side in Side::BOTH {
                seen(self.one(side), side);
            }
        }
    }

    /// One run.
    pub(super) fn one(&mut self, side: Side) -> View<A> {
        (self.audit.view)(side, &mut *self.adversary, &mut *self.machine)
    }
}

/// The finding that shows more; where both show nothing, the one that comes closer.
fn better(one: Finding, other: Finding) -> Finding {
    let rank = |finding: &Finding| (finding.epsilon, finding.likely / finding.unlikely);
    if rank(&other) > rank(&one) {
        other
    } else {
        one
    }
}

/// A view in words.
fn describe<A: Debug>(view: &View<A>) -> String {
    if let Err(fault) = view.start {
        return format!("it does not start: {fault}");
    }
    let mut answers: Vec<(u32, String)> = Vec::new();
    for answer in view.answers() {
        let answer = match answer {
            Ok(answer) => format!("{answer:?}"),
            Err(fault) => fault.to_string(),
        };
        match answers.last_mut() {
            Some((times, last)) if *last == answer => *times += 1,
            _ => answers.push((1, answer)),
        }
    }
    let answers: Vec<String> = answers
        .into_iter()
        .map(|(times, answer)| match times {
            1 => answer,
            _ => format!("{times} × {answer}"),
        })
        .collect();
    let tossed = |tape: &Vec<(NonZeroU64, u64)>| tape.iter().map(|(_, value)| *value).collect();
    let mut coins: Vec<u64> = view
        .rounds
        .iter()
        .flat_map(|(tape, _)| tossed(tape))
        .collect();
    coins.extend::<Vec<u64>>(tossed(&view.last_coins));
    let answers = answers.join(", ");
    if coins.is_empty() {
        format!("[{answers}]")
    } else {
        format!("[{answers}] with coins {coins:?}")
    }
}

crate::debug_fields!([A] Audit<'_, A>, "Audit" { trials, failure, delta, seed, .. });
