//! The sum of a bounded attribute, with Gaussian noise.

use std::marker::PhantomData;
use std::ops::RangeInclusive;
use std::sync::Arc;

use super::gaussian::GaussianNoise;
use super::lattice::of_steps;
use super::least_loss::with_accuracy;
use super::real_range::Bounded;
use super::{About, MechanismError, RealRange, SummingRelation, fitted, noisy, shown, states};
use crate::data::{Attribute, ClampedSum, Dataset, RealSum};
use crate::machine::{Coins, Description, Fault, Mechanism, Released, ReleasesOnly};
use crate::noise::Noise;
use crate::number::{Confidence, Mu, Rho};
use crate::privacy::facts::Gaussian;
use crate::privacy::{AddRemove, Relation};

/// The sum of an attribute that is clamped to a range, plus rounded Gaussian noise.
///
/// Use it like [`NoisySum`](super::NoisySum), where many answers are accounted together in zCDP, RDP
/// or GDP, or converted to (ε, δ) at the end. For averages see [`GaussianMean`](super::GaussianMean).
///
/// ```
/// use queryables::data::Attribute;
/// use queryables::mechanisms::{Accuracy, GaussianSum};
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let hours: Arc<Vec<i64>> = Arc::new(vec![40, 13, 40, 90]);
/// let filter = launch(&Filter::concurrent(ZCdp, "0.5".parse()?), hours)?;
///
/// let hours = Attribute::new("hours per week", |hours: &i64| *hours);
/// let total = GaussianSum::new(AddRemove, hours, 0..=60, "0.5".parse()?)?;
/// // Noise with a standard deviation of 60.
/// assert_eq!(total.accuracy("0.95".parse()?), 118);
/// // 40 + 13 + 40 + 60.
/// let total: i64 = filter.release(&total)?;
/// assert!((total - 153).abs() < 600);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// That of the Gaussian mechanism, of which it is a postprocessing
/// ([`RoundedGaussian`](crate::noise::RoundedGaussian)), for neighbours under `R`: one row that is
/// added or removed changes the sum by at most Δ = max(|low|, |high|), and one that is replaced by at
/// most Δ = high − low. With a variance of σ² it states [`Gaussian`] noise of μ = Δ/σ, or ρ = μ²/2.
/// At a distance of d, d·μ and d²·ρ. A row that cannot be read counts as the number of the range that
/// is nearest to zero. An answer that an `i64` cannot hold is clamped, which is postprocessing.
pub struct GaussianSum<D: ?Sized, R = AddRemove> {
    attribute: Attribute<D, i64>,
    range: RangeInclusive<i64>,
    gaussian: GaussianNoise,
    relation: PhantomData<fn() -> R>,
}

/// The sum of a real attribute that is clamped to a range and rounded to steps, plus rounded Gaussian
/// noise in the same steps.
///
/// Use it like [`NoisyRealSum`](super::NoisyRealSum), where many answers are accounted together in
/// zCDP, RDP or GDP, or converted to (ε, δ) at the end.
///
/// ```
/// use queryables::data::Attribute;
/// use queryables::mechanisms::GaussianRealSum;
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let litres: Arc<Vec<f64>> = Arc::new(vec![0.25, 1.5, 0.75, 12.0]);
/// let filter = launch(&Filter::concurrent(ZCdp, "0.5".parse()?), litres)?;
///
/// // From 0 to 2 litres.
/// let litres = Attribute::new("litres", |litres: &f64| *litres);
/// let total = GaussianRealSum::new(AddRemove, litres, 0.0..=2.0, "0.5".parse()?)?;
/// let total: f64 = filter.release(&total)?;
/// assert!((total - 4.5).abs() < 20.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// That of [`GaussianSum`], for what each row has in whole steps, as for
/// [`NoisyRealSum`](super::NoisyRealSum). The answer is a multiple of the step, rounded to a float,
/// which is postprocessing.
pub struct GaussianRealSum<D: ?Sized, R = AddRemove> {
    bounded: Bounded<D>,
    gaussian: GaussianNoise,
    relation: PhantomData<fn() -> R>,
}

/// Δ², for numbers in this range.
fn square<R: SummingRelation>(range: &RangeInclusive<i64>) -> Result<u128, MechanismError> {
    let change = u128::from(R::largest_change(range));
    if range.is_empty() || change == 0 {
        return Err(MechanismError::BadRange);
    }
    // A change of 2^64 − 1 has a square of less than 2^128.
    Ok(change * change)
}

