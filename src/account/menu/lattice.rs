//! The points on which profiles are kept: multiples of one step, exactly.

use super::MenuError;
use crate::number::{Epsilon, Interval, Unit, units};

/// How many points are computed side by side; a lattice has a multiple of them.
pub(super) const LANES: usize = 16;

/// The most points that a lattice may have: 2 MB for each curve.
const MOST_POINTS: usize = 1 << 18;

/// The points `k · step`, for k from `low ≤ 0` to `high ≥ 0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lattice {
    step: Epsilon,
    low: i64,
    high: i64,
}

impl Lattice {
    /// The points of a step that reach at least from `−below` to `above`.
    ///
    /// # Errors
    ///
    /// [`MenuError::NoStep`] or [`MenuError::StepTooFine`].
    pub(crate) fn new(step: Epsilon, below: Epsilon, above: Epsilon) -> Result<Self, MenuError> {
        if step == Epsilon::ZERO {
            return Err(MenuError::NoStep);
        }
        let too_fine = || MenuError::StepTooFine { step };
        let count = |reach: Epsilon| {
            let count = reach.units().div_ceil(step.units());
            usize::try_from(count)
                .ok()
                .filter(|count| *count < MOST_POINTS)
        };
        let low = count(below).ok_or_else(too_fine)?;
        let high = count(above).ok_or_else(too_fine)?;
        let len = (low + high + 1).next_multiple_of(LANES);
        if len > MOST_POINTS {
            return Err(too_fine());
        }
        let low = i64::try_from(low).map_err(|_| too_fine())?;
        let len = i64::try_from(len).map_err(|_| too_fine())?;
        Ok(Self {
            step,
            low: -low,
            high: len - 1 - low,
        })
    }

    /// How many points there are.
    pub(crate) fn len(&self) -> usize {
        (self.high - self.low + 1).unsigned_abs() as usize
    }

    pub(crate) fn step(&self) -> Epsilon {
        self.step
    }

    /// About the step, for guesses.
    pub(crate) fn step_middle(&self) -> f64 {
        Interval::from(self.step).middle()
    }

    pub(crate) fn low(&self) -> i64 {
        self.low
    }

    pub(crate) fn high(&self) -> i64 {
        self.high
    }

    /// The points, in order.
    pub(crate) fn points(&self) -> std::ops::RangeInclusive<i64> {
        self.low..=self.high
    }

    /// Where the value of a point is kept.
    pub(crate) fn place(&self, point: i64) -> usize {
        (point.clamp(self.low, self.high) - self.low).unsigned_abs() as usize
    }

    /// `k · step`, enclosed.
    pub(crate) fn at(&self, point: i64) -> Interval {
        // At most 2^18 times a quantity, whose units have fewer than 128 bits in all that is used:
        // a product that does not fit is enclosed in floats instead.
        let size = u128::from(point.unsigned_abs());
        let product = match self.step.units().checked_mul(size) {
            Some(units) => {
                Interval::whole(units) / Interval::whole(10_u128.pow(units::Epsilon::DECIMALS))
            }
            None => Interval::whole(size) * Interval::from(self.step),
        };
        if point < 0 { -product } else { product }
    }

    /// The last point that is at most `epsilon`, and what is left.
    pub(crate) fn below(&self, epsilon: Epsilon) -> (i64, Epsilon) {
        let step = self.step.units();
        let point = i64::try_from(epsilon.units() / step).unwrap_or(i64::MAX);
        let rest = Epsilon::from_units(epsilon.units() % step).unwrap_or_default();
        (point, rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn epsilon(text: &str) -> Epsilon {
        text.parse().unwrap()
    }

    #[test]
    fn the_window_reaches_as_far_as_asked() {
        let lattice = Lattice::new(epsilon("0.01"), epsilon("1"), epsilon("2")).unwrap();
        assert_eq!((lattice.low(), lattice.len() % LANES), (-100, 0));
        assert!(lattice.high() >= 200 && lattice.high() < 200 + LANES as i64);
        assert_eq!(lattice.below(epsilon("0.057")), (5, epsilon("0.007")));
        assert_eq!(lattice.place(-1000), 0);
        assert_eq!(lattice.place(1000), lattice.len() - 1);
        assert!(lattice.at(-3).low() <= -0.03 && lattice.at(-3).high() >= -0.03);
    }

    #[test]
    fn steps_that_cannot_be_used_are_errors() {
        let one = epsilon("1");
        assert_eq!(
            Lattice::new(Epsilon::ZERO, one, one),
            Err(MenuError::NoStep)
        );
        let step = epsilon("1e-6");
        assert_eq!(
            Lattice::new(step, one, one),
            Err(MenuError::StepTooFine { step })
        );
    }
}
