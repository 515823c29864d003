//! The exact law of the view of a given adversary.

use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::Hash;
use std::num::NonZeroU64;
use std::sync::Arc;

use super::branching::{Branching, every_path};
use super::explorer::Care;
use super::meter::LIMIT;
use super::{Interval, Rational, VerifyError};
use crate::machine::{Adversary, CoinSource, CoinsError, Law, Machine, Mechanism, View, view_of};

/// A probability distribution with finitely many outcomes.
///
/// Probabilities are exact where the coins have rational odds.
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
/// `adversary` creates the adversary anew for each run; its coins are enumerated too. The view
/// records how the mechanism failed to start: [`View::start`].
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
/// let law = views(&Respond, &Arc::new(true), || Script::new([()]), 1)?;
/// let truth = law.outcomes().find(|(view, _)| view.answers().eq(&[Ok(true)]));
/// assert_eq!(truth.map(|(_, mass)| mass.to_string()), Some("3/4".to_string()));
/// # Ok::<(), queryables::verify::VerifyError>(())
/// ```
///
/// # Errors
///
/// See [`VerifyError`].
pub fn views<D, M, V>(
    mechanism: &M,
    data: &Arc<D>,
    adversary: impl Fn() -> V,
    rounds: usize,
) -> Result<Distribution<View<V::Answer>>, VerifyError>
where
    D: ?Sized,
    M: Mechanism<D> + ?Sized,
    M::Machine: Machine<Query = V::Query, Answer = V::Answer>,
    V: Adversary,
    V::Answer: Eq + Hash,
{
    let care = Care::default();
    let mut runs = 0;
    let mut run = |coins: &mut Branching<'_>| {
        runs += 1;
        if runs > LIMIT {
            return Err(VerifyError::Limit { limit: LIMIT });
        }
        let coins = RefCell::new(coins);
        Ok(view_of(
            mechanism,
            data,
            &mut adversary(),
            &mut Shared(&coins),
            &mut Shared(&coins),
            rounds,
        ))
    };
    let mut found = Vec::new();
    let first = every_path(&[], &care, &mut run, |outcome| {
        found.push(outcome);
        Ok(())
    })?;
    // Once more, to detect code that takes randomness or state from elsewhere.
    let mut expected = found.iter();
    let again = every_path(&[], &care, &mut run, |outcome| {
        let same = expected
            .next()
            .is_some_and(|one| one.path == outcome.path && one.result == outcome.result);
        if same {
            Ok(())
        } else {
            Err(VerifyError::Diverged)
        }
    })?;
    if again != first || expected.next().is_some() {
        return Err(VerifyError::Diverged);
    }
    let list = found.into_iter();
    Ok(Distribution {
        cut: first,
        ..Distribution::new(list.map(|outcome| (outcome.result, outcome.mass)))
    })
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
