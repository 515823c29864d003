//! One of several, with odds that fall exponentially.

use std::num::NonZeroU64;

use super::NoiseError;
use super::exponential::Exponential;
use crate::machine::{ClosedForm, CoinSource, CoinsError, Law};
use crate::number::Ratio;
use crate::number::divide_product;

/// Index `i` with probability proportional to `e^(-rate gaps[i])`.
///
/// # Guarantee
///
/// The probabilities are exactly these: an index is drawn uniformly, and accepted with probability
/// `e^(-rate gap)`, where gaps are counted from the smallest. The average number of tries is at
/// most the number of indices. Time depends on the gaps, and not on the index drawn.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ExponentialChoice {
    gaps: Vec<u64>,
    smallest: u64,
    rate: Ratio,
    choices: NonZeroU64,
}

impl ExponentialChoice {
    /// The law with these gaps.
    ///
    /// # Errors
    ///
    /// [`NoiseError::Zero`] if there is nothing to choose from.
    pub(crate) fn new(gaps: Vec<u64>, rate: Ratio) -> Result<Self, NoiseError> {
        let none = NoiseError::Zero("choice");
        Ok(Self {
            smallest: *gaps.iter().min().ok_or(none)?,
            choices: NonZeroU64::new(gaps.len() as u64).ok_or(none)?,
            gaps,
            rate,
        })
    }

    /// An index, or nothing where the try was rejected.
    fn attempt(&self, coins: &mut dyn CoinSource) -> Result<Option<i128>, CoinsError> {
        let index = coins.uniform(self.choices)?;
        let gap = self
            .gaps
            .get(index as usize)
            .ok_or(CoinsError::OutOfRange)?;
        let (over, under) = (self.rate.numerator(), self.rate.denominator());
        let exponent = divide_product((gap - self.smallest).into(), over, 0, under);
        let holds = Exponential::once(exponent, under).holds(coins)?;
        Ok(holds.then_some(index.into()))
    }
}

impl Law for ExponentialChoice {
    fn sample(&self, coins: &mut dyn CoinSource) -> Result<i128, CoinsError> {
        loop {
            if let Some(index) = self.attempt(coins)? {
                return Ok(index);
            }
        }
    }

    fn closed_form(&self) -> ClosedForm {
        ClosedForm::ExponentialChoice {
            gaps: self.gaps.clone(),
            rate: self.rate,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::bracket::{assert_exact, assert_fits, assert_sampled, first_ten};

    fn law(gaps: &[u64], numerator: u128, denominator: u128) -> ExponentialChoice {
        ExponentialChoice::new(gaps.to_vec(), Ratio::new(numerator, denominator).unwrap()).unwrap()
    }

    #[test]
    fn the_sampler_has_the_odds_that_it_states() {
        for law in [
            law(&[3], 1, 2),
            law(&[0, 1, 2], 1, 2),
            law(&[7, 5, 6, 5], 3, 2),
            law(&[0, 9], 0, 1),
        ] {
            assert_exact(&law.closed_form(), 1e-9, |coins| law.attempt(coins).ok()?);
            assert_sampled(&law, 0.03);
        }
    }

    #[test]
    fn the_widest_gaps_and_rates() {
        let widest = law(&[u64::MAX, 0, u64::MAX], u128::MAX, 1);
        assert_eq!(first_ten(&widest), [1; 10]);
        let narrow = law(&[0, u64::MAX], 1, u128::MAX);
        assert_fits(&narrow, 1);
    }

    #[test]
    fn values_are_pinned() {
        let values = first_ten(&law(&[0, 1, 2, 3], 1, 3));
        assert_eq!(values, [2, 0, 2, 1, 0, 1, 0, 1, 0, 0]);
    }

    #[test]
    fn values_fit() {
        assert_fits(&law(&[0, 1, 2, 3], 1, 3), 3);
    }
}
