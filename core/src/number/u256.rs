//! Exact squares: where parameters add up as squares, their sum must be exact too.

use std::num::NonZeroU128;

use super::{Quantity, Unit};

/// A sum of squares of quantities, in squared units, held in 256 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct U256 {
    // The order of the fields makes the derived order that of the numbers.
    high: u128,
    low: u128,
}

impl U256 {
    /// The square of a quantity, in the square of its unit.
    pub fn of<U: Unit>(quantity: Quantity<U>) -> Self {
        Self::of_units(quantity.units())
    }

    /// The square of a number of units.
    pub fn of_units(units: u128) -> Self {
        let (low, high) = units.carrying_mul(units, 0);
        Self { high, low }
    }

    /// The largest.
    pub const MAX: Self = Self {
        high: u128::MAX,
        low: u128::MAX,
    };

    /// This number of squared units.
    pub fn whole(low: u128) -> Self {
        Self { high: 0, low }
    }

    /// Made of its upper and its lower 128 bits.
    pub fn from_halves(high: u128, low: u128) -> Self {
        Self { high, low }
    }

    /// The upper and the lower 128 bits.
    pub fn halves(self) -> (u128, u128) {
        (self.high, self.low)
    }

    /// The number, if 128 bits hold it.
    pub fn to_u128(self) -> Option<u128> {
        (self.high == 0).then_some(self.low)
    }

    /// The product; `None` if it cannot be held.
    pub fn checked_mul(self, factor: u128) -> Option<Self> {
        let (low, carry) = self.low.carrying_mul(factor, 0);
        let high = self.high.checked_mul(factor)?.checked_add(carry)?;
        Some(Self { high, low })
    }

