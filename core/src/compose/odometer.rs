//! Compositors without a budget.

use std::marker::PhantomData;
use std::sync::Arc;

use super::gate::{DenialOf, PriceOf, RuleCell, Terms, sealed};
use super::{
    CompositorMachine, Discipline, Filter, Gate, Interleaved, LaunchError, MapOdometer,
    NonInteractive, Sequential, Takes,
};
use crate::account::{
    Accounting, Accumulator, Capped, ChildLoss, DefaultAccumulator, ValidConcurrently,
    ValidSequentially, WholeLoss,
};
use crate::machine::{Coins, Description, Fault, Inspect, Mechanism, ReleasesOnly, StateKey};
use crate::privacy::{AddRemove, Distance, Relation, UnknownLoss};

/// A compositor that launches whatever it is asked to and says what has been spent
/// (Haney et al. Alg 4, 6).
///
/// It has no bound, so it states no loss and cannot be launched in a filter until it is
/// [`capped`](Self::capped).
///
/// The loss is tracked at every distance that was asked for when it was built
/// ([`tracking`](Self::tracking)), so that a reading takes constant time (the privacy maps of Haney
/// et al. §5.1, without keeping them all). Where the distances are not known in advance,
/// [`keeping_maps`](Self::keeping_maps).
///
/// # Guarantee
///
/// For every threshold `d` fixed in advance, the view truncated where the reading is no longer
/// at most `d` is `d`-private (Haney et al. Def. 2.11, 2.14). A reading is *not* a bound on the loss
/// given what has been seen so far (Feldman and Zrnic, Example 5.1). For (ε, δ)-DP and GDP,
/// interactive children are assumed to have finite communication (Haney et al. 1.8); for the other
/// measures they need not.
///
/// # To stop at a level, ask before the launch
///
/// A reading says what has been spent, so a program that launches until the reading is too large
/// stops after it. The answer that takes the reading over the level is not part of the truncated view,
/// and must not be seen. [`Capped`](Self::capped), an odometer is a filter: it refuses that launch, and
/// says beforehand whether it would.
///
/// ```
/// use queryables::data::Predicate;
/// use queryables::mechanisms::Count;
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let ages = Arc::new(vec![17, 18, 43, 70]);
/// let adults = Predicate::new("at least 18", |age: &u32| *age >= 18);
/// let (level, loss) = ("1".parse()?, "0.15".parse()?);
/// let count = Count::of(adults).laplace(loss)?;
///
/// // Wrong: stops at 1.05.
/// let odometer = start(&Odometer::concurrent(PureDp), Arc::clone(&ages))?;
/// while odometer.privacy_loss() < level {
///     odometer.release(&count)?;
/// }
/// assert_eq!(odometer.privacy_loss(), "1.05".parse()?);
///
/// // Right: stops at 0.9.
/// let odometer = start(&Odometer::concurrent(PureDp).capped(level), ages)?;
/// while odometer.would_admit(&loss) {
///     odometer.release(&count)?;
/// }
/// assert_eq!(odometer.privacy_loss(), "0.9".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
/// let pair = Distance::new(2).ok_or("zero")?;
/// let ages = Arc::new(vec![17, 18, 43, 70]);
/// let odometer = start(&Odometer::concurrent(PureDp).tracking([pair]), ages)?;
///
/// let adults = Predicate::new("at least 18", |age: &u32| *age >= 18);
/// odometer.release(&Count::of(adults.clone()).laplace(epsilon!(0.3))?)?;
/// odometer.release(&Count::of(adults).laplace(epsilon!(0.1))?)?;
/// assert_eq!(odometer.privacy_loss(), "0.4".parse()?);
/// assert_eq!(odometer.privacy_loss_at(pair), Some("0.8".parse()?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(alias = "accountant")]
#[doc(alias = "privacy accountant")]
#[doc(alias = "spent")]
#[derive(Clone, Debug)]
pub struct Odometer<G, R = AddRemove, X = Interleaved> {
    accumulator: G,
    /// The distances to track besides 1.
    distances: Vec<Distance>,
    types: PhantomData<fn() -> (R, X)>,
}

