//! Poisson sampling: the mechanism sees the person with probability q.

use super::{Curve, Direction, Point, best, trivial};
use crate::number::{Delta, Interval};

/// The profile of (1−q)Q + qP against Q, or the other way round, at γ = e^s.
///
/// Remove: (1−q)Q + qP − γQ = q(P − γ′Q) with γ′ = 1 + (γ−1)/q. Where γ′ ≤ 0 the best event is
/// everything. Add: Q − γ((1−q)Q + qP) = w(Q − γ″P) with w = 1 − γ(1−q) and γ″ = γq/w. Where w ≤ 0
/// the best event is nothing. (Zhu, Dong, Wang 2022.)
pub(super) fn at(rate: Delta, base: &Curve, direction: Direction, s: Interval) -> Point {
    if rate == Delta::ZERO {
        return best(trivial(s));
    }
    let rate = Interval::from(rate);
    match direction {
        Direction::Remove => {
            let excess = s.exp_m1() / rate;
            if excess.high() <= -1.0 {
                return best(trivial(s));
            }
            let point = base.at(direction, logarithm(excess));
            let sampled = Point {
                height: rate * point.height,
                slope: point.slope,
            };
            if excess.low() > -1.0 {
                sampled
            } else {
                best(std::iter::once(sampled).chain(trivial(s)))
            }
        }
        Direction::Add => {
            let odds = s.exp();
            let weight = rate * odds - s.exp_m1();
            if weight.low() <= 0.0 {
                // At most w, if that is positive at all.
                return Point {
                    height: Interval::between(0.0, weight.high().max(0.0)),
                    slope: Interval::between(0.0, if weight.high() > 0.0 { 1.0 } else { 0.0 }),
                };
            }
            let inner = odds * rate / weight;
            let point = base.at(direction, inner.ln());
            // P(A) is the inner slope, and Q(A) = height + γ″P(A).
            let power = point.height + inner * point.slope;
            let slope = (Interval::ONE - rate) * power + rate * point.slope;
            Point {
                height: weight * point.height,
                slope,
            }
        }
    }
}

/// ln(1 + x), where the lower end of x may be −1 or less.
fn logarithm(excess: Interval) -> Interval {
    let low = if excess.low() > -1.0 {
        excess.ln_1p().low()
    } else {
        f64::NEG_INFINITY
    };
    Interval::between(low, excess.ln_1p().high())
}

/// Where the base has kinks, and the smallest loss, ln(1−q).
pub(super) fn kinks(rate: Delta, base: &Curve, direction: Direction) -> Vec<f64> {
    let rate = Interval::from(rate).middle();
    let lowest = (rate < 1.0).then(|| libm::log1p(-rate));
    base.kinks(Direction::Remove)
        .into_iter()
        .map(|loss| libm::log1p(rate * libm::expm1(loss)))
        .chain(lowest)
        .filter(|loss| loss.is_finite())
        .map(|loss| match direction {
            Direction::Remove => loss,
            Direction::Add => -loss,
        })
        .collect()
}
