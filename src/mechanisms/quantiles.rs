//! Medians and other quantiles.

use std::marker::PhantomData;
use std::num::NonZeroU64;
use std::ops::RangeInclusive;
use std::sync::Arc;

use super::limit::QUANTILES;
use super::{MechanismError, RowRelation, Sensitivity, apart, shown, states};
use crate::data::{Attribute, Dataset};
use crate::machine::{Coins, Description, Fault, Mechanism, Released};
use crate::noise::PiecewiseChoice;
use crate::number::{Epsilon, Ratio};
use crate::privacy::facts::BoundedRanges;
use crate::privacy::{AddRemove, Relation};

/// One or several quantiles of a whole-number attribute: the exponential mechanism over a public
/// range, once for each.
///
/// Use it for medians and percentiles, where a few large values would spoil a mean. The range must be
/// publicly known, but may be wide: noise grows with its logarithm only. Multiply real numbers, or
/// round them, first.
///
/// ```
/// use queryables::data::Attribute;
/// use queryables::mechanisms::NoisyQuantiles;
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let incomes: Arc<Vec<i64>> = Arc::new((1..10_001).map(|person| 7 * person).collect());
/// let filter = start(&Filter::concurrent(PureDp, "1".parse()?), incomes)?;
///
/// let income = Attribute::new("income", |income: &i64| *income);
/// let quartiles = [(1, 4), (1, 2), (3, 4)];
/// let quartiles =
///     NoisyQuantiles::new(AddRemove, income, 0..=1_000_000, quartiles, "0.5".parse()?)?;
/// let found: Vec<i64> = filter.release(&quartiles)?;
/// for (found, expected) in found.into_iter().zip([17_500, 35_000, 52_500]) {
///     assert!((found - expected).abs() < 3_500, "{found}");
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// ε-DP for neighbours under `R`: it states [`BoundedRanges`], one of length ε/m for each of m
/// quantiles (Smith 2011, Algorithm 2, for one of them). Numbers are chosen with odds that fall with
/// their *rank error*. For the quantile a/b, n rows, of which L are below a number and G above it, the
/// number is right if a·n/b is between L and n − G; otherwise the error, in units of 1/b, is how far
/// it is outside: max(0, b·L − a·n, a·n − b·(n − G)).
///
/// *Proof* of its sensitivity. A row that is added changes b·L − a·n by b − a or −a, and a·n − b·(n −
/// G) by a − b or a; a row that is replaced changes either by b at most. The maximum changes by no more
/// than what it is taken of. So no error changes by more than max(a, b − a), or b where a row is
/// replaced, and two move apart by at most twice as much. The odds of each quantile are proportional to
/// e^(−ε/m·error/that). ∎
///
/// With N numbers in the range, some answer has a rank error of more than
/// 2m/ε·max(a/b, 1 − a/b)·(ln N + t) rows, with a/b the quantile for which this is largest, with
/// probability at most m·e^(−t); where rows are replaced, of more than 2m/ε·(ln N + t). Some number in
/// the range has no error, and the others that are so far off have at most e^(−t)/N of its odds each.
/// The m is for sorting, which may put what was drawn for one quantile in the place of another. Which
/// is how far in *rank* an answer is off; how far that is in the attribute depends on how dense the
/// rows are there.
///
/// The odds are exact. A value outside the range counts as the end next to it; a
/// row that cannot be read, as zero or the end next to that. Answers come in the order of the
/// quantiles, sorted, which is postprocessing. Running time depends on the data.
///
/// # Without a range
///
/// Where no range is known, look for one with [`AboveThreshold`](super::AboveThreshold): a search
/// over powers of two costs one hit. It finds a quantile, too, up to a factor of two, and within it
/// another search or this mechanism finds it more precisely.
///
/// ```
/// use queryables::data::Predicate;
/// use queryables::mechanisms::AboveThreshold;
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let incomes: Arc<Vec<i64>> = Arc::new((1..10_001).map(|person| 7 * person).collect());
/// let filter = start(&Filter::concurrent(PureDp, "1".parse()?), incomes)?;
///
/// // Of about 10 000 people, which power of two are 95 percent below?
/// let search = filter.launch(&AboveThreshold::new(AddRemove, 9_500, 1, "0.5".parse()?)?)?;
/// let below = |limit: i64| Predicate::new(format!("below {limit}"), move |x: &i64| *x < limit);
/// let mut limit = 1;
/// while limit < 1 << 40 && !search.ask(below(limit))? {
///     limit *= 2;
/// }
/// assert_eq!(limit, 1 << 17);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct NoisyQuantiles<D: ?Sized, R = AddRemove> {
    attribute: Attribute<D, i64>,
    pub(super) range: RangeInclusive<i64>,
    pub(super) quantiles: Arc<[Quantile]>,
    fact: BoundedRanges,
    relation: PhantomData<fn() -> R>,
}

/// The quantile a/b, and by how much odds fall with its error.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quantile {
    part: u32,
    pub(super) whole: u32,
    pub(super) rate: Ratio,
}

