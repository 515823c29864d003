//! The sum of clipped vectors.

use std::marker::PhantomData;
use std::sync::Arc;

use super::gaussian::GaussianNoise;
use super::least_loss::with_accuracy;
use super::limit::COORDINATES;
use super::{Lattice, MechanismError, SummingRelation, noisy, shown, states};
use crate::data::{ClippedSum, Dataset, Vector};
use crate::machine::{Coins, CoinsError, Description, Fault, Mechanism, Released, ReleasesOnly};
use crate::noise::Noise;
use crate::number::{Confidence, Mu, Rho};
use crate::privacy::facts::Gaussian;
use crate::privacy::{AddRemove, Relation};

/// The sum of vectors that are clipped to a length, plus rounded Gaussian noise in each coordinate.
///
/// Use it for gradients, embeddings and averages of many numbers at once: noise depends on the
/// length of the vectors, not on how many coordinates they have. Choose the length from what is
/// publicly known. Steps follow from it ([`Lattice`]).
///
/// ```
/// use queryables::data::Vector;
/// use queryables::mechanisms::{GaussianVectorSum, Lattice};
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let steps: Arc<Vec<[f64; 2]>> = Arc::new(vec![[0.6, 0.8]; 1000]);
/// let filter = launch(&Filter::concurrent(ZCdp, "0.5".parse()?), steps)?;
///
/// // A length of 1.
/// let step = Vector::new("step", |step: &[f64; 2], out: &mut [f64]| out.copy_from_slice(step));
/// let lattice = Lattice::of_length(1.0)?;
/// let sum = GaussianVectorSum::new(AddRemove, step, 2, lattice, "0.5".parse()?)?;
/// let sum: Vec<f64> = filter.release(&sum)?;
/// assert!((sum[0] - 600.0).abs() < 20.0 && (sum[1] - 800.0).abs() < 20.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// That of the Gaussian mechanism, of which it is a postprocessing
/// ([`RoundedGaussian`](crate::noise::RoundedGaussian)), for neighbours under `R`. Each row's
/// vector is rounded to the nearest point of the lattice, and then clipped in whole numbers: so the
/// vectors that are summed are at most the radius long, rounding included. One that is added or removed
/// moves the sum by at most that, and one that is replaced by twice that, which is Δ. With a
/// variance of σ², in steps of the lattice, it states [`Gaussian`] noise of μ = Δ/σ, or ρ = μ²/2.
/// At a distance of d, d·μ and d²·ρ.
///
/// A row that cannot be read counts as zero, as does one with an infinite or NaN coordinate. The
/// answer is a multiple of the lattice's step, rounded to a float, which is postprocessing.
pub struct GaussianVectorSum<D: ?Sized, R = AddRemove> {
    pub(super) vector: Vector<D>,
    pub(super) dimension: usize,
    pub(super) lattice: Lattice,
    pub(super) gaussian: GaussianNoise,
    relation: PhantomData<fn() -> R>,
}

