//! Gaussian noise, as it is and rounded.

use super::super::tail::tail;
use super::{Point, best, trivial};
use crate::number::{Interval, Mu, Scale};

/// Φ(−s/μ + μ/2) − e^s Φ(−s/μ − μ/2) (Dong, Roth, Su 2022, Cor. 2.13).
pub(super) fn plain(mu: Mu, s: Interval) -> Point {
    if mu == Mu::ZERO {
        return best(trivial(s));
    }
    let (middle, half) = (
        s / Interval::from(mu),
        Interval::from(mu) * Interval::exactly(0.5),
    );
    event(middle - half, middle + half, s)
}

/// The event above a threshold, which lies `near` deviations from P's mean and `far` from Q's.
fn event(near: Interval, far: Interval, s: Interval) -> Point {
    let (power, slope) = (tail(near), tail(far));
    let height = power - s.exp() * slope;
    Point {
        // Where e^s overflows, the power alone is still a bound.
        height: Interval::between(height.low(), height.high().min(power.high())),
        slope,
    }
}

/// Rounding keeps only the thresholds halfway between integers. The height rises up to the best
/// threshold of all, x = σ²s/d + d/2, and falls beyond it: so the best one that is left is a
/// neighbour of x. Two more on either side cover the rounding of x.
pub(super) fn rounded(sigma: Scale, steps: u32, s: Interval) -> Point {
    if steps == 0 {
        return best(trivial(s));
    }
    let (sigma, shift) = (Interval::from(sigma), Interval::from(steps));
    let at = sigma * sigma * s / shift + shift * Interval::exactly(0.5);
    // Beyond 2^45 the next integer is no longer certain. With σ and d as they can be held, that is
    // far more than 40σ out, where nothing is left but the trivial events.
    let start = libm::floor(at.middle().clamp(-3e13, 3e13)) + 0.5;
    best(
        (-2..=2)
            .map(|offset| {
                let threshold = Interval::exactly(start + f64::from(offset));
                event((threshold - shift) / sigma, threshold / sigma, s)
            })
            .chain(trivial(s)),
    )
}
