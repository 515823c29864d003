//! What is asked: whole-number totals, how far one record moves them, and what noisy ones mean. For
//! those who write queries or noise of their own.
//!
//! | a new | is a type with | and gets |
//! |---|---|---|
//! | statistic | [`Query`]: its totals, their [`Change`], and what noisy ones mean; [`Contributes`]: what a record adds; [`Tally`] | both noises, all measures, accuracy, estimates, groups, the individual form, `verify`: see `proportion.rs` |
//! | kind of answer | [`Statistic`] | accuracy and estimates |
//! | noise | [`AddedNoise`] | all queries |
//! | kind of question | [`Source`], which names it, data that [`Counts`] it, and a [`Domain`] of records | counts, choices, searches, priced counts; with the domain, multiplicative weights |
//! | kind of data | [`Tally`] for the queries that it can compute; [`CountsBy`] for values of it | the same mechanisms; quantiles, continual counts, histograms of unknown keys |

pub use super::added_noise::{AddedNoise, GaussianLoss, GaussianNoise, LaplaceLoss, LaplaceNoise};
pub use super::contributes::{Contributes, Contributions};
pub use super::partition::{HashedKeys, Keys, Labels};
pub use super::question::{Counts, Domain};
pub use super::source::{CountsBy, Source};
pub use super::statistic::Statistic;
pub use crate::data::Unavailable;

use std::marker::PhantomData;
use std::num::NonZeroU64;

use super::least_loss::least_loss;
use super::{About, MechanismError, Noised};
use crate::machine::{Description, DomainMismatch, Public};
use crate::noise::Noise;
use crate::number::{Confidence, Epsilon, Quantity, Unit};
use crate::privacy::facts::Gaussian;
use crate::privacy::{AddRemove, Relation, Replace};

/// By how much totals may change between neighbours.
///
/// At most `places` of them change by at most `each`; or more of them, if all together change by at
/// most `places · each` and none by more than `each`. The squares of the changes add up to at most
/// `square`.
///
/// Example: [`QueryExt`].
#[doc(alias = "global sensitivity")]
#[doc(alias = "sensitivity")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Change {
    /// By how much one total changes, at most.
    pub each: NonZeroU64,
    /// How many of them may change by that.
    pub places: NonZeroU64,
    /// The largest sum of squares.
    pub square: u128,
    /// Whether no two records, if they are added, move a total in opposite directions.
    pub one_way: bool,
}

impl Change {
    /// One total changes by this, or several by this together.
    ///
    /// # Errors
    ///
    /// [`MechanismError::BadParameter`] if it is zero: then no record can change the answer.
    pub fn of(steps: u64) -> Result<Self, MechanismError> {
        let each = NonZeroU64::new(steps).ok_or_else(|| {
            let must = "greater than zero";
            MechanismError::parameter("what a record changes", steps, must)
        })?;
        Ok(Self {
            each,
            places: NonZeroU64::MIN,
            // A change of 2^64 − 1 has a square of less than 2^128.
            square: u128::from(steps) * u128::from(steps),
            one_way: true,
        })
    }

    /// This number of totals change by one.
    #[must_use]
    pub fn places(places: NonZeroU64) -> Self {
        Self {
            each: NonZeroU64::MIN,
            places,
            square: places.get().into(),
            one_way: true,
        }
    }

    /// What a record changes that is in one of several counts: one of them, or two where it is replaced.
    pub(super) fn of_counts<R: RowRelation>() -> Self {
        let counts = NonZeroU64::new(apart::<R>());
        Self::places(counts.unwrap_or(NonZeroU64::MIN))
    }

    /// The same, where some records raise a total and others lower it.
    #[must_use]
    pub fn both_ways(self) -> Self {
        Self {
            one_way: false,
            ..self
        }
    }

