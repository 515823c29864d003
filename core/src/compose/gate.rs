//! What the engine asks of a compositor: what mechanisms must state, and the decision.

use std::ops::Deref;
use std::sync::Arc;

use super::LaunchError;
use crate::machine::{Mechanism, Public, Quiet, guarded};
use crate::privacy::{Distance, Measure, Private, Reentrant, Relation, UnknownLoss, checked_under};

pub(crate) mod sealed {
    use super::{ChildLossOf, DenialOf, Gate, PriceOf};

    /// What compositors ask of a [`Gate`].
    pub trait Decides {
        /// Whether the rule inside is third-party code, and so may call back.
        const REENTRANT: bool;

        /// What the `Debug` of a handle says.
        const HANDLE: &'static str;

        /// Decides on a launch and charges it, all or nothing.
        fn charge(&mut self, price: &PriceOf<Self>) -> Result<(), DenialOf<Self>>
        where
            Self: Gate;

        /// Whether it keeps the map of each mechanism.
        const KEEPS_MAPS: bool = false;

        /// Whether a launch that is not admitted may ever stop the children.
        fn may_halt(&self) -> bool {
            false
        }

        /// Whether an earlier refusal has ended everything.
        fn is_halted(&self) -> bool {
            false
        }

        /// What is left, if there is a budget.
        fn remaining(&self) -> Option<ChildLossOf<Self>>
        where
            Self: Gate,
        {
            None
        }
    }
}

/// The part of a compositor that knows what has been spent, and decides.
///
/// It decides from public values only, its own and what the mechanism costs, by the pure function
/// of a rule or an accumulator. A launch that is not admitted changes nothing, unless it halts.
///
/// Sealed: filters, odometers, a [`MapOdometer`](super::MapOdometer) and the toolkit's time-uniform
/// odometers have one each, and these are all there are. To add a theorem, implement
/// [`ContinuationRule`](crate::account::ContinuationRule) or
/// [`Accumulator`](crate::account::Accumulator), which are open. A store that keeps the budget
/// needs no gate of its own either: it decides on a copy, and replaces the gate by the copy unless
/// another launch came first, as the handle does for third-party rules.
pub trait Gate: sealed::Decides + Clone + Send + Sync + 'static {
    /// The measure in which children state their losses.
    type Children: Measure;
    /// The measure of the whole.
    type Whole: Measure;
    /// What has been spent: for a filter and an odometer, a loss under [`Whole`](Self::Whole).
    type Reading;

    /// What has been spent, as the compositor shows it.
    fn reading(&self) -> Self::Reading;
}

/// The mechanisms that a gate takes, beside what the compositor asks of them.
///
/// A [`MapOdometer`](super::MapOdometer) takes those that it can keep a copy of; every other gate
/// takes all.
#[diagnostic::on_unimplemented(
    message = "launch a mechanism that this compositor can keep a copy of: `{M}` is not",
    note = "an odometer that keeps maps takes mechanisms that are `Clone + Send + Sync + 'static`"
)]
pub trait Takes<M: ?Sized, R>: Gate {
    /// What the mechanism loses at any distance, if the gate keeps that.
    #[doc(hidden)]
    fn map(_measure: &Self::Children, _mechanism: &M) -> Result<Option<MapOf<Self>>, UnknownLoss> {
        Ok(None)
    }
}

/// A loss in the children's measure of a gate.
pub(crate) type ChildLossOf<G> = LossOf<<G as Gate>::Children>;

/// What a mechanism costs, in the children's measure of a gate.
pub type PriceOf<G> = Price<ChildLossOf<G>>;

/// Why a gate admits no launch.
pub(crate) type LaunchErrorOf<G> = LaunchError<ChildLossOf<G>, LossOf<<G as Gate>::Whole>>;

pub(super) type LossOf<Me> = <Me as Measure>::Loss;

/// Boxed, because it is large and most launches are admitted.
pub type DenialOf<G> = Box<LaunchErrorOf<G>>;

/// What a mechanism must state to a compositor: its loss under one measure, at one or more
/// distances.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Terms<Me> {
    /// The measure.
    pub measure: Me,
    /// The first distance, mostly that of neighbours.
    pub first: Distance,
    pub(super) further: Box<[Distance]>,
}

/// What a mechanism costs: its loss at each distance of the [`Terms`].
#[derive(Clone, Debug)]
pub struct Price<L> {
    /// At the first distance.
    pub first: L,
    /// What few compositors ask for. Boxed, because a price is moved often.
    more: Option<Box<More<L>>>,
}

#[derive(Clone, Debug)]
struct More<L> {
    further: Vec<L>,
    map: Option<Map<L>>,
}

impl<L> Price<L> {
    #[inline]
    fn new(first: L, further: Vec<L>, map: Option<Map<L>>) -> Self {
        let is_plain = further.is_empty() && map.is_none();
        let more = (!is_plain).then(|| Box::new(More { further, map }));
        Self { first, more }
    }

    /// The losses at the further distances of the [`Terms`].
    #[inline]
    pub(super) fn further(&self) -> &[L] {
        self.more.as_ref().map_or(&[], |more| &more.further)
    }

