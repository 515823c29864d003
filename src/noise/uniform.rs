//! Uniform draws that need more than one word.

use std::num::{NonZeroU64, NonZeroU128};

use crate::machine::{CoinSource, CoinsError};

/// The digits of a wide draw are below this. It is not 2^64, which a `u64` cannot ask for.
const DIGIT_BITS: u32 = 63;
const DIGIT: NonZeroU64 = NonZeroU64::MIN.saturating_add((1 << DIGIT_BITS) - 1);

/// A uniform draw from `0..below`.
///
/// One draw if `below` fits in a word. Otherwise numbers with the same number of digits are drawn
/// until one is below: the leading digits run up to those of the largest number allowed, so that
/// more than half of all numbers are accepted.
pub(crate) fn uniform_below(
    coins: &mut dyn CoinSource,
    below: NonZeroU128,
) -> Result<u128, CoinsError> {
    if below == NonZeroU128::MIN {
        return Ok(0);
    }
    if let Ok(below) = NonZeroU64::try_from(below) {
        return Ok(u128::from(coins.uniform(below)?));
    }
    let first_digits = NonZeroU128::MIN.saturating_add((below.get() - 1) >> DIGIT_BITS);
    loop {
        let first = uniform_below(coins, first_digits)?;
        let last = u128::from(coins.uniform(DIGIT)?);
        let value = (first << DIGIT_BITS) | last;
        if value < below.get() {
            return Ok(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Replay;

    fn drawn(below: u128, tape: &[(u64, u64)]) -> (Result<u128, CoinsError>, usize) {
        let tape = tape
            .iter()
            .map(|&(below, value)| (NonZeroU64::new(below).unwrap(), value));
        let mut replay = Replay::of(tape);
        let value = uniform_below(&mut replay, NonZeroU128::new(below).unwrap());
        (value, replay.remaining())
    }

    const WORD: u128 = 1 << 64;
    const HALF: u64 = 1 << 63;

    #[test]
    fn a_word_is_one_draw_and_one_value_is_none() {
        assert_eq!(drawn(1, &[]), (Ok(0), 0));
        assert_eq!(drawn(6, &[(6, 5)]), (Ok(5), 0));
        let most = u64::MAX;
        assert_eq!(drawn(most.into(), &[(most, most - 1)]).0, Ok(WORD - 2));
    }

    #[test]
    fn digits_cover_the_range_and_nothing_else() {
        // 2^64 numbers: every pair of digits is one of them.
        assert_eq!(drawn(WORD, &[(2, 1), (HALF, HALF - 1)]), (Ok(WORD - 1), 0));
        // 2^64 + 1 numbers: of those that begin with 2, only the first.
        assert_eq!(drawn(WORD + 1, &[(3, 2), (HALF, 0)]), (Ok(WORD), 0));
        assert_eq!(
            drawn(WORD + 1, &[(3, 2), (HALF, 1), (3, 0), (HALF, 7)]),
            (Ok(7), 0)
        );
        // Three digits, the first below 4.
        assert_eq!(
            drawn(u128::MAX, &[(4, 3), (HALF, HALF - 1), (HALF, HALF - 2)]),
            (Ok(u128::MAX - 1), 0)
        );
        assert_eq!(
            drawn(
                u128::MAX,
                &[
                    (4, 3),
                    (HALF, HALF - 1),
                    (HALF, HALF - 1),
                    (4, 0),
                    (HALF, 0),
                    (HALF, 3)
                ]
            ),
            (Ok(3), 0)
        );
    }
}
