//! Values of records, and what is computed from all of them.

use std::fmt;
use std::ops::RangeInclusive;

use super::pass::CHUNK;

/// The value that an attribute has for a record.
///
/// | value | of a record that cannot be read | the fold over all of them |
/// |---|---|---|
/// | `bool` | no | how many say yes |
/// | `i64` | 0 | [`ClampedSum`] |
/// | `f64` | 0 | the sum, in steps |
/// | `usize` | `usize::MAX`, which is no bin | the number in each bin |
/// | `Option<u64>` | `None` | a list of those that are `Some` |
///
/// Implement it for a type of your own to write mechanisms on such values:
/// `Attribute` brings the pass over the records, its guard and the meaning of a
/// panic.
///
/// ```
/// use queryables::data::{Attribute, Fold, Value};
///
/// #[derive(Clone, Copy)]
/// struct Answers(u8);
///
/// /// How often each of eight questions was answered by yes.
/// #[derive(Default)]
/// struct PerQuestion([u64; 8]);
///
/// impl Value for Answers {
///     const UNREADABLE: Self = Answers(0);
///     type Fold = PerQuestion;
/// }
///
/// impl Fold<Answers> for PerQuestion {
///     fn take(&mut self, values: impl Iterator<Item = Answers>) {
///         // Not into `self`: if a record panics, nothing of this chunk may be left.
///         let mut chunk = [0; 8];
///         for Answers(bits) in values {
///             for (question, count) in chunk.iter_mut().enumerate() {
///                 *count += u64::from(bits >> question & 1);
///             }
///         }
///         for (total, count) in self.0.iter_mut().zip(chunk) {
///             *total += count;
///         }
///     }
/// }
///
/// let answers = Attribute::new("answers", |row: &u8| Answers(*row));
/// let mut counts = PerQuestion::default();
/// answers.fold(&vec![0b_101, 0b_100], &mut counts);
/// assert_eq!(counts.0, [1, 0, 2, 0, 0, 0, 0, 0]);
/// ```
#[diagnostic::on_unimplemented(
    message = "let the closure return an `i64`, an `f64`, a `bool` or a `usize`: `{Self}` is not the value of an attribute",
    label = "convert it: `i64::from(…)`, `f64::from(…)`",
    note = "for a type of your own, implement `queryables::data::Value`"
)]
pub trait Value: Sized + 'static {
    /// The value of a record if reading it panics.
    const UNREADABLE: Self;

    /// What is computed from the values.
    type Fold: Fold<Self> + Send;

    /// Whether it is no value, like NaN: for `Attribute::check`, which no answer depends on. By
    /// default it is one.
    fn is_missing(&self) -> bool {
        false
    }
}

/// Accumulates values.
///
/// Example: [`ClampedSum`](crate::data::ClampedSum).
///
/// # What an implementer owes
///
/// If the iterator panics, the fold is unchanged: the same records come again, one by one. It does
/// not panic itself, whatever the values are.
pub trait Fold<T> {
    /// Adds the values of one chunk, at most 1024 of them.
    fn take(&mut self, values: impl Iterator<Item = T>);

    /// How large data is folded on several threads; by default, and where this is `None`, on one.
    ///
    /// It must make no difference: what is folded into parts and then merged, in the order of the
    /// records, is what would be folded without parts.
    #[doc(hidden)]
    fn merge(&self) -> Option<Merge<Self>>
    where
        Self: Sized,
    {
        None
    }
}

/// How to fold in parts.
#[derive(Debug)]
pub struct Merge<F> {
    /// An empty fold with the same parameters.
    pub empty: fn(&F) -> F,
    /// Adds what was folded into a part. Parts come in the order of their records.
    pub add: fn(&mut F, F),
}

impl Value for bool {
    const UNREADABLE: Self = false;
    type Fold = u64;
}

/// The number of records with the value `true`.
impl Fold<bool> for u64 {
    #[inline]
    fn take(&mut self, values: impl Iterator<Item = bool>) {
        *self += values.map(u64::from).sum::<u64>();
    }

    fn merge(&self) -> Option<Merge<Self>> {
        Some(Merge {
            empty: |_| 0,
            add: |count, part| *count += part,
        })
    }
}

