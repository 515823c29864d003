//! The sum of a bounded attribute, where each record pays for its own number.

use std::num::NonZeroU64;
use std::ops::{Range, RangeInclusive};

use super::share;
use crate::account::ValidIndividually;
use crate::compose::{IndividualQuery, Payers, RecordUnits, Tariff};
use crate::data::{Attribute, Dataset};
use crate::machine::{Coins, Description, DrawnNoise, Fault, ReleasesOnly};
use crate::mechanisms::{MechanismError, fitted, over, shown};
use crate::noise::DiscreteLaplace;
use crate::number::{Epsilon, Ratio};
use crate::privacy::facts::Laplace;
use crate::privacy::{Prices, UnknownLoss};

/// The sum of an attribute that is fitted to a range, plus discrete Laplace noise of scale Δ/ε,
/// where Δ is the largest number of the range, up or down. A record with the number v pays
/// ε·|v|/Δ.
///
/// ```
/// use queryables::compose::IndividualFilter;
/// use queryables::data::Attribute;
/// use queryables::mechanisms::individual::IndividualSum;
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let hours: Arc<Vec<i64>> = Arc::new(vec![40, 13, 0, 90]);
/// let filter = launch(&IndividualFilter::new(PureDp, "1".parse()?), hours)?;
/// let hours = Attribute::new("hours per week", |hours: &i64| *hours);
/// let total: i64 = filter.release(&IndividualSum::new(hours, 0..=60, "0.5".parse()?)?)?;
/// assert!((total - 113).abs() < 12_000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// One more number v changes the sum by |v|, whatever the others are: the loss is that of
/// [`Laplace`] noise on an answer that changes by that. It is ε·|v|/Δ under pure privacy; under
/// other measures it is priced for the next of 16 numbers between powers of two.
///
/// Whoever cannot pay contributes zero, so the range must contain it. A record that cannot be read
/// contributes zero and pays zero. An answer that an `i64` cannot hold is fitted, which is
/// postprocessing.
pub struct IndividualSum<D: ?Sized> {
    attribute: Attribute<D, i64>,
    range: (i64, i64),
    epsilon: Epsilon,
    /// Δ.
    largest: NonZeroU64,
    noise: DiscreteLaplace,
}

impl<D: ?Sized> IndividualSum<D> {
    /// Sums `attribute`, fitted to `range`.
    ///
    /// # Errors
    ///
    /// [`MechanismError::BadRange`] if the range does not contain zero or contains nothing else,
    /// [`MechanismError::NoLoss`] if ε is zero, [`MechanismError::TooFine`] if Δ/ε, in lowest terms,
    /// needs more than 128 bits, and [`MechanismError::Noise`] if it is more than 2^100.
    pub fn new(
        attribute: Attribute<D, i64>,
        range: RangeInclusive<i64>,
        epsilon: Epsilon,
    ) -> Result<Self, MechanismError> {
        let (low, high) = range.into_inner();
        let largest = NonZeroU64::new(low.unsigned_abs().max(high.unsigned_abs()));
        let largest = largest.filter(|_| low <= 0 && high >= 0);
        let largest = largest.ok_or(MechanismError::BadRange)?;
        Ok(Self {
            attribute,
            range: (low, high),
            epsilon,
            largest,
            noise: DiscreteLaplace::new(over(Ratio::from(largest.get()), epsilon)?)?,
        })
    }

    fn description(&self) -> Description {
        let (low, high) = self.range;
        Description::new("IndividualSum")
            .with("attribute", self.attribute.name())
            .with("range", format_args!("{low}..={high}"))
            .with("epsilon", self.epsilon)
    }
}

impl<D, F> IndividualQuery<D, F> for IndividualSum<D>
where
    D: Dataset + ?Sized,
    F: ValidIndividually<Children: Prices<Laplace>>,
{
    type Noise = DrawnNoise;
    type Total = i128;
    type Answer = i64;

    fn tariff(&self, units: &RecordUnits<F>) -> Result<Tariff, UnknownLoss> {
        let loss_of = |size: u64| {
            let steps = NonZeroU64::new(size).unwrap_or(NonZeroU64::MIN);
            // A larger ε for the same steps says less than what is true.
            let epsilon = share(self.epsilon, size, self.largest.get())?;
            let fact = Laplace {
                epsilon,
                steps,
                answers: NonZeroU64::MIN,
            };
            units.rule().children().price(&fact)
        };
        let largest = self.largest.get();
        if F::STEPS_ADD_UP {
            return units.proportional(&loss_of(largest)?, largest);
        }
        units.stepwise(largest, loss_of)
    }

    fn noise(&self, coins: &mut Coins<'_>) -> Result<DrawnNoise, Fault> {
        Ok(coins.noise(&self.noise)?)
    }

    fn nothing(&self) -> i128 {
        0
    }

    fn take(&self, data: &D, records: Range<usize>, payers: &mut Payers<'_>) -> i128 {
        let mut numbers = vec![0; records.len()];
        self.attribute.read(data, records, &mut numbers);
        let (low, high) = self.range;
        let paid = numbers.into_iter().map(|number| {
            let number = number.clamp(low, high);
            let size = payers.charge_or(number.unsigned_abs(), |allowed| allowed);
            i128::from(number.signum()) * i128::from(size)
        });
        paid.sum()
    }

    fn merge(&self, total: &mut i128, chunk: i128) {
        *total += chunk;
    }

    fn answer(&self, total: i128, noise: DrawnNoise, coins: &mut Coins<'_>) -> Result<i64, Fault> {
        Ok(fitted(coins.release(total, noise)))
    }

    fn describe(&self) -> Description {
        self.description()
    }
}

impl<D: ?Sized> ReleasesOnly for IndividualSum<D> {}

shown!(impl[D: ?Sized] IndividualSum<D>);

impl<D: ?Sized> Clone for IndividualSum<D> {
    fn clone(&self) -> Self {
        Self {
            attribute: self.attribute.clone(),
            ..*self
        }
    }
}