    /// Divided by `2^bits`, rounded down, and whether something was cut off.
    pub fn shift_right(self, bits: u32) -> (Self, bool) {
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

    /// The sum; `None` if it cannot be held.
    pub fn checked_add(self, other: Self) -> Option<Self> {
        let (low, carry) = self.low.overflowing_add(other.low);
        let high = self
            .high
            .checked_add(other.high)?
            .checked_add(u128::from(carry))?;
        Some(Self { high, low })
    }

    /// The difference; `None` if it is negative.
    pub fn checked_sub(self, other: Self) -> Option<Self> {
        let (low, borrow) = self.low.overflowing_sub(other.low);
        let high = self
            .high
            .checked_sub(other.high)?
            .checked_sub(u128::from(borrow))?;
        Some(Self { high, low })
    }

    /// The largest number of units whose square is at most this.
    pub fn root_down(self) -> u128 {
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
    pub fn root_up(self) -> Option<u128> {
        let root = self.root_down();
        if Self::of_units(root) == self {
            Some(root)
        } else {
            root.checked_add(1)
        }
    }

    /// Half of this in units of `10^-decimals`, rounded up, if the squared units are
    /// `10^-2·decimals`; `None` if it needs more than 128 bits.
    pub fn half_in_units(self, decimals: u32) -> Option<u128> {
        let divisor = 2 * 10_u128.pow(decimals);
        let (quotient, rest) = self.div_rem(divisor);
        quotient.to_u128()?.checked_add(u128::from(rest != 0))
    }

    /// The quotient and the remainder by a number that is not zero: schoolbook division in base
    /// 2^64.
    pub fn div_rem(self, divisor: u128) -> (Self, u128) {
        let (high, rest) = (self.high / divisor, self.high % divisor);
        // Scaled so that the divisor's highest bit is set. The rest is below the divisor, so it
        // stays below it, and the lower half of the quotient has two digits.
        let shift = divisor.leading_zeros();
        let divisor = divisor << shift;
        let rest = rest << shift | self.low.checked_shr(128 - shift).unwrap_or(0);
        let low = self.low << shift;
        let (first, rest) = digit(rest, low >> 64, divisor);
        let (second, rest) = digit(rest, low & u128::from(u64::MAX), divisor);
        let low = first << 64 | second;
        (Self { high, low }, rest >> shift)
    }

    fn approximately(self) -> f64 {
        self.high as f64 * 2_f64.powi(128) + self.low as f64
    }
}

/// One digit of a quotient in base 2^64: `(rest · 2^64 + next) / divisor`, and the new rest. The
/// divisor's highest bit is set, and `rest` is below it.
fn digit(rest: u128, next: u128, divisor: u128) -> (u128, u128) {
    let dividend = U256::from_halves(rest >> 64, rest << 64 | next);
    // The guess is never too small, and by no more than 2 too large (Knuth, The Art of Computer
    // Programming, 4.3.1, Theorem B).
    let mut digit = (rest / (divisor >> 64)).min(u128::from(u64::MAX));
    loop {
        let product = U256::whole(divisor).checked_mul(digit).unwrap_or(U256::MAX);
        match dividend.checked_sub(product) {
            Some(rest) => return (digit, rest.low),
            None => digit -= 1,
        }
    }
}

/// The quotient and the remainder of `(factor * other + more) / divisor`, exactly; a quotient that
/// needs more than 128 bits is the largest that there is.
#[inline]
pub fn divide_product(factor: u128, other: u128, more: u128, divisor: NonZeroU128) -> (u128, u128) {
    let divisor = divisor.get();
    let (low, high) = factor.carrying_mul(other, more);
    if let (0, Ok(low), Ok(divisor)) = (high, u64::try_from(low), u64::try_from(divisor)) {
        // The common case, and several times faster.
        return (u128::from(low / divisor), u128::from(low % divisor));
    }
    if high == 0 {
        return (low / divisor, low % divisor);
    }
    let (quotient, rest) = U256 { high, low }.div_rem(divisor);
    (quotient.to_u128().unwrap_or(u128::MAX), rest)
}

/// A decimal string, which no reader rounds.
#[cfg(feature = "serde")]
impl serde::Serialize for U256 {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        /// The number of digits that always fit into 128 bits.
        const DIGITS: usize = 38;
        let (rest, low) = self.div_rem(10_u128.pow(38));
        let (high, middle) = rest.div_rem(10_u128.pow(38));
        // 2^256 has 78 digits.
        let (_, high) = high.halves();
        let text = format!("{high}{middle:0DIGITS$}{low:0DIGITS$}");
        let digits = text.trim_start_matches('0');
        serializer.serialize_str(if digits.is_empty() { "0" } else { digits })
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for U256 {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        let digits = text.bytes().map(|byte| char::from(byte).to_digit(10));
        let number = digits.take(79).try_fold(Self::default(), |number, digit| {
            let tens = number.checked_mul(10)?;
            tens.checked_add(Self::whole(u128::from(digit?)))
        });
        let number = number.filter(|_| !text.is_empty());
        number.ok_or_else(|| {
            serde::de::Error::custom("a sum of squares must be a whole number below 2^256")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dashu_int::UBig;
    use proptest::prelude::*;

    fn number(high: u128, low: u128) -> U256 {
        U256 { high, low }
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
        assert_eq!(U256::of_units(u128::MAX).root_up(), Some(u128::MAX));
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
            prop_assert!(U256::of_units(root) <= square);
            if let Some(next) = root.checked_add(1) {
                prop_assert!(U256::of_units(next) > square);
            }
        }

        #[test]
        fn the_root_of_a_square_is_exact(root: u128) {
            prop_assert_eq!(U256::of_units(root).root_down(), root);
            prop_assert_eq!(U256::of_units(root).root_up(), Some(root));
        }
    }

    proptest! {
        #[test]
        fn it_is_what_big_numbers_say(
            factor: u128, other: u128, more: u128, divisor in 1_u128.., cut in 0_u32..128,
        ) {
            let (factor, divisor) = (factor >> cut, (divisor >> (127 - cut)).max(1));
            let whole = UBig::from(factor) * UBig::from(other) + UBig::from(more);
            let quotient = u128::try_from(&whole / UBig::from(divisor)).unwrap_or(u128::MAX);
            let rest = u128::try_from(&whole % UBig::from(divisor)).unwrap();
            prop_assert_eq!(
                divide_product(factor, other, more, NonZeroU128::new(divisor).unwrap()),
                (quotient, rest)
            );
        }
    }

    #[test]
    fn small_quotients_and_halves() {
        let seven = NonZeroU128::new(7).unwrap();
        assert_eq!(divide_product(3, 5, 2, seven), (2, 3));
        // More than 64 bits, and less than 128: 3·2^70 + 5.
        let expected = (505_967_837_450_319_130_039, 4);
        assert_eq!(divide_product(1 << 70, 3, 5, seven), expected);
        // Half of 3², of 4² and of 0.3², in whole units and in tenths.
        assert_eq!(U256::of_units(3).half_in_units(0), Some(5));
        assert_eq!(U256::of_units(4).half_in_units(0), Some(8));
        assert_eq!(U256::of_units(3).half_in_units(1), Some(1));
        assert_eq!(U256::MAX.half_in_units(0), None);
    }

    #[test]
    fn the_largest_quotients() {
        let most = NonZeroU128::MAX;
        // (2^128 - 1)^2 + (2^128 - 1) = 2^128 (2^128 - 1).
        assert_eq!(
            divide_product(u128::MAX, u128::MAX, u128::MAX, most),
            (u128::MAX, 0)
        );
        assert_eq!(
            divide_product(u128::MAX, u128::MAX, u128::MAX - 1, most),
            (u128::MAX, u128::MAX - 1)
        );
        assert_eq!(
            divide_product(u128::MAX, 2, 1, NonZeroU128::MIN),
            (u128::MAX, 0)
        );
    }
}
