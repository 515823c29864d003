//! The bias of randomized response.

use super::exponential::Exponential;
use crate::machine::{ClosedForm, CoinSource, CoinsError, Law};
use crate::number::Ratio;

/// 1 with probability `1 / (1 + e^x)`, otherwise 0, for rational `x >= 0`.
///
/// A response that lies with this probability has a loss of exactly `x`: the odds of a truth to a
/// lie are `e^x` to 1.
///
/// ```
/// use queryables::number::Ratio;
/// use queryables::machine::{CoinSource, NotPrivateSeededCoins};
/// use queryables::noise::Logistic;
///
/// let lie = NotPrivateSeededCoins::new(1).draw(&Logistic::new(Ratio::from(2)))?;
/// assert!(lie == 0 || lie == 1);
/// # Ok::<(), queryables::machine::CoinsError>(())
/// ```
///
/// # Guarantee
///
/// The odds are exactly these: a fair coin is tossed, and tails are accepted only with probability
/// `e^-x`; otherwise it is tossed again. A try is accepted with probability at least 1/2. Time
/// depends on what is drawn: a lie takes more draws than most truths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Logistic {
    exponent: Ratio,
    tails_count: Exponential,
}

impl Logistic {
    /// The law with this `x`.
    #[must_use]
    pub fn new(exponent: Ratio) -> Self {
        Self {
            exponent,
            tails_count: Exponential::of(exponent),
        }
    }

    /// A value, or nothing where the try was rejected.
    fn attempt(&self, coins: &mut dyn CoinSource) -> Result<Option<i128>, CoinsError> {
        if coins.weighted(&[1, 1])? == 0 {
            return Ok(Some(0));
        }
        Ok(self.tails_count.holds(coins)?.then_some(1))
    }
}

impl Law for Logistic {
    fn sample(&self, coins: &mut dyn CoinSource) -> Result<i128, CoinsError> {
        loop {
            if let Some(value) = self.attempt(coins)? {
                return Ok(value);
            }
        }
    }

    fn closed_form(&self) -> ClosedForm {
        ClosedForm::Logistic {
            exponent: self.exponent,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::bracket::{assert_exact, assert_fits, assert_sampled, first_ten};

    fn law(numerator: u128, denominator: u128) -> Logistic {
        Logistic::new(Ratio::new(numerator, denominator).unwrap())
    }

    #[test]
    fn the_sampler_has_the_odds_that_it_states() {
        for (numerator, denominator) in [(0, 1), (1, 1), (1, 10), (7, 3)] {
            let law = law(numerator, denominator);
            assert_exact(&law.closed_form(), 1e-9, |coins| law.attempt(coins).ok()?);
            assert_sampled(&law, 0.01);
        }
    }

    #[test]
    fn huge_and_fine_exponents_end() {
        assert_eq!(first_ten(&law(u128::MAX, 1)), [0; 10]);
        assert_fits(&law(u128::MAX / 3 * 2 + 1, u128::MAX), 1);
    }

    #[test]
    fn values_are_pinned() {
        assert_eq!(first_ten(&law(1, 2)), [1, 0, 0, 1, 1, 1, 0, 0, 1, 0]);
    }

    #[test]
    fn values_fit() {
        assert_fits(&law(1, 2), 1);
    }
}
