//! The exponential mechanism, where each record pays for the range of its own scores.

use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use super::share;
use crate::account::ValidIndividually;
use crate::compose::{IndividualQuery, Payers, RecordUnits, Tariff};
use crate::data::{Attribute, Dataset};
use crate::machine::{Coins, Description, Fault};
use crate::mechanisms::limit::CANDIDATES;
use crate::mechanisms::score::listed;
use crate::mechanisms::{MechanismError, over, shown};
use crate::noise::ExponentialChoice;
use crate::number::{Epsilon, Ratio};
use crate::privacy::facts::BoundedRange;
use crate::privacy::{Prices, UnknownLoss};

/// The index of a candidate, with probability proportional to e^(η·Σ scores): the exponential
/// mechanism. A record whose scores range over r, from its lowest to its highest, pays η·r; one that
/// scores all candidates alike pays nothing.
///
/// ```
/// use queryables::compose::IndividualFilter;
/// use queryables::data::Attribute;
/// use queryables::mechanisms::individual::IndividualChoice;
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let votes: Arc<Vec<[i64; 3]>> = Arc::new(vec![[0, 5, 1]; 1000]);
/// let filter = start(&IndividualFilter::new(PureDp, "1".parse()?), votes)?;
/// let points = |name, index| Attribute::new(name, move |vote: &[i64; 3]| vote[index]);
/// let candidates = [points("a", 0), points("b", 1), points("c", 2)];
/// let choice = IndividualChoice::new(candidates, 0..=5, "0.5".parse()?)?;
/// assert_eq!(filter.release(&choice)?, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// η = ε/Δ, where Δ is the length of the declared range of scores. One more record multiplies the
/// weight of candidate j by e^(ηu_j), and all odds by one common factor: so the logarithms of the
/// odds' ratios lie within an interval of length η·r, whatever the other records are. It is priced
/// as a [`BoundedRange`] of that: ε·r/Δ under pure privacy; under other measures it is priced for the
/// next of 16 ranges between powers of two.
///
/// Scores are clamped to the declared range, which must contain zero. A record of which one score
/// cannot be read contributes nothing and pays nothing. A record that contributes what it can still pay for
/// ([`shrinking`](crate::compose::IndividualFilter::shrinking)) has its scores cut from above.
///
/// Its running time depends on the scores, and not only on what is released.
pub struct IndividualChoice<D: ?Sized> {
    candidates: Arc<[Attribute<D, i64>]>,
    range: (i64, i64),
    epsilon: Epsilon,
    /// Δ.
    largest: u64,
    /// η.
    rate: Ratio,
}

/// How many scores are read at a time.
const SCORES: usize = 4096;

/// With 2^32 records, sums of scores fit in 63 bits.
const LONGEST: u64 = 1 << 31;

impl<D: ?Sized> IndividualChoice<D> {
    /// Chooses among `candidates` by the sums of their scores, each clamped to `scores`.
    ///
    /// # Errors
    ///
    /// [`MechanismError::NoChoice`] if there are no candidates, [`MechanismError::TooMany`] if there are
    /// more than 2^21, [`MechanismError::BadRange`] if the range does not contain zero, contains nothing else, or is longer than 2^31, and
    /// [`MechanismError::NoLoss`] if ε is zero.
    pub fn new(
        candidates: impl IntoIterator<Item = Attribute<D, i64>>,
        scores: RangeInclusive<i64>,
        epsilon: Epsilon,
    ) -> Result<Self, MechanismError> {
        let candidates: Arc<[_]> = CANDIDATES.collect(candidates)?.into();
        if candidates.is_empty() {
            return Err(MechanismError::NoChoice);
        }
        let (low, high) = scores.into_inner();
        let largest = high.abs_diff(low);
        if low > 0 || high < 0 || !(1..=LONGEST).contains(&largest) {
            return Err(MechanismError::BadRange);
        }
        let scale = over(Ratio::from(largest), epsilon)?;
        Ok(Self {
            candidates,
            range: (low, high),
            epsilon,
            largest,
            rate: scale.inverse().ok_or(MechanismError::NoLoss("epsilon"))?,
        })
    }

