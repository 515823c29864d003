//! Where random choices come from.

use std::fmt::Debug;
use std::num::NonZeroU64;

use thiserror::Error;

use super::{Coins, DrawnNoise};
use crate::number::Ratio;

/// A source of random choices, each with an exactly known law.
///
/// There is one primitive, a uniform draw; everything else is made of it. Sources that explore
/// instead of drawing can override [`weighted`](CoinSource::weighted) and implement
/// [`draw`](CoinSource::draw) by branching over the law's [`ClosedForm`], which needs fewer branches than
/// following the sampler.
///
/// | source | for |
/// |---|---|
/// | [`SystemCoins`](super::SystemCoins) | every value that is released |
/// | `RngCoins`, in the crate `queryables-rand` | the same, from a generator of your choice |
/// | [`NotPrivateSeededCoins`](super::NotPrivateSeededCoins) | tests and demonstrations |
/// | [`Recorder`](super::Recorder), [`Replay`](super::Replay) | the same conversation once more |
///
/// # Example
///
/// ```
/// use std::num::NonZeroU64;
/// use queryables::machine::{CoinSource, NotPrivateSeededCoins};
///
/// let mut coins = NotPrivateSeededCoins::new(7);
/// let die = coins.uniform(NonZeroU64::new(6).unwrap())?;
/// assert!(die < 6);
/// // Index 0 with odds 1 of 4, index 1 with odds 3 of 4.
/// assert!(coins.weighted(&[1, 3])? < 2);
/// # Ok::<(), queryables::machine::CoinsError>(())
/// ```
pub trait CoinSource {
    /// A uniform draw from `0..below`.
    ///
    /// # Errors
    ///
    /// When the source has nothing to give: no operating-system randomness, a tape at its end.
    fn uniform(&mut self, below: NonZeroU64) -> Result<u64, CoinsError>;

    /// A draw from a named law. Sources that do not branch over laws answer `law.sample(self)`.
    ///
    /// # Errors
    ///
    /// Those of the source.
    fn draw(&mut self, law: &dyn Law) -> Result<i128, CoinsError>;

    /// Noise for [`release`](Self::release), drawn now.
    ///
    /// # Errors
    ///
    /// Those of the source.
    fn noise(&mut self, law: &dyn Law) -> Result<DrawnNoise, CoinsError> {
        self.draw(law).map(DrawnNoise::new)
    }

    /// A truth plus noise, clamped where an `i128` cannot hold it ([`Coins::release`]).
    fn release(&mut self, truth: i128, noise: DrawnNoise) -> i128 {
        noise.added_to(truth)
    }

    /// Whether the first truth plus its noise is at least the second plus its own
    /// ([`Coins::at_least`]).
    fn at_least(&mut self, left: (i128, &DrawnNoise), right: (i128, &DrawnNoise)) -> bool {
        left.1.added_to(left.0) >= right.1.added_to(right.0)
    }

    /// An index drawn with odds proportional to its integer weight.
    ///
    /// # Errors
    ///
    /// [`CoinsError::NoWeight`] if no weight is positive, [`CoinsError::TooHeavy`] if the weights
    /// add up to more than a `u64` holds, and those of the source.
    fn weighted(&mut self, weights: &[u64]) -> Result<usize, CoinsError> {
        let total = total_weight(weights)?;
        let mut left = self.uniform(total)?;
        for (index, &weight) in weights.iter().enumerate() {
            if left < weight {
                return Ok(index);
            }
            left -= weight;
        }
        Err(CoinsError::OutOfRange)
    }

    /// A uniform word of 64 bits, for samplers that are made for words: those of other libraries, which
    /// compute with floating-point numbers as a rule.
    ///
    /// Everything else here draws in ranges, and so should your machine: a word has 2⁶⁴ values, so a
    /// machine that draws one cannot be verified. By default, two draws below 2³².
    ///
    /// # Errors
    ///
    /// Those of the source; a source that enumerates refuses.
    fn word(&mut self) -> Result<u64, CoinsError> {
        const HALF: NonZeroU64 = NonZeroU64::MIN.saturating_add(u32::MAX as u64);
        Ok(self.uniform(HALF)? << 32 | self.uniform(HALF)?)
    }

    /// The context of a step that draws from this source and cannot be stopped.
    fn coins(&mut self) -> Coins<'_, &mut Self>
    where
        Self: Sized,
    {
        Coins::new(self)
    }
}

/// The sum of the weights.
///
/// # Errors
///
/// As for [`CoinSource::weighted`].
pub fn total_weight(weights: &[u64]) -> Result<NonZeroU64, CoinsError> {
    let total = weights
        .iter()
        .try_fold(0_u64, |sum, &weight| sum.checked_add(weight))
        .ok_or(CoinsError::TooHeavy)?;
    NonZeroU64::new(total).ok_or(CoinsError::NoWeight)
}

impl<C: CoinSource + ?Sized> CoinSource for &mut C {
    fn uniform(&mut self, below: NonZeroU64) -> Result<u64, CoinsError> {
        (**self).uniform(below)
    }

    fn draw(&mut self, law: &dyn Law) -> Result<i128, CoinsError> {
        (**self).draw(law)
    }

    fn noise(&mut self, law: &dyn Law) -> Result<DrawnNoise, CoinsError> {
        (**self).noise(law)
    }

    fn release(&mut self, truth: i128, noise: DrawnNoise) -> i128 {
        (**self).release(truth, noise)
    }

    fn at_least(&mut self, left: (i128, &DrawnNoise), right: (i128, &DrawnNoise)) -> bool {
        (**self).at_least(left, right)
    }

    fn weighted(&mut self, weights: &[u64]) -> Result<usize, CoinsError> {
        (**self).weighted(weights)
    }

