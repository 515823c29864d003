//! Laplace noise, on the line and on the integers.

use super::{Point, best, trivial};
use crate::number::{Epsilon, Interval};

/// 1 − e^((s−ε)/2) between −ε and ε: the event below the place where the loss is s. Outside, that
/// expression is less than what the trivial events give.
pub(super) fn plain(epsilon: Epsilon, s: Interval) -> Point {
    let (half, epsilon) = (Interval::exactly(0.5), Interval::from(epsilon));
    let between = Point {
        height: -((s - epsilon) * half).exp_m1(),
        slope: (-(s + epsilon) * half).exp() * half,
    };
    best(std::iter::once(between).chain(trivial(s)))
}

/// With r = e^-ε and answers k or larger, for k from 1 to d: P(A) = 1 − r^(d−k+1)/(1+r) and
/// Q(A) = r^k/(1+r), by geometric series. The loss of answer k is (2k−d)ε, so the best k is the
/// first with k > (s/ε + d)/2; its neighbours cover the rounding of that.
pub(super) fn discrete(epsilon: Epsilon, steps: u32, s: Interval) -> Point {
    if epsilon == Epsilon::ZERO || steps == 0 {
        return best(trivial(s));
    }
    let epsilon = Interval::from(epsilon);
    let last = f64::from(steps);
    let place = 0.5 * (s / epsilon).middle() + 0.5 * last;
    let first = libm::floor(place) + 1.0;
    let below = Interval::ONE + (-epsilon).exp();
    best(
        (-1..=1)
            .map(|offset| (first + f64::from(offset)).clamp(1.0, last))
            .map(|k| {
                let missed = (-epsilon * Interval::exactly(last - k + 1.0)).exp() / below;
                let alarm = -epsilon * Interval::exactly(k);
                Point {
                    height: Interval::ONE - missed - (s + alarm).exp() / below,
                    slope: alarm.exp() / below,
                }
            })
            .chain(trivial(s)),
    )
}
