//! What a count says about a probability: the bounds of Clopper and Pearson (1934), rounded
//! outward.
//!
//! # Guarantee
//!
//! [`at_least`] is at most, and [`at_most`] at least, what Clopper and Pearson define: the ends of
//! the set of probabilities under which this count, or a larger (or smaller) one, has a probability
//! above `failure`. Each is wrong with probability at most `failure`, whatever the true probability
//! is. A float is returned only if the tail there is *certainly* at most `failure` ([`Interval`]),
//! so that neither rounding nor the search can make a bound too tight.

use std::f64::consts::PI;

use crate::number::Interval;
use crate::privacy::convert::search::bisect;

/// A lower bound on the probability of an event that happened in `hits` of `trials` trials.
pub(super) fn at_least(hits: u32, trials: u32, failure: Interval) -> f64 {
    if hits == 0 {
        return 0.0;
    }
    // Zero is certainly a bound. With a probability of hits/trials, this number of hits or more is
    // about as likely as not, so the bound is below it.
    let estimate = f64::from(hits) / f64::from(trials);
    search(0.0, estimate, |probability| {
        let success = Interval::exactly(probability);
        is_rare(hits, trials, success, Interval::ONE - success, failure)
    })
}

/// An upper bound on the probability of an event that happened in `hits` of `trials` trials.
pub(super) fn at_most(hits: u32, trials: u32, failure: Interval) -> f64 {
    if hits >= trials {
        return 1.0;
    }
    // At most this number of hits is at least the remaining number of misses.
    let estimate = f64::from(hits) / f64::from(trials);
    search(1.0, estimate, |probability| {
        let miss = Interval::ONE - Interval::exactly(probability);
        let hit = Interval::exactly(probability);
        is_rare(trials - hits, trials, miss, hit, failure)
    })
}

/// The float nearest to `estimate`, up to 2^-40 of its size, at which `certain` holds; it is known
/// to hold at `known`.
fn search(known: f64, estimate: f64, certain: impl Fn(f64) -> bool) -> f64 {
    // Floats that are not negative are ordered as their bits, so halving the bits halves small
    // numbers as fast as large ones.
    let near = |good: u64, bad: u64| good.abs_diff(bad) <= 1 << 12;
    let certain = |bits| certain(f64::from_bits(bits));
    let (good, _) = bisect(known.to_bits(), estimate.to_bits(), near, certain);
    f64::from_bits(good)
}

/// Whether `hits` or more of `trials` certainly have a probability of at most `limit`, where each
/// is a hit with probability `hit` and `miss` is 1 − `hit`.
///
/// The sum over the tail is the first term times `1 + r₀ + r₀r₁ + …`. The ratios fall, so that what
/// is left after some terms is at most a geometric series.
fn is_rare(hits: u32, trials: u32, hit: Interval, miss: Interval, limit: Interval) -> bool {
    // 2^-40: what is left then does not matter beside the search.
    const NEGLIGIBLE: Interval = Interval::exactly(1.0 / (1_u64 << 40) as f64);
    let first = point(hits, trials, hit, miss);
    let odds = hit / miss;
    let (mut term, mut sum) = (Interval::ONE, Interval::ONE);
    for count in hits..trials {
        // Giving up early answers no, which is always safe.
        if (first * sum).low() > limit.high() {
            return false;
        }
        let more = Interval::from(trials - count) / (Interval::from(count) + Interval::ONE);
        let ratio = more * odds;
        let rest = term * ratio / (Interval::ONE - ratio);
        if ratio.high() < 1.0 && rest.high() <= (sum * NEGLIGIBLE).low() {
            sum = sum + rest;
            break;
        }
        term = term * ratio;
        sum = sum + term;
    }
    (first * sum).high() <= limit.low()
}

/// The probability of exactly this number of hits.
///
/// With `ln m! = (m + ½) ln m − m + ½ ln 2π + e(m)`, it is `√(n / 2πkl)` times e to the
/// `e(n) − e(k) − e(l) − k ln(k/np) − l ln(l/nq)`, for k hits and l misses (Loader 2000): the terms
/// in the exponent are not larger than the result needs them to be.
fn point(hits: u32, trials: u32, hit: Interval, miss: Interval) -> Interval {
    let [k, l, n] = [hits, trials - hits, trials].map(Interval::from);
    if hits == 0 {
        return (n * miss.ln()).exp();
    }
    if hits == trials {
        return (n * hit.ln()).exp();
    }
    // The float is below π, and the next one above.
    let pi = Interval::between(PI, PI.next_up());
    let size = (n / (Interval::TWO * pi * k * l)).sqrt();
    let errors = stirling_error(trials) - stirling_error(hits) - stirling_error(trials - hits);
    let distance = k * (k / (n * hit)).ln() + l * (l / (n * miss)).ln();
    size * (errors - distance).exp()
}

