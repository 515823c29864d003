//! The sum of a bounded attribute.

use std::fmt;
use std::ops::{Range, RangeInclusive};

use super::lattice::of_steps;
use super::statistic::fitted;
use super::{
    About, Change, Contributes, Contributions, Grouped, MechanismError, Once, Query, RealRange,
    RowRelation, Source, Statistic, Tally, Unavailable,
};
use crate::data::{Attribute, ClampedSum, Dataset, RealSum, Value, steps_of};
use crate::machine::Description;
use crate::privacy::{AddRemove, Replace, UnknownLoss};

/// The sum of an attribute that is clamped to a range.
///
/// Whole numbers have whole-number answers. Real ones are rounded to steps that follow from the
/// range ([`RealRange`]), and so is the answer. Choose the range from what is publicly known about
/// the attribute, never from the data: a narrow one has less noise, and cuts off more. For averages
/// take a [`Mean`](super::Mean), which costs no more than a sum; for a sum in each group,
/// [`by`](super::Grouped::by).
///
/// ```
/// use queryables::data::Attribute;
/// use queryables::mechanisms::Sum;
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let hours: Arc<Vec<i64>> = Arc::new(vec![40, 13, 40, 90]);
/// let filter = start(&Filter::concurrent(PureDp, epsilon!(1)), hours)?;
///
/// let hours = Attribute::new("hours per week", |hours: &i64| *hours);
/// // 40 + 13 + 40 + 60, with noise of scale 120.
/// let total: i64 = filter.release(&Sum::of(hours, 0..=60).laplace(epsilon!(0.5))?)?;
/// assert!((total - 153).abs() < 12_000);
///
/// let hours = Attribute::new("hours per week", |hours: &i64| *hours as f64);
/// let total: f64 = filter.release(&Sum::of(hours, 0.0..=60.0).laplace(epsilon!(0.5))?)?;
/// assert!((total - 153.0).abs() < 12_000.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// One row that is added or removed changes the sum by at most Δ = max(|low|, |high|), and one that
/// is replaced by at most Δ = high − low; both are tight. A row that cannot be read counts as the
/// number of the range that is nearest to zero. The ends of a range of real numbers are rounded to
/// steps as the numbers are, so that Δ is exact, rounding included.
#[doc(alias = "total")]
#[derive(Clone, Debug)]
pub struct Sum<A: Summand> {
    attribute: A,
    range: <A::Number as Amount>::Range,
}

impl<A: Summand> Sum<A> {
    /// Sums an attribute, clamped to `range`: of `i64` or of `f64`.
    pub fn of(attribute: A, range: impl Into<<A::Number as Amount>::Range>) -> Self {
        Self {
            attribute,
            range: range.into(),
        }
    }

    fn steps(&self) -> RangeInclusive<i64> {
        A::Number::steps(&self.range).unwrap_or(0..=0)
    }
}

/// What can be summed: an [`Attribute`] in code, or one that is data.
pub trait Summand: Source {
    /// Its numbers: `i64` or `f64`.
    type Number: Amount;
}

impl<D: ?Sized, T: Amount> Summand for Attribute<D, T> {
    type Number = T;
}

/// A type of numbers that are summed: `i64` or `f64`.
///
/// Example: [`QueryExt`](crate::mechanisms::query::QueryExt).
pub trait Amount: Value + Statistic + Copy {
    /// What they are clamped to.
    type Range: Clone + fmt::Debug + Send + Sync;

    /// The same in steps.
    fn steps(range: &Self::Range) -> Result<RangeInclusive<i64>, MechanismError>;
    fn scale(range: &Self::Range) -> Self::Scale;
    /// Those of a number.
    fn in_steps(self, scale: Self::Scale) -> i64;
    fn of_total(totals: &[i128], scale: Self::Scale) -> Self;
    fn sum<D: Dataset + ?Sized>(
        attribute: &Attribute<D, Self>,
        data: &D,
        range: &Self::Range,
    ) -> i128;
    fn describe(range: &Self::Range, description: Description) -> Description;
    fn about(range: &Self::Range) -> About;
}

impl Amount for i64 {
    type Range = RangeInclusive<Self>;

    fn steps(range: &Self::Range) -> Result<Self::Range, MechanismError> {
        Ok(range.clone())
    }

    fn scale(_: &Self::Range) {}

    fn in_steps(self, (): ()) -> Self {
        self
    }

    fn of_total(totals: &[i128], (): ()) -> Self {
        fitted(totals)
    }

    fn sum<D: Dataset + ?Sized>(
        attribute: &Attribute<D, Self>,
        data: &D,
        range: &Self::Range,
    ) -> i128 {
        let mut sum = ClampedSum::new(range.clone());
        attribute.fold(data, &mut sum);
        sum.total()
    }

