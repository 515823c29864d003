//! The sum of a bounded attribute.

use std::marker::PhantomData;
use std::num::NonZeroU64;
use std::ops::RangeInclusive;
use std::sync::Arc;

use super::laplace::LaplaceNoise;
use super::least_loss::with_accuracy;
use super::{About, CountingRelation, MechanismError, fitted, noisy, shown, states};
use crate::data::{Attribute, ClampedSum, Dataset};
use crate::machine::{Coins, Description, Fault, Mechanism, Released, ReleasesOnly};
use crate::noise::DiscreteLaplace;
use crate::number::{Confidence, Epsilon};
use crate::privacy::facts::Laplace;
use crate::privacy::{AddRemove, Relation, Replace};

/// The sum of an attribute that is clamped to a range, plus discrete Laplace noise.
///
/// Use it for totals, and, with a [`NoisyCount`](super::NoisyCount), for averages. Choose the range
/// from what is publicly known about the attribute, never from the data: a narrow one has less
/// noise, and cuts off more.
///
/// ```
/// use queryables::data::Attribute;
/// use queryables::mechanisms::NoisySum;
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let hours: Arc<Vec<i64>> = Arc::new(vec![40, 13, 40, 90]);
/// let filter = launch(&Filter::concurrent(PureDp, "1".parse()?), hours)?;
///
/// let hours = Attribute::new("hours per week", |hours: &i64| *hours);
/// let total = NoisySum::new(AddRemove, hours, 0..=60, "0.5".parse()?)?;
/// // 40 + 13 + 40 + 60, with noise of scale 120.
/// let total: i64 = filter.release(&total)?;
/// assert!((total - 153).abs() < 12_000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// ε-DP, and this is tight, for neighbours under `R`: the noise has a scale of Δ/ε, where one row
/// that is added or removed changes the sum by at most Δ = max(|low|, |high|), and one that is
/// replaced by at most Δ = high − low. It states [`Laplace`] noise on one answer that changes by Δ,
/// which is less under Rényi privacy than what ε-DP implies. A row that cannot be read counts as
/// the number of the range that is nearest to zero. An answer that an `i64` cannot hold is clamped,
/// which is postprocessing.
pub struct NoisySum<D: ?Sized, R = AddRemove> {
    attribute: Attribute<D, i64>,
    range: RangeInclusive<i64>,
    /// Its steps are the largest change.
    fact: Laplace,
    noise: DiscreteLaplace,
    relation: PhantomData<fn() -> R>,
}

/// A relation for which it is known by how much one row changes a sum.
pub trait SummingRelation: CountingRelation {
    /// The largest change, if rows have values in this range.
    #[doc(hidden)]
    fn largest_change(range: &RangeInclusive<i64>) -> u64;
}

impl SummingRelation for AddRemove {
    fn largest_change(range: &RangeInclusive<i64>) -> u64 {
        range.start().unsigned_abs().max(range.end().unsigned_abs())
    }
}

impl SummingRelation for Replace {
    fn largest_change(range: &RangeInclusive<i64>) -> u64 {
        range.start().abs_diff(*range.end())
    }
}

impl<D: ?Sized, R: SummingRelation> NoisySum<D, R> {
    /// Sums `attribute`, clamped to `range`.
    ///
    /// # Errors
    ///
    /// [`MechanismError::BadRange`] if the range is empty or no row can change the sum,
    /// [`MechanismError::NoLoss`] if ε is zero, [`MechanismError::TooFine`] if Δ/ε, in lowest
    /// terms, needs more than 128 bits, and [`MechanismError::Noise`] if it is more than 2^100.
    pub fn new(
        _relation: R,
        attribute: Attribute<D, i64>,
        range: RangeInclusive<i64>,
        epsilon: Epsilon,
    ) -> Result<Self, MechanismError> {
        let (fact, noise) = noise_of::<R>(&range, epsilon)?;
        Ok(Self {
            attribute,
            range,
            fact,
            noise,
            relation: PhantomData,
        })
    }
}