impl<D: ?Sized, R: SummingRelation> GaussianSum<D, R> {
    /// Sums `attribute`, clamped to `range`, with ρ-zCDP: a variance of Δ²/(2ρ).
    ///
    /// # Errors
    ///
    /// [`MechanismError::BadRange`] if the range is empty or no row can change the sum,
    /// [`MechanismError::NoLoss`] if ρ is zero, and [`MechanismError::TooFine`] or
    /// [`MechanismError::Noise`] if the variance needs longer numbers than the noise works with.
    pub fn new(
        _relation: R,
        attribute: Attribute<D, i64>,
        range: RangeInclusive<i64>,
        rho: Rho,
    ) -> Result<Self, MechanismError> {
        let square = square::<R>(&range)?;
        let gaussian = GaussianNoise::with_rho(square, rho)?.on_whole_numbers(square);
        Ok(Self::with(attribute, range, gaussian))
    }

    /// The same with μ-GDP: a variance of Δ²/μ².
    ///
    /// # Errors
    ///
    /// As for [`new`](Self::new).
    pub fn with_mu(
        _relation: R,
        attribute: Attribute<D, i64>,
        range: RangeInclusive<i64>,
        mu: Mu,
    ) -> Result<Self, MechanismError> {
        let square = square::<R>(&range)?;
        let gaussian = GaussianNoise::with_mu(square, mu)?.on_whole_numbers(square);
        Ok(Self::with(attribute, range, gaussian))
    }

    /// The same with the smallest ρ for which an answer is at most `within` away from the sum of the
    /// clamped values, with at least this confidence ([`Accuracy`](super::Accuracy)). It is rounded up
    /// to six digits.
    ///
    /// # Errors
    ///
    /// [`MechanismError::TooAccurate`] if no ρ up to 10^6 suffices, and those of [`new`](Self::new).
    pub fn with_accuracy(
        relation: R,
        attribute: Attribute<D, i64>,
        range: RangeInclusive<i64>,
        within: u128,
        confidence: Confidence,
    ) -> Result<Self, MechanismError> {
        with_accuracy(within, confidence, |rho| {
            Self::new(relation, attribute.clone(), range.clone(), rho)
        })
    }

    fn with(
        attribute: Attribute<D, i64>,
        range: RangeInclusive<i64>,
        gaussian: GaussianNoise,
    ) -> Self {
        Self {
            attribute,
            range,
            gaussian,
            relation: PhantomData,
        }
    }
}

impl<D: ?Sized, R: SummingRelation> GaussianRealSum<D, R> {
    /// Sums `attribute`, clamped to `range`, with ρ-zCDP: a variance of Δ²/(2ρ).
    ///
    /// # Errors
    ///
    /// Those of [`NoisyRealSum::new`](super::NoisyRealSum::new) about the range and the step, and those
    /// of [`GaussianSum::new`].
    pub fn new(
        _relation: R,
        attribute: Attribute<D, f64>,
        range: impl Into<RealRange>,
        rho: Rho,
    ) -> Result<Self, MechanismError> {
        Self::with(attribute, range.into(), |square| {
            GaussianNoise::with_rho(square, rho)
        })
    }

    /// The same with μ-GDP: a variance of Δ²/μ².
    ///
    /// # Errors
    ///
    /// As for [`new`](Self::new).
    pub fn with_mu(
        _relation: R,
        attribute: Attribute<D, f64>,
        range: impl Into<RealRange>,
        mu: Mu,
    ) -> Result<Self, MechanismError> {
        Self::with(attribute, range.into(), |square| {
            GaussianNoise::with_mu(square, mu)
        })
    }

    /// The same with the smallest ρ for which an answer is at most `within` away from the sum of the
    /// rounded and clamped values, with at least this confidence ([`Accuracy`](super::Accuracy)). It
    /// is rounded up to six digits.
    ///
    /// # Errors
    ///
    /// [`MechanismError::BadAccuracy`] if `within` is negative or NaN,
    /// [`MechanismError::TooAccurate`] if no ρ up to 10^6 suffices, and those of [`new`](Self::new).
    pub fn with_accuracy(
        relation: R,
        attribute: Attribute<D, f64>,
        range: impl Into<RealRange>,
        within: f64,
        confidence: Confidence,
    ) -> Result<Self, MechanismError> {
        let range = range.into();
        with_accuracy(within, confidence, |rho| {
            Self::new(relation, attribute.clone(), range, rho)
        })
    }

    /// The noise is made for the square of Δ.
    fn with(
        attribute: Attribute<D, f64>,
        range: RealRange,
        gaussian: impl FnOnce(u128) -> Result<GaussianNoise, MechanismError>,
    ) -> Result<Self, MechanismError> {
        let bounded = Bounded::new(attribute, range)?;
        Ok(Self {
            gaussian: gaussian(square::<R>(&bounded.scale.range())?)?,
            bounded,
            relation: PhantomData,
        })
    }
}

