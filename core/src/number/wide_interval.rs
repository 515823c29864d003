//! Non-negative real numbers enclosed to some 38 digits, for what cancels too much for floats.
//!
//! # Guarantee
//!
//! As for [`Interval`](super::Interval), every operation returns an interval that contains the
//! result. No library function has to be trusted here: numbers are `mantissa · 2^exponent` with a
//! mantissa of 128 bits, every operation cuts off what does not fit and moves an upper bound up by
//! one unit if anything was cut off, and every series ends with an enclosure of its rest.

use std::ops::{Add, Div, Mul, Sub};

use super::bound::Toward::{Infinity, Zero};
use super::bound::{Bound, TOP};
use super::{Quantity, Ratio, Unit};

/// A non-negative real number between two bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WideInterval {
    low: Bound,
    high: Bound,
}

impl WideInterval {
    /// A whole number.
    pub fn whole(number: u128) -> Self {
        Self::between(number, number)
    }

    /// Between two whole numbers.
    pub fn between(low: u128, high: u128) -> Self {
        Self {
            low: Bound::whole(low),
            high: Bound::whole(high),
        }
    }

    /// Certainly at most the other.
    pub fn certainly_at_most(self, other: Self) -> bool {
        self.high <= other.low
    }

    /// Not certainly more than zero.
    pub fn may_be_zero(self) -> bool {
        self.low.mantissa == 0
    }

    /// Between the lower bound of one and the upper bound of the other.
    pub fn hull(self, other: Self) -> Self {
        Self {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
        }
    }

    /// Half of it, exactly.
    pub fn half(self) -> Self {
        let half = |bound: Bound| Bound {
            exponent: bound.exponent - 1,
            ..bound
        };
        Self {
            low: half(self.low),
            high: half(self.high),
        }
    }

    /// The square root.
    pub fn sqrt(self) -> Self {
        Self {
            low: self.low.root(Zero),
            high: self.high.root(Infinity),
        }
    }

    /// To a whole power.
    pub fn power(self, exponent: u32) -> Self {
        (0..exponent).fold(Self::whole(1), |power, _| power * self)
    }

    /// `e^x`, for x up to 8192; `None` beyond.
    pub fn exp(self) -> Option<Self> {
        if self.high > Bound::whole(8192) {
            return None;
        }
        // Halved until it is below 2^-10, so at most 23 times; each squaring undoes one.
        let size = self.high.exponent + 128;
        let halvings = if self.high.mantissa == 0 {
            0
        } else {
            (size + 10).max(0)
        };
        let small = (0..halvings).fold(self, |x, _| x.half());
        let start = small * small.exp_m1_ratio() + Self::whole(1);
        Some((0..halvings).fold(start, |power, _| power * power))
    }

    /// `e^x − 1`, precise near zero, for x up to 8192.
    pub fn exp_m1(self) -> Option<Self> {
        // Below 2^-10 the mantissa's 128 bits end below 2^-138.
        if self.high.exponent < -138 {
            return Some(self * self.exp_m1_ratio());
        }
        Some(self.exp()? - Self::whole(1))
    }

    /// `(e^x − 1) / x` for x up to 2^-10.
    fn exp_m1_ratio(self) -> Self {
        // 1 + x/2 · (1 + x/3 · (… (1 + x/12 · rest))), where the rest, 1 + x/13 + …, is between 1
        // and 2; the last term is below 2^(-10·11) / 12! < 2^-138.
        let rest = Self::between(1, 2);
        (2..=12).rev().fold(rest, |rest, divisor| {
            Self::whole(1) + self / Self::whole(divisor) * rest
        })
    }

    /// `e^-x`.
    pub fn exp_of_minus(self) -> Self {
        self.exp().map_or(
            Self {
                low: Bound::default(),
                // e^-8192 < 2^-11818. Wide enough for numbers that start below 8192, too.
                high: Bound {
                    mantissa: TOP,
                    exponent: -11_818 - 127 + 1,
                },
            },
            |power| Self::whole(1) / power,
        )
    }

    /// The smallest quantity that is at least the number, or `None` if it is too large to hold.
    pub fn up<U: Unit>(self) -> Option<Quantity<U>> {
        let (units, cut) = self.high.units(U::DECIMALS)?;
        Quantity::from_units(units.checked_add(u128::from(cut))?).ok()
    }

    /// The largest quantity that is at most the number.
    pub fn down<U: Unit>(self) -> Option<Quantity<U>> {
        let units = self
            .low
            .units(U::DECIMALS)
            .map_or(u128::MAX, |(units, _)| units);
        Quantity::from_units(units.min(U::LARGEST)).ok()
    }
}

impl<U: Unit> From<Quantity<U>> for WideInterval {
    fn from(quantity: Quantity<U>) -> Self {
        Self::whole(quantity.units()) / Self::whole(10_u128.pow(U::DECIMALS))
    }
}

impl From<Ratio> for WideInterval {
    fn from(ratio: Ratio) -> Self {
        Self::whole(ratio.numerator()) / Self::whole(ratio.denominator().get())
    }
}

impl Add for WideInterval {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            low: self.low.add(other.low, Zero),
            high: self.high.add(other.high, Infinity),
        }
    }
}

