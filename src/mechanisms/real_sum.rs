//! The sum of a real attribute.

use std::marker::PhantomData;
use std::sync::Arc;

use super::lattice::of_steps;
use super::least_loss::with_accuracy;
use super::real_range::Bounded;
use super::sum::noise_of;
use super::{MechanismError, RealRange, SummingRelation, noisy, shown, states};
use crate::data::{Attribute, Dataset, RealSum};
use crate::machine::{Coins, Description, Fault, Mechanism, Released, ReleasesOnly};
use crate::noise::{DiscreteLaplace, Noise};
use crate::number::{Confidence, Epsilon};
use crate::privacy::facts::Laplace;
use crate::privacy::{AddRemove, Relation};

/// The sum of a real attribute that is clamped to a range and rounded to steps, plus discrete Laplace
/// noise in the same steps.
///
/// Use it for totals of measured quantities. Steps follow from the range ([`RealRange`]). For several
/// such sums at once see [`GaussianVectorSum`](super::GaussianVectorSum).
///
/// ```
/// use queryables::data::Attribute;
/// use queryables::mechanisms::NoisyRealSum;
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let litres: Arc<Vec<f64>> = Arc::new(vec![0.25, 1.5, 0.75, 12.0]);
/// let filter = launch(&Filter::concurrent(PureDp, "1".parse()?), litres)?;
///
/// // From 0 to 2 litres.
/// let litres = Attribute::new("litres", |litres: &f64| *litres);
/// let total = NoisyRealSum::new(AddRemove, litres, 0.0..=2.0, "0.5".parse()?)?;
/// let total: f64 = filter.release(&total)?;
/// assert!((total - 4.5).abs() < 400.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// That of [`NoisySum`](super::NoisySum), for what each row has in whole steps: rounding comes first,
/// and clamping to the range, which is in whole steps too, after it ([`RealRange`]). So Δ is a whole
/// number of steps, rounding included. The answer is a multiple of the step, rounded to a float, which
/// is postprocessing.
///
/// An estimate is about the sum of the rounded values, and says so: how many were rounded is private.
/// For the sum before rounding, state how many there are at most
/// ([`Estimate::before_rounding`](super::Estimate::before_rounding)).
pub struct NoisyRealSum<D: ?Sized, R = AddRemove> {
    bounded: Bounded<D>,
    fact: Laplace,
    noise: DiscreteLaplace,
    relation: PhantomData<fn() -> R>,
}

impl<D: ?Sized, R: SummingRelation> NoisyRealSum<D, R> {
    /// Sums `attribute`, clamped to `range`.
    ///
    /// # Errors
    ///
    /// [`MechanismError::BadExponent`], [`MechanismError::CoarseStep`] if the step is more than a
    /// hundredth of the range, [`MechanismError::TooWide`] if an end of the range is more than 2^50
    /// steps away from zero, [`MechanismError::BadRange`] if it is empty, not made of numbers, or a
    /// single number, and the other errors of [`NoisySum::new`](super::NoisySum::new).
    pub fn new(
        _relation: R,
        attribute: Attribute<D, f64>,
        range: impl Into<RealRange>,
        epsilon: Epsilon,
    ) -> Result<Self, MechanismError> {
        let bounded = Bounded::new(attribute, range.into())?;
        let (fact, noise) = noise_of::<R>(&bounded.scale.range(), epsilon)?;
        Ok(Self {
            bounded,
            fact,
            noise,
            relation: PhantomData,
        })
    }
}

impl<D: ?Sized, R: SummingRelation> NoisyRealSum<D, R> {
    /// The same with the smallest ε for which an answer is at most `within` away from the sum of the
    /// rounded and clamped values, with at least this confidence ([`Accuracy`](super::Accuracy)). It
    /// is rounded up to six digits.
    ///
    /// # Errors
    ///
    /// [`MechanismError::BadAccuracy`] if `within` is negative or NaN,
    /// [`MechanismError::TooAccurate`] if no ε up to 10^6 suffices, and those of [`new`](Self::new).
    pub fn with_accuracy(
        relation: R,
        attribute: Attribute<D, f64>,
        range: impl Into<RealRange>,
        within: f64,
        confidence: Confidence,
    ) -> Result<Self, MechanismError> {
        let range = range.into();
        with_accuracy(within, confidence, |epsilon| {
            Self::new(relation, attribute.clone(), range, epsilon)
        })
    }
}

impl<D: Dataset + ?Sized, R: Relation> Mechanism<D> for NoisyRealSum<D, R> {
    type Machine = Released<f64>;

    fn start(&self, data: &Arc<D>, coins: &mut Coins<'_>) -> Result<Released<f64>, Fault> {
        // Drawn before the data is read: whether the coins fail must not depend on the data.
        let noise = coins.noise(&self.noise)?;
        let scale = self.bounded.scale;
        let mut sum = RealSum::new(scale.per_unit(), scale.range());
        self.bounded.attribute.fold(data, &mut sum);
        // Not as an `i64`: ten thousand rows of 2^50 steps would overflow it.
        let noisy = coins.release(sum.total(), noise);
        Ok(Released(of_steps(noisy, scale.exponent)))
    }

    fn describe(&self) -> Description {
        self.description()
    }
}

impl<D: ?Sized, R> ReleasesOnly for NoisyRealSum<D, R> {}

impl<D: ?Sized, R: Relation> NoisyRealSum<D, R> {
    fn description(&self) -> Description {
        let description = self.bounded.describe::<R>("NoisyRealSum");
        description.with("epsilon", self.fact.epsilon)
    }
}