impl Value for i64 {
    const UNREADABLE: Self = 0;
    type Fold = ClampedSum;
}

/// The sum of whole numbers that are clamped to a range.
///
/// ```
/// use queryables::data::{ClampedSum, Fold};
///
/// let mut sum = ClampedSum::new(0..=60);
/// sum.take([40, -3, 90].into_iter());
/// assert_eq!(sum.total(), 100);
/// ```
#[derive(Clone, Copy)]
pub struct ClampedSum {
    low: i64,
    high: i64,
    total: i128,
}

/// The sum of [`CHUNK`] numbers up to this size fits in an `i64`.
const SMALL: u64 = 1 << 52;

impl ClampedSum {
    /// An empty sum of numbers in this range. An empty range stands for its start alone.
    #[must_use]
    pub fn new(range: RangeInclusive<i64>) -> Self {
        let (low, high) = range.into_inner();
        Self {
            low,
            high: high.max(low),
            total: 0,
        }
    }

    /// The sum.
    #[must_use]
    pub fn total(&self) -> i128 {
        self.total
    }
}

impl Fold<i64> for ClampedSum {
    #[inline]
    fn take(&mut self, values: impl Iterator<Item = i64>) {
        let (low, high) = (self.low, self.high);
        let clamped = values.map(|value| value.clamp(low, high));
        self.total += if low.unsigned_abs().max(high.unsigned_abs()) <= SMALL {
            i128::from(clamped.sum::<i64>())
        } else {
            clamped.map(i128::from).sum()
        };
    }

    fn merge(&self) -> Option<Merge<Self>> {
        Some(Merge {
            empty: |sum| Self { total: 0, ..*sum },
            add: |sum, part| sum.total += part.total,
        })
    }
}

// Not the sum, which is data.
crate::debug_fields!([] ClampedSum, "ClampedSum" { low, high, .. });

impl Value for f64 {
    const UNREADABLE: Self = 0.0;
    type Fold = RealSum;

    fn is_missing(&self) -> bool {
        !self.is_finite()
    }
}

/// The sum of real numbers, each rounded to the nearest whole number of steps and then clamped.
/// Infinities and NaN count as zero.
#[derive(Clone, Copy, Debug)]
pub struct RealSum {
    per_unit: f64,
    steps: ClampedSum,
}

impl RealSum {
    /// An empty sum, with `per_unit` steps to a unit, which should be a power of two: then rounding
    /// is exact. The range is in steps.
    #[must_use]
    pub fn new(per_unit: f64, range: RangeInclusive<i64>) -> Self {
        Self {
            per_unit,
            steps: ClampedSum::new(range),
        }
    }

    /// The sum, in steps.
    #[must_use]
    pub fn total(&self) -> i128 {
        self.steps.total()
    }
}

/// The number of steps that is nearest to a number: ⌊x + 1/2⌋ for x steps, in floats, so that every
/// engine that has them gets the same. Infinities and NaN count as zero.
#[inline]
#[must_use]
pub fn steps_of(value: f64, per_unit: f64) -> i64 {
    let finite = if value.is_finite() { value } else { 0.0 };
    let more = finite * per_unit + 0.5;
    // The cast saturates in either direction, and otherwise rounds toward zero.
    let steps = more as i64;
    steps.saturating_sub(i64::from(steps as f64 > more))
}

impl Fold<f64> for RealSum {
    #[inline]
    fn take(&mut self, values: impl Iterator<Item = f64>) {
        let per_unit = self.per_unit;
        self.steps
            .take(values.map(|value| steps_of(value, per_unit)));
    }

    fn merge(&self) -> Option<Merge<Self>> {
        Some(Merge {
            empty: |sum| Self::new(sum.per_unit, sum.steps.low..=sum.steps.high),
            add: |sum, part| sum.steps.total += part.steps.total,
        })
    }
}

impl Value for Option<u64> {
    const UNREADABLE: Self = None;
    type Fold = Vec<u64>;

    fn is_missing(&self) -> bool {
        self.is_none()
    }
}

/// The values that are `Some`.
impl Fold<Option<u64>> for Vec<u64> {
    fn take(&mut self, values: impl Iterator<Item = Option<u64>>) {
        let chunk: Vec<u64> = values.flatten().collect();
        self.extend(chunk);
    }

