//! Exact squares: where parameters add up as squares, their sum must be exact too.

use super::{Quantity, Unit};

/// A sum of squares of quantities, in squared units, held in 256 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Square {
    // The order of the fields makes the derived order that of the numbers.
    high: u128,
    low: u128,
}

impl Square {
    pub(crate) fn of<U: Unit>(quantity: Quantity<U>) -> Self {
        Self::of_units(quantity.units())
    }

    pub(crate) fn of_units(units: u128) -> Self {
        let (low, high) = units.carrying_mul(units, 0);
        Self { high, low }
    }

    /// The largest.
    pub(crate) const MAX: Self = Self {
        high: u128::MAX,
        low: u128::MAX,
    };

    /// So many squared units.
    pub(crate) fn whole(low: u128) -> Self {
        Self { high: 0, low }
    }

    /// The upper and the lower 128 bits.
    pub(crate) fn halves(self) -> (u128, u128) {
        (self.high, self.low)
    }

    pub(crate) fn to_u128(self) -> Option<u128> {
        (self.high == 0).then_some(self.low)
    }

    pub(crate) fn checked_mul(self, factor: u128) -> Option<Self> {
        let (low, carry) = self.low.carrying_mul(factor, 0);
        let high = self.high.checked_mul(factor)?.checked_add(carry)?;
        Some(Self { high, low })
    }

    /// Divided by `2^bits`, rounded down, and whether something was cut off.
    pub(crate) fn shift_right(self, bits: u32) -> (Self, bool) {
        let Self { high, low } = self;
        let shifted = match bits {
            0 => self,
            1..128 => Self {
                high: high >> bits,
                low: low >> bits | high << (128 - bits),
            },
            128..256 => Self::whole(high >> (bits - 128)),
            _ => Self::default(),
        };
        let lost = match bits {
            0 => false,
            1..128 => low << (128 - bits) != 0,
            128 => low != 0,
            129..256 => low != 0 || high << (256 - bits) != 0,
            _ => self != Self::default(),
        };
        (shifted, lost)
    }

    pub(crate) fn checked_add(self, other: Self) -> Option<Self> {
        let (low, carry) = self.low.overflowing_add(other.low);
        let high = self
            .high
            .checked_add(other.high)?
            .checked_add(u128::from(carry))?;
        Some(Self { high, low })
    }

    pub(crate) fn checked_sub(self, other: Self) -> Option<Self> {
        let (low, borrow) = self.low.overflowing_sub(other.low);
        let high = self
            .high
            .checked_sub(other.high)?
            .checked_sub(u128::from(borrow))?;
        Some(Self { high, low })
    }

    /// The largest number of units whose square is at most this.
    pub(crate) fn root_down(self) -> u128 {
        // Newton's steps in floating point: the root has at most 128 bits, each step adds about
        // 50 right ones, and the last few units are found by trying.
        let mut root = self.approximately().sqrt() as u128;
        for _ in 0..3 {
            let square = Self::of_units(root);
            let twice = 2.0 * (root as f64).max(1.0);
            root = match self.checked_sub(square) {
                Some(missing) => root.saturating_add((missing.approximately() / twice) as u128),
                None => {
                    let excess = square.checked_sub(self).unwrap_or_default();
                    root.saturating_sub((excess.approximately() / twice) as u128)
                }
            };
        }
        while Self::of_units(root) > self {
            root -= 1;
        }
        while let Some(next) = root.checked_add(1)
            && Self::of_units(next) <= self
        {
            root = next;
        }
        root
    }

    /// The smallest number of units whose square is at least this; `None` if it needs 129 bits.
    pub(crate) fn root_up(self) -> Option<u128> {
        let root = self.root_down();
        if Self::of_units(root) == self {
            Some(root)
        } else {
            root.checked_add(1)
        }
    }

    /// Half of this in units of `10^-decimals`, rounded up, if the squared units are
    /// `10^-2·decimals`; `None` if it needs more than 128 bits.
    pub(crate) fn half_in_units(self, decimals: u32) -> Option<u128> {
        let divisor = 2 * 10_u128.pow(decimals);
        if self.high / divisor != 0 {
            return None;
        }
        let (quotient, rest) = self.divided_by(divisor);
        quotient.checked_add(u128::from(rest != 0))
    }

