//! Candidates that are scored by sums over the records, and what each record pays for a choice.

use std::ops::{Range, RangeInclusive};

use super::exponential::drawn;
use super::score::listed;
use super::{Choice, Evaluate, ExponentialMechanism, Score, Sensitivity};
use crate::account::ValidIndividually;
use crate::compose::{IndividualQuery, Payers, RecordUnits, Tariff};
use crate::data::{Attribute, Dataset};
use crate::machine::{Coins, Description, Fault};
use crate::mechanisms::individual::{priced, share};
use crate::mechanisms::limit::CANDIDATES;
use crate::mechanisms::{MechanismError, RowRelation, Unavailable, apart};
use crate::number::Epsilon;
use crate::privacy::facts::BoundedRange;
use crate::privacy::{AddRemove, Prices, UnknownLoss};

/// Candidates that are scored by the sum of an attribute, for each its own.
///
/// With the [`ExponentialMechanism`] it can be asked of an
/// [`IndividualFilter`](crate::compose::IndividualFilter): there a record whose numbers range over r,
/// from its lowest to its highest, pays for r alone, and one that scores all candidates alike pays
/// nothing.
///
/// ```
/// use queryables::compose::IndividualFilter;
/// use queryables::data::Attribute;
/// use queryables::mechanisms::{Choice, ExponentialMechanism, SumScores};
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let votes: Arc<Vec<[i64; 3]>> = Arc::new(vec![[0, 5, 1]; 1000]);
/// let points = |name, index| Attribute::new(name, move |vote: &[i64; 3]| vote[index]);
/// let candidates = SumScores::of([points("a", 0), points("b", 1), points("c", 2)], 0..=5)?;
/// let choice = Choice::by(AddRemove, ExponentialMechanism, candidates, epsilon!(0.5))?;
///
/// let filter = start(&Filter::concurrent(PureDp, epsilon!(1)), Arc::clone(&votes))?;
/// assert_eq!(filter.release(&choice)?, 1);
/// let filter = start(&IndividualFilter::new(PureDp, epsilon!(1)), votes)?;
/// assert_eq!(filter.release(&choice)?, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// What a record adds is clamped to the declared range of length Δ: two sums move apart by at most
/// Δ, where it is replaced by 2Δ.
///
/// In an individual filter: the odds are proportional to e^(η·sum) with η = ε/Δ. One more record
/// multiplies the weight of candidate j by e^(ηu_j), and all odds by one common factor: so the
/// logarithms of the odds' ratios lie within an interval of length η·r, whatever the other records
/// are. It is priced as a [`BoundedRange`] of that: ε·r/Δ under pure privacy; under other measures it
/// is priced for the next of 16 ranges between powers of two.
///
/// The range must contain zero. A record of which one number cannot be read adds nothing and pays
/// nothing. One that contributes what it can still pay for
/// ([`shrinking`](crate::compose::IndividualFilter::shrinking)) has its numbers cut from above.
///
/// Running time depends on the scores, and not only on what is released.
#[derive(Debug)]
pub struct SumScores<D: ?Sized> {
    candidates: Vec<Attribute<D, i64>>,
    range: (i64, i64),
    /// Δ.
    largest: u64,
}

/// How many numbers are read at a time.
const NUMBERS: usize = 4096;

/// With 2^32 records, sums fit in 63 bits.
const LONGEST: u64 = 1 << 31;

impl<D: ?Sized> SumScores<D> {
    /// A candidate for each attribute, of which the numbers are clamped to a range.
    ///
    /// # Errors
    ///
    /// [`MechanismError::TooMany`] if there are more than 2^21 candidates,
    /// [`MechanismError::BadRange`] if the range does not contain zero, contains nothing else, or is
    /// longer than 2^31.
    pub fn of(
        candidates: impl IntoIterator<Item = Attribute<D, i64>>,
        range: RangeInclusive<i64>,
    ) -> Result<Self, MechanismError> {
        let (low, high) = range.into_inner();
        let largest = high.abs_diff(low);
        if low > 0 || high < 0 || !(1..=LONGEST).contains(&largest) {
            let problem = "must contain zero and something else, and be at most 2^31 long";
            return Err(MechanismError::range(low..=high, problem));
        }
        Ok(Self {
            candidates: CANDIDATES.collect(candidates)?,
            range: (low, high),
            largest,
        })
    }
}