states!(Laplace: impl[D: ?Sized, R: SummingRelation,] NoisyRealSum<D, R>, R, |sum| sum.fact);
shown!(impl[D: ?Sized, R: Relation] NoisyRealSum<D, R>);
noisy!(
    impl[D: ?Sized, R] NoisyRealSum<D, R>, f64,
    |sum| Noise::from(sum.noise).in_steps_of(sum.bounded.scale.exponent),
    sum.bounded.about_rounded()
);

impl<D: ?Sized, R> Clone for NoisyRealSum<D, R> {
    fn clone(&self) -> Self {
        Self {
            bounded: self.bounded.clone(),
            ..*self
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ops::RangeInclusive;

    use super::*;
    use crate::machine::CoinSource;
    use crate::machine::NotPrivateSeededCoins;
    use crate::mechanisms::NoisySum;
    use crate::privacy::{Distance, Private, PureDp, Rdp, Replace};
    use crate::tests::bracket::Bracket;
    use crate::tests::enumerate::{Enumeration, enumerate_laws};
    use dashu_ratio::RBig;

    fn sum<R: SummingRelation>(
        relation: R,
        range: RangeInclusive<f64>,
        exponent: i32,
    ) -> Result<NoisyRealSum<Vec<f64>, R>, MechanismError> {
        let itself = Attribute::new("itself", |row: &f64| {
            assert!(*row < 1e9, "an unlucky row");
            *row
        });
        let range = RealRange::of_multiples(range, exponent);
        NoisyRealSum::new(relation, itself, range, "1".parse().unwrap())
    }

    /// In quarters.
    fn answers<R: SummingRelation>(
        sum: &NoisyRealSum<Vec<f64>, R>,
        rows: &[f64],
    ) -> Enumeration<i64> {
        let data = Arc::new(rows.to_vec());
        enumerate_laws(100, |coins| {
            match sum.start(&data, &mut Coins::new(&mut *coins)) {
                Ok(Released(sum)) => (4.0 * sum) as i64,
                Err(_) => i64::MIN,
            }
        })
    }

    /// Whether some answer has odds that differ by more than e^(e/100).
    fn exceeds(one: &Enumeration<i64>, other: &Enumeration<i64>, e: u32) -> bool {
        let factor = Bracket::exp_minus(&RBig::from_parts(e.into(), 100_u8.into()));
        one.outcomes
            .iter()
            .any(|(answer, mass)| mass * factor.low() > other.probability(answer) + &other.cut)
    }

    #[test]
    fn the_loss_is_attained_and_not_exceeded_rounding_included() {
        // From -0.5 to 1.4, which is rounded to 1.5: six quarters.
        let sum = sum(AddRemove, -0.5..=1.4, -2).unwrap();
        let none = answers(&sum, &[]);
        for (row, attained) in [(1.6, true), (1e8, true), (1.374, false), (-9.0, false)] {
            let one = answers(&sum, &[row]);
            assert!(!exceeds(&one, &none, 100) && !exceeds(&none, &one, 100));
            assert_eq!(exceeds(&one, &none, 99), attained, "{row}");
        }
        // NaN, and a row that cannot be read, is zero.
        for row in [f64::NAN, 2e9, 0.12, -0.12] {
            assert_eq!(answers(&sum, &[row]), none);
        }
    }

    /// With the finest lattice that the range allows, ten thousand rows are more than 2^63 steps.
    #[test]
    fn sums_are_not_cut_off_where_an_i64_ends() {
        let sum = sum(AddRemove, 0.0..=1.0, -50).unwrap();
        let data = Arc::new(vec![1.0; 20_000]);
        let Released(answer) = sum
            .start(&data, &mut NotPrivateSeededCoins::new(5).coins())
            .unwrap();
        // Noise of scale 1, which is beyond 50 with probability 4e-22.
        assert!((answer - 20_000.0).abs() < 50.0, "{answer}");
    }

    #[test]
    fn losses_are_those_in_steps() {
        let sum = sum(Replace, -0.5..=1.5, -2).unwrap();
        assert_eq!(sum.loss(&PureDp), Ok("1".parse().unwrap()));
        let two = Distance::new(2).unwrap();
        assert_eq!(sum.loss_at(&PureDp, two), Ok("2".parse().unwrap()));
        let order = Rdp::new("2".parse().unwrap());
        let value = Attribute::<Vec<i64>, _>::new("itself", |row: &i64| *row);
        let in_steps = NoisySum::new(Replace, value, -2..=6, "1".parse().unwrap()).unwrap();
        assert_eq!(sum.loss(&order), in_steps.loss(&order));
    }

    #[test]
    fn bad_parameters_are_refused() {
        let error = |range, exponent| sum(AddRemove, range, exponent).map(|_| ());
        for range in [2.0..=1.0, 0.0..=0.0, f64::NAN..=1.0, 0.0..=f64::NAN] {
            assert_eq!(error(range, 0), Err(MechanismError::BadRange));
        }
        for range in [
            0.0..=f64::INFINITY,
            0.0..=2_f64.powi(51),
            -2_f64.powi(51)..=0.0,
        ] {
            assert_eq!(error(range, 0), Err(MechanismError::TooWide));
        }
        for exponent in [501, -501] {
            assert_eq!(error(0.0..=1.0, exponent), Err(MechanismError::BadExponent));
        }
        assert_eq!(error(0.0..=2_f64.powi(50), 0), Ok(()));
        // Less than half a step, which is rounded to none.
        assert_eq!(error(0.0..=0.1, 0), Err(MechanismError::BadRange));
    }
}
