//! Products that need more than 128 bits on the way.

use std::num::NonZeroU128;

/// The quotient and the remainder of `(factor * other + more) / divisor`, exactly; a quotient that
/// needs more than 128 bits is the largest that there is.
pub(super) fn divide_product(
    factor: u128,
    other: u128,
    more: u128,
    divisor: NonZeroU128,
) -> (u128, u128) {
    let divisor = divisor.get();
    let (low, high) = factor.carrying_mul(other, more);
    if let (0, Ok(low), Ok(divisor)) = (high, u64::try_from(low), u64::try_from(divisor)) {
        // The common case, and several times faster.
        return (u128::from(low / divisor), u128::from(low % divisor));
    }
    if high == 0 {
        return (low / divisor, low % divisor);
    }
    // Long division, bit by bit. It is slow, and only parameters of more than 18 digits get here.
    let too_large = high >= divisor;
    let (mut quotient, mut rest) = (0_u128, high % divisor);
    for bit in (0..128).rev() {
        let carry = rest >> 127;
        rest = (rest << 1) | ((low >> bit) & 1);
        quotient <<= 1;
        if carry == 1 || rest >= divisor {
            rest = rest.wrapping_sub(divisor);
            quotient |= 1;
        }
    }
    (if too_large { u128::MAX } else { quotient }, rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dashu::integer::UBig;
    use proptest::prelude::*;

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
    fn the_largest() {
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
