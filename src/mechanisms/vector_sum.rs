//! The sum of clipped vectors.

use std::ops::Range;

use super::contributes::take_each;
use super::limit::{COORDINATES, PAID_COORDINATES};
use super::paid_sum::PaidSum;
use super::query::Norm;
use super::sampled_sum::happens;
use super::{
    About, Change, Contributes, Contributions, Lattice, MechanismError, Once, Query, RowRelation,
    Tally, Unavailable,
};
use crate::compose::Payers;
use crate::data::clip::{clip, in_steps};
use crate::data::{ClippedSum, Dataset, Vector};
use crate::machine::{Coins, Description, Fault};
use crate::number::Ratio;
use crate::privacy::UnknownLoss;

/// The sum of vectors that are clipped to a length.
///
/// Use it for gradients, embeddings and several sums at once. Vectors are rounded to a [`Lattice`]
/// and clipped there, in whole numbers; noise is added in its steps. Gaussian noise fits a length;
/// Laplace noise has to grow with the root of the dimension.
///
/// ```
/// use queryables::data::Vector;
/// use queryables::mechanisms::{Lattice, VectorSum};
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let steps: Arc<Vec<[f64; 2]>> = Arc::new(vec![[0.6, 0.8]; 1000]);
/// let filter = start(&Filter::concurrent(ZCdp, rho!(1)), steps)?;
///
/// let step = Vector::new("step", |step: &[f64; 2], out: &mut [f64]| out.copy_from_slice(step));
/// let sum = VectorSum::of(step, 2, Lattice::of_length(1.0)?).gaussian(rho!(0.5))?;
/// let sum: Vec<f64> = filter.release(&sum)?;
/// assert!((sum[0] - 600.0).abs() < 30.0 && (sum[1] - 800.0).abs() < 30.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// Each row's vector is rounded to the nearest point of the lattice, and then clipped in whole
/// numbers: so the vectors that are summed are at most the radius long, rounding included. One that
/// is added or removed moves the sum by at most the radius r of the lattice in the
/// Euclidean norm, and one that is replaced by at most 2r; with d coordinates, by at most √d times
/// that in the sum of all coordinates. A row that cannot be read, has another number of coordinates,
/// or one that is infinite or not a number, counts as zero. Answers are multiples of the step,
/// rounded to floats, which is postprocessing. The answer is not divided by anything: where rows are
/// added and removed, the number of rows is private.
#[doc(alias = "clipping")]
#[doc(alias = "embedding")]
#[derive(Clone, Debug)]
pub struct VectorSum<V> {
    pub(super) vector: V,
    pub(super) dimension: usize,
    pub(super) lattice: Lattice,
}

/// For how many rows is drawn at a time whether they join a sample.
const DRAWN: usize = 1 << 20;

/// How many numbers are read at a time: 8 KiB of them.
const NUMBERS: usize = 1024;

impl<V> VectorSum<V> {
    /// Sums vectors with this number of coordinates, clipped to the length of the lattice.
    pub fn of(vector: V, dimension: usize, lattice: Lattice) -> Self {
        Self {
            vector,
            dimension,
            lattice,
        }
    }

    /// Whether records can pay for such vectors, by their squares.
    pub(super) fn check_payable(&self) -> Result<(), MechanismError> {
        PAID_COORDINATES.check(self.dimension)?;
        if self.lattice.radius > PaidSum::LARGEST_RADIUS {
            let must = "at most 2^26 steps where records pay for themselves";
            return Err(MechanismError::parameter(
                "the radius",
                self.lattice.radius,
                must,
            ));
        }
        Ok(())
    }

    pub(super) fn clipped_sum(&self) -> ClippedSum {
        let Lattice {
            exponent, radius, ..
        } = self.lattice;
        ClippedSum::new(exponent, radius, self.dimension)
    }
}

