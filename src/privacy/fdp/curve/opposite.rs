//! Poisson sampling, where a row is replaced by one that moves the sum in the opposite direction.

use super::super::tail::tail;
use super::{Point, best, gaussian, trivial};
use crate::number::{Delta, Interval, Mu};

/// The profile of (1 − q)N(0, 1) + qN(μ, 1) against (1 − q)N(0, 1) + qN(−μ, 1), at γ = e^s. The two
/// directions are reflections of each other.
///
/// P/Q rises, so the best event is x > t, where P = γQ. With u = e^(μt) and w = e^(−μ²/2) that is
/// qwu² − (1 − q)(γ − 1)u − γqw = 0, whose positive root is √γ·e^(arsinh z), with
/// z = (1 − q)/q · e^(μ²/2) · sinh(s/2). Heights are enclosed to about 1e-14, and not to a share of what
/// they are: for a small μ, tails that are close together are subtracted.
pub(super) fn at(rate: Delta, mu: Mu, s: Interval) -> Point {
    if rate == Delta::ZERO || mu == Mu::ZERO {
        return best(trivial(s));
    }
    if rate == Delta::ONE
        && let Some(apart) = mu.checked_mul(2)
    {
        return gaussian::plain(apart, s);
    }
    let (q, rest) = (
        Interval::from(rate),
        Interval::from(Delta::ONE.saturating_sub(rate)),
    );
    let mu = Interval::from(mu);
    let half = s / Interval::TWO;
    let threshold = (half + arsinh(rest / q, mu.square() / Interval::TWO, half)) / mu;
    let (near, middle, far) = (tail(threshold - mu), tail(threshold), tail(threshold + mu));
    let power = rest * middle + q * near;
    let height = q * (near - s.exp() * far) - rest * s.exp_m1() * middle;
    Point {
        // Where e^s overflows, the power alone is still a bound.
        height: Interval::between(height.low(), height.high().min(power.high())),
        slope: rest * middle + q * far,
    }
}

/// arsinh(factor · e^exponent · sinh x), where the product may be too large to hold.
fn arsinh(factor: Interval, exponent: Interval, x: Interval) -> Interval {
    // Odd, and rising in x: bound by bound.
    let at = |x: f64| {
        let sine = size(factor, exponent, Interval::exactly(x.abs()));
        if x < 0.0 { -sine } else { sine }
    };
    Interval::between(at(x.low()).low(), at(x.high()).high())
}

/// The same for x ≥ 0.
fn size(factor: Interval, exponent: Interval, x: Interval) -> Interval {
    if x.high() == 0.0 {
        return Interval::ZERO;
    }
    // sinh x = e^x · (1 − e^(−2x))/2.
    let log = factor.ln() + exponent + x + (-(-(x + x)).exp_m1()).ln() - Interval::TWO.ln();
    if log.low() > 20.0 {
        // arsinh z is ln 2z + at most 1/(4z²).
        return log + Interval::TWO.ln() + Interval::between(0.0, 1e-17);
    }
    let z = log.exp();
    // z + √(1 + z²) − 1 = z + z²/(1 + √(1 + z²)).
    let square = z.square();
    (z + square / (Interval::ONE + (Interval::ONE + square).sqrt())).ln_1p()
}
