//! Statistics of a bounded attribute that follow from a few sums: the mean and the variance.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Range, RangeInclusive};

use super::real_range::Steps;
use super::{
    About, Change, Contributes, Contributions, Grouped, MechanismError, Once, Query, RealRange,
    RowRelation, Statistic, Summand, Tally, Unavailable,
};
use crate::data::{Attribute, Dataset, steps_of};
use crate::machine::Description;
use crate::noise::Noise;
use crate::number::Confidence;

/// A value that is computed from a few sums of a bounded attribute, and answers as a `V`: a
/// [`Mean`](super::Mean) or a [`Variance`](super::Variance), which have the examples.
#[derive(Clone, Debug)]
pub struct Moments<A, V> {
    attribute: A,
    range: RealRange,
    value: PhantomData<fn() -> V>,
}

impl<A: Summand<Number = f64>, V: Moment> Moments<A, V> {
    /// That of `attribute`, clamped to `range` ([`RealRange`]).
    pub fn of(attribute: A, range: impl Into<RealRange>) -> Self {
        Self {
            attribute,
            range: range.into(),
            value: PhantomData,
        }
    }
}

/// What is told of one statistic: the rest is the same for all.
///
/// Let a row be u above the start of the range and w − u below its end, in steps.
#[doc(hidden)]
pub trait Moment: Copy + fmt::Debug {
    /// How it is called.
    const NAME: &'static str;
    /// How many sums there are.
    const SUMS: usize;

    /// By how much all sums together change: w, for instance.
    fn change(range: &RealRange, width: u64) -> Result<u64, MechanismError>;

    /// From noisy sums. Where the number of rows is public, the last one has no noise.
    fn of_sums(sums: &[i128], range: &RealRange, size_is_public: bool) -> Self;

    /// The sums of all rows.
    fn sum<D: Dataset + ?Sized>(
        attribute: &Attribute<D, f64>,
        range: &RealRange,
        data: &D,
        size_is_public: bool,
    ) -> [i128; 3];

    /// What a row adds to each sum, where the number of rows is not public.
    fn row(above: i128, below: i128) -> [i128; 3];

    /// How far off it is, for this number of rows.
    fn for_rows(accuracy: &MomentAccuracy<Self>, rows: u64) -> f64;

    /// The best guess, and where the truth is, if each sum is so far off.
    fn between(self, scale: SumScale, each: Option<u128>) -> (f64, RangeInclusive<f64>);
}

impl<A: Summand<Number = f64>, V: Moment, R: RowRelation> Query<R> for Moments<A, V> {
    type Answer = V;
    type Form = Once;
    type Value = V;

    fn change(&self) -> Result<Change, MechanismError> {
        let width = self.range.in_steps().map(|steps| steps.width.get());
        let change = width.and_then(|width| V::change(&self.range, width));
        Change::of(change.map_err(|error| error.of_attribute(&self.attribute.name()))?)
    }

    fn totals(&self) -> usize {
        V::SUMS
    }

    /// Where the number of rows is public, so is the last sum, which is that number times a constant.
    fn public_totals(&self) -> usize {
        R::REPLACES.into()
    }

    fn answer(&self, totals: &[i128]) -> V {
        V::of_sums(totals, &self.range, R::REPLACES)
    }

    fn scale(&self) -> SumScale {
        SumScale::new::<R>(&self.range)
    }

    fn describe(&self) -> Description {
        let description = Description::new(V::NAME).with("attribute", self.attribute.name());
        self.range.describe(description)
    }

    fn about(&self) -> About {
        self.range.about()
    }
}

impl<D, V, R> Tally<D, R> for Moments<Attribute<D, f64>, V>
where
    D: Dataset + ?Sized,
    V: Moment,
    R: RowRelation,
{
    fn tally(&self, data: &D, totals: &mut [i128]) -> Result<(), Unavailable> {
        let sums = V::sum(&self.attribute, &self.range, data, R::REPLACES);
        for (total, sum) in totals.iter_mut().zip(sums) {
            *total = sum;
        }
        Ok(())
    }
}

