//! The numbers that real ones are rounded to before anything is added up.

use super::MechanismError;

/// The numbers that coordinates are rounded to, and how long a vector may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Lattice {
    /// Coordinates are multiples of 2 to this power, from −500 to 500.
    pub exponent: i32,
    /// The length that vectors are clipped to, in such steps: from 1 to 2^50.
    pub radius: u64,
}

/// Coordinates are cut off at so many steps before anything else: then no square is above 2^100.
pub(super) const LARGEST: i64 = 1 << 50;

/// Sums are cut off at so many steps.
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

    pub(super) fn round(&self, coordinate: f64) -> i64 {
        in_steps(coordinate, self.exponent)
    }

    /// A vector in the same direction that is no longer than the radius, rounded toward zero.
    pub(super) fn clip(&self, vector: &mut [i64]) {
        let squares = vector
            .iter()
            .map(|steps| u128::from(steps.unsigned_abs()).pow(2));
        let square: u128 = squares.sum();
        if square <= u128::from(self.radius).pow(2) {
            return;
        }
        // The length, rounded up: what is divided by it is not too long.
        let root = square.isqrt();
        let length = root + u128::from(root * root < square);
        for steps in vector {
            let clipped = i128::from(*steps) * i128::from(self.radius) / length as i128;
            *steps = clipped as i64;
        }
    }

    pub(super) fn value(&self, steps: i128) -> f64 {
        of_steps(steps, self.exponent)
    }
}

/// In steps of 2 to this power, rounded toward zero, up to [`LARGEST`]. Scaling by a power of two is
/// exact, but for numbers that are less than a step anyway; what is not a number is zero.
pub(super) fn in_steps(number: f64, exponent: i32) -> i64 {
    let steps = libm::scalbn(number, -exponent);
    (steps as i64).clamp(-LARGEST, LARGEST)
}

/// So many steps, as far as floats go, and up to [`FAR`].
///
/// This is postprocessing, and exact: noise that reached the end of an `i128` is still beyond after
/// any sum was added to it, which is 2^114 at most for 2^64 rows.
pub(super) fn of_steps(steps: i128, exponent: i32) -> f64 {
    libm::scalbn(steps.clamp(-FAR, FAR) as f64, exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without a cut, five such squares would be too much for a `u128`.
    #[test]
    fn the_largest_coordinates_are_cut_off_before_they_are_squared() {
        let lattice = Lattice {
            exponent: -500,
            radius: 1 << 50,
        };
        let mut vector = [f64::INFINITY, f64::MIN, 1.0, -1.0, f64::MAX].map(|x| lattice.round(x));
        assert_eq!(vector, [1, -1, 1, -1, 1].map(|sign| sign * LARGEST));
        lattice.clip(&mut vector);
        // 2^50/√5, rounded down.
        let clipped = 503_517_745_512_157;
        assert_eq!(vector, [1, -1, 1, -1, 1].map(|sign| sign * clipped));
    }

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
