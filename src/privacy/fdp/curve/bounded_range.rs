//! The worst of all laws whose log-ratios lie within an interval of length ε.

use super::{Point, best, trivial};
use crate::number::{Epsilon, Interval};

/// With r(x) = 1 − e^(−x), it is r((ε−s)/2)²/r(ε) between −ε and ε; the proof is in the doc of
/// [`BoundedRange`](crate::privacy::facts::BoundedRange). Its slope there is
/// r((ε−s)/2)·e^(−(ε+s)/2)/r(ε). Beyond either end, what the expression is at that end is no more
/// than what the trivial events give.
pub(super) fn at(range: Epsilon, s: Interval) -> Point {
    if range == Epsilon::ZERO {
        return best(trivial(s));
    }
    let (half, range) = (Interval::exactly(0.5), Interval::from(range));
    let inside = s.max(-range).min(range);
    let part = (-((inside - range) * half).exp_m1()).max(Interval::ZERO);
    let whole = -(-range).exp_m1();
    let between = Point {
        height: part.square() / whole,
        slope: part * (-(inside + range) * half).exp() / whole,
    };
    best(std::iter::once(between).chain(trivial(s)))
}
