//! Gaussian noise, rounded.

use std::num::NonZeroU128;

use super::NoiseError;
use super::gaussian::DiscreteGaussian;
use super::uniform::uniform_below;
use crate::machine::{ClosedForm, CoinSource, CoinsError, Law};
use crate::number::Ratio;
use crate::number::divide_product;

/// A Gaussian value, rounded to the nearest integer: `k` with probability
/// `Φ((k + 1/2)/σ) − Φ((k − 1/2)/σ)`, where σ² is the variance.
///
/// Added to a whole number it is a *postprocessing of the Gaussian mechanism*: the sum is the
/// number plus a Gaussian value, rounded. So every guarantee of that mechanism holds exactly, GDP
/// and sampling included. On whole numbers that change by one, no noise with the same μ-GDP is
/// smaller (Awan and Ramasethu 2024).
///
/// [`DiscreteGaussian`] noise of the same variance is not as private in the sense of GDP. It has
/// the same Rényi divergences at whole orders. If its trade-off function were nowhere below that of
/// the Gaussian mechanism, the two functions would be equal; but its own is a polygon.
///
/// ```
/// use queryables::number::Ratio;
/// use queryables::machine::{CoinSource, Law, NotPrivateSeededCoins, ClosedForm};
/// use queryables::noise::{NoiseError, RoundedGaussian};
///
/// let law = RoundedGaussian::new(Ratio::from(100))?;
/// let noise = NotPrivateSeededCoins::new(1).draw(&law);
/// assert!(noise.is_ok_and(|noise| noise.abs() < 200));
/// assert_eq!(law.closed_form(), ClosedForm::RoundedGaussian { variance: Ratio::from(100) });
/// # Ok::<(), NoiseError>(())
/// ```
///
/// # Guarantee
///
/// The probabilities are exactly these, and no real number is ever drawn. The line is cut into
/// cells that lie between whole numbers, each within one that is rounded to the same integer. A
/// cell from z to z + 1 is proposed with odds e^(−z²/2v), by [`DiscreteGaussian`] noise with zero
/// on both sides, and accepted with the odds of e^(−(2zu + u²)/2v) at a place u that is uniform in
/// the cell: together that is the integral of e^(−x²/2v) over it. The place is never drawn, only
/// compared with others, and an urn model gives the outcomes of such comparisons (`HiddenPlace` in
/// the source).
///
/// Time grows with the distance from zero, in steps of the standard deviation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RoundedGaussian {
    variance: Ratio,
    /// There are twice as many cells between two integers: an integer's own reach halfway to each
    /// of its neighbours.
    cells: u64,
    /// In cells: the proposal, of variance v.
    proposal: DiscreteGaussian,
    /// v = numerator / denominator.
    numerator: NonZeroU128,
    twice_numerator: NonZeroU128,
    denominator: u128,
}

impl RoundedGaussian {
    /// The law with this variance, before rounding.
    ///
    /// # Errors
    ///
    /// [`NoiseError::Zero`], or [`NoiseError::TooFine`] if the numerator of 4 times the variance, in
    /// lowest terms, is more than 2^124. For variances below 1/4 it is 4m² times the variance, where
    /// m is the least whole number that makes this 1 or more.
    pub fn new(variance: Ratio) -> Result<Self, NoiseError> {
        let (what, bits) = ("variance in cells", 124);
        let inverse = variance.inverse().ok_or(NoiseError::Zero("variance"))?;
        // The least m with (2m)² >= 1/variance.
        let square = inverse.numerator().div_ceil(inverse.denominator().get());
        let root = square.isqrt();
        let root = root + u128::from(root * root < square);
        let cells = root.div_ceil(2).max(1);
        let too_fine = NoiseError::TooFine { what, bits };
        let in_cells = (2 * cells)
            .checked_pow(2)
            .and_then(|square| Ratio::new(square, 1)?.checked_mul(variance))
            .ok_or(too_fine)?;
        let proposal = DiscreteGaussian::new(in_cells).map_err(|_| too_fine)?;
        let numerator = NonZeroU128::new(in_cells.numerator()).ok_or(too_fine)?;
        Ok(Self {
            variance,
            cells: u64::try_from(cells).map_err(|_| too_fine)?,
            proposal,
            numerator,
            twice_numerator: numerator.saturating_add(numerator.get()),
            denominator: in_cells.denominator().get(),
        })
    }

