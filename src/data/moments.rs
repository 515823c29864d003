//! Values whose variance is asked for.

use std::ops::RangeInclusive;

use super::{Fold, Merge, steps_of};

/// The sums of u², 2u(w − u) and (w − u)² over all numbers, where w is the width of the range and u is
/// how far a number is above its start: in steps, after rounding to the nearest and clamping, as for
/// [`RealSum`](super::RealSum). For each number the three add up to w².
#[derive(Clone, Copy)]
pub(crate) struct Moments {
    per_unit: f64,
    start: i64,
    width: u32,
    sums: [i128; 3],
}

impl Moments {
    /// Empty sums, with `per_unit` steps to a unit, which should be a power of two: then rounding is
    /// exact. The range is in steps, and at most 2^32 − 1 of them wide; what is beyond is cut off.
    pub(crate) fn new(per_unit: f64, range: RangeInclusive<i64>) -> Self {
        let (start, end) = range.into_inner();
        let width = end.max(start).abs_diff(start);
        Self {
            per_unit,
            start,
            width: u32::try_from(width).unwrap_or(u32::MAX),
            sums: [0; 3],
        }
    }

    /// The sum of u².
    pub(crate) fn high(&self) -> i128 {
        let [high, ..] = self.sums;
        high
    }

    /// The sum of 2u(w − u).
    pub(crate) fn mixed(&self) -> i128 {
        let [_, mixed, _] = self.sums;
        mixed
    }

    /// The sum of (w − u)².
    pub(crate) fn low(&self) -> i128 {
        let [.., low] = self.sums;
        low
    }
}

impl Fold<f64> for Moments {
    #[inline]
    fn take(&mut self, values: impl Iterator<Item = f64>) {
        let width = u64::from(self.width);
        // Not into `self`: if a record panics, nothing of this chunk may be left.
        let sums = values.fold([0_i128; 3], |[high, mixed, low], value| {
            let steps = steps_of(value, self.per_unit);
            let above = steps.max(self.start).abs_diff(self.start).min(width);
            let below = width - above;
            [
                high + i128::from(above * above),
                mixed + 2 * i128::from(above * below),
                low + i128::from(below * below),
            ]
        });
        for (sum, chunk) in self.sums.iter_mut().zip(sums) {
            *sum += chunk;
        }
    }

    fn merge(&self) -> Option<Merge<Self>> {
        Some(Merge {
            empty: |moments| Self {
                sums: [0; 3],
                ..*moments
            },
            add: |moments, part| {
                for (sum, part) in moments.sums.iter_mut().zip(part.sums) {
                    *sum += part;
                }
            },
        })
    }
}

// Not the sums, which are data.
crate::debug_fields!([] Moments, "Moments" { per_unit, start, width, .. });

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_three_add_up_for_every_number(
            values in proptest::collection::vec(any::<f64>(), 0..20), start in -50..50_i64, width in 0..70_i64,
        ) {
            let mut moments = Moments::new(4.0, start..=start + width);
            moments.take(values.iter().copied());
            let sum = moments.high() + moments.mixed() + moments.low();
            prop_assert_eq!(sum, i128::from(width * width) * values.len() as i128);
        }

        #[test]
        fn parts_add_up(
            values in proptest::collection::vec(any::<f64>(), 0..20), at in 0..20_usize,
        ) {
            let mut whole = Moments::new(4.0, -3..=9);
            whole.take(values.iter().copied());
            let (one, other) = values.split_at(at.min(values.len()));
            let mut merged = Moments::new(4.0, -3..=9);
            merged.take(one.iter().copied());
            let Merge { empty, add } = merged.merge().unwrap();
            let mut part = empty(&merged);
            part.take(other.iter().copied());
            add(&mut merged, part);
            prop_assert_eq!(merged.sums, whole.sums);
        }

        #[test]
        fn the_sums_are_those_of_the_clamped_numbers(
            values in proptest::collection::vec(-30.0..30.0, 0..20), start in -50..50_i64, width in 0..70_i64,
        ) {
            let mut moments = Moments::new(4.0, start..=start + width);
            moments.take(values.iter().copied());
            let above = values.iter().map(|value: &f64| {
                i128::from(((4.0 * value + 0.5).floor() as i64).clamp(start, start + width) - start)
            });
            let (mut high, mut low) = (0, 0);
            for above in above {
                high += above * above;
                low += (i128::from(width) - above).pow(2);
            }
            prop_assert_eq!((moments.high(), moments.low()), (high, low));
        }
    }

    #[test]
    fn debug_shows_no_data() {
        let mut moments = Moments::new(1.0, 1..=8);
        moments.take([5.0].into_iter());
        assert_eq!(
            format!("{moments:?}"),
            "Moments { per_unit: 1.0, start: 1, width: 7, .. }"
        );
    }

    #[test]
    fn the_widest_range_does_not_overflow() {
        let mut moments = Moments::new(1.0, i64::MIN..=i64::MAX);
        moments.take([f64::MAX, f64::MIN, f64::NAN].into_iter());
        let square = i128::from(u32::MAX) * i128::from(u32::MAX);
        assert_eq!(moments.high() + moments.mixed() + moments.low(), 3 * square);
    }
}
