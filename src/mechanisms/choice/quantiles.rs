//! Medians and other quantiles.

use std::marker::PhantomData;
use std::num::NonZeroU64;
use std::ops::RangeInclusive;
use std::sync::Arc;

use super::Sensitivity;
use super::accuracy::exponential;
use crate::data::Attribute;
use crate::machine::{
    Coins, Description, DomainMismatch, Fault, Mechanism, Public, Released, public,
};
use crate::mechanisms::least_loss::{least, least_loss};
use crate::mechanisms::limit::QUANTILES;
use crate::mechanisms::{
    About, Accuracy, CountsBy, MechanismError, RowRelation, Source, Unavailable, apart, shown,
    states,
};
use crate::noise::PiecewiseChoice;
use crate::number::{Confidence, Epsilon, Ratio};
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
/// let filter = start(&Filter::concurrent(PureDp, epsilon!(1)), incomes)?;
///
/// let income = Attribute::new("income", |income: &i64| *income);
/// let quartiles = [(1, 4), (1, 2), (3, 4)];
/// let quartiles =
///     NoisyQuantiles::new(AddRemove, income, 0..=1_000_000, quartiles, epsilon!(0.5))?;
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
/// Where no range is known, look for one with [`AboveThreshold`](crate::mechanisms::AboveThreshold): a search
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
/// let filter = start(&Filter::concurrent(PureDp, epsilon!(1)), incomes)?;
///
/// // Of about 10 000 people, which power of two are 95 percent below?
/// let search = filter.launch(&AboveThreshold::new(AddRemove, 9_500, 1, epsilon!(0.5))?)?;
/// let below = |limit: i64| Predicate::new(format!("below {limit}"), move |x: &i64| *x < limit);
/// let mut limit = 1;
/// while limit < 1 << 40 && !search.ask(below(limit))? {
///     limit *= 2;
/// }
/// assert_eq!(limit, 1 << 17);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(alias = "median")]
#[doc(alias = "percentile")]
#[doc(alias = "quartile")]
pub struct NoisyQuantiles<A, R = AddRemove> {
    values: A,
    range: RangeInclusive<i64>,
    /// Each as a part of a whole.
    quantiles: Arc<[(u32, u32)]>,
    epsilon: Epsilon,
    /// By how much odds fall with the error of each quantile.
    rates: Arc<[Ratio]>,
    relation: PhantomData<fn() -> R>,
}

/// Values that have quantiles: what the numbers of the range mean.
///
/// Example: [`NoisyQuantiles`](crate::mechanisms::NoisyQuantiles).
pub trait Ranked: Source {
    /// What is answered.
    type Value;

    /// The value with this number.
    fn value(&self, number: i64) -> Self::Value;
}

impl<D: ?Sized> Ranked for Attribute<D, i64> {
    type Value = i64;

    fn value(&self, number: i64) -> i64 {
        number
    }
}

impl<A: Ranked, R: RowRelation> NoisyQuantiles<A, R> {
    /// Quantiles a/b of the attribute, within a range. They must be rising.
    ///
    /// # Errors
    ///
    /// [`MechanismError::TooFew`] if there are none, [`MechanismError::TooMany`] if there are more than
    /// 2^18, [`MechanismError::BadParameter`] if one is not
    /// between 0 and 1 or not larger than the one before, [`MechanismError::BadRange`] if the range is
    /// empty, [`MechanismError::NoLoss`] if ε is zero, [`MechanismError::TooFine`] if the odds need
    /// longer numbers than they are drawn with.
    pub fn new(
        _relation: R,
        values: A,
        range: RangeInclusive<i64>,
        quantiles: impl IntoIterator<Item = (u32, u32)>,
        epsilon: Epsilon,
    ) -> Result<Self, MechanismError> {
        let quantiles = QUANTILES.collect(quantiles)?.into();
        Self::of(values, range, quantiles, epsilon)
    }

