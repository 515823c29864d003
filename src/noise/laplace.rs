//! Noise for a whole-number answer under pure privacy.

use super::{Geometric, NoiseError};
use crate::machine::{ClosedForm, CoinSource, CoinsError, Law};
use crate::number::Ratio;

/// `k` with probability proportional to `e^(-|k| / scale)`.
///
/// Added to a whole number that changes by at most Δ between neighbours, at a scale of Δ/ε, it
/// makes a release that is ε-DP, and this is tight.
///
/// ```
/// use queryables::number::Ratio;
/// use queryables::machine::{CoinSource, Law, NotPrivateSeededCoins, ClosedForm};
/// use queryables::noise::{DiscreteLaplace, NoiseError};
///
/// let law = DiscreteLaplace::new(Ratio::from(10))?;
/// let noise = NotPrivateSeededCoins::new(1).draw(&law);
/// assert!(noise.is_ok_and(|noise| noise.abs() < 1000));
/// assert_eq!(law.closed_form(), ClosedForm::DiscreteLaplace { scale: Ratio::from(10) });
/// # Ok::<(), NoiseError>(())
/// ```
///
/// # Guarantee
///
/// Canonne, Kamath and Steinke 2020, Algorithm 2: the probabilities are exactly these.
/// Time grows with the distance from zero, one draw for each multiple of the scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DiscreteLaplace {
    magnitude: Geometric,
}

impl DiscreteLaplace {
    /// The law with this scale.
    ///
    /// # Errors
    ///
    /// [`NoiseError::Zero`], or [`NoiseError::TooLarge`] for a scale of more than 2^100.
    pub fn new(scale: Ratio) -> Result<Self, NoiseError> {
        let magnitude = Geometric::new(scale)?;
        Ok(Self { magnitude })
    }

    /// The number of steps over which the odds fall by a factor of e.
    #[must_use]
    pub fn scale(&self) -> Ratio {
        self.magnitude.scale()
    }

    /// A value, or nothing where the try was rejected.
    #[inline]
    fn attempt(&self, coins: &mut dyn CoinSource) -> Result<Option<i128>, CoinsError> {
        let Some((side, magnitude)) = self.magnitude.attempt::<2>(coins)? else {
            return Ok(None);
        };
        let magnitude = i128::try_from(magnitude).unwrap_or(i128::MAX);
        Ok(match (side, magnitude) {
            (0, _) => Some(magnitude),
            // Zero has one side only.
            (_, 0) => None,
            _ => Some(-magnitude),
        })
    }
}

impl Law for DiscreteLaplace {
    fn sample(&self, coins: &mut dyn CoinSource) -> Result<i128, CoinsError> {
        loop {
            if let Some(value) = self.attempt(coins)? {
                return Ok(value);
            }
        }
    }

    fn closed_form(&self) -> ClosedForm {
        ClosedForm::DiscreteLaplace {
            scale: self.scale(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::NotPrivateSeededCoins;
    use crate::tests::bracket::{assert_exact, assert_fits, assert_sampled, first_ten};

    #[test]
    fn noise_is_drawn_as_ever_and_added() {
        let law = DiscreteLaplace::new(Ratio::from(5)).unwrap();
        for seed in 0..20 {
            let drawn = NotPrivateSeededCoins::new(seed).draw(&law).unwrap();
            let mut coins = NotPrivateSeededCoins::new(seed);
            let noise = coins.noise(&law).unwrap();
            assert_eq!(format!("{noise:?}"), "DrawnNoise");
            assert_eq!(coins.release(-3, noise), drawn - 3);
        }
    }

    fn law(numerator: u128, denominator: u128) -> DiscreteLaplace {
        DiscreteLaplace::new(Ratio::new(numerator, denominator).unwrap()).unwrap()
    }

    #[test]
    fn the_sampler_has_the_odds_that_it_states() {
        for (numerator, denominator) in [(1, 1), (2, 1), (1, 3), (3, 2)] {
            let law = law(numerator, denominator);
            assert_exact(&law.closed_form(), 1e-4, |coins| law.attempt(coins).ok()?);
            assert_sampled(&law, 0.1);
        }
    }

    #[test]
    fn bad_scales_are_refused() {
        assert_eq!(
            DiscreteLaplace::new(Ratio::from(0)),
            Err(NoiseError::Zero("scale"))
        );
        assert_eq!(
            DiscreteLaplace::new(Ratio::new(u128::MAX, 1).unwrap()),
            Err(NoiseError::TooLarge {
                what: "scale",
                bits: 100
            })
        );
    }

    #[test]
    fn huge_and_tiny_scales() {
        let huge = first_ten(&law(1 << 100, 1));
        // One side only with probability 2^-9; the seed is one where both are seen.
        assert!(huge.iter().any(|value| *value > 1 << 90));
        assert!(huge.iter().any(|value| *value < -(1 << 90)));
        assert_eq!(first_ten(&law(1, u128::MAX)), [0; 10]);
    }

    #[test]
    fn values_are_pinned() {
        assert_eq!(first_ten(&law(10, 1)), [-15, -6, -8, 13, -8, 1, 2, 3, 1, 1]);
        assert_eq!(first_ten(&law(1, 2)), [-1, 0, 0, 0, 0, 0, 0, -1, 0, 0]);
        assert_eq!(
            first_ten(&law(10_u128.pow(27), 3)),
            [
                166_406_972_956_685_834_537_401_435,
                -81_813_343_592_068_418_511_054_887,
                818_074_225_023_944_939_785_010_764,
                -1_906_612_920_617_517_578_225_642_814,
                -237_840_270_065_098_482_402_675_011,
                12_471_487_217_309_763_059_624_861,
                -301_532_922_283_231_615_266_577_533,
                -1_037_808_244_206_129_858_941_790_479,
                28_985_946_588_044_280_012_399_080,
                -76_853_903_163_498_495_365_310_106
            ]
        );
    }

    #[test]
    fn values_fit() {
        assert_fits(&law(10, 1), 150);
        assert_fits(&law(10, 3), 60);
    }
}