    /// What a record changes that is taken away at one place and put in at another, or at the same.
    ///
    /// # Guarantee
    ///
    /// Let a and b be what the two add, each within this change. The totals change by b − a. If
    /// a and b have no opposite signs anywhere, each total changes by at most the larger of |a| and
    /// |b| there, all together by at most |a|₁ + |b|₁, so that twice as many places change by `each`,
    /// and |b − a|² ≤ |a|² + |b|². Otherwise both may add up in one place: twice as much in all, and
    /// four times the square.
    ///
    /// All of a change is then taken to be in one place, which is never more private, whatever the
    /// measure. *Proof.* Let f_s be the trade-off function of noise on a number that changes by s.
    /// Change two numbers, by s and t, one after the other: the trade-off function of both is at
    /// least f_t ∘ (1 − f_s). Laplace noise is log-concave, so that the best tests of every change are
    /// thresholds: f_s maps the level of one to its error after s steps, and f_t ∘ (1 − f_s) that to
    /// the error after s + t, which is f_(s+t). Between thresholds both are linear, and corners are
    /// mapped onto corners. ∎ Gaussian noise depends on the square alone.
    ///
    /// # Errors
    ///
    /// [`MechanismError::TooFine`] if that cannot be held.
    pub fn moved(self) -> Result<Self, MechanismError> {
        let two = NonZeroU64::MIN.saturating_add(1);
        let (each, places, factor) = if self.one_way {
            (Some(self.each), self.places.checked_mul(two), 2)
        } else {
            let together = self.each.checked_mul(self.places);
            let together = together.and_then(|together| together.checked_mul(two));
            (together, Some(NonZeroU64::MIN), 4)
        };
        let square = self.square.checked_mul(factor);
        match (each, places, square) {
            (Some(each), Some(places), Some(square)) => Ok(Self {
                each,
                places,
                square,
                one_way: false,
            }),
            _ => Err(MechanismError::TooFine),
        }
    }
}

/// How the size of a change of several totals is measured: what a noise needs to know of it.
///
/// Example: [`QueryExt`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Norm {
    /// The sum of the absolute changes: for Laplace noise.
    L1,
    /// The root of the sum of their squares: for Gaussian noise.
    L2,
}

impl Norm {
    /// The sum of the numbers, or of their squares.
    pub(super) fn size(self, numbers: &[i128]) -> u64 {
        let sizes = numbers.iter().map(|number| number.unsigned_abs());
        let size = match self {
            Self::L1 => sizes.fold(0, u128::saturating_add),
            Self::L2 => sizes
                .map(|size| size.saturating_pow(2))
                .fold(0, u128::saturating_add),
        };
        u64::try_from(size).unwrap_or(u64::MAX)
    }

    /// Makes them smaller, toward zero, until their size is at most what is allowed, and says what it
    /// is then.
    pub(super) fn shrink(self, numbers: &mut [i128], size: u64, allowed: u64) -> u64 {
        let (part, whole) = match self {
            Self::L1 => (allowed, size),
            Self::L2 => (
                allowed.isqrt(),
                size.isqrt() + u64::from(size.isqrt().pow(2) < size),
            ),
        };
        for number in &mut *numbers {
            let scaled =
                number.unsigned_abs().saturating_mul(part.into()) / u128::from(whole.max(1));
            *number = number.signum() * i128::try_from(scaled).unwrap_or(0);
        }
        self.size(numbers)
    }
}

/// A relation between tables of rows for which it is known how queries change: [`AddRemove`] and
/// [`Replace`].
///
/// Example: [`QueryExt`].
#[diagnostic::on_unimplemented(
    message = "state it under `AddRemove` or `Replace`: under `{Self}` it is not known by how much one record changes the answer"
)]
pub trait RowRelation: Relation + sealed::Sealed {
    /// Whether a row is replaced, so that the number of rows is public.
    #[doc(hidden)]
    const REPLACES: bool;
}

impl RowRelation for AddRemove {
    const REPLACES: bool = false;
}

impl RowRelation for Replace {
    const REPLACES: bool = true;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::AddRemove {}
    impl Sealed for super::Replace {}
}

/// By how much two counts can move apart: one where all of them move in the same direction,
/// otherwise two.
pub(super) const fn apart<R: RowRelation>() -> u64 {
    if R::REPLACES { 2 } else { 1 }
}

/// A question whose answer is computed from whole-number totals: what is public about it.
///
/// Noise makes it a mechanism ([`QueryExt`], [`Noised`]). How the totals are computed is a
/// [`Tally`], for each kind of data that it can be asked of.
///
/// # What an implementer owes
///
/// For neighbours under `R`, the totals of every [`Tally`] differ by no more than
/// [`change`](Self::change). Nothing here depends on data.
#[diagnostic::on_unimplemented(
    message = "state by how much one record changes `{Self}` under `{R}`, or ask under `AddRemove` or `Replace`",
    label = "no change is known here"
)]
pub trait Query<R: Relation>: Clone + Send + Sync {
    /// The answer.
    type Answer;
    /// Whether it answers [`Once`], or in another form.
    type Form;
    /// One value of the answer, which an estimate is about: `i64`, `f64`, or a [`Mean`](super::Mean).
    type Value: Statistic;

