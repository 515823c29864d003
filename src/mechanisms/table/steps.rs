//! Into which steps amounts are divided.

use super::super::RealRange;
use crate::table::Parts;

/// A range has at least 2^20 steps, unless they are too many to scale.
const FINE: i32 = 20;
/// The most rows of a person that a vector may be scaled to: then a row still weighs 2^16 steps.
pub(super) const MOST_ROWS: u64 = 1 << 14;
/// A row weighs 2^16 steps where the vector of a person is scaled, so that dividing loses little.
pub(super) const SCALED_ROW: i32 = -16;

/// The range of a column, as it is stated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stated {
    pub(super) range: RealRange,
    /// Whether the numbers are whole, and so exact in steps of one.
    pub(super) whole: bool,
    /// Whether the caller chose the step.
    pub(super) stepped: bool,
}

impl Stated {
    /// The range in steps: so fine that little is lost by rounding, and so coarse that the vector of a
    /// person with `rows` rows can be scaled, if it is `scaled`.
    pub(super) fn in_steps(self, parts: Parts, rows: u64, scaled: bool) -> RealRange {
        let (low, high) = self.range.stated().into_inner();
        if self.stepped || !scaled {
            return match self.whole {
                true => RealRange::of_multiples(low..=high, 0),
                false => self.range,
            };
        }
        let width = high - low;
        let largest = match parts {
            Parts::Value => low.abs().max(high.abs()),
            Parts::Mean | Parts::Variance => width,
        };
        if !(largest.is_finite() && width > 0.0) {
            // The range says what is wrong with it.
            return self.range;
        }
        // rows · (largest in steps, or its square) is at most 2^31; one bit is for rounding the ends.
        let rows = rows.checked_next_power_of_two().map_or(64, u64::ilog2);
        let bits = 30 - rows.cast_signed();
        let bits = match parts {
            Parts::Variance => bits / 2,
            _ => bits,
        };
        let coarse = libm::ilogb(largest) + 1 - bits;
        let exponent = coarse.max(libm::ilogb(width) - FINE);
        if self.whole && exponent <= 0 {
            // Whole numbers are multiples of a finer step, too.
            RealRange::of_multiples(low..=high, exponent)
        } else {
            RealRange::from(low..=high).with_step(exponent)
        }
    }
}
