//! What the noise of an answer is, and how far it reaches.

use std::num::NonZeroU32;

use super::tail::{GaussianTail, LaplaceTail, TwoLaplaceTails};
use super::{DiscreteLaplace, RoundedGaussian};
use crate::number::{Confidence, Delta, Interval, Ratio, WideInterval, units};
use crate::privacy::convert::search::{bisect, next_to_each_other};

/// The noise of one answer: the sum of one or more independent draws of one law, in steps of a
/// power of two.
///
/// ```
/// use queryables::noise::{DiscreteLaplace, Noise};
/// use queryables::number::Ratio;
///
/// let noise = Noise::from(DiscreteLaplace::new(Ratio::from(10))?);
/// // 95 in 100 draws are between -30 and 30, and fewer are between -29 and 29.
/// assert_eq!(noise.steps_within("0.95".parse()?), 30);
/// assert!(noise.beyond(30) < "0.05".parse()? && noise.beyond(29) > "0.05".parse()?);
/// assert!((noise.variance() - 199.83).abs() < 0.01);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// [`beyond`](Self::beyond) is never less than the probability. For every sum of discrete Laplace
/// draws and for one rounded Gaussian draw it is the exact tail of the law, rounded up by less than
/// one part in 2^80, not an approximation by another law. For m > 1 rounded Gaussian draws it is an
/// upper bound, which no exact formula is known for: that of their Gaussian sum, with the most that
/// m roundings can add, which is m/2; [`steps_within`](Self::steps_within) is then at most m more
/// than necessary. The proofs are in the source (`noise/tail.rs`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Noise {
    law: NoiseLaw,
    draws: NonZeroU32,
    exponent: i32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum NoiseLaw {
    Laplace { scale: Ratio },
    Gaussian { variance: Ratio },
}

/// As many as a time has binary digits.
const MOST_DRAWS: u32 = 64;

/// One draw, in steps of one.
impl From<DiscreteLaplace> for Noise {
    fn from(law: DiscreteLaplace) -> Self {
        let scale = law.scale();
        Self::one(NoiseLaw::Laplace { scale })
    }
}

/// One draw, in steps of one.
impl From<RoundedGaussian> for Noise {
    fn from(law: RoundedGaussian) -> Self {
        let variance = law.variance();
        Self::one(NoiseLaw::Gaussian { variance })
    }
}

impl Noise {
    fn one(law: NoiseLaw) -> Self {
        Self {
            law,
            draws: NonZeroU32::MIN,
            exponent: 0,
        }
    }

    /// The sum of this number of draws; `None` for none, and for more than 64.
    #[must_use]
    pub fn times(self, draws: u32) -> Option<Self> {
        let draws = self.draws.get().checked_mul(draws)?;
        let draws = NonZeroU32::new(draws).filter(|draws| draws.get() <= MOST_DRAWS)?;
        Some(Self { draws, ..self })
    }

    /// The same in steps of 2 to this power.
    #[must_use]
    pub fn in_steps_of(self, exponent: i32) -> Self {
        Self { exponent, ..self }
    }

    /// How many draws are added.
    #[must_use]
    pub fn draws(&self) -> u32 {
        self.draws.get()
    }

    /// A step is 2 to this power.
    #[must_use]
    pub fn exponent(&self) -> i32 {
        self.exponent
    }

    /// The scale of Laplace noise, in steps: how far it takes the odds to fall by a factor of e.
    #[must_use]
    pub fn scale(&self) -> Option<Ratio> {
        match self.law {
            NoiseLaw::Laplace { scale } => Some(scale),
            NoiseLaw::Gaussian { .. } => None,
        }
    }

    /// The variance of the sum, with the square of the step: that of the very law, rounded up.
    ///
    /// Of a discrete Laplace draw it is 2q/(1 − q)² with q = e^(−1/scale), to 14 digits. Of a
    /// rounded Gaussian draw it is at most σ² + 1/12: by Poisson summation it is this plus
    /// 4·Σ_m (−1)^m·e^(−2π²m²σ²)·(σ² + 1/(4π²m²)) over m ≥ 1, whose terms alternate and fall. That
    /// is taken where σ ≥ 1, and is then less than 2e-8 too large; below, it is
    /// 2·Σ_k (2k − 1)·Φ(−(k − 1/2)/σ) over k ≥ 1.
    #[must_use]
    pub fn variance(&self) -> f64 {
        let one = match self.law {
            NoiseLaw::Laplace { scale } => laplace_variance(scale),
            NoiseLaw::Gaussian { variance } => gaussian_variance(variance),
        };
        let steps = one * Interval::from(self.draws.get());
        // A power of two: exact, unless it overflows or loses digits near zero.
        let square = libm::scalbn(steps.high(), self.exponent.saturating_mul(2));
        if square < f64::MIN_POSITIVE {
            square.next_up()
        } else {
            square
        }
    }

