//! A query with noise is a mechanism: everything that mechanisms with added noise have, once.

use std::marker::PhantomData;
use std::ops::RangeInclusive;
use std::sync::Arc;

use super::{
    About, Accuracy, AddedNoise, Estimates, LaplaceNoise, Once, Query, Statistic, Tally, shown,
};
use crate::machine::{
    Coins, Description, DomainMismatch, DrawnNoise, Fault, Mechanism, Public, Released,
    ReleasesOnly, public,
};
use crate::noise::Noise;
use crate::number::Confidence;
use crate::privacy::{AddRemove, Distance, Measure, Prices, Private, Relation, UnknownLoss};

/// A query, with noise on its totals, for neighbours under a relation.
///
/// It is made from a query ([`QueryExt`](super::QueryExt)):
///
/// ```
/// use queryables::data::Predicate;
/// use queryables::mechanisms::{Accuracy, Count, Estimates};
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let ages = Arc::new(vec![17, 18, 43, 70]);
/// let filter = start(&Filter::concurrent(PureDp, epsilon!(1)), ages)?;
///
/// let adults = Predicate::new("at least 18", |age: &i32| *age >= 18);
/// let count = Count::of(adults).laplace(epsilon!(0.5))?;
/// // 19 answers in 20 are at most 6 away from the truth.
/// assert_eq!(count.accuracy(confidence!(0.95)), 6);
/// let answer = filter.release(&count)?;
/// println!("{}", count.estimate(answer, confidence!(0.95)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// The query says by how much its totals change between neighbours under `R`
/// ([`Change`](super::Change)), and the noise what is true of totals that change by no more
/// ([`AddedNoise::fact`]): every measure that prices this fact has a loss for it. Totals get
/// independent noise and become the answer by a public function, which is postprocessing; so is
/// clamping a number that an `i64` cannot hold.
///
/// In an [`IndividualFilter`](crate::compose::IndividualFilter) the same mechanism costs each record
/// what it changes by itself ([`individual`](super::individual)).
#[doc(alias = "noise")]
pub struct Noised<Q, N = LaplaceNoise, R = AddRemove> {
    pub(super) query: Q,
    pub(super) noise: N,
    relation: PhantomData<fn() -> R>,
}

impl<Q, N, R> Noised<Q, N, R> {
    pub(super) fn with_noise(query: Q, noise: N) -> Self {
        Self {
            query,
            noise,
            relation: PhantomData,
        }
    }

    /// What is asked.
    #[must_use]
    pub fn query(&self) -> &Q {
        &self.query
    }
}

impl<Q: Query<R>, N: AddedNoise<Law: Copy + Into<Noise>>, R: Relation> Noised<Q, N, R> {
    /// The noise of one number of the answer, or of each of the sums that it is computed from.
    pub fn noise(&self) -> Noise {
        Q::Value::in_steps(self.query.scale(), self.total_noise())
    }

    /// The variance of the noise, rounded up.
    pub fn variance(&self) -> f64 {
        self.noise().variance()
    }

    fn total_noise(&self) -> Noise {
        self.query.noise((*self.noise.law()).into())
    }
}

/// How queries of a form start on data of a kind. What is said of it is said by [`Mechanism`].
#[doc(hidden)]
pub trait Starts<D: ?Sized, Q, N, R> {
    /// What runs.
    type Machine;

    /// Starts it.
    ///
    /// # Errors
    ///
    /// [`Fault`] if coins or an engine fail.
    fn start(
        mechanism: &Noised<Q, N, R>,
        data: &Arc<D>,
        coins: &mut Coins<'_>,
    ) -> Result<Self::Machine, Fault>;