/// For differences that are known not to be negative.
impl Sub for WideInterval {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self {
            low: self.low.sub(other.high, Zero),
            high: self.high.sub(other.low, Infinity),
        }
    }
}

impl Mul for WideInterval {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Self {
            low: self.low.mul(other.low, Zero),
            high: self.high.mul(other.high, Infinity),
        }
    }
}

/// By a number that is known not to be zero: its lower bound must not be.
impl Div for WideInterval {
    type Output = Self;

    fn div(self, other: Self) -> Self {
        debug_assert!(other.low.mantissa != 0, "division by zero");
        Self {
            low: self.low.div(other.high, Zero),
            high: self.high.div(other.low, Infinity),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::tests::oracle::{self, Real};
    use proptest::prelude::*;

    fn real(bound: Bound) -> Real {
        let power = oracle::exp2(bound.exponent);
        oracle::whole(bound.mantissa) * power
    }

    /// The interval contains the number, and its width is at most `2^-bits` of it.
    #[track_caller]
    pub(crate) fn encloses(wide: WideInterval, number: &Real, bits: i32) {
        let (low, high) = (real(wide.low), real(wide.high));
        assert!(low <= *number && *number <= high, "{wide:?} {number}");
        assert!(
            high - low <= number.clone() * oracle::exp2(-bits),
            "{wide:?} is wide"
        );
    }

    #[test]
    fn what_may_be_zero() {
        assert!(WideInterval::between(0, 1).may_be_zero());
        assert!(!WideInterval::between(1, 2).may_be_zero());
    }

    fn bounds() -> impl Strategy<Value = Bound> {
        (any::<u128>(), -300..300_i32).prop_map(|(mantissa, exponent)| Bound {
            mantissa: mantissa | TOP,
            exponent,
        })
    }

    fn just(bound: Bound) -> WideInterval {
        WideInterval {
            low: bound,
            high: bound,
        }
    }

    proptest! {
        #[test]
        fn arithmetic_is_outward(one in bounds(), other in bounds(), near in -3..3_i32) {
            let near = Bound { exponent: one.exponent + near, ..other };
            for other in [other, near] {
                let (a, b) = (real(one), real(other));
                encloses(just(one) + just(other), &(a.clone() + b.clone()), 126);
                encloses(just(one) * just(other), &(a.clone() * b.clone()), 126);
                encloses(just(one) / just(other), &(a.clone() / b.clone()), 126);
                encloses(just(one).sqrt(), &oracle::sqrt(&a), 126);
                if a > b {
                    let difference = just(one) - just(other);
                    let lost = one.exponent - difference.high.exponent;
                    encloses(difference, &(a - b), 126 - lost.max(0));
                }
            }
        }

        #[test]
        fn exponentials_are_outward(x in prop_oneof![0.0..100.0, 0.0..8000.0, 0.0..1e-3], size in 0..80_i32) {
            let x: f64 = x * 2_f64.powi(-size);
            let wide = WideInterval::whole((x * 2_f64.powi(100)) as u128) / WideInterval::whole(1 << 100);
            let number = real(wide.low);
            encloses(wide.exp().unwrap(), &oracle::exp(&number), 98);
            encloses(wide.exp_of_minus(), &oracle::exp(&-number.clone()), 98);
            if x > 1e-20 {
                encloses(wide.exp_m1().unwrap(), &oracle::exp_m1(&number), 88);
            }
        }
    }

    #[test]
    fn what_is_far_out_is_tiny_but_not_nothing() {
        let far = WideInterval::whole(8193).exp_of_minus();
        assert_eq!(far.low, Bound::default());
        assert!(far.high > Bound::default());
        assert!(real(far.high) > oracle::exp(&oracle::real(-8192.0)));
        assert_eq!(WideInterval::whole(8193).exp(), None);
        assert_eq!(
            WideInterval::whole(0).exp_of_minus(),
            WideInterval::whole(1)
        );
    }

    #[test]
    fn one_and_the_next_number() {
        let one = Bound::whole(1);
        let tiny = Bound {
            mantissa: TOP,
            exponent: -400,
        };
        let above = one.add(tiny, Infinity);
        assert_eq!(one.add(tiny, Zero), one);
        assert_eq!(above.mantissa, one.mantissa + 1);
        assert!(one.sub(tiny, Zero) < one);
        assert_eq!(one.sub(tiny, Infinity), one);
        assert_eq!(tiny.sub(one, Infinity), Bound::default());
        let full = Bound {
            mantissa: u128::MAX,
            exponent: 0,
        };
        assert_eq!(
            full.add(tiny, Infinity),
            Bound {
                mantissa: TOP,
                exponent: 1
            }
        );
    }

    #[test]
    fn quantities_come_back() {
        let tenth: crate::number::Epsilon = "0.1".parse().unwrap();
        let wide = WideInterval::from(tenth);
        assert!(wide.down::<crate::number::units::Epsilon>().unwrap() <= tenth);
        assert!(wide.up::<crate::number::units::Epsilon>().unwrap() >= tenth);
        assert_eq!(WideInterval::whole(1).up(), Some(crate::number::Delta::ONE));
        assert_eq!(
            WideInterval::whole(1 << 60).up::<crate::number::units::Epsilon>(),
            None
        );
        assert_eq!(
            WideInterval::whole(2).down(),
            Some(crate::number::Delta::ONE)
        );
    }
}