impl<D: ?Sized, R: RowRelation> NoisyQuantiles<D, R> {
    /// Quantiles a/b of the attribute, within a range. They must be rising.
    ///
    /// # Errors
    ///
    /// [`MechanismError::NoChoice`] if there are none, [`MechanismError::TooMany`] if there are more than
    /// 2^18, [`MechanismError::BadQuantile`] if one is not
    /// between 0 and 1 or not larger than the one before, [`MechanismError::BadRange`] if the range is
    /// empty, [`MechanismError::NoLoss`] if ε is zero, [`MechanismError::TooFine`] if the odds need
    /// longer numbers than they are drawn with.
    pub fn new(
        _relation: R,
        attribute: Attribute<D, i64>,
        range: RangeInclusive<i64>,
        quantiles: impl IntoIterator<Item = (u32, u32)>,
        epsilon: Epsilon,
    ) -> Result<Self, MechanismError> {
        let quantiles = QUANTILES.collect(quantiles)?;
        let choices = NonZeroU64::new(quantiles.len() as u64).ok_or(MechanismError::NoChoice)?;
        if range.is_empty() {
            return Err(MechanismError::BadRange);
        }
        let (mut last, mut rising) = ((0, 1), Vec::new());
        for (part, whole) in quantiles {
            // a/b > c/d, without the quotients.
            let cross = |(a, b): (u32, u32), (c, d): (u32, u32)| {
                u64::from(a) * u64::from(d) > u64::from(c) * u64::from(b)
            };
            if part >= whole || !cross((part, whole), last) {
                return Err(MechanismError::BadQuantile);
            }
            last = (part, whole);
            let change = match apart::<R>() {
                1 => part.max(whole - part),
                _ => whole,
            };
            let rate = Sensitivity::each(change.into()).rate(epsilon, choices.get())?;
            if rate.denominator().get() > 1 << 124 {
                return Err(MechanismError::TooFine);
            }
            rising.push(Quantile { part, whole, rate });
        }
        Ok(Self {
            attribute,
            range,
            quantiles: rising.into(),
            fact: BoundedRanges { epsilon, choices },
            relation: PhantomData,
        })
    }
}

impl<D: Dataset + ?Sized, R: Relation> NoisyQuantiles<D, R> {
    /// The values of all rows, counted from the start of the range, in order.
    fn sorted(&self, data: &D) -> Vec<u64> {
        let (low, high) = (*self.range.start(), *self.range.end());
        let mut read = vec![0; data.len()];
        self.attribute.read(data, 0..data.len(), &mut read);
        let offsets = read
            .iter()
            .map(|value| value.clamp(&low, &high).abs_diff(low));
        let mut values: Vec<u64> = offsets.collect();
        values.sort_unstable();
        values
    }
}

impl Quantile {
    /// The law of the answer, counted from the start of the range; the last number is `last`.
    fn law(&self, sorted: &[u64], last: u64) -> Option<PiecewiseChoice> {
        let (part, whole) = (i128::from(self.part), i128::from(self.whole));
        let rows = sorted.len() as i128;
        // In units of 1/b. Cut at the end of a `u64`, it changes by no more than before.
        let error = |below: usize, above: usize| {
            let over = whole * below as i128 - part * rows;
            let under = part * rows - whole * (rows - above as i128);
            u64::try_from(over.max(under).max(0)).unwrap_or(u64::MAX)
        };
        let mut runs = Vec::new();
        let (mut next, mut below) = (0_u128, 0);
        for equal in sorted.chunk_by(|one, other| one == other) {
            let value = u128::from(*equal.first()?);
            runs.push((value - next, error(below, sorted.len() - below)));
            let above = sorted.len() - below - equal.len();
            runs.push((1, error(below, above)));
            (next, below) = (value + 1, below + equal.len());
        }
        runs.push((u128::from(last) + 1 - next, error(below, 0)));
        PiecewiseChoice::new(runs, self.rate).ok()
    }
}

impl<D: Dataset + ?Sized, R: Relation> Mechanism<D> for NoisyQuantiles<D, R> {
    type Machine = Released<Vec<i64>>;

    fn start(&self, data: &Arc<D>, coins: &mut Coins<'_>) -> Result<Released<Vec<i64>>, Fault> {
        let sorted = self.sorted(data);
        let (low, high) = (*self.range.start(), *self.range.end());
        let mut found = Vec::new();
        for quantile in &*self.quantiles {
            let law = quantile.law(&sorted, high.abs_diff(low));
            let offset = coins.draw(&law.ok_or(Fault::Failed)?)?;
            let value = i64::try_from(i128::from(low) + offset);
            found.push(value.map_err(|_| Fault::Failed)?);
        }
        found.sort_unstable();
        Ok(Released(found))
    }

    fn describe(&self) -> Description {
        self.description()
    }
}

impl<D: ?Sized, R: Relation> NoisyQuantiles<D, R> {
    fn description(&self) -> Description {
        let quantiles = self.quantiles.iter();
        let quantiles: Vec<String> = quantiles
            .map(|quantile| format!("{}/{}", quantile.part, quantile.whole))
            .collect();
        Description::new("NoisyQuantiles")
            .with("relation", R::NAME)
            .with("attribute", self.attribute.name())
            .with("range", format_args!("{:?}", self.range))
            .with("quantiles", format_args!("[{}]", quantiles.join(", ")))
            .with("epsilon", self.fact.epsilon)
    }
}

states!(
    BoundedRanges: impl[D: ?Sized, R: RowRelation,] NoisyQuantiles<D, R>, R,
    |quantiles| quantiles.fact
);
shown!(impl[D: ?Sized, R: Relation] NoisyQuantiles<D, R>);

impl<D: ?Sized, R> Clone for NoisyQuantiles<D, R> {
    fn clone(&self) -> Self {
        Self {
            attribute: self.attribute.clone(),
            range: self.range.clone(),
            quantiles: Arc::clone(&self.quantiles),
            ..*self
        }
    }
}

#[cfg(test)]
mod tests;