impl<G: Accumulator> Odometer<G> {
    /// Children may be interleaved (G-OdomCon, Haney et al. Alg 6).
    pub fn concurrent<Me>(measure: Me) -> Self
    where
        Me: DefaultAccumulator<Accumulator = G>,
        G: ValidConcurrently + Accounting<Children = Me, Whole = Me>,
    {
        Self::concurrent_with(measure.accumulator())
    }
}

impl<G: Accumulator> Odometer<G, AddRemove, Sequential> {
    /// A launch freezes the earlier children, and theirs (G-OdomSeq, Haney et al. §1.4).
    pub fn sequential<Me>(measure: Me) -> Self
    where
        Me: DefaultAccumulator<Accumulator = G>,
        G: ValidSequentially + Accounting<Children = Me, Whole = Me>,
    {
        Self::sequential_with(measure.accumulator())
    }
}

impl<G: Accumulator> Odometer<G, AddRemove, NonInteractive> {
    /// Children answer once (G-Odom, Haney et al. Alg 4).
    pub fn noninteractive<Me>(measure: Me) -> Self
    where
        Me: DefaultAccumulator<Accumulator = G>,
        G: Accounting<Children = Me, Whole = Me>,
    {
        Self::noninteractive_with(measure.accumulator())
    }
}

impl<G: Accumulator + ValidConcurrently> Odometer<G> {
    /// [`concurrent`](Odometer::concurrent), with this accumulator.
    pub fn concurrent_with(accumulator: G) -> Self {
        Self::from_accumulator(accumulator)
    }
}

impl<G: Accumulator + ValidSequentially> Odometer<G, AddRemove, Sequential> {
    /// [`sequential`](Odometer::sequential), with this accumulator.
    pub fn sequential_with(accumulator: G) -> Self {
        Self::from_accumulator(accumulator)
    }
}

impl<G: Accumulator> Odometer<G, AddRemove, NonInteractive> {
    /// [`noninteractive`](Odometer::noninteractive), with this accumulator.
    pub fn noninteractive_with(accumulator: G) -> Self {
        Self::from_accumulator(accumulator)
    }
}

impl<G, R, X> Odometer<G, R, X> {
    fn from_accumulator(accumulator: G) -> Self {
        Self {
            accumulator,
            distances: Vec::new(),
            types: PhantomData,
        }
    }

    /// Requires the loss of children under another neighbouring relation.
    #[must_use]
    pub fn under<S: Relation>(self, _relation: S) -> Odometer<G, S, X> {
        Odometer {
            accumulator: self.accumulator,
            distances: self.distances,
            types: PhantomData,
        }
    }

    pub(super) fn accumulator(&self) -> &G {
        &self.accumulator
    }

    /// Keeps the privacy map of every launch, so that the loss can be read at any distance asked
    /// for later. Readings there are linear in the launches; see [`MapOdometer`].
    #[must_use]
    pub fn keeping_maps(self) -> MapOdometer<G, R, X> {
        MapOdometer::new(self)
    }

    /// Tracks the loss at these distances too. Children must have a loss at each of them.
    #[must_use]
    pub fn tracking(mut self, distances: impl IntoIterator<Item = Distance>) -> Self {
        for distance in distances {
            if distance != Distance::NEIGHBOURS && !self.distances.contains(&distance) {
                self.distances.push(distance);
            }
        }
        self
    }
}

impl<G: Accumulator, R: Relation, X: Discipline> Odometer<G, R, X> {
    /// The filter that goes on while this odometer reads at most `limit`, at neighbours
    /// (Haney et al. Lemma 2.19, Alg 15).
    #[must_use]
    pub fn capped(self, limit: WholeLoss<G>) -> Filter<Capped<G>, R, X> {
        Filter::from_rule(self.accumulator.capped(limit))
    }
}