    pub(super) fn map(&self) -> Option<&Map<L>> {
        self.more.as_ref()?.map.as_ref()
    }
}

/// What a mechanism loses at each distance: a copy of the mechanism, which is asked later.
pub struct Map<L>(Quiet<Arc<MapFn<L>>>);

type MapFn<L> = dyn Fn(Distance) -> Result<L, UnknownLoss> + Send + Sync;

/// The map of a mechanism, in the children's measure of a gate.
pub(crate) type MapOf<G> = Map<ChildLossOf<G>>;

impl<L> Map<L> {
    pub(super) fn new(
        map: impl Fn(Distance) -> Result<L, UnknownLoss> + Send + Sync + 'static,
    ) -> Self {
        Self(Quiet::new(Arc::new(map)))
    }

    pub(super) fn at(&self, distance: Distance) -> Result<L, UnknownLoss> {
        (self.0.as_ref())(distance)
    }
}

crate::clone_fields!([L] Map<L> { 0 });

crate::debug_fields!([L] Map<L>, "Map");

impl<Me: Measure> Terms<Me> {
    /// A loss at one distance.
    pub fn at(measure: Me, distance: Distance) -> Self {
        Self {
            measure,
            first: distance,
            further: Box::default(),
        }
    }

    /// The price of a mechanism that runs elsewhere with this loss: at other distances, by the
    /// measure's group privacy.
    ///
    /// # Errors
    ///
    /// [`UnknownLoss`] if it does not belong to the measure, or if there is no loss at a distance.
    pub fn price_of<G, R>(&self, loss: &Me::Loss) -> Result<Price<Me::Loss>, UnknownLoss>
    where
        G: Gate<Children = Me>,
        R: Relation,
    {
        let price = || {
            let first = checked_under::<R, _>(&self.measure, loss.clone(), self.first)?;
            let (measure, own) = (self.measure.clone(), loss.clone());
            let map = move |distance| {
                checked_under::<R, _>(&measure, measure.group(&own, distance)?, distance)
            };
            let further = self.further.iter().map(|distance| map(*distance));
            let further = further.collect::<Result<_, _>>()?;
            let map = G::KEEPS_MAPS.then(|| Map::new(map));
            Ok(Price::new(first, further, map))
        };
        guarded(|| Ok(price())).unwrap_or(Err(UnknownLoss("the measure failed at this loss")))
    }

    /// Asks a mechanism whether it fits the data, and what it costs. This runs the mechanism's own
    /// code: no lock is held, and the caller checks afterwards whether it may still go on.
    #[inline]
    pub fn price<D, G, M, R>(&self, mechanism: &M, data: &D) -> Result<PriceOf<G>, DenialOf<G>>
    where
        D: ?Sized,
        G: Takes<M, R, Children = Me>,
        M: Mechanism<D> + Private<Me, R>,
        R: Relation,
    {
        let mut price = None;
        // Written in place: a value returned through a guard is copied once more. No error is boxed inside:
        // where nothing can unwind, the guard is compiled away.
        let asked = guarded(|| {
            let fits = mechanism.check(Public::of(data));
            price = Some(fits.map(|()| self.ask::<G, M, R>(mechanism)));
            Ok(())
        });
        match (asked, price) {
            (Ok(()), Some(price)) => Ok(price??),
            _ => Err(UnknownLoss("the mechanism failed to state its loss").into()),
        }
    }

    #[inline]
    fn ask<G, M, R>(&self, mechanism: &M) -> Result<PriceOf<G>, UnknownLoss>
    where
        G: Takes<M, R, Children = Me>,
        M: Private<Me, R>,
        R: Relation,
    {
        let at = |distance| {
            let loss = mechanism.loss_at(&self.measure, distance)?;
            checked_under::<R, _>(&self.measure, loss, distance)
        };
        let first = at(self.first)?;
        if self.further.is_empty() && !G::KEEPS_MAPS {
            return Ok(Price { first, more: None });
        }
        let further = self.further.iter().map(|distance| at(*distance));
        let further = further.collect::<Result<_, _>>()?;
        let map = G::map(&self.measure, mechanism)?;
        Ok(Price::new(first, further, map))
    }
}

/// A rule that is copied without running its code: a gate is copied under the compositor's lock,
/// and the `Clone` of a third-party rule may do anything. The crate's own rules are stored in
/// place.
#[derive(Clone, Debug)]
pub enum RuleCell<F> {
    /// One of the crate's own, or of its toolkit's.
    Own(F),
    /// One of somebody else.
    Shared(Arc<F>),
}

impl<F> RuleCell<F> {
    /// A rule whose code may call back, or not.
    #[inline]
    pub fn new(rule: F, reentrant: Reentrant) -> Self {
        if reentrant.0 {
            Self::Shared(Arc::new(rule))
        } else {
            Self::Own(rule)
        }
    }
}

impl<F> Deref for RuleCell<F> {
    type Target = F;

    #[inline]
    fn deref(&self) -> &F {
        match self {
            Self::Own(rule) => rule,
            Self::Shared(rule) => rule,
        }
    }
}