    /// The same with the smallest ε for which the rank of no answer is off by more than `within` rows,
    /// with at least this confidence ([`Accuracy`](crate::mechanisms::Accuracy)). It is rounded up to six
    /// digits.
    ///
    /// ```
    /// use queryables::data::Attribute;
    /// use queryables::mechanisms::{Accuracy, NoisyQuantiles};
    /// use queryables::prelude::*;
    ///
    /// let age = Attribute::<Vec<i64>, i64>::new("age", |age: &i64| *age);
    /// // The median of 10 000 people, and at most one in a hundred on its wrong side.
    /// let median = [(1, 2)];
    /// let median =
    ///     NoisyQuantiles::with_accuracy(AddRemove, age, 0..=120, median, 100, confidence!(0.95))?;
    /// let loss: Epsilon = median.loss(&PureDp)?;
    /// assert_eq!(loss.to_string(), "0.0769347");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`MechanismError::TooAccurate`] if no ε up to 10^6 suffices, and those of [`new`](Self::new).
    pub fn with_accuracy(
        _relation: R,
        values: A,
        range: RangeInclusive<i64>,
        quantiles: impl IntoIterator<Item = (u32, u32)>,
        within: u128,
        confidence: Confidence,
    ) -> Result<Self, MechanismError> {
        let quantiles: Arc<[_]> = QUANTILES.collect(quantiles)?.into();
        let make = |epsilon| Self::of(values.clone(), range.clone(), quantiles.clone(), epsilon);
        least_loss(make, |made: &Self| {
            // No rank is off by more than a `u64`.
            u64::try_from(within).map_or(true, |rows| made.is_within(rows, confidence))
        })
    }

    fn of(
        values: A,
        range: RangeInclusive<i64>,
        quantiles: Arc<[(u32, u32)]>,
        epsilon: Epsilon,
    ) -> Result<Self, MechanismError> {
        if quantiles.is_empty() {
            return Err(MechanismError::none("quantiles"));
        }
        if range.is_empty() {
            return Err(MechanismError::empty(range).of_attribute(&values.name()));
        }
        let mut last = (0, 1);
        for (part, whole) in &*quantiles {
            // a/b > c/d, without the quotients.
            let rises = u64::from(*part) * last.1 > last.0 * u64::from(*whole);
            if part >= whole || !rises {
                let must = "between 0 and 1, and larger than the one before";
                let value = format_args!("{part}/{whole}");
                return Err(MechanismError::parameter("a quantile", value, must));
            }
            last = (u64::from(*part), u64::from(*whole));
        }
        let rates = quantiles.iter().map(|(part, whole)| {
            let change = match apart::<R>() {
                1 => *part.max(&(whole - part)),
                _ => *whole,
            };
            let rate = Sensitivity::each(change.into()).rate(epsilon, quantiles.len() as u64)?;
            if rate.denominator().get() > 1 << 124 {
                return Err(MechanismError::TooFine);
            }
            Ok(rate)
        });
        Ok(Self {
            rates: rates.collect::<Result<_, _>>()?,
            values,
            range,
            quantiles,
            epsilon,
            relation: PhantomData,
        })
    }
}

impl<A, R> NoisyQuantiles<A, R> {
    /// How many rows have each value, counted from the start of the range, in order. A value outside counts
    /// as the end next to it.
    fn counts<D: ?Sized>(&self, data: &D) -> Result<Vec<(u64, u64)>, Unavailable>
    where
        A: CountsBy<D, i64>,
    {
        let (low, high) = (*self.range.start(), *self.range.end());
        let mut clamped: Vec<(u64, u64)> = Vec::new();
        for (value, count) in self.values.counts(data)? {
            let offset = value.clamp(low, high).abs_diff(low);
            match clamped.last_mut() {
                Some((last, counted)) if *last == offset => *counted += count,
                _ => clamped.push((offset, count)),
            }
        }
        Ok(clamped)
    }

    /// How many numbers the range has beside the first.
    fn others(&self) -> u64 {
        self.range.end().abs_diff(*self.range.start())
    }

    /// For one quantile it is the exact worst case over all data. Several are sorted, and so an answer
    /// may be off because another draw was: if none of the m draws is off by more than this, no answer
    /// is, as the numbers that are near enough to a quantile rise with it. So each draw may fail with a
    /// part of what is left.
    fn is_within(&self, rows: u64, confidence: Confidence) -> bool {
        let each = confidence.for_each_of(self.quantiles.len() as u64);
        each.is_some_and(|each| {
            let mut all = self.quantiles.iter().zip(&*self.rates);
            all.all(|((_, whole), rate)| {
                let error = rows.saturating_mul((*whole).into());
                exponential(self.others().into(), *rate, error, each)
            })
        })
    }