    /// The variance before rounding.
    #[must_use]
    pub fn variance(&self) -> Ratio {
        self.variance
    }

    /// A value, or nothing where the try was rejected.
    #[inline]
    fn attempt(&self, coins: &mut dyn CoinSource) -> Result<Option<i128>, CoinsError> {
        let Some((side, cell)) = self.proposal.attempt_side(coins)? else {
            return Ok(None);
        };
        let mut place = HiddenPlace::default();
        // e^(-u²/2v), where v is at least 1.
        if !place.survives(2, self.denominator, self.twice_numerator, coins)? {
            return Ok(None);
        }
        // e^(-zu/v): a factor e^-u for each whole step.
        let (whole, rest) = divide_product(cell, self.denominator, 0, self.numerator);
        for _ in 0..whole {
            if !place.survives(1, 1, NonZeroU128::MIN, coins)? {
                return Ok(None);
            }
        }
        if !place.survives(1, rest, self.numerator, coins)? {
            return Ok(None);
        }
        // From (2k - 1) m to (2k + 1) m it is nearest to k.
        let half = u128::from(self.cells);
        Ok(Some(side.of_zero(cell.saturating_add(half) / (2 * half))))
    }
}

impl Law for RoundedGaussian {
    fn sample(&self, coins: &mut dyn CoinSource) -> Result<i128, CoinsError> {
        loop {
            if let Some(value) = self.attempt(coins)? {
                return Ok(value);
            }
        }
    }

    fn closed_form(&self) -> ClosedForm {
        ClosedForm::RoundedGaussian {
            variance: self.variance,
        }
    }
}

/// A place u, uniform between 0 and 1, of which nothing is known but how many other places, drawn
/// one by one, lie to the left and to the right of it.
///
/// Given these, the next lies to the left with odds `(left + 1) / (left + right + 2)`: it is equally
/// likely to come at every rank (Laplace's rule of succession). So an urn decides, and any event made
/// of such comparisons has the probability that it has for a real place.
#[derive(Clone, Copy, Debug, Default)]
struct HiddenPlace {
    left: u64,
    right: u64,
}

impl HiddenPlace {
    /// Whether another place lies to the left of it: given u, that has probability u.
    fn is_right_of_another(&mut self, coins: &mut dyn CoinSource) -> Result<bool, CoinsError> {
        let is_right = coins.weighted(&[self.right + 1, self.left + 1])? == 1;
        if is_right {
            self.left += 1;
        } else {
            self.right += 1;
        }
        Ok(is_right)
    }

    /// True with probability e^(-x u^power), given u, for x = numerator / denominator up to 1.
    ///
    /// Biases of x u^power / 1, x u^power / 2, … are tossed until one fails, as for e^-x.
    #[inline]
    fn survives(
        &mut self,
        power: u32,
        numerator: u128,
        denominator: NonZeroU128,
        coins: &mut dyn CoinSource,
    ) -> Result<bool, CoinsError> {
        let mut toss = 1_u64;
        while uniform_below(coins, denominator)? < numerator
            && coins.weighted(&[toss - 1, 1])? == 1
            && self.is_right_of_others(power, coins)?
        {
            toss += 1;
        }
        Ok(!toss.is_multiple_of(2))
    }

