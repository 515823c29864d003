//! Coins for tests and demonstrations.

use std::num::NonZeroU64;

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::system::uniform_from;
use super::{CoinSource, CoinsError, Law};

/// Coins that anybody who knows the seed can predict: **nothing drawn from them is private**.
///
/// The same seed gives the same draws on every machine and in every version with the same major
/// number.
///
/// Example: [`interact`](crate::machine::interact).
#[derive(Clone, Debug)]
pub struct NotPrivateSeededCoins(ChaCha20Rng);

impl NotPrivateSeededCoins {
    /// The coins with this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(ChaCha20Rng::seed_from_u64(seed))
    }
}

impl CoinSource for NotPrivateSeededCoins {
    fn uniform(&mut self, below: NonZeroU64) -> Result<u64, CoinsError> {
        Ok(uniform_from(&mut self.0, below))
    }

    fn word(&mut self) -> Result<u64, CoinsError> {
        Ok(self.0.next_u64())
    }

    fn draw(&mut self, law: &dyn Law) -> Result<i128, CoinsError> {
        law.sample(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_pinned() {
        let mut coins = NotPrivateSeededCoins::new(2026);
        let drawn: Vec<_> = [2, 6, 10, 1000, 1 << 32, u64::MAX]
            .into_iter()
            .map(|below| coins.uniform(NonZeroU64::new(below).unwrap()).unwrap())
            .collect();
        assert_eq!(drawn, PINNED);
    }

    const PINNED: [u64; 6] = [1, 3, 5, 245, 454_126_026, 9_585_538_485_847_525_709];
}
