//! The lattice to which real numbers are rounded before they are added up.

use super::real_range::LEAST_STEPS;
use super::{About, MechanismError};
pub(super) use crate::data::clip::LARGEST;
use crate::data::steps_of;

/// The lattice to which coordinates are rounded, and the largest length of a vector.
///
/// Noise is as large as the length, whatever the step. So by default steps are fine.
///
/// ```
/// use queryables::mechanisms::Lattice;
///
/// // A length of 1, in steps of 2^-20.
/// assert_eq!(Lattice::of_length(1.0)?, Lattice::in_steps(-20, 1 << 20));
/// # Ok::<(), queryables::mechanisms::MechanismError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Lattice {
    pub(super) exponent: i32,
    pub(super) radius: u64,
    /// Coordinates are said to be multiples of the step.
    exact: bool,
}

/// Sums are cut off at this number of steps.
const FAR: i128 = 1 << 120;

/// Between these the steps are ordinary floats, as are sums of them.
pub(super) const EXPONENTS: std::ops::RangeInclusive<i32> = -500..=500;

/// The exponent of a step is none of them.
pub(super) fn bad_exponent(exponent: i32) -> MechanismError {
    let must = "from -500 to 500";
    MechanismError::parameter("the exponent of the step", exponent, must)
}

impl Lattice {
    /// Vectors are clipped to this length, and coordinates are rounded to steps of about 2^-20 of it.
    /// The length is rounded to steps, too.
    ///
    /// # Errors
    ///
    /// [`MechanismError::BadParameter`] if the length is not a number above zero,
    /// [`MechanismError::BadParameter`] if its step is out of range.
    pub fn of_length(length: f64) -> Result<Self, MechanismError> {
        if !(length > 0.0 && length.is_finite()) {
            let must = "finite and greater than zero";
            return Err(MechanismError::parameter("the length", length, must));
        }
        let exponent = libm::ilogb(length) - 20;
        if !EXPONENTS.contains(&exponent) {
            return Err(bad_exponent(exponent));
        }
        let radius = steps_of(length, libm::scalbn(1.0, -exponent));
        Ok(Self::in_steps(exponent, radius.unsigned_abs()))
    }

    /// Coordinates are multiples of 2 to the power of `exponent`, from −500 to 500, and the length is
    /// `radius` such steps, from 50 to 2^50: a step is at most a hundredth of what a coordinate can be.
    /// This is checked where a mechanism is constructed.
    #[must_use]
    pub const fn in_steps(exponent: i32, radius: u64) -> Self {
        Self {
            exponent,
            radius,
            exact: false,
        }
    }

    /// Coordinates are whole numbers; others are rounded to the nearest one. The length may be small.
    #[must_use]
    pub const fn of_whole_numbers(radius: u64) -> Self {
        Self {
            exponent: 0,
            radius,
            exact: true,
        }
    }

    /// Coordinates are multiples of 2 to the power of `exponent`.
    #[cfg(test)]
    pub(super) const fn of_multiples(exponent: i32, radius: u64) -> Self {
        Self {
            exponent,
            radius,
            exact: true,
        }
    }

    /// The radius, if both numbers are in their ranges.
    pub(super) fn checked_radius(&self) -> Result<i64, MechanismError> {
        if !EXPONENTS.contains(&self.exponent) {
            return Err(bad_exponent(self.exponent));
        }
        let radius = i64::try_from(self.radius).ok();
        let radius = radius.filter(|radius| (1..=LARGEST).contains(radius));
        let radius = radius.ok_or_else(|| {
            let must = "from 1 to 2^50 steps";
            MechanismError::parameter("the radius", self.radius, must)
        })?;
        let steps = 2 * self.radius;
        if !self.exact && steps < LEAST_STEPS {
            return Err(MechanismError::CoarseStep {
                exponent: self.exponent,
                steps,
                least: LEAST_STEPS,
            });
        }
        Ok(radius)
    }

    /// What the sum of vectors is about.
    pub(super) fn about(&self) -> About {
        let length = self.value(self.radius.into());
        let about = About::all_rows().of_multiples(self.exponent);
        about.with(format!("clipped to a length of {length}"))
    }

    pub(super) fn value(&self, steps: i128) -> f64 {
        of_steps(steps, self.exponent)
    }
}

/// This number of steps as a float, cut off at [`FAR`].
///
/// This is postprocessing, and exact: noise that reached the end of an `i128` is still beyond after
/// any sum was added to it, which is 2^114 at most for 2^64 rows.
pub(super) fn of_steps(steps: i128, exponent: i32) -> f64 {
    libm::scalbn(steps.clamp(-FAR, FAR) as f64, exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_added_to_endless_noise_is_not_seen() {
        let rows = i128::from(LARGEST) << 64;
        for end in [i128::MAX, i128::MAX - rows] {
            assert_eq!(of_steps(end, -120), 1.0);
            assert_eq!(of_steps(-end, -120), -1.0);
        }
        assert_eq!(of_steps(-3, 2), -12.0);
    }
}
