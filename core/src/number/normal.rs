//! The normal distribution, enclosed.

use super::WideInterval;

/// `1/√(2π)`, to 38 digits.
fn density_at_zero() -> WideInterval {
    const DIGITS: u128 = 39_894_228_040_143_267_793_994_605_993_438_186_847;
    WideInterval::between(DIGITS, DIGITS + 1) / WideInterval::whole(10_u128.pow(38))
}

/// Where the series is used, and not the continued fraction: here the series cancels at most nine
/// bits; beyond, the fraction needs few terms.
fn is_near(t: WideInterval) -> bool {
    t.certainly_at_most(WideInterval::whole(3))
}

/// φ(t), the density.
pub fn density(t: WideInterval) -> WideInterval {
    density_at_zero() * (t * t).half().exp_of_minus()
}

/// Φ(−t)/φ(t), Mills' ratio.
pub fn mills(t: WideInterval) -> WideInterval {
    match (t * t).half().exp() {
        // 1/(2φ(t)) − (Φ(t) − ½)/φ(t).
        Some(power) if is_near(t) => power / (density_at_zero() + density_at_zero()) - series(t),
        _ => fraction(t),
    }
}

/// Φ(t) − ½.
pub fn above_half(t: WideInterval) -> WideInterval {
    if is_near(t) {
        density(t) * series(t)
    } else {
        WideInterval::whole(1).half() - density(t) * fraction(t)
    }
}

/// Φ(−t).
pub fn tail(t: WideInterval) -> WideInterval {
    density(t) * mills(t)
}

/// `(Φ(t) − ½)/φ(t) = t + t³/3 + t⁵/15 + …` for t up to 3: every term is t²/(2k+1) times the one
/// before.
fn series(t: WideInterval) -> WideInterval {
    /// The last term is 9^60/121!! < 2^-140 of the first.
    const LAST: u128 = 121;
    let square = t * t;
    // The rest, 1 + t²/123 + …, is between 1 and 2.
    let rest = WideInterval::between(1, 2);
    let sum = (3..=LAST).rev().step_by(2).fold(rest, |rest, odd| {
        WideInterval::whole(1) + square / WideInterval::whole(odd) * rest
    });
    t * sum
}

/// Mills' ratio as Laplace's continued fraction 1/(t + 1/(t + 2/(t + 3/…))), for t from 3.
///
/// Whatever follows a numerator n is at least t and, being t + (n+1)/(at least t), at most
/// t + (n+1)/t: that encloses the rest wherever the fraction is cut off.
fn fraction(t: WideInterval) -> WideInterval {
    // More terms make it narrower, not more certain; the test says how narrow it is.
    let terms = if t.certainly_at_most(WideInterval::whole(6)) {
        200
    } else {
        60
    };
    let first = t + WideInterval::whole(terms) / t;
    let rest = t.hull(first);
    let denominator = (1..terms)
        .rev()
        .fold(rest, |rest, n| t + WideInterval::whole(n) / rest);
    WideInterval::whole(1) / denominator
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::wide_interval::tests::encloses;
    use crate::tests::oracle;
    use proptest::prelude::*;

    #[test]
    fn the_constant_is_right() {
        encloses(density_at_zero(), &oracle::density(&oracle::real(0.0)), 120);
    }

    #[track_caller]
    fn is_enclosed_at(t: f64) {
        let wide =
            WideInterval::whole((t * 2_f64.powi(100)) as u128) / WideInterval::whole(1 << 100);
        let t = oracle::real(t);
        encloses(density(wide), &oracle::density(&t), 90);
        encloses(tail(wide), &oracle::tail(&t), 90);
        encloses(mills(wide), &(oracle::tail(&t) / oracle::density(&t)), 90);
        encloses(
            above_half(wide),
            &(oracle::real(0.5) - oracle::tail(&t)),
            90,
        );
    }

    #[test]
    fn it_is_enclosed_on_either_side_of_every_change_of_method() {
        for t in [1e-12, 0.5, 1.0, 2.5, 3.0, 3.001, 6.0, 6.001, 12.0, 30.0] {
            is_enclosed_at(t);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn the_normal_distribution_is_enclosed(
            t in prop_oneof![0.001..3.0, 2.9..6.1, 6.0..13.0, 13.0..30.0, 1e-12..1e-3_f64],
        ) {
            is_enclosed_at(t);
        }
    }
}