impl<D: Dataset + ?Sized> SumScores<D> {
    /// Adds what these records add. `paid` says of a range of numbers how much of it is added.
    fn add(
        &self,
        data: &D,
        records: Range<usize>,
        sums: &mut [i128],
        mut paid: impl FnMut(u64) -> u64,
    ) {
        let size = (NUMBERS / self.candidates.len().max(1)).clamp(1, records.len().max(1));
        let mut numbers = vec![0; size * self.candidates.len()];
        let mut readable = vec![true; size];
        let (low, high) = self.range;
        for start in records.clone().step_by(size) {
            let rows = start..records.end.min(start + size);
            let columns = numbers.chunks_exact_mut(size);
            readable.fill(true);
            for (candidate, column) in self.candidates.iter().zip(columns) {
                let column = column.get_mut(..rows.len()).unwrap_or_default();
                candidate.read_or(data, rows.clone(), column, |row| {
                    let of_row = readable.iter_mut().skip(row).take(1);
                    of_row.for_each(|readable| *readable = false);
                });
            }
            for (row, readable) in (0..rows.len()).zip(&readable) {
                let of_row = || {
                    let columns = numbers.chunks_exact(size);
                    let numbers = columns.filter_map(move |column| column.get(row));
                    numbers.map(|number| (*number).clamp(low, high))
                };
                let least = of_row().min().unwrap_or(0);
                let range = of_row().max().unwrap_or(0).abs_diff(least);
                let paid = paid(if *readable { range } else { 0 });
                if paid == 0 {
                    continue;
                }
                // What all candidates have in common changes nothing.
                for (sum, number) in sums.iter_mut().zip(of_row()) {
                    *sum += i128::from(number.abs_diff(least).min(paid));
                }
            }
        }
    }
}

impl<D: ?Sized, R: RowRelation> Score<R> for SumScores<D> {
    fn candidates(&self) -> usize {
        self.candidates.len()
    }

    fn sensitivity(&self) -> Sensitivity {
        let apart = u128::from(self.largest) * u128::from(apart::<R>());
        Sensitivity::moving_apart(apart)
    }

    fn description(&self) -> Description {
        let (low, high) = self.range;
        let names = self.candidates.iter().map(Attribute::name);
        Description::new("SumScores")
            .with("of", listed(names))
            .with("range", format_args!("{low}..={high}"))
    }
}

/// The sums, each less what all candidates have in common.
impl<D: Dataset + ?Sized> Evaluate<D> for SumScores<D> {
    fn evaluate(&self, data: &D, scores: &mut [i64]) -> Result<(), Unavailable> {
        let mut sums = vec![0; scores.len()];
        self.add(data, 0..data.len(), &mut sums, |range| range);
        for (score, sum) in scores.iter_mut().zip(sums) {
            *score = i64::try_from(sum).unwrap_or(i64::MAX);
        }
        Ok(())
    }
}

impl<D, F> IndividualQuery<D, F> for Choice<ExponentialMechanism, SumScores<D>, AddRemove>
where
    D: Dataset + ?Sized,
    F: ValidIndividually<Children: Prices<BoundedRange>>,
{
    type Noise = ();
    /// For each candidate.
    type Total = Vec<i128>;
    type Answer = usize;

    fn tariff(&self, units: &RecordUnits<F>) -> Result<Tariff, UnknownLoss> {
        let largest = self.score.largest;
        let loss_of = |size: u64| {
            let epsilon: Epsilon = share(self.epsilon, size, largest)?;
            units.rule().children().price(&BoundedRange { epsilon })
        };
        priced(units, largest, loss_of)
    }

    fn noise(&self, _: &mut Coins<'_>) -> Result<(), Fault> {
        Ok(())
    }

    fn nothing(&self) -> Vec<i128> {
        vec![0; self.score.candidates.len()]
    }

    fn take(&self, data: &D, records: Range<usize>, payers: &mut Payers<'_>) -> Vec<i128> {
        let mut total = vec![0; self.score.candidates.len()];
        self.score.add(data, records, &mut total, |range| {
            payers.charge_or(range, |allowed| allowed)
        });
        total
    }

    fn merge(&self, total: &mut Vec<i128>, chunk: Vec<i128>) {
        for (total, chunk) in total.iter_mut().zip(chunk) {
            *total += chunk;
        }
    }

    fn answer(&self, total: Vec<i128>, (): (), coins: &mut Coins<'_>) -> Result<usize, Fault> {
        let best = total.iter().copied().max().unwrap_or(0);
        let gaps = total.iter().map(|sum| u64::try_from(best - sum));
        let gaps = gaps.map(|gap| gap.unwrap_or(u64::MAX)).collect();
        drawn(gaps, self.sampler, coins)
    }

    fn describe(&self) -> Description {
        self.description()
    }
}