    fn is_right_of_others(
        &mut self,
        count: u32,
        coins: &mut dyn CoinSource,
    ) -> Result<bool, CoinsError> {
        for _ in 0..count {
            if !self.is_right_of_another(coins)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::bracket::{assert_exact, assert_fits, assert_sampled, first_ten};
    use crate::tests::enumerate::enumerate;

    fn law(numerator: u128, denominator: u128) -> RoundedGaussian {
        RoundedGaussian::new(Ratio::new(numerator, denominator).unwrap()).unwrap()
    }

    #[test]
    fn the_sampler_has_the_odds_that_it_states() {
        for (numerator, denominator) in [(1, 4), (1, 16), (1, 2), (3, 4), (1, 1)] {
            let law = law(numerator, denominator);
            assert_exact(&law.closed_form(), 6e-3, |coins| law.attempt(coins).ok()?);
            assert_sampled(&law, 0.5);
        }
    }

    /// The probability of survival is the integral over the unknown place.
    #[test]
    fn a_hidden_place_is_uniform() {
        let survives = |factors: &[(u32, u128, u128)]| {
            let found = enumerate(1e-7, |coins| {
                let mut place = HiddenPlace::default();
                factors.iter().all(|&(power, numerator, denominator)| {
                    let denominator = NonZeroU128::new(denominator).unwrap();
                    place.survives(power, numerator, denominator, coins) == Ok(true)
                })
            });
            let cut = found.cut.to_f64_fast();
            assert!(cut < 1e-4, "{cut}");
            found.probability(&true).to_f64_fast()
        };
        for (factors, integral) in [
            (&[(1, 1, 1)][..], 0.632_120_558_8),
            (&[(2, 1, 1)], 0.746_824_132_8),
            (&[(2, 1, 2), (1, 1, 3)], 0.7372614892),
            (&[(1, 0, 5)], 1.0),
        ] {
            let found = survives(factors);
            assert!((found - integral).abs() < 1e-4, "{factors:?}: {found}");
        }
    }

    #[test]
    fn bad_variances_are_refused() {
        let error = |numerator, denominator| {
            RoundedGaussian::new(Ratio::new(numerator, denominator).unwrap()).unwrap_err()
        };
        let what = "variance in cells";
        assert_eq!(error(0, 1), NoiseError::Zero("variance"));
        assert_eq!(
            error((1 << 122) + 1, 1),
            NoiseError::TooFine { what, bits: 124 }
        );
        assert_eq!(error(1, u128::MAX), NoiseError::TooFine { what, bits: 124 });
    }

    #[test]
    fn cells_are_no_wider_than_the_standard_deviation() {
        for (numerator, denominator, cells) in [
            (1, 4, 1),
            (100, 1, 1),
            (24, 100, 2),
            (1, 16, 2),
            (1, 17, 3),
            (1, 1 << 100, 1 << 49),
        ] {
            assert_eq!(law(numerator, denominator).cells, cells);
        }
    }

    #[test]
    fn huge_tiny_and_fine_variances() {
        let largest = |law: &RoundedGaussian| {
            let drawn = first_ten(law);
            drawn.into_iter().map(i128::abs).max().unwrap()
        };
        // All ten within 0.01 standard deviations with probability 1e-21, one beyond 11 with 4e-27.
        let range = (1 << 61) / 100..11 * (1 << 61);
        assert!(range.contains(&largest(&law(1 << 122, 1))));
        assert_eq!(largest(&law(1, 1 << 120)), 0);
        // About 64, in long numbers.
        assert!((1..88).contains(&largest(&law((1 << 122) - 1, (1 << 116) - 1))));
    }

    #[test]
    fn values_are_pinned() {
        assert_eq!(
            first_ten(&law(100, 1)),
            [16, 7, -8, -2, -3, -5, -17, 3, -18, 3]
        );
        assert_eq!(first_ten(&law(5, 7)), [-1, 0, -1, -1, -1, 1, 0, -1, 1, 0]);
    }

    #[test]
    fn values_fit() {
        assert_fits(&law(100, 1), 60);
        assert_fits(&law(77, 10), 20);
        assert_fits(&law(1, 10), 2);
        assert_fits(&law((1 << 122) - 1, (1 << 119) - 3), 20);
    }
}
