//! Coins from a generator.

use std::fmt;
use std::num::NonZeroU64;

use queryables_core::machine::{CoinSource, CoinsError, Law, uniform_from_words};
use rand_core::TryCryptoRng;

/// Coins for released values, from a generator that is made for cryptography.
///
/// Handles always draw from [`SystemCoins`](queryables_core::machine::SystemCoins). To release values
/// with a generator of your own, run machines: start a filter with these coins, and keep it.
///
/// ```
/// use queryables::data::Predicate;
/// use queryables::machine::CoinSource;
/// use queryables::mechanisms::Count;
/// use queryables::prelude::*;
/// use queryables_rand::RngCoins;
/// use rand_chacha::ChaCha20Rng;
/// use rand_chacha::rand_core::SeedableRng;
/// use std::sync::Arc;
///
/// // Seeded by whatever your rules require.
/// # let seed = [7; 32];
/// let mut source = RngCoins::new(ChaCha20Rng::from_seed(seed));
/// let mut coins = source.coins();
///
/// let ages = Arc::new(vec![17, 18, 43]);
/// let mut filter = Filter::concurrent(PureDp, "1".parse()?).start(&ages, &mut coins)?;
/// let adults = Predicate::new("at least 18", |age: &u32| *age >= 18);
/// let count: i64 = filter.release(&Count::of(adults).laplace(epsilon!(0.5))?, &mut coins)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A generator that is not made for cryptography can be predicted from what it has given, and does
/// not compile:
///
/// ```compile_fail,E0277
/// use queryables_rand::RngCoins;
/// use rand_core::TryRng;
///
/// /// Counts, and does not say that it is secure.
/// struct Counting(u64);
///
/// impl TryRng for Counting {
///     type Error = std::convert::Infallible;
///     fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
///         Ok(7)
///     }
///     fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
///         self.0 += 1;
///         Ok(self.0)
///     }
///     fn try_fill_bytes(&mut self, _: &mut [u8]) -> Result<(), Self::Error> {
///         Ok(())
///     }
/// }
///
/// RngCoins::new(Counting(0));
/// ```
///
/// # Guarantee
///
/// Every draw has exactly the law that it is asked for, if the generator's words are uniform and
/// independent. A draw fails if the generator does ([`CoinsError::NoEntropy`]), and with it the step
/// that made it.
pub struct RngCoins<R>(R);

impl<R: TryCryptoRng> RngCoins<R> {
    /// Coins from this generator.
    pub fn new(generator: R) -> Self {
        Self(generator)
    }
}

impl<R: TryCryptoRng> CoinSource for RngCoins<R> {
    fn uniform(&mut self, below: NonZeroU64) -> Result<u64, CoinsError> {
        uniform_from_words(below, || self.word())
    }

    fn draw(&mut self, law: &dyn Law) -> Result<i128, CoinsError> {
        law.sample(self)
    }

    fn word(&mut self) -> Result<u64, CoinsError> {
        self.0.try_next_u64().map_err(|_| CoinsError::NoEntropy)
    }
}

impl<R> fmt::Debug for RngCoins<R> {
    /// Shows nothing that the generator will give.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RngCoins")
    }
}
