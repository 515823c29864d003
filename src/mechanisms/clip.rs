//! The sum of vectors that are rounded to a lattice and clipped to a length.

use super::Lattice;
use super::lattice::LARGEST;

/// Adds up the vectors of a chunk of rows, each rounded to the nearest point of a lattice and then
/// clipped to its radius, in whole numbers. A vector with an infinite or NaN coordinate counts as
/// zero.
///
/// It works in floats as long as they hold whole numbers exactly, which takes about as long as
/// clipping without a lattice, and in integers beyond.
pub(super) struct ClippedSum {
    radius: u64,
    per_unit: f64,
    /// The largest squared length that is not clipped, if floats can hold it.
    limit: f64,
    /// The current vector, in steps.
    steps: Vec<f64>,
    /// Sums of the vectors that are exact in floats.
    near: Vec<f64>,
    /// Sums of all other vectors.
    far: Vec<i64>,
}

/// Up to here, floats hold whole numbers and their sums exactly.
const EXACT: f64 = ((1_u64 << 53) - 1) as f64;

/// Added to a float and taken away again, it leaves the nearest whole number; where the sum is
/// beyond 2^53, one of the next, which is too long in any case.
const TO_WHOLE: f64 = 1.5 * (1_u64 << 52) as f64;

impl ClippedSum {
    /// For vectors with `dimension` coordinates.
    pub(super) fn new(lattice: Lattice, dimension: usize) -> Self {
        let radius = lattice.radius as f64;
        Self {
            radius: lattice.radius,
            per_unit: libm::scalbn(1.0, -lattice.exponent),
            limit: (radius * radius).min(EXACT),
            steps: vec![0.0; dimension],
            near: vec![0.0; dimension],
            far: vec![0; dimension],
        }
    }

    /// The sum of these vectors, coordinate by coordinate, in steps. They are at most a chunk, so
    /// the sums are at most 2^36 in floats, and 2^60 in integers.
    pub(super) fn of(&mut self, vectors: &[f64]) -> impl Iterator<Item = i64> {
        self.near.fill(0.0);
        self.far.fill(0);
        for vector in vectors.chunks_exact(self.steps.len().max(1)) {
            let mut square = 0.0;
            for (steps, number) in self.steps.iter_mut().zip(vector) {
                *steps = number * self.per_unit + TO_WHOLE - TO_WHOLE;
                square += *steps * *steps;
            }
            // If it is at most `EXACT`, so was every partial sum, and the sum is exact.
            if square <= self.limit || (square <= EXACT && self.shorten(square)) {
                for (near, steps) in self.near.iter_mut().zip(&self.steps) {
                    *near += steps;
                }
            } else {
                self.take_far(vector);
            }
        }
        self.near
            .iter()
            .zip(&self.far)
            .map(|(near, far)| *near as i64 + far)
    }

    /// Clips the current vector, which has this squared length; `false` if it is still too long.
    /// The factor is rounded, but coordinates are truncated to whole numbers, so the vector is
    /// rarely too long; the check itself is exact.
    fn shorten(&mut self, square: f64) -> bool {
        const UP: f64 = 1.0 + 1.0 / (1_u64 << 40) as f64;
        let factor = self.radius as f64 / libm::sqrt(square) * UP;
        let mut clipped = 0.0;
        for steps in &mut self.steps {
            *steps = (*steps * factor) as i64 as f64;
            clipped += *steps * *steps;
        }
        clipped <= self.limit
    }

    /// Adds a vector that is too long for floats, or not finite.
    #[cold]
    fn take_far(&mut self, vector: &[f64]) {
        let mut steps = vec![0; vector.len()];
        in_steps(vector, self.per_unit, &mut steps);
        clip(&mut steps, self.radius);
        for (far, steps) in self.far.iter_mut().zip(steps) {
            *far += steps;
        }
    }
}

/// The vector in steps of a lattice, each rounded to the nearest; zero if it is not finite.
pub(super) fn in_steps(vector: &[f64], per_unit: f64, steps: &mut [i64]) {
    let is_finite = vector.iter().all(|number| number.is_finite());
    for (steps, number) in steps.iter_mut().zip(vector) {
        let nearest = libm::rint(number * per_unit) as i64;
        *steps = if is_finite {
            nearest.clamp(-LARGEST, LARGEST)
        } else {
            0
        };
    }
}