impl<D: Dataset + ?Sized> VectorSum<Vector<D>> {
    /// The totals of those rows that join a sample, each with these odds.
    pub(super) fn sampled(
        &self,
        data: &D,
        odds: Ratio,
        coins: &mut Coins<'_>,
    ) -> Result<Vec<i128>, Fault> {
        let mut sum = self.clipped_sum();
        let rows = 0..data.len();
        for start in rows.clone().step_by(DRAWN) {
            let rows = start..rows.end.min(start.saturating_add(DRAWN));
            let drawn = rows.clone().map(|_| happens(odds, coins));
            let kept = drawn.collect::<Result<Vec<bool>, _>>()?;
            self.vector.sum(data, rows, Some(&kept), &mut sum);
        }
        Ok(sum.total().to_vec())
    }
}

impl<D: ?Sized, R: RowRelation> Query<R> for VectorSum<Vector<D>> {
    type Answer = Vec<f64>;
    type Form = Once;
    type Value = f64;

    fn change(&self) -> Result<Change, MechanismError> {
        let radius = self.lattice.checked_radius()?.unsigned_abs();
        if self.dimension == 0 {
            return Err(MechanismError::none("coordinates"));
        }
        COORDINATES.check(self.dimension)?;
        let longest = if R::REPLACES { 2 * radius } else { radius };
        // At most 2^102 times 2^21.
        let square = u128::from(longest).pow(2);
        let all = (square * self.dimension as u128).isqrt();
        let together = Change::of(u64::try_from(all).map_err(|_| MechanismError::TooFine)?)?;
        Ok(Change { square, ..together }.both_ways())
    }

    fn totals(&self) -> usize {
        self.dimension
    }

    fn answer(&self, totals: &[i128]) -> Vec<f64> {
        let values = totals.iter().map(|steps| self.lattice.value(*steps));
        values.collect()
    }

    fn scale(&self) -> i32 {
        self.lattice.exponent
    }

    fn describe(&self) -> Description {
        Description::new("VectorSum")
            .with("vector", self.vector.name())
            .with("dimension", self.dimension)
            .with("exponent", self.lattice.exponent)
            .with("radius", self.lattice.radius)
    }

    fn about(&self) -> About {
        self.lattice.about()
    }
}

impl<D: Dataset + ?Sized, R: RowRelation> Tally<D, R> for VectorSum<Vector<D>> {
    fn tally(&self, data: &D, totals: &mut [i128]) -> Result<(), Unavailable> {
        let mut sum = self.clipped_sum();
        self.vector.sum(data, 0..data.len(), None, &mut sum);
        totals.copy_from_slice(sum.total());
        Ok(())
    }
}

impl<D: Dataset + ?Sized> Contributes<D> for VectorSum<Vector<D>> {
    fn contributions(&self, data: &D, records: Range<usize>) -> Contributions {
        let mut read = vec![0.0; records.len() * self.dimension];
        self.vector.read(data, records.clone(), None, &mut read);
        let per_unit = libm::scalbn(1.0, -self.lattice.exponent);
        let mut steps = vec![0; self.dimension];
        let mut numbers = Vec::with_capacity(read.len());
        for vector in read.chunks_exact(self.dimension.max(1)) {
            in_steps(vector, per_unit, &mut steps);
            clip(&mut steps, self.lattice.radius);
            numbers.extend(steps.iter().map(|steps| i128::from(*steps)));
        }
        Contributions::new(records.len(), numbers, Vec::new())
    }

