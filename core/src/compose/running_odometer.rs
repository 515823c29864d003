//! The handle to a running odometer.

use super::{Discipline, Interleaved, OdometerGate, RunningCompositor};
use crate::account::{Accumulator, DefaultAccumulator, WholeLoss};
use crate::privacy::{AddRemove, Distance, Relation};

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
/// use queryables::mechanisms::Count;
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let ages = Arc::new(vec![17, 18, 43, 70]);
/// let odometer: RunningOdometerOf<Vec<u32>, PureDp> =
///     start(&Odometer::concurrent(PureDp), ages)?;
///
/// let adults = Predicate::new("at least 18", |age: &u32| *age >= 18);
/// let count: i64 = odometer.release(&Count::of(adults).laplace(epsilon!(0.4))?)?;
/// assert_eq!(odometer.privacy_loss(), "0.4".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type RunningOdometer<D, G, R = AddRemove, X = Interleaved> =
    RunningCompositor<D, OdometerGate<G>, R, X>;

/// A running odometer with the measure's own accumulator: what [`start`](crate::start) makes of
/// `Odometer::concurrent(measure)`.
///
/// Example: [`RunningOdometer`](crate::compose::RunningOdometer).
pub type RunningOdometerOf<D, Me, R = AddRemove, X = Interleaved> =
    RunningOdometer<D, <Me as DefaultAccumulator>::Accumulator, R, X>;

/// What can be read, at any time, without changing anything.
impl<D: ?Sized, G: Accumulator, R: Relation, X: Discipline> RunningOdometer<D, G, R, X> {
    /// The part of [`privacy_loss`](Self::privacy_loss) that no launch has cost: what the accumulator
    /// set aside when it was built ([`Accumulator::set_aside`]).
    #[must_use]
    pub fn set_aside(&self) -> WholeLoss<G> {
        self.read(|gate| gate.neighbours.set_aside())
    }

    /// What the launches so far add up to, at a distance; `None` if it is not tracked.
    #[must_use]
    pub fn privacy_loss_at(&self, distance: Distance) -> Option<WholeLoss<G>> {
        if distance == Distance::NEIGHBOURS {
            return Some(self.privacy_loss());
        }
        let tracked = &self.terms().further;
        let index = tracked.iter().position(|other| *other == distance)?;
        self.read(|gate| gate.further.get(index).map(|total| total.total()))
    }
}
