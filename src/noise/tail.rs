//! How likely sums of noise are to be large: exact formulas, in certified arithmetic.

use crate::number::{Ratio, WideInterval, normal};

/// The tail of the sum of several independent draws of [`DiscreteLaplace`](super::DiscreteLaplace)
/// noise of one scale.
///
/// # Guarantee
///
/// With q = e^(−1/scale) and p = 1 − q, the sum S of m draws has the generating function
/// (p²/((1 − qz)(1 − q/z)))^m. Its part with z^0, z^1, … is that of the pole at z = 1/q, since the
/// function vanishes at infinity. With u = 1 − qz the other factor is
/// ((1 − u)/(1 − q² − u))^m, and (1 − u)/(1 − u/(1 − q²)) is 1 plus a series in u with positive
/// terms. Expanded and sorted by powers of 1/u, this says, for n ≥ 0 and h = 1/(1 + q):
///
/// P(S ≥ n) = Σ_j w_j · P(at the n-th failure there were fewer than j successes),
/// w_(m−i) = h^(m+i) · Σ_l C(m, l)·C(i − 1, l − 1)·q^(2l),
///
/// where successes have probability p. All terms are positive, so that nothing cancels. For one
/// draw it is q^n/(1 + q).
pub(super) struct LaplaceTail {
    rate: WideInterval,
    /// p, the probability of a success.
    success: WideInterval,
    /// The i-th is the sum of all w_j with j > i.
    weights: Vec<WideInterval>,
}

impl LaplaceTail {
    pub(super) fn new(scale: Ratio, draws: u32) -> Self {
        let rate =
            WideInterval::whole(scale.denominator().get()) / WideInterval::whole(scale.numerator());
        let falls = rate.exp_of_minus();
        // Of one draw, no term has a success in it: then this is not computed to all its digits.
        let success = match draws {
            1 => WideInterval::whole(1) - falls,
            _ => success(rate),
        };
        let half = WideInterval::whole(1) / (WideInterval::whole(1) + falls);
        let square = falls * falls;
        // From j = m down to 1, which is i = 0 up to m − 1; each sum starts with the earlier one.
        let mut weights: Vec<_> = (0..draws)
            .scan(WideInterval::whole(0), |sum, i| {
                let terms = (0..=i).map(|l| {
                    let ways = binomial(draws, l) * below(i, l);
                    WideInterval::whole(ways) * square.power(l)
                });
                let polynomial = terms.fold(WideInterval::whole(0), |sum, term| sum + term);
                *sum = *sum + half.power(draws + i) * polynomial;
                Some(*sum)
            })
            .collect();
        weights.reverse();
        Self {
            rate,
            success,
            weights,
        }
    }

    /// P(S ≥ n).
    pub(super) fn at_least(&self, number: u128) -> WideInterval {
        let first = (self.rate * WideInterval::whole(number)).exp_of_minus();
        let mut sum = WideInterval::whole(0);
        // That there were i successes at the n-th failure: C(n − 1 + i, i) p^i q^n.
        let mut exactly = first;
        for (i, weight) in (0_u128..).zip(&self.weights) {
            if let Some(before) = i.checked_sub(1) {
                let ways = WideInterval::whole(number.saturating_add(before));
                exactly = exactly * (ways / WideInterval::whole(i)) * self.success;
            }
            sum = sum + exactly * *weight;
        }
        sum
    }
}

/// The tail of the sum of two independent draws of discrete Laplace noise of different scales.
///
/// # Guarantee
///
/// With the odds q > r of the two, the poles at 1/q and 1/r give, for n ≥ 1,
///
/// P(S ≥ n) = K·(q^(n+1)/((1 − q)(1 − q²)) − r^(n+1)/((1 − r)(1 − r²))),
/// K = (1 − q)²(1 − r)²/((1 − qr)(q − r)).
///
/// The difference cancels if the scales are nearly the same. Noise of a larger scale is farther from
/// zero, so two draws of the larger scale are a bound that does not cancel; the smaller of the two
/// bounds counts, and only the second one exists for equal scales.
pub(super) struct TwoLaplaceTails {
    larger: LaplaceTail,
    rates: [WideInterval; 2],
}

impl TwoLaplaceTails {
    pub(super) fn new(one: Ratio, other: Ratio) -> Self {
        let rate = |scale: Ratio| {
            WideInterval::whole(scale.denominator().get()) / WideInterval::whole(scale.numerator())
        };
        // If it cannot be told which one is larger, they are the same to the last bit.
        let (large, small) = if rate(one).certainly_at_most(rate(other)) {
            (one, other)
        } else {
            (other, one)
        };
        Self {
            larger: LaplaceTail::new(large, 2),
            rates: [rate(large), rate(small)],
        }
    }