    fn word(&mut self) -> Result<u64, CoinsError> {
        (**self).word()
    }
}

/// A distribution on the integers whose probabilities are known exactly.
///
/// A law knows how to draw from itself with simpler draws ([`sample`](Law::sample)), and says
/// what its probabilities are ([`closed_form`](Law::closed_form)), for sources that enumerate.
///
/// [`Bernoulli`](super::Bernoulli) is an example.
pub trait Law: Debug {
    /// Draws once, with draws from `coins` only.
    ///
    /// # Errors
    ///
    /// Those of `coins`.
    fn sample(&self, coins: &mut dyn CoinSource) -> Result<i128, CoinsError>;

    /// The probabilities, as far as they can be written down.
    fn closed_form(&self) -> ClosedForm {
        ClosedForm::FollowSampler
    }
}

/// The probabilities of a [`Law`].
///
/// Laws on all integers are clamped to `i128`. Those of this crate bound their parameters such
/// that what is clamped has a probability below `e^-100000000`.
///
/// Example: [`CoinSource`](crate::machine::CoinSource).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ClosedForm {
    /// Outcome `i` has odds proportional to the `i`-th weight.
    Weights(Vec<u64>),
    /// 1 with probability `e^-exponent`, otherwise 0.
    BernoulliExp {
        /// The exponent, which is not negative.
        exponent: Ratio,
    },
    /// 1 with probability `1 / (1 + e^exponent)`, otherwise 0.
    Logistic {
        /// The exponent, which is not negative.
        exponent: Ratio,
    },
    /// Index `i` with probability proportional to `e^(-rate gaps[i])`.
    ExponentialChoice {
        /// How far each index is behind.
        gaps: Vec<u64>,
        /// By how much odds fall.
        rate: Ratio,
    },
    /// `k >= 0` with probability `(1 - q) q^k`, where `q = e^(-1 / scale)`.
    Geometric {
        /// How many steps it takes to fall by a factor of e.
        scale: Ratio,
    },
    /// `k` with probability `(1 - q) / (1 + q) q^|k|`, where `q = e^(-1 / scale)`.
    DiscreteLaplace {
        /// How many steps it takes to fall by a factor of e.
        scale: Ratio,
    },
    /// `k` with probability proportional to `e^(-k^2 / (2 variance))`.
    DiscreteGaussian {
        /// That of the continuous law; the discrete one has a little less.
        variance: Ratio,
    },
    /// `k` with the probability that a Gaussian value is nearer to `k` than to any other integer.
    RoundedGaussian {
        /// That of the Gaussian; rounding adds a little.
        variance: Ratio,
    },
    /// Only the sampler knows: an enumeration follows its draws.
    FollowSampler,
}

/// Why a draw was not possible. It says nothing about the data: draws come before it is seen.
///
/// Example: [`CoinSource`](crate::machine::CoinSource).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
#[non_exhaustive]
pub enum CoinsError {
    /// The operating system gave no randomness.
    #[error("the operating system gave no randomness")]
    NoEntropy,
    /// No weight was positive.
    #[error("no weight is positive")]
    NoWeight,
    /// The weights add up to more than a `u64` holds.
    #[error("the weights add up to more than 2^64 - 1")]
    TooHeavy,
    /// A source gave a value outside the range that it was asked for.
    #[error("the source of coins gave a value outside the range asked for")]
    OutOfRange,
    /// A replay asked for more draws than were recorded.
    #[error("the tape ends here")]
    TapeEnds,
    /// A replay asked for another draw than was recorded at this place.
    #[error("the tape has another draw here: is the machine deterministic given its coins?")]
    TapeDiverges,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives the same number whatever is asked.
    struct Fixed(u64);

    impl CoinSource for Fixed {
        fn uniform(&mut self, _below: NonZeroU64) -> Result<u64, CoinsError> {
            Ok(self.0)
        }

        fn draw(&mut self, law: &dyn Law) -> Result<i128, CoinsError> {
            law.sample(self)
        }
    }

    /// The halves of a word, the upper one first.
    #[test]
    fn a_word_is_two_draws_of_half_a_word() {
        struct Halves(Vec<u64>);
        impl CoinSource for Halves {
            fn uniform(&mut self, below: NonZeroU64) -> Result<u64, CoinsError> {
                assert_eq!(below.get(), 1 << 32);
                self.0.pop().ok_or(CoinsError::TapeEnds)
            }

            fn draw(&mut self, law: &dyn Law) -> Result<i128, CoinsError> {
                law.sample(self)
            }
        }
        let mut halves = Halves(vec![3, 0x89ab_cdef, 0x0123_4567]);
        assert_eq!(halves.word(), Ok(0x0123_4567_89ab_cdef));
        assert_eq!(halves.coins().word(), Err(CoinsError::TapeEnds));
    }

    #[test]
    fn weights_cut_the_range_in_order() {
        let drawn: Vec<_> = (0..6)
            .map(|value| Fixed(value).weighted(&[2, 0, 1, 3]).unwrap())
            .collect();
        assert_eq!(drawn, [0, 0, 2, 3, 3, 3]);
    }

    #[test]
    fn weights_without_a_law_are_errors() {
        assert_eq!(Fixed(0).weighted(&[]), Err(CoinsError::NoWeight));
        assert_eq!(Fixed(0).weighted(&[0, 0]), Err(CoinsError::NoWeight));
        assert_eq!(Fixed(0).weighted(&[u64::MAX, 1]), Err(CoinsError::TooHeavy));
        assert_eq!(Fixed(9).weighted(&[2, 3]), Err(CoinsError::OutOfRange));
    }
}
