//! What each record has lost, without a limit.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use super::own_budgets::OwnBudgets;
use super::payers::Policy;
use super::{IndividualMachine, RecordUnits};
use crate::account::{
    Accounting, Accumulator, Capped, ContinuationRule, DefaultAccumulator, ValidIndividually,
};
use crate::data::Dataset;
use crate::machine::{Coins, Description, Fault, Mechanism};

/// Counts for each record what it has lost, and refuses nothing but queries that cost more than a
/// step (Feldman and Zrnic Alg 6).
///
/// A reading is a whole number of steps: a record starts with one, and gets another where the
/// next query would take it over the step. Like every odometer it is not private with any bound,
/// so it is not a [`Private`](crate::privacy::Private) mechanism and cannot be launched inside a
/// filter.
///
/// ```
/// use queryables::compose::{IndividualOdometer, start_individual};
/// use queryables::data::Predicate;
/// use queryables::mechanisms::Count;
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let ages = Arc::new(vec![17_u32, 70]);
/// let odometer = IndividualOdometer::new(PureDp, "0.5".parse()?);
/// let (for_the_analyst, for_the_curator) = start_individual(&odometer, ages)?;
/// let adults = Predicate::new("at least 18", |age: &u32| *age >= 18);
/// for _ in 0..3 {
///     for_the_analyst.release(&Count::of(adults.clone()).laplace(epsilon!(0.2))?)?;
/// }
/// // 0.2 + 0.2 in the first step, 0.2 in the second.
/// assert_eq!(for_the_curator.loss(1)?, Some("1".parse()?));
/// assert_eq!(for_the_curator.loss(0)?, Some("0.5".parse()?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// For each record and every d: the view of the analyst up to where the record's reading exceeds d
/// is d-private for this record (Haney et al. Def. 2.13, for the pair of datasets with and without
/// the record; Feldman and Zrnic Cor. 5.3). Why: before that point the record's prices add up to at
/// most its reading, d, so that the view is one of an [`IndividualFilter`](super::IndividualFilter)
/// of budget d, in which the record is never left out. `spec/individual.md` has the proof.
///
/// Readings come from an object that the curator holds ([`Readings`](super::Readings)), and not from the analyst's
/// handle: they depend on the data.
pub struct IndividualOdometer<D: ?Sized, G: Accounting> {
    rule: Capped<G>,
    data: PhantomData<fn(&D)>,
}

impl<D: ?Sized, G: Accumulator> IndividualOdometer<D, G> {
    /// Losses add up by the measure's own rule, and are read in steps of this.
    pub fn new<Me>(measure: Me, step: Me::Loss) -> Self
    where
        Me: DefaultAccumulator<Accumulator = G>,
        G: Accounting<Children = Me, Whole = Me>,
        Capped<G>: ValidIndividually,
    {
        Self {
            rule: measure.accumulator().capped(step),
            data: PhantomData,
        }
    }
}

impl<D, G> Mechanism<D> for IndividualOdometer<D, G>
where
    D: Dataset + ?Sized,
    G: Accumulator,
    Capped<G>: ValidIndividually,
{
    type Machine = IndividualMachine<D, Capped<G>>;

    fn start(&self, data: &Arc<D>, _: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        let units = RecordUnits::of_steps(self.rule.clone());
        if units.budget().number == 0 {
            return Err(Fault::InvalidQuery("the step must be greater than zero"));
        }
        let (budgets, policy) = (OwnBudgets::DECLARED, Policy::Count);
        Ok(IndividualMachine::new(data, units, budgets, policy, None))
    }

    fn describe(&self) -> Description {
        let odometer = Description::new("IndividualOdometer");
        odometer.with("step", self.rule.limit()).incomplete()
    }
}

crate::clone_fields!([D: ?Sized, G: Accumulator] IndividualOdometer<D, G> { rule, data });

impl<D: ?Sized, G: Accumulator> fmt::Debug for IndividualOdometer<D, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IndividualOdometer")
            .field("step", self.rule.limit())
            .finish_non_exhaustive()
    }
}