    fn merge(&self) -> Option<Merge<Self>> {
        Some(Merge {
            empty: |_| Vec::new(),
            add: |values, part| values.extend(part),
        })
    }
}

impl Value for usize {
    const UNREADABLE: Self = usize::MAX;
    type Fold = Bins;

    fn is_missing(&self) -> bool {
        *self == usize::MAX
    }
}

/// The number of values in each of several bins. A value that is not below the number of bins is in
/// none.
pub struct Bins {
    counts: Vec<u64>,
    /// The counts of the current chunk if there are few bins, and otherwise the bins of its values:
    /// a chunk that panics is discarded.
    chunk: Vec<u32>,
}

/// With more bins, each part would need too much memory of its own: this is half a megabyte.
const MOST_TO_MERGE: usize = 1 << 16;

impl Bins {
    /// This number of empty bins. All are held in memory: bound the number before, as
    /// `Partition` does.
    #[must_use]
    pub fn new(bins: usize) -> Self {
        Self {
            counts: vec![0; bins],
            chunk: Vec::with_capacity(bins.min(CHUNK) + 1),
        }
    }

    /// The count of each bin.
    #[must_use]
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }
}

impl Fold<usize> for Bins {
    #[inline]
    fn take(&mut self, values: impl Iterator<Item = usize>) {
        self.chunk.clear();
        let none = self.counts.len();
        if none <= CHUNK {
            // One place more, for values in no bin: no branch that a processor would have to guess. And
            // a slice of its own, whose place is not read again for every value.
            self.chunk.resize(none + 1, 0);
            let chunk = self.chunk.as_mut_slice();
            values.for_each(|value| {
                if let Some(count) = chunk.get_mut(value.min(none)) {
                    *count += 1;
                }
            });
            for (total, count) in self.counts.iter_mut().zip(&self.chunk) {
                *total += u64::from(*count);
            }
        } else {
            let bins = values.filter_map(|value| u32::try_from(value).ok());
            self.chunk.extend(bins);
            for bin in &self.chunk {
                if let Some(count) = self.counts.get_mut(*bin as usize) {
                    *count += 1;
                }
            }
        }
    }

    fn merge(&self) -> Option<Merge<Self>> {
        (self.counts.len() <= MOST_TO_MERGE).then_some(Merge {
            empty: |bins| Self::new(bins.counts.len()),
            add: |bins, part| {
                for (count, part) in bins.counts.iter_mut().zip(part.counts) {
                    *count += part;
                }
            },
        })
    }
}

impl fmt::Debug for Bins {
    /// Not the counts, which are data.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bins")
            .field("bins", &self.counts.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn real_numbers_are_rounded_and_clamped() {
        // In quarters, from 0 to 2.
        let mut sum = RealSum::new(4.0, 0..=8);
        sum.take([0.3, 0.4, 1.0, 99.0, -1.0, f64::NAN, f64::INFINITY].into_iter());
        assert_eq!(sum.total(), 1 + 2 + 4 + 8);
    }

    #[test]
    fn values_beyond_the_last_bin_are_in_none() {
        let mut bins = Bins::new(3);
        bins.take([0, 2, 2, 3, usize::MAX].into_iter());
        assert_eq!(bins.counts(), [1, 0, 2]);
    }

    #[test]
    fn bins_are_folded_in_parts() {
        let mut bins = Bins::new(2);
        bins.take([0, 1].into_iter());
        let merge = Fold::<usize>::merge(&bins).unwrap();
        let mut part = (merge.empty)(&bins);
        part.take([1, 1].into_iter());
        (merge.add)(&mut bins, part);
        assert_eq!(bins.counts(), [1, 3]);
    }

    #[test]
    fn debug_shows_no_data() {
        let mut sum = RealSum::new(1.0, 0..=60);
        sum.take([40.0, 13.0].into_iter());
        let mut bins = Bins::new(2);
        bins.take([1].into_iter());
        assert_eq!(
            (format!("{sum:?}"), format!("{bins:?}")),
            (
                "RealSum { per_unit: 1.0, steps: ClampedSum { low: 0, high: 60, .. } }".into(),
                "Bins { bins: 2, .. }".into()
            )
        );
    }
}
