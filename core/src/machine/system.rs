//! The operating system's randomness.

use std::convert::Infallible;
use std::num::NonZeroU64;

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::{CoinSource, CoinsError, Law};

/// Coins for released values: a ChaCha20 stream of its own, seeded by the operating system.
///
/// The seed is fetched at the first draw, so that what needs no randomness does not pay for it.
/// Every child of a compositor has coins of its own; they cannot be cloned, and their `Debug`
/// does not show them. A process that forks after the first draw repeats the stream in both
/// halves: start children after the fork.
///
/// Example: [`interact`](crate::machine::interact).
#[derive(Default)]
pub struct SystemCoins {
    stream: Option<Box<ChaCha20Rng>>,
}

impl SystemCoins {
    /// Fresh coins.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn stream(&mut self) -> Result<&mut ChaCha20Rng, CoinsError> {
        match &mut self.stream {
            Some(stream) => Ok(stream),
            empty => {
                let mut seed = [0; 32];
                getrandom::fill(&mut seed).map_err(|_| CoinsError::NoEntropy)?;
                Ok(empty.insert(Box::new(ChaCha20Rng::from_seed(seed))))
            }
        }
    }
}

impl CoinSource for SystemCoins {
    fn uniform(&mut self, below: NonZeroU64) -> Result<u64, CoinsError> {
        Ok(uniform_from(self.stream()?, below))
    }

    fn word(&mut self) -> Result<u64, CoinsError> {
        Ok(self.stream()?.next_u64())
    }

    fn draw(&mut self, law: &dyn Law) -> Result<i128, CoinsError> {
        law.sample(self)
    }
}

crate::debug_fields!([] SystemCoins, "SystemCoins");

pub(super) fn uniform_from(words: &mut impl Rng, below: NonZeroU64) -> u64 {
    match uniform_from_words::<Infallible>(below, || Ok(words.next_u64())) {
        Ok(value) => value,
    }
}

/// An exactly uniform value below `below`, from uniform words: for a source of coins that has words.
///
/// Lemire (2019): of the 2^64 words, those whose product with `below` has a low half under
/// `2^64 mod below` are rejected; every value then has the same number of words left, which is
/// `floor(2^64 / below)`. Less than one word in two is rejected.
///
/// ```
/// use queryables::machine::{CoinsError, uniform_from_words};
/// use std::num::NonZeroU64;
///
/// // Not random: the first word that is read is the largest.
/// let word = || Ok::<u64, CoinsError>(u64::MAX);
/// assert_eq!(uniform_from_words(NonZeroU64::new(6).unwrap(), word)?, 5);
/// # Ok::<(), CoinsError>(())
/// ```
///
/// # Errors
///
/// Those of `word`.
#[inline]
pub fn uniform_from_words<E>(
    below: NonZeroU64,
    mut word: impl FnMut() -> Result<u64, E>,
) -> Result<u64, E> {
    let below = below.get();
    let (mut low, mut high) = word()?.carrying_mul(below, 0);
    if low < below {
        let rejected = below.wrapping_neg() % below;
        while low < rejected {
            (low, high) = word()?.carrying_mul(below, 0);
        }
    }
    Ok(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words from a list.
    struct Words<'a>(std::slice::Iter<'a, u64>);

    impl rand_chacha::rand_core::TryRng for Words<'_> {
        type Error = std::convert::Infallible;

        fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
            unreachable!("only whole words are drawn")
        }

        fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
            Ok(*self.0.next().expect("enough words"))
        }

        fn try_fill_bytes(&mut self, _: &mut [u8]) -> Result<(), Self::Error> {
            unreachable!("only whole words are drawn")
        }
    }

    fn uniform(words: &[u64], below: u64) -> (u64, usize) {
        let mut words = Words(words.iter());
        let value = uniform_from(&mut words, NonZeroU64::new(below).unwrap());
        (value, words.0.len())
    }

    #[test]
    fn the_words_that_would_bias_are_rejected() {
        // 2^64 mod 3 = 1: the one word whose product has a low half of 0 is rejected.
        assert_eq!(uniform(&[0, 1], 3), (0, 0));
        assert_eq!(uniform(&[1, 0], 3), (0, 1));
        assert_eq!(uniform(&[u64::MAX], 3), (2, 0));
        // The smallest and largest words of each third.
        let third = u64::MAX / 3;
        assert_eq!(uniform(&[third], 3).0, 0);
        assert_eq!(uniform(&[third + 1], 3).0, 1);
        assert_eq!(uniform(&[2 * third], 3).0, 1);
        assert_eq!(uniform(&[2 * third + 1], 3).0, 2);
    }

    #[test]
    fn a_power_of_two_rejects_nothing() {
        assert_eq!(uniform(&[0], 1 << 20), (0, 0));
        assert_eq!(uniform(&[u64::MAX], 1), (0, 0));
    }

    #[test]
    fn a_seed_is_fetched_at_the_first_draw_only() {
        let mut coins = SystemCoins::new();
        assert!(coins.stream.is_none());
        assert_eq!(coins.uniform(NonZeroU64::MIN), Ok(0));
        assert!(coins.stream.is_some());
        assert_eq!(format!("{coins:?}"), "SystemCoins");
    }

    #[test]
    fn two_children_draw_differently() {
        let draws = || {
            let mut coins = SystemCoins::new();
            [(); 4].map(|()| coins.uniform(NonZeroU64::MAX).unwrap())
        };
        // Equal with probability 2^-256.
        assert_ne!(draws(), draws());
    }
}
