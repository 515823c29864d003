//! The description of an individual filter.

use std::fmt;
use std::sync::Arc;

use super::own_budgets::OwnBudgets;
use super::payers::Policy;
use super::{IndividualMachine, RecordUnits};
use crate::account::{
    Accounting, Accumulator, Capped, ChildLoss, ContinuationRule, DefaultAccumulator,
    ValidIndividually, WholeLoss,
};
use crate::data::Dataset;
use crate::machine::{Coins, Description, Fault, Mechanism};
use crate::privacy::{AddRemove, Distance, Measure, Private, Replace, UnknownLoss};

/// Each record pays what it can lose, from a budget of its own, and takes part as long as it can
/// pay (Feldman and Zrnic Alg 3, for every mechanism with a public map from records to losses).
///
/// An ordinary filter charges every launch at what it may cost *somebody*. Here a query costs a
/// record only what that record can lose by it: a count costs ε those who are counted and nothing
/// the others; a vector sum costs the squared length of the record's own vector. So there can be
/// many more queries, and no query is refused because somebody, or everybody, cannot pay: those who
/// cannot are left out, silently, and when all are out, the answer is noise. What is refused is what
/// has no price under the rule, or one above 900 times the declared budget, which is public.
///
/// ```
/// use queryables::compose::IndividualFilter;
/// use queryables::data::Predicate;
/// use queryables::mechanisms::Count;
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let ages = Arc::new(vec![17_u32, 18, 43, 70]);
/// let filter = start(&IndividualFilter::new(PureDp, "1".parse()?), ages)?;
///
/// // A hundred counts of disjoint groups: everybody pays once.
/// for age in 0..100 {
///     let of_age = Predicate::new("of this age", move |row: &u32| *row == age);
///     let count: i64 = filter.release(&Count::of(of_age).laplace(epsilon!(1))?)?;
/// }
/// // Now nobody of these ages can pay, and nobody is told so: the answer is noise.
/// let adults = Predicate::new("at least 18", |row: &u32| *row >= 18);
/// let noise: i64 = filter.release(&Count::of(adults).laplace(epsilon!(0.5))?)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// It is a mechanism, whose loss is the declared budget, and can be launched inside an ordinary
/// [`Filter`](crate::compose::Filter) and be interleaved with its siblings.
///
/// # Guarantee
///
/// The whole interaction, with any number of queries that are chosen adaptively, is private with a
/// loss of the budget, for neighbours under [`AddRemove`]. What a smaller budget of a record's own
/// guarantees is said [there](Self::budgets). The theorem and its proof are in
/// `spec/individual.md`; Feldman and Zrnic Thm 4.5 is its case of Rényi privacy and mechanisms that
/// drop. It holds for every rule that is [`ValidIndividually`], and assumes that queries keep what
/// [`IndividualQuery`](super::IndividualQuery) asks of them. For (ε, δ) and GDP, as a child of
/// another filter, it is assumed to have finite communication (Haney et al. 1.8);
/// [`at_most`](Self::at_most) makes that literal.
///
/// For [`Replace`], and at a distance, it states what group privacy implies: replacing a record is
/// two steps.
///
/// # What is hidden
///
/// How many records there are, who takes part, what anybody has left. No error, refusal or `Debug`
/// depends on them. To learn how many can still pay, ask a query that pays for it
/// ([`ActiveRecords`](crate::mechanisms::individual::ActiveRecords)).
/// The curator can read single accounts ([`start_individual`](super::start_individual)); the
/// analyst cannot.
#[doc(alias = "individual privacy")]
#[doc(alias = "personalized")]
pub struct IndividualFilter<D: ?Sized, F> {
    rule: F,
    policy: Policy,
    budgets: OwnBudgets<D, F>,
    count_limit: Option<u64>,
}

impl<D: ?Sized, G: Accumulator> IndividualFilter<D, Capped<G>> {
    /// Every record has this budget, and losses add up by the measure's own rule.
    pub fn new<Me>(measure: Me, budget: Me::Loss) -> Self
    where
        Me: DefaultAccumulator<Accumulator = G>,
        G: Accounting<Children = Me, Whole = Me>,
        Capped<G>: ValidIndividually,
    {
        Self::with_rule(measure.accumulator().capped(budget))
    }
}

impl<D: ?Sized, F: ValidIndividually> IndividualFilter<D, F> {
    /// Every record has the budget of this rule.
    pub fn with_rule(rule: F) -> Self {
        Self {
            rule,
            policy: Policy::Drop,
            budgets: OwnBudgets::DECLARED,
            count_limit: None,
        }
    }

    /// A record that cannot pay for its whole contribution makes it smaller, and spends what it has
    /// left (Feldman and Zrnic Alg 8). By default it is left out of that query.
    ///
    /// Vectors are clipped to the length that is left, sums to the number, and scores to the range.
    /// A count has nothing to make smaller.
    #[must_use]
    pub fn shrinking(self) -> Self {
        Self {
            policy: Policy::Fit,
            ..self
        }
    }