    fn describe(range: &Self::Range, description: Description) -> Description {
        description.with("range", format_args!("{range:?}"))
    }

    fn about(range: &Self::Range) -> About {
        About::all_rows().clamped(format_args!("{range:?}"))
    }
}

impl Amount for f64 {
    type Range = RealRange;

    fn steps(range: &RealRange) -> Result<RangeInclusive<i64>, MechanismError> {
        Ok(range.in_steps()?.range())
    }

    fn scale(range: &RealRange) -> i32 {
        range.steps().exponent
    }

    fn in_steps(self, exponent: i32) -> i64 {
        steps_of(self, libm::scalbn(1.0, -exponent))
    }

    fn of_total(totals: &[i128], exponent: i32) -> Self {
        of_steps(totals.first().copied().unwrap_or_default(), exponent)
    }

    fn sum<D: Dataset + ?Sized>(
        attribute: &Attribute<D, Self>,
        data: &D,
        range: &RealRange,
    ) -> i128 {
        let steps = range.steps();
        let mut sum = RealSum::new(steps.per_unit(), steps.range());
        attribute.fold(data, &mut sum);
        sum.total()
    }

    fn describe(range: &RealRange, description: Description) -> Description {
        range.describe(description)
    }

    fn about(range: &RealRange) -> About {
        range.about_rounded()
    }
}

/// By how much a row changes a sum of numbers in this range.
pub(super) fn largest_change<R: RowRelation>(range: &RangeInclusive<i64>) -> u64 {
    let (low, high) = (range.start(), range.end());
    if range.is_empty() {
        0
    } else if R::REPLACES {
        low.abs_diff(*high)
    } else {
        low.unsigned_abs().max(high.unsigned_abs())
    }
}

impl<A: Summand, R: RowRelation> Query<R> for Sum<A> {
    type Answer = A::Number;
    type Form = Once;
    type Value = A::Number;

    fn change(&self) -> Result<Change, MechanismError> {
        let named = |error: MechanismError| error.of_attribute(&self.attribute.name());
        let range = A::Number::steps(&self.range).map_err(named)?;
        let largest = largest_change::<R>(&range);
        if range.is_empty() {
            return Err(named(MechanismError::empty(range)));
        }
        if largest == 0 {
            return Err(named(MechanismError::constant(range)));
        }
        let change = Change::of(largest)?;
        let one_way = *range.start() >= 0 || *range.end() <= 0;
        Ok(if one_way { change } else { change.both_ways() })
    }

    fn answer(&self, totals: &[i128]) -> A::Number {
        A::Number::of_total(totals, A::Number::scale(&self.range))
    }

    fn scale(&self) -> <A::Number as Statistic>::Scale {
        A::Number::scale(&self.range)
    }

    fn describe(&self) -> Description {
        let description = Description::new("Sum").with("attribute", self.attribute.name());
        A::Number::describe(&self.range, description)
    }

    fn about(&self) -> About {
        A::Number::about(&self.range)
    }
}

impl<D: Dataset + ?Sized, T: Amount, R: RowRelation> Tally<D, R> for Sum<Attribute<D, T>> {
    fn tally(&self, data: &D, totals: &mut [i128]) -> Result<(), Unavailable> {
        totals.fill(T::sum(&self.attribute, data, &self.range));
        Ok(())
    }
}

impl<D: Dataset + ?Sized, T: Amount> Contributes<D> for Sum<Attribute<D, T>> {
    fn contributions(&self, data: &D, records: Range<usize>) -> Contributions {
        let (values, unreadable) = self.attribute.values(data, records);
        let (low, high) = self.steps().into_inner();
        let scale = T::scale(&self.range);
        let steps = values.iter().map(|value| value.in_steps(scale));
        let numbers = steps.map(|steps| steps.clamp(low, high).into());
        Contributions::new(values.len(), numbers.collect(), unreadable)
    }

    fn payable(&self) -> Result<(), UnknownLoss> {
        if !self.steps().contains(&0) {
            return Err(UnknownLoss(
                "whoever cannot pay contributes zero, which the range must contain",
            ));
        }
        Ok(())
    }
}

