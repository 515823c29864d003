//! The exact law of the view of a given adversary.

use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::Hash;
use std::num::NonZeroU64;
use std::sync::Arc;

use super::branching::Branching;
use super::meter::Meter;
use super::runner::{Precision, Runner, Shown};
use super::watch::on_watch;
use super::{Interval, Limits, Rational, VerifyError};
use crate::machine::{
    Adversary, AnswerKind, CoinSource, CoinsError, Law, Machine, Mechanism, View, view_of,
};

/// A probability distribution with finitely many outcomes.
///
/// Probabilities are exact where the coins have rational odds.
///
/// Example: [`Divergences`](crate::verify::Divergences).
#[derive(Clone, Debug, PartialEq)]
pub struct Distribution<T> {
    outcomes: Vec<(T, Interval)>,
    cut: Rational,
}

impl<T: Eq + Hash> Distribution<T> {
    /// The distribution with these outcomes; equal ones are put together.
    pub fn new(outcomes: impl IntoIterator<Item = (T, Interval)>) -> Self {
        let mut index: HashMap<T, usize> = HashMap::new();
        let mut masses: Vec<Interval> = Vec::new();
        for (outcome, mass) in outcomes {
            let at = *index.entry(outcome).or_insert(masses.len());
            match masses.get_mut(at) {
                Some(sum) => *sum = sum.plus(&mass),
                None => masses.push(mass),
            }
        }
        let mut outcomes: Vec<_> = index.into_iter().collect();
        outcomes.sort_by_key(|(_, at)| *at);
        let outcomes = outcomes.into_iter().map(|(outcome, _)| outcome);
        Self {
            outcomes: outcomes.zip(masses).collect(),
            cut: Rational::ZERO,
        }
    }

    /// The law of a function of the outcome: noninteractive postprocessing.
    pub fn map<U: Eq + Hash>(self, f: impl Fn(T) -> U) -> Distribution<U> {
        let mapped = self
            .outcomes
            .into_iter()
            .map(|(outcome, mass)| (f(outcome), mass));
        Distribution {
            cut: self.cut,
            ..Distribution::new(mapped)
        }
    }

    /// Whether both give every outcome the same probability, exactly. False if a probability is not
    /// known exactly.
    #[must_use]
    pub fn is_same_as(&self, other: &Self) -> bool {
        let masses = |of: &'_ Self| -> Option<usize> {
            let exact = of.cut == Rational::ZERO && of.outcomes.iter().all(|(_, m)| m.is_exact());
            exact.then(|| {
                of.outcomes
                    .iter()
                    .filter(|(_, mass)| !mass.is_zero())
                    .count()
            })
        };
        let possible: HashMap<&T, &Interval> = other.outcomes().collect();
        let same = |(outcome, mass): &(T, Interval)| {
            mass.is_zero() || possible.get(outcome).is_some_and(|other| *other == mass)
        };
        masses(self).is_some() && masses(self) == masses(other) && self.outcomes.iter().all(same)
    }
}

impl<T> Distribution<T> {
    /// Every outcome and its probability.
    pub fn outcomes(&self) -> impl Iterator<Item = (&T, &Interval)> {
        self.outcomes.iter().map(|(outcome, mass)| (outcome, mass))
    }

    /// The probability of what was not followed.
    #[must_use]
    pub fn cut(&self) -> &Rational {
        &self.cut
    }
}

