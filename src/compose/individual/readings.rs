//! What the curator can read from accounts.

use std::sync::Arc;

use super::{IndividualMachine, RecordAmount, RecordUnits, RunningIndividualFilter};
use crate::account::{ChildLoss, ValidIndividually};
use crate::data::Dataset;
use crate::machine::{Fault, Mechanism};
use crate::queryable::{AskError, start};

/// What single records have spent. The curator holds it, and the analyst does not.
///
/// A reading depends on the record and on public answers, and on no other record: so it can be
/// shown to the person whose record it is, and to nobody else (Feldman and Zrnic §5.2). It reads
/// between queries, and changes nothing.
///
/// [`start_individual`] and [`IndividualOdometer`](super::IndividualOdometer) return it. Of a filter
/// that was launched inside another one, and of any other, [`Readings::of`] makes it for those who
/// have the data.
pub struct Readings<D: ?Sized, F> {
    running: RunningIndividualFilter<D, F>,
    units: RecordUnits<F>,
}

impl<D, F> Readings<D, F>
where
    D: Dataset + Send + Sync + ?Sized + 'static,
    F: ValidIndividually,
{
    /// The readings of a running filter or odometer, for those who have the very data that it was
    /// started on: the same `Arc`, and not an equal one. Whoever has it could compute them from the
    /// queries that were asked.
    ///
    /// ```
    /// use queryables::compose::{IndividualFilter, Readings};
    /// use queryables::data::Predicate;
    /// use queryables::machine::Fault;
    /// use queryables::mechanisms::Count;
    /// use queryables::prelude::*;
    /// use std::sync::Arc;
    ///
    /// // The curator has the data, and the analyst has a filter.
    /// let ages = Arc::new(vec![17_u32, 70]);
    /// let for_the_analyst = start(&Filter::concurrent(PureDp, "2".parse()?), Arc::clone(&ages))?;
    /// // Inside of it, the analyst launches an individual one.
    /// let individual = for_the_analyst.launch(&IndividualFilter::new(PureDp, "1".parse()?))?;
    /// let adults = Predicate::new("at least 18", |age: &u32| *age >= 18);
    /// individual.release(&Count::of(adults).laplace(epsilon!(0.3))?)?;
    ///
    /// let for_the_curator = Readings::of(&individual, &ages)?;
    /// assert_eq!(for_the_curator.loss(1)?, Some("0.3".parse()?));
    /// // Equal data are not these data.
    /// let other = Readings::of(&individual, &Arc::new(vec![17, 70]));
    /// let message = "it was not started on these data";
    /// assert_eq!(other.err(), Some(AskError::Fault(Fault::InvalidQuery(message))));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Fault::InvalidQuery`] in [`AskError::Fault`] if it runs on other data, or if the data have a
    /// size of zero: empty slices may share one allocation, and whether there is data is private. Any
    /// other [`AskError`] if it was stopped or has failed.
    pub fn of(running: &RunningIndividualFilter<D, F>, data: &Arc<D>) -> Result<Self, AskError> {
        let data = Arc::clone(data);
        let foreign = Fault::InvalidQuery("it was not started on these data");
        running.run(move |machine, _| machine.is_on(&data).then_some(()).ok_or(foreign))?;
        Self::of_any(running)
    }

    /// For whoever has just started it.
    fn of_any(running: &RunningIndividualFilter<D, F>) -> Result<Self, AskError> {
        Ok(Self {
            units: running.run(|machine, _| Ok(machine.units().clone()))?,
            running: running.clone(),
        })
    }

    /// What the record with this index has spent, in units; `None` if there is no such record.
    ///
    /// # Errors
    ///
    /// [`AskError`] if the filter was stopped or has failed.
    pub fn spent(&self, index: usize) -> Result<Option<RecordAmount>, AskError> {
        let records = index..index.saturating_add(1);
        let spent = self
            .running
            .run(move |machine, _| Ok(machine.spent(records)))?;
        Ok(spent.first().copied())
    }

    /// What all records have spent, in their order, in units.
    ///
    /// # Errors
    ///
    /// [`AskError`] if the filter was stopped or has failed.
    pub fn all(&self) -> Result<Vec<RecordAmount>, AskError> {
        self.running
            .run(|machine, _| Ok(machine.spent(0..usize::MAX)))
    }

    /// The units, and what they are worth.
    #[must_use]
    pub fn units(&self) -> &RecordUnits<F> {
        &self.units
    }

    /// What the record with this index has spent, as a loss, rounded up; `None` if there is no such
    /// record, or if the rule's numbers are not losses (those of a price list, for instance). Its δ
    /// is known there, too ([`RecordUnits::delta`]).
    ///
    /// # Errors
    ///
    /// [`AskError`] if the filter was stopped or has failed.
    pub fn loss(&self, index: usize) -> Result<Option<ChildLoss<F>>, AskError> {
        let spent = self.spent(index)?;
        Ok(spent.and_then(|amount| self.units.loss(amount)))
    }
}

// Shows nothing of the contents.
crate::debug_fields!([D: ?Sized, F] Readings<D, F>, "Readings");

type WithReadings<D, F> = (RunningIndividualFilter<D, F>, Readings<D, F>);

/// Starts an [`IndividualFilter`](super::IndividualFilter) or an
/// [`IndividualOdometer`](super::IndividualOdometer) as [`start`](crate::start) does: a handle for the
/// analyst, and readings for the curator.
///
/// ```
/// use queryables::compose::{IndividualFilter, start_individual};
/// use queryables::data::Predicate;
/// use queryables::mechanisms::Count;
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let ages = Arc::new(vec![17_u32, 70]);
/// let filter = IndividualFilter::new(PureDp, "1".parse()?);
/// let (for_the_analyst, for_the_curator) = start_individual(&filter, ages)?;
/// let adults = Predicate::new("at least 18", |age: &u32| *age >= 18);
/// for_the_analyst.release(&Count::of(adults).laplace(epsilon!(0.3))?)?;
/// assert_eq!(for_the_curator.loss(0)?, Some("0".parse()?));
/// assert_eq!(for_the_curator.loss(1)?, Some("0.3".parse()?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// Those of [`start`](crate::start).
pub fn start_individual<D, F, M>(filter: &M, data: Arc<D>) -> Result<WithReadings<D, F>, Fault>
where
    D: Dataset + Send + Sync + ?Sized + 'static,
    F: ValidIndividually,
    M: Mechanism<D, Machine = IndividualMachine<D, F>>,
{
    let running = start(filter, data)?;
    let readings = Readings::of_any(&running).map_err(|_| Fault::Failed)?;
    Ok((running, readings))
}
