//! The sum of vectors that are rounded to a lattice and clipped to a length.

use super::CHUNK;
use super::clip::{Block, Clip, Rounding, square, square_of_blocks};

/// Adds up vectors, each rounded to the nearest point of a lattice and then clipped to its radius,
/// in whole numbers: the order makes no difference. A vector with an infinite or NaN coordinate
/// counts as zero.
///
/// Most vectors are so short that they need not be clipped however they are rounded. They are
/// rounded and added in one step, which takes about as long as clipping without a lattice. The
/// others wait until they are many: what is done for all of them in one loop, without a branch that
/// the processor would have to guess, takes half the time. What floats do not hold is left to
/// integers.
pub(crate) struct ClippedSum {
    clip: Clip,
    /// Vectors that wait: of few coordinates those to be clipped, of many coordinates all, each in
    /// whole blocks.
    vectors: Vec<Block>,
    /// The current one of many coordinates, clipped.
    clipped: Vec<Block>,
    /// In this chunk, of many coordinates: the counts of steps.
    near: Vec<Counts>,
    /// In this chunk: sums of the vectors that floats do not hold, at most 2^60.
    far: Vec<i64>,
    /// In all chunks before.
    total: Vec<i128>,
}

/// Sums of [`Rounding::count`] for four coordinates. They wrap around; without the zeros, a sum is
/// at most 2^60 for a chunk.
type Counts = [u64; 4];

/// Up to this number of coordinates, there is a copy of the code for each.
const FEW: usize = 8;

/// How many vectors of few coordinates are clipped in one step.
const AT_ONCE: usize = 16;

/// How many blocks of vectors wait at most, if one vector has not more: 8 KiB.
const BLOCKS: usize = 256;

/// Vectors of more than [`FEW`] coordinates have at least three blocks, and so no more wait.
const WAITING: usize = BLOCKS / 3;

/// With more coordinates, each thread would need too much memory of its own: this is two megabytes.
const MOST_TO_MERGE: usize = 1 << 16;

impl ClippedSum {
    /// For vectors with `dimension` coordinates, in steps of 2 to the power of `exponent`, which is
    /// from -500 to 500, clipped to a length of `radius` steps, at most 2^50.
    pub(crate) fn new(exponent: i32, radius: u64, dimension: usize) -> Self {
        Self::with(Clip::new(exponent, radius, dimension), dimension)
    }