impl<D: ?Sized, R: SummingRelation> NoisySum<D, R> {
    /// The same with the smallest ε for which an answer is at most `within` away from the sum of the
    /// clamped values, with at least this confidence ([`Accuracy`](super::Accuracy)). It is rounded up
    /// to six digits.
    ///
    /// # Errors
    ///
    /// [`MechanismError::TooAccurate`] if no ε up to 10^6 suffices, and those of [`new`](Self::new).
    pub fn with_accuracy(
        relation: R,
        attribute: Attribute<D, i64>,
        range: RangeInclusive<i64>,
        within: u128,
        confidence: Confidence,
    ) -> Result<Self, MechanismError> {
        with_accuracy(within, confidence, |epsilon| {
            Self::new(relation, attribute.clone(), range.clone(), epsilon)
        })
    }
}

/// What a sum of numbers in this range states, and the noise for it.
pub(super) fn noise_of<R: SummingRelation>(
    range: &RangeInclusive<i64>,
    epsilon: Epsilon,
) -> Result<(Laplace, DiscreteLaplace), MechanismError> {
    let change = NonZeroU64::new(R::largest_change(range)).filter(|_| !range.is_empty());
    let LaplaceNoise { fact, noise } =
        LaplaceNoise::new(change.ok_or(MechanismError::BadRange)?, epsilon)?;
    Ok((fact, noise))
}

impl<D: Dataset + ?Sized, R: Relation> Mechanism<D> for NoisySum<D, R> {
    type Machine = Released<i64>;

    fn start(&self, data: &Arc<D>, coins: &mut Coins<'_>) -> Result<Released<i64>, Fault> {
        // Drawn before the data is read: whether the coins fail must not depend on the data.
        let noise = coins.noise(&self.noise)?;
        let mut sum = ClampedSum::new(self.range.clone());
        self.attribute.fold(data, &mut sum);
        Ok(Released(fitted(coins.release(sum.total(), noise))))
    }

    fn describe(&self) -> Description {
        self.description()
    }
}

impl<D: ?Sized, R> ReleasesOnly for NoisySum<D, R> {}

impl<D: ?Sized, R: Relation> NoisySum<D, R> {
    fn description(&self) -> Description {
        let (low, high) = (self.range.start(), self.range.end());
        Description::new("NoisySum")
            .with("relation", R::NAME)
            .with("attribute", self.attribute.name())
            .with("range", format_args!("{low}..={high}"))
            .with("epsilon", self.fact.epsilon)
    }
}

states!(Laplace: impl[D: ?Sized, R: SummingRelation,] NoisySum<D, R>, R, |sum| sum.fact);
shown!(impl[D: ?Sized, R: Relation] NoisySum<D, R>);
noisy!(
    impl[D: ?Sized, R] NoisySum<D, R>, i64, |sum| sum.noise.into(),
    About::all_rows().clamped(format_args!("{:?}", sum.range))
);

impl<D: ?Sized, R> Clone for NoisySum<D, R> {
    fn clone(&self) -> Self {
        Self {
            attribute: self.attribute.clone(),
            range: self.range.clone(),
            ..*self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::NoiseError;
    use crate::privacy::{Private, Rdp};
    use crate::tests::exact::{answers, violation};

    fn sum<R: SummingRelation>(
        relation: R,
        range: RangeInclusive<i64>,
        epsilon: &str,
    ) -> Result<NoisySum<Vec<u8>, R>, MechanismError> {
        let attribute = Attribute::new("signed", |row: &u8| match row {
            99 => panic!("an unlucky row"),
            row => i64::from(*row) - 5,
        });
        NoisySum::new(relation, attribute, range, epsilon.parse().unwrap())
    }

    /// Whether the loss is attained between these datasets, and surely not exceeded.
    fn attains<R: SummingRelation>(
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
        assert_eq!(error(empty.clone(), "1"), MechanismError::BadRange);
        assert_eq!(error(3..=3, "1"), MechanismError::BadRange);
        assert_eq!(error(0..=3, "0"), MechanismError::NoLoss("epsilon"));
        assert_eq!(
            sum(AddRemove, empty, "1").unwrap_err(),
            MechanismError::BadRange
        );
        assert_eq!(
            sum(AddRemove, 0..=0, "1").unwrap_err(),
            MechanismError::BadRange
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
