//! A generator from coins.

use std::fmt;

use queryables_core::machine::{Coins, CoinsError, Fault};
use rand_core::{TryRng, UnwrapErr};

/// A generator that draws from the coins of a machine, for code that takes one.
///
/// It can fail, as coins can; most code of the ecosystem takes only generators that cannot, and
/// [`with_rng`] is for these. It does not claim to be secure, because it does not know its coins:
/// those of a handle are.
///
/// # What is lost
///
/// Samplers that are made for such generators compute with floating-point numbers as a rule. Their
/// laws are not exact, and **noise from them does not protect anybody**: the last bits of an answer
/// reveal the data (Mironov 2012). Take them for simulated data and for choices that need no proof.
/// The verifier refuses a machine that draws from here
/// (`VerifyError::RawWord`); `audit` does not, and finds such leaks.
pub struct CoinsRng<'a, 'b>(&'a mut Coins<'b>);

impl<'a, 'b> CoinsRng<'a, 'b> {
    /// A generator that draws from these coins.
    pub fn new(coins: &'a mut Coins<'b>) -> Self {
        Self(coins)
    }
}

impl TryRng for CoinsRng<'_, '_> {
    type Error = CoinsError;

    fn try_next_u32(&mut self) -> Result<u32, CoinsError> {
        // The upper half: of a word, both halves are uniform.
        Ok((self.0.word()? >> 32) as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, CoinsError> {
        self.0.word()
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), CoinsError> {
        for chunk in bytes.chunks_mut(8) {
            let word = self.0.word()?.to_le_bytes();
            for (byte, drawn) in chunk.iter_mut().zip(word) {
                *byte = drawn;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for CoinsRng<'_, '_> {
    /// Shows nothing that the coins will give.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CoinsRng")
    }
}

/// Runs code that takes a generator which cannot fail, on coins that can.
///
/// ```
/// use queryables::machine::{CoinSource, Fault, NotPrivateSeededCoins};
/// use queryables_rand::with_rng;
/// use rand_distr::{Distribution, Normal};
///
/// let height = Normal::new(170.0, 10.0).unwrap();
/// let mut source = NotPrivateSeededCoins::new(7);
/// let heights: Vec<f64> = with_rng(&mut source.coins(), |rng| height.sample_iter(rng).take(100).collect())?;
/// assert_eq!(heights.len(), 100);
/// # Ok::<(), Fault>(())
/// ```
///
/// # Errors
///
/// [`Fault::Failed`] if the coins fail or the code panics, [`Fault::Stopped`] if the step was stopped
/// meanwhile.
pub fn with_rng<T>(
    coins: &mut Coins<'_>,
    code: impl FnOnce(&mut UnwrapErr<CoinsRng<'_, '_>>) -> T,
) -> Result<T, Fault> {
    // Coins that fail panic inside, which is caught here: a generator that cannot fail has no other
    // way out, and to give it constants instead could loop forever.
    coins.guarded(|coins| Ok(code(&mut UnwrapErr(CoinsRng::new(coins)))))
}
