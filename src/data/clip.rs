//! Vectors that are rounded to a lattice and clipped to a length, one by one.
//!
//! [`Clip`] works in floats, which hold whole numbers of steps exactly as long as they are not too
//! large; the functions below work in integers, for all others.

/// Larger coordinates are cut off: then no square is above 2^100.
pub(crate) const LARGEST: i64 = 1 << 50;

/// Up to here, floats hold whole numbers and their sums exactly.
const EXACT: f64 = ((1_u64 << 53) - 1) as f64;

/// Factors are rounded up by this much: a vector that is as long as the radius after clipping stays
/// so. The coordinates are rounded toward zero, so the vector is rarely too long, and the check is
/// exact.
const UP: f64 = 1.0 + 1.0 / (1_u64 << 40) as f64;

/// Four coordinates, which a processor works on at once. The order in which squares are added makes
/// no difference where the sum is exact.
pub(super) type Block = [f64; 4];

/// Rounds floats to whole steps. A step is a power of two, so that nothing is lost when it is
/// multiplied or divided by.
#[derive(Clone, Copy)]
pub(crate) struct Rounding {
    /// 1.5 · 2^52 steps. Floats near it are whole steps, and their bits, read as integers, grow by
    /// one from each to the next.
    origin: f64,
    half: f64,
}

impl Rounding {
    pub(crate) const fn to(step: f64) -> Self {
        Self {
            origin: 1.5 * (1_u64 << 52) as f64 * step,
            half: 0.5 * step,
        }
    }

    /// The nearest multiple of the step; beyond 2^51 steps, a multiple that is near.
    #[inline(always)]
    pub(crate) fn nearest(self, number: f64) -> f64 {
        number + self.origin - self.origin
    }

    /// The next multiple of the step toward zero, for numbers below 2^50 steps. Where the number is
    /// a multiple up to the precision of floats, it may also be the next on either side.
    #[inline(always)]
    pub(crate) fn toward_zero(self, number: f64) -> f64 {
        self.nearest(number - self.half.copysign(number))
    }

    /// The nearest number of steps, for numbers below 2^51 steps, plus [`zero`](Self::zero).
    /// Integers are added with less delay than floats, and without an upper limit.
    #[inline(always)]
    pub(super) fn count(self, number: f64) -> u64 {
        (number + self.origin).to_bits()
    }

    /// What zero is counted as.
    pub(super) fn zero(self) -> u64 {
        self.origin.to_bits()
    }
}

/// Rounds vectors to the nearest point of a lattice, and then clips them to a length.
#[derive(Clone, Copy)]
pub(super) struct Clip {
    radius: u64,
    per_unit: f64,
    rounding: Rounding,
    /// The radius, not in steps.
    length: f64,
    /// The largest squared length that is not clipped, if floats hold it exactly.
    limit: f64,
    /// The largest squared length that floats hold exactly.
    exact: f64,
    /// Up to this squared length, computed in floats, vectors are not clipped: see [`short`].
    short: f64,
}

impl Clip {
    /// Steps of 2 to this power, at most 2^500 and at least 2^-500; a length of at most 2^50 steps;
    /// vectors with `dimension` coordinates.
    pub(super) fn new(exponent: i32, radius: u64, dimension: usize) -> Self {
        let step = libm::scalbn(1.0, exponent);
        let length = radius as f64 * step;
        // Not infinite, which the squared length of an enormous vector would be, too.
        let exact = (EXACT * step * step).min(f64::MAX);
        Self {
            radius,
            per_unit: libm::scalbn(1.0, -exponent),
            rounding: Rounding::to(step),
            length,
            limit: (length * length).min(exact),
            exact,
            short: short(length, step, dimension),
        }
    }

    pub(super) fn rounding(&self) -> Rounding {
        self.rounding
    }

    /// The squared length up to which vectors are not clipped. It is compared with a square of the
    /// numbers themselves, in floats; most vectors need nothing else but to be rounded.
    pub(super) fn short(&self) -> f64 {
        self.short
    }

    /// The squared length of the vector after rounding. There is one copy of this for each number of
    /// coordinates, compiled in place: then they stay in registers.
    #[inline(always)]
    pub(super) fn square_of_few<const N: usize>(&self, vector: &[f64; N]) -> f64 {
        square(&vector.map(|number| self.rounding.nearest(number)))
    }

    /// The vector, multiplied by the factor of its square, if that is short enough.
    #[inline(always)]
    pub(super) fn few<const N: usize>(&self, vector: &[f64; N], factor: f64) -> Option<[f64; N]> {
        let rounding = self.rounding;
        let whole = vector.map(|number| rounding.nearest(number));
        let clipped = whole.map(|number| rounding.toward_zero(number * factor));
        (square(&clipped) <= self.limit).then_some(clipped)
    }

