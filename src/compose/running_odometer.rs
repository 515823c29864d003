//! The handle to a running odometer.

use super::running::{Running, running};
use super::{
    CompositorMachine, Discipline, Interactive, Interleaved, LaunchError, OdometerGate, Ticket,
};
use crate::account::{Accumulator, ChildLoss, DefaultAccumulator, WholeLoss};
use crate::machine::{Answered, Fault, Machine, Mechanism, PublicFacts, SystemCoins};
use crate::privacy::{AddRemove, Distance, Private, Relation};
use crate::queryable::sealed::{OPENING, Opening};
use crate::queryable::{Child, HandleOf, IntoHandle, LocalHandle, LocalQueryable};

/// A running [`Odometer`](super::Odometer) on data of type `D`: what an analyst launches
/// mechanisms with, and reads what has been spent from.
///
/// It is a handle: clones share one odometer, and it can be sent between threads. Children are
/// independent: they may outlive it, run on other threads, and block neither each other nor their
/// parent.
///
/// To name its type in a program, by the data and the measure, use [`RunningOdometerOf`].
///
/// # Guarantee
///
/// That of the [`Odometer`](super::Odometer).
///
/// # Example
///
/// ```
/// use queryables::compose::RunningOdometerOf;
/// use queryables::data::Predicate;
/// use queryables::mechanisms::NoisyCount;
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let ages = Arc::new(vec![17, 18, 43, 70]);
/// let odometer: RunningOdometerOf<Vec<u32>, PureDp> =
///     launch(&Odometer::concurrent(PureDp), ages)?;
///
/// let adults = Predicate::new("at least 18", |age: &u32| *age >= 18);
/// let count: i64 = odometer.release(&NoisyCount::new(adults, "0.4".parse()?)?)?;
/// assert_eq!(odometer.privacy_loss(), "0.4".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct RunningOdometer<D: ?Sized, G: Accumulator, R = AddRemove, X = Interleaved>(
    Running<D, OdometerGate<G>, R, X>,
);

/// A running odometer with the measure's own accumulator: what [`launch`](crate::launch) makes of
/// `Odometer::concurrent(measure)`.
pub type RunningOdometerOf<D, Me, R = AddRemove, X = Interleaved> =
    RunningOdometer<D, <Me as DefaultAccumulator>::Accumulator, R, X>;

running!(RunningOdometer<D, G: Accumulator, R, X>, OdometerGate<G>, "RunningOdometer");

impl<D: ?Sized, G: Accumulator, R: Relation, X: Discipline> RunningOdometer<D, G, R, X> {
    /// Adds a loss without running anything here: for a mechanism that runs elsewhere, in another
    /// process or another language. [`launch`](Self::launch) is this, and then the start.
    ///
    /// The loss is that for neighbours; at the other distances that the odometer tracks, the loss
    /// follows by the measure's group privacy. The caller has the same responsibility as for a
    /// [filter's ticket](super::RunningFilter::admit).
    ///
    /// ```
    /// use queryables::prelude::*;
    /// use queryables::privacy::Distance;
    /// use std::sync::Arc;
    ///
    /// let couple = Distance::new(2).ok_or("a distance")?;
    /// let odometer = Odometer::concurrent(ZCdp).tracking([couple]);
    /// let odometer = launch(&odometer, Arc::new(()))?;
    /// let ticket = odometer.admit(&"0.25".parse()?)?;
    /// assert_eq!(ticket.token().check(), Ok(()));
    /// assert_eq!(odometer.privacy_loss_at(couple), Some("1".parse()?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Why it is not admitted. In this case nothing has been added.
    pub fn admit(
        &self,
        loss: &ChildLoss<G>,
    ) -> Result<Ticket, LaunchError<ChildLoss<G>, WholeLoss<G>>> {
        let price = self.0.terms().price_of(loss)?;
        self.0.admit(&price).map_err(|denial| *denial)
    }
}

/// What can be read, at any time, without changing anything.
impl<D: ?Sized, G: Accumulator, R: Relation, X: Discipline> RunningOdometer<D, G, R, X> {
    /// What the launches so far add up to, for neighbours.
    ///
    /// To stop at a level, do not compare this with it after each launch:
    /// [ask before](super::Odometer#to-stop-at-a-level-ask-before-the-launch).
    #[must_use]
    pub fn privacy_loss(&self) -> WholeLoss<G> {
        self.0.read(|gate| gate.neighbours.total())
    }

    /// The part of [`privacy_loss`](Self::privacy_loss) that no launch has cost: what the accumulator
    /// set aside when it was built ([`Accumulator::set_aside`]).
    #[must_use]
    pub fn set_aside(&self) -> WholeLoss<G> {
        self.0.read(|gate| gate.neighbours.set_aside())
    }

    /// What the launches so far add up to, at a distance; `None` if it is not tracked.
    #[must_use]
    pub fn privacy_loss_at(&self, distance: Distance) -> Option<WholeLoss<G>> {
        if distance == Distance::NEIGHBOURS {
            return Some(self.privacy_loss());
        }
        let tracked = &self.0.terms().further;
        let index = tracked.iter().position(|other| *other == distance)?;
        self.0
            .read(|gate| gate.further.get(index).map(|total| total.total()))
    }
}