/// The law of what an adversary sees: every run of
/// [`interact`](crate::machine::interact), with its exact probability.
///
/// `mechanism` and `adversary` are factories: both are made anew for each run, and the coins of both
/// are enumerated. The view records how the mechanism failed to start: [`View::start`].
///
/// It is run as often as a step of a [`Verifier`](super::Verifier), to notice randomness or state
/// outside the machine, and within the [`Limits`] that are the default; [`views_within`] takes
/// others.
///
/// ```
/// use queryables::machine::{Coins, Fault, Mechanism, Released, Script};
/// use queryables::verify::{views, Rational};
/// use std::sync::Arc;
///
/// /// Tells the truth three times in four.
/// struct Respond;
///
/// impl Mechanism<bool> for Respond {
///     type Machine = Released<bool>;
///     fn start(&self, data: &Arc<bool>, coins: &mut Coins<'_>) -> Result<Released<bool>, Fault> {
///         Ok(Released(**data ^ (coins.weighted(&[3, 1])? == 1)))
///     }
/// }
///
/// let law = views(|| Respond, &Arc::new(true), || Script::new([()]), 1)?;
/// let truth = law.outcomes().find(|(view, _)| view.answers().eq(&[Ok(true)]));
/// assert_eq!(truth.map(|(_, mass)| mass.to_string()), Some("3/4".to_string()));
/// # Ok::<(), queryables::verify::VerifyError>(())
/// ```
///
/// # Errors
///
/// See [`VerifyError`].
pub fn views<D, M, V>(
    mechanism: impl Fn() -> M + Send + 'static,
    data: &Arc<D>,
    adversary: impl Fn() -> V + Send + 'static,
    rounds: usize,
) -> Result<Distribution<View<V::Answer>>, VerifyError>
where
    D: Send + Sync + ?Sized + 'static,
    M: Mechanism<D, Machine: Machine<Query = V::Query, Answer = V::Answer>>,
    V: Adversary<Answer: Clone + Eq + Hash + Send + 'static>,
{
    views_within(&Limits::default(), mechanism, data, adversary, rounds)
}

/// The same as [`views`], within these bounds.
///
/// # Errors
///
/// See [`VerifyError`].
pub fn views_within<D, M, V>(
    bounds: &Limits,
    mechanism: impl Fn() -> M + Send + 'static,
    data: &Arc<D>,
    adversary: impl Fn() -> V + Send + 'static,
    rounds: usize,
) -> Result<Distribution<View<V::Answer>>, VerifyError>
where
    D: Send + Sync + ?Sized + 'static,
    M: Mechanism<D, Machine: Machine<Query = V::Query, Answer = V::Answer>>,
    V: Adversary<Answer: Clone + Eq + Hash + Send + 'static>,
{
    let meter = Arc::new(Meter::new(bounds.clone()));
    let runner = Runner::new(&meter, Precision::default());
    let data = Arc::clone(data);
    // Rounds are not nested, so that the smallest stack is enough.
    on_watch(0, &meter, None, move || {
        let run = |coins: &mut Branching<'_>| {
            let coins = RefCell::new(coins);
            let view = view_of(
                &mechanism(),
                &data,
                &mut adversary(),
                &mut Shared(&coins),
                &mut Shared(&coins),
                rounds,
            );
            Ok(Shown {
                answer: Ok(view),
                kind: AnswerKind::Informative,
                state: None,
            })
        };
        // A view is a whole conversation: nothing is asked after it, and it shows no state.
        let step = runner.step(&[], true, |_| 0, size_of_view, run)?;
        let found = step.endings.into_iter();
        let outcomes = found.filter_map(|ending| Some((ending.answer.ok()?, ending.mass)));
        Ok(Distribution {
            outcomes: outcomes.collect(),
            cut: step.cut,
        })
    })
}

/// How many bytes a view takes besides its own; what answers allocate is not known.
fn size_of_view<A>(view: &View<A>) -> usize {
    let tossed = view.rounds.iter().map(|(tape, _)| tape.as_slice());
    let tapes = tossed.chain([view.last_coins.as_slice()]);
    size_of_val(view.rounds.as_slice()) + tapes.map(size_of_val).sum::<usize>()
}

/// One source of coins for both sides of a conversation.
struct Shared<'a, 'b, 'c>(&'a RefCell<&'b mut Branching<'c>>);

impl CoinSource for Shared<'_, '_, '_> {
    fn uniform(&mut self, below: NonZeroU64) -> Result<u64, CoinsError> {
        self.0.borrow_mut().uniform(below)
    }

    fn draw(&mut self, law: &dyn Law) -> Result<i128, CoinsError> {
        self.0.borrow_mut().draw(law)
    }

    fn weighted(&mut self, weights: &[u64]) -> Result<usize, CoinsError> {
        self.0.borrow_mut().weighted(weights)
    }

    fn word(&mut self) -> Result<u64, CoinsError> {
        self.0.borrow_mut().word()
    }
}
