//! Noise for a whole-number answer under concentrated privacy.

use std::num::{NonZeroU64, NonZeroU128};

use super::NoiseError;
use super::exponential::Exponential;
use crate::machine::{ClosedForm, CoinSource, CoinsError, Law};
use crate::number::Ratio;
use crate::number::divide_product;

/// `k` with probability proportional to `e^(-k^2 / (2 variance))`.
///
/// Added to a whole number that changes by at most Δ between neighbours, with a variance of
/// Δ²/(2ρ), it makes a release that is ρ-zCDP (Canonne, Kamath and Steinke 2020, Theorem 4).
///
/// ```
/// use queryables::number::Ratio;
/// use queryables::machine::{CoinSource, Law, NotPrivateSeededCoins, ClosedForm};
/// use queryables::noise::{DiscreteGaussian, NoiseError};
///
/// let law = DiscreteGaussian::new(Ratio::from(100))?;
/// let noise = NotPrivateSeededCoins::new(1).draw(&law);
/// assert!(noise.is_ok_and(|noise| noise.abs() < 200));
/// assert_eq!(law.closed_form(), ClosedForm::DiscreteGaussian { variance: Ratio::from(100) });
/// # Ok::<(), NoiseError>(())
/// ```
///
/// # Guarantee
///
/// The probabilities are exactly these: a proposal of known odds is accepted with odds that make
/// up the difference. The proposal is Karney's (2016), in steps of the standard deviation, and
/// every bias is that of Canonne, Kamath and Steinke 2020. Their own proposal, a discrete Laplace
/// value, needs exponents of twice the length of the variance's numbers.
///
/// Time grows with the distance from zero, in steps of the standard deviation. About half of all
/// tries are accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DiscreteGaussian {
    variance: Ratio,
    numerator: NonZeroU128,
    twice_numerator: NonZeroU128,
    /// The standard deviation, rounded up.
    step: u64,
    /// The places within a step, on both sides of zero.
    places: NonZeroU64,
    /// A bias of e^(-step² / (2 variance)), which is at most e^(-1/2).
    goes_on: Exponential,
}

/// The largest number of bits of the numerator: then a step has 62 bits, the places within it on
/// both sides have 63, and no intermediate value has more than 128.
const LARGEST_BITS: u32 = 124;

impl DiscreteGaussian {
    /// The law with this variance.
    ///
    /// # Errors
    ///
    /// [`NoiseError::Zero`], or [`NoiseError::TooFine`] if the numerator is more than 2^124.
    pub fn new(variance: Ratio) -> Result<Self, NoiseError> {
        let (what, bits) = ("variance", LARGEST_BITS);
        let numerator = NonZeroU128::new(variance.numerator()).ok_or(NoiseError::Zero(what))?;
        if numerator.get() > 1 << bits {
            return Err(NoiseError::TooFine { what, bits });
        }
        let twice_numerator = numerator.saturating_add(numerator.get());
        // The least s with s² >= variance.
        let square = numerator.get().div_ceil(variance.denominator().get());
        let root = square.isqrt();
        let step = root + u128::from(root * root < square);
        let goes_on = Exponential::often(
            divide_product(
                step * step,
                variance.denominator().get(),
                0,
                twice_numerator,
            ),
            twice_numerator,
        );
        let step = step as u64;
        Ok(Self {
            variance,
            numerator,
            twice_numerator,
            step,
            places: NonZeroU64::MIN.saturating_add(2 * step - 1),
            goes_on,
        })
    }

    /// The variance of the continuous law; the discrete one has a little less.
    #[must_use]
    pub fn variance(&self) -> Ratio {
        self.variance
    }

    /// A side of zero and a magnitude, with odds e^(-magnitude² / (2 variance)) on both sides, or
    /// nothing if the try was rejected.
    ///
    /// A magnitude is k steps and u places further: its square is s²k + s²k(k-1) + 2ksu + u².
    /// The odds of reaching k steps fall as the first summand says, and those of accepting what
    /// was reached make up for the others.
    #[inline]
    pub(super) fn attempt_side(
        &self,
        coins: &mut dyn CoinSource,
    ) -> Result<Option<(Side, u128)>, CoinsError> {
        let mut steps = 0_u64;
        while self.goes_on.holds(coins)? {
            steps += 1;
        }
        for _ in 0..steps.saturating_mul(steps.saturating_sub(1)) {
            if !self.goes_on.holds(coins)? {
                return Ok(None);
            }
        }
        let drawn = coins.uniform(self.places)?;
        let side = if drawn % 2 == 1 {
            Side::Below
        } else {
            Side::Above
        };
        let further = u128::from(drawn / 2);
        let (step, steps) = (u128::from(self.step), u128::from(steps));
        if further > 0 {
            let per = self.variance.denominator().get();
            let square = divide_product(further * further, per, 0, self.twice_numerator);
            if !Exponential::once(square, self.twice_numerator).holds(coins)? {
                return Ok(None);
            }
            if steps > 0 {
                let cross = divide_product(step * further, per, 0, self.numerator);
                let cross = Exponential::once(cross, self.numerator);
                for _ in 0..steps {
                    if !cross.holds(coins)? {
                        return Ok(None);
                    }
                }
            }
        }
        let magnitude = step.saturating_mul(steps).saturating_add(further);
        Ok(Some((side, magnitude)))
    }

