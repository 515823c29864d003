//! Where the decision about a launch is made.

use super::LaunchError;
use crate::machine::{Mechanism, Public, Unsuitable, guarded};
use crate::privacy::{Distance, Measure, Private, Relation, UnknownLoss, checked};

pub(crate) mod sealed {
    use super::{ChildLossOf, DenialOf, Gate, PriceOf};

    /// What compositors ask of a [`Gate`].
    pub trait Decides {
        /// Whether the rule inside is third-party code, and so may call back.
        const CALLS_BACK: bool;

        /// What the `Debug` of a handle says.
        const HANDLE: &'static str;

        /// Decides on a launch and charges it, all or nothing.
        fn admit(&mut self, price: &PriceOf<Self>) -> Result<(), DenialOf<Self>>
        where
            Self: Gate;

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
/// Sealed: [`FilterGate`](super::FilterGate), [`OdometerGate`](super::OdometerGate), that of a
/// [`MapOdometer`](super::MapOdometer) and that of the toolkit's time-uniform odometers are all there
/// are. To add a theorem, implement
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

/// A loss in the children's measure of a gate.
pub(crate) type ChildLossOf<G> = LossOf<<G as Gate>::Children>;

/// What a mechanism costs, in the children's measure of a gate.
pub type PriceOf<G> = Price<ChildLossOf<G>>;

/// Why a gate admits no launch.
pub(crate) type LaunchErrorOf<G> = LaunchError<ChildLossOf<G>, LossOf<<G as Gate>::Whole>>;

type LossOf<Me> = <Me as Measure>::Loss;

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
#[derive(Clone, Debug, PartialEq)]
pub struct Price<L> {
    /// At the first distance.
    pub first: L,
    pub(super) further: Vec<L>,
}

impl<L> From<L> for Price<L> {
    fn from(loss: L) -> Self {
        Self {
            first: loss,
            further: Vec::new(),
        }
    }
}

impl<Me: Measure> Terms<Me> {
    /// A loss at one distance.
    pub fn at(measure: Me, distance: Distance) -> Self {
        Self {
            measure,
            first: distance,
            further: Box::default(),
        }
    }

    /// The price of a mechanism that runs elsewhere with this loss: at larger distances, by the
    /// measure's group privacy.
    pub(super) fn price_of(&self, loss: &Me::Loss) -> Result<Price<Me::Loss>, UnknownLoss> {
        let price = || {
            let first = checked(&self.measure, loss.clone())?;
            let at =
                |distance: &Distance| checked(&self.measure, self.measure.group(loss, *distance)?);
            let further = self.further.iter().map(at).collect::<Result<_, _>>()?;
            Ok(Price { first, further })
        };
        guarded(|| Ok(price())).unwrap_or(Err(UnknownLoss("the measure failed at this loss")))
    }

    /// Asks a mechanism whether it fits the data, and what it costs. This runs the mechanism's own
    /// code: no lock is held, and the caller checks afterwards whether it may still go on.
    #[inline]
    pub fn price<D, M, R>(&self, mechanism: &M, data: &D) -> Result<Price<Me::Loss>, NoPrice>
    where
        D: ?Sized,
        M: Mechanism<D> + Private<Me, R>,
        R: Relation,
    {
        let mut price = None;
        // Written in place: a value returned through a guard is copied once more.
        let asked = guarded(|| {
            price = Some(self.ask(mechanism, data));
            Ok(())
        });
        match (asked, price) {
            (Ok(()), Some(price)) => price,
            _ => Err(UnknownLoss("the mechanism failed to state its loss").into()),
        }
    }

    #[inline]
    fn ask<D, M, R>(&self, mechanism: &M, data: &D) -> Result<Price<Me::Loss>, NoPrice>
    where
        D: ?Sized,
        M: Mechanism<D> + Private<Me, R>,
        R: Relation,
    {
        mechanism.check(Public::of(data))?;
        let at = |distance| checked(&self.measure, mechanism.loss_at(&self.measure, distance)?);
        let first = at(self.first)?;
        if self.further.is_empty() {
            return Ok(first.into());
        }
        let further = self.further.iter().map(|distance| at(*distance));
        Ok(Price {
            first,
            further: further.collect::<Result<_, _>>()?,
        })
    }
}

/// Why a mechanism has no price.
#[derive(Debug)]
pub enum NoPrice {
    /// It does not fit the data.
    Unsuitable(Unsuitable),
    /// No theorem gives it a loss.
    UnknownLoss(UnknownLoss),
}

impl From<Unsuitable> for NoPrice {
    fn from(unsuitable: Unsuitable) -> Self {
        Self::Unsuitable(unsuitable)
    }
}

impl From<UnknownLoss> for NoPrice {
    fn from(unknown: UnknownLoss) -> Self {
        Self::UnknownLoss(unknown)
    }
}

impl<C, W> From<NoPrice> for Box<LaunchError<C, W>> {
    fn from(reason: NoPrice) -> Self {
        Self::new(match reason {
            NoPrice::Unsuitable(unsuitable) => LaunchError::Unsuitable(unsuitable),
            NoPrice::UnknownLoss(unknown) => LaunchError::UnknownLoss(unknown),
        })
    }
}