    /// The same query, to be asked with noise whose size follows from this norm of the change. It is
    /// called once, before [`change`](Self::change).
    ///
    /// A query that bounds what a person with many records adds to several totals needs it: a bound
    /// on the norm that the noise has keeps more than a bound on the other. By default nothing
    /// changes.
    #[must_use]
    fn bounded_for(self, _norm: Norm) -> Self {
        self
    }

    /// By how much the totals may change.
    ///
    /// # Errors
    ///
    /// [`MechanismError`] if a parameter is out of its range.
    fn change(&self) -> Result<Change, MechanismError>;

    /// How many totals there are.
    fn totals(&self) -> usize {
        1
    }

    /// How many of them, the last ones, are public, and get no noise: they are the same for all
    /// neighbours.
    fn public_totals(&self) -> usize {
        0
    }

    /// What noisy totals mean.
    fn answer(&self, totals: &[i128]) -> Self::Answer;

    /// In which steps the totals are.
    fn scale(&self) -> <Self::Value as Statistic>::Scale;

    /// The noise of one value, where each total has this one.
    fn noise(&self, each: Noise) -> Noise {
        each
    }

    /// Its name and its parameters, without the relation and the loss.
    fn describe(&self) -> Description;

    /// What the answer is about.
    fn about(&self) -> About {
        About::all_rows()
    }
}

/// The form of queries that are answered once: all totals get their noise when the mechanism starts.
///
/// Example: [`QueryExt`].
#[derive(Clone, Copy, Debug)]
pub struct Once;

/// A query of data of this kind: how its totals are computed.
///
/// Example: [`QueryExt`].
///
/// # What an implementer owes
///
/// The totals are those that [`Query::change`] speaks of. They do not fail because of data: what
/// cannot be read has a fixed meaning. Only an engine that holds the data may fail, with one
/// constant error, [`Unavailable`].
#[diagnostic::on_unimplemented(
    message = "ask a query that can be computed on `{D}`: `{Self}` cannot",
    label = "computed on other data"
)]
pub trait Tally<D: ?Sized, R: Relation>: Query<R> {
    /// Whether it is a query of data like this, by what is public. By default it is.
    ///
    /// # Errors
    ///
    /// [`DomainMismatch`], which says why not: the launch is refused, and nothing is charged.
    fn check(&self, _data: Public<'_, D>) -> Result<(), DomainMismatch> {
        Ok(())
    }

    /// Writes the totals, of which there are [`Query::totals`].
    ///
    /// # Errors
    ///
    /// [`Unavailable`] if the engine that holds the data does not answer.
    fn tally(&self, data: &D, totals: &mut [i128]) -> Result<(), Unavailable>;
}

/// Noise makes a query a mechanism.
///
/// ```
/// use queryables::data::Predicate;
/// use queryables::mechanisms::Count;
/// use queryables::prelude::*;
///
/// let adults = Predicate::new("at least 18", |age: &u32| *age >= 18);
/// let count = Count::<Predicate<Vec<u32>>>::of(adults);
/// let _ = count.clone().laplace(epsilon!(0.1))?;
/// let _ = count.clone().gaussian(rho!(0.02))?;
/// // With the smallest ε for which 19 answers in 20 are at most 30 away from the truth.
/// let _ = count.clone().laplace_within(30, confidence!(0.95))?;
/// // Where a row is replaced, instead of added or removed.
/// let _ = count.under(Replace).gaussian(mu!(0.5))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait QueryExt: Sized {
    /// The query.
    type Query: Query<Self::Relation>;
    /// For which neighbours: [`AddRemove`], unless it is [`under`](Self::under) another relation.
    type Relation: Relation;

    /// With the relation.
    #[doc(hidden)]
    fn stated(self) -> Under<Self::Query, Self::Relation>;

    /// For neighbours under this relation; without it, for those that add or remove a record.
    fn under<R: Relation>(self, _relation: R) -> Under<Self::Query, R>
    where
        Self::Query: Query<R>,
    {
        Under::new(self.stated().query)
    }

    /// With discrete Laplace noise, for an ε.
    ///
    /// # Errors
    ///
    /// [`MechanismError`] if a parameter of the query is out of its range, ε is zero, or the scale
    /// of the noise needs longer numbers than can be held.
    fn laplace(self, epsilon: impl LaplaceLoss) -> Made<Self, LaplaceNoise> {
        self.stated().noise(epsilon.epsilon())
    }

    /// With rounded Gaussian noise, for a ρ or a μ.
    ///
    /// # Errors
    ///
    /// As for [`laplace`](Self::laplace).
    fn gaussian(self, loss: impl GaussianLoss) -> Made<Self, GaussianNoise> {
        self.stated().noise(loss.gaussian())
    }

    /// With the smallest ε for which an answer is at most this far from the truth, with at least
    /// this confidence ([`Accuracy`](super::Accuracy)). It is rounded up to six digits.
    ///
    /// # Errors
    ///
    /// [`MechanismError::TooAccurate`] if no ε up to 10^6 suffices, and those of
    /// [`laplace`](Self::laplace).
    fn laplace_within(
        self,
        within: WithinOf<Self::Query, Self::Relation>,
        confidence: Confidence,
    ) -> Made<Self, LaplaceNoise> {
        self.stated()
            .least(within, confidence, |epsilon: Epsilon| epsilon)
    }

    /// With the smallest ρ for which an answer is at most this far from the truth, with at least
    /// this confidence ([`Accuracy`](super::Accuracy)). It is rounded up to six digits.
    ///
    /// # Errors
    ///
    /// [`MechanismError::TooAccurate`] if no ρ up to 10^6 suffices, and those of
    /// [`gaussian`](Self::gaussian).
    fn gaussian_within(
        self,
        within: WithinOf<Self::Query, Self::Relation>,
        confidence: Confidence,
    ) -> Made<Self, GaussianNoise> {
        self.stated().least(within, confidence, Gaussian::Rho)
    }
}

