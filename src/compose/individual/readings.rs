//! What the curator can read from accounts.

use std::fmt;
use std::sync::Arc;

use super::{IndividualFilter, RecordUnits, RunningIndividual};
use crate::account::{ChildLoss, ValidIndividually};
use crate::data::Dataset;
use crate::machine::Fault;
use crate::queryable::{AskError, launch};

/// What single records have spent. The curator holds it, and the analyst does not.
///
/// A reading depends on the record and on public answers, and on no other record: so it can be
/// shown to the person whose record it is, and to nobody else (Feldman and Zrnic §5.2). It reads
/// between queries, and changes nothing.
///
/// [`launch_individual`] and [`IndividualOdometer`](super::IndividualOdometer) have examples.
pub struct Readings<D: ?Sized, F> {
    running: RunningIndividual<D, F>,
    units: RecordUnits<F>,
    /// What a record may spend, or `None` where accounts count up.
    budget_of: Option<Arc<BudgetOf>>,
}

type BudgetOf = dyn Fn(usize) -> u64 + Send + Sync;

impl<D, F> Readings<D, F>
where
    D: Dataset + Send + Sync + ?Sized + 'static,
    F: ValidIndividually,
{
    pub(super) fn new(
        running: RunningIndividual<D, F>,
        units: RecordUnits<F>,
        budget_of: Option<Arc<BudgetOf>>,
    ) -> Self {
        Self {
            running,
            units,
            budget_of,
        }
    }

    /// What the record with this index has spent, in units; `None` if there is no such record.
    ///
    /// # Errors
    ///
    /// [`AskError`] if the filter was stopped or has failed.
    pub fn spent(&self, index: usize) -> Result<Option<u64>, AskError> {
        let account = self
            .running
            .run(move |machine, _| Ok(machine.accounts().get(index).copied()))?;
        Ok(account.map(|account| self.reading(index, account)))
    }

    /// What all records have spent, in their order, in units.
    ///
    /// # Errors
    ///
    /// [`AskError`] if the filter was stopped or has failed.
    pub fn all(&self) -> Result<Vec<u64>, AskError> {
        let accounts = self
            .running
            .run(|machine, _| Ok(machine.accounts().to_vec()))?;
        let readings = accounts.into_iter().enumerate();
        Ok(readings
            .map(|(index, account)| self.reading(index, account))
            .collect())
    }

    /// The units, and what they are worth.
    #[must_use]
    pub fn units(&self) -> &RecordUnits<F> {
        &self.units
    }

    /// What the record with this index has spent, as a loss, rounded up; `None` if there is no such
    /// record, or if the rule's units are not losses (those of a price list, for instance).
    ///
    /// # Errors
    ///
    /// [`AskError`] if the filter was stopped or has failed.
    pub fn loss(&self, index: usize) -> Result<Option<ChildLoss<F>>, AskError> {
        let spent = self.spent(index)?;
        Ok(spent.and_then(|units| self.units.loss(units)))
    }

    fn reading(&self, index: usize, account: u64) -> u64 {
        match &self.budget_of {
            Some(budget_of) => budget_of(index).saturating_sub(account),
            None => self.units.whole_steps(account),
        }
    }
}

impl<D: ?Sized, F> fmt::Debug for Readings<D, F> {
    /// Shows nothing of the contents.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Readings")
    }
}

/// A handle for the analyst, and readings for the curator.
pub type WithReadings<D, F> = (RunningIndividual<D, F>, Readings<D, F>);

/// Starts an individual filter as [`launch`] does, and also returns what the curator can read.
///
/// ```
/// use queryables::compose::{IndividualFilter, launch_individual};
/// use queryables::data::Predicate;
/// use queryables::mechanisms::individual::IndividualCount;
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let ages = Arc::new(vec![17_u32, 70]);
/// let filter = IndividualFilter::new(PureDp, "1".parse()?);
/// let (for_the_analyst, for_the_curator) = launch_individual(&filter, ages)?;
/// let adults = Predicate::new("at least 18", |age: &u32| *age >= 18);
/// for_the_analyst.release(&IndividualCount::new(adults, "0.3".parse()?)?)?;
/// assert_eq!(for_the_curator.loss(0)?, Some("0".parse()?));
/// assert_eq!(for_the_curator.loss(1)?, Some("0.3".parse()?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// Those of [`launch`].
pub fn launch_individual<D, F>(
    filter: &IndividualFilter<D, F>,
    data: Arc<D>,
) -> Result<WithReadings<D, F>, Fault>
where
    D: Dataset + Send + Sync + ?Sized + 'static,
    F: ValidIndividually,
{
    let running = launch(filter, Arc::clone(&data))?;
    let (filter, units) = (filter.clone(), RecordUnits::new(filter.rule().clone()));
    let own = units.clone();
    let budget_of = move |index: usize| {
        let mut budget = [own.budget()];
        filter.write_budgets(&data, index, &own, &mut budget);
        let [budget] = budget;
        budget
    };
    let readings = Readings::new(running.clone(), units, Some(Arc::new(budget_of)));
    Ok((running, readings))
}
