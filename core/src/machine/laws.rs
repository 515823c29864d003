//! The two laws with finitely many rational odds.

use std::num::NonZeroU64;

use crate::number::Ratio;

use super::{ClosedForm, CoinSource, CoinsError, Law};

/// 1 with odds `numerator / denominator`, otherwise 0.
///
/// ```
/// use queryables::machine::{Bernoulli, CoinSource, NotPrivateSeededCoins};
///
/// let third = Bernoulli::new(1, 3).expect("1/3 is a probability");
/// let heads = NotPrivateSeededCoins::new(1).draw(&third)?;
/// assert!(heads == 0 || heads == 1);
/// assert_eq!(Bernoulli::new(4, 3), None);
/// # Ok::<(), queryables::machine::CoinsError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bernoulli {
    numerator: u64,
    denominator: NonZeroU64,
}

impl Bernoulli {
    /// The law with odds `numerator / denominator`; `None` if that is not a probability.
    #[must_use]
    pub fn new(numerator: u64, denominator: u64) -> Option<Self> {
        let denominator = NonZeroU64::new(denominator)?;
        (numerator <= denominator.get()).then_some(Self {
            numerator,
            denominator,
        })
    }
}

impl Bernoulli {
    /// The probability of 1.
    pub(crate) fn odds(&self) -> Ratio {
        // The denominator is not zero; the fallback keeps this total without a panic.
        Ratio::new(self.numerator.into(), self.denominator.get().into()).unwrap_or(0.into())
    }
}

impl Law for Bernoulli {
    fn sample(&self, coins: &mut dyn CoinSource) -> Result<i128, CoinsError> {
        Ok(i128::from(
            coins.uniform(self.denominator)? < self.numerator,
        ))
    }

    fn closed_form(&self) -> ClosedForm {
        ClosedForm::Weights(vec![
            self.denominator.get() - self.numerator,
            self.numerator,
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Replay;
    use crate::tests::bracket::{assert_fits, first_ten};

    /// Follows the sampler over every uniform draw below `total` and counts the outcomes.
    fn outcomes(law: &dyn Law, total: u64) -> Vec<u64> {
        let below = NonZeroU64::new(total).unwrap();
        let mut counts = vec![];
        for value in 0..total {
            let outcome = Replay::of([(below, value)]).draw(law).unwrap() as usize;
            counts.resize(counts.len().max(outcome + 1), 0);
            counts[outcome] += 1;
        }
        counts
    }

    #[test]
    fn samplers_have_the_odds_that_they_say() {
        let third = Bernoulli::new(1, 3).unwrap();
        assert_eq!(
            ClosedForm::Weights(outcomes(&third, 3)),
            third.closed_form()
        );
    }

    #[test]
    fn certain_and_impossible_are_probabilities() {
        assert_eq!(outcomes(&Bernoulli::new(0, 4).unwrap(), 4), [4]);
        assert_eq!(outcomes(&Bernoulli::new(4, 4).unwrap(), 4), [0, 4]);
        assert_eq!(Bernoulli::new(1, 0), None);
        assert_eq!(Bernoulli::new(5, 4), None);
    }

    #[test]
    fn values_are_pinned() {
        let third = Bernoulli::new(1, 3).unwrap();
        assert_eq!(first_ten(&third), [0, 0, 0, 1, 1, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn values_fit() {
        assert_fits(&Bernoulli::new(1, 3).unwrap(), 1);
        assert_fits(&Bernoulli::new(u64::MAX / 5, u64::MAX).unwrap(), 1);
    }
}
