//! The sum of clipped vectors, where each record pays the square of its own.

use std::ops::Range;

use crate::account::SquaresAddUp;
use crate::compose::{IndividualQuery, Payers, RecordUnits, Tariff};
use crate::data::{Dataset, Vector};
use crate::machine::{Coins, Description, DrawnNoise, Fault, ReleasesOnly};
use crate::mechanisms::limit::PAID_COORDINATES;
use crate::mechanisms::paid_sum::PaidSum;
use crate::mechanisms::{GaussianVectorSum, Lattice, MechanismError, shown};
use crate::number::{Mu, Rho};
use crate::privacy::facts::Gaussian;
use crate::privacy::{AddRemove, Prices, UnknownLoss};

/// The sum of vectors that are clipped to a length, plus rounded Gaussian noise in each coordinate,
/// where each record pays in proportion to the squared length of its own vector.
///
/// ```
/// use queryables::compose::IndividualFilter;
/// use queryables::data::Vector;
/// use queryables::mechanisms::Lattice;
/// use queryables::mechanisms::individual::IndividualVectorSum;
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let steps: Arc<Vec<[f64; 2]>> = Arc::new(vec![[0.06, 0.08]; 1000]);
/// let filter = launch(&IndividualFilter::new(ZCdp, "0.5".parse()?), steps)?;
///
/// // A length of 1, on a lattice of 1/1024; a vector of length 1 costs ρ = 0.1, one of length 0.1
/// // costs a hundredth of that.
/// let step = Vector::new("step", |step: &[f64; 2], out: &mut [f64]| out.copy_from_slice(step));
/// let lattice = Lattice::of_length(1.0)?;
/// let sum = IndividualVectorSum::new(step, 2, lattice, "0.1".parse()?)?;
/// // About 500 such queries can be asked before these records have spent their budget.
/// for _ in 0..20 {
///     let sum: Vec<f64> = filter.release(&sum)?;
///     assert!((sum[0] - 60.0).abs() < 30.0 && (sum[1] - 80.0).abs() < 30.0);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// Each vector is rounded to the lattice and clipped in whole numbers, and the vector that is summed
/// is the vector that is charged. One more vector v moves the sum by v, whatever the others are:
/// with a variance of σ² in steps of the lattice this is Gaussian noise of ρ = ‖v‖²/(2σ²), of which
/// the rounded noise is a postprocessing ([`RoundedGaussian`](crate::noise::RoundedGaussian)). The
/// longest vector, of the radius, costs the ρ or μ that the sum is made for, and others the share
/// of their squares, rounded up (Feldman and Zrnic §2.1, Prop. 2.9; [`SquaresAddUp`]). A vector that
/// is not zero costs at least one unit.
///
/// A record that cannot be read, or whose vector has an infinite or NaN coordinate, contributes zero
/// and pays zero. The answer is not divided by anything: the number of records is private.
pub struct IndividualVectorSum<D: ?Sized> {
    /// The plain sum has the same noise: one more vector moves it by the radius at most.
    sum: GaussianVectorSum<D>,
}

/// How many numbers are read at a time: 8 KiB of them.
const NUMBERS: usize = 1024;

impl<D: ?Sized> IndividualVectorSum<D> {
    /// Sums vectors of `dimension` coordinates on this lattice, whose radius is at most 2^26; a
    /// vector as long as the radius costs ρ.
    ///
    /// # Errors
    ///
    /// [`MechanismError::NoDimension`] or [`MechanismError::TooMany`] if there are no coordinates, or
    /// more than 2^16, [`MechanismError::BadExponent`], [`MechanismError::BadRadius`],
    /// [`MechanismError::CoarseStep`] or [`MechanismError::LongRadius`] if the lattice is not in its
    /// range (a radius of zero is not), [`MechanismError::NoLoss`] if ρ is zero, and
    /// [`MechanismError::TooFine`] or [`MechanismError::Noise`] if the variance needs longer numbers
    /// than the noise works with.
    pub fn new(
        vector: Vector<D>,
        dimension: usize,
        lattice: Lattice,
        rho: Rho,
    ) -> Result<Self, MechanismError> {
        check(lattice, dimension)?;
        let sum = GaussianVectorSum::new(AddRemove, vector, dimension, lattice, rho)?;
        Ok(Self { sum })
    }

