//! A running compositor as a machine: owned, with explicit coins.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use super::gate::{DenialOf, Gate, LaunchErrorOf, PriceOf, Terms};
use super::launches::{Launches, admit};
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
/// use queryables::mechanisms::{AboveThreshold, NoisyCount};
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let mut source = NotPrivateSeededCoins::new(0);
/// let mut coins = source.coins();
/// let data = Arc::new(vec![1_u8, 2, 3]);
/// let mut filter = Filter::concurrent(PureDp, "1".parse()?).start(&data, &mut coins)?;
///
/// let large = Predicate::new("large", |row: &u8| *row > 1);
/// let count = NoisyCount::new(large, "0.5".parse()?)?;
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
    pub(super) fn new(
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

    /// With launches that were made elsewhere.
    #[cfg(feature = "ledger")]
    pub(super) fn over(data: Arc<D>, terms: Terms<G::Children>, launches: Launches<G>) -> Self {
        Self {
            data,
            terms,
            launches,
            types: PhantomData,
        }
    }

    pub(super) fn gate(&self) -> &G {
        &self.launches.gate
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
        X: Interactive,
    {
        let ticket = self.admit_mechanism(mechanism, coins)?;
        let child = ticket.start(mechanism, &self.data, coins);
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
    {
        let ticket = self.admit_mechanism(mechanism, coins)?;
        let answer = ticket.release(mechanism, &self.data, coins);
        answer.map_err(|_| LaunchError::Failed)
    }

    fn admit_mechanism<M>(
        &mut self,
        mechanism: &M,
        coins: &Coins<'_>,
    ) -> Result<Ticket, LaunchErrorOf<G>>
    where
        M: Mechanism<D> + Private<G::Children, R>,
    {
        let price = self.terms.price(mechanism, &*self.data);
        let price = price.map_err(|reason| *DenialOf::<G>::from(reason))?;
        self.admit_at(&price, coins)
    }

    pub(super) fn admit_at(
        &mut self,
        price: &PriceOf<G>,
        coins: &Coins<'_>,
    ) -> Result<Ticket, LaunchErrorOf<G>> {
        let mut copy = self.launches.copy();
        let admitted = admit(&mut copy.gate, price);
        // The code of the mechanism and of the rule has run: it may have stopped this machine.
        coins.check()?;
        let decided = self.launches.put_back::<X>(&mut copy, admitted);
        // The machine is owned, so no other launch can have replaced the gate.
        let decided = decided.unwrap_or_else(|| Err(LaunchError::RuleFailed.into()));
        decided.map_err(|denial| *denial)
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

impl<D: ?Sized, G: Gate, R, X> fmt::Debug for CompositorMachine<D, G, R, X> {
    /// Shows nothing of the contents.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CompositorMachine")
    }
}
