//! The sum of vectors that are rounded to a lattice and clipped to a length.

use super::CHUNK;
use super::clip::{Block, Clip};

/// Adds up vectors, each rounded to the nearest point of a lattice and then clipped to its radius,
/// in whole numbers: the order makes no difference. A vector with an infinite or NaN coordinate
/// counts as zero.
///
/// It works in floats as long as they hold whole numbers exactly, which takes about as long as
/// clipping without a lattice, and in integers beyond. The sums of a chunk are at most 2^37 in
/// floats, and 2^60 in integers.
pub(crate) struct ClippedSum {
    clip: Clip,
    /// Several vectors of many coordinates, each in whole blocks. They are clipped a while after
    /// they were written: what was written coordinate by coordinate cannot be read at once in
    /// blocks without waiting.
    vectors: Vec<Block>,
    /// The current one, in steps.
    steps: Vec<Block>,
    /// In this chunk: sums of the vectors that are exact in floats.
    near: Vec<Block>,
    /// In this chunk: sums of all other vectors.
    far: Vec<i64>,
    /// In all chunks before.
    total: Vec<i128>,
}

/// Up to this number of coordinates, there is a copy of the code for each.
const FEW: usize = 8;

/// How many blocks of vectors are written before they are clipped: 8 KiB.
const BLOCKS: usize = 256;

/// With more coordinates, each thread would need too much memory of its own: this is two megabytes.
const MOST_TO_MERGE: usize = 1 << 16;

impl ClippedSum {
    /// For vectors with `dimension` coordinates, in steps of 2 to the power of `exponent`, which is
    /// from -500 to 500, clipped to a length of `radius` steps, at most 2^50.
    pub(crate) fn new(exponent: i32, radius: u64, dimension: usize) -> Self {
        Self::with(Clip::new(exponent, radius), dimension)
    }

    fn with(clip: Clip, dimension: usize) -> Self {
        let blocks = if dimension > FEW {
            dimension.div_ceil(4)
        } else {
            0
        };
        let vectors = (BLOCKS / blocks.max(1)).clamp(1, CHUNK) * blocks;
        let [vectors, steps, near] =
            [vectors, blocks, blocks].map(|blocks| vec![Block::default(); blocks]);
        Self {
            clip,
            vectors,
            steps,
            near,
            far: vec![0; dimension],
            total: vec![0; dimension],
        }
    }

    /// An empty one for a thread of its own, unless that needs too much memory.
    pub(super) fn part(&self) -> Option<Self> {
        let dimension = self.dimension();
        (dimension <= MOST_TO_MERGE).then(|| Self::with(self.clip, dimension))
    }

    /// Adds what was summed in a part.
    pub(super) fn merge(&mut self, part: Self) {
        for (total, part) in self.total.iter_mut().zip(part.total) {
            *total += part;
        }
    }

    /// The number of coordinates.
    pub(super) fn dimension(&self) -> usize {
        self.total.len()
    }

    /// The sum so far, coordinate by coordinate, in steps.
    pub(crate) fn total(&self) -> &[i128] {
        &self.total
    }

    /// Adds the vectors of one chunk of records. If a record panics, nothing is added.
    pub(super) fn take<R>(
        &mut self,
        records: impl Iterator<Item = R>,
        write: &impl Fn(R, &mut [f64]),
    ) {
        self.far.fill(0);
        match self.dimension() {
            1 => self.take_few::<1, R>(records, write),
            2 => self.take_few::<2, R>(records, write),
            3 => self.take_few::<3, R>(records, write),
            4 => self.take_few::<4, R>(records, write),
            5 => self.take_few::<5, R>(records, write),
            6 => self.take_few::<6, R>(records, write),
            7 => self.take_few::<7, R>(records, write),
            FEW => self.take_few::<FEW, R>(records, write),
            _ => self.take_many(records, write),
        }
    }

    // Not in place: beside its eight sisters, too little of it would be compiled in place itself.
    #[inline(never)]
    fn take_few<const N: usize, R>(
        &mut self,
        records: impl Iterator<Item = R>,
        write: &impl Fn(R, &mut [f64]),
    ) {
        let clip = self.clip;
        let mut near = [0.0; N];
        for record in records {
            let mut vector = [0.0; N];
            write(record, &mut vector);
            match clip.few(&vector) {
                Some(steps) => {
                    for (near, steps) in near.iter_mut().zip(steps) {
                        *near += steps;
                    }
                }
                None => clip.add_far(&vector, &mut self.far),
            }
        }
        add(&mut self.total, &near, &self.far);
    }

    #[inline(never)]
    fn take_many<R>(
        &mut self,
        mut records: impl Iterator<Item = R>,
        write: &impl Fn(R, &mut [f64]),
    ) {
        let (dimension, blocks) = (self.dimension(), self.steps.len().max(1));
        self.near.fill(Block::default());
        loop {
            self.vectors.fill(Block::default());
            let mut written = 0;
            // First a place, then a record: no record is lost when there is no place.
            for (place, record) in self.vectors.chunks_exact_mut(blocks).zip(&mut records) {
                let place = place.as_flattened_mut().get_mut(..dimension);
                write(record, place.unwrap_or_default());
                written += 1;
            }
            self.add_near(written);
            if written * blocks < self.vectors.len() {
                break;
            }
        }
        add(&mut self.total, self.near.as_flattened(), &self.far);
    }