    fn fact(&self) -> BoundedRanges {
        let choices = NonZeroU64::new(self.quantiles.len() as u64);
        BoundedRanges {
            epsilon: self.epsilon,
            choices: choices.unwrap_or(NonZeroU64::MIN),
        }
    }
}

impl<A: Source, R: Relation> NoisyQuantiles<A, R> {
    fn description(&self) -> Description {
        let quantiles = self.quantiles.iter();
        let quantiles: Vec<String> = quantiles
            .map(|(part, whole)| format!("{part}/{whole}"))
            .collect();
        let named = Description::new("NoisyQuantiles").with("relation", R::NAME);
        let described = self.values.describe("attribute", named);
        described
            .with("range", format_args!("{:?}", self.range))
            .with("quantiles", format_args!("[{}]", quantiles.join(", ")))
            .with("epsilon", self.epsilon)
    }
}

/// The law of a quantile, counted from the start of the range; the last number is `last`.
fn law(
    (part, whole): (u32, u32),
    rate: Ratio,
    counts: &[(u64, u64)],
    last: u64,
) -> Option<PiecewiseChoice> {
    let (part, whole) = (i128::from(part), i128::from(whole));
    let rows: i128 = counts.iter().map(|(_, count)| i128::from(*count)).sum();
    // In units of 1/b. Cut at the end of a `u64`, it changes by no more than before.
    let error = |below: i128, above: i128| {
        let over = whole * below - part * rows;
        let under = part * rows - whole * (rows - above);
        u64::try_from(over.max(under).max(0)).unwrap_or(u64::MAX)
    };
    let mut runs = Vec::new();
    let (mut next, mut below) = (0_u128, 0);
    for (value, equal) in counts {
        let (value, equal) = (u128::from(*value), i128::from(*equal));
        runs.push((value - next, error(below, rows - below)));
        runs.push((1, error(below, rows - below - equal)));
        (next, below) = (value + 1, below + equal);
    }
    runs.push((u128::from(last) + 1 - next, error(below, 0)));
    PiecewiseChoice::new(runs, rate).ok()
}

impl<D, A, R> Mechanism<D> for NoisyQuantiles<A, R>
where
    D: ?Sized,
    A: Ranked + CountsBy<D, i64>,
    R: Relation,
{
    type Machine = Released<Vec<A::Value>>;

    fn start(&self, data: &Arc<D>, coins: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        self.values.check(public(&**data))?;
        let counts = self.counts(&**data)?;
        let mut found = Vec::new();
        for (quantile, rate) in self.quantiles.iter().zip(&*self.rates) {
            let law = law(*quantile, *rate, &counts, self.others());
            let offset = coins.draw(&law.ok_or(Fault::Failed)?)?;
            let value = i64::try_from(i128::from(*self.range.start()) + offset);
            found.push(value.map_err(|_| Fault::Failed)?);
        }
        found.sort_unstable();
        let values = found.into_iter().map(|number| self.values.value(number));
        Ok(Released(values.collect()))
    }

    fn check(&self, data: Public<'_, D>) -> Result<(), DomainMismatch> {
        self.values.check(data)
    }

    fn describe(&self) -> Description {
        self.description()
    }
}

/// How far the rank of an answer is off, at most.
impl<A: Source, R> Accuracy for NoisyQuantiles<A, R> {
    type Distance = u128;

    fn accuracy(&self, confidence: Confidence) -> u128 {
        least(0..=u64::MAX, |rows| self.is_within(rows, confidence)).into()
    }

    fn about(&self) -> About {
        self.values.about_in(&self.range)
    }
}

states!(BoundedRanges: impl[A, R: RowRelation,] NoisyQuantiles<A, R>, R, |quantiles| quantiles.fact());
shown!(impl[A: Source, R: Relation] NoisyQuantiles<A, R>);
crate::clone_fields!([A: Clone, R] NoisyQuantiles<A, R> { values, range, quantiles, epsilon, rates, relation });

#[cfg(test)]
mod tests;