    /// Quotient and rest, for a divisor of fewer than 128 bits; the upper 128 bits of the
    /// quotient are lost.
    pub(crate) fn divided_by(self, divisor: u128) -> (u128, u128) {
        // Long division, bit by bit: the rest stays below the divisor, so one more bit fits.
        let (mut quotient, mut rest) = (0_u128, self.high % divisor);
        for bit in (0..128).rev() {
            rest = (rest << 1) | ((self.low >> bit) & 1);
            quotient <<= 1;
            if rest >= divisor {
                rest -= divisor;
                quotient |= 1;
            }
        }
        (quotient, rest)
    }

    fn approximately(self) -> f64 {
        self.high as f64 * 2_f64.powi(128) + self.low as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn number(high: u128, low: u128) -> Square {
        Square { high, low }
    }

    #[test]
    fn small_roots() {
        for (square, down, up) in [
            (0, 0, 0),
            (1, 1, 1),
            (2, 1, 2),
            (3, 1, 2),
            (4, 2, 2),
            (99, 9, 10),
            (100, 10, 10),
        ] {
            assert_eq!(number(0, square).root_down(), down);
            assert_eq!(number(0, square).root_up(), Some(up));
        }
    }

    #[test]
    fn the_largest_root() {
        assert_eq!(number(u128::MAX, u128::MAX).root_down(), u128::MAX);
        assert_eq!(number(u128::MAX, u128::MAX).root_up(), None);
        assert_eq!(Square::of_units(u128::MAX).root_up(), Some(u128::MAX));
    }

    #[test]
    fn carries_and_borrows() {
        let big = number(0, u128::MAX);
        assert_eq!(big.checked_add(number(0, 1)), Some(number(1, 0)));
        assert_eq!(number(1, 0).checked_sub(number(0, 1)), Some(big));
        assert_eq!(number(1, 0).checked_sub(number(1, 1)), None);
        assert_eq!(number(u128::MAX, 0).checked_add(number(1, 0)), None);
        assert_eq!(number(u128::MAX, u128::MAX).checked_add(number(0, 1)), None);
    }

    #[test]
    fn shifts_say_what_they_cut_off() {
        let one = number(0, 1);
        assert_eq!(number(6, 0).shift_right(129), (number(0, 3), false));
        assert_eq!(number(6, 0).shift_right(130), (one, true));
        assert_eq!(number(6, 0).shift_right(128), (number(0, 6), false));
        assert_eq!(number(6, 1).shift_right(128), (number(0, 6), true));
        assert_eq!(number(6, 2).shift_right(1), (number(3, 1), false));
        assert_eq!(number(5, 1).shift_right(1), (number(2, 1 << 127), true));
        assert_eq!(number(6, 2).shift_right(0), (number(6, 2), false));
        assert_eq!(number(6, 2).shift_right(256), (number(0, 0), true));
        assert_eq!(number(0, 0).shift_right(1000), (number(0, 0), false));
    }

    proptest! {
        #[test]
        fn products_and_shifts_undo_each_other(low: u128, bits in 0_u32..128) {
            let product = number(0, low).checked_mul(1 << bits).unwrap();
            prop_assert_eq!(product.shift_right(bits), (number(0, low), false));
            if bits > 0 && low % 2 == 1 {
                prop_assert_eq!(number(0, low).shift_right(bits), (number(0, low >> bits), true));
            }
        }

        #[test]
        fn roots_are_tight(high: u128, low: u128, cut in 0_u32..128) {
            let square = number(high.checked_shr(cut).unwrap_or(0), low);
            let root = square.root_down();
            prop_assert!(Square::of_units(root) <= square);
            if let Some(next) = root.checked_add(1) {
                prop_assert!(Square::of_units(next) > square);
            }
        }

        #[test]
        fn the_root_of_a_square_is_exact(root: u128) {
            prop_assert_eq!(Square::of_units(root).root_down(), root);
            prop_assert_eq!(Square::of_units(root).root_up(), Some(root));
        }
    }
}
