//! The optimal composition of equal launches: what [`FixedCount`](super::FixedCount) rests on.

use crate::number::{Delta, Epsilon, Interval, U256, Unit, units};
use crate::privacy::convert::probability_up;

/// The smallest δ such that any k launches of ε-DP, fixed in advance, are together (ε_total, δ)-DP,
/// rounded up: that of k-fold randomized response (Kairouz, Oh, Viswanath 2015).
///
/// `Σ_j P(j) (1 − e^(ε_total − (k−2j)ε))⁺`, where j of the k responses, binomially many with
/// probability 1/(1 + e^ε), are lies.
///
/// Either side of the sum ends some 17 standard deviations, of at most √k/2 each, from its middle. So
/// the time grows like √k: half a million terms for a billion launches, and 10¹¹, which take hours,
/// for the largest k.
pub(crate) fn tight_delta(launches: u64, each: Epsilon, total: Epsilon) -> Delta {
    if each == Epsilon::ZERO || launches == 0 {
        return Delta::ZERO;
    }
    // Basic composition: if the largest loss is at most the total, δ is zero.
    if each
        .checked_mul(launches)
        .is_some_and(|largest| largest <= total)
    {
        return Delta::ZERO;
    }
    let binomial = Binomial {
        launches,
        each,
        total,
    };
    // Weights relative to the likeliest j, walking away from it on either side.
    let exact = Interval::from(each);
    let likeliest = libm::floor(launches as f64 / (1.0 + libm::exp(exact.middle())));
    let start = (likeliest as u64).min(launches);
    let mut sums = Sums::default();
    sums.count(Interval::ONE, binomial.gain(start));
    let factor = exact.exp();
    sums.walk((0..start).rev(), &binomial, Gains::Rise, |j| {
        // From j + 1 to j.
        Interval::whole(u128::from(j) + 1) / Interval::whole(u128::from(launches - j)) * factor
    });
    sums.walk(start + 1..=launches, &binomial, Gains::Fall, |j| {
        // From j − 1 to j.
        Interval::whole(u128::from(launches - j) + 1) / Interval::whole(u128::from(j)) / factor
    });
    probability_up(sums.part / sums.whole)
}

struct Binomial {
    launches: u64,
    each: Epsilon,
    total: Epsilon,
}

impl Binomial {
    /// `(1 − e^(ε_total − (k−2j)ε))⁺`.
    fn gain(&self, lies: u64) -> Interval {
        let (truths, lies) = (u128::from(self.launches - lies), u128::from(lies));
        if truths <= lies {
            return Interval::ZERO;
        }
        // The difference is exact, so that next to the largest loss no digit is lost.
        let beyond = U256::whole(self.each.units())
            .checked_mul(truths - lies)
            .and_then(|loss| loss.checked_sub(U256::whole(self.total.units())));
        let Some((high, low)) = beyond.map(U256::halves) else {
            return Interval::ZERO;
        };
        let beyond = (Interval::whole(high) * Interval::exactly(2_f64.powi(128))
            + Interval::whole(low))
            / Interval::whole(10_u128.pow(<units::Epsilon as Unit>::DECIMALS));
        (-(-beyond).exp_m1()).max(Interval::ZERO)
    }
}

/// Σ of weights, and Σ of weights times gains.
struct Sums {
    whole: Interval,
    part: Interval,
}

impl Default for Sums {
    fn default() -> Self {
        Self {
            whole: Interval::ZERO,
            part: Interval::ZERO,
        }
    }
}

impl Sums {
    fn count(&mut self, weight: Interval, gain: Interval) {
        self.whole = self.whole + weight;
        if gain.high() > 0.0 {
            self.part = self.part + weight * gain;
        }
    }

