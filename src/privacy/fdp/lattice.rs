//! Losses that are multiples of a step, and where on them a curve is evaluated.

use super::curve::Curve;
use super::{Adjacency, FdpError};
use crate::number::{Delta, Epsilon, Interval};
use crate::privacy::convert::search::bisect;

/// e^600 and e^-600 are floats with all their digits, and so are products of them with 1e-30.
const FARTHEST: f64 = 600.0;

/// The multiples of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Lattice {
    step: Epsilon,
    /// The step, enclosed.
    size: Interval,
}

impl Lattice {
    pub(super) fn new(step: Epsilon) -> Result<Self, FdpError> {
        let size = Interval::from(step);
        if (1e-9..=1.0).contains(&size.middle()) {
            Ok(Self { step, size })
        } else {
            Err(FdpError::Step { step })
        }
    }

    pub(super) fn step(self) -> Epsilon {
        self.step
    }

    /// The loss at an index, enclosed. Indices are far below 2^53.
    pub(super) fn loss(self, index: i64) -> Interval {
        Interval::exactly(index as f64) * self.size
    }

    /// The loss at an index, to within two units in the last place.
    pub(super) fn about(self, index: i64) -> f64 {
        index as f64 * self.size.middle()
    }

    /// e^(right) − e^(left), enclosed.
    pub(super) fn gap(self, left: i64, right: i64) -> Interval {
        self.loss(left).exp() * self.loss(right - left).exp_m1()
    }

    /// The index just below a loss.
    pub(super) fn floor(self, loss: f64) -> i64 {
        libm::floor(loss / self.size.middle()) as i64
    }

    /// Where to evaluate a curve: from where nearly nothing is lost on the left to where nearly
    /// nothing is left on the right. Close together around zero and the kinks, and farther apart
    /// with the distance from them, `1/spread` of it.
    ///
    /// Any choice gives valid bounds.
    pub(super) fn nodes(
        self,
        curve: &Curve,
        direction: Adjacency,
        tail: f64,
        spread: u32,
    ) -> Result<Vec<i64>, FdpError> {
        let right = self.reach(curve, direction, tail)?;
        let left = -self.reach(curve, direction.reversed(), tail)?;
        let mut nodes = vec![left, right];
        let kinks = curve.kinks(direction);
        let anchors = kinks.iter().map(|kink| self.floor(*kink));
        for anchor in anchors.chain([0]) {
            for sign in [-1, 1] {
                let mut distance = 0;
                // Both neighbours of a kink, so that it lies in a narrow cell.
                let start = if sign < 0 { anchor } else { anchor + 1 };
                while (left..=right).contains(&(start + sign * distance)) {
                    nodes.push(start + sign * distance);
                    distance += (distance / i64::from(spread)).max(1);
                }
            }
        }
        nodes.push(0);
        nodes.sort_unstable();
        nodes.dedup();
        Ok(nodes)
    }

    /// The first place, roughly, where at most `tail` of the profile is left.
    fn reach(self, curve: &Curve, direction: Adjacency, tail: f64) -> Result<i64, FdpError> {
        let infinite = curve.infinite(direction).high();
        let is_far = |index: i64| {
            let height = curve.at(direction, self.loss(index)).height.high();
            // The probability of an infinite loss is known up to rounding.
            height - infinite <= tail + 8.0 * f64::EPSILON * infinite
        };
        let most = self.floor(FARTHEST);
        let mut high = 1;
        while !is_far(high) {
            if high >= most {
                let tail = Interval::exactly(tail).up().unwrap_or(Delta::ONE);
                return Err(FdpError::TooFar { tail });
            }
            high = (2 * high).min(most);
        }
        let near = |high: i64, low: i64| high - low <= 1 + high / 64;
        let (high, _) = bisect(high, high / 2, near, is_far);
        Ok(high + 1)
    }
}
