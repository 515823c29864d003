//! The number of records that satisfy a predicate, where only those who are counted pay.

use std::ops::Range;

use crate::account::ValidIndividually;
use crate::compose::{IndividualQuery, Payers, RecordUnits, Tariff};
use crate::data::{Dataset, Predicate};
use crate::machine::{Coins, Description, DrawnNoise, Fault, ReleasesOnly};
use crate::mechanisms::{MechanismError, fitted, over, shown};
use crate::noise::DiscreteLaplace;
use crate::number::{Epsilon, Ratio};
use crate::privacy::facts::Laplace;
use crate::privacy::{Prices, UnknownLoss};

/// The number of records that satisfy a predicate and can pay for being counted, plus discrete
/// Laplace noise of scale 1/ε. Those who are counted pay for it, and the others pay nothing.
///
/// ```
/// use queryables::compose::IndividualFilter;
/// use queryables::data::Predicate;
/// use queryables::mechanisms::individual::IndividualCount;
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let ages = Arc::new(vec![17, 18, 43, 70]);
/// let filter = launch(&IndividualFilter::new(PureDp, "1".parse()?), ages)?;
/// let adults = Predicate::new("at least 18", |age: &i32| *age >= 18);
/// let count: i64 = filter.release(&IndividualCount::new(adults, "0.5".parse()?)?)?;
/// assert!((count - 3).abs() < 200);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// One more record that is counted changes the count by one, whatever the others are: the loss is
/// that of [`Laplace`] noise on one answer that changes by one, ε under pure privacy. A record that
/// is not counted changes nothing. A record that cannot be read is not counted. An answer that an
/// `i64` cannot hold is fitted, which is postprocessing.
pub struct IndividualCount<D: ?Sized> {
    /// All records if there is none.
    predicate: Option<Predicate<D>>,
    /// Only those are counted who could pay this many times.
    times: u64,
    fact: Laplace,
    noise: DiscreteLaplace,
}

impl<D: ?Sized> IndividualCount<D> {
    /// Counts the records for which `predicate` holds.
    ///
    /// # Errors
    ///
    /// [`MechanismError::NoLoss`] if ε is zero.
    pub fn new(predicate: Predicate<D>, epsilon: Epsilon) -> Result<Self, MechanismError> {
        Self::with(Some(predicate), 1, epsilon)
    }

    /// Counts the active records: those who can pay for this count, and could pay for it this many
    /// `times` in all. Each of them pays for it once.
    ///
    /// What a record has left is a function of the record and of public answers, so this is an
    /// ordinary count: there is no way to learn how many are active without somebody paying.
    ///
    /// ```
    /// use queryables::compose::IndividualFilter;
    /// use queryables::mechanisms::individual::IndividualCount;
    /// use queryables::prelude::*;
    /// use std::sync::Arc;
    ///
    /// let filter = launch(&IndividualFilter::new(PureDp, "1".parse()?), Arc::new(vec![17, 18]))?;
    /// // Who has at least 0.5 left?
    /// let count: i64 = filter.release(&IndividualCount::of_active(50, "0.01".parse()?)?)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`MechanismError::NoLoss`] if ε is zero.
    pub fn of_active(times: u64, epsilon: Epsilon) -> Result<Self, MechanismError> {
        Self::with(None, times, epsilon)
    }

    fn with(
        predicate: Option<Predicate<D>>,
        times: u64,
        epsilon: Epsilon,
    ) -> Result<Self, MechanismError> {
        Ok(Self {
            predicate,
            times,
            fact: Laplace::of_count(epsilon),
            noise: DiscreteLaplace::new(over(Ratio::from(1), epsilon)?)?,
        })
    }

    fn description(&self) -> Description {
        let description = Description::new("IndividualCount");
        let description = match &self.predicate {
            Some(predicate) => description.with("predicate", predicate.name()),
            None => description.with("active", self.times),
        };
        description.with("epsilon", self.fact.epsilon)
    }
}

impl<D, F> IndividualQuery<D, F> for IndividualCount<D>
where
    D: Dataset + ?Sized,
    F: ValidIndividually<Children: Prices<Laplace>>,
{
    type Noise = DrawnNoise;
    type Total = u64;
    type Answer = i64;

    fn tariff(&self, units: &RecordUnits<F>) -> Result<Tariff, UnknownLoss> {
        units.flat(&units.rule().children().price(&self.fact)?)
    }

    fn noise(&self, coins: &mut Coins<'_>) -> Result<DrawnNoise, Fault> {
        Ok(coins.noise(&self.noise)?)
    }

    fn nothing(&self) -> u64 {
        0
    }

    fn take(&self, data: &D, records: Range<usize>, payers: &mut Payers<'_>) -> u64 {
        let Some(predicate) = &self.predicate else {
            let records = records.map(|_| payers.charge_if_left(1, self.times));
            return records.sum();
        };
        let mut counted = vec![false; records.len()];
        predicate.read(data, records, &mut counted);
        let sizes = counted.into_iter().map(u64::from);
        sizes.map(|size| payers.charge(size)).sum()
    }

    fn merge(&self, total: &mut u64, chunk: u64) {
        *total += chunk;
    }

    fn answer(&self, total: u64, noise: DrawnNoise, coins: &mut Coins<'_>) -> Result<i64, Fault> {
        Ok(fitted(coins.release(total.into(), noise)))
    }

    fn describe(&self) -> Description {
        self.description()
    }
}

impl<D: ?Sized> ReleasesOnly for IndividualCount<D> {}

shown!(impl[D: ?Sized] IndividualCount<D>);

impl<D: ?Sized> Clone for IndividualCount<D> {
    fn clone(&self) -> Self {
        Self {
            predicate: self.predicate.clone(),
            ..*self
        }
    }
}
