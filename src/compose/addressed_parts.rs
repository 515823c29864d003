//! A parallel composition as a single machine: each message names the key of a part.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use super::{
    AddressedMachine, Filter, FilterMachine, Interactive, Message, Parallel, Reply, addressed,
    parts,
};
use crate::account::{ChildLoss, ContinuationRule, WholeLoss};
use crate::data::Select;
use crate::machine::{Coins, Description, Fault, Inspect, Machine, Mechanism, StateKey};
use crate::privacy::{AddRemove, Distance, Measure, Private, UnknownLoss};

/// A [`Parallel`] composition whose parts are addressed by key and whose children, all of type
/// `M`, by number: [`Addressed`](super::Addressed) for each part.
///
/// # Guarantee
///
/// That of the parallel composition.
#[derive(Debug)]
pub struct AddressedParts<P, M> {
    parallel: P,
    children: PhantomData<fn() -> M>,
}

impl<P, M> AddressedParts<P, M> {
    /// This composition, with children of type `M`.
    pub fn new(parallel: P) -> Self {
        Self {
            parallel,
            children: PhantomData,
        }
    }
}

impl<P: Clone, M> Clone for AddressedParts<P, M> {
    fn clone(&self) -> Self {
        Self::new(self.parallel.clone())
    }
}

impl<D, K, F, X, M> Mechanism<D> for AddressedParts<Parallel<K, D, Filter<F, AddRemove, X>>, M>
where
    D: Select + ?Sized,
    K: Ord + Clone,
    F: ContinuationRule,
    X: Interactive,
    M: Mechanism<D>,
{
    type Machine = AddressedPartsMachine<K, FilterMachine<D, F, AddRemove, X>, M::Machine, M>;

    fn start(&self, data: &Arc<D>, coins: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        let parts = parts(self.parallel.start(data, coins)?).into_iter();
        Ok(AddressedPartsMachine {
            parts: parts.map(|(key, part)| (key, addressed(part))).collect(),
        })
    }

    fn describe(&self) -> Description {
        Mechanism::<D>::describe(&self.parallel)
    }
}

impl<Me: Measure, P: Private<Me, AddRemove>, M> Private<Me, AddRemove> for AddressedParts<P, M> {
    fn loss(&self, measure: &Me) -> Result<Me::Loss, UnknownLoss> {
        self.parallel.loss(measure)
    }

    fn loss_at(&self, measure: &Me, distance: Distance) -> Result<Me::Loss, UnknownLoss> {
        self.parallel.loss_at(measure, distance)
    }
}

/// A running [`AddressedParts`].
pub struct AddressedPartsMachine<K, C, S, M> {
    parts: BTreeMap<K, AddressedMachine<C, S, M>>,
}

impl<K, D, F, X, S, M> Machine for AddressedPartsMachine<K, FilterMachine<D, F, AddRemove, X>, S, M>
where
    K: Ord,
    D: ?Sized,
    F: ContinuationRule,
    X: Interactive,
    S: Machine,
    M: Mechanism<D, Machine = S> + Private<F::Children, AddRemove>,
{
    type Query = (K, Message<M, S::Query>);
    type Answer = Reply<S::Answer, ChildLoss<F>, WholeLoss<F>>;

    fn step(
        &mut self,
        (key, message): Self::Query,
        coins: &mut Coins<'_>,
    ) -> Result<Self::Answer, Fault> {
        match self.parts.get_mut(&key) {
            Some(part) => part.step(message, coins),
            None => Err(Fault::InvalidQuery("no part has this key")),
        }
    }
}

impl<K: Inspect, C: Inspect, S: Inspect, M> Inspect for AddressedPartsMachine<K, C, S, M> {
    fn inspect(&self, state: &mut StateKey) {
        state.write(&self.parts.len());
        for (key, part) in &self.parts {
            state.write(key);
            state.write(part);
        }
    }
}

impl<K: fmt::Debug, C, S, M> fmt::Debug for AddressedPartsMachine<K, C, S, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AddressedPartsMachine")
            .field("keys", &self.parts.keys())
            .finish_non_exhaustive()
    }
}
