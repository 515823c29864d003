//! Mechanisms with their type erased.

use std::fmt;
use std::sync::Arc;

use dyn_clone::DynClone;

use crate::machine::{
    BoxedMachine, Coins, Description, DomainMismatch, Fault, Machine, Mechanism, Public, Released,
};
use crate::privacy::{Distance, Measure, Private, Relation, UnknownLoss};

/// A mechanism with its type erased: what remains is the data that it takes, its loss under the
/// measure `Me` and the relation `R`, and its machine `S`.
///
/// There are two kinds. A [`BoxedMechanism`] can be asked, and is launched; a [`BoxedRelease`]
/// answers once, and is released, also in filters that take nothing else.
///
/// It can be cloned, as every description of a mechanism should be. Its `Debug` says its
/// description and its loss, and nothing about data; so does a [`Log`](crate::middle::Log) of the
/// messages that launch it.
///
/// With [`AnyMeasure`](crate::privacy::AnyMeasure) it keeps what the mechanism states, for an
/// [`AnyFilter`](super::AnyFilter).
///
/// # Guarantee
///
/// That of the mechanism inside.
///
/// # Example
///
/// ```
/// use queryables::compose::BoxedRelease;
/// use queryables::data::{Attribute, Predicate};
/// use queryables::mechanisms::{Count, Sum};
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// type Any = BoxedRelease<Vec<i64>, PureDp, AddRemove, i64>;
///
/// let long = Predicate::new("more than 20 hours", |hours: &i64| *hours > 20);
/// let hours = Attribute::new("hours per week", |hours: &i64| *hours);
/// let menu = [
///     Any::new(PureDp, Count::of(long).laplace(epsilon!(0.25))?),
///     Any::new(PureDp, Sum::of(hours, 0..=60).laplace(epsilon!(0.5))?),
/// ];
/// assert_eq!(
///     format!("{:?}", menu[0]),
///     "Boxed(Count(predicate = more than 20 hours, relation = add or remove one row, epsilon = 0.25), ε = 0.25)",
/// );
///
/// let hours = Arc::new(vec![40, 13, 40, 90]);
/// let filter = start(&Filter::noninteractive(PureDp, "1".parse()?), hours)?;
/// for mechanism in &menu {
///     let answer: i64 = filter.release(mechanism)?;
/// }
/// assert_eq!(filter.remaining(), "0.25".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Boxed<D: ?Sized, Me, R, S>(Box<dyn Erased<D, Me, R, S>>);

/// A mechanism with its type erased that can be asked queries `Q`, and gives answers `A`.
///
/// ```
/// use queryables::compose::BoxedMechanism;
/// use queryables::data::Predicate;
/// use queryables::mechanisms::{AboveThreshold, Count};
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// type Any = BoxedMechanism<Vec<i64>, PureDp, AddRemove, (), i64>;
///
/// let long = Predicate::new("more than 20 hours", |hours: &i64| *hours > 20);
/// let count = Any::new(PureDp, Count::of(long).laplace(epsilon!(0.25))?);
/// let filter = start(&Filter::concurrent(PureDp, "1".parse()?), Arc::new(vec![40, 13]))?;
/// let child: Queryable<(), i64> = filter.launch(&count)?;
/// let answer = child.ask(())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type BoxedMechanism<D, Me, R, Q, A> = Boxed<D, Me, R, BoxedMachine<Q, A>>;

/// A mechanism with its type erased that answers once, with an `A`. [`Boxed`] has an example.
pub type BoxedRelease<D, Me, R, A> = Boxed<D, Me, R, Released<A>>;