/// The mechanism, or what is wrong with its parameters.
///
/// Example: [`QueryExt`].
pub type Made<Q, N> =
    Result<Noised<<Q as QueryExt>::Query, N, <Q as QueryExt>::Relation>, MechanismError>;

impl<Q: Query<AddRemove>> QueryExt for Q {
    type Query = Q;
    type Relation = AddRemove;

    fn stated(self) -> Under<Q, AddRemove> {
        Under::new(self)
    }
}

impl<Q: Query<R>, R: Relation> QueryExt for Under<Q, R> {
    type Query = Q;
    type Relation = R;

    fn stated(self) -> Self {
        self
    }
}

/// How far off an answer to this query may be: `u128`, `f64`, or for a mean or a variance
/// `(distance, rows)`, a distance that is enough if there are at least this number of rows.
///
/// Example: [`QueryExt`].
pub type WithinOf<Q, R> = <<Q as Query<R>>::Value as Statistic>::Within;

/// A query for neighbours under a relation, which waits for its noise ([`QueryExt::under`]).
///
/// Example: [`QueryExt`].
#[derive(Debug)]
pub struct Under<Q, R> {
    query: Q,
    relation: PhantomData<fn() -> R>,
}

impl<Q: Query<R>, R: Relation> Under<Q, R> {
    pub(super) fn new(query: Q) -> Self {
        Self {
            query,
            relation: PhantomData,
        }
    }

    /// With noise of any kind.
    ///
    /// # Errors
    ///
    /// [`MechanismError`] if a parameter of the query is out of its range, or there is no such noise.
    pub fn noise<N: AddedNoise>(self, loss: N::Loss) -> Result<Noised<Q, N, R>, MechanismError> {
        let query = self.query.bounded_for(N::NORM);
        let noise = N::new(loss, &query.change()?)?;
        Ok(Noised::with_noise(query, noise))
    }

    /// With the noise for the least loss that is within the distance.
    fn least<N: AddedNoise<Law: Copy + Into<Noise>>, U: Unit>(
        self,
        within: WithinOf<Q, R>,
        confidence: Confidence,
        loss: impl Fn(Quantity<U>) -> N::Loss,
    ) -> Result<Noised<Q, N, R>, MechanismError> {
        let query = self.query.bounded_for(N::NORM);
        let (change, scale) = (query.change()?, query.scale());
        if !Q::Value::is_distance(within) {
            return Err(MechanismError::accuracy(within));
        }
        let make = |least| N::new(loss(least), &change);
        let noise = least_loss(make, |noise: &N| {
            let noise = query.noise((*noise.law()).into());
            Q::Value::is_within(scale, noise, within, confidence)
        })?;
        Ok(Noised::with_noise(query, noise))
    }
}

#[cfg(test)]
#[path = "query_tests.rs"]
mod tests;
