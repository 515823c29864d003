//! Closed-form probabilities between rational bounds, for tests.

use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;

use super::enumerate::enumerate;
use crate::machine::{ClosedForm, CoinSource, Law, NotPrivateSeededCoins};
use crate::number::Ratio;

/// A number of which two rational bounds are known.
#[derive(Clone, Debug)]
pub(crate) struct Bracket {
    low: RBig,
    high: RBig,
}

/// Bounds are rounded outward to multiples of 2^-BITS.
const BITS: usize = 160;

impl Bracket {
    fn new(low: RBig, high: RBig) -> Self {
        let unit = RBig::from(IBig::ONE << BITS);
        Self {
            low: RBig::from((low * &unit).floor()) / &unit,
            high: RBig::from((high * &unit).ceil()) / &unit,
        }
    }

    /// The largest multiple of 2^-bits that is surely not above.
    pub(crate) fn round_down(&self, bits: usize) -> RBig {
        let unit = RBig::from(IBig::ONE << bits);
        RBig::from((&self.low * &unit).floor()) / unit
    }

    /// Surely not above.
    pub(crate) fn low(&self) -> &RBig {
        &self.low
    }

    fn exactly(value: RBig) -> Self {
        Self {
            low: value.clone(),
            high: value,
        }
    }

    fn one() -> Self {
        Self::exactly(RBig::ONE)
    }

    fn plus(&self, other: &Self) -> Self {
        Self::new(&self.low + &other.low, &self.high + &other.high)
    }

    fn minus(&self, other: &Self) -> Self {
        Self::new(&self.low - &other.high, &self.high - &other.low)
    }

    /// Of numbers that are not negative.
    fn times(&self, other: &Self) -> Self {
        Self::new(&self.low * &other.low, &self.high * &other.high)
    }

    /// Of numbers that are not negative.
    fn over(&self, other: &Self) -> Self {
        Self::new(&self.low / &other.high, &self.high / &other.low)
    }

    fn power(&self, exponent: u128) -> Self {
        let mut result = Self::one();
        for bit in (0..u128::BITS - exponent.leading_zeros()).rev() {
            result = result.times(&result.clone());
            if (exponent >> bit) & 1 == 1 {
                result = result.times(self);
            }
        }
        result
    }

    /// e^-x: for x up to 1 the terms of the series fall and alternate, so that any two partial
    /// sums in a row are bounds.
    pub(crate) fn exp_minus(x: &RBig) -> Self {
        let whole = u128::try_from(x.clone().floor()).unwrap();
        let part = x - RBig::from(whole);
        let up_to_one = |x: &RBig| {
            let (mut term, mut sum) = (RBig::ONE, RBig::ONE);
            let mut before = sum.clone();
            for index in 1..60_u32 {
                term = -term * x / RBig::from(index);
                before = sum.clone();
                sum += &term;
            }
            let (low, high) = if before < sum {
                (before, sum)
            } else {
                (sum, before)
            };
            Self::new(low, high)
        };
        up_to_one(&RBig::ONE).power(whole).times(&up_to_one(&part))
    }
}

fn rational(ratio: Ratio) -> RBig {
    RBig::from_parts(ratio.numerator().into(), ratio.denominator().get().into())
}

/// The probabilities of a law, from their closed form.
pub(crate) enum Probabilities {
    Bernoulli { holds: Bracket },
    Listed(Vec<Bracket>),
    Geometric { falls: Bracket, first: Bracket },
    Laplace { falls: Bracket, first: Bracket },
    Gaussian { falls: Bracket, first: Bracket },
    Rounded { variance: RBig, whole: Bracket },
}

impl Probabilities {
    pub(crate) fn of(support: &ClosedForm) -> Self {
        let falls = |scale: &Ratio| Bracket::exp_minus(&(RBig::ONE / rational(*scale)));
        match support {
            ClosedForm::BernoulliExp { exponent } => Self::Bernoulli {
                holds: Bracket::exp_minus(&rational(*exponent)),
            },
            ClosedForm::Logistic { exponent } => {
                let odds = Bracket::exp_minus(&rational(*exponent));
                Self::Bernoulli {
                    holds: odds.over(&Bracket::one().plus(&odds)),
                }
            }
            ClosedForm::ExponentialChoice { gaps, rate } => {
                let smallest = gaps.iter().min().unwrap();
                let weight =
                    |gap: &u64| Bracket::exp_minus(&(RBig::from(gap - smallest) * rational(*rate)));
                let weights: Vec<_> = gaps.iter().map(weight).collect();
                let nothing = Bracket::exactly(RBig::ZERO);
                let sum = weights.iter().fold(nothing, |sum, weight| sum.plus(weight));
                Self::Listed(weights.iter().map(|weight| weight.over(&sum)).collect())
            }
            ClosedForm::Geometric { scale } => Self::Geometric {
                first: Bracket::one().minus(&falls(scale)),
                falls: falls(scale),
            },
            ClosedForm::DiscreteLaplace { scale } => Self::Laplace {
                first: Bracket::one()
                    .minus(&falls(scale))
                    .over(&Bracket::one().plus(&falls(scale))),
                falls: falls(scale),
            },
            ClosedForm::DiscreteGaussian { variance } => {
                let twice = RBig::from(2) * rational(*variance);
                let falls = Bracket::exp_minus(&(RBig::ONE / twice));
                let first = Bracket::one().over(&sum_of_squares(&falls));
                Self::Gaussian { falls, first }
            }
            ClosedForm::RoundedGaussian { variance } => {
                let variance = rational(*variance);
                let whole = half_line(&variance);
                Self::Rounded { variance, whole }
            }
            ClosedForm::Weights(weights) => {
                let total = RBig::from(weights.iter().copied().map(u128::from).sum::<u128>());
                let share = |weight: &u64| Bracket::exactly(RBig::from(*weight) / &total);
                Self::Listed(weights.iter().map(share).collect())
            }
            other => panic!("{other:?} has no closed form here"),
        }
    }

