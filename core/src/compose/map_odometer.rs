//! Odometers that keep the privacy map of every launch.

use std::sync::Arc;

use super::gate::{DenialOf, Map, MapOf, PriceOf, RuleCell, Takes, Terms, sealed};
use super::{CompositorMachine, Discipline, Gate, Interleaved, Odometer, RunningCompositor};
use crate::account::{Accumulator, ChildLoss, WholeLoss};
use crate::machine::{Coins, Description, Fault, Mechanism, guarded};
use crate::privacy::{AddRemove, Distance, Private, Relation, UnknownLoss, checked_under};

/// An odometer that says what has been spent at *any* distance, asked at any time: it keeps the
/// privacy map of every launch (Haney et al. §5.1, `privacy_loss(d_in)`).
///
/// Where the distances are known in advance, [`Odometer::tracking`] is the better choice: its
/// launches and readings take the same time whatever came before. This one keeps a copy of every
/// mechanism that it launches, so that memory, and a reading at a distance, are linear in the number
/// of launches. A launch is not, unless the accumulator is somebody else's.
///
/// # Guarantee
///
/// That of the [`Odometer`], at each distance: for every distance and threshold fixed in advance,
/// the view truncated where the reading there is no longer at most the threshold is private to that
/// degree for datasets at this distance. The maps are taken at their word when they are asked, so
/// what a mechanism states must not change after its launch.
///
/// # Example
///
/// ```
/// use queryables::data::Predicate;
/// use queryables::mechanisms::Count;
/// use queryables::prelude::*;
/// use queryables::privacy::Distance;
/// use std::sync::Arc;
///
/// let ages = Arc::new(vec![17, 18, 43, 70]);
/// let odometer = start(&Odometer::concurrent(PureDp).keeping_maps(), ages)?;
/// let adults = Predicate::new("at least 18", |age: &u32| *age >= 18);
/// let count: i64 = odometer.release(&Count::of(adults).laplace(epsilon!(0.4))?)?;
///
/// // Nobody said before the launch that families of five would be asked about.
/// let family = Distance::new(5).ok_or("zero")?;
/// assert_eq!(odometer.privacy_loss(), "0.4".parse()?);
/// assert_eq!(odometer.privacy_loss_at(family)?, "2".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct MapOdometer<G, R = AddRemove, X = Interleaved> {
    odometer: Odometer<G, R, X>,
}

impl<G, R, X> MapOdometer<G, R, X> {
    pub(super) fn new(odometer: Odometer<G, R, X>) -> Self {
        Self { odometer }
    }
}

impl<D, G, R, X> Mechanism<D> for MapOdometer<G, R, X>
where
    D: ?Sized,
    G: Accumulator,
    R: Relation,
    X: Discipline,
{
    type Machine = CompositorMachine<D, MapGate<G>, R, X>;

    fn start(&self, data: &Arc<D>, coins: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        let accumulator = self.odometer.accumulator();
        let terms = Terms::at(accumulator.children().clone(), Distance::NEIGHBOURS);
        let slot = || RuleCell::new(accumulator.clone(), G::REENTRANT);
        let gate = MapGate {
            nothing: slot(),
            neighbours: slot(),
            maps: Vec::new(),
        };
        Ok(CompositorMachine::new(data, terms, gate, coins))
    }

    fn describe(&self) -> Description {
        let odometer = &self.odometer;
        Mechanism::<D>::describe(odometer).with("maps", "kept")
    }
}

/// What counts in a running [`MapOdometer`].
#[derive(Clone, Debug)]
pub struct MapGate<G: Accumulator> {
    /// Where a reading starts.
    nothing: RuleCell<G>,
    neighbours: RuleCell<G>,
    /// In the order of the launches.
    maps: Vec<Map<ChildLoss<G>>>,
}

impl<G: Accumulator> Gate for MapGate<G> {
    type Children = G::Children;
    type Whole = G::Whole;
    type Reading = WholeLoss<G>;

    fn reading(&self) -> WholeLoss<G> {
        self.neighbours.total()
    }
}

/// Those that it can keep a copy of.
impl<G, R, M> Takes<M, R> for MapGate<G>
where
    G: Accumulator,
    R: Relation,
    M: Private<G::Children, R> + Clone + Send + Sync + 'static,
{
    fn map(measure: &G::Children, mechanism: &M) -> Result<Option<MapOf<Self>>, UnknownLoss> {
        let copy = guarded(|| Ok((mechanism.clone(), measure.clone())));
        let (mechanism, measure) =
            copy.map_err(|_| UnknownLoss("the mechanism failed to be copied"))?;
        let map = move |distance| {
            let loss = mechanism.loss_at(&measure, distance)?;
            checked_under::<R, _>(&measure, loss, distance)
        };
        Ok(Some(Map::new(map)))
    }
}

impl<G: Accumulator> sealed::Decides for MapGate<G> {
    const REENTRANT: bool = G::REENTRANT.0;
    const HANDLE: &'static str = "RunningMapOdometer";
    const KEEPS_MAPS: bool = true;

    fn charge(&mut self, price: &PriceOf<Self>) -> Result<(), DenialOf<Self>> {
        let neighbours = self.neighbours.with(&price.first)?;
        self.neighbours = RuleCell::new(neighbours, G::REENTRANT);
        self.maps.extend(price.map().cloned());
        Ok(())
    }
}

impl<G: Accumulator> MapGate<G> {
    /// What the launches add up to at a distance. This runs the code of the mechanisms.
    fn total_at(&self, distance: Distance) -> Result<WholeLoss<G>, UnknownLoss> {
        if distance == Distance::NEIGHBOURS {
            return Ok(self.neighbours.total());
        }
        let total = || {
            let mut total = (*self.nothing).clone();
            for map in &self.maps {
                let loss = map.at(distance)?;
                total.covers(&loss)?;
                total = total.add(&loss)?;
            }
            Ok(total.total())
        };
        guarded(|| Ok(total())).unwrap_or(Err(UnknownLoss("a privacy map failed at this distance")))
    }
}

impl<D: ?Sized, G: Accumulator, R, X> CompositorMachine<D, MapGate<G>, R, X> {
    /// What the launches so far add up to, at this distance; linear in their number.
    ///
    /// # Errors
    ///
    /// [`UnknownLoss`] if one of the mechanisms has no loss at this distance.
    pub fn privacy_loss_at(&self, distance: Distance) -> Result<WholeLoss<G>, UnknownLoss> {
        self.gate().total_at(distance)
    }
}

/// A running [`MapOdometer`] on data of type `D`, which has an example: what an analyst launches
/// mechanisms with, and reads what has been spent from.
///
/// It is a handle: clones share one odometer, and it can be sent between threads.
///
/// # Guarantee
///
/// That of [`MapOdometer`].
pub type RunningMapOdometer<D, G, R = AddRemove, X = Interleaved> =
    RunningCompositor<D, MapGate<G>, R, X>;

impl<D: ?Sized, G: Accumulator, R, X> RunningMapOdometer<D, G, R, X> {
    /// What the launches so far add up to, at this distance; linear in their number.
    ///
    /// # Errors
    ///
    /// [`UnknownLoss`] if one of the mechanisms has no loss at this distance.
    pub fn privacy_loss_at(&self, distance: Distance) -> Result<WholeLoss<G>, UnknownLoss> {
        // The maps are code of others: they are asked without the lock.
        self.read(MapGate::clone).total_at(distance)
    }
}