impl<D: Dataset + ?Sized, R: Relation> Mechanism<D> for GaussianSum<D, R> {
    type Machine = Released<i64>;

    fn start(&self, data: &Arc<D>, coins: &mut Coins<'_>) -> Result<Released<i64>, Fault> {
        // Drawn before the data is read: whether the coins fail must not depend on the data.
        let noise = coins.noise(&self.gaussian.noise)?;
        let mut sum = ClampedSum::new(self.range.clone());
        self.attribute.fold(data, &mut sum);
        Ok(Released(fitted(coins.release(sum.total(), noise))))
    }

    fn describe(&self) -> Description {
        self.description()
    }
}

impl<D: ?Sized, R> ReleasesOnly for GaussianSum<D, R> {}

impl<D: Dataset + ?Sized, R: Relation> Mechanism<D> for GaussianRealSum<D, R> {
    type Machine = Released<f64>;

    fn start(&self, data: &Arc<D>, coins: &mut Coins<'_>) -> Result<Released<f64>, Fault> {
        // Drawn before the data is read: whether the coins fail must not depend on the data.
        let noise = coins.noise(&self.gaussian.noise)?;
        let scale = self.bounded.scale;
        let mut sum = RealSum::new(scale.per_unit(), scale.range());
        self.bounded.attribute.fold(data, &mut sum);
        let noisy = coins.release(sum.total(), noise);
        Ok(Released(of_steps(noisy, scale.exponent)))
    }

    fn describe(&self) -> Description {
        self.description()
    }
}

impl<D: ?Sized, R> ReleasesOnly for GaussianRealSum<D, R> {}

impl<D: ?Sized, R: Relation> GaussianSum<D, R> {
    fn description(&self) -> Description {
        let (low, high) = (self.range.start(), self.range.end());
        let description = Description::new("GaussianSum")
            .with("relation", R::NAME)
            .with("attribute", self.attribute.name())
            .with("range", format_args!("{low}..={high}"));
        self.gaussian.describe(description)
    }
}

impl<D: ?Sized, R: Relation> GaussianRealSum<D, R> {
    fn description(&self) -> Description {
        let description = self.bounded.describe::<R>("GaussianRealSum");
        self.gaussian.describe(description)
    }
}

/// The shared implementation of the two.
macro_rules! gaussian_sum {
    ($Sum:ident, $Number:ty, |$sum:ident| $exponent:expr, $about:expr, {$($part:ident),*}) => {
        states!(
            Gaussian: impl[D: ?Sized, R: SummingRelation,] $Sum<D, R>, R,
            |sum| sum.gaussian.fact
        );
        shown!(impl[D: ?Sized, R: Relation] $Sum<D, R>);
        noisy!(
            impl[D: ?Sized, R] $Sum<D, R>, $Number,
            |$sum| Noise::from($sum.gaussian.noise).in_steps_of($exponent), $about
        );

        impl<D: ?Sized, R> Clone for $Sum<D, R> {
            fn clone(&self) -> Self {
                Self {
                    $($part: self.$part.clone(),)*
                    ..*self
                }
            }
        }
    };
}