    pub(crate) fn probability(&self, outcome: i128) -> Bracket {
        let magnitude = outcome.unsigned_abs();
        match self {
            Self::Bernoulli { holds } if outcome == 1 => holds.clone(),
            Self::Bernoulli { holds } if outcome == 0 => Bracket::one().minus(holds),
            Self::Bernoulli { .. } => Bracket::exactly(RBig::ZERO),
            Self::Listed(probabilities) => usize::try_from(outcome)
                .ok()
                .and_then(|index| probabilities.get(index).cloned())
                .unwrap_or(Bracket::exactly(RBig::ZERO)),
            Self::Geometric { .. } if outcome < 0 => Bracket::exactly(RBig::ZERO),
            Self::Geometric { falls, first } | Self::Laplace { falls, first } => {
                first.times(&falls.power(magnitude))
            }
            Self::Gaussian { falls, first } => first.times(&falls.power(magnitude * magnitude)),
            Self::Rounded { variance, whole } => {
                let up_to = |twice: u128| {
                    let end = RBig::from_parts(twice.into(), 2_u8.into());
                    bell_up_to(&end, variance)
                };
                let Some(before) = magnitude.checked_sub(1) else {
                    return up_to(1).over(whole);
                };
                let cell = up_to(2 * magnitude + 1).minus(&up_to(2 * before + 1));
                // One side of zero has one half.
                cell.over(&whole.plus(whole))
            }
        }
    }
}

/// The integral of e^(-t²/2v) from 0 to x, which is e^(-x²/2v) times the sum of
/// x^(2n+1) / (v^n · 1·3·5…(2n+1)). Where a term is less than half the one before, those after it
/// add up to less than it.
fn bell_up_to(x: &RBig, variance: &RBig) -> Bracket {
    let tiny = RBig::from_parts(IBig::ONE, UBig::ONE << BITS);
    let ratio = x * x / variance;
    let (mut term, mut sum) = (Bracket::exactly(x.clone()), Bracket::exactly(x.clone()));
    for odd in (3_u32..).step_by(2) {
        let falls = &ratio / RBig::from(odd);
        term = term.times(&Bracket::exactly(falls.clone()));
        if falls < RBig::from_parts(IBig::ONE, 2_u8.into())
            && term.high <= tiny.clone() * RBig::from(4)
        {
            break;
        }
        sum = sum.plus(&term);
    }
    let rest = Bracket::new(RBig::ZERO, term.high * RBig::from(2));
    Bracket::exp_minus(&(ratio / RBig::from(2))).times(&sum.plus(&rest))
}

/// The same up to infinity: from x on it is less than v/x · e^(-x²/2v), here with x²/2v >= 55.
fn half_line(variance: &RBig) -> Bracket {
    let square: RBig = RBig::from(110) * variance;
    let x = RBig::from(u128::try_from(square.ceil()).unwrap().isqrt() + 1);
    let tail = Bracket::exp_minus(&(&x * &x / variance / RBig::from(2)))
        .times(&Bracket::exactly(variance / &x));
    bell_up_to(&x, variance).plus(&Bracket::new(RBig::ZERO, tail.high))
}

/// The sum of q^(k²) over all k. Beyond K it is less than 2 q^(K²) times the geometric series
/// with ratio q^(2K), which is less than 2 where the ratio is less than 1/2.
fn sum_of_squares(q: &Bracket) -> Bracket {
    let tiny = RBig::from_parts(IBig::ONE, UBig::ONE << 100);
    let (mut sum, mut last) = (Bracket::one(), Bracket::one());
    let mut at = 0_u128;
    while last.high > tiny {
        at += 1;
        last = q.power(at * at);
        sum = sum.plus(&last).plus(&last);
    }
    assert!(q.power(2 * at).high < RBig::from_parts(IBig::ONE, 2_u8.into()));
    sum.plus(&Bracket::new(RBig::ZERO, last.high * RBig::from(4)))
}