    /// The standard deviation, rounded up: the root of the [`variance`](Self::variance).
    #[must_use]
    pub fn deviation(&self) -> f64 {
        Interval::exactly(self.variance()).sqrt().high()
    }

    /// The probability that the sum is more than `steps` steps away from zero, rounded up.
    #[must_use]
    pub fn beyond(&self, steps: u128) -> Delta {
        self.tail()(steps).up().unwrap_or(Delta::ONE)
    }

    /// The probability that the sum is at least this number of steps, rounded up. For zero steps, one.
    #[must_use]
    pub fn at_least(&self, steps: u128) -> Delta {
        let fewer = steps.checked_sub(1);
        let tail = fewer.map(|fewer| self.tail()(fewer).half());
        tail.and_then(WideInterval::up).unwrap_or(Delta::ONE)
    }

    /// The probability that a single draw is less than this number of steps, rounded up; one, if there
    /// are several draws or no steps.
    #[must_use]
    pub fn less_than(&self, steps: u128) -> Delta {
        let (Some(fewer), 1) = (steps.checked_sub(1), self.draws()) else {
            return Delta::ONE;
        };
        let rest = WideInterval::whole(1) - self.tail()(fewer).half();
        rest.up().unwrap_or(Delta::ONE)
    }

    /// The least number of steps a such that the sum is within a steps of zero, on either side, with
    /// at least this probability.
    #[must_use]
    pub fn steps_within(&self, confidence: Confidence) -> u128 {
        let failure = WideInterval::from(confidence.failure());
        let tail = self.tail();
        let guess = self.guess(confidence);
        least(guess, |steps| tail(steps).certainly_at_most(failure))
    }

    /// About as many steps, in floating-point numbers: where the search begins. Of one draw it is seldom
    /// more than one step away.
    fn guess(&self, confidence: Confidence) -> u128 {
        let float = |ratio: Ratio| ratio.numerator() as f64 / ratio.denominator().get() as f64;
        let draws = f64::from(self.draws());
        let failure = confidence.failure().units() as f64 * 1e-38;
        let steps = match self.law {
            // 2q^(a + 1)/(1 + q) is the failure, with q = e^(−1/scale).
            NoiseLaw::Laplace { scale } if self.draws() == 1 => {
                let scale = float(scale);
                let odds = failure * (1.0 + libm::exp(-1.0 / scale));
                scale * libm::log(2.0 / odds) - 1.0
            }
            // Of several draws, as if they were Gaussian.
            NoiseLaw::Laplace { scale } => {
                libm::sqrt(2.0 * draws) * float(scale) * deviations(failure)
            }
            NoiseLaw::Gaussian { variance } => {
                libm::sqrt(draws * float(variance)) * deviations(failure) - 0.5
            }
        };
        // What is negative or no number becomes zero.
        (libm::ceil(steps) as u128).min(1 << 126)
    }

    /// Whether the sum is within this number of steps, with at least this probability.
    pub(crate) fn is_within(&self, steps: u128, confidence: Confidence) -> bool {
        let failure = WideInterval::from(confidence.failure());
        self.tail()(steps).certainly_at_most(failure)
    }

    /// The probability of more than this number of steps, on either side.
    fn tail(&self) -> Box<dyn Fn(u128) -> WideInterval> {
        let draws = self.draws.get();
        match self.law {
            NoiseLaw::Laplace { scale } => {
                let tail = LaplaceTail::new(scale, draws);
                Box::new(move |steps| twice(tail.at_least(steps.saturating_add(1))))
            }
            NoiseLaw::Gaussian { variance } => {
                let tail = GaussianTail::new(variance, draws);
                Box::new(move |steps| twice(tail.at_least(steps.saturating_add(1))))
            }
        }
    }
}

fn twice(probability: WideInterval) -> WideInterval {
    probability + probability
}

/// How many standard deviations a Gaussian value exceeds, on either side, with this probability: to three
/// digits (Abramowitz and Stegun 1964, 26.2.23).
fn deviations(failure: f64) -> f64 {
    let t = libm::sqrt(-2.0 * libm::log(failure / 2.0));
    let above = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let below = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    t - above / below
}