gaussian_sum!(
    GaussianSum, i64, |sum| 0, About::all_rows().clamped(format_args!("{:?}", sum.range)),
    {attribute, range}
);
gaussian_sum!(
    GaussianRealSum,
    f64,
    |sum| sum.bounded.scale.exponent,
    sum.bounded.about_rounded(),
    { bounded }
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{CoinSource, NotPrivateSeededCoins};
    use crate::mechanisms::{Accuracy, Noisy};
    use crate::noise::NoiseError;
    use crate::number::Ratio;
    use crate::privacy::{Distance, Gdp, Private, Replace, ZCdp};
    use crate::tests::exact::answers;

    fn sum<R: SummingRelation>(
        relation: R,
        range: RangeInclusive<i64>,
        rho: &str,
    ) -> Result<GaussianSum<Vec<u8>, R>, MechanismError> {
        let value = Attribute::new("signed", |row: &u8| i64::from(*row) - 5);
        GaussianSum::new(relation, value, range, rho.parse().unwrap())
    }

    fn real<R: SummingRelation>(
        relation: R,
        range: RangeInclusive<f64>,
        exponent: i32,
    ) -> Result<GaussianRealSum<Vec<f64>, R>, MechanismError> {
        let itself = Attribute::new("itself", |row: &f64| *row);
        let range = RealRange::of_multiples(range, exponent);
        GaussianRealSum::new(relation, itself, range, "0.5".parse().unwrap())
    }

    /// The Rényi divergence of order 2 is at most 2ρ = 1, and rounding takes less than one part in
    /// 12σ² from it.
    #[test]
    fn the_loss_is_nearly_attained_by_the_largest_change_and_not_exceeded() {
        fn divergence<R: SummingRelation>(relation: R, pair: [&[u8]; 2], span: u64) -> f64 {
            let sum = sum(relation, -3..=2, "0.5").unwrap();
            let [one, other] = pair.map(|rows| answers(&sum, rows, &[()], span));
            let squares = one.outcomes.iter().filter_map(|(answer, p)| {
                let q = other.outcomes.get(answer)?;
                Some((p * p / q).to_f64_fast())
            });
            squares.sum::<f64>().ln()
        }
        // A row of 0 stands for -5, clamped to -3; a row of 9 for 4, clamped to 2.
        // Fractions are enclosed to nine digits.
        let nearly = 1.0 - 1.0 / 100.0..1.0 + 1e-9;
        let added = divergence(AddRemove, [&[5], &[5, 0]], 30);
        assert!(nearly.contains(&added), "{added}");
        assert!(divergence(AddRemove, [&[5], &[5, 9]], 30) < 0.5);
        let replaced = divergence(Replace, [&[0], &[9]], 50);
        assert!(nearly.contains(&replaced), "{replaced}");
    }

    #[test]
    fn noise_follows_from_the_loss_and_the_range() {
        let variance = |sum: &GaussianSum<Vec<u8>, _>| sum.gaussian.noise.variance();
        assert_eq!(
            variance(&sum(AddRemove, -3..=2, "0.5").unwrap()),
            Ratio::from(9)
        );
        let replaced = sum(Replace, -3..=2, "0.5").unwrap();
        assert_eq!(replaced.gaussian.noise.variance(), Ratio::from(25));
        assert!((replaced.variance() - 25.0 - 1.0 / 12.0).abs() < 1e-12);
        assert_eq!(replaced.loss(&ZCdp), Ok("0.5".parse().unwrap()));
        assert_eq!(replaced.loss(&Gdp), Ok("1".parse().unwrap()));
        let two = Distance::new(2).unwrap();
        assert_eq!(replaced.loss_at(&ZCdp, two), Ok("2".parse().unwrap()));
        let value = Attribute::<Vec<u8>, _>::new("itself", |row: &u8| i64::from(*row));
        let by_mu = GaussianSum::with_mu(AddRemove, value, 0..=3, "1".parse().unwrap()).unwrap();
        assert_eq!(variance(&by_mu), Ratio::from(9));
    }

    #[test]
    fn real_sums_are_rounded_and_clamped_before_they_are_added_up() {
        // Noise of a standard deviation of a quarter, which no draw exceeds 12 times.
        let sum = GaussianRealSum::new(
            AddRemove,
            Attribute::new("itself", |row: &f64| *row),
            RealRange::of_multiples(0.0..=2.0, -2),
            "32".parse().unwrap(),
        )
        .unwrap();
        let data = Arc::new(vec![0.3, 1.9, 7.0, -4.0, f64::NAN]);
        let Released(answer) = sum
            .start(&data, &mut NotPrivateSeededCoins::new(5).coins())
            .unwrap();
        assert!((answer - 4.0).abs() < 3.0, "{answer}");
        assert_eq!((4.0 * answer).fract(), 0.0);
        assert!((sum.accuracy("0.95".parse().unwrap()) - 0.5).abs() < 0.01);
    }

    #[test]
    fn bad_parameters_are_refused() {
        let error = |range, rho| sum(Replace, range, rho).unwrap_err();
        assert_eq!(error(3..=3, "1"), MechanismError::BadRange);
        assert_eq!(error(0..=3, "0"), MechanismError::NoLoss("rho"));
        let (what, bits) = ("variance in cells", 124);
        assert_eq!(
            error(i64::MIN..=i64::MAX, "1"),
            MechanismError::Noise(NoiseError::TooFine { what, bits })
        );
        assert_eq!(
            real(AddRemove, 0.0..=0.0, 0).unwrap_err(),
            MechanismError::BadRange
        );
        assert_eq!(
            real(AddRemove, 0.0..=1.0, 501).unwrap_err(),
            MechanismError::BadExponent
        );
        assert_eq!(
            real(Replace, 0.0..=2_f64.powi(51), 0).unwrap_err(),
            MechanismError::TooWide
        );
    }

    #[test]
    fn debug_shows_what_is_public() {
        assert_eq!(
            format!("{:?}", sum(AddRemove, -3..=2, "0.5").unwrap()),
            "GaussianSum(relation = add or remove one row, attribute = signed, range = -3..=2, rho = 0.5)"
        );
        assert_eq!(
            format!("{:?}", real(Replace, 0.0..=1.5, -1).unwrap()),
            "GaussianRealSum(relation = replace one row, attribute = itself, range = 0..=1.5, exponent = -1, rho = 0.5)"
        );
    }
}
