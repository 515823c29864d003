//! Odometers that keep the privacy map of every launch.

use std::fmt;
use std::sync::Arc;

use super::gate::{DenialOf, PriceOf, Terms, sealed};
use super::slot::Slot;
use super::{
    CompositorMachine, Discipline, Gate, Interactive, Interleaved, LaunchError, Odometer,
    RunningCompositor,
};
use crate::account::{Accumulator, ChildLoss, WholeLoss};
use crate::machine::{
    Answered, Coins, Description, Fault, Mechanism, SystemCoins, discard, guarded,
};
use crate::privacy::{AddRemove, Distance, Private, Relation, UnknownLoss, checked};
use crate::queryable::{Child, HandleOf, IntoHandle, sealed as handles};

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
/// use queryables::mechanisms::NoisyCount;
/// use queryables::prelude::*;
/// use queryables::privacy::Distance;
/// use std::sync::Arc;
///
/// let ages = Arc::new(vec![17, 18, 43, 70]);
/// let odometer = launch(&Odometer::concurrent(PureDp).keeping_maps(), ages)?;
/// let adults = Predicate::new("at least 18", |age: &u32| *age >= 18);
/// let count: i64 = odometer.release(&NoisyCount::new(adults, "0.4".parse()?)?)?;
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
    type Machine = MapOdometerMachine<D, G, R, X>;

    fn start(&self, data: &Arc<D>, coins: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        let accumulator = self.odometer.accumulator();
        let terms = Terms::at(accumulator.children().clone(), Distance::NEIGHBOURS);
        let slot = || Slot::new(accumulator.clone(), G::CALLS_BACK);
        let gate = MapGate {
            nothing: slot(),
            neighbours: slot(),
            maps: Vec::new(),
        };
        let machine = CompositorMachine::new(data, terms, gate, coins);
        Ok(MapOdometerMachine(machine))
    }

    fn describe(&self) -> Description {
        let odometer = &self.odometer;
        Mechanism::<D>::describe(odometer).with("maps", "kept")
    }
}

/// Why there is no launch.
type NotLaunched<G> = LaunchError<ChildLoss<G>, WholeLoss<G>>;

/// A mechanism's loss by the distance.
type Map<G> = Arc<dyn Fn(Distance) -> Result<ChildLoss<G>, UnknownLoss> + Send + Sync>;

/// What counts in a running [`MapOdometer`].
pub(super) struct MapGate<G: Accumulator> {
    /// Where a reading starts.
    nothing: Slot<G>,
    neighbours: Slot<G>,
    /// In the order of the launches. Whoever admits a launch adds its map in the same turn.
    maps: Vec<Map<G>>,
}

impl<G: Accumulator> Clone for MapGate<G> {
    fn clone(&self) -> Self {
        Self {
            nothing: self.nothing.clone(),
            neighbours: self.neighbours.clone(),
            maps: self.maps.clone(),
        }
    }
}

/// A copy of a mechanism may panic while it is dropped. Analysts drop handles, and must not see the
/// payload.
impl<G: Accumulator> Drop for MapGate<G> {
    fn drop(&mut self) {
        self.maps.drain(..).for_each(discard);
    }
}

impl<G: Accumulator> Gate for MapGate<G> {
    type Children = G::Children;
    type Whole = G::Whole;
    type Reading = WholeLoss<G>;

    fn reading(&self) -> WholeLoss<G> {
        self.neighbours.total()
    }
}

impl<G: Accumulator> sealed::Decides for MapGate<G> {
    const CALLS_BACK: bool = G::CALLS_BACK.0;
    const HANDLE: &'static str = "RunningMapOdometer";

    fn admit(&mut self, price: &PriceOf<Self>) -> Result<(), DenialOf<Self>> {
        let loss = &price.first;
        self.neighbours
            .covers(loss)
            .map_err(LaunchError::UnknownLoss)?;
        let sum = self.neighbours.add(loss);
        let sum = sum.map_err(|_| LaunchError::Overflow)?;
        self.neighbours = Slot::new(sum, G::CALLS_BACK);
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
                let loss = checked(total.children(), map(distance)?)?;
                total.covers(&loss)?;
                total = total.add(&loss)?;
            }
            Ok(total.total())
        };
        guarded(|| Ok(total())).unwrap_or(Err(UnknownLoss("a privacy map failed at this distance")))
    }
}

/// A copy of what the mechanism states, to be asked later.
fn map_of<G, R, M>(measure: &G::Children, mechanism: &M) -> Result<Map<G>, UnknownLoss>
where
    G: Accumulator,
    R: Relation,
    M: Private<G::Children, R> + Clone + Send + Sync + 'static,
{
    let copy = guarded(|| Ok((mechanism.clone(), measure.clone())));
    let (mechanism, measure) =
        copy.map_err(|_| UnknownLoss("the mechanism failed to be copied"))?;
    Ok(Arc::new(move |distance| {
        mechanism.loss_at(&measure, distance)
    }))
}

/// What the gate notes of a launch.
fn keeping<G: Accumulator>(map: &Map<G>) -> impl Fn(&mut MapGate<G>) {
    |gate| gate.maps.push(Arc::clone(map))
}

/// A running [`MapOdometer`] as a machine: owned, with explicit coins.
pub struct MapOdometerMachine<D: ?Sized, G: Accumulator, R = AddRemove, X = Interleaved>(
    CompositorMachine<D, MapGate<G>, R, X>,
);

