//! Compositors with a budget.

use std::marker::PhantomData;
use std::sync::Arc;

use super::error::set_aside;
use super::gate::{ChildLossOf, DenialOf, PriceOf, RuleCell, Terms, sealed};
use super::{
    CompositorMachine, Discipline, Gate, Interleaved, LaunchError, NonInteractive, Refusal,
    Sequential, Takes,
};
use crate::account::{
    Accounting, Accumulator, Capped, ChildLoss, ContinuationRule, DefaultAccumulator,
    ValidConcurrently, ValidSequentially, WholeLoss,
};
use crate::machine::{Coins, Description, Fault, Inspect, Mechanism, ReleasesOnly, StateKey, Stop};
use crate::privacy::{AddRemove, Distance, Measure, Private, Relation, UnknownLoss};

/// A compositor that launches mechanisms as long as a continuation rule says to go on
/// (Haney et al. Alg 2, 3).
///
/// It is itself a mechanism, whose loss is the budget: filters nest to any depth.
///
/// | constructor | children | needs |
/// |---|---|---|
/// | [`concurrent`](Self::concurrent) | interactive, in any order | [`ValidConcurrently`] |
/// | [`sequential`](Self::sequential) | interactive, a launch freezes the earlier ones | [`ValidSequentially`] |
/// | [`noninteractive`](Self::noninteractive) | answer once | any rule |
///
/// Each uses the measure's own rule; the `_with` forms take another one.
///
/// What happens at a launch, in this order: the mechanism's loss is read; the rule decides, from
/// public values only; the loss is charged; the mechanism touches the data. An over-budget launch
/// changes nothing and can be followed by a smaller one, unless the filter is
/// [`halting`](Self::halting).
///
/// # Guarantee
///
/// The whole interaction, children included, is private with a loss of the budget, for datasets at
/// the stated distance (neighbours, unless [`at_distance`](Self::at_distance) says otherwise):
/// Haney et al. Def. 2.8, and Def. 2.6 where children answer once, for every rule that is valid for
/// the discipline. Refusing and going on is as good as halting (Haney et al. §1.3). For (ε, δ)-DP and
/// GDP, interactive children are assumed to have finite communication (Haney et al. 1.8); a limit on
/// their queries makes that literal. For the other measures they need not.
///
/// # Example
///
/// ```
/// use queryables::data::Predicate;
/// use queryables::mechanisms::Count;
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let ages = Arc::new(vec![17, 18, 43, 70]);
/// let filter = start(&Filter::concurrent(PureDp, "1.0".parse()?), ages)?;
///
/// let adults = Predicate::new("at least 18", |age: &u32| *age >= 18);
/// let count = Count::of(adults).laplace(epsilon!(0.1))?;
/// for _ in 0..10 {
///     let answer: i64 = filter.release(&count)?;
/// }
/// let error = filter.release(&count).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "a loss of ε = 0.1 is over budget: 1 of ε = 1 is spent, ε = 0 is left",
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(alias = "budget")]
#[doc(alias = "composition")]
#[doc(alias = "privacy budget")]
#[doc(alias = "privacy filter")]
#[derive(Clone, Debug)]
pub struct Filter<F, R = AddRemove, X = Interleaved> {
    rule: F,
    distance: Distance,
    count_limit: Option<u64>,
    halts: bool,
    types: PhantomData<fn() -> (R, X)>,
}

impl<G: Accumulator> Filter<Capped<G>> {
    /// Children may be interleaved (F-FiltCon, Haney et al. Alg 3).
    pub fn concurrent<Me>(measure: Me, budget: Me::Loss) -> Self
    where
        Me: DefaultAccumulator<Accumulator = G>,
        G: ValidConcurrently + Accounting<Children = Me, Whole = Me>,
    {
        Self::concurrent_with(measure.accumulator().capped(budget))
    }
}

impl<G: Accumulator> Filter<Capped<G>, AddRemove, Sequential> {
    /// A launch freezes the earlier children, and theirs (F-FiltSeq, Haney et al. §1.4).
    ///
    /// Each launch and question below it checks that it was not stopped: time that is linear in the
    /// number of ancestors that are sequential or [halting](Self::halting).
    pub fn sequential<Me>(measure: Me, budget: Me::Loss) -> Self
    where
        Me: DefaultAccumulator<Accumulator = G>,
        G: ValidSequentially + Accounting<Children = Me, Whole = Me>,
    {
        Self::sequential_with(measure.accumulator().capped(budget))
    }
}

impl<G: Accumulator> Filter<Capped<G>, AddRemove, NonInteractive> {
    /// Children answer once (F-Filt, Haney et al. Alg 2).
    pub fn noninteractive<Me>(measure: Me, budget: Me::Loss) -> Self
    where
        Me: DefaultAccumulator<Accumulator = G>,
        G: Accounting<Children = Me, Whole = Me>,
    {
        Self::noninteractive_with(measure.accumulator().capped(budget))
    }
}