impl<D: Dataset + ?Sized, V: Moment> Contributes<D> for Moments<Attribute<D, f64>, V> {
    fn contributions(&self, data: &D, records: Range<usize>) -> Contributions {
        let (values, unreadable) = self.attribute.values(data, records);
        let steps = self.range.steps();
        let (low, high) = steps.range().into_inner();
        let rows = values.iter().flat_map(|value| {
            let number = steps_of(*value, steps.per_unit()).clamp(low, high);
            let row = V::row(number.abs_diff(low).into(), high.abs_diff(number).into());
            row.into_iter().take(V::SUMS)
        });
        Contributions::new(values.len(), rows.collect(), unreadable)
    }
}

impl<D: Dataset + ?Sized, V: Moment> Grouped<D> for Moments<Attribute<D, f64>, V> {}

/// In which steps sums are, and whether the number of rows is public.
///
/// Example: [`QueryExt`](crate::mechanisms::query::QueryExt).
#[derive(Clone, Copy, Debug)]
pub struct SumScale {
    pub(super) steps: Steps,
    pub(super) ends: (f64, f64),
    pub(super) size_is_public: bool,
}

impl SumScale {
    pub(super) fn new<R: RowRelation>(range: &RealRange) -> Self {
        Self {
            steps: range.steps(),
            ends: range.stated().into_inner(),
            size_is_public: R::REPLACES,
        }
    }
}

/// How far the sums of a mean or a variance are from the truth, from which its error follows.
///
/// Example: [`Mean`](crate::mechanisms::Mean).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MomentAccuracy<V> {
    /// In steps; `None` if nothing is known.
    pub(super) each: Option<u128>,
    pub(super) scale: Steps,
    pub(super) size_is_public: bool,
    value: PhantomData<fn() -> V>,
}

impl<V: Moment> MomentAccuracy<V> {
    /// How far the answer is from that of the clamped values, at most, if there are this number of
    /// rows, with the confidence that was asked for.
    ///
    /// It is rounded up, with what rounding the answer to a float may add, and never more than the
    /// range allows: for a mean its width, for a variance (w/2 + h)², where w is the width and h is half
    /// a step.
    #[must_use]
    pub fn for_rows(&self, rows: u64) -> f64 {
        V::for_rows(self, rows)
    }
}

impl<V: Moment> Statistic for V {
    type Scale = SumScale;
    type Number = f64;
    type Distance = MomentAccuracy<V>;
    /// How far, and of how many rows.
    type Within = (f64, u64);

    /// With this confidence for all noisy sums together (the union bound).
    fn distance(scale: SumScale, noise: Noise, confidence: Confidence) -> MomentAccuracy<V> {
        let noisy = V::SUMS - usize::from(scale.size_is_public);
        let each = confidence.for_each_of(noisy as u64);
        MomentAccuracy {
            each: each.map(|each| noise.steps_within(each)),
            scale: scale.steps,
            size_is_public: scale.size_is_public,
            value: PhantomData,
        }
    }

    fn is_distance((within, _): (f64, u64)) -> bool {
        within >= 0.0
    }

    fn is_within(
        scale: SumScale,
        noise: Noise,
        (within, rows): (f64, u64),
        confidence: Confidence,
    ) -> bool {
        Self::distance(scale, noise, confidence).for_rows(rows) <= within
    }

    /// Each of the sums is within its noise of the truth, all together with this confidence (the union
    /// bound), and the interval has the values of all sums that are possible then.
    fn interval(
        self,
        scale: SumScale,
        noise: Noise,
        confidence: Confidence,
    ) -> (f64, RangeInclusive<f64>) {
        self.between(scale, V::distance(scale, noise, confidence).each)
    }
}