/// The least number for which this holds, if it holds for every larger one; noise does not reach
/// beyond 2^126. With a guess that is right it is asked twice.
fn least(guess: u128, holds: impl Fn(u128) -> bool) -> u128 {
    let mut step = 1;
    // It does not hold at `low`.
    let (mut low, mut high) = (guess, guess);
    if holds(guess) {
        loop {
            if high == 0 {
                return 0;
            }
            low = high.saturating_sub(step);
            if !holds(low) {
                break;
            }
            (high, step) = (low, 2 * step);
        }
    } else {
        loop {
            high = (low + step).min(1 << 126);
            if high == 1 << 126 || holds(high) {
                break;
            }
            (low, step) = (high, 2 * step);
        }
    }
    bisect(high, low, next_to_each_other, holds).0
}

/// The least number of steps within which the sum of two draws of different laws is, with at least this
/// probability.
pub(crate) fn within_two(
    one: DiscreteLaplace,
    other: DiscreteLaplace,
    confidence: Confidence,
) -> u128 {
    let tails = TwoLaplaceTails::new(one.scale(), other.scale());
    let one_side = WideInterval::from(confidence.failure()).half();
    least(0, |steps| {
        tails.at_least_is_at_most(steps.saturating_add(1), one_side)
    })
}

fn laplace_variance(scale: Ratio) -> Interval {
    let minus_rate =
        -(Interval::whole(scale.denominator().get()) / Interval::whole(scale.numerator()));
    // The interval for e^x − 1 is negative, and its square is not.
    Interval::TWO * minus_rate.exp() / minus_rate.exp_m1().square()
}