/// Follows one try of a sampler through all its draws, and asserts that each value that it
/// accepts has, among all that it accepts, the probability of the closed form, up to what was cut,
/// and that no more than `most` was.
pub(crate) fn assert_exact(
    support: &ClosedForm,
    most: f64,
    attempt: impl FnMut(&mut dyn CoinSource) -> Option<i128>,
) {
    let probabilities = Probabilities::of(support);
    let mut found = enumerate(most / 1e4, attempt);
    assert!(
        found.cut.to_f64_fast() <= most,
        "{support:?} {}",
        found.cut.to_f64_fast()
    );
    found.outcomes.remove(&None);
    let accepted = found
        .outcomes
        .values()
        .fold(RBig::ZERO, |sum, mass| sum + mass);
    // What was cut may belong to any value, or to none.
    for (value, mass) in found.outcomes {
        let expected = probabilities.probability(value.unwrap_or_default());
        assert!(
            mass <= expected.high * (&accepted + &found.cut)
                && expected.low * &accepted <= &mass + &found.cut,
            "{support:?} gives {value:?} in {mass} of {accepted} cases",
        );
    }
}

/// Follows a whole sampler, rejected tries included, through its more probable draws, and asserts
/// that the probabilities are those of the closed form, up to what was cut, and that no more than
/// `most` was.
pub(crate) fn assert_sampled(law: &dyn Law, most: f64) {
    let support = law.closed_form();
    let probabilities = Probabilities::of(&support);
    let found = enumerate(1e-5, |coins| law.sample(coins).unwrap_or_default());
    assert!(
        found.cut.to_f64_fast() <= most,
        "{support:?} {}",
        found.cut.to_f64_fast()
    );
    for (value, mass) in found.outcomes {
        let expected = probabilities.probability(value);
        assert!(
            mass <= expected.high && expected.low <= &mass + &found.cut,
            "{support:?} gives {value} with {mass}"
        );
    }
}

/// Draws 50 000 values within `span` of zero and asserts that their distribution function is
/// nowhere further from the closed form than a right sampler's is with probability 1 - 1e-9.
///
/// Dvoretzky, Kiefer and Wolfowitz, with Massart's constant: the supremum of the difference is
/// more than t with probability at most 2 e^(-2 n t²), for discrete laws too.
pub(crate) fn assert_fits(law: &dyn Law, span: i128) {
    const DRAWS: u32 = 50_000;
    let distance = ((2.0 / 1e-9_f64).ln() / (2.0 * f64::from(DRAWS))).sqrt();
    let mut coins = NotPrivateSeededCoins::new(18);
    let mut drawn: Vec<_> = (0..DRAWS).map(|_| coins.draw(law).unwrap()).collect();
    drawn.sort_unstable();
    let probabilities = Probabilities::of(&law.closed_form());
    let mut expected = 0.0;
    for outcome in -span..=span {
        expected += probabilities.probability(outcome).low.to_f64_fast();
        let count = drawn.partition_point(|value| *value <= outcome);
        let found = count as f64 / f64::from(DRAWS);
        assert!((found - expected).abs() <= distance, "{law:?} at {outcome}");
    }
    // The span was wide enough to say anything.
    assert!(expected > 1.0 - distance);
}

/// The first ten values under a fixed seed.
pub(crate) fn first_ten(law: &dyn Law) -> [i128; 10] {
    let mut coins = NotPrivateSeededCoins::new(2026);
    [(); 10].map(|()| coins.draw(law).unwrap())
}

mod tests {
    use super::*;

    #[test]
    fn brackets_are_narrow_and_right() {
        let half = Ratio::new(5, 2).unwrap();
        for (support, outcome, expected) in [
            (
                ClosedForm::BernoulliExp { exponent: half },
                1,
                0.082_084_998_623_898_8,
            ),
            // (1 - e^-0.4) e^-1.2
            (
                ClosedForm::Geometric { scale: half },
                3,
                0.099_297_693_917_546_7,
            ),
            // tanh(0.2) e^-0.8
            (
                ClosedForm::DiscreteLaplace { scale: half },
                -2,
                0.088_686_448_178_961_0,
            ),
            // Φ(1.5/σ) - Φ(0.5/σ) at σ² = 2.5
            (
                ClosedForm::RoundedGaussian { variance: half },
                1,
                0.204_523_961_448_968_9,
            ),
        ] {
            let bracket = Probabilities::of(&support).probability(outcome);
            assert!(
                (bracket.low.to_f64_fast() - expected).abs() < 1e-15,
                "{support:?}"
            );
            assert!((bracket.high - bracket.low).to_f64_fast() < 1e-20);
        }
    }
}
