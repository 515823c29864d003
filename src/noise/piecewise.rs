//! One of very many numbers, with odds that fall exponentially.

use std::num::NonZeroU128;

use super::NoiseError;
use super::exponential::{Exponential, twice_e_to_minus_seven_tenths};
use super::uniform::uniform_below;
use crate::machine::{ClosedForm, CoinSource, CoinsError, Law};
use crate::number::{Ratio, divide_product};

/// A whole number from 0 on, with probability proportional to `e^(-rate gap)`, where runs of
/// neighbouring numbers have the same gap: [`ExponentialChoice`](super::ExponentialChoice) for up to
/// 2^64 numbers.
///
/// # Guarantee
///
/// The probabilities are exactly these, and the average number of tries is at most 4, whatever the
/// widths and gaps.
///
/// A run of w numbers with exponent x = rate·(gap − smallest gap) has a weight of w·e^(−x). It is
/// proposed with a weight of w·2^(−t), where t is ⌊10x/7⌋ or 63 if that is less, which makes whole
/// numbers of all weights; and accepted with probability (2·e^(−0.7))^t·e^(−(x − 0.7t)), which is a
/// probability, since 2·e^(−0.7) = 0.993…, and a product of flips with exact odds. As to tries: of
/// all weights, in units of 2^−63, those that were cut at t = 63 are less than 2^64 together, and one
/// number with no gap has 2^63 alone; the others are accepted with at least 0.993^63·e^(−0.7) > 0.32
/// each.
///
/// Time depends on the gaps, and not on the number drawn.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PiecewiseChoice {
    runs: Vec<Run>,
    smallest: u64,
    rate: Ratio,
    /// Of all weights.
    total: NonZeroU128,
    /// 63, but for tests.
    most_halvings: u32,
}

/// Numbers with the same gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Run {
    /// The number after the last one.
    end: u128,
    gap: u64,
    halvings: u32,
    /// The sum of all weights up to and with this run.
    weight: u128,
}

const MOST_HALVINGS: u32 = 63;

/// As many numbers can be listed one by one.
const FEW: u128 = 1 << 12;

impl PiecewiseChoice {
    /// The law with runs of this many numbers and these gaps.
    ///
    /// # Errors
    ///
    /// [`NoiseError::Zero`] if there is nothing to choose from, [`NoiseError::TooLarge`] if there are
    /// more than 2^64 numbers, [`NoiseError::TooFine`] if the denominator of the rate is more than
    /// 2^124.
    pub(crate) fn new(
        runs: impl IntoIterator<Item = (u128, u64)>,
        rate: Ratio,
    ) -> Result<Self, NoiseError> {
        Self::with_halvings(runs, rate, MOST_HALVINGS)
    }

    fn with_halvings(
        runs: impl IntoIterator<Item = (u128, u64)>,
        rate: Ratio,
        most_halvings: u32,
    ) -> Result<Self, NoiseError> {
        if rate.denominator().get() > 1 << 124 {
            return Err(NoiseError::TooFine {
                what: "inverse of the rate",
                bits: 124,
            });
        }
        let too_large = NoiseError::TooLarge {
            what: "number of choices",
            bits: 64,
        };
        let mut kept: Vec<Run> = Vec::new();
        for (width, gap) in runs.into_iter().filter(|(width, _)| *width > 0) {
            let start = kept.last().map_or(0, |run| run.end);
            let end = start.checked_add(width).filter(|end| *end <= 1 << 64);
            kept.push(Run {
                end: end.ok_or(too_large)?,
                gap,
                halvings: 0,
                weight: 0,
            });
        }
        let none = NoiseError::Zero("choice");
        let smallest = kept.iter().map(|run| run.gap).min().ok_or(none)?;
        let (mut start, mut weight) = (0, 0);
        for run in &mut kept {
            let tenths = Tenths::of(run.gap - smallest, rate);
            run.halvings = u32::try_from(tenths.whole / 7)
                .unwrap_or(u32::MAX)
                .min(most_halvings);
            weight += (run.end - start) << (most_halvings - run.halvings);
            (start, run.weight) = (run.end, weight);
        }
        Ok(Self {
            runs: kept,
            smallest,
            rate,
            total: NonZeroU128::new(weight).ok_or(none)?,
            most_halvings,
        })
    }