    fn description(&self) -> Description {
        let (low, high) = self.range;
        Description::new("IndividualChoice")
            .with("candidates", listed(&self.candidates))
            .with("scores", format_args!("{low}..={high}"))
            .with("epsilon", self.epsilon)
    }
}

impl<D, F> IndividualQuery<D, F> for IndividualChoice<D>
where
    D: Dataset + ?Sized,
    F: ValidIndividually<Children: Prices<BoundedRange>>,
{
    type Noise = ();
    /// For each candidate.
    type Total = Vec<i128>;
    type Answer = usize;

    fn tariff(&self, units: &RecordUnits<F>) -> Result<Tariff, UnknownLoss> {
        let loss_of = |size: u64| {
            let epsilon = share(self.epsilon, size, self.largest)?;
            units.rule().children().price(&BoundedRange { epsilon })
        };
        if F::STEPS_ADD_UP {
            return units.proportional(&loss_of(self.largest)?, self.largest);
        }
        units.stepwise(self.largest, loss_of)
    }

    fn noise(&self, _: &mut Coins<'_>) -> Result<(), Fault> {
        Ok(())
    }

    fn nothing(&self) -> Vec<i128> {
        vec![0; self.candidates.len()]
    }

    fn take(&self, data: &D, records: Range<usize>, payers: &mut Payers<'_>) -> Vec<i128> {
        let mut total = vec![0; self.candidates.len()];
        let size = (SCORES / self.candidates.len()).clamp(1, records.len().max(1));
        let mut scores = vec![0; size * self.candidates.len()];
        let mut readable = vec![true; size];
        let (low, high) = self.range;
        for start in records.clone().step_by(size) {
            let rows = start..records.end.min(start + size);
            let columns = scores.chunks_exact_mut(size);
            readable.fill(true);
            for (candidate, column) in self.candidates.iter().zip(columns) {
                let column = column.get_mut(..rows.len()).unwrap_or_default();
                candidate.read_or(data, rows.clone(), column, |row| {
                    readable
                        .iter_mut()
                        .skip(row)
                        .take(1)
                        .for_each(|of| *of = false);
                });
            }
            for (row, readable) in (0..rows.len()).zip(&readable) {
                let of_row = || {
                    let columns = scores.chunks_exact(size);
                    let scores = columns.filter_map(move |column| column.get(row));
                    scores.map(|score| (*score).clamp(low, high))
                };
                let least = of_row().min().unwrap_or(0);
                let range = of_row().max().unwrap_or(0).abs_diff(least);
                let range = if *readable { range } else { 0 };
                let paid = payers.charge_or(range, |allowed| allowed);
                if paid == 0 {
                    continue;
                }
                // What all candidates have in common changes nothing.
                for (total, score) in total.iter_mut().zip(of_row()) {
                    *total += i128::from(score.abs_diff(least).min(paid));
                }
            }
        }
        total
    }

    fn merge(&self, total: &mut Vec<i128>, chunk: Vec<i128>) {
        for (total, chunk) in total.iter_mut().zip(chunk) {
            *total += chunk;
        }
    }

    fn answer(&self, total: Vec<i128>, (): (), coins: &mut Coins<'_>) -> Result<usize, Fault> {
        let best = total.iter().copied().max().unwrap_or(0);
        let gaps = total.iter().map(|score| u64::try_from(best - score));
        let gaps = gaps.map(|gap| gap.unwrap_or(u64::MAX)).collect();
        let law = ExponentialChoice::new(gaps, self.rate).map_err(|_| Fault::Failed)?;
        usize::try_from(coins.draw(&law)?).map_err(|_| Fault::Failed)
    }

    fn describe(&self) -> Description {
        self.description()
    }
}

shown!(impl[D: ?Sized] IndividualChoice<D>);

impl<D: ?Sized> Clone for IndividualChoice<D> {
    fn clone(&self) -> Self {
        Self {
            candidates: Arc::clone(&self.candidates),
            ..*self
        }
    }
}