impl<D, G, R, X> MapOdometerMachine<D, G, R, X>
where
    D: ?Sized,
    G: Accumulator,
    R: Relation,
    X: Discipline,
{
    /// Launches a mechanism: decides, charges, starts, in this order.
    ///
    /// # Errors
    ///
    /// Why there is no child; only after [`LaunchError::Failed`] has anything been charged.
    pub fn launch<M>(
        &mut self,
        mechanism: &M,
        coins: &mut Coins<'_>,
    ) -> Result<Child<M::Machine>, NotLaunched<G>>
    where
        M: Mechanism<D> + Private<G::Children, R> + Clone + Send + Sync + 'static,
        X: Interactive,
    {
        let map = map_of::<G, R, M>(&self.0.terms.measure, mechanism)?;
        self.0.launch_noting(mechanism, keeping(&map), coins)
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
    ) -> Result<<M::Machine as Answered>::Value, NotLaunched<G>>
    where
        M: Mechanism<D, Machine: Answered>
            + Private<G::Children, R>
            + Clone
            + Send
            + Sync
            + 'static,
    {
        let map = map_of::<G, R, M>(&self.0.terms.measure, mechanism)?;
        self.0.release_noting(mechanism, keeping(&map), coins)
    }

    /// What the launches so far add up to, for neighbours.
    #[must_use]
    pub fn privacy_loss(&self) -> WholeLoss<G> {
        self.0.privacy_loss()
    }

    /// What the launches so far add up to, at this distance; linear in their number.
    ///
    /// # Errors
    ///
    /// [`UnknownLoss`] if one of the mechanisms has no loss at this distance.
    pub fn privacy_loss_at(&self, distance: Distance) -> Result<WholeLoss<G>, UnknownLoss> {
        self.0.gate().total_at(distance)
    }
}

impl<D: ?Sized, G: Accumulator, R, X> fmt::Debug for MapOdometerMachine<D, G, R, X> {
    /// Nothing of what is inside.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MapOdometerMachine")
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
pub struct RunningMapOdometer<D: ?Sized, G: Accumulator, R = AddRemove, X = Interleaved>(
    RunningCompositor<D, MapGate<G>, R, X>,
);

impl<D, G, R, X> RunningMapOdometer<D, G, R, X>
where
    D: ?Sized,
    G: Accumulator,
    R: Relation,
    X: Discipline,
{
    /// Launches a mechanism and gives the handle to it.
    ///
    /// # Errors
    ///
    /// Why there is no child; only after [`LaunchError::Failed`] has anything been charged.
    pub fn launch<M>(&self, mechanism: &M) -> Result<HandleOf<M, D>, NotLaunched<G>>
    where
        M: Mechanism<D, Machine: IntoHandle>
            + Private<G::Children, R>
            + Clone
            + Send
            + Sync
            + 'static,
        X: Interactive,
    {
        let map = map_of::<G, R, M>(&self.0.terms().measure, mechanism)?;
        self.0.launch_noting(mechanism, keeping(&map))
    }

    /// Launches a non-interactive mechanism and gives its answer.
    ///
    /// # Errors
    ///
    /// As for [`launch`](Self::launch).
    pub fn release<M>(
        &self,
        mechanism: &M,
    ) -> Result<<M::Machine as Answered>::Value, NotLaunched<G>>
    where
        M: Mechanism<D, Machine: Answered>
            + Private<G::Children, R>
            + Clone
            + Send
            + Sync
            + 'static,
    {
        let map = map_of::<G, R, M>(&self.0.terms().measure, mechanism)?;
        self.0.release_noting(mechanism, keeping(&map))
    }

    /// What the launches so far add up to, for neighbours.
    #[must_use]
    pub fn privacy_loss(&self) -> WholeLoss<G> {
        self.0.privacy_loss()
    }

    /// What the launches so far add up to, at this distance; linear in their number.
    ///
    /// # Errors
    ///
    /// [`UnknownLoss`] if one of the mechanisms has no loss at this distance.
    pub fn privacy_loss_at(&self, distance: Distance) -> Result<WholeLoss<G>, UnknownLoss> {
        // The maps are code of others: they are asked without the lock.
        let gate = self.0.read(MapGate::clone);
        gate.total_at(distance)
    }
}

impl<D: ?Sized, G: Accumulator, R, X> Clone for RunningMapOdometer<D, G, R, X> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<D: ?Sized, G: Accumulator, R, X> fmt::Debug for RunningMapOdometer<D, G, R, X> {
    /// Nothing of what is inside.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RunningMapOdometer")
    }
}

impl<D: ?Sized, G: Accumulator, R, X> handles::Sealed for MapOdometerMachine<D, G, R, X> {}

impl<D: ?Sized, G: Accumulator, R, X> IntoHandle for MapOdometerMachine<D, G, R, X> {
    type Handle = RunningMapOdometer<D, G, R, X>;

    fn into_handle(
        child: Child<Self>,
        _: SystemCoins,
        _: handles::Opening,
    ) -> Result<Self::Handle, Fault> {
        let (MapOdometerMachine(machine), token) = child.into_parts().ok_or(Fault::Failed)?;
        Ok(RunningMapOdometer(RunningCompositor::new(machine, token)))
    }
}
