//! Poisson sampling: the mechanism sees the person with probability q.

use super::{Adjacency, Curve, Point, best, trivial};
use crate::number::{Delta, Interval};

/// The profile of (1−q)Q + qP against Q, or the other way round, at γ = e^s.
///
/// Remove: (1−q)Q + qP − γQ = q(P − γ′Q) with γ′ = 1 + (γ−1)/q. Where γ′ ≤ 0 the best event is
/// everything. Add: Q − γ((1−q)Q + qP) = w(Q − γ″P) with w = 1 − γ(1−q) and γ″ = γq/w. Where w ≤ 0
/// the best event is nothing. (Zhu, Dong, Wang 2022.)
///
/// Next to a rate of 1, e^s may be far more than 1/q or far less than 1, and 1 − q is far less than a
/// float's last digit of q. So 1 − q is taken exactly, and both γ′ and w are written such that nothing
/// but their own ends cancels: qγ′ = γ − (1 − q) where γ is small, and w = q − (γ − 1)(1 − q).
pub(super) fn at(rate: Delta, base: &Curve, direction: Adjacency, s: Interval) -> Point {
    if rate == Delta::ZERO {
        return best(trivial(s));
    }
    if rate == Delta::ONE {
        return base.at(direction, s);
    }
    let rest = Interval::from(Delta::ONE.saturating_sub(rate));
    let rate = Interval::from(rate);
    match direction {
        Adjacency::Remove => {
            let inner = if s.high() < -1.0 {
                logarithm((s.exp() - rest) / rate, 0.0, Interval::ln)
            } else {
                logarithm(s.exp_m1() / rate, -1.0, Interval::ln_1p)
            };
            let Some(inner) = inner else {
                return best(trivial(s));
            };
            let point = base.at(direction, inner);
            let sampled = Point {
                height: rate * point.height,
                slope: point.slope,
            };
            if inner.low() > f64::NEG_INFINITY {
                sampled
            } else {
                best(std::iter::once(sampled).chain(trivial(s)))
            }
        }
        Adjacency::Add => {
            let odds = s.exp();
            let weight = rate - s.exp_m1() * rest;
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
            let slope = rest * power + rate * point.slope;
            Point {
                height: weight * point.height,
                slope,
            }
        }
    }
}

/// The logarithm of a number that ends at `end`, where its lower bound may be there or beyond; `None` if
/// all of it is.
fn logarithm(number: Interval, end: f64, ln: fn(Interval) -> Interval) -> Option<Interval> {
    if number.high() <= end {
        return None;
    }
    let low = if number.low() > end {
        ln(number).low()
    } else {
        f64::NEG_INFINITY
    };
    Some(Interval::between(
        low,
        ln(Interval::exactly(number.high())).high(),
    ))
}

/// Where the base has kinks, and the smallest loss, ln(1−q).
pub(super) fn kinks(rate: Delta, base: &Curve, direction: Adjacency) -> Vec<f64> {
    let rest = Interval::from(Delta::ONE.saturating_sub(rate)).middle();
    let rate = Interval::from(rate).middle();
    let lowest = if rate < 0.5 {
        libm::log1p(-rate)
    } else {
        libm::log(rest)
    };
    base.kinks(Adjacency::Remove)
        .into_iter()
        .map(|loss| libm::log1p(rate * libm::expm1(loss)))
        .chain([lowest])
        .filter(|loss| loss.is_finite())
        .map(|loss| match direction {
            Adjacency::Remove => loss,
            Adjacency::Add => -loss,
        })
        .collect()
}