impl<F: ContinuationRule + ValidConcurrently> Filter<F> {
    /// [`concurrent`](Filter::concurrent), with this rule.
    pub fn concurrent_with(rule: F) -> Self {
        Self::from_rule(rule)
    }
}

impl<F: ContinuationRule + ValidSequentially> Filter<F, AddRemove, Sequential> {
    /// [`sequential`](Filter::sequential), with this rule.
    pub fn sequential_with(rule: F) -> Self {
        Self::from_rule(rule)
    }
}

impl<F: ContinuationRule> Filter<F, AddRemove, NonInteractive> {
    /// [`noninteractive`](Filter::noninteractive), with this rule.
    pub fn noninteractive_with(rule: F) -> Self {
        Self::from_rule(rule)
    }
}

impl<F, R, X> Filter<F, R, X> {
    /// For constructors that have checked that the rule is valid for the discipline.
    pub(super) fn from_rule(rule: F) -> Self {
        Self {
            rule,
            distance: Distance::NEIGHBOURS,
            count_limit: None,
            halts: false,
            types: PhantomData,
        }
    }

    /// States its guarantee, and requires that of children, under another neighbouring relation.
    #[must_use]
    pub fn under<S: Relation>(self, _relation: S) -> Filter<F, S, X> {
        Filter {
            rule: self.rule,
            distance: self.distance,
            count_limit: self.count_limit,
            halts: self.halts,
            types: PhantomData,
        }
    }

    /// States its guarantee, and requires that of children, for datasets at this distance.
    #[must_use]
    pub fn at_distance(self, distance: Distance) -> Self {
        Self { distance, ..self }
    }

    /// Launches at most this many mechanisms (the K of Haney et al. Alg 2, 3).
    #[must_use]
    pub fn at_most(self, mechanisms: u64) -> Self {
        Self {
            count_limit: Some(mechanisms),
            ..self
        }
    }

    /// Halts for good at the first launch that it does not admit: from then on nothing answers,
    /// children included; only what has been spent and why it halted can still be read.
    ///
    /// Each launch and question below it checks that it was not stopped: time that is linear in the
    /// number of ancestors that halt or are [sequential](Filter::sequential).
    #[must_use]
    pub fn halting(self) -> Self {
        Self {
            halts: true,
            ..self
        }
    }
}

impl<D: ?Sized, F, R, X> Mechanism<D> for Filter<F, R, X>
where
    F: ContinuationRule,
    R: Relation,
    X: Discipline,
{
    type Machine = FilterMachine<D, F, R, X>;

    fn start(&self, data: &Arc<D>, coins: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        if !self.rule.whole().is_valid(self.rule.limit()) {
            return Err(Fault::InvalidQuery(
                "the budget does not belong to the measure",
            ));
        }
        let terms = Terms::at(self.rule.children().clone(), self.distance);
        let gate = FilterGate {
            rule: RuleCell::new(self.rule.clone(), F::REENTRANT),
            launched: 0,
            count_limit: self.count_limit,
            halts: self.halts,
            halt: None,
        };
        Ok(CompositorMachine::new(data, terms, gate, coins))
    }

    fn describe(&self) -> Description {
        let mut description = Description::new("Filter")
            .with("children", format_args!("{:?}", self.rule.children()))
            .with("limit", self.rule.limit());
        if let Some(set_aside) = set_aside(&self.rule) {
            description = description.with("of which set aside", set_aside);
        }
        description = description
            .with("relation", R::NAME)
            .with("distance", self.distance);
        if let Some(limit) = self.count_limit {
            description = description.with("at most", limit);
        }
        // A rule has no way to say all of its parameters.
        description
            .with("halts", self.halts)
            .with("rule", Description::of::<F>().name())
            .with("launches", Description::of::<X>().name())
            .incomplete()
    }
}

impl<F, R, X> ReleasesOnly for Filter<F, R, X> {}

/// The filter's own loss is its budget, in the measure of the whole.
#[diagnostic::do_not_recommend]
impl<Me, F, R, X> Private<Me, R> for Filter<F, R, X>
where
    Me: Measure,
    F: ContinuationRule<Whole = Me>,
    R: Relation,
{
    fn loss(&self, measure: &Me) -> Result<Me::Loss, UnknownLoss> {
        self.loss_at(measure, Distance::NEIGHBOURS)
    }

    fn loss_at(&self, measure: &Me, distance: Distance) -> Result<Me::Loss, UnknownLoss> {
        if measure != self.rule.whole() {
            return Err(UnknownLoss("the filter has another measure"));
        }
        let limit = self.rule.limit();
        // As many hops, each within the distance for which the limit holds.
        match Distance::new(distance.steps().div_ceil(self.distance.steps())) {
            Some(hops) if hops > Distance::NEIGHBOURS => measure.group(limit, hops),
            _ => Ok(limit.clone()),
        }
    }
}

