//! The square root of the matrix of running counts, in whole numbers.

use std::sync::{Arc, OnceLock};

use super::MechanismError;

/// Whole numbers in the place of a factorization of A, the lower triangular matrix of ones, into two
/// equal factors (Fichtenberger, Henzinger, Upadhyay 2023; Henzinger, Upadhyay, Upadhyay 2023).
///
/// A is 1/(1 − x) as a power series, so its square root is 1/√(1 − x): the triangular Toeplitz matrix
/// with f(0) = 1 and f(k) = f(k − 1)·(2k − 1)/(2k) on its diagonals. Here
///
/// - `encoder` has r(k), the nearest integers to 2^s·f(k): R, in steps of 2^-s;
/// - `decoder` has d(k), which are about 2^q·f(k), and are chosen such that d∗r is as near to
///   2^(q+s)·A as whole numbers can be: (d∗r)(k) = 2^(q+s) + `rest`(k), where a rest is at most half
///   of 2^s. In steps of 2^-q it is about A·R⁻¹.
///
/// Rounding r changes the noise a little. It does not change what is proved: the sensitivity is that
/// of the integers, and whatever the decoder does is postprocessing.
#[derive(Debug)]
pub(super) struct Factorization {
    pub(super) encoder: Vec<i64>,
    pub(super) decoder: Vec<i64>,
    pub(super) rest: Vec<i64>,
    /// s + q.
    pub(super) shift: u32,
    /// What [`two_columns`](Self::two_columns) has found, which takes as long as all the rest.
    apart: OnceLock<u128>,
}

/// The s of an encoder: the largest norm grows by less than one part in 10^4.
const ENCODER_BITS: u32 = 24;

/// The q of a decoder: n rows shift a count by less than n·2^-47.
const DECODER_BITS: u32 = 46;

/// The most times: making a factorization takes a number of steps that is quadratic in them.
pub(super) const MOST_TIMES: u64 = 1 << 16;

impl Factorization {
    pub(super) fn new(horizon: u64) -> Result<Arc<Self>, MechanismError> {
        if horizon == 0 {
            return Err(MechanismError::no_time());
        }
        if horizon > MOST_TIMES {
            let must = "at most 2^16 (`ContinualCount` takes any)";
            return Err(MechanismError::parameter("the horizon", horizon, must));
        }
        Ok(Arc::new(Self::with_bits(
            horizon,
            ENCODER_BITS,
            DECODER_BITS,
        )))
    }

    /// For up to [`MOST_TIMES`] times, with up to 46 bits.
    pub(super) fn with_bits(times: u64, encoder_bits: u32, decoder_bits: u32) -> Self {
        let encoder: Vec<i64> = square_root(times, encoder_bits);
        let shift = encoder_bits + decoder_bits;
        let (whole, first) = (1_i128 << shift, 1_i128 << encoder_bits);
        let (mut decoder, mut rest) = (Vec::with_capacity(encoder.len()), vec![]);
        for at in 0..encoder.len() {
            // r(0) is 2^s. All that follows it is known already.
            let later = encoder.iter().skip(1).take(at);
            let known = product(later, decoder.iter().rev());
            let missing = whole - known;
            let next = (missing + first / 2) >> encoder_bits;
            rest.push((next * first - missing) as i64);
            decoder.push(next as i64);
        }
        Self {
            encoder,
            decoder,
            rest,
            shift,
            apart: OnceLock::new(),
        }
    }

    /// The square of the norm of a column of the encoder, the first one, which is the longest.
    pub(super) fn column(&self) -> u128 {
        squares(&self.encoder)
    }

    /// The square of the norm of the last row of the decoder, which is the longest.
    pub(super) fn row(&self) -> u128 {
        squares(&self.decoder)
    }

    /// The largest square of the norm of the difference between two columns, where one of them may be
    /// zero, for a row that is not counted.
    ///
    /// Columns i and j > i differ by as much as columns 0 and j − i do in the first T − i rows. So one
    /// of the two is the first.
    pub(super) fn two_columns(&self) -> u128 {
        let apart = |lag: usize| {
            let (before, after) = self.encoder.split_at(lag);
            let both = after.iter().zip(&self.encoder);
            let differences = both.map(|(first, other)| u128::from(first.abs_diff(*other)).pow(2));
            squares(before) + differences.sum::<u128>()
        };
        let most = || (1..=self.encoder.len()).map(apart).max();
        *self.apart.get_or_init(|| most().unwrap_or_default())
    }
}