    /// Counts a side of the distribution, until what is left cannot matter. The ratio of
    /// successive weights falls on the way out, the gains rise or fall.
    fn walk(
        &mut self,
        side: impl Iterator<Item = u64>,
        binomial: &Binomial,
        gains: Gains,
        ratio: impl Fn(u64) -> Interval,
    ) {
        /// What may be left out, of either sum: below the 1e-9 that is promised, above the 1e-16
        /// of a float.
        const NEGLIGIBLE: f64 = 1e-13;
        /// Or of certainty: far below the 1e-38 that δ resolves.
        const NOTHING: f64 = 1e-60;
        let mut weight = Interval::ONE;
        for j in side {
            let ratio = ratio(j);
            let gain = binomial.gain(j);
            if ratio.high() < 1.0 {
                // What is left, this j included, is at most a geometric series, and a gain at
                // most 1.
                let rest = (weight * ratio / (Interval::ONE - ratio)).high();
                let gains_nothing = gains == Gains::Fall && gain.high() == 0.0;
                let part = if gains_nothing { 0.0 } else { rest };
                let negligible =
                    rest <= NEGLIGIBLE * self.whole.low() && part <= NEGLIGIBLE * self.part.low();
                if negligible || rest < NOTHING {
                    self.whole = self.whole + Interval::between(0.0, rest);
                    self.part = self.part + Interval::between(0.0, part);
                    return;
                }
            }
            weight = weight * ratio;
            self.count(weight, gain);
        }
    }
}

/// How gains change along a walk.
#[derive(PartialEq)]
enum Gains {
    Rise,
    Fall,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::units;
    use crate::privacy::convert;
    use crate::tests::oracle::{Real, exp, is_just_above, ln, quantity, real, sizes, whole};
    use proptest::prelude::*;

    #[test]
    fn next_to_the_largest_loss_no_digit_is_lost() {
        let each: Epsilon = "0.1".parse().unwrap();
        for launches in [1, 10, 1000] {
            for less in ["1e-27", "1e-20", "3.7e-12"] {
                let largest = each.checked_mul(launches).unwrap();
                let total = largest.saturating_sub(less.parse().unwrap());
                let given = tight_delta(launches, each, total);
                is_just_above(given, &tight(launches, each, total));
            }
        }
    }

    /// The sum over all numbers of lies, as printed.
    fn tight(launches: u64, each: Epsilon, total: Epsilon) -> Real {
        let (each, total) = (quantity(each), quantity(total));
        let lie = real(1.0) / (real(1.0) + exp(&each));
        let truth = real(1.0) - &lie;
        let mut weight = exp(&(whole(u128::from(launches)) * ln(&truth)));
        let mut sum = real(0.0);
        for lies in 0..=launches {
            let loss = (whole(u128::from(launches)) - real(2.0) * whole(u128::from(lies))) * &each;
            if loss > total {
                sum += &weight * (real(1.0) - exp(&(&total - &loss)));
            }
            weight = weight * whole(u128::from(launches - lies)) / whole(u128::from(lies) + 1);
            weight = weight * &lie / &truth;
        }
        // What the last of its 256 bits adds to a probability of 1 is not the truth.
        if sum > real(1.0) { real(1.0) } else { sum }
    }

    /// A walk, and how many terms it took.
    fn walked(binomial: &Binomial, start: u64, gains: Gains) -> (Sums, usize) {
        let (launches, factor) = (binomial.launches, Interval::from(binomial.each).exp());
        let part = |number: u64| Interval::whole(number.into());
        let (mut sums, mut terms) = (Sums::default(), 0);
        // Both sums hold something, as they do where this is used.
        sums.count(Interval::ONE, binomial.gain(start));
        match gains {
            Gains::Rise => {
                let side = (0..start).rev().inspect(|_| terms += 1);
                let ratio = |j| part(j + 1) / part(launches - j) * factor;
                sums.walk(side, binomial, gains, ratio);
            }
            Gains::Fall => {
                let side = (start + 1..=launches).inspect(|_| terms += 1);
                let ratio = |j| part(launches - j + 1) / part(j) / factor;
                sums.walk(side, binomial, gains, ratio);
            }
        }
        (sums, terms)
    }

