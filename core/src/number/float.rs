//! Floats taken apart exactly.

use super::U256;

/// A float in units of `10^-decimals`, to the power `POWER`: rounded down, and whether something
/// was cut off. What is negative counts as zero, and `None` is more than 256 bits.
pub(super) fn units_of<const POWER: u32>(float: f64, decimals: u32) -> Option<(U256, bool)> {
    // A positive float is mantissa · 2^exponent, exactly.
    if float <= 0.0 {
        return Some((U256::default(), false));
    }
    if float.is_infinite() {
        return None;
    }
    let bits = float.to_bits();
    let (biased, fraction) = (bits >> 52, bits & ((1 << 52) - 1));
    let (mantissa, exponent) = match biased {
        0 => (fraction, -1074),
        _ => (fraction | 1 << 52, biased as i32 - 1075),
    };
    let mut units = U256::whole(u128::from(mantissa));
    for _ in 0..POWER {
        units = units.checked_mul(10_u128.pow(decimals))?;
    }
    if exponent >= 0 {
        let doublings = exponent.unsigned_abs();
        (0..doublings)
            .try_fold(units, |units, _| units.checked_add(units))
            .map(|units| (units, false))
    } else {
        Some(units.shift_right(exponent.unsigned_abs()))
    }
}
