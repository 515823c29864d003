//! A bias of e^-x.

use std::num::{NonZeroU64, NonZeroU128};

use super::uniform::uniform_below;
use crate::machine::{ClosedForm, CoinSource, CoinsError, Law};
use crate::number::Ratio;

/// 1 with probability `e^-x`, otherwise 0, for rational `x`.
///
/// If the denominator of `x` is small and `x <= 1`, it nearly always takes one draw.
///
/// # Guarantee
///
/// Canonne, Kamath and Steinke 2020, Algorithm 1: the odds are exactly `e^-x`. Time depends on what
/// is drawn: a 0 may take fewer draws than a 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct BernoulliExp {
    exponent: Ratio,
    bias: Exponential,
}

impl BernoulliExp {
    /// The law with this `x`.
    pub(crate) fn new(exponent: Ratio) -> Self {
        Self {
            exponent,
            bias: Exponential::of(exponent),
        }
    }
}

impl Law for BernoulliExp {
    fn sample(&self, coins: &mut dyn CoinSource) -> Result<i128, CoinsError> {
        Ok(i128::from(self.bias.holds(coins)?))
    }

    fn closed_form(&self) -> ClosedForm {
        ClosedForm::BernoulliExp {
            exponent: self.exponent,
        }
    }
}

/// True with probability `e^-(whole + rest/below)`, where `rest < below`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Exponential {
    whole: u128,
    part: UpToOne,
}

impl Exponential {
    /// For an exponent that is used once.
    #[inline]
    pub(super) fn once((whole, rest): (u128, u128), below: NonZeroU128) -> Self {
        let part = UpToOne::new(rest, below, 2);
        Self { whole, part }
    }

    pub(super) fn of(exponent: Ratio) -> Self {
        let below = exponent.denominator();
        let (whole, rest) = (exponent.numerator() / below, exponent.numerator() % below);
        Self::often((whole, rest), below)
    }

    /// For an exponent that is used again and again: more work here saves draws later.
    pub(super) fn often((whole, rest): (u128, u128), below: NonZeroU128) -> Self {
        let part = Ratio::new(rest, below.get()).unwrap_or(Ratio::from(0));
        let part = UpToOne::new(part.numerator(), part.denominator(), u64::MAX);
        Self { whole, part }
    }

    #[inline]
    pub(super) fn holds(&self, coins: &mut dyn CoinSource) -> Result<bool, CoinsError> {
        // However large the exponent is, the first bias of 1/e that fails is the last: there are
        // 1.6 on average.
        for _ in 0..self.whole {
            if !one_holds(coins)? {
                return Ok(false);
            }
        }
        self.part.holds(coins)
    }
}

/// True with probability 1/e.
#[inline]
pub(super) fn one_holds(coins: &mut dyn CoinSource) -> Result<bool, CoinsError> {
    const ONE: UpToOne = UpToOne::new(1, NonZeroU128::MIN, u64::MAX);
    ONE.holds(coins)
}

/// True with probability 2·e^(-7/10) = 0.993….
///
/// What the tosses give to e^(-7/10) is doubled: together with what they leave open, it is still
/// less than the total.
#[inline]
pub(super) fn twice_e_to_minus_seven_tenths(
    coins: &mut dyn CoinSource,
) -> Result<bool, CoinsError> {
    const TEN: NonZeroU128 = NonZeroU128::MIN.saturating_add(9);
    const PART: UpToOne = UpToOne::new(7, TEN, u64::MAX);
    const TWICE: [u64; 3] = {
        let [odd, even, none] = PART.weights;
        // Of the total, odd + even + none.
        [2 * odd, 2 * none, even - odd - none]
    };
    match coins.weighted(&TWICE)? {
        0 => Ok(true),
        1 => PART.further_tosses(coins),
        _ => Ok(false),
    }
}

/// More than two tosses are not worth a larger total: a total near 2^64 makes uniform draws slow,
/// and it is rare that more tosses are needed.
const LARGEST_TOTAL: u64 = 1 << 40;

/// True with probability e^-x, for x = numerator / denominator up to 1.
///
/// Toss biases of x/1, x/2, x/3, … until one fails. That is the k-th with probability
/// x^(k-1)/(k-1)! - x^k/k!, and the sum of these over odd k is the series of e^-x.
///
/// The first `tosses` of them share a common denominator and are one draw: `weights` are the odds
/// that the first to fail is an odd one, that it is an even one, and that none fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct UpToOne {
    numerator: u128,
    denominator: NonZeroU128,
    weights: [u64; 3],
    /// How many tosses `weights` stands for.
    tosses: u64,
}