    #[test]
    fn what_a_walk_leaves_out_is_in_its_bounds() {
        let encloses = |interval: Interval, exact: &Real| {
            let (low, high) = (real(interval.low()), real(interval.high()));
            assert!(low <= *exact && *exact <= high, "{interval:?} {exact}");
        };
        for (launches, each, start) in [(200, "0.01", 99), (240, "0.3", 102), (150, "0.1", 71)] {
            let each: Epsilon = each.parse().unwrap();
            let total = each;
            let binomial = Binomial {
                launches,
                each,
                total,
            };
            for gains in [Gains::Rise, Gains::Fall] {
                let rises = gains == Gains::Rise;
                let (sums, terms) = walked(&binomial, start, gains);
                let side: Vec<u64> = if rises {
                    (0..=start).rev().collect()
                } else {
                    (start..=launches).collect()
                };
                assert!(terms < side.len() - 1, "nothing is left out");
                let odds = exp(&quantity(each));
                let (mut weight, mut whole_sum, mut part_sum) = (real(1.0), real(0.0), real(0.0));
                for j in side {
                    let truths = whole(u128::from(launches - j));
                    let loss = (truths.clone() - whole(u128::from(j))) * quantity(each);
                    whole_sum += &weight;
                    if loss > quantity(total) {
                        part_sum += &weight * (real(1.0) - exp(&(quantity(total) - loss)));
                    }
                    if rises {
                        weight = weight * whole(u128::from(j)) / (truths + real(1.0)) * &odds;
                    } else {
                        weight = weight * truths / whole(u128::from(j) + 1) / &odds;
                    }
                }
                encloses(sums.whole, &whole_sum);
                encloses(sums.part, &part_sum);
            }
        }
    }

    #[test]
    fn a_walk_ends_some_standard_deviations_out() {
        let binomial = Binomial {
            launches: 100_000,
            each: "0.001".parse().unwrap(),
            total: "0.1".parse().unwrap(),
        };
        // A standard deviation is 158.
        for gains in [Gains::Rise, Gains::Fall] {
            let (_, terms) = walked(&binomial, 49_975, gains);
            assert!(terms < 17 * 158, "{terms}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn the_tight_delta_is_rounded_up(launches in 1..300_u64, each in sizes::<units::Epsilon>(-4.0..0.7), part in 0.0..1.0) {
            // From no loss at all to a little less than the largest one.
            let size = Interval::from(each).middle() * launches as f64;
            let total = Interval::exactly(size * part * part).up().unwrap();
            is_just_above(tight_delta(launches, each, total), &tight(launches, each, total));
        }
    }

    #[test]
    fn a_billion_launches_look_like_a_gaussian() {
        // k launches of ε → 0 with kε² = μ² tend to μ-GDP.
        let each: Epsilon = "1e-5".parse().unwrap();
        let launches = 1_000_000_000;
        let total: Epsilon = "1.5".parse().unwrap();
        let delta = quantity(tight_delta(launches, each, total));
        let mu = "0.316227766016837933199889354".parse().unwrap();
        let limit = quantity(convert::gdp::delta(mu, total));
        let error = (delta - &limit) / limit;
        assert!(error < real(1e-4) && error > real(-1e-4), "{error}");
    }

    #[test]
    fn the_ends_of_the_scale() {
        let epsilon = |text: &str| text.parse::<Epsilon>().unwrap();
        assert_eq!(tight_delta(0, epsilon("1"), epsilon("0")), Delta::ZERO);
        assert_eq!(tight_delta(5, epsilon("0"), epsilon("0")), Delta::ZERO);
        // Basic composition, to the last digit.
        assert_eq!(tight_delta(10, epsilon("0.1"), epsilon("1")), Delta::ZERO);
        assert!(tight_delta(11, epsilon("0.1"), epsilon("1")) > Delta::ZERO);
        // Far out the true δ is all but 1, and may be rounded to it.
        assert!(tight_delta(1000, epsilon("100"), epsilon("0")) > "0.999999999".parse().unwrap());
    }
}