    /// As [`Mechanism::check`].
    ///
    /// # Errors
    ///
    /// As there.
    fn check(query: &Q, data: Public<'_, D>) -> Result<(), DomainMismatch>;
}

impl<D, Q, N, R> Starts<D, Q, N, R> for Once
where
    D: ?Sized,
    Q: Tally<D, R>,
    N: AddedNoise,
    R: Relation,
{
    type Machine = Released<Q::Answer>;

    fn start(
        Noised { query, noise, .. }: &Noised<Q, N, R>,
        data: &Arc<D>,
        coins: &mut Coins<'_>,
    ) -> Result<Released<Q::Answer>, Fault> {
        query.check(public(&**data))?;
        // Drawn before the data is read: whether the coins fail must not depend on the data.
        let (law, totals) = (noise.law(), query.totals());
        if totals == 1 {
            let noise = coins.noise(law)?;
            let mut total = [0];
            query.tally(data, &mut total)?;
            let [total] = total;
            return Ok(Released(query.answer(&[coins.release(total, noise)])));
        }
        let noise = drawn(law, totals.saturating_sub(query.public_totals()), coins)?;
        let mut totals = vec![0; totals];
        query.tally(data, &mut totals)?;
        release(&mut totals, noise, coins);
        Ok(Released(query.answer(&totals)))
    }

    fn check(query: &Q, data: Public<'_, D>) -> Result<(), DomainMismatch> {
        query.check(data)
    }
}

/// Noise for this number of totals.
pub(super) fn drawn(
    law: &impl crate::machine::Law,
    totals: usize,
    coins: &mut Coins<'_>,
) -> Result<Vec<DrawnNoise>, Fault> {
    let noise = (0..totals).map(|_| coins.noise(law));
    Ok(noise.collect::<Result<_, _>>()?)
}

/// Adds the noise to the totals that it was drawn for, which are the first ones.
pub(super) fn release(totals: &mut [i128], noise: Vec<DrawnNoise>, coins: &mut Coins<'_>) {
    for (total, noise) in totals.iter_mut().zip(noise) {
        *total = coins.release(*total, noise);
    }
}

#[diagnostic::do_not_recommend]
impl<D, Q, N, R> Mechanism<D> for Noised<Q, N, R>
where
    D: ?Sized,
    Q: Query<R, Form: Starts<D, Q, N, R>>,
    N: AddedNoise,
    R: Relation,
{
    type Machine = <Q::Form as Starts<D, Q, N, R>>::Machine;

    fn start(&self, data: &Arc<D>, coins: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        Q::Form::start(self, data, coins)
    }

    fn check(&self, data: Public<'_, D>) -> Result<(), DomainMismatch> {
        Q::Form::check(&self.query, data)
    }

    fn describe(&self) -> Description {
        self.description()
    }
}

impl<Q: Query<R>, N: AddedNoise, R: Relation> Noised<Q, N, R> {
    pub(super) fn description(&self) -> Description {
        let described = self.query.describe().with("relation", R::NAME);
        self.noise.describe(described)
    }
}

/// Noisy totals become the answer by a public function.
impl<Q, N, R> ReleasesOnly for Noised<Q, N, R> {}

impl<Me, Q, N, R> Private<Me, R> for Noised<Q, N, R>
where
    Me: Measure + Prices<N::Fact>,
    Q: Query<R>,
    N: AddedNoise,
    R: Relation,
{
    fn loss(&self, measure: &Me) -> Result<Me::Loss, UnknownLoss> {
        measure.price(&self.noise.fact())
    }

    fn loss_at(&self, measure: &Me, distance: Distance) -> Result<Me::Loss, UnknownLoss> {
        measure.price(&self.noise.fact_at(distance)?)
    }
}

impl<Q, N, R> Accuracy for Noised<Q, N, R>
where
    Q: Query<R>,
    N: AddedNoise<Law: Copy + Into<Noise>>,
    R: Relation,
{
    type Distance = <Q::Value as Statistic>::Distance;

    fn accuracy(&self, confidence: Confidence) -> Self::Distance {
        Q::Value::distance(self.query.scale(), self.total_noise(), confidence)
    }

    fn about(&self) -> About {
        self.query.about()
    }
}

impl<Q, N, R> Estimates for Noised<Q, N, R>
where
    Q: Query<R>,
    N: AddedNoise<Law: Copy + Into<Noise>>,
    R: Relation,
{
    type Answer = Q::Value;
    type Number = <Q::Value as Statistic>::Number;

    fn interval(
        &self,
        answer: Q::Value,
        confidence: Confidence,
    ) -> (Self::Number, RangeInclusive<Self::Number>) {
        answer.interval(self.query.scale(), self.total_noise(), confidence)
    }
}

crate::clone_fields!([Q: Clone, N: Clone, R] Noised<Q, N, R> { query, noise, relation });
shown!(impl[Q: Query<R>, N: AddedNoise, R: Relation] Noised<Q, N, R>);