    fn with(clip: Clip, dimension: usize) -> Self {
        // Of few coordinates, all vectors of a chunk may wait.
        let (blocks, room) = if dimension > FEW {
            let blocks = dimension.div_ceil(4);
            (blocks, blocks.max(BLOCKS))
        } else {
            (0, (CHUNK * dimension).div_ceil(4))
        };
        Self {
            clip,
            vectors: vec![Block::default(); room],
            clipped: vec![Block::default(); blocks],
            near: vec![Counts::default(); blocks],
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

    /// Adds the vectors of one chunk of records, at most [`CHUNK`] of them. If a record panics, nothing is
    /// added.
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
        let (rounding, short) = (clip.rounding(), clip.short());
        let places = self.vectors.as_flattened_mut().as_chunks_mut::<N>().0;
        // No function is called for a record, and nothing outside is told where the sums are: so they
        // stay in registers.
        let (mut near, mut read, mut waiting) = ([0; N], 0, 0);
        for record in records {
            let mut vector = [0.0; N];
            write(record, &mut vector);
            read += 1;
            if square(&vector) <= short {
                count(&mut near, &vector, rounding);
            } else {
                if let Some(place) = places.get_mut(waiting) {
                    *place = vector;
                }
                waiting += 1;
            }
        }
        let mut added = read - waiting;
        let mut sums = near;
        let waiting = waiting.min(places.len());
        for vectors in places.get(..waiting).unwrap_or_default().chunks(AT_ONCE) {
            // All squares, all factors and then all vectors: a processor takes two roots at once.
            let mut squares = [0.0; AT_ONCE];
            for (square, vector) in squares.iter_mut().zip(vectors) {
                *square = clip.square_of_few(vector);
            }
            let factors = squares.map(|square| clip.factor(square));
            for (vector, factor) in vectors.iter().zip(factors) {
                match clip.few(vector, factor) {
                    Some(clipped) => {
                        count(&mut sums, &clipped, rounding);
                        added += 1;
                    }
                    None => clip.add_far(vector, &mut self.far),
                }
            }
        }
        add(&mut self.total, &sums, rounding, added, &self.far);
    }

    #[inline(never)]
    fn take_many<R>(
        &mut self,
        mut records: impl Iterator<Item = R>,
        write: &impl Fn(R, &mut [f64]),
    ) {
        let (dimension, blocks) = (self.dimension(), self.clipped.len().max(1));
        self.near.fill(Counts::default());
        let mut added = 0;
        loop {
            // As numbers, not as blocks: filled in one call.
            self.vectors.as_flattened_mut().fill(0.0);
            let places = self.vectors.chunks_exact_mut(blocks);
            let (room, mut written) = (places.len(), 0);
            // First a place, then a record: no record is lost when there is no place.
            for (place, record) in places.zip(&mut records) {
                let place = place.as_flattened_mut().get_mut(..dimension);
                write(record, place.unwrap_or_default());
                written += 1;
            }
            added += self.add_waiting(written);
            if written < room {
                break;
            }
        }
        let near = self.near.as_flattened();
        add(
            &mut self.total,
            near,
            self.clip.rounding(),
            added,
            &self.far,
        );
    }

    /// Adds the first vectors that wait to the sums of the chunk; how many were counted in `near`.
    fn add_waiting(&mut self, vectors: usize) -> usize {
        match self.clipped.len() {
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
    fn add_blocks<const B: usize>(&mut self, vectors: usize) -> usize {
        let (clip, rounding, dimension) = (self.clip, self.clip.rounding(), self.dimension());
        let vectors = self.vectors.as_chunks::<B>().0.get(..vectors);
        let vectors = vectors.unwrap_or_default();
        let (mut short, mut long) = (Places::default(), Places::default());
        for (place, vector) in vectors.iter().enumerate() {
            let is_short = square_of_blocks(vector) <= clip.short();
            short.push_if(is_short, place);
            long.push_if(!is_short, place);
        }
        let (mut near, mut added) = ([Counts::default(); B], vectors.len());
        for vector in short.of(vectors) {
            count_blocks(&mut near, vector, rounding);
        }
        // All squares, all factors and then all vectors: no step waits for the one before.
        let mut factors = [0.0; WAITING];
        for (square, vector) in factors.iter_mut().zip(long.of(vectors)) {
            *square = clip.square(vector);
        }
        for factor in factors.iter_mut().take(long.len) {
            *factor = clip.factor(*factor);
        }
        for (factor, vector) in factors.iter().zip(long.of(vectors)) {
            let mut clipped = [Block::default(); B];
            if clip.shorten(vector, *factor, &mut clipped) {
                count_blocks(&mut near, &clipped, rounding);
            } else {
                let vector = vector.as_flattened().get(..dimension);
                clip.add_far(vector.unwrap_or_default(), &mut self.far);
                added -= 1;
            }
        }
        for (sums, counts) in self.near.iter_mut().zip(near) {
            for (sum, count) in sums.iter_mut().zip(counts) {
                *sum = sum.wrapping_add(count);
            }
        }
        added
    }

    fn add_many(&mut self, vectors: usize) -> usize {
        let (clip, rounding, dimension) = (self.clip, self.clip.rounding(), self.dimension());
        let blocks = self.clipped.len().max(1);
        let mut added = vectors;
        for vector in self.vectors.chunks_exact(blocks).take(vectors) {
            if square_of_blocks(vector) <= clip.short() {
                count_blocks(&mut self.near, vector, rounding);
            } else if clip.shorten(vector, clip.factor(clip.square(vector)), &mut self.clipped) {
                count_blocks(&mut self.near, &self.clipped, rounding);
            } else {
                let vector = vector.as_flattened().get(..dimension);
                clip.add_far(vector.unwrap_or_default(), &mut self.far);
                added -= 1;
            }
        }
        added
    }
}

/// The places of some of the vectors that wait.
struct Places {
    places: [u8; WAITING],
    len: usize,
}

impl Default for Places {
    fn default() -> Self {
        Self {
            places: [0; WAITING],
            len: 0,
        }
    }
}

impl Places {
    /// Without a branch: a place that is not wanted is overwritten by the next.
    #[inline(always)]
    fn push_if(&mut self, is_wanted: bool, place: usize) {
        if let Some(last) = self.places.get_mut(self.len) {
            *last = place as u8;
            self.len += usize::from(is_wanted);
        }
    }

    #[inline(always)]
    fn of<'a, T>(&'a self, vectors: &'a [T]) -> impl Iterator<Item = &'a T> {
        let places = self.places.iter().take(self.len);
        places.filter_map(|place| vectors.get(usize::from(*place)))
    }
}

#[inline(always)]
fn count(sums: &mut [u64], vector: &[f64], rounding: Rounding) {
    for (sum, number) in sums.iter_mut().zip(vector) {
        *sum = sum.wrapping_add(rounding.count(*number));
    }
}

#[inline(always)]
fn count_blocks(sums: &mut [Counts], vector: &[Block], rounding: Rounding) {
    for (sums, numbers) in sums.iter_mut().zip(vector) {
        count(sums, numbers, rounding);
    }
}

/// Adds the sums of a chunk: the counts of `added` vectors, and the sums of all others.
fn add(total: &mut [i128], near: &[u64], rounding: Rounding, added: usize, far: &[i64]) {
    let zeros = rounding.zero().wrapping_mul(added as u64);
    for ((total, near), far) in total.iter_mut().zip(near).zip(far) {
        let near = near.wrapping_sub(zeros) as i64;
        *total += i128::from(near) + i128::from(*far);
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

    /// Shorter than the radius, and the nearest point of the lattice is not: (1, 5), and (3, 3, 3).
    #[test]
    fn what_is_too_long_after_rounding_is_clipped() {
        assert_eq!(clipped(0, 5, &[0.6, 4.9]), [0, 4]);
        assert_eq!(clipped(0, 5, &[-2.6, 2.6, 2.6]), [-2, 2, 2]);
    }

    /// Squares of the largest vectors are infinite, those of the smallest are not normal floats.
    #[test]
    fn the_largest_and_the_smallest_steps() {
        let at = |exponent, numbers: [f64; 2]| numbers.map(|x| libm::scalbn(x, exponent));
        for exponent in [-500, 485, 486, 500] {
            let clipped = |radius, numbers| clipped(exponent, radius, &at(exponent, numbers));
            assert_eq!(clipped(100, [2.4, -4.5]), [2, -4]);
            assert_eq!(clipped(2, [2.0, -4.0]), [0, -1]);
            assert_eq!(clipped(5000, [3e9, -4e9]), [3000, -4000]);
            assert_eq!(clipped(1 << 50, [1e-9, 1e15]), [0, 1_000_000_000_000_000]);
            assert_eq!(clipped(1, [0.5, 1e-300]), [0, 0]);
        }
    }

    #[test]
    fn the_vectors_of_a_chunk_add_up() {
        let far = (1_u64 << 45) as f64;
        let vectors: [&[f64]; 4] = [&[1.0, 2.0], &[f64::NAN, 3.0], &[-0.5, 4.0], &[far, 0.0]];
        assert_eq!(sum(-1, 1 << 40, &vectors), [1 + (1 << 40), 12]);
    }

    /// Those that wait together are of many lengths and directions: each has a factor of its own.
    #[test]
    fn each_vector_of_a_chunk_is_clipped_alone() {
        const RADIUS: u64 = 1000;
        for dimension in 1..=FEW {
            let vectors: Vec<Vec<f64>> = (0..3 * AT_ONCE + 5)
                .map(|number| {
                    // Longer and shorter ones by turns, all of them longer than the radius.
                    let long = 1001 + (number + 7) * 37 % 50 * 700;
                    let others = (1..dimension).map(|at| (number * (at + 3) % 17 * 90) as f64);
                    std::iter::once(long as f64).chain(others).collect()
                })
                .collect();
            let vectors: Vec<&[f64]> = vectors.iter().map(Vec::as_slice).collect();
            let mut alone = vec![0; dimension];
            for vector in &vectors {
                let clipped = clipped(0, RADIUS, vector);
                assert!(square_of(&clipped) <= u128::from(RADIUS).pow(2));
                for (sum, number) in alone.iter_mut().zip(clipped) {
                    *sum += number;
                }
            }
            assert_eq!(sum(0, RADIUS, &vectors), alone, "{dimension} coordinates");
        }
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
            exponent in prop_oneof![Just(-500), Just(0), Just(500)],
        ) {
            // From lengths that are exact in floats to those that are not.
            let vector: Vec<f64> = vector.iter().map(|x| libm::scalbn(*x, shift)).collect();
            let radius = (radius >> bits).max(1);
            let in_steps: Vec<f64> = vector.iter().map(|x| libm::scalbn(*x, exponent)).collect();
            let clipped = clipped(exponent, radius, &in_steps);
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
