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

/// The most steps of which single ones are told apart: the place of the best answer is computed to within
/// a hundredth of a step, as a float has 53 digits.
pub(in super::super) const MOST_STEPS: u64 = 1 << 44;

/// With s₁ = ε/d, r = e^-s₁ and answers k or larger, for k from 1 to d: P(A) = 1 − r^(d−k+1)/(1+r) and
/// Q(A) = r^k/(1+r), by geometric series. The loss of answer k is (2k−d)s₁, so the best k is the
/// first with k > (s/s₁ + d)/2; its neighbours cover the rounding of that.
pub(super) fn discrete(epsilon: Epsilon, steps: u64, s: Interval) -> Point {
    if epsilon == Epsilon::ZERO || steps == 0 {
        return best(trivial(s));
    }
    // Exactly a float, up to the most steps.
    let last = steps as f64;
    let each = Interval::from(epsilon) / Interval::exactly(last);
    let place = 0.5 * (s / each).middle() + 0.5 * last;
    let first = libm::floor(place) + 1.0;
    let below = Interval::ONE + (-each).exp();
    best(
        (-1..=1)
            .map(|offset| (first + f64::from(offset)).clamp(1.0, last))
            .map(|k| {
                let missed = (-each * Interval::exactly(last - k + 1.0)).exp() / below;
                let alarm = -each * Interval::exactly(k);
                Point {
                    height: Interval::ONE - missed - (s + alarm).exp() / below,
                    slope: alarm.exp() / below,
                }
            })
            .chain(trivial(s)),
    )
}