    /// Where records pay by the square, the vector that is summed is the vector that is charged: in
    /// floats, whose whole numbers are exact here.
    fn take(
        &self,
        data: &D,
        records: Range<usize>,
        norm: Norm,
        payers: &mut Payers<'_>,
        totals: &mut [i128],
    ) {
        if norm == Norm::L1 {
            return take_each(self, data, records, norm, payers, totals);
        }
        let size = (NUMBERS / self.dimension.max(1)).clamp(1, records.len().max(1));
        let mut numbers = vec![0.0; size * self.dimension];
        let mut paid = PaidSum::new(self.lattice, self.dimension);
        for start in records.clone().step_by(size) {
            let rows = start..records.end.min(start + size);
            let numbers = numbers.get_mut(..rows.len() * self.dimension);
            let numbers = numbers.unwrap_or_default();
            self.vector.read(data, rows, None, numbers);
            paid.take(numbers, payers);
        }
        for (total, paid) in totals.iter_mut().zip(paid.total()) {
            *total = paid.into();
        }
    }

    fn payable(&self) -> Result<(), UnknownLoss> {
        let too_long =
            "records pay for at most 2^16 coordinates, and a radius of at most 2^26 steps";
        self.check_payable().map_err(|_| UnknownLoss(too_long))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{ClosedForm, CoinSource, Law, NotPrivateSeededCoins};
    use crate::mechanisms::{AddedNoise, GaussianNoise, Noised};
    use crate::prelude::*;
    use crate::privacy::Replace;
    use crate::tests::enumerate::enumerate_laws;
    use std::sync::Arc;

    type Vectors = Vec<Vec<f64>>;

    fn sum<R: RowRelation>(
        relation: R,
        lattice: Lattice,
        rho: &str,
    ) -> Result<Noised<VectorSum<Vector<Vectors>>, GaussianNoise, R>, MechanismError> {
        let vector = Vector::new("itself", |row: &Vec<f64>, out: &mut [f64]| {
            assert_ne!(row, &[7.0], "an unlucky row");
            out.copy_from_slice(row);
        });
        VectorSum::of(vector, 2, lattice)
            .under(relation)
            .gaussian(rho.parse::<Rho>().unwrap())
    }

    fn lattice(exponent: i32, radius: u64) -> Lattice {
        Lattice::of_multiples(exponent, radius)
    }

    /// The Rényi divergence of order 2, over 2.
    fn loss<R: RowRelation>(
        sum: &Noised<VectorSum<Vector<Vectors>>, GaussianNoise, R>,
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
            variance(&|| added.noise.law().closed_form()),
            Ratio::from(9)
        );
        let replaced = sum(Replace, lattice(9, 3), "0.5").unwrap();
        assert_eq!(
            variance(&|| replaced.noise.law().closed_form()),
            Ratio::from(36)
        );
    }

    #[test]
    fn bad_parameters_are_refused() {
        let error =
            |exponent, radius, rho| sum(Replace, lattice(exponent, radius), rho).map(|_| ());
        for radius in [0, (1 << 50) + 1, u64::MAX] {
            let refused = error(0, radius, "1").unwrap_err().to_string();
            let message = format!("the radius must be from 1 to 2^50 steps, not {radius}");
            assert_eq!(refused, message);
        }
        for exponent in [501, -501] {
            let refused = error(exponent, 1, "1").unwrap_err();
            assert_eq!(refused, super::super::lattice::bad_exponent(exponent));
        }
        assert_eq!(error(500, 1 << 50, "1"), Ok(()));
        assert_eq!(error(0, 1, "0"), Err(MechanismError::NoLoss("rho")));
        assert_eq!(
            error(0, (1 << 50) - 1, "1e-27"),
            Err(MechanismError::TooFine)
        );
        let none: Vector<Vec<u8>> = Vector::new("none", |_: &u8, _: &mut [f64]| ());
        let rho = rho!(1);
        let (what, most) = ("coordinates", 1 << 21);
        let asked = most + 1;
        for (dimension, refused) in [
            (0, MechanismError::none("coordinates")),
            (asked, MechanismError::TooMany { what, asked, most }),
        ] {
            let none = none.clone();
            let sum = VectorSum::of(none, dimension, lattice(0, 1)).gaussian(rho);
            assert_eq!(sum.map(|_| ()), Err(refused));
        }
    }
}