    /// The squared length of the vector after rounding, exact if it is at most `exact`: then so was
    /// every partial sum.
    #[inline(always)]
    pub(super) fn square(&self, vector: &[Block]) -> f64 {
        let mut squares = Block::default();
        for numbers in vector {
            add_squares(
                &mut squares,
                &numbers.map(|number| self.rounding.nearest(number)),
            );
        }
        total(squares)
    }

    /// What a vector with this squared length after rounding is multiplied by; NaN if the square may
    /// not be exact. Without branches, so that several are computed at once.
    #[inline(always)]
    pub(super) fn factor(&self, square: f64) -> f64 {
        let shorter = self.length / square.sqrt();
        let factor = if square <= self.limit { 1.0 } else { shorter };
        if square <= self.exact {
            factor * UP
        } else {
            f64::NAN
        }
    }

    /// Writes the rounded vector multiplied by this factor, and says whether it is short enough.
    #[inline(always)]
    pub(super) fn shorten(&self, vector: &[Block], factor: f64, clipped: &mut [Block]) -> bool {
        let rounding = self.rounding;
        // Squared as they are written: another loop would take as long again.
        let mut squares = Block::default();
        for (clipped, numbers) in clipped.iter_mut().zip(vector) {
            *clipped =
                numbers.map(|number| rounding.toward_zero(rounding.nearest(number) * factor));
            add_squares(&mut squares, clipped);
        }
        // If the sum is at most `exact`, so was every partial sum, and it is exact.
        total(squares) <= self.limit
    }

    /// Adds the clipped vector, in integers; zero if it is not finite.
    #[cold]
    pub(super) fn add_far(&self, vector: &[f64], sum: &mut [i64]) {
        let mut steps = vec![0; vector.len()];
        in_steps(vector, self.per_unit, &mut steps);
        clip(&mut steps, self.radius);
        for (sum, steps) in sum.iter_mut().zip(steps) {
            *sum += steps;
        }
    }
}

/// Up to this squared length, computed in floats, a vector is not longer than `length` after its
/// coordinates are rounded to steps; negative if there is no such length.
///
/// Rounding moves each of the n coordinates by at most half a step, and the vector by at most √n/2
/// steps. The relative error of the square is at most (n + 1)·2^-53, which is below 2^-22 for up to
/// 2^30 coordinates; what is lost of squares below the smallest normal float is less than 2^-1040,
/// and the square of half the smallest step is 2^-1002. 2^-20 allows for both, and for the rounding
/// here.
fn short(length: f64, step: f64, dimension: usize) -> f64 {
    const SLACK: f64 = 1.0 / (1_u64 << 20) as f64;
    let rounded = length - 0.5 * step * (dimension as f64).sqrt() * (1.0 + SLACK);
    if rounded < 0.5 * step || dimension > 1 << 30 {
        return -1.0;
    }
    (rounded * rounded).min(f64::MAX) * (1.0 - SLACK)
}

/// The square of the length of a vector; of whole numbers it is exact if it is below 2^53. In four
/// sums, of which none waits for another.
#[inline(always)]
pub(crate) fn square(steps: &[f64]) -> f64 {
    let (blocks, rest) = steps.as_chunks();
    let rest: f64 = rest.iter().map(|steps| steps * steps).sum();
    square_of_blocks(blocks) + rest
}

#[inline(always)]
pub(super) fn square_of_blocks(blocks: &[Block]) -> f64 {
    let mut squares = Block::default();
    for block in blocks {
        add_squares(&mut squares, block);
    }
    total(squares)
}

#[inline(always)]
fn add_squares(squares: &mut Block, steps: &Block) {
    for (square, steps) in squares.iter_mut().zip(steps) {
        *square += steps * steps;
    }
}

#[inline(always)]
fn total([a, b, c, d]: Block) -> f64 {
    (a + c) + (b + d)
}

/// The vector in steps of a lattice, each rounded to the nearest; zero if it is not finite.
pub(crate) fn in_steps(vector: &[f64], per_unit: f64, steps: &mut [i64]) {
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
pub(crate) fn square_of(vector: &[i64]) -> u128 {
    let squares = vector
        .iter()
        .map(|steps| u128::from(steps.unsigned_abs()).pow(2));
    squares.sum()
}

/// A vector in the same direction that is no longer than the radius, rounded toward zero.
pub(crate) fn clip(vector: &mut [i64], radius: u64) {
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
