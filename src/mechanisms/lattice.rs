//! The lattice to which real numbers are rounded before they are added up.

use super::MechanismError;
pub(super) use crate::data::clip::LARGEST;

/// The lattice to which coordinates are rounded, and the largest length of a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Lattice {
    /// Coordinates are multiples of 2 to this power, from −500 to 500.
    pub exponent: i32,
    /// The length that vectors are clipped to, in such steps: from 1 to 2^50.
    pub radius: u64,
}

/// Sums are cut off at this number of steps.
const FAR: i128 = 1 << 120;

/// Between these the steps are ordinary floats, as are sums of them.
pub(super) const EXPONENTS: std::ops::RangeInclusive<i32> = -500..=500;

impl Lattice {
    /// The radius, if both numbers are in their ranges.
    pub(super) fn checked_radius(&self) -> Result<i64, MechanismError> {
        if !EXPONENTS.contains(&self.exponent) {
            return Err(MechanismError::BadExponent);
        }
        let radius = i64::try_from(self.radius).ok();
        let radius = radius.filter(|radius| (1..=LARGEST).contains(radius));
        radius.ok_or(MechanismError::BadRadius)
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
