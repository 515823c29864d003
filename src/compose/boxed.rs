//! Mechanisms with their type erased.

use std::fmt;
use std::sync::Arc;

use dyn_clone::DynClone;

use crate::machine::{
    BoxedMachine, Coins, Description, Fault, Machine, Mechanism, Public, Unsuitable,
};
use crate::privacy::{Distance, Measure, Private, Relation, UnknownLoss};

/// A mechanism with its type erased: only its queries, its answers and its loss are known.
///
/// It can be cloned, as every description of a mechanism should be.
///
/// # Guarantee
///
/// That of the mechanism inside.
///
/// ```
/// use queryables::compose::BoxedMechanism;
/// use queryables::data::{Attribute, Predicate};
/// use queryables::mechanisms::{NoisyCount, NoisySum};
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// type Any = BoxedMechanism<Vec<i64>, PureDp, AddRemove, (), i64>;
///
/// let long = Predicate::new("more than 20 hours", |hours: &i64| *hours > 20);
/// let hours = Attribute::new("hours per week", |hours: &i64| *hours);
/// let menu: Vec<Any> = vec![
///     BoxedMechanism::new(NoisyCount::new(long, "0.25".parse()?)?),
///     BoxedMechanism::new(NoisySum::new(AddRemove, hours, 0..=60, "0.5".parse()?)?),
/// ];
///
/// let hours = Arc::new(vec![40, 13, 40, 90]);
/// let filter = launch(&Filter::concurrent(PureDp, "1".parse()?), hours)?;
/// for mechanism in &menu {
///     let answer: i64 = filter.launch(mechanism)?.ask(())?;
/// }
/// assert_eq!(filter.remaining(), "0.25".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct BoxedMechanism<D: ?Sized, Me, R, Q, A>(Box<dyn Erased<D, Me, R, Q, A>>);

/// A mechanism as a trait object.
trait Erased<D: ?Sized, Me: Measure, R: Relation, Q, A>: DynClone + Send + Sync {
    fn start(&self, data: &Arc<D>, coins: &mut Coins<'_>) -> Result<BoxedMachine<Q, A>, Fault>;
    fn check(&self, data: Public<'_, D>) -> Result<(), Unsuitable>;
    fn describe(&self) -> Description;
    fn loss_at(&self, measure: &Me, distance: Distance) -> Result<Me::Loss, UnknownLoss>;
}

impl<D, Me, R, M, S> Erased<D, Me, R, S::Query, S::Answer> for M
where
    D: ?Sized,
    Me: Measure,
    R: Relation,
    M: Mechanism<D, Machine = S> + Private<Me, R> + Clone + Send + Sync,
    S: Machine + Send + 'static,
{
    fn start(
        &self,
        data: &Arc<D>,
        coins: &mut Coins<'_>,
    ) -> Result<BoxedMachine<S::Query, S::Answer>, Fault> {
        Ok(Box::new(Mechanism::start(self, data, coins)?))
    }

    fn check(&self, data: Public<'_, D>) -> Result<(), Unsuitable> {
        Mechanism::check(self, data)
    }

    fn describe(&self) -> Description {
        Mechanism::describe(self)
    }

    fn loss_at(&self, measure: &Me, distance: Distance) -> Result<Me::Loss, UnknownLoss> {
        Private::loss_at(self, measure, distance)
    }
}

impl<D, Me, R, Q, A> BoxedMechanism<D, Me, R, Q, A>
where
    D: ?Sized,
    Me: Measure,
    R: Relation,
{
    /// Erases the type of a mechanism.
    pub fn new<M, S>(mechanism: M) -> Self
    where
        M: Mechanism<D, Machine = S> + Private<Me, R> + Clone + Send + Sync + 'static,
        S: Machine<Query = Q, Answer = A> + Send + 'static,
    {
        Self(Box::new(mechanism))
    }
}

impl<D, Me, R, Q, A> Mechanism<D> for BoxedMechanism<D, Me, R, Q, A>
where
    D: ?Sized,
    Me: Measure,
    R: Relation,
{
    type Machine = BoxedMachine<Q, A>;

    fn start(&self, data: &Arc<D>, coins: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        self.0.start(data, coins)
    }

    fn check(&self, data: Public<'_, D>) -> Result<(), Unsuitable> {
        self.0.check(data)
    }

    fn describe(&self) -> Description {
        self.0.describe()
    }
}

impl<D, Me, R, Q, A> Private<Me, R> for BoxedMechanism<D, Me, R, Q, A>
where
    D: ?Sized,
    Me: Measure,
    R: Relation,
{
    fn loss(&self, measure: &Me) -> Result<Me::Loss, UnknownLoss> {
        self.0.loss_at(measure, Distance::NEIGHBOURS)
    }

    fn loss_at(&self, measure: &Me, distance: Distance) -> Result<Me::Loss, UnknownLoss> {
        self.0.loss_at(measure, distance)
    }
}

impl<D: ?Sized, Me: Measure, R: Relation, Q, A> Clone for BoxedMechanism<D, Me, R, Q, A> {
    fn clone(&self) -> Self {
        Self(dyn_clone::clone_box(&*self.0))
    }
}

impl<D, Me, R, Q, A> fmt::Debug for BoxedMechanism<D, Me, R, Q, A>
where
    D: ?Sized,
    Me: Measure,
    R: Relation,
{
    /// The description of the mechanism inside.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BoxedMechanism({})", self.0.describe())
    }
}