    /// A value, or nothing where the try was rejected.
    fn attempt(&self, coins: &mut dyn CoinSource) -> Result<Option<i128>, CoinsError> {
        Ok(match self.attempt_side(coins)? {
            // Zero has one side only.
            None | Some((Side::Below, 0)) => None,
            Some((side, magnitude)) => Some(side.of_zero(magnitude)),
        })
    }
}

/// A side of zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Above,
    Below,
}

impl Side {
    /// The integer at this distance from zero; what an `i128` cannot hold is clamped.
    pub(super) fn of_zero(self, magnitude: u128) -> i128 {
        let magnitude = i128::try_from(magnitude).unwrap_or(i128::MAX);
        match self {
            Self::Above => magnitude,
            Self::Below => -magnitude,
        }
    }
}

impl Law for DiscreteGaussian {
    fn sample(&self, coins: &mut dyn CoinSource) -> Result<i128, CoinsError> {
        loop {
            if let Some(value) = self.attempt(coins)? {
                return Ok(value);
            }
        }
    }

    fn closed_form(&self) -> ClosedForm {
        ClosedForm::DiscreteGaussian {
            variance: self.variance,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::bracket::{assert_exact, assert_fits, assert_sampled, first_ten};

    fn law(numerator: u128, denominator: u128) -> DiscreteGaussian {
        DiscreteGaussian::new(Ratio::new(numerator, denominator).unwrap()).unwrap()
    }

    #[test]
    fn the_sampler_has_the_odds_that_it_states() {
        for (numerator, denominator) in [(1, 1), (1, 2), (1, 5), (4, 1), (5, 2), (5, 4)] {
            let law = law(numerator, denominator);
            assert_exact(&law.closed_form(), 3e-4, |coins| law.attempt(coins).ok()?);
            assert_sampled(&law, 0.3);
        }
        let wider = law(9, 1);
        assert_exact(&wider.closed_form(), 2e-3, |coins| {
            wider.attempt(coins).ok()?
        });
    }

    #[test]
    fn the_step_is_the_standard_deviation_rounded_up() {
        for (numerator, denominator, step) in [
            (1, 9, 1),
            (1, 1, 1),
            (10, 9, 2),
            (4, 1, 2),
            (401, 100, 3),
            (100, 1, 10),
            (1 << 124, 1, 1 << 62),
            ((1 << 124) - 1, 1, 1 << 62),
        ] {
            assert_eq!(law(numerator, denominator).step, step);
        }
    }

    #[test]
    fn bad_variances_are_refused() {
        let what = "variance";
        assert_eq!(
            DiscreteGaussian::new(Ratio::from(0)),
            Err(NoiseError::Zero(what))
        );
        assert_eq!(
            DiscreteGaussian::new(Ratio::new((1 << 124) + 1, 1).unwrap()),
            Err(NoiseError::TooFine { what, bits: 124 })
        );
    }

    #[test]
    fn huge_tiny_and_fine_variances() {
        let largest = |law: &DiscreteGaussian| {
            let drawn = first_ten(law);
            drawn.into_iter().map(i128::abs).max().unwrap()
        };
        // All ten within 0.01 standard deviations with probability 1e-21, one beyond 11 with 4e-27.
        let range = (1 << 62) / 100..11 * (1 << 62);
        assert!(range.contains(&largest(&law(1 << 124, 1))));
        assert_eq!(largest(&law(1, u128::MAX)), 0);
        // About 64, in long numbers.
        assert!((1..88).contains(&largest(&law((1 << 124) - 1, (1 << 118) - 1))));
    }

    #[test]
    fn values_are_pinned() {
        assert_eq!(
            first_ten(&law(100, 1)),
            [-15, 7, -6, 1, 5, 2, 9, 5, -16, -2]
        );
        assert_eq!(first_ten(&law(5, 7)), [0, -1, -1, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn values_fit() {
        assert_fits(&law(100, 1), 60);
        assert_fits(&law(77, 10), 20);
        assert_fits(&law((1 << 124) - 1, (1 << 121) - 3), 20);
    }
}
