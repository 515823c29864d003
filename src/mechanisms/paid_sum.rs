//! The sum of clipped vectors of which each is paid for by its squared length.

use super::Lattice;
use super::clip::{Rounding, clip, in_steps, square};
use crate::compose::Payers;

/// Adds up vectors, each rounded to the nearest point of a lattice and clipped to its radius, that
/// their records could pay for. All in whole numbers: the vector that is summed is the one that is
/// charged.
///
/// With a radius of at most 2^26, squared lengths are at most 2^52 and sums of a chunk at most 2^36,
/// so that floats hold both exactly.
pub(super) struct PaidSum {
    radius: u64,
    per_unit: f64,
    /// The square of the radius.
    limit: f64,
    /// The current vector, in steps.
    steps: Vec<f64>,
    sum: Vec<f64>,
}

/// Numbers beyond 2^51 steps are rounded to others, which are too long in any case.
const WHOLE: Rounding = Rounding::to(1.0);

/// Up to here, floats hold whole numbers and their sums exactly.
const EXACT: f64 = ((1_u64 << 53) - 1) as f64;

impl PaidSum {
    pub(super) const LARGEST_RADIUS: u64 = 1 << 26;

    /// For vectors with `dimension` coordinates.
    pub(super) fn new(lattice: Lattice, dimension: usize) -> Self {
        let radius = lattice.radius as f64;
        Self {
            radius: lattice.radius,
            per_unit: libm::scalbn(1.0, -lattice.exponent),
            limit: radius * radius,
            steps: vec![0.0; dimension],
            sum: vec![0.0; dimension],
        }
    }

    /// Charges these vectors and adds those that are paid for. All calls together are at most a
    /// chunk of records.
    pub(super) fn take(&mut self, vectors: &[f64], payers: &mut Payers<'_>) {
        for vector in vectors.chunks_exact(self.steps.len().max(1)) {
            for (steps, number) in self.steps.iter_mut().zip(vector) {
                *steps = WHOLE.nearest(number * self.per_unit);
            }
            let square = square(&self.steps);
            // If it is at most `EXACT`, so was every partial sum, and the sum is exact. NaN is not.
            let square = if square <= self.limit {
                square
            } else {
                self.clipped(vector, square)
            };
            let steps = &mut self.steps;
            let paid = payers.charge_or(square as u64, |allowed| {
                // The radius is rounded down, and so is the vector.
                shorten(steps, square, allowed.isqrt()).unwrap_or(0.0) as u64
            });
            // Multiplied, not left out, so that the time is the same for those who paid.
            let kept = if paid > 0 { 1.0 } else { 0.0 };
            for (sum, steps) in self.sum.iter_mut().zip(&self.steps) {
                *sum += *steps * kept;
            }
        }
    }

    /// The sum so far, in steps.
    pub(super) fn total(&self) -> impl Iterator<Item = i64> {
        self.sum.iter().map(|sum| *sum as i64)
    }

    /// Clips the current vector, which is too long; the squared length is then within the limit.
    fn clipped(&mut self, vector: &[f64], square: f64) -> f64 {
        if square <= EXACT
            && let Some(square) = shorten(&mut self.steps, square, self.radius)
        {
            return square;
        }
        // Too long for floats, or not finite.
        let mut whole = vec![0; vector.len()];
        in_steps(vector, self.per_unit, &mut whole);
        clip(&mut whole, self.radius);
        for (steps, whole) in self.steps.iter_mut().zip(whole) {
            *steps = whole as f64;
        }
        self::square(&self.steps)
    }
}

/// Clips a vector with this squared length to a radius, in whole numbers; the new squared length.
/// `None` if it came out too long, which the rounding of the factor may do; then the vector is
/// shorter than before, and not yet short enough.
#[inline]
fn shorten(steps: &mut [f64], square: f64, radius: u64) -> Option<f64> {
    const UP: f64 = 1.0 + 1.0 / (1_u64 << 40) as f64;
    if square == 0.0 {
        return Some(0.0);
    }
    let limit = radius as f64 * radius as f64;
    // Rounded up a little, so that a vector that fits exactly stays whole.
    let clipped = scale(steps, radius as f64 / square.sqrt() * UP);
    if clipped <= limit {
        return Some(clipped);
    }
    // And down, where that is too long.
    let clipped = scale(steps, radius as f64 / clipped.sqrt() / UP);
    (clipped <= limit).then_some(clipped)
}

/// Multiplies and truncates to whole numbers; the squared length.
#[inline]
fn scale(steps: &mut [f64], factor: f64) -> f64 {
    for steps in &mut *steps {
        *steps = WHOLE.toward_zero(*steps * factor);
    }
    square(steps)
}