fn gaussian_variance(variance: Ratio) -> Interval {
    let (numerator, denominator) = (variance.numerator(), variance.denominator().get());
    if numerator >= denominator {
        let square = Interval::whole(numerator) / Interval::whole(denominator);
        return square + Interval::ONE / Interval::exactly(12.0);
    }
    // σ < 1, so that the terms fall by more than a half each: the rest is at most the last.
    const LAST: u128 = 20;
    let tail = GaussianTail::new(variance, 1);
    let term = |k: u128| WideInterval::whole(2 * (2 * k - 1)) * tail.at_least(k);
    let sum = (1..=LAST).fold(term(LAST), |sum, k| sum + term(k));
    // At most 1 + 1/12.
    let units = sum.up::<units::Scale>();
    units.map_or(Interval::TWO, Interval::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Law;
    use crate::tests::bracket::Probabilities;
    use crate::tests::oracle;
    use dashu_ratio::RBig;
    use proptest::prelude::*;

    fn ratio(numerator: u128, denominator: u128) -> Ratio {
        Ratio::new(numerator, denominator).unwrap()
    }

    fn laplace(numerator: u128, denominator: u128) -> Noise {
        DiscreteLaplace::new(ratio(numerator, denominator))
            .unwrap()
            .into()
    }

    fn gaussian(numerator: u128, denominator: u128) -> Noise {
        RoundedGaussian::new(ratio(numerator, denominator))
            .unwrap()
            .into()
    }

    fn confidence(text: &str) -> Confidence {
        text.parse().unwrap()
    }

    /// By adding up the law itself, in fractions, rounded down by less than 2^-150.
    fn added_up(law: &dyn Law, confidence: Confidence) -> u128 {
        let noise = Probabilities::of(&law.closed_form());
        let wanted = RBig::from_parts(confidence.units().into(), 10_u128.pow(38).into());
        let (mut mass, mut steps) = (noise.probability(0).low().clone(), 0);
        while mass < wanted {
            steps += 1;
            mass += noise.probability(steps).low() * RBig::from(2);
        }
        steps.unsigned_abs()
    }

    #[test]
    fn the_number_of_steps_is_the_least_by_adding_up_the_law() {
        for text in ["0.5", "0.9", "0.95", "0.999", "0.999999"] {
            let confidence = confidence(text);
            for (numerator, denominator) in [(1, 1), (10, 1), (7, 3), (1, 3), (1, 40)] {
                let scale = ratio(numerator, denominator);
                let law = DiscreteLaplace::new(scale).unwrap();
                let steps = added_up(&law, confidence);
                assert_eq!(
                    Noise::from(law).steps_within(confidence),
                    steps,
                    "{scale} {text}"
                );
                let law = RoundedGaussian::new(scale).unwrap();
                let steps = added_up(&law, confidence);
                assert_eq!(
                    Noise::from(law).steps_within(confidence),
                    steps,
                    "{scale} {text}"
                );
            }
        }
    }

    #[test]
    fn the_search_begins_where_it_ends() {
        for text in ["0.5", "0.95", "0.999999"] {
            let confidence = confidence(text);
            for scale in [1, 10, 1000, 1_000_000, 10_u128.pow(12)] {
                let noise = laplace(scale, 1);
                let (guess, steps) = (noise.guess(confidence), noise.steps_within(confidence));
                assert!(
                    guess.abs_diff(steps) <= 1,
                    "{scale} {text}: {guess} {steps}"
                );
                for noise in [gaussian(scale, 1), noise.times(8).unwrap()] {
                    let (guess, steps) = (noise.guess(confidence), noise.steps_within(confidence));
                    let apart = guess.abs_diff(steps);
                    // The tail of a sum of eight is longer than that of a Gaussian.
                    assert!(apart <= 9 + steps / 4, "{noise:?} {text}: {guess} {steps}");
                }
            }
        }
    }

    /// In a world of few numbers: every truth, from every guess.
    #[test]
    fn the_least_number_is_found_from_every_guess() {
        let far = (1 << 126) - 1;
        let numbers = || (0..70).chain([1 << 64, far]);
        for truth in numbers() {
            for guess in numbers().chain([1 << 126]) {
                assert_eq!(least(guess, |number| number >= truth), truth, "{guess}");
            }
        }
        // Where it never holds: as far as noise reaches.
        assert_eq!(least(3, |_| false), 1 << 126);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        /// The closed form 1 − 2q^(a+1)/(1 + q), at 256 bits.
        #[test]
        fn the_least_number_of_steps_has_the_confidence_and_one_less_has_not(
            numerator in 1..10_u128.pow(12), denominator in 1..10_u128.pow(9),
            failure in 1..10_u128.pow(38), cut in 0..38_u32,
        ) {
            let scale = ratio(numerator, denominator);
            let failure = Delta::from_units((failure / 10_u128.pow(cut)).max(1)).unwrap();
            let confidence = Confidence::from_units(10_u128.pow(38) - failure.units()).unwrap();
            let steps = Noise::from(DiscreteLaplace::new(scale).unwrap()).steps_within(confidence);
            let rate = oracle::whole(denominator) / oracle::whole(numerator);
            let falls = oracle::exp(&-rate.clone());
            let beyond = |steps: u128| {
                let power = oracle::exp(&-(rate.clone() * oracle::whole(steps + 1)));
                oracle::whole(2) * power / (oracle::whole(1) + &falls)
            };
            prop_assert!(beyond(steps) <= oracle::quantity(failure));
            prop_assert!(steps == 0 || beyond(steps - 1) > oracle::quantity(failure));
        }

        /// 1 − 2Φ(−(a + 1/2)/σ), at 256 bits.
        #[test]
        fn the_least_number_of_gaussian_steps_has_the_confidence_and_one_less_has_not(
            numerator in 1..10_u128.pow(9), denominator in 1..10_u128.pow(4),
            failure in 1..10_u128.pow(38), cut in 0..38_u32,
        ) {
            let variance = ratio(numerator, denominator);
            let failure = Delta::from_units((failure / 10_u128.pow(cut)).max(1)).unwrap();
            let confidence = Confidence::from_units(10_u128.pow(38) - failure.units()).unwrap();
            let steps = Noise::from(RoundedGaussian::new(variance).unwrap()).steps_within(confidence);
            let deviation = oracle::sqrt(&(oracle::whole(numerator) / oracle::whole(denominator)));
            let beyond = |steps: u128| {
                let margin = oracle::whole(2 * steps + 1) / oracle::whole(2) / &deviation;
                oracle::whole(2) * oracle::tail(&margin)
            };
            prop_assert!(steps == 0 || beyond(steps - 1) > oracle::quantity(failure));
            // The oracle is slow far out, where the tail is nothing.
            let margin = (steps as f64 + 0.5) / (numerator as f64 / denominator as f64).sqrt();
            prop_assert!(margin > 40.0 || beyond(steps) <= oracle::quantity(failure));
        }
    }

    /// Between the bounds for the Gaussian sum, and within the number of draws of the truth.
    #[test]
    fn several_gaussian_draws_are_bounded_from_above() {
        // The law of three draws, by convolution of one.
        let law = RoundedGaussian::new(ratio(9, 4)).unwrap();
        let noise = Probabilities::of(&law.closed_form());
        let span = 25_i128;
        let one: Vec<_> = (-span..=span)
            .map(|k| noise.probability(k).low().to_f64_fast())
            .collect();
        let convolve = |one: &[f64], other: &[f64]| {
            let mut sum = vec![0.0; one.len() + other.len() - 1];
            for (i, p) in one.iter().enumerate() {
                for (j, q) in other.iter().enumerate() {
                    sum[i + j] += p * q;
                }
            }
            sum
        };
        let law_of_three = convolve(&convolve(&one, &one), &one);
        let sum = Noise::from(law).times(3).unwrap();
        for steps in 0..15_usize {
            let middle = law_of_three.len() / 2;
            let within: f64 = law_of_three[middle - steps..=middle + steps].iter().sum();
            let claim: f64 = sum.beyond(steps as u128).to_string().parse().unwrap();
            assert!(claim >= 1.0 - within, "{steps}");
        }
        assert_eq!(sum.steps_within(confidence("0.95")), 6);
    }

    /// By adding up k² times the law.
    #[test]
    fn variances_are_those_of_the_law_rounded_up() {
        // What is below 2^-100 does not matter, and is not known well.
        let tiny = RBig::from_parts(1.into(), (1_u128 << 100).into());
        let of = |law: &dyn Law| -> f64 {
            let noise = Probabilities::of(&law.closed_form());
            let probabilities = (1_i128..).map(|k| (k, noise.probability(k).low().clone()));
            let terms = probabilities.take_while(|(_, mass)| *mass > tiny);
            terms
                .map(|(k, mass)| 2.0 * (k * k) as f64 * mass.to_f64().value())
                .sum()
        };
        for (numerator, denominator) in [(1, 1), (5, 1), (1, 3), (7, 3), (9, 10)] {
            let scale = ratio(numerator, denominator);
            let law = DiscreteLaplace::new(scale).unwrap();
            let (truth, claim) = (of(&law), Noise::from(law).variance());
            assert!(
                (claim / truth - 1.0).abs() < 1e-12,
                "{scale} {claim} {truth}"
            );
            let law = RoundedGaussian::new(scale).unwrap();
            let (truth, claim) = (of(&law), Noise::from(law).variance());
            let excess = claim - truth;
            assert!((-1e-13..2e-8).contains(&excess), "{scale} {claim} {truth}");
        }
        // To 17 digits, by both sums in the doc.
        let small = gaussian(1, 12).variance();
        assert!((small - 0.083_265_127_029_934_79).abs() < 1e-16, "{small}");
    }

    #[test]
    fn steps_and_draws_multiply() {
        let one = laplace(3, 1);
        let noise = one.times(4).unwrap().in_steps_of(-3);
        assert_eq!((noise.draws(), noise.exponent()), (4, -3));
        let expected = 4.0 * one.variance() / 64.0;
        assert!((noise.variance() - expected).abs() < 1e-12);
        assert!(noise.deviation() >= noise.variance().sqrt());
        assert_eq!(
            (one.scale(), gaussian(1, 1).scale()),
            (Some(ratio(3, 1)), None)
        );
        assert_eq!(
            (one.times(0), one.times(65), one.times(u32::MAX)),
            (None, None, None)
        );
        assert_eq!(
            laplace(1, 1).in_steps_of(-1100).variance(),
            0.0_f64.next_up()
        );
        assert_eq!(
            laplace(1, 1).in_steps_of(i32::MAX).variance(),
            f64::INFINITY
        );
    }

    #[test]
    fn extreme_noise_has_its_bounds() {
        let sure = confidence("0.99999999999999999999999999999999999999");
        let tiny = laplace(1, u128::MAX);
        assert_eq!(
            (tiny.steps_within(sure), tiny.beyond(0)),
            (0, "1e-38".parse().unwrap())
        );
        let huge = laplace(1 << 100, 1);
        // 38 ln 10 = 87.498 scales.
        let steps = huge.steps_within(sure) >> 100;
        assert_eq!(steps, 87);
        assert_eq!(huge.times(64).unwrap().steps_within(sure) >> 100, 181);
        let wide = gaussian(1 << 122, 1);
        // Φ(−13.02) = 5e-39.
        assert!((13 << 61..14 << 61).contains(&wide.steps_within(sure)));
        assert_eq!(laplace(1, 1).steps_within(confidence("1e-38")), 0);
    }
}