    /// Adds the first vectors that were written to the sums of the chunk.
    fn add_near(&mut self, vectors: usize) {
        match self.steps.len() {
            3 => self.add_blocks::<3>(vectors),
            4 => self.add_blocks::<4>(vectors),
            5 => self.add_blocks::<5>(vectors),
            6 => self.add_blocks::<6>(vectors),
            7 => self.add_blocks::<7>(vectors),
            8 => self.add_blocks::<8>(vectors),
            _ => self.add_many(vectors),
        }
    }

    /// A copy for each small number of blocks, in which the loops over them are gone. It does not
    /// depend on the records, so that there are not many.
    #[inline(never)]
    fn add_blocks<const B: usize>(&mut self, vectors: usize) {
        let (clip, dimension) = (self.clip, self.dimension());
        let mut near = [Block::default(); B];
        for vector in self.vectors.as_chunks::<B>().0.iter().take(vectors) {
            let mut steps = [Block::default(); B];
            if clip.many(vector, &mut steps) {
                add_steps(&mut near, &steps);
            } else {
                let vector = vector.as_flattened().get(..dimension);
                clip.add_far(vector.unwrap_or_default(), &mut self.far);
            }
        }
        add_steps(&mut self.near, &near);
    }

    fn add_many(&mut self, vectors: usize) {
        let (dimension, blocks) = (self.dimension(), self.steps.len().max(1));
        for vector in self.vectors.chunks_exact(blocks).take(vectors) {
            if self.clip.many(vector, &mut self.steps) {
                add_steps(&mut self.near, &self.steps);
            } else {
                let vector = vector.as_flattened().get(..dimension);
                self.clip.add_far(vector.unwrap_or_default(), &mut self.far);
            }
        }
    }
}

#[inline(always)]
fn add_steps(sums: &mut [Block], steps: &[Block]) {
    for (sums, steps) in sums.iter_mut().zip(steps) {
        for (sum, steps) in sums.iter_mut().zip(steps) {
            *sum += steps;
        }
    }
}

/// Adds the sums of a chunk.
fn add(total: &mut [i128], near: &[f64], far: &[i64]) {
    for ((total, near), far) in total.iter_mut().zip(near).zip(far) {
        *total += i128::from(*near as i64 + far);
    }
}

#[cfg(test)]
mod tests {
    use super::super::clip::square_of;
    use super::*;
    use proptest::prelude::*;

    /// Of vectors with this number of coordinates, with the code for few or for more of them.
    fn sum(exponent: i32, radius: u64, vectors: &[&[f64]]) -> Vec<i64> {
        let dimension = vectors.first().map_or(0, |vector| vector.len());
        let write = |vector: &&[f64], out: &mut [f64]| out.copy_from_slice(vector);
        let mut few = ClippedSum::new(exponent, radius, dimension);
        few.take(vectors.iter(), &write);
        // With a copy for its number of blocks, and without.
        for wider in [FEW + 1, 33] {
            let mut many = ClippedSum::new(exponent, radius, wider);
            many.take(vectors.iter(), &|vector, out| {
                write(vector, &mut out[..dimension]);
            });
            let (found, rest) = many.total().split_at(dimension);
            assert_eq!(few.total(), found);
            assert!(rest.iter().all(|rest| *rest == 0));
        }
        few.total().iter().map(|steps| *steps as i64).collect()
    }

    fn clipped(exponent: i32, radius: u64, vector: &[f64]) -> Vec<i64> {
        sum(exponent, radius, &[vector])
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
        let far = (1_u64 << 45) as f64;
        let vectors: [&[f64]; 4] = [&[1.0, 2.0], &[f64::NAN, 3.0], &[-0.5, 4.0], &[far, 0.0]];
        assert_eq!(sum(-1, 1 << 40, &vectors), [1 + (1 << 40), 12]);
    }

    /// More vectors than are written at once, of every small dimension and some larger ones.
    #[test]
    fn chunks_and_parts_add_up() {
        for dimension in (1..=36).chain([255, 1023, 1500]) {
            let mut sum = ClippedSum::new(0, 1 << 20, dimension);
            let write = |number: usize, out: &mut [f64]| {
                // The first stays as it is: it must be zero.
                for (at, out) in out.iter_mut().enumerate().skip(1) {
                    *out = (number + at) as f64;
                }
            };
            sum.take(0..100, &write);
            let mut part = sum.part().unwrap();
            part.take(100..CHUNK, &write);
            sum.merge(part);
            let expected = |at: usize| {
                let all: usize = (0..CHUNK).map(|number| number + at).sum();
                if at == 0 { 0 } else { all as i128 }
            };
            assert!(sum.total().iter().copied().eq((0..dimension).map(expected)));
        }
        assert!(ClippedSum::new(0, 1, MOST_TO_MERGE + 1).part().is_none());
    }

    proptest! {
        #[test]
        fn clipped_vectors_are_short_and_keep_their_direction(
            vector in proptest::collection::vec(-1e12..1e12_f64, 1..=FEW),
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