/// Draws whether a row is kept.
type Keep = dyn Fn(&mut Coins<'_>) -> Result<bool, CoinsError>;

/// For how many rows it is drawn at a time whether they are kept: enough for several threads.
const DRAWN: usize = 1 << 20;

impl<D: ?Sized, R: SummingRelation> GaussianVectorSum<D, R> {
    /// Sums vectors of `dimension` coordinates, on this lattice, with ρ-zCDP: a variance of
    /// Δ²/(2ρ).
    ///
    /// # Errors
    ///
    /// [`MechanismError::NoDimension`] or [`MechanismError::TooMany`] if there are no coordinates, or
    /// more than 2^21, [`MechanismError::BadExponent`], [`MechanismError::BadRadius`] or
    /// [`MechanismError::CoarseStep`] if the lattice is not in its range, [`MechanismError::NoLoss`] if ρ is zero, and [`MechanismError::TooFine`] or [`MechanismError::Noise`] if the variance
    /// needs longer numbers than the noise works with: 4Δ²/(2ρ), in lowest terms, must have a
    /// numerator of at most 2^124.
    pub fn new(
        _relation: R,
        vector: Vector<D>,
        dimension: usize,
        lattice: Lattice,
        rho: Rho,
    ) -> Result<Self, MechanismError> {
        Self::with(vector, dimension, lattice, |square| {
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
        vector: Vector<D>,
        dimension: usize,
        lattice: Lattice,
        mu: Mu,
    ) -> Result<Self, MechanismError> {
        Self::with(vector, dimension, lattice, |square| {
            GaussianNoise::with_mu(square, mu)
        })
    }

    /// The same with the smallest ρ for which a coordinate of the answer is at most `within` away
    /// from the sum of the rounded and clipped ones, with at least this confidence for each
    /// ([`Accuracy`](super::Accuracy)). It is rounded up to six digits.
    ///
    /// # Errors
    ///
    /// [`MechanismError::BadAccuracy`] if `within` is negative or NaN,
    /// [`MechanismError::TooAccurate`] if no ρ up to 10^6 suffices, and those of [`new`](Self::new).
    pub fn with_accuracy(
        relation: R,
        vector: Vector<D>,
        dimension: usize,
        lattice: Lattice,
        within: f64,
        confidence: Confidence,
    ) -> Result<Self, MechanismError> {
        with_accuracy(within, confidence, |rho| {
            Self::new(relation, vector.clone(), dimension, lattice, rho)
        })
    }

    /// The noise is made for the square of Δ.
    fn with(
        vector: Vector<D>,
        dimension: usize,
        lattice: Lattice,
        gaussian: impl FnOnce(u128) -> Result<GaussianNoise, MechanismError>,
    ) -> Result<Self, MechanismError> {
        let radius = lattice.checked_radius()?;
        if dimension == 0 {
            return Err(MechanismError::NoDimension);
        }
        COORDINATES.check(dimension)?;
        // The farthest apart are opposite vectors, and these are on a line.
        let change = u128::from(R::largest_change(&(-radius..=radius)));
        Ok(Self {
            vector,
            dimension,
            lattice,
            gaussian: gaussian(change * change)?,
            relation: PhantomData,
        })
    }
}

impl<D: Dataset + ?Sized, R> GaussianVectorSum<D, R> {
    /// The noisy sum of those rows that are kept. `keep` decides this for each row in turn; by
    /// default all are kept.
    pub(super) fn release(
        &self,
        data: &D,
        coins: &mut Coins<'_>,
        keep: Option<&Keep>,
    ) -> Result<Released<Vec<f64>>, Fault> {
        // Drawn before the data is read: whether the coins fail must not depend on the data.
        let noise = (0..self.dimension)
            .map(|_| coins.noise(&self.gaussian.noise))
            .collect::<Result<Vec<_>, _>>()?;
        let Lattice {
            exponent, radius, ..
        } = self.lattice;
        let mut sum = ClippedSum::new(exponent, radius, self.dimension);
        let rows = 0..data.len();
        match keep {
            None => self.vector.sum(data, rows, None, &mut sum),
            Some(keep) => {
                for start in rows.clone().step_by(DRAWN) {
                    let rows = start..rows.end.min(start.saturating_add(DRAWN));
                    let drawn = rows.clone().map(|_| keep(coins));
                    let kept = drawn.collect::<Result<Vec<bool>, _>>()?;
                    self.vector.sum(data, rows, Some(&kept), &mut sum);
                }
            }
        }
        let noisy = noise.into_iter().zip(sum.total());
        let values = noisy.map(|(noise, sum)| self.lattice.value(coins.release(*sum, noise)));
        Ok(Released(values.collect()))
    }
}

impl<D: Dataset + ?Sized, R: SummingRelation> Mechanism<D> for GaussianVectorSum<D, R> {
    type Machine = Released<Vec<f64>>;

    fn start(&self, data: &Arc<D>, coins: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        self.release(data, coins, None)
    }

    fn describe(&self) -> Description {
        self.description()
    }
}

impl<D: ?Sized, R> ReleasesOnly for GaussianVectorSum<D, R> {}

impl<D: ?Sized, R: Relation> GaussianVectorSum<D, R> {
    fn description(&self) -> Description {
        let description = Description::new("GaussianVectorSum").with("relation", R::NAME);
        self.parameters(description)
    }

    pub(super) fn parameters(&self, description: Description) -> Description {
        let description = description
            .with("vector", self.vector.name())
            .with("dimension", self.dimension)
            .with("exponent", self.lattice.exponent)
            .with("radius", self.lattice.radius);
        self.gaussian.describe(description)
    }
}

states!(
    Gaussian: impl[D: ?Sized, R: SummingRelation,] GaussianVectorSum<D, R>, R,
    |sum| sum.gaussian.fact
);
shown!(impl[D: ?Sized, R: Relation] GaussianVectorSum<D, R>);
noisy!(
    impl[D: ?Sized, R] GaussianVectorSum<D, R>, f64,
    |sum| Noise::from(sum.gaussian.noise).in_steps_of(sum.lattice.exponent),
    sum.lattice.about()
);

impl<D: ?Sized, R> Clone for GaussianVectorSum<D, R> {
    fn clone(&self) -> Self {
        Self {
            vector: self.vector.clone(),
            ..*self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{ClosedForm, CoinSource, Law, NotPrivateSeededCoins};
    use crate::number::Ratio;
    use crate::privacy::Replace;
    use crate::tests::enumerate::enumerate_laws;

    type Vectors = Vec<Vec<f64>>;

    fn sum<R: SummingRelation>(
        relation: R,
        lattice: Lattice,
        rho: &str,
    ) -> Result<GaussianVectorSum<Vectors, R>, MechanismError> {
        let vector = Vector::new("itself", |row: &Vec<f64>, out: &mut [f64]| {
            assert_ne!(row, &[7.0], "an unlucky row");
            out.copy_from_slice(row);
        });
        GaussianVectorSum::new(relation, vector, 2, lattice, rho.parse().unwrap())
    }

    fn lattice(exponent: i32, radius: u64) -> Lattice {
        Lattice::of_multiples(exponent, radius)
    }

    /// The Rényi divergence of order 2, over 2.
    fn loss<R: SummingRelation>(
        sum: &GaussianVectorSum<Vectors, R>,
        pair: [&[[f64; 2]]; 2],
    ) -> f64 {
        let [one, other] = pair.map(|rows| {
            let data: Arc<Vectors> = Arc::new(rows.iter().map(|row| row.to_vec()).collect());
            enumerate_laws(30, |coins| match sum.start(&data, &mut Coins::new(coins)) {
                // In steps: multiples of 1/4 are floats.
                Ok(Released(sum)) => sum.into_iter().map(|x| (4.0 * x) as i64).collect(),
                Err(_) => vec![],
            })
        });
        let squares = one.outcomes.iter().filter_map(|(answer, p)| {
            let q = other.outcomes.get(answer)?;
            Some((p * p / q).to_f64_fast())
        });
        squares.sum::<f64>().ln() / 2.0
    }

    #[test]
    fn the_loss_is_attained_by_the_longest_vectors_and_not_exceeded() {
        // What is cut is missing from the sum.
        let near = |loss: f64, expected: f64| {
            assert!((expected - 0.01..expected + 1e-9).contains(&loss), "{loss}");
        };
        // A length of 5 steps of 1/4, in whichever direction.
        let added = sum(AddRemove, lattice(-2, 5), "0.5").unwrap();
        near(loss(&added, [&[[1.25, 0.0]], &[]]), 0.5);
        near(loss(&added, [&[[0.75, -1.0]], &[]]), 0.5);
        // Clipped to the same, from far outside.
        near(loss(&added, [&[[30.0, 40.0]], &[]]), 0.5);
        // Cut off at a corner first, and then clipped to (3, 3).
        near(loss(&added, [&[[3e300, 4e300]], &[]]), 0.5 * 18.0 / 25.0);
        // Shorter by more than half a step, which is rounded to one.
        near(loss(&added, [&[[-1.1, 0.0]], &[]]), 0.5 * 16.0 / 25.0);
        let replaced = sum(Replace, lattice(-2, 3), "0.5").unwrap();
        near(loss(&replaced, [&[[0.75, 0.0]], &[[-9.0, 0.0]]]), 0.5);
        near(loss(&replaced, [&[[0.75, 0.0]], &[[0.0, 0.75]]]), 0.25);
    }

    /// With a ρ of 10^9 the noise is negligible.
    #[test]
    fn rows_that_are_not_vectors_count_as_zero() {
        let sum = sum(AddRemove, lattice(-2, 5), "1e9").unwrap();
        let rows: [&[f64]; 10] = [
            &[0.3, -0.3],
            &[7.0],
            &[1.0],
            &[1.0, 1.0, 1.0],
            &[f64::NAN, 0.5],
            &[f64::INFINITY, 0.0],
            &[0.0, f64::NEG_INFINITY],
            &[9.0, 0.0],
            &[-0.25, 0.0],
            &[1e-310, -1e-310],
        ];
        let data: Arc<Vectors> = Arc::new(rows.map(<[f64]>::to_vec).into());
        let Released(answer) = sum
            .start(&data, &mut NotPrivateSeededCoins::new(5).coins())
            .unwrap();
        // 0.25 + 1.25 - 0.25, and -0.25.
        assert_eq!(answer, [1.25, -0.25]);
    }

    #[test]
    fn noise_follows_from_the_loss_and_the_radius() {
        let variance = |sum: &dyn Fn() -> ClosedForm| match sum() {
            ClosedForm::RoundedGaussian { variance } => variance,
            other => panic!("{other:?}"),
        };
        let added = sum(AddRemove, lattice(9, 3), "0.5").unwrap();
        assert_eq!(
            variance(&|| added.gaussian.noise.closed_form()),
            Ratio::from(9)
        );
        let replaced = sum(Replace, lattice(9, 3), "0.5").unwrap();
        assert_eq!(
            variance(&|| replaced.gaussian.noise.closed_form()),
            Ratio::from(36)
        );
    }

    #[test]
    fn bad_parameters_are_refused() {
        let error =
            |exponent, radius, rho| sum(Replace, lattice(exponent, radius), rho).map(|_| ());
        for radius in [0, (1 << 50) + 1, u64::MAX] {
            assert_eq!(error(0, radius, "1"), Err(MechanismError::BadRadius));
        }
        for exponent in [501, -501] {
            assert_eq!(error(exponent, 1, "1"), Err(MechanismError::BadExponent));
        }
        assert_eq!(error(500, 1 << 50, "1"), Ok(()));
        assert_eq!(error(0, 1, "0"), Err(MechanismError::NoLoss("rho")));
        assert_eq!(
            error(0, (1 << 50) - 1, "1e-27"),
            Err(MechanismError::TooFine)
        );
        let none: Vector<Vec<u8>> = Vector::new("none", |_: &u8, _: &mut [f64]| ());
        let rho = "1".parse().unwrap();
        let (what, most) = ("coordinates", 1 << 21);
        let asked = most + 1;
        for (dimension, refused) in [
            (0, MechanismError::NoDimension),
            (asked, MechanismError::TooMany { what, asked, most }),
        ] {
            let none = none.clone();
            let sum = GaussianVectorSum::new(AddRemove, none, dimension, lattice(0, 1), rho);
            assert_eq!(sum.map(|_| ()), Err(refused));
        }
    }
}
