//! A running compositor as a machine: owned, with explicit coins.

use std::marker::PhantomData;
use std::sync::Arc;

use super::engine::{Launches, Launching};
use super::gate::{ChildLossOf, Gate, LaunchErrorOf, Takes, Terms};
use super::{Discipline, Interactive, LaunchError, Ticket};
use crate::machine::{Answered, Coins, Inspect, Mechanism, StateKey};
use crate::privacy::{Private, Relation};
use crate::queryable::Child;

/// A running filter or odometer, as a machine that launches children on data of type `D`.
///
/// This is the form for authors of machines, who embed it and give it their own coins, and for
/// `verify`. An analyst gets a handle instead, a [`RunningFilter`](super::RunningFilter) or a
/// [`RunningOdometer`](super::RunningOdometer): `launch` turns the machine into the handle.
///
/// ```
/// use queryables::compose::FilterMachine;
/// use queryables::machine::{CoinSource, NotPrivateSeededCoins};
/// use queryables::data::Predicate;
/// use queryables::mechanisms::{AboveThreshold, Count};
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let mut source = NotPrivateSeededCoins::new(0);
/// let mut coins = source.coins();
/// let data = Arc::new(vec![1_u8, 2, 3]);
/// let mut filter = Filter::concurrent(PureDp, "1".parse()?).start(&data, &mut coins)?;
///
/// let large = Predicate::new("large", |row: &u8| *row > 1);
/// let count = Count::of(large).laplace(epsilon!(0.5))?;
/// let answer: i64 = filter.release(&count, &mut coins)?;
/// let mut child = filter.launch(&count, &mut coins)?;
/// let answer: i64 = child.ask((), &mut coins)?;
/// assert_eq!(filter.remaining(), Epsilon::ZERO);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct CompositorMachine<D: ?Sized, G: Gate, R, X> {
    pub(super) data: Arc<D>,
    pub(super) terms: Terms<G::Children>,
    pub(super) launches: Launches<G>,
    types: PhantomData<fn() -> (R, X)>,
}

impl<D: ?Sized, G: Gate, R, X> CompositorMachine<D, G, R, X> {
    /// Started in this context: stopping the machine also stops its children, wherever they are
    /// kept.
    pub(crate) fn new(
        data: &Arc<D>,
        terms: Terms<G::Children>,
        gate: G,
        coins: &Coins<'_>,
    ) -> Self {
        Self {
            data: Arc::clone(data),
            terms,
            launches: Launches::new(gate, coins.token()),
            types: PhantomData,
        }
    }

    pub(super) fn gate(&self) -> &G {
        &self.launches.gate
    }

    /// What has been spent, as this compositor shows it: what the launches so far add up to, for
    /// neighbours, with what the rule or the accumulator has set aside. Reading it changes nothing.
    #[must_use]
    pub fn privacy_loss(&self) -> G::Reading {
        self.gate().reading()
    }
}

impl<D: ?Sized, G: Gate, R: Relation, X: Discipline> CompositorMachine<D, G, R, X> {
    /// Launches a mechanism: decides, charges, starts, in this order.
    ///
    /// # Errors
    ///
    /// Why there is no child; only after [`LaunchError::Failed`] has anything been charged.
    pub fn launch<M>(
        &mut self,
        mechanism: &M,
        coins: &mut Coins<'_>,
    ) -> Result<Child<M::Machine>, LaunchErrorOf<G>>
    where
        M: Mechanism<D> + Private<G::Children, R>,
        G: Takes<M, R>,
        X: Interactive,
    {
        let (ticket, data) = self.launching().charge::<X, M, R>(mechanism, coins)?;
        let child = ticket.start(mechanism, data, coins);
        child.map_err(|_| LaunchError::Failed)
    }

    /// Launches a non-interactive mechanism and returns its answer.
    ///
    /// # Errors
    ///
    /// As for [`launch`](Self::launch).
    pub fn release<M>(
        &mut self,
        mechanism: &M,
        coins: &mut Coins<'_>,
    ) -> Result<<M::Machine as Answered>::Value, LaunchErrorOf<G>>
    where
        M: Mechanism<D, Machine: Answered> + Private<G::Children, R>,
        G: Takes<M, R>,
    {
        let (ticket, data) = self.launching().charge::<X, M, R>(mechanism, coins)?;
        let answer = ticket.release(mechanism, data, coins);
        answer.map_err(|_| LaunchError::Failed)
    }

    /// Charges a loss without starting anything: [`launch`](Self::launch) is this, and then the
    /// start. At larger distances the loss follows by the measure's group privacy.
    ///
    /// # Errors
    ///
    /// Why it is not admitted. In this case nothing has been charged.
    pub fn admit(
        &mut self,
        loss: &ChildLossOf<G>,
        coins: &Coins<'_>,
    ) -> Result<Ticket, LaunchErrorOf<G>> {
        let price = self.terms.price_of::<G, R>(loss)?;
        Ok(self.launching().decide::<X>(&price, coins)?)
    }

    fn launching(&mut self) -> Launching<'_, D, G, &mut Launches<G>> {
        Launching {
            data: &self.data,
            terms: &self.terms,
            kept: &mut self.launches,
        }
    }
}

/// The data, the terms for mechanisms, and what has been spent. Which children it may still stop
/// follows from their order: all of them, or the latest.
impl<D, G, R, X> Inspect for CompositorMachine<D, G, R, X>
where
    D: Inspect + ?Sized,
    G: Gate + Inspect,
    G::Children: std::hash::Hash,
{
    fn inspect(&self, key: &mut StateKey) {
        key.write(&*self.data);
        key.write(&self.terms);
        key.write(self.gate());
    }
}

// Shows nothing of the contents.
crate::debug_fields!([D: ?Sized, G: Gate, R, X] CompositorMachine<D, G, R, X>, "CompositorMachine");
