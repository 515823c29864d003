//! Vectors that are rounded to a lattice and clipped to a length, one by one.
//!
//! [`Clip`] works in floats, which hold whole numbers exactly as long as they are not too large;
//! the functions below work in integers, for all others.

/// Larger coordinates are cut off: then no square is above 2^100.
pub(crate) const LARGEST: i64 = 1 << 50;

/// Up to here, floats hold whole numbers and their sums exactly.
const EXACT: f64 = ((1_u64 << 53) - 1) as f64;

/// Added to a float and taken away again, it leaves the nearest whole number; where the sum is
/// beyond 2^53, one of the next, which is too long in any case.
const TO_WHOLE: f64 = 1.5 * (1_u64 << 52) as f64;

/// Four coordinates, which a processor works on at once. The order in which squares are added makes
/// no difference where the sum is exact.
pub(super) type Block = [f64; 4];

/// Rounds vectors to the nearest point of a lattice, and then clips them to a length.
#[derive(Clone, Copy)]
pub(super) struct Clip {
    radius: u64,
    per_unit: f64,
    /// The largest squared length that is not clipped, if floats can hold it.
    limit: f64,
}

impl Clip {
    /// Steps of 2 to this power, at most 2^500 and at least 2^-500; a length of at most 2^50 steps.
    pub(super) fn new(exponent: i32, radius: u64) -> Self {
        let length = radius as f64;
        Self {
            radius,
            per_unit: libm::scalbn(1.0, -exponent),
            limit: (length * length).min(EXACT),
        }
    }

    /// The clipped vector in steps, if floats can hold its squared length. There is one copy of this
    /// for each number of coordinates, always compiled in place: then they stay in registers. As a
    /// call it takes ten times as long.
    #[inline(always)]
    pub(super) fn few<const N: usize>(&self, vector: &[f64; N]) -> Option<[f64; N]> {
        let steps = vector.map(|number| self.nearest(number));
        let square = square(&steps);
        // If it is at most `EXACT`, so was every partial sum, and the sum is exact.
        if square <= self.limit {
            return Some(steps);
        }
        let shorter = steps.map(shorten_by(self.factor(square)?));
        (self::square(&shorter) <= self.limit).then_some(shorter)
    }

    /// The same for any number of coordinates: writes the clipped vector and says whether it did.
    /// Compiled in place: where the number of blocks is known, without loops.
    #[inline(always)]
    pub(super) fn many(&self, vector: &[Block], steps: &mut [Block]) -> bool {
        // Squared as they are written: another loop would take as long again.
        let mut squares = Block::default();
        for (steps, numbers) in steps.iter_mut().zip(vector) {
            *steps = numbers.map(|number| self.nearest(number));
            add_squares(&mut squares, steps);
        }
        let square = total(squares);
        if square <= self.limit {
            return true;
        }
        let Some(factor) = self.factor(square) else {
            return false;
        };
        let mut squares = Block::default();
        for steps in steps {
            *steps = steps.map(shorten_by(factor));
            add_squares(&mut squares, steps);
        }
        total(squares) <= self.limit
    }

    #[inline(always)]
    fn nearest(&self, number: f64) -> f64 {
        number * self.per_unit + TO_WHOLE - TO_WHOLE
    }

    /// What a vector with this squared length is multiplied by; `None` if the square may not be
    /// exact. The factor is rounded up, but the coordinates are truncated to whole numbers, so the
    /// vector is rarely too long; the check itself is exact.
    #[inline(always)]
    fn factor(&self, square: f64) -> Option<f64> {
        const UP: f64 = 1.0 + 1.0 / (1_u64 << 40) as f64;
        (square <= EXACT).then(|| self.radius as f64 / square.sqrt() * UP)
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

/// Multiplies a whole number below 2^50 by a factor of at most about one, and truncates.
#[inline(always)]
pub(crate) fn shorten_by(factor: f64) -> impl Fn(f64) -> f64 {
    move |steps| {
        let exact = steps * factor;
        let nearest = exact + TO_WHOLE - TO_WHOLE;
        let beyond = nearest.abs() > exact.abs();
        nearest - if beyond { 1_f64.copysign(exact) } else { 0.0 }
    }
}

/// The square of the length of a vector of whole numbers: exact if it is below 2^53. In four sums,
/// of which none waits for another.
#[inline(always)]
pub(crate) fn square(steps: &[f64]) -> f64 {
    let (blocks, rest) = steps.as_chunks();
    let rest: f64 = rest.iter().map(|steps| steps * steps).sum();
    square_of_blocks(blocks) + rest
}

#[inline(always)]
fn square_of_blocks(blocks: &[Block]) -> f64 {
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