    /// A number, or nothing where the try was rejected.
    fn attempt(&self, coins: &mut dyn CoinSource) -> Result<Option<i128>, CoinsError> {
        let place = uniform_below(coins, self.total)?;
        let index = self.runs.partition_point(|run| run.weight <= place);
        let run = self.runs.get(index).ok_or(CoinsError::OutOfRange)?;
        // Counted from the end, so that the run before is not needed.
        let after = (run.weight - place - 1) >> (self.most_halvings - run.halvings);
        let number = i128::try_from(run.end - 1 - after).map_err(|_| CoinsError::OutOfRange)?;
        for _ in 0..run.halvings {
            if !twice_e_to_minus_seven_tenths(coins)? {
                return Ok(None);
            }
        }
        let exponent = Tenths::of(run.gap - self.smallest, self.rate);
        let holds = exponent.less(7 * u128::from(run.halvings)).holds(coins)?;
        Ok(holds.then_some(number))
    }
}

/// An exponent, in tenths: a whole number and a ratio below one.
struct Tenths {
    whole: u128,
    rest: u128,
    below: NonZeroU128,
}

impl Tenths {
    /// 10·rate·gap. What is more than 2^110 counts as that: a probability below e^−(2^106) is zero.
    fn of(gap: u64, rate: Ratio) -> Self {
        let below = rate.denominator();
        let (whole, rest) = divide_product(gap.into(), rate.numerator(), 0, below);
        let (more, rest) = divide_product(10, rest, 0, below);
        Self {
            whole: 10 * whole.min(1 << 106) + more,
            rest,
            below,
        }
    }

    /// Less a whole number that is not larger.
    fn less(self, tenths: u128) -> Self {
        Self {
            whole: self.whole.saturating_sub(tenths),
            ..self
        }
    }

    /// True with probability e to minus the exponent.
    fn holds(&self, coins: &mut dyn CoinSource) -> Result<bool, CoinsError> {
        const TEN: NonZeroU128 = NonZeroU128::MIN.saturating_add(9);
        let whole = Exponential::once((self.whole / 10, self.whole % 10), TEN);
        // The denominator is at most 2^124.
        let below = self.below.saturating_mul(TEN);
        Ok(whole.holds(coins)? && Exponential::once((0, self.rest), below).holds(coins)?)
    }
}

impl Law for PiecewiseChoice {
    fn sample(&self, coins: &mut dyn CoinSource) -> Result<i128, CoinsError> {
        loop {
            if let Some(number) = self.attempt(coins)? {
                return Ok(number);
            }
        }
    }