/// A running [`Filter`] as a machine. [`CompositorMachine`] has an example.
pub type FilterMachine<D, F, R = AddRemove, X = Interleaved> =
    CompositorMachine<D, FilterGate<F>, R, X>;

/// What can be read from a running filter, at any time, without changing it.
impl<D: ?Sized, F: ContinuationRule, R, X> FilterMachine<D, F, R, X> {
    /// What is left of the budget: a loss that it would admit, like any smaller one.
    #[must_use]
    pub fn remaining(&self) -> ChildLoss<F> {
        self.gate().rule.remaining()
    }
}

/// What decides in a running [`Filter`]. Nobody outside of a compositor has one, except a ledger,
/// which writes it down.
#[derive(Clone, Debug)]
pub struct FilterGate<F: ContinuationRule> {
    /// The rule, with what it has counted.
    pub rule: RuleCell<F>,
    /// How many launches it has admitted.
    pub launched: u64,
    /// How many launches it admits at most.
    pub count_limit: Option<u64>,
    /// Whether it halts at the first launch that it refuses.
    pub halts: bool,
    /// Why it halted. Behind a pointer: it is rarely present, and the gate is copied at every launch.
    pub halt: Option<Arc<HaltOf<F>>>,
}

/// Why a filter under this rule halted.
pub type HaltOf<F> = Halt<ChildLoss<F>, WholeLoss<F>>;

/// Why a filter halted.
///
/// Example: [`Filter`](crate::compose::Filter).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields)
)]
#[non_exhaustive]
pub enum Halt<C, W = C> {
    /// A launch was over budget.
    OverBudget(Refusal<C, W>),
    /// A launch was one more than the limit on their number.
    CountLimit {
        /// The limit.
        limit: u64,
    },
}

impl<F: ContinuationRule> FilterGate<F> {
    /// The limit on the number of launches, and the rule's decision.
    #[inline]
    pub(super) fn charged(&self, loss: &ChildLoss<F>) -> Result<F, Box<HaltOf<F>>> {
        if let Some(limit) = self.count_limit
            && self.launched >= limit
        {
            return Err(Box::new(Halt::CountLimit { limit }));
        }
        let charged = self.rule.charge(loss);
        charged.map_err(|_| Box::new(Halt::OverBudget(Refusal::by(&*self.rule, loss))))
    }

    /// Records the reason if it halts.
    #[cold]
    fn deny(&mut self, reason: HaltOf<F>) -> DenialOf<Self> {
        if self.halts {
            self.halt = Some(Arc::new(reason.clone()));
        }
        Box::new(match reason {
            Halt::OverBudget(refusal) => LaunchError::Refused(refusal),
            Halt::CountLimit { limit } => LaunchError::CountLimit { limit },
        })
    }
}

impl<F: ContinuationRule> Gate for FilterGate<F> {
    type Children = F::Children;
    type Whole = F::Whole;
    type Reading = WholeLoss<F>;

    #[inline]
    fn reading(&self) -> WholeLoss<F> {
        self.rule.spent()
    }
}

impl<F: ContinuationRule, M: ?Sized, R> Takes<M, R> for FilterGate<F> {}

impl<F: ContinuationRule> sealed::Decides for FilterGate<F> {
    const REENTRANT: bool = F::REENTRANT.0;
    const HANDLE: &'static str = "RunningFilter";

    #[inline]
    fn charge(&mut self, price: &PriceOf<Self>) -> Result<(), DenialOf<Self>> {
        if self.halt.is_some() {
            return Err(LaunchError::Stopped(Stop::Halted).into());
        }
        match self.charged(&price.first) {
            Ok(rule) => {
                self.rule = RuleCell::new(rule, F::REENTRANT);
                self.launched = self.launched.saturating_add(1);
                Ok(())
            }
            Err(reason) => Err(self.deny(*reason)),
        }
    }

    fn may_halt(&self) -> bool {
        self.halts
    }

    fn is_halted(&self) -> bool {
        self.halt.is_some()
    }

    fn remaining(&self) -> Option<ChildLossOf<Self>> {
        Some(self.rule.remaining())
    }
}

impl<F: ContinuationRule + Inspect> Inspect for FilterGate<F> {
    fn inspect(&self, key: &mut StateKey) {
        key.write(&*self.rule);
        // Why it halted is read from the handle only.
        let halted = self.halt.is_some();
        key.write(&(self.launched, self.count_limit, self.halts, halted));
    }
}