impl<D: Dataset + ?Sized, T: Amount> Grouped<D> for Sum<Attribute<D, T>> {
    /// In one group a row that is replaced changes the sum by high − low.
    fn moved(&self) -> Result<Change, MechanismError> {
        let change = Query::<AddRemove>::change(self)?;
        let within = Query::<Replace>::change(self).map_or(0, |change| change.square);
        let moved = change.moved()?;
        let square = (2 * change.square).max(within).min(moved.square);
        Ok(Change { square, ..moved })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanisms::{LaplaceNoise, Noised};
    use crate::noise::NoiseError;
    use crate::prelude::*;
    use crate::privacy::{Private, Rdp};
    use crate::tests::exact::{answers, violation};

    type Signed<R> = Noised<Sum<Attribute<Vec<u8>, i64>>, LaplaceNoise, R>;

    fn sum<R: RowRelation>(
        relation: R,
        range: RangeInclusive<i64>,
        epsilon: &str,
    ) -> Result<Signed<R>, MechanismError> {
        let attribute = Attribute::new("signed", |row: &u8| match row {
            99 => panic!("an unlucky row"),
            row => i64::from(*row) - 5,
        });
        Sum::of(attribute, range)
            .under(relation)
            .laplace(epsilon.parse::<Epsilon>().unwrap())
    }

    /// Whether the loss is attained between these datasets, and surely not exceeded.
    fn attains<R: RowRelation>(
        relation: R,
        range: RangeInclusive<i64>,
        [one, other]: [&[u8]; 2],
    ) -> bool {
        let sum = sum(relation, range, "0.5").unwrap();
        let [one, other] = [one, other].map(|rows| answers(&sum, rows, &[()], 150));
        let exceeds = |epsilon: &str| {
            let epsilon = epsilon.parse().unwrap();
            violation(&one, &other, epsilon).is_some() || violation(&other, &one, epsilon).is_some()
        };
        assert!(!exceeds("0.5"));
        exceeds("0.499")
    }

    #[test]
    fn the_loss_is_attained_by_the_largest_change_and_not_exceeded() {
        // A row of 0 stands for -5, clamped to -3; a row of 9 for 4, clamped to 2.
        assert!(attains(AddRemove, -3..=2, [&[5], &[5, 0]]));
        assert!(!attains(AddRemove, -3..=2, [&[5], &[5, 9]]));
        assert!(attains(Replace, -3..=2, [&[0], &[9]]));
        assert!(!attains(Replace, -3..=2, [&[5], &[9]]));
    }

    /// The Rényi divergence of order 2, between the datasets that are furthest apart.
    #[test]
    fn the_divergence_is_attained_and_not_exceeded() {
        let sum = sum(AddRemove, -3..=2, "1").unwrap();
        let answers = |rows: &[u8]| answers(&sum, rows, &[()], 150);
        let (one, other) = (answers(&[0]), answers(&[]));
        let squares = one.outcomes.iter().filter_map(|(answer, p)| {
            let q = other.outcomes.get(answer)?;
            Some((p * p / q).to_f64_fast())
        });
        let divergence = squares.sum::<f64>().ln();
        let order = Rdp::new("2".parse().unwrap());
        let claim: f64 = sum.loss(&order).unwrap().to_string().parse().unwrap();
        assert!(
            (divergence..divergence + 1e-9).contains(&claim),
            "{divergence} {claim}"
        );
    }

    #[test]
    fn a_row_that_cannot_be_read_counts_within_the_range() {
        // Zero, clamped to 2, and so the largest change but one.
        assert!(!attains(AddRemove, 2..=3, [&[5], &[5, 99]]));
        assert!(attains(AddRemove, 1..=2, [&[5], &[5, 9]]));
    }

    #[test]
    fn bad_parameters_are_refused() {
        let error = |range, epsilon| sum(Replace, range, epsilon).unwrap_err();
        #[expect(clippy::reversed_empty_ranges, reason = "that is the point")]
        let empty = 3..=2;
        let reversed = "the range 3..=2 of \"signed\" is empty: write the smaller number first";
        assert_eq!(error(empty.clone(), "1").to_string(), reversed);
        assert_eq!(
            error(3..=3, "1").to_string(),
            "the range 3..=3 of \"signed\" lets no row change the answer: make it wider"
        );
        assert_eq!(error(0..=3, "0"), MechanismError::NoLoss("epsilon"));
        let refused = sum(AddRemove, empty, "1").unwrap_err();
        assert_eq!(refused.to_string(), reversed);
        let refused = sum(AddRemove, 0..=0, "1").unwrap_err();
        assert_eq!(
            refused.to_string(),
            "the range 0..=0 of \"signed\" lets no row change the answer: make it wider"
        );
        assert!(sum(AddRemove, 3..=3, "1").is_ok());
        assert!(sum(Replace, i64::MIN..=i64::MAX, "0.1").is_ok());
        let (what, bits) = ("scale", 100);
        assert_eq!(error(i64::MIN..=i64::MAX, "1e-27"), MechanismError::TooFine);
        assert_eq!(
            error(i64::MIN..=i64::MAX, "1e-12"),
            MechanismError::Noise(NoiseError::TooLarge { what, bits })
        );
    }
}