impl<D: ?Sized, G, R, X> Mechanism<D> for Odometer<G, R, X>
where
    G: Accumulator,
    R: Relation,
    X: Discipline,
{
    type Machine = OdometerMachine<D, G, R, X>;

    fn start(&self, data: &Arc<D>, coins: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        let terms = Terms {
            measure: self.accumulator.children().clone(),
            first: Distance::NEIGHBOURS,
            further: self.distances.clone().into(),
        };
        let slot = || RuleCell::new(self.accumulator.clone(), G::REENTRANT);
        let gate = OdometerGate {
            neighbours: slot(),
            further: self.distances.iter().map(|_| slot()).collect(),
        };
        Ok(CompositorMachine::new(data, terms, gate, coins))
    }

    fn describe(&self) -> Description {
        Description::new("Odometer")
            .with(
                "children",
                format_args!("{:?}", self.accumulator.children()),
            )
            .with("relation", R::NAME)
            .with("accumulator", Description::of::<G>().name())
            .with("launches", Description::of::<X>().name())
            .incomplete()
    }
}

impl<G, R, X> ReleasesOnly for Odometer<G, R, X> {}

/// A running [`Odometer`] as a machine. [`CompositorMachine`] has an example of a filter.
pub type OdometerMachine<D, G, R = AddRemove, X = Interleaved> =
    CompositorMachine<D, OdometerGate<G>, R, X>;

/// What counts in a running [`Odometer`].
#[derive(Clone, Debug)]
pub struct OdometerGate<G> {
    pub(super) neighbours: RuleCell<G>,
    /// One for each further distance.
    pub(super) further: Vec<RuleCell<G>>,
}

impl<G: Accumulator> Gate for OdometerGate<G> {
    type Children = G::Children;
    type Whole = G::Whole;
    type Reading = WholeLoss<G>;

    #[inline]
    fn reading(&self) -> WholeLoss<G> {
        self.neighbours.total()
    }
}

impl<G: Accumulator, M: ?Sized, R> Takes<M, R> for OdometerGate<G> {}

impl<G: Accumulator> RuleCell<G> {
    /// The total with one more loss. It is put into a cell where it is stored: one that waits for
    /// others may have to be dropped, and is then kept in memory and copied.
    #[inline]
    pub(super) fn with(&self, loss: &ChildLoss<G>) -> Result<G, NotCounted<G>> {
        self.covers(loss)?;
        Ok(self.add(loss).map_err(|_| LaunchError::Overflow)?)
    }
}

type NotCounted<G> = Box<LaunchError<ChildLoss<G>, WholeLoss<G>>>;

impl<G: Accumulator> sealed::Decides for OdometerGate<G> {
    const REENTRANT: bool = G::REENTRANT.0;
    const HANDLE: &'static str = "RunningOdometer";

    #[inline]
    fn charge(&mut self, price: &PriceOf<Self>) -> Result<(), DenialOf<Self>> {
        if price.further().len() != self.further.len() {
            return Err(UnknownLoss::FOREIGN.into());
        }
        let neighbours = self.neighbours.with(&price.first)?;
        if !self.further.is_empty() {
            let totals = self.further.iter().zip(price.further());
            self.further = totals
                .map(|(total, loss)| Ok(RuleCell::new(total.with(loss)?, G::REENTRANT)))
                .collect::<Result<_, DenialOf<Self>>>()?;
        }
        self.neighbours = RuleCell::new(neighbours, G::REENTRANT);
        Ok(())
    }
}

impl<G: Inspect> Inspect for OdometerGate<G> {
    fn inspect(&self, key: &mut StateKey) {
        key.write(&*self.neighbours);
        key.write(&self.further.len());
        for further in &self.further {
            key.write(&**further);
        }
    }
}