    /// Gives each record a budget of its own, which depends on nothing but the record. What is more
    /// than the declared budget is clamped to it; a record on which the function panics has none.
    ///
    /// The loss stays the declared budget, and does not become the largest budget of those who are
    /// present: who that is, is private.
    ///
    /// # Guarantee
    ///
    /// What the record pays adds up to at most the price of its own budget b. Where losses of
    /// children add up as they are, that is a loss of b for this record, under the children's
    /// measure: sums, root sums of squares, [`NaturalFilter`](crate::account::NaturalFilter), and
    /// conversions of ρ. Conversions of Rényi losses on a grid charge one order of it, and at this
    /// order it is a loss of b; at the others it is not.
    ///
    /// Where an ε of children is converted first, into ρ, into a Rényi loss or into costs of a price
    /// list ([`ThroughZCdp`](crate::account::ThroughZCdp) and
    /// [`ThroughRdp`](crate::account::ThroughRdp) for ε,
    /// [`MenuFilter`](crate::account::menu::MenuFilter)), it is *not* a loss of b: a record with a
    /// budget of ε = 1 can pay for ninety queries of 0.1, whose ρ together is less. There a smaller b
    /// lets a record take part less often, and what is stated for it is the filter's loss. The δ of b
    /// bounds the δ that the record pays, beside what the conversion itself uses.
    #[must_use]
    pub fn budgets(
        self,
        budget: impl Fn(D::Record<'_>) -> ChildLoss<F> + Send + Sync + 'static,
    ) -> Self
    where
        D: Dataset,
    {
        Self {
            budgets: OwnBudgets::new(budget),
            ..self
        }
    }

    /// Answers at most this many queries, and then says that no answers are left.
    #[must_use]
    pub fn at_most(self, queries: u64) -> Self {
        Self {
            count_limit: Some(queries),
            ..self
        }
    }
}

impl<D, F> Mechanism<D> for IndividualFilter<D, F>
where
    D: Dataset + ?Sized,
    F: ValidIndividually,
{
    type Machine = IndividualMachine<D, F>;

    fn start(&self, data: &Arc<D>, _: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        if !self.rule.whole().is_valid(self.rule.limit()) {
            return Err(Fault::InvalidQuery(
                "the budget does not belong to the measure",
            ));
        }
        let units = RecordUnits::new(self.rule.clone());
        let budgets = self.budgets.clone();
        let machine = IndividualMachine::new(data, units, budgets, self.policy, self.count_limit);
        Ok(machine)
    }

    fn describe(&self) -> Description {
        self.description()
    }
}

impl<D: ?Sized, F: ContinuationRule> IndividualFilter<D, F> {
    fn description(&self) -> Description {
        let description = Description::new("IndividualFilter")
            .with("children", format_args!("{:?}", self.rule.children()))
            .with("limit", self.rule.limit())
            .with("fits", self.policy == Policy::Fit)
            .with("own budgets", self.budgets.differ())
            .with("rule", Description::of::<F>().name())
            .incomplete();
        match self.count_limit {
            Some(limit) => description.with("at most", limit),
            None => description,
        }
    }

    /// Group privacy, in steps of adding or removing a record.
    fn at_steps(
        &self,
        measure: &F::Whole,
        steps: Option<u64>,
    ) -> Result<WholeLoss<F>, UnknownLoss> {
        if measure != self.rule.whole() {
            return Err(UnknownLoss("the filter has another measure"));
        }
        let steps = steps.and_then(Distance::new);
        let steps = steps.ok_or(UnknownLoss("the distance is more than can be held"))?;
        if steps == Distance::NEIGHBOURS {
            return Ok(self.rule.limit().clone());
        }
        measure.group(self.rule.limit(), steps)
    }
}

/// The filter's own loss is the declared budget.
impl<D: ?Sized, F: ContinuationRule> Private<F::Whole, AddRemove> for IndividualFilter<D, F> {
    fn loss(&self, measure: &F::Whole) -> Result<WholeLoss<F>, UnknownLoss> {
        self.at_steps(measure, Some(1))
    }

    fn loss_at(&self, measure: &F::Whole, distance: Distance) -> Result<WholeLoss<F>, UnknownLoss> {
        self.at_steps(measure, Some(distance.steps()))
    }
}

/// A record is replaced in two steps: one is removed, another is added.
impl<D: ?Sized, F: ContinuationRule> Private<F::Whole, Replace> for IndividualFilter<D, F> {
    fn loss(&self, measure: &F::Whole) -> Result<WholeLoss<F>, UnknownLoss> {
        self.at_steps(measure, Some(2))
    }

    fn loss_at(&self, measure: &F::Whole, distance: Distance) -> Result<WholeLoss<F>, UnknownLoss> {
        self.at_steps(measure, distance.steps().checked_mul(2))
    }
}

crate::clone_fields!([D: ?Sized, F: Clone] IndividualFilter<D, F> { rule, policy, budgets, count_limit });

impl<D: ?Sized, F: ContinuationRule> fmt::Debug for IndividualFilter<D, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.description(), f)
    }
}
