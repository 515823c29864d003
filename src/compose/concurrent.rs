//! Concurrent composition of mechanisms that are all started up front.

use std::sync::Arc;

use crate::account::{Accumulator, DefaultAccumulator, ValidConcurrently};
use crate::machine::{
    Coins, Description, Fault, Inspect, Machine, Mechanism, Public, StateKey, StopToken, Unsuitable,
};
use crate::privacy::{Distance, Private, Relation, UnknownLoss, checked};
use crate::queryable::{AskError, Child};

/// Several mechanisms, started together and asked in any order (Haney et al. Alg 1).
///
/// A query is a number and a query to the mechanism of that number, from 0. Mechanisms of
/// different types fit in as [`BoxedMechanism`](super::BoxedMechanism). One that fails to answer
/// is closed, and the others go on: each answer is a result of its own. One that fails to start
/// fails them all.
///
/// # Guarantee
///
/// The losses of the mechanisms add up as the measure's accumulator says: Haney et al. 1.8 (for
/// (ε, δ)-DP and f-DP, finite communication), 4.3 (Rényi), 4.5 (zCDP).
///
/// ```
/// use queryables::compose::ConcurrentComposition;
/// use queryables::prelude::*;
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
/// let both = launch(&ConcurrentComposition::new([Constant(3), Constant(4)]), Arc::new(vec![]))?;
/// assert_eq!(both.ask((1, ())), Ok(Ok(4)));
/// assert_eq!(both.ask((0, ())), Ok(Ok(3)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ConcurrentComposition<M> {
    mechanisms: Vec<M>,
}

impl<M> ConcurrentComposition<M> {
    /// These mechanisms, together.
    pub fn new(mechanisms: impl IntoIterator<Item = M>) -> Self {
        Self {
            mechanisms: mechanisms.into_iter().collect(),
        }
    }
}

impl<D: ?Sized, M: Mechanism<D>> Mechanism<D> for ConcurrentComposition<M> {
    type Machine = ConcurrentMachine<M::Machine>;

    fn start(&self, data: &Arc<D>, coins: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        let children = self
            .mechanisms
            .iter()
            .map(|mechanism| Child::start(mechanism, data, StopToken::default(), coins))
            .collect::<Result<_, _>>()?;
        Ok(ConcurrentMachine { children })
    }

    fn check(&self, data: Public<'_, D>) -> Result<(), Unsuitable> {
        self.mechanisms.iter().try_for_each(|each| each.check(data))
    }

    fn describe(&self) -> Description {
        let each = Description::new("ConcurrentComposition");
        let numbered = self.mechanisms.iter().enumerate();
        numbered.fold(each, |all, (number, mechanism)| {
            all.with(number.to_string(), mechanism.describe())
        })
    }
}

impl<Me, R, M> Private<Me, R> for ConcurrentComposition<M>
where
    Me: DefaultAccumulator<Accumulator: ValidConcurrently>,
    R: Relation,
    M: Private<Me, R>,
{
    fn loss(&self, measure: &Me) -> Result<Me::Loss, UnknownLoss> {
        self.loss_at(measure, Distance::NEIGHBOURS)
    }

    fn loss_at(&self, measure: &Me, distance: Distance) -> Result<Me::Loss, UnknownLoss> {
        let mut total = measure.accumulator();
        for mechanism in &self.mechanisms {
            total = total.add(&checked(measure, mechanism.loss_at(measure, distance)?)?)?;
        }
        Ok(total.total())
    }
}

/// A running [`ConcurrentComposition`].
#[derive(Debug)] // A child shows nothing.
pub struct ConcurrentMachine<S> {
    children: Vec<Child<S>>,
}

impl<S: Machine> Machine for ConcurrentMachine<S> {
    type Query = (usize, S::Query);
    type Answer = Result<S::Answer, AskError>;

    fn step(
        &mut self,
        (number, query): Self::Query,
        coins: &mut Coins<'_>,
    ) -> Result<Self::Answer, Fault> {
        let child = self.children.get_mut(number);
        let child = child.ok_or(Fault::InvalidQuery("no mechanism has this number"))?;
        Ok(child.ask(query, coins))
    }
}

impl<S: Inspect> Inspect for ConcurrentMachine<S> {
    fn inspect(&self, key: &mut StateKey) {
        key.write(&self.children.len());
        for child in &self.children {
            key.write(child);
        }
    }
}
