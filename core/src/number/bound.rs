//! Floating-point numbers with 128 bits, rounded one way: the bounds of [`WideInterval`](super::WideInterval).

use std::cmp::Ordering;

use super::U256;

/// `mantissa · 2^exponent`; the mantissa's highest bit is set, except for zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Bound {
    pub(super) mantissa: u128,
    pub(super) exponent: i32,
}

/// Which way a bound is rounded.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Toward {
    Zero,
    Infinity,
}

/// The highest bit.
pub(super) const TOP: u128 = 1 << 127;

impl Bound {
    pub(super) fn whole(number: u128) -> Self {
        if number == 0 {
            return Self::default();
        }
        let shift = number.leading_zeros();
        Self {
            mantissa: number << shift,
            exponent: -(shift as i32),
        }
    }

    /// One unit up, if something was cut off and the rounding asks for it.
    fn rounded(self, cut: bool, toward: Toward) -> Self {
        if !cut || toward == Toward::Zero {
            return self;
        }
        match self.mantissa.checked_add(1) {
            Some(mantissa) => Self { mantissa, ..self },
            None => Self {
                mantissa: TOP,
                exponent: self.exponent + 1,
            },
        }
    }

    pub(super) fn add(self, other: Self, toward: Toward) -> Self {
        let (large, small) = if self >= other {
            (self, other)
        } else {
            (other, self)
        };
        if small.mantissa == 0 {
            return large;
        }
        let (shifted, mut cut) = shift(small.mantissa, large.exponent - small.exponent);
        let (mut mantissa, carry) = large.mantissa.overflowing_add(shifted);
        let mut exponent = large.exponent;
        if carry {
            cut |= mantissa & 1 == 1;
            mantissa = mantissa >> 1 | TOP;
            exponent += 1;
        }
        Self { mantissa, exponent }.rounded(cut, toward)
    }

    /// The difference, or zero where it would be negative.
    pub(super) fn sub(self, other: Self, toward: Toward) -> Self {
        if self <= other {
            return Self::default();
        }
        if other.mantissa == 0 {
            return self;
        }
        let (shifted, cut) = shift(other.mantissa, self.exponent - other.exponent);
        // What was cut off from the subtrahend makes the difference smaller.
        let borrow = u128::from(cut && toward == Toward::Zero);
        let difference = Self::whole(self.mantissa - shifted - borrow);
        Self {
            exponent: difference.exponent + self.exponent,
            ..difference
        }
    }

    pub(super) fn mul(self, other: Self, toward: Toward) -> Self {
        let (low, high) = self.mantissa.carrying_mul(other.mantissa, 0);
        if high == 0 {
            return Self::default();
        }
        let exponent = self.exponent + other.exponent + 128;
        if high & TOP != 0 {
            let product = Self {
                mantissa: high,
                exponent,
            };
            product.rounded(low != 0, toward)
        } else {
            let product = Self {
                mantissa: high << 1 | low >> 127,
                exponent: exponent - 1,
            };
            product.rounded(low << 1 != 0, toward)
        }
    }

    /// The quotient by a number that is not zero.
    pub(super) fn div(self, other: Self, toward: Toward) -> Self {
        if self.mantissa == 0 {
            return self;
        }
        let divisor = other.mantissa;
        let exponent = self.exponent - other.exponent;
        // Both highest bits are set, so the quotient lies between a half and two: 128 bits behind
        // the point are enough, or 127 and the 1 in front of it.
        match self.mantissa.checked_sub(divisor) {
            None => {
                let (mantissa, rest) = fraction(self.mantissa, divisor);
                let exponent = exponent - 128;
                Self { mantissa, exponent }.rounded(rest != 0, toward)
            }
            Some(above) => {
                let (bits, rest) = fraction(above, divisor);
                let (mantissa, exponent) = (TOP | bits >> 1, exponent - 127);
                Self { mantissa, exponent }.rounded(rest != 0 || bits & 1 == 1, toward)
            }
        }
    }

    /// The square root.
    pub(super) fn root(self, toward: Toward) -> Self {
        if self.mantissa == 0 {
            return self;
        }
        // Shifted so that the exponent is even; then the root has its highest bit set, too.
        let (shift, square) = if self.exponent % 2 == 0 {
            (128, U256::from_halves(self.mantissa, 0))
        } else {
            (
                127,
                U256::from_halves(self.mantissa >> 1, self.mantissa << 127),
            )
        };
        let mantissa = square.root_down();
        let exponent = (self.exponent - shift) / 2;
        Self { mantissa, exponent }.rounded(U256::of_units(mantissa) != square, toward)
    }

    /// In units of `10^-decimals`, rounded down, and whether something was cut off.
    pub(super) fn units(self, decimals: u32) -> Option<(u128, bool)> {
        let units = U256::whole(self.mantissa).checked_mul(10_u128.pow(decimals))?;
        if self.exponent > 0 {
            return None;
        }
        let (units, cut) = units.shift_right(self.exponent.unsigned_abs());
        Some((units.to_u128()?, cut))
    }
}

impl PartialOrd for Bound {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Bound {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.mantissa, other.mantissa) {
            (0, mantissa) => 0.cmp(&mantissa),
            (_, 0) => Ordering::Greater,
            _ => (self.exponent, self.mantissa).cmp(&(other.exponent, other.mantissa)),
        }
    }
}

/// Shifted right, and whether something was cut off.
fn shift(mantissa: u128, bits: i32) -> (u128, bool) {
    match bits {
        0 => (mantissa, false),
        1..128 => (mantissa >> bits, mantissa << (128 - bits) != 0),
        _ => (0, mantissa != 0),
    }
}

/// The first 128 binary digits of a proper fraction, and the remainder.
fn fraction(numerator: u128, divisor: u128) -> (u128, u128) {
    let (digits, rest) = U256::from_halves(numerator, 0).div_rem(divisor);
    (digits.halves().1, rest)
}
