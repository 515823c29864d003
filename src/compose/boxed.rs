//! Mechanisms whose type is forgotten.

use std::fmt;
use std::sync::Arc;

use dyn_clone::DynClone;

use crate::machine::{
    BoxedMachine, Coins, Description, Fault, Machine, Mechanism, Public, Unsuitable,
};
use crate::privacy::{Distance, Measure, Private, Relation, UnknownLoss};

/// A mechanism of which only what it can be asked, what it answers and what it costs is known.
///
/// It can be cloned, as every description of a mechanism should be.
///
/// # Guarantee
///
/// That of the mechanism inside.
///
/// ```
/// use queryables::prelude::*;
/// use queryables::compose::BoxedMechanism;
/// use std::sync::Arc;
/// # use queryables::machine::{Coins, Fault};
/// # #[derive(Clone)]
/// # struct Constant(u8);
/// # impl Mechanism<Vec<u8>> for Constant {
/// #     type Machine = Released<u8>;
/// #     fn start(&self, _: &Arc<Vec<u8>>, _: &mut Coins<'_>) -> Result<Released<u8>, Fault> {
/// #         Ok(Released(self.0))
/// #     }
/// # }
/// # impl Private<PureDp, AddRemove> for Constant {
/// #     fn loss(&self, _: &PureDp) -> Result<Epsilon, UnknownLoss> { Ok(Epsilon::ZERO) }
/// # }
/// type AnyCount = BoxedMechanism<Vec<u8>, PureDp, AddRemove, (), u8>;
///
/// let menu: Vec<AnyCount> = vec![BoxedMechanism::new(Constant(1)), BoxedMechanism::new(Constant(2))];
/// let filter = launch(&Filter::concurrent(PureDp, "1".parse()?), Arc::new(vec![]))?;
/// let answers: Vec<u8> = menu
///     .iter()
///     .map(|mechanism| Ok(filter.launch(mechanism)?.ask(())?))
///     .collect::<Result<_, Box<dyn std::error::Error>>>()?;
/// assert_eq!(answers, [1, 2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct BoxedMechanism<D: ?Sized, Me, R, Q, A>(Box<dyn Erased<D, Me, R, Q, A>>);

/// What is left of a mechanism's type.
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
    /// Forgets the type of a mechanism.
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
    /// What the mechanism inside says of itself.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BoxedMechanism({})", self.0.describe())
    }
}