impl UpToOne {
    /// Combines as many tosses as fit, up to `most`.
    #[inline]
    const fn new(numerator: u128, denominator: NonZeroU128, most: u64) -> Self {
        let [mut odd, mut even, mut none] = [0, 0, 1];
        let (mut total, mut tosses) = (1_u64, 0);
        if denominator.get() <= u64::MAX as u128 {
            let (over, under) = (numerator as u64, denominator.get() as u64);
            while tosses < most {
                // The next toss holds with odds over / step.
                let Some(step) = under.checked_mul(tosses + 1) else {
                    break;
                };
                let Some(scaled) = total.checked_mul(step) else {
                    break;
                };
                if scaled > LARGEST_TOTAL && tosses > 1 {
                    break;
                }
                // The three add up to the total, so that none of this overflows.
                (odd, even) = (odd * step, even * step);
                let fails = none * (step - over);
                if tosses.is_multiple_of(2) {
                    odd += fails;
                } else {
                    even += fails;
                }
                none *= over;
                (total, tosses) = (scaled, tosses + 1);
            }
        }
        Self {
            numerator,
            denominator,
            weights: [odd, even, none],
            tosses,
        }
    }

    #[inline]
    fn holds(&self, coins: &mut dyn CoinSource) -> Result<bool, CoinsError> {
        if self.numerator == 0 {
            return Ok(true);
        }
        if self.tosses > 0 {
            match coins.weighted(&self.weights)? {
                0 => return Ok(true),
                1 => return Ok(false),
                _ => (),
            }
        }
        self.further_tosses(coins)
    }

    /// The tosses for which the weights have no room, one by one: x, and then 1/k.
    #[cold]
    fn further_tosses(&self, coins: &mut dyn CoinSource) -> Result<bool, CoinsError> {
        let mut toss = NonZeroU64::MIN.saturating_add(self.tosses);
        while uniform_below(coins, self.denominator)? < self.numerator
            && (toss == NonZeroU64::MIN || coins.uniform(toss)? == 0)
        {
            toss = toss.saturating_add(1);
        }
        Ok(!toss.get().is_multiple_of(2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::bracket::{assert_exact, assert_fits, first_ten};

    fn law(numerator: u128, denominator: u128) -> BernoulliExp {
        BernoulliExp::new(Ratio::new(numerator, denominator).unwrap())
    }

    #[test]
    fn the_sampler_has_the_odds_that_it_states() {
        for (numerator, denominator) in [(0, 1), (1, 1), (1, 2), (2, 3), (1, 1000), (31, 10)] {
            let law = law(numerator, denominator);
            assert_exact(&law.closed_form(), 1e-12, |coins| law.sample(coins).ok());
        }
    }

    /// 1/e in another way: among the 14! permutations, those without a fixed point.
    #[test]
    fn the_weights_of_one_are_derangements() {
        let one = UpToOne::new(1, NonZeroU128::MIN, u64::MAX);
        assert_eq!(one.tosses, 14);
        assert_eq!(one.weights.iter().sum::<u64>(), (1..=14).product::<u64>());
        // Derangements by their recursion; they count the path that is still open.
        let derangements = (1..=14).fold(1_i64, |before, n| {
            n * before + if n % 2 == 0 { 1 } else { -1 }
        });
        assert_eq!(one.weights[0] + one.weights[2], derangements as u64);
        assert_eq!(one.weights[2], 1);
    }

    /// The law does not depend on how the tosses are split into draws.
    #[test]
    fn tosses_one_by_one_have_the_same_odds() {
        for most in [0, 1, 2, 3] {
            let part = UpToOne::new(2, NonZeroU128::new(3).unwrap(), most);
            let found = crate::tests::enumerate::enumerate(1e-9, |coins| {
                part.holds(coins).unwrap_or_default()
            });
            let probability = found.probability(&true).to_f64_fast();
            let expected = (-2.0_f64 / 3.0).exp();
            assert!(probability <= expected && expected <= probability + 1e-6);
            assert!(found.cut.to_f64_fast() < 1e-6);
        }
    }

    #[test]
    fn twice_a_power_of_e_has_its_odds() {
        let found = crate::tests::enumerate::enumerate(1e-13, |coins| {
            twice_e_to_minus_seven_tenths(coins).unwrap_or_default()
        });
        let probability = found.probability(&true).to_f64_fast();
        let expected = 2.0 * (-0.7_f64).exp();
        assert!(found.cut.to_f64_fast() < 1e-7);
        assert!((probability - expected).abs() < 1e-7, "{probability}");
    }

    #[test]
    fn nothing_is_drawn_where_nothing_is_random() {
        let mut no_coins = crate::machine::Replay::of([]);
        assert_eq!(law(0, 1).sample(&mut no_coins), Ok(1));
    }

    #[test]
    fn huge_and_fine_exponents_end() {
        // Never 1 before the end of the universe, and 0 with a few draws.
        assert_eq!(first_ten(&law(u128::MAX, 1)), [0; 10]);
        assert_eq!(first_ten(&law(1, u128::MAX)), [1; 10]);
        // 2/3 in large numbers: no weights fit, and the draws are of three words.
        let fine = law(u128::MAX / 3 * 2 + 1, u128::MAX);
        assert_eq!(fine.bias.part.tosses, 0);
        assert_fits(&fine, 1);
    }

    #[test]
    fn values_are_pinned() {
        assert_eq!(first_ten(&law(1, 2)), [1, 0, 1, 1, 1, 1, 0, 1, 0, 0]);
        assert_eq!(first_ten(&law(7, 5)), [0, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn values_fit() {
        assert_fits(&law(7, 5), 1);
    }
}
