//! One-sided exponential decay.

use std::num::{NonZeroU64, NonZeroU128};

use super::NoiseError;
use super::exponential::{Exponential, one_holds};
use super::uniform::uniform_below;
use crate::machine::{ClosedForm, CoinSource, CoinsError, Law};
use crate::number::Ratio;
use crate::number::divide_product;

/// `k >= 0` with probability proportional to `e^(-k / scale)`.
///
/// ```
/// use queryables::number::Ratio;
/// use queryables::machine::{CoinSource, NotPrivateSeededCoins};
/// use queryables::noise::{Geometric, NoiseError};
///
/// let law = Geometric::new(Ratio::from(5))?;
/// assert!(NotPrivateSeededCoins::new(1).draw(&law).is_ok_and(|drawn| drawn >= 0));
/// assert_eq!(Geometric::new(Ratio::from(0)), Err(NoiseError::Zero("scale")));
/// # Ok::<(), NoiseError>(())
/// ```
///
/// # Guarantee
///
/// Canonne, Kamath and Steinke 2020, Algorithm 2 without its sign: the probabilities are exactly
/// these.
/// Time grows with the value drawn, one draw for each multiple of the scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Geometric {
    scale: Ratio,
    /// The numerator of the scale.
    steps: NonZeroU128,
}

/// Larger scales would reach the end of `i128` with a probability of more than e^-2^27.
const LARGEST_BITS: u32 = 100;

impl Geometric {
    /// The law with this scale.
    ///
    /// # Errors
    ///
    /// [`NoiseError::Zero`], or [`NoiseError::TooLarge`] for a scale of more than 2^100.
    pub fn new(scale: Ratio) -> Result<Self, NoiseError> {
        let what = "scale";
        let steps = NonZeroU128::new(scale.numerator()).ok_or(NoiseError::Zero(what))?;
        if scale.numerator().div_ceil(scale.denominator().get()) > 1 << LARGEST_BITS {
            let bits = LARGEST_BITS;
            return Err(NoiseError::TooLarge { what, bits });
        }
        Ok(Self { scale, steps })
    }

    pub(super) fn scale(&self) -> Ratio {
        self.scale
    }

    /// A value and one of `SIDES` sides, or nothing if the try was rejected. The side costs no
    /// further draw if the numerator of the scale is not too long.
    ///
    /// With a scale of n/d: the remainder of a value of scale n is below n with odds falling as
    /// e^(-remainder / n), its quotient falls by e each time, and a d-th of such a value, rounded
    /// down, has the scale n/d. At least 63 of 100 remainders are accepted.
    #[inline]
    pub(super) fn attempt<const SIDES: u64>(
        &self,
        coins: &mut dyn CoinSource,
    ) -> Result<Option<(u64, u128)>, CoinsError> {
        let (side, rest) = self.side_and_rest::<SIDES>(coins)?;
        if !Exponential::once((0, rest), self.steps).holds(coins)? {
            return Ok(None);
        }
        let mut turns = 0_u128;
        while one_holds(coins)? {
            turns += 1;
        }
        let (value, _) = divide_product(self.steps.get(), turns, rest, self.scale.denominator());
        Ok(Some((side, value)))
    }

    #[inline]
    fn side_and_rest<const SIDES: u64>(
        &self,
        coins: &mut dyn CoinSource,
    ) -> Result<(u64, u128), CoinsError> {
        let one_draw = u64::try_from(self.steps.get())
            .ok()
            .and_then(|steps| NonZeroU64::new(steps.checked_mul(SIDES)?));
        match one_draw {
            Some(NonZeroU64::MIN) => Ok((0, 0)),
            Some(below) => {
                let drawn = coins.uniform(below)?;
                Ok((drawn % SIDES, u128::from(drawn / SIDES)))
            }
            None => {
                let sides = NonZeroU64::MIN.saturating_add(SIDES - 1);
                Ok((coins.uniform(sides)?, uniform_below(coins, self.steps)?))
            }
        }
    }
}

impl Law for Geometric {
    fn sample(&self, coins: &mut dyn CoinSource) -> Result<i128, CoinsError> {
        loop {
            if let Some((_, value)) = self.attempt::<1>(coins)? {
                return Ok(i128::try_from(value).unwrap_or(i128::MAX));
            }
        }
    }

    fn closed_form(&self) -> ClosedForm {
        ClosedForm::Geometric { scale: self.scale }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::bracket::{assert_exact, assert_fits, assert_sampled, first_ten};

    fn law(numerator: u128, denominator: u128) -> Geometric {
        Geometric::new(Ratio::new(numerator, denominator).unwrap()).unwrap()
    }

    #[test]
    fn the_sampler_has_the_odds_that_it_states() {
        for (numerator, denominator) in [(1, 1), (2, 1), (1, 3), (3, 2), (2, 5)] {
            let law = law(numerator, denominator);
            let attempt = |coins: &mut dyn CoinSource| {
                let drawn = law.attempt::<1>(coins).ok()?;
                drawn.map(|(_, value)| value as i128)
            };
            assert_exact(&law.closed_form(), 1e-5, attempt);
            assert_sampled(&law, 0.01);
        }
    }

    #[test]
    fn bad_scales_are_refused() {
        let scale = |numerator, denominator| {
            Geometric::new(Ratio::new(numerator, denominator).unwrap()).map(|law| law.scale())
        };
        let what = "scale";
        assert_eq!(scale(0, 1), Err(NoiseError::Zero(what)));
        assert_eq!(
            scale((1 << 100) + 1, 1),
            Err(NoiseError::TooLarge { what, bits: 100 })
        );
        // Not even by a little.
        assert_eq!(
            scale(u128::MAX, (1 << 28) - 1),
            Err(NoiseError::TooLarge { what, bits: 100 })
        );
        assert_eq!(scale(1 << 100, 1), Ok(Ratio::new(1 << 100, 1).unwrap()));
    }

    #[test]
    fn huge_tiny_and_fine_scales() {
        let typical = |law: &Geometric| first_ten(law).into_iter().max().unwrap();
        // All ten below 2^90 with probability (1 - e^(-1/1024))^10 = 1e-30, one above 2^106 with
        // 10 e^-64 = 2e-27.
        assert!((1 << 90..1 << 106).contains(&typical(&law(1 << 100, 1))));
        assert_eq!(typical(&law(1, u128::MAX)), 0);
        // About 3/2, where intermediate numbers need more than 128 bits.
        let fine = law(u128::MAX, u128::MAX / 3 * 2 - 1);
        assert!((1..96).contains(&typical(&fine)));
    }

    #[test]
    fn values_are_pinned() {
        assert_eq!(first_ten(&law(10, 1)), [15, 6, 8, 13, 8, 1, 2, 3, 1, 1]);
        assert_eq!(first_ten(&law(7, 3)), [3, 1, 2, 1, 1, 1, 2, 0, 3, 0]);
    }

    #[test]
    fn values_fit() {
        assert_fits(&law(10, 1), 150);
        assert_fits(&law(10, 3), 60);
    }
}
