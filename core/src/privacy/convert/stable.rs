//! Expressions whose terms cancel, written so that nothing does.

use crate::number::Interval;

/// `1 − e^−x`, precise near zero.
pub(crate) fn rest(x: Interval) -> Interval {
    -(-x).exp_m1()
}

/// `e^x − 1 − x`, precise near zero.
pub(crate) fn exp_m1_less_linear(x: Interval) -> Interval {
    /// 0.5^20/20! = 4e-25, of a result of x²/2.
    const TERMS: u32 = 20;
    if x.low().abs().max(x.high().abs()) > 0.5 {
        return x.exp_m1() - x;
    }
    // x²/2 · (1 + x/3 · (1 + x/4 · (… (1 + x/TERMS · rest)))), where the rest, 1 + x/21 + …, is
    // within 1 ± 0.03.
    let rest = Interval::between(0.9, 1.1);
    let series = (3..=TERMS).rev().fold(rest, |rest, divisor| {
        Interval::ONE + x / Interval::from(divisor) * rest
    });
    x.square() / Interval::TWO * series
}

/// `α (1 − e^−ay) − a (1 − e^−αy)`, where α = 1 + a: about aαy²/2 near zero, and never negative.
pub(crate) fn bend(excess: Interval, y: Interval) -> Interval {
    let order = Interval::ONE + excess;
    let (less, more) = (excess * y, order * y);
    if more.low().abs().max(more.high().abs()) <= 0.5 {
        return excess * order * y.square() * bend_series(less, more);
    }
    let value = if excess.high() < 1.0 {
        order * rest(less) - excess * rest(more)
    } else {
        // The same, in which terms of the size of α cancel exactly.
        rest(more) - order * (-less).exp() * rest(y)
    };
    value.max(Interval::ZERO)
}

/// `Σ_m (−1)^(m+1) P_m/(m+1)!` over m ≥ 1, where P_m = (B^m − A^m)/(B − A) for A = ay and B = αy up
/// to 1/2: the series of [`bend`] divided by aαy².
fn bend_series(less: Interval, more: Interval) -> Interval {
    const TERMS: u32 = 20;
    let (mut sum, mut term) = (Interval::ZERO, Interval::ONE);
    let (mut power, mut factorial) = (Interval::ONE, Interval::ONE);
    for m in 1..=TERMS {
        factorial = factorial * Interval::from(m + 1);
        let part = term / factorial;
        sum = if m % 2 == 1 { sum + part } else { sum - part };
        // P_(m+1) = B·P_m + A^m.
        power = power * less;
        term = more * term + power;
    }
    // |P_m| ≤ m/2^(m−1), so what is left is below 21/2^20/22! < 1e-25.
    sum + Interval::between(-1e-24, 1e-24)
}

/// `sinh(y)/y − sinh(x)/x` for 0 ≤ x ≤ y ≤ 1, where `difference` is y² − x².
pub(crate) fn sinh_ratio_rise(x: Interval, y: Interval, difference: Interval) -> Interval {
    const TERMS: u32 = 12;
    // Σ_k (y^2k − x^2k)/(2k+1)! over k ≥ 1, each divided by y² − x².
    let (small, large) = (x.square(), y.square());
    let (mut sum, mut term) = (Interval::ZERO, Interval::ONE);
    let (mut power, mut factorial) = (Interval::ONE, Interval::ONE);
    for k in 1..=TERMS {
        factorial = factorial * Interval::from(2 * k) * Interval::from(2 * k + 1);
        sum = sum + term / factorial;
        power = power * small;
        term = large * term + power;
    }
    // Terms are at most k/(2k+1)!, and 13/27! < 2e-27.
    difference * (sum + Interval::between(0.0, 1e-26))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::oracle::{abs, exp, real};
    use proptest::prelude::*;

    /// Contains the truth, and is no wider than 1e-11 of it.
    #[track_caller]
    fn encloses(interval: Interval, truth: &crate::tests::oracle::Real) {
        let (low, high) = (real(interval.low()), real(interval.high()));
        assert!(low <= *truth && *truth <= high, "{interval:?} {truth}");
        assert!(
            high - low <= abs(truth) * real(1e-11),
            "{interval:?} is wide"
        );
    }

    proptest! {
        #[test]
        fn nothing_cancels(log_excess in -20.0..20.0_f64, log_size in -18.0..5.0_f64) {
            let (a, size) = (log_excess.exp(), log_size.exp());
            let (excess, alpha) = (real(a), real(a) + real(1.0));
            // y such that αy is the size.
            let y = size / (1.0 + a);
            let one = real(1.0);
            let part = |factor: &crate::tests::oracle::Real| &one - exp(&-(factor * real(y)));
            let truth = &alpha * part(&excess) - &excess * part(&alpha);
            encloses(bend(Interval::exactly(a), Interval::exactly(y)), &truth);
            for x in [y, -y] {
                let truth = exp(&real(x)) - real(1.0) - real(x);
                encloses(exp_m1_less_linear(Interval::exactly(x)), &truth);
            }
        }

        #[test]
        fn hyperbolic_sines_are_enclosed(y in 1e-9..1.0_f64, share in 0.0..1.0_f64) {
            let x = share * y;
            let ratio = |x: f64| {
                let x = real(x);
                if x == real(0.0) { real(1.0) } else { (exp(&x) - exp(&-&x)) / (real(2.0) * x) }
            };
            let difference = Interval::exactly(y).square() - Interval::exactly(x).square();
            let given = sinh_ratio_rise(Interval::exactly(x), Interval::exactly(y), difference);
            let truth = ratio(y) - ratio(x);
            prop_assert!(real(given.low()) <= truth && truth <= real(given.high()));
        }
    }
}