fn squares(numbers: &[i64]) -> u128 {
    let square = |number: &i64| u128::from(number.unsigned_abs()).pow(2);
    numbers.iter().map(square).sum()
}

/// The sum of products, exactly: at most 2^16 of numbers up to 2^46 and 2^24, or 2^64.
pub(super) fn product<'a>(
    one: impl Iterator<Item = &'a i64>,
    other: impl Iterator<Item = &'a i64>,
) -> i128 {
    one.zip(other)
        .map(|(one, other)| i128::from(*one) * i128::from(*other))
        .sum()
}

/// 2^bits·f(k), to the nearest integer or next to it.
pub(super) fn square_root(times: u64, bits: u32) -> Vec<i64> {
    // With 60 more bits: each step rounds by at most 2^-60, and 2^16 steps by at most 2^-44. f falls.
    const MORE: u32 = 60;
    let mut entry = 1_u128 << (bits + MORE);
    let mut root = Vec::new();
    for k in 1..=u128::from(times) {
        root.push(((entry + (1 << (MORE - 1))) >> MORE) as i64);
        entry = entry * (2 * k - 1) / (2 * k);
    }
    root
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_encoder_is_the_square_root_of_all_ones() {
        // C(2k, k)/4^k.
        assert_eq!(square_root(5, 8), [256, 128, 96, 80, 70]);
        let root: Vec<f64> = square_root(1000, 40)
            .into_iter()
            .map(|entry| entry as f64 / 2_f64.powi(40))
            .collect();
        for at in [0, 1, 7, 500, 999] {
            let square: f64 = (0..=at).map(|k| root[k] * root[at - k]).sum();
            assert!((square - 1.0).abs() < 1e-8, "{square}");
        }
    }

    #[test]
    fn the_decoder_undoes_the_encoder_but_for_what_the_rest_says() {
        for (times, encoder_bits, decoder_bits) in [(300, 24, 46), (7, 1, 2), (1, 3, 3)] {
            let all = Factorization::with_bits(times, encoder_bits, decoder_bits);
            assert_eq!(all.shift, encoder_bits + decoder_bits);
            for at in 0..times as usize {
                let sum = product(all.encoder[..=at].iter(), all.decoder[..=at].iter().rev());
                assert_eq!(sum, (1 << all.shift) + i128::from(all.rest[at]));
                assert!(all.rest[at].unsigned_abs() <= 1 << (encoder_bits - 1));
            }
        }
    }

    #[test]
    fn columns_and_rows_are_the_longest() {
        let all = Factorization::with_bits(5, 8, 8);
        assert_eq!(
            all.column(),
            256 * 256 + 128 * 128 + 96 * 96 + 80 * 80 + 70 * 70
        );
        // Every pair of columns, the one of a row that is not counted included.
        let column = |begin: usize| -> Vec<i64> {
            let zeros = std::iter::repeat_n(0, begin);
            zeros.chain(all.encoder.iter().copied()).take(5).collect()
        };
        let mut most = 0;
        for one in 0..=5 {
            for other in 0..=5 {
                let (one, other) = (column(one), column(other));
                let apart: Vec<_> = one.iter().zip(&other).map(|(a, b)| a - b).collect();
                most = most.max(squares(&apart));
                assert!(squares(&one) <= all.column());
            }
        }
        assert_eq!(all.two_columns(), most);
        assert_eq!(all.row(), squares(&all.decoder));
        // About Σ f², in steps of 2^-8.
        assert!(all.row().abs_diff(all.column()) < 2000, "{}", all.row());
    }

    #[test]
    fn horizons_are_from_one_to_the_most() {
        let error = |horizon| Factorization::new(horizon).map(|_| ()).unwrap_err();
        assert_eq!(
            error(0).to_string(),
            "the horizon must be greater than zero, not 0"
        );
        assert_eq!(
            error(MOST_TIMES + 1).to_string(),
            "the horizon must be at most 2^16 (`ContinualCount` takes any), not 65537"
        );
    }
}