    /// The same with μ for a vector as long as the radius.
    ///
    /// # Errors
    ///
    /// As for [`new`](Self::new).
    pub fn with_mu(
        vector: Vector<D>,
        dimension: usize,
        lattice: Lattice,
        mu: Mu,
    ) -> Result<Self, MechanismError> {
        check(lattice, dimension)?;
        let sum = GaussianVectorSum::with_mu(AddRemove, vector, dimension, lattice, mu)?;
        Ok(Self { sum })
    }

    fn description(&self) -> Description {
        self.sum.parameters(Description::new("IndividualVectorSum"))
    }
}

/// Records pay by the square of their vectors, which must not be too long for that.
fn check(lattice: Lattice, dimension: usize) -> Result<(), MechanismError> {
    PAID_COORDINATES.check(dimension)?;
    match lattice.checked_radius()?.unsigned_abs() {
        0..=PaidSum::LARGEST_RADIUS => Ok(()),
        _ => Err(MechanismError::LongRadius),
    }
}

impl<D, F> IndividualQuery<D, F> for IndividualVectorSum<D>
where
    D: Dataset + ?Sized,
    F: SquaresAddUp<Children: Prices<Gaussian>>,
{
    type Noise = Vec<DrawnNoise>;
    /// In steps of the lattice.
    type Total = Vec<i128>;
    type Answer = Vec<f64>;

    fn tariff(&self, units: &RecordUnits<F>) -> Result<Tariff, UnknownLoss> {
        let longest = units.rule().children().price(&self.sum.gaussian.fact)?;
        units.proportional(&longest, self.sum.lattice.radius.pow(2))
    }

    fn noise(&self, coins: &mut Coins<'_>) -> Result<Vec<DrawnNoise>, Fault> {
        let draws = (0..self.sum.dimension).map(|_| coins.noise(&self.sum.gaussian.noise));
        Ok(draws.collect::<Result<_, _>>()?)
    }

    fn nothing(&self) -> Vec<i128> {
        vec![0; self.sum.dimension]
    }

    fn take(&self, data: &D, records: Range<usize>, payers: &mut Payers<'_>) -> Vec<i128> {
        let size = (NUMBERS / self.sum.dimension).clamp(1, records.len().max(1));
        let mut numbers = vec![0.0; size * self.sum.dimension];
        let mut paid = PaidSum::new(self.sum.lattice, self.sum.dimension);
        for start in records.clone().step_by(size) {
            let rows = start..records.end.min(start + size);
            let numbers = numbers.get_mut(..rows.len() * self.sum.dimension);
            let numbers = numbers.unwrap_or_default();
            self.sum.vector.read(data, rows, None, numbers);
            paid.take(numbers, payers);
        }
        paid.total().map(i128::from).collect()
    }

    fn merge(&self, total: &mut Vec<i128>, chunk: Vec<i128>) {
        for (total, steps) in total.iter_mut().zip(chunk) {
            *total = total.saturating_add(steps);
        }
    }

    fn answer(
        &self,
        total: Vec<i128>,
        noise: Vec<DrawnNoise>,
        coins: &mut Coins<'_>,
    ) -> Result<Vec<f64>, Fault> {
        let noisy = total.into_iter().zip(noise);
        let values =
            noisy.map(|(steps, noise)| self.sum.lattice.value(coins.release(steps, noise)));
        Ok(values.collect())
    }

    fn describe(&self) -> Description {
        self.description()
    }
}

impl<D: ?Sized> ReleasesOnly for IndividualVectorSum<D> {}

shown!(impl[D: ?Sized] IndividualVectorSum<D>);

impl<D: ?Sized> Clone for IndividualVectorSum<D> {
    fn clone(&self) -> Self {
        Self {
            sum: self.sum.clone(),
        }
    }
}
