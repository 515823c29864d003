//! Logarithms of odds, rounded up.

use crate::number::Epsilon;

/// Numbers here are multiples of 2^-BITS. The largest logarithm, 64 ln 2 < 2^5.5, times the 5^27
/// < 2^62.8 of a conversion to decimals, then has fewer than 127 bits.
const BITS: u32 = 58;
const ONE: u128 = 1 << BITS;

/// ln(numerator / denominator), for a numerator that is not smaller, rounded up by less than
/// 1e-13; `None` for other numbers.
///
/// With k the number of doublings that keep y = numerator / (denominator 2^k) at 1 or more:
/// k ln 2 + ln y, where ln y = 2 artanh((y - 1)/(y + 1)) and ln 2 = 2 artanh(1/3).
pub(super) fn logarithm_up(numerator: u64, denominator: u64) -> Option<Epsilon> {
    if denominator == 0 {
        return None;
    }
    let (numerator, mut denominator) = (u128::from(numerator), u128::from(denominator));
    let mut doublings = 0;
    while 2 * denominator <= numerator {
        denominator *= 2;
        doublings += 1;
    }
    let above = numerator.checked_sub(denominator)?;
    let part = (above * ONE).div_ceil(numerator + denominator);
    let value = doublings * twice_artanh_up(ONE.div_ceil(3)) + twice_artanh_up(part);
    // Of the 10^27 = 5^27 2^27 units in one, the powers of two cancel.
    let units = (value * 5_u128.pow(27)).div_ceil(1 << (BITS - 27));
    Epsilon::from_units(units).ok()
}

/// 2 (z + z³/3 + z⁵/5 + …) for z up to 1/3, every step rounded up.
///
/// Powers fall by a factor of 8 at least until they are one unit, and all that follow are less
/// than one unit together.
fn twice_artanh_up(z: u128) -> u128 {
    let square = (z * z).div_ceil(ONE);
    let (mut power, mut sum, mut odd) = (z, 0, 1);
    while power > 1 {
        sum += power.div_ceil(odd);
        power = (power * square).div_ceil(ONE);
        odd += 2;
    }
    2 * (sum + 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dashu_float::FBig;
    use dashu_float::round::mode::HalfEven;
    use proptest::prelude::*;

    /// The difference to 200 bits of the logarithm, in units of 1e-27.
    fn excess(numerator: u64, denominator: u64) -> f64 {
        let number = |units: u128| FBig::<HalfEven, 2>::from(units).with_precision(200).value();
        let ln = (number(numerator.into()) / number(denominator.into())).ln();
        let found = number(logarithm_up(numerator, denominator).unwrap().units());
        (found - ln * number(10_u128.pow(27))).to_f64().value()
    }

    proptest! {
        #[test]
        fn it_is_rounded_up_by_a_little(one: u64, other: u64, cut in 0_u32..64) {
            let (large, small) = (one.max(other >> cut), one.min(other >> cut).max(1));
            prop_assert!((0.0..1e14).contains(&excess(large.max(small), small)));
        }
    }

    #[test]
    fn the_largest_and_the_smallest() {
        assert!((0.0..1e14).contains(&excess(u64::MAX, 1)));
        assert!((0.0..1e14).contains(&excess(u64::MAX, u64::MAX - 1)));
        assert!((0.0..1e14).contains(&excess(2, 1)));
        assert_eq!(logarithm_up(1, 2), None);
        assert_eq!(logarithm_up(1, 0), None);
    }
}