/// The square of its length.
pub(super) fn square_of(vector: &[i64]) -> u128 {
    let squares = vector
        .iter()
        .map(|steps| u128::from(steps.unsigned_abs()).pow(2));
    squares.sum()
}

/// A vector in the same direction that is no longer than the radius, rounded toward zero.
pub(super) fn clip(vector: &mut [i64], radius: u64) {
    let square = square_of(vector);
    if square <= u128::from(radius).pow(2) {
        return;
    }
    // The length, rounded up: what is divided by it is not too long.
    let root = square.isqrt();
    let length = root + u128::from(root * root < square);
    for steps in vector {
        let clipped = i128::from(*steps) * i128::from(radius) / length as i128;
        *steps = clipped as i64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn clipped(exponent: i32, radius: u64, vector: &[f64]) -> Vec<i64> {
        let lattice = Lattice { exponent, radius };
        ClippedSum::new(lattice, vector.len()).of(vector).collect()
    }

    /// Without a cut, five such squares would be too much for a `u128`.
    #[test]
    fn the_largest_coordinates_are_cut_off_before_they_are_squared() {
        let vector = [1e300, f64::MIN, 1.0, -1.0, f64::MAX];
        // 2^50/√5, rounded down.
        let expected = [1, -1, 1, -1, 1].map(|sign| sign * 503_517_745_512_157);
        assert_eq!(clipped(-500, 1 << 50, &vector), expected);
    }

    #[test]
    fn what_is_not_a_vector_is_zero() {
        for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(clipped(0, 5, &[1.0, number]), [0, 0]);
        }
    }

    #[test]
    fn what_is_as_long_as_the_radius_is_not_clipped() {
        assert_eq!(clipped(-2, 5, &[0.75, -1.0]), [3, -4]);
        assert_eq!(
            clipped(0, 1 << 50, &[0.0, -((1_u64 << 50) as f64)]),
            [0, -1 << 50]
        );
        // Exactly as long after clipping: nothing is lost to rounding.
        assert_eq!(clipped(-2, 5, &[30.0, -40.0]), [3, -4]);
        // A third root: (7, 7, 7) has a length of 12.1.
        assert_eq!(clipped(0, 12, &[7.0, 7.0, 7.0]), [6, 6, 6]);
    }

    #[test]
    fn the_vectors_of_a_chunk_add_up() {
        let lattice = Lattice {
            exponent: -1,
            radius: 1 << 40,
        };
        let mut sum = ClippedSum::new(lattice, 2);
        let far = (1_u64 << 45) as f64;
        let vectors = [1.0, 2.0, f64::NAN, 3.0, -0.5, 4.0, far, 0.0];
        assert!(sum.of(&vectors).eq([1 + (1 << 40), 12]));
        // The next chunk starts from zero.
        assert!(sum.of(&vectors[..2]).eq([2, 4]));
    }

    proptest! {
        #[test]
        fn clipped_vectors_are_short_and_keep_their_direction(
            vector in proptest::collection::vec(-1e12..1e12_f64, 1..6),
            shift in -40_i32..0, bits in 0_u32..50, radius in 1_u64..1 << 50,
        ) {
            // From lengths that are exact in floats to those that are not.
            let vector: Vec<f64> = vector.iter().map(|x| libm::scalbn(*x, shift)).collect();
            let radius = (radius >> bits).max(1);
            let clipped = clipped(0, radius, &vector);
            let whole: Vec<i64> = vector.iter().map(|x| libm::rint(*x) as i64).collect();
            let (long, limit) = (square_of(&whole), u128::from(radius).pow(2));
            prop_assert!(square_of(&clipped) <= limit);
            if long <= limit {
                prop_assert_eq!(clipped, whole);
            } else {
                let factor = radius as f64 / (long as f64).sqrt();
                for (clipped, whole) in clipped.iter().zip(&whole) {
                    let exact = *whole as f64 * factor;
                    let off = exact - *clipped as f64;
                    // Less than 1 is cut off, and less than 1 is lost to a length rounded up.
                    prop_assert!(off.abs() < 2.0 + 1e-9 * exact.abs(), "{} {}", clipped, exact);
                }
            }
        }
    }
}
