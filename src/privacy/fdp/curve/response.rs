//! Randomized response, and (ε, δ).

use super::{Point, best, trivial};
use crate::number::Interval;
use crate::privacy::EpsilonDelta;

/// With probability δ the answer reveals everything, otherwise it is randomized response: δ + (1−δ)
/// · (e^ε − γ)⁺/(1 + e^ε), the largest profile that (ε, δ)-DP allows (Kairouz, Oh, Viswanath 2015).
pub(super) fn at(loss: EpsilonDelta, s: Interval) -> Point {
    let (epsilon, delta) = (Interval::from(loss.epsilon), Interval::from(loss.delta));
    let lie = (-epsilon).exp();
    let below = Interval::ONE + lie;
    let truth = Point {
        height: -(s - epsilon).exp_m1() / below,
        slope: lie / below,
    };
    let response = best(std::iter::once(truth).chain(trivial(s)));
    let rest = Interval::ONE - delta;
    Point {
        height: delta + rest * response.height,
        slope: rest * response.slope,
    }
}