/// `ln m! − (m + ½) ln m + m − ½ ln 2π`, for positive m.
fn stirling_error(number: u32) -> Interval {
    let m = Interval::from(number);
    if number < 16 {
        let factorial: u128 = (1..=u128::from(number)).product();
        let pi = Interval::between(PI, PI.next_up());
        let half_log = |x: Interval| x.ln() / Interval::TWO;
        return Interval::whole(factorial).ln() - m * m.ln() + m
            - half_log(m)
            - half_log(Interval::TWO * pi);
    }
    // 1/12m − 1/360m³ + 1/1260m⁵ − 1/1680m⁷ + …: the error is less than the first term that is left
    // out, and has its sign (NIST Digital Library 5.11(ii)). At 16 that term is 2e-12.
    let square = m * m;
    let over = |power: Interval, divisor: u32| Interval::ONE / (power * Interval::from(divisor));
    let (third, fifth) = (m * square, m * square * square);
    let high = over(m, 12) - over(third, 360) + over(fifth, 1260);
    let low = high - over(fifth * square, 1680);
    Interval::between(low.low(), high.high())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::Delta;
    use crate::tests::oracle::{self, Real};
    use dashu_int::{IBig, UBig};
    use dashu_ratio::RBig;

    fn failure(text: &str) -> Interval {
        Interval::from(text.parse::<Delta>().unwrap())
    }

    fn rational(text: &str) -> RBig {
        let units = text.parse::<Delta>().unwrap().units();
        RBig::from_parts(units.into(), 10_u128.pow(38).into())
    }

    /// P[this number of hits or more], exactly.
    fn exact_tail(hits: u32, trials: u32, probability: &RBig) -> RBig {
        let (numerator, denominator) = probability.clone().into_parts();
        let miss = IBig::from(denominator.clone()) - &numerator;
        let mut choices = UBig::ONE;
        let mut sum = IBig::ZERO;
        for count in 0..=trials {
            if count >= hits {
                sum += IBig::from(choices.clone())
                    * numerator.pow(count as usize)
                    * miss.pow((trials - count) as usize);
            }
            choices = choices * (trials - count) / (count + 1);
        }
        RBig::from_parts(sum, denominator.pow(trials as usize))
    }

    /// The same for many trials, to 70 digits: from one term to the next.
    fn long_tail(hits: u32, trials: u32, probability: &RBig) -> Real {
        let real = |number: &UBig| oracle::power_of_ten(0) * Real::from(IBig::from(number.clone()));
        let (numerator, denominator) = probability.clone().into_parts();
        let hit = Real::from(numerator) * oracle::power_of_ten(0) / real(&denominator);
        let miss = oracle::whole(1) - &hit;
        let mut term = oracle::exp(&(oracle::ln(&miss) * oracle::whole(trials.into())));
        let mut sum = Real::ZERO;
        for count in 0..trials {
            let ratio = oracle::whole((trials - count).into()) / oracle::whole((count + 1).into());
            term = term * ratio * &hit / &miss;
            if count + 1 >= hits {
                sum += &term;
                if term.clone() * oracle::whole(1 << 100) < sum {
                    break;
                }
            }
        }
        sum
    }

    /// Both bounds are on the right side of the truth, and within 1e-9 of it. `rare` says whether
    /// this number or more has a probability within the limit.
    #[track_caller]
    fn assert_sharp(hits: u32, trials: u32, text: &str, rare: impl Fn(u32, &RBig) -> bool) {
        let context = format!("{hits} of {trials} at {text}");
        let times = |number: &RBig, parts: i64| number * rational_of(parts, 1_000_000_000);
        let low = at_least(hits, trials, failure(text));
        let low = RBig::try_from(low).unwrap();
        if hits == 0 {
            assert_eq!(low, RBig::ZERO);
        } else {
            assert!(rare(hits, &low), "{context}: at least {low} is too much");
            assert!(!rare(hits, &times(&low, 1_000_000_001)), "{context}: {low}");
        }
        let high = at_most(hits, trials, failure(text));
        let high = RBig::try_from(high).unwrap();
        if hits == trials {
            assert_eq!(high, RBig::ONE);
        } else {
            let misses = |high: &RBig| rare(trials - hits, &(RBig::ONE - high));
            assert!(misses(&high), "{context}: at most {high} is too little");
            assert!(!misses(&times(&high, 999_999_999)), "{context}: {high}");
        }
    }

    fn rational_of(numerator: i64, denominator: u64) -> RBig {
        RBig::from_parts(numerator.into(), denominator.into())
    }

    #[test]
    fn bounds_agree_with_fractions() {
        for text in ["0.49", "0.025", "1e-9", "2.5e-10"] {
            let limit = rational(text);
            let assert_sharp = |hits, trials| {
                assert_sharp(hits, trials, text, |hits, probability| {
                    exact_tail(hits, trials, probability) <= limit
                });
            };
            for trials in [1, 2, 3, 5, 8, 13, 30] {
                (0..=trials).for_each(|hits| assert_sharp(hits, trials));
            }
            for hits in [0, 1, 7, 15, 16, 17, 50, 99, 100] {
                assert_sharp(hits, 100);
            }
        }
    }

    /// Whatever the true probability is, the bounds are wrong with at most the stated probability,
    /// and with nearly that probability where this is possible.
    #[test]
    fn bounds_fail_as_rarely_as_is_said() {
        let (trials, text) = (40, "0.05");
        let float = |number: f64| RBig::try_from(number).unwrap();
        let bounds: Vec<_> = (0..=trials)
            .map(|hits| {
                let (low, high) = (
                    at_least(hits, trials, failure(text)),
                    at_most(hits, trials, failure(text)),
                );
                (float(low), float(high))
            })
            .collect();
        let mut worst = RBig::ZERO;
        for percent in 1..100_u64 {
            let p = rational_of(percent as i64, 100);
            // Too many hits for the lower bound, or too few for the upper one.
            let too_high = bounds
                .iter()
                .position(|(low, _)| *low > p)
                .unwrap_or(bounds.len());
            let too_low = bounds.iter().filter(|(_, high)| *high < p).count();
            let above = exact_tail(too_high as u32, trials, &p);
            let below = RBig::ONE - exact_tail(too_low as u32, trials, &p);
            assert!(above <= rational(text), "{percent} %: {above}");
            assert!(below <= rational(text), "{percent} %: {below}");
            worst = worst.max(above).max(below);
        }
        assert!(worst > rational("0.045"), "{worst}");
    }

    #[test]
    fn bounds_of_many_trials_agree_with_many_digits() {
        let limit = oracle::whole(1) / oracle::power_of_ten(9);
        for (hits, trials) in [(0, 5000), (1, 5000), (40, 5000), (2500, 5000), (900, 1000)] {
            assert_sharp(hits, trials, "1e-9", |hits, probability| {
                long_tail(hits, trials, probability) <= limit
            });
        }
    }

    #[test]
    fn all_or_nothing_has_a_closed_form() {
        // All of a million: β^(1/n), which is 1 − ln(1/β)/n and a little more.
        let [low, high] = [
            at_least(1_000_000, 1_000_000, failure("1e-9")),
            at_most(0, 1_000_000, failure("1e-9")),
        ];
        assert!((low - (1.0 - 20.723e-6)).abs() < 1e-9, "{low}");
        assert!((high - 20.723e-6).abs() < 1e-9, "{high}");
        // β/n and a little more, for one hit.
        let one = at_least(1, 1_000_000, failure("1e-9"));
        assert!((one - 1e-15).abs() < 1e-20, "{one}");
    }

    #[test]
    fn stirling_errors_are_enclosed() {
        let half = oracle::real(0.5);
        let two_pi = oracle::real(2.0) * Real::pi(256);
        let mut log_factorial = oracle::real(0.0);
        for m in 1..=200_u32 {
            let number = oracle::whole(m.into());
            let log = oracle::ln(&number);
            log_factorial += &log;
            let truth =
                &log_factorial - (&number + &half) * log + &number - oracle::ln(&two_pi) * &half;
            let found = stirling_error(m);
            let [low, high] = [found.low(), found.high()].map(oracle::real);
            assert!(low <= truth && truth <= high, "{m}: {found:?}");
            assert!(high - low < oracle::real(1e-11), "{m}: {found:?}");
        }
    }
}