    /// Whether P(S ≥ n) is certainly at most this, for n ≥ 1.
    pub(super) fn at_least_is_at_most(&self, number: u128, bound: WideInterval) -> bool {
        if self.larger.at_least(number).certainly_at_most(bound) {
            return true;
        }
        let one = WideInterval::whole(1);
        let [slow, fast] = self.rates;
        let (q, r) = (slow.exp_of_minus(), fast.exp_of_minus());
        // q − r = r·(e^(y − x) − 1) for rates x < y, which may be nothing.
        let apart = (fast - slow).exp_m1().map(|growth| r * growth);
        let Some(apart) = apart.filter(|apart| !apart.may_be_zero()) else {
            return false;
        };
        let (p, s) = (success(slow), success(fast));
        let power = |rate: WideInterval| {
            (rate * WideInterval::whole(number.saturating_add(1))).exp_of_minus()
        };
        let factor = p * p * s * s / (success(slow + fast) * apart);
        let difference = power(slow) / (p * p * (one + q)) - power(fast) / (s * s * (one + r));
        (factor * difference).certainly_at_most(bound)
    }
}

/// `1 − e^−x`.
fn success(rate: WideInterval) -> WideInterval {
    let falls = rate.exp_of_minus();
    let growth = rate.exp_m1();
    growth.map_or(WideInterval::whole(1) - falls, |growth| growth * falls)
}

/// C(i − 1, l − 1), which is one for i = l = 0.
fn below(i: u32, l: u32) -> u128 {
    match (i.checked_sub(1), l.checked_sub(1)) {
        (Some(i), Some(l)) => binomial(i, l),
        (None, None) => 1,
        _ => 0,
    }
}

/// The number of ways to choose `some` of `all`, for up to 64 of them.
fn binomial(all: u32, some: u32) -> u128 {
    (0..some).fold(1, |ways, chosen| {
        ways * u128::from(all.saturating_sub(chosen)) / u128::from(chosen + 1)
    })
}

/// The tail of the sum of several independent draws of
/// [`RoundedGaussian`](super::RoundedGaussian) noise of one variance.
///
/// # Guarantee
///
/// One draw is at least n where the Gaussian is at least n − 1/2: exactly Φ(−(n − 1/2)/σ). The sum
/// of m draws is that of m Gaussians, which is a Gaussian of variance mσ², and of their roundings,
/// which is at most m/2. So Φ(−(n − m/2)/(σ√m)) is an upper bound, and Φ(−(n + m/2)/(σ√m)) a lower
/// one.
pub(super) struct GaussianTail {
    deviation: WideInterval,
    draws: u32,
}

impl GaussianTail {
    pub(super) fn new(variance: Ratio, draws: u32) -> Self {
        let variance = WideInterval::from(variance) * WideInterval::whole(draws.into());
        Self {
            deviation: variance.sqrt(),
            draws,
        }
    }