    fn closed_form(&self) -> ClosedForm {
        match self.runs.last() {
            Some(last) if last.end <= FEW => {
                let mut gaps = Vec::new();
                for run in &self.runs {
                    gaps.resize(run.end as usize, run.gap);
                }
                let rate = self.rate;
                ClosedForm::ExponentialChoice { gaps, rate }
            }
            _ => ClosedForm::FollowSampler,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::NotPrivateSeededCoins;
    use crate::tests::bracket::{assert_exact, assert_fits, first_ten};

    fn ratio(numerator: u128, denominator: u128) -> Ratio {
        Ratio::new(numerator, denominator).unwrap()
    }

    fn law(runs: &[(u128, u64)], rate: Ratio, halvings: u32) -> PiecewiseChoice {
        PiecewiseChoice::with_halvings(runs.iter().copied(), rate, halvings).unwrap()
    }

    /// With few halvings all draws can be followed; more of them make no other law.
    #[test]
    fn the_sampler_has_the_odds_that_it_states() {
        for (runs, rate) in [
            (&[(1, 0), (3, 2)][..], ratio(1, 2)),
            (&[(2, 9), (1, 5), (2, 6), (1, 6)], ratio(3, 7)),
            (&[(4, 3)], ratio(1, 1)),
            (&[(0, 0), (2, 7), (0, 1), (1, 4)], ratio(1, 3)),
        ] {
            for halvings in [0, 1, 3] {
                let law = law(runs, rate, halvings);
                assert_exact(&law.closed_form(), 1e-4, |coins| law.attempt(coins).ok()?);
            }
        }
    }

    #[test]
    fn the_closed_form_lists_every_number() {
        let gaps = vec![9, 9, 5, 6];
        assert_eq!(
            law(&[(2, 9), (1, 5), (1, 6)], ratio(1, 2), 63).closed_form(),
            ClosedForm::ExponentialChoice {
                gaps,
                rate: ratio(1, 2)
            }
        );
        let wide = law(&[(FEW, 1), (1, 2)], ratio(1, 2), 63);
        assert_eq!(wide.closed_form(), ClosedForm::FollowSampler);
    }

    #[test]
    fn values_fit() {
        assert_fits(&law(&[(3, 4), (1, 0), (5, 2)], ratio(1, 3), 63), 9);
        // Gaps at which halvings make a difference: 20 numbers against e^(−10/3).
        assert_fits(&law(&[(20, 10), (1, 0), (20, 11)], ratio(1, 3), 63), 41);
    }

    /// A few numbers against 2^63 that are as likely altogether: half of 2000 tries, 10 standard
    /// deviations of 22 to either side.
    #[test]
    fn a_wide_range_weighs_as_much_as_it_should() {
        // 63·ln 2 = 43.668…, to 15 digits.
        let rate = ratio(43_668_272_375_276_551, 10_u128.pow(15));
        let law = law(&[(1, 0), (1 << 63, 1)], rate, 63);
        let mut coins = NotPrivateSeededCoins::new(5);
        let (mut first, mut tries) = (0, 0);
        for _ in 0..2000 {
            loop {
                tries += 1;
                if let Some(number) = law.attempt(&mut coins).unwrap() {
                    first += usize::from(number == 0);
                    break;
                }
            }
        }
        assert!((780..=1220).contains(&first), "{first}");
        assert!(tries < 10_000, "{tries}");
    }

    #[test]
    fn the_widest_and_the_narrowest() {
        let largest = law(
            &[((1 << 64) - 1, u64::MAX), (1, 0)],
            ratio(u128::MAX, 1),
            63,
        );
        assert_eq!(first_ten(&largest), [(1 << 64) - 1; 10]);
        let equal = law(&[(1 << 64, 5)], ratio(1, 1 << 124), 63);
        assert!(first_ten(&equal).iter().any(|number| *number > 1 << 63));
        let new = |runs: &[(u128, u64)], rate| PiecewiseChoice::new(runs.iter().copied(), rate);
        let what = "number of choices";
        assert_eq!(
            new(&[(1 << 64, 0), (1, 0)], ratio(1, 1)),
            Err(NoiseError::TooLarge { what, bits: 64 })
        );
        assert_eq!(new(&[(0, 5)], ratio(1, 1)), Err(NoiseError::Zero("choice")));
        assert_eq!(
            new(&[(1, 0)], ratio(1, (1 << 124) + 1)),
            Err(NoiseError::TooFine {
                what: "inverse of the rate",
                bits: 124
            })
        );
    }

    #[test]
    fn values_are_pinned() {
        let values = first_ten(&law(&[(4, 3), (1, 0), (4, 3)], ratio(1, 2), 63));
        assert_eq!(values, [4, 4, 7, 3, 4, 6, 4, 7, 7, 4]);
    }
}