/// A mechanism as a trait object.
trait Erased<D: ?Sized, Me: Measure, R, S>: DynClone + Send + Sync {
    fn start(&self, data: &Arc<D>, coins: &mut Coins<'_>) -> Result<S, Fault>;
    fn check(&self, data: Public<'_, D>) -> Result<(), DomainMismatch>;
    fn describe(&self) -> Description;
    fn loss_at(&self, measure: &Me, distance: Distance) -> Result<Me::Loss, UnknownLoss>;
    /// The measure with which it was boxed: the one whose loss is printed.
    fn measure(&self) -> &Me;
}

/// What is inside, and how its machine is erased.
struct Holding<Me, M, E> {
    measure: Me,
    mechanism: M,
    erase: E,
}

crate::clone_fields!([Me: Clone, M: Clone, E: Clone] Holding<Me, M, E> { measure, mechanism, erase });

impl<D, Me, R, M, S, E> Erased<D, Me, R, S> for Holding<Me, M, E>
where
    D: ?Sized,
    Me: Measure,
    R: Relation,
    M: Mechanism<D> + Private<Me, R> + Clone + Send + Sync,
    E: Fn(M::Machine) -> S + Clone + Send + Sync,
{
    fn start(&self, data: &Arc<D>, coins: &mut Coins<'_>) -> Result<S, Fault> {
        // A conversion may be third-party code: it is told nothing by a mechanism that was stopped.
        let machine = coins.guarded(|coins| self.mechanism.start(data, coins))?;
        Ok((self.erase)(machine))
    }

    fn check(&self, data: Public<'_, D>) -> Result<(), DomainMismatch> {
        self.mechanism.check(data)
    }

    fn describe(&self) -> Description {
        self.mechanism.describe()
    }

    fn loss_at(&self, measure: &Me, distance: Distance) -> Result<Me::Loss, UnknownLoss> {
        self.mechanism.loss_at(measure, distance)
    }

    fn measure(&self) -> &Me {
        &self.measure
    }
}

impl<D: ?Sized, Me: Measure, R: Relation, S> Boxed<D, Me, R, S> {
    /// Erases the type of a mechanism, and that of its machine with `erase`.
    pub(super) fn erasing<M, E>(measure: Me, mechanism: M, erase: E) -> Self
    where
        M: Mechanism<D> + Private<Me, R> + Clone + Send + Sync + 'static,
        E: Fn(M::Machine) -> S + Clone + Send + Sync + 'static,
    {
        Self(Box::new(Holding {
            measure,
            mechanism,
            erase,
        }))
    }
}

impl<D: ?Sized, Me: Measure, R: Relation, Q, A> BoxedMechanism<D, Me, R, Q, A> {
    /// Erases the type of a mechanism. It is launched under a measure of this type, and printed
    /// with its loss under this one.
    pub fn new<M, S>(measure: Me, mechanism: M) -> Self
    where
        M: Mechanism<D, Machine = S> + Private<Me, R> + Clone + Send + Sync + 'static,
        S: Machine<Query = Q, Answer = A> + Send + 'static,
    {
        Self::erasing(measure, mechanism, |machine: S| {
            Box::new(machine) as BoxedMachine<Q, A>
        })
    }
}

impl<D: ?Sized, Me: Measure, R: Relation, A> BoxedRelease<D, Me, R, A> {
    /// Erases the type of a mechanism that answers once. It is released under a measure of this
    /// type, and printed with its loss under this one.
    pub fn new<M>(measure: Me, mechanism: M) -> Self
    where
        M: Mechanism<D, Machine = Released<A>> + Private<Me, R> + Clone + Send + Sync + 'static,
    {
        Self::erasing(measure, mechanism, |answer: Released<A>| answer)
    }
}

impl<D: ?Sized, Me: Measure, R: Relation, S> Mechanism<D> for Boxed<D, Me, R, S> {
    type Machine = S;

    fn start(&self, data: &Arc<D>, coins: &mut Coins<'_>) -> Result<S, Fault> {
        self.0.start(data, coins)
    }

    fn check(&self, data: Public<'_, D>) -> Result<(), DomainMismatch> {
        self.0.check(data)
    }

    fn describe(&self) -> Description {
        self.0.describe()
    }
}

impl<D: ?Sized, Me: Measure, R: Relation, S> Private<Me, R> for Boxed<D, Me, R, S> {
    fn loss(&self, measure: &Me) -> Result<Me::Loss, UnknownLoss> {
        self.0.loss_at(measure, Distance::NEIGHBOURS)
    }

    fn loss_at(&self, measure: &Me, distance: Distance) -> Result<Me::Loss, UnknownLoss> {
        self.0.loss_at(measure, distance)
    }
}

impl<D: ?Sized, Me: Measure, R: Relation, S> Clone for Boxed<D, Me, R, S> {
    fn clone(&self) -> Self {
        Self(dyn_clone::clone_box(&*self.0))
    }
}

impl<D: ?Sized, Me: Measure, R: Relation, S> fmt::Debug for Boxed<D, Me, R, S> {
    /// The description of the mechanism inside, and its loss for neighbours.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Boxed({}, ", self.0.describe())?;
        match self.loss(self.0.measure()) {
            Ok(loss) => write!(f, "{loss:#})"),
            Err(unknown) => write!(f, "{unknown})"),
        }
    }
}