    /// P(S ≥ n), or more.
    pub(super) fn at_least(&self, number: u128) -> WideInterval {
        let doubled = number.saturating_mul(2);
        let Some(margin) = doubled.checked_sub(self.draws.into()) else {
            return WideInterval::whole(1);
        };
        normal::tail(WideInterval::whole(margin).half() / self.deviation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::Confidence;
    use crate::number::units::Delta as Probability;
    use crate::tests::oracle::{self, Real};
    use proptest::prelude::*;

    /// The law of the sum of discrete Laplace draws, by convolution, from −span to span.
    fn convolved(scale: f64, draws: u32, span: usize) -> Vec<Real> {
        let falls = oracle::exp(&(oracle::real(-1.0) / oracle::real(scale)));
        let one = oracle::whole(1);
        let middle = (one.clone() - &falls) / (one + &falls);
        let mut single = vec![middle; 2 * span + 1];
        for distance in 1..=span {
            let farther = single[span + distance - 1].clone() * &falls;
            single[span + distance] = farther.clone();
            single[span - distance] = farther;
        }
        let mut law = single.clone();
        for _ in 1..draws {
            let mut next = vec![oracle::real(0.0); 2 * span + 1];
            for (i, one) in law.iter().enumerate() {
                for (j, other) in single.iter().enumerate() {
                    if let Some(place) = (i + j).checked_sub(span).filter(|at| *at <= 2 * span) {
                        next[place] += one * other;
                    }
                }
            }
            law = next;
        }
        law
    }

    #[test]
    fn the_tail_of_a_sum_of_laplace_noise_is_that_of_the_convolution() {
        for (scale, ratio, span) in [(1.0, (1, 1), 70), (2.5, (5, 2), 130), (0.25, (1, 4), 40)] {
            for draws in 1..=4 {
                let law = convolved(scale, draws, span);
                let scale = Ratio::new(ratio.0, ratio.1).unwrap();
                let tail = LaplaceTail::new(scale, draws);
                for number in [0, 1, 2, 3, 7, 12] {
                    let sum = law[span + number..]
                        .iter()
                        .fold(oracle::real(0.0), |sum, mass| sum + mass);
                    let claim = tail.at_least(number as u128).up().unwrap();
                    let claim = oracle::quantity::<Probability>(claim);
                    // What the convolution leaves out beyond the span is below 1e-15 of the whole.
                    let difference = oracle::abs(&(claim - sum));
                    assert!(
                        difference < oracle::real(1e-15),
                        "{draws} {number} {difference}"
                    );
                }
            }
        }
    }

    /// S is symmetric: P(S ≥ 0) + P(S ≥ 1) = 1.
    #[test]
    fn both_sides_add_up_to_one() {
        for draws in [1, 2, 3, 10, 64] {
            for scale in [
                Ratio::new(1, 3),
                Ratio::new(64, 1),
                Ratio::new(10_u128.pow(30), 7),
            ] {
                let tail = LaplaceTail::new(scale.unwrap(), draws);
                let sum = tail.at_least(0) + tail.at_least(1);
                let slack = WideInterval::whole(1) / WideInterval::whole(1 << 70);
                let one = WideInterval::whole(1);
                assert!(sum.certainly_at_most(one + slack), "{draws} {scale:?}");
                assert!(one.certainly_at_most(sum + slack), "{draws} {scale:?}");
            }
        }
    }

    /// By convolution, from -200 to 200; and both bounds agree where the scales do.
    #[test]
    fn the_tail_of_two_scales_is_that_of_the_convolution() {
        let law = |scale: f64| {
            let q = (-1.0 / scale).exp();
            move |k: i32| (1.0 - q) / (1.0 + q) * q.powi(k.abs())
        };
        let wide = |probability: f64| {
            let units = (probability * 1e30) as u128;
            WideInterval::whole(units) / WideInterval::whole(10_u128.pow(30))
        };
        let scales = [(1, 1), (3, 1), (1, 4), (5, 2), (300_001, 100_000)];
        for (one, other) in scales
            .iter()
            .flat_map(|one| scales.map(|other| (*one, other)))
        {
            let ratio = |(n, d): (u32, u32)| Ratio::new(n.into(), d.into()).unwrap();
            let tails = TwoLaplaceTails::new(ratio(one), ratio(other));
            let [x, y] = [one, other].map(|(n, d)| law(f64::from(n) / f64::from(d)));
            for number in [1, 2, 5, 11] {
                let pairs = (-200..=200).flat_map(|i| (number - i..=200).map(move |j| (i, j)));
                let truth: f64 = pairs.map(|(i, j)| x(i) * y(j)).sum();
                let holds = |factor| {
                    tails.at_least_is_at_most(number.unsigned_abs().into(), wide(truth * factor))
                };
                assert!(
                    !holds(1.0 - 1e-5) && holds(1.0 + 1e-5),
                    "{one:?} {other:?} {number}"
                );
            }
        }
    }

    #[test]
    fn far_out_and_for_tiny_scales_it_is_still_a_bound() {
        let tail = LaplaceTail::new(Ratio::new(1, 10_u128.pow(9)).unwrap(), 3);
        let tiny: Confidence = "1e-38".parse().unwrap();
        assert!(tail.at_least(1).certainly_at_most(tiny.into()));
        let huge = LaplaceTail::new(Ratio::new(1 << 100, 1).unwrap(), 64);
        assert!(huge.at_least(u128::MAX).certainly_at_most(tiny.into()));
        assert_eq!(binomial(64, 32), 1_832_624_140_942_590_534);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn the_tail_of_one_rounded_gaussian_is_exact(
            variance in 1..100_000_u128, number in 1..1000_u128,
        ) {
            let tail = GaussianTail::new(Ratio::new(variance, 7).unwrap(), 1).at_least(number);
            let deviation = oracle::sqrt(&(oracle::whole(variance) / oracle::whole(7)));
            let margin = oracle::whole(2 * number - 1) / oracle::whole(2) / deviation;
            prop_assume!(margin < oracle::real(30.0));
            let truth = oracle::tail(&margin);
            let claim = oracle::quantity(tail.up::<Probability>().unwrap());
            prop_assert!(claim >= truth);
            prop_assert!(claim - &truth <= truth * oracle::real(1e-24) + oracle::real(1.1e-38));
        }
    }
}
