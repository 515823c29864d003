//! Real numbers between two floats: how everything that is not exact is rounded outward.
//!
//! # Guarantee
//!
//! Every operation returns an interval that contains the result for every pair of real numbers in
//! its operands. This relies on the following:
//!
//! - `+ − × ÷ √` of floats are rounded to the nearest float (IEEE 754), so the real result lies
//!   strictly between the two neighbours of the float that comes out: one step outward suffices.
//! - `exp`, `ln`, `exp_m1` and `ln_1p` come from the `libm` crate, which gives the same bits on
//!   every platform. Its sources (after FDLIBM) state an error below one unit in the last place,
//!   which is less than two steps, because the step below a power of two is half as wide. We take
//!   [`STEPS`] of them, and the tests compare with an evaluation to 256 bits.
//! - An operation without a result, such as ∞ − ∞, gives the whole line.

use std::ops::{Add, Div, Mul, Neg, Sub};

use super::float::units_of;
use super::{Quantity, U256, Unit};

/// How many floats outward the result of a `libm` function is moved: twice what its error requires.
const STEPS: u32 = 4;

/// A real number that is known to lie between two floats, both included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    low: f64,
    high: f64,
}

/// By the bits of both ends: rules that hold one can show their state.
impl std::hash::Hash for Interval {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        [self.low, self.high].map(f64::to_bits).hash(state);
    }
}

impl Interval {
    /// 0.
    pub const ZERO: Self = Self::exactly(0.0);
    /// 1.
    pub const ONE: Self = Self::exactly(1.0);
    /// 2.
    pub const TWO: Self = Self::exactly(2.0);

    /// Exactly this number.
    pub const fn exactly(number: f64) -> Self {
        Self {
            low: number,
            high: number,
        }
    }

    /// Between these two; a bound that is NaN counts as infinite.
    pub fn between(low: f64, high: f64) -> Self {
        Self {
            low: if low.is_nan() { f64::NEG_INFINITY } else { low },
            high: if high.is_nan() { f64::INFINITY } else { high },
        }
    }

    /// A whole number.
    pub fn whole(number: u128) -> Self {
        let float = number as f64;
        if number < 1 << f64::MANTISSA_DIGITS {
            Self::exactly(float)
        } else {
            Self::one_step(float, float)
        }
    }

    /// The sum of squares of quantities in units of `10^-decimals`.
    pub fn squares(square: U256, decimals: u32) -> Self {
        let (high, low) = square.halves();
        let unit = Self::whole(10_u128.pow(decimals));
        let units = Self::whole(high) * Self::exactly(2_f64.powi(128)) + Self::whole(low);
        units / unit / unit
    }

    /// The number is at least this.
    pub fn low(self) -> f64 {
        self.low
    }

    /// The number is at most this.
    pub fn high(self) -> f64 {
        self.high
    }

    /// A float somewhere in the middle, for first guesses.
    pub fn middle(self) -> f64 {
        0.5 * self.low + 0.5 * self.high
    }

    /// The larger of two numbers.
    pub fn max(self, other: Self) -> Self {
        Self::between(self.low.max(other.low), self.high.max(other.high))
    }

    /// The smaller of two numbers.
    pub fn min(self, other: Self) -> Self {
        Self::between(self.low.min(other.low), self.high.min(other.high))
    }

    /// The square.
    pub fn square(self) -> Self {
        let (low, high) = (self.low.abs(), self.high.abs());
        let near = if self.low <= 0.0 && self.high >= 0.0 {
            0.0
        } else {
            low.min(high)
        };
        let far = low.max(high);
        Self::one_step(near * near, far * far).max(Self::ZERO)
    }

    /// The root of a number that is known not to be negative.
    pub fn sqrt(self) -> Self {
        let low = self.low.max(0.0).sqrt();
        Self::one_step(low, self.high.max(0.0).sqrt()).max(Self::ZERO)
    }

    /// `e^x`.
    pub fn exp(self) -> Self {
        self.rising(libm::exp).max(Self::ZERO)
    }

    /// `e^x − 1`, precise near zero.
    pub fn exp_m1(self) -> Self {
        self.rising(libm::expm1).max(Self::exactly(-1.0))
    }

    /// The natural logarithm of a number that is known to be positive.
    pub fn ln(self) -> Self {
        self.rising(libm::log)
    }

    /// `ln(1 + x)`, precise near zero, of a number that is known to be greater than −1.
    pub fn ln_1p(self) -> Self {
        self.rising(libm::log1p)
    }

    /// The smallest quantity that is at least the number, or `None` if it is too large to hold.
    /// What is below zero becomes zero.
    pub fn up<U: Unit>(self) -> Option<Quantity<U>> {
        let (units, inexact) = units_of::<1>(self.high, U::DECIMALS)?;
        Quantity::from_units(units.to_u128()?.checked_add(u128::from(inexact))?).ok()
    }

    /// The largest quantity that is at most the number; the largest of all if that is not enough,
    /// and `None` if even the smallest is too large.
    pub fn down<U: Unit>(self) -> Option<Quantity<U>> {
        let units = units_of::<1>(self.low, U::DECIMALS)
            .and_then(|(units, _)| units.to_u128())
            .unwrap_or(u128::MAX)
            .min(U::LARGEST);
        Quantity::from_units(units).ok().filter(|_| self.low >= 0.0)
    }

    /// The largest sum of squares, of quantities in units of `10^-decimals`, that is at most the
    /// number; zero if there is none.
    pub fn squares_down(self, decimals: u32) -> U256 {
        units_of::<2>(self.low, decimals).map_or(U256::MAX, |(units, _)| units)
    }

    fn one_step(low: f64, high: f64) -> Self {
        Self::between(low.next_down(), high.next_up())
    }

    fn rising(self, function: impl Fn(f64) -> f64) -> Self {
        let (mut low, mut high) = (function(self.low), function(self.high));
        for _ in 0..STEPS {
            (low, high) = (low.next_down(), high.next_up());
        }
        Self::between(low, high)
    }
}

impl<U: Unit> From<Quantity<U>> for Interval {
    fn from(quantity: Quantity<U>) -> Self {
        Self::whole(quantity.units()) / Self::whole(10_u128.pow(U::DECIMALS))
    }
}

impl From<u32> for Interval {
    fn from(number: u32) -> Self {
        Self::exactly(f64::from(number))
    }
}

impl Neg for Interval {
    type Output = Self;

    fn neg(self) -> Self {
        Self::between(-self.high, -self.low)
    }
}

impl Add for Interval {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self::one_step(self.low + other.low, self.high + other.high)
    }
}

impl Sub for Interval {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self::one_step(self.low - other.high, self.high - other.low)
    }
}

impl Mul for Interval {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        corners(self, other, |one, other| one * other)
    }
}

impl Div for Interval {
    type Output = Self;

    fn div(self, other: Self) -> Self {
        if other.low <= 0.0 && other.high >= 0.0 {
            return Self::between(f64::NAN, f64::NAN);
        }
        corners(self, other, |one, other| one / other)
    }
}

/// The extremes of a product or quotient lie at the ends of the operands.
fn corners(one: Interval, other: Interval, operation: impl Fn(f64, f64) -> f64) -> Interval {
    let values = [
        operation(one.low, other.low),
        operation(one.low, other.high),
        operation(one.high, other.low),
        operation(one.high, other.high),
    ];
    if values.iter().any(|value| value.is_nan()) {
        return Interval::between(f64::NAN, f64::NAN);
    }
    let low = values
        .iter()
        .fold(f64::INFINITY, |low, value| low.min(*value));
    let high = values
        .iter()
        .fold(f64::NEG_INFINITY, |high, value| high.max(*value));
    let result = Interval::one_step(low, high);
    // Signs are exact: a step outward must not cross zero.
    if one.low >= 0.0 && other.low >= 0.0 {
        result.max(Interval::ZERO)
    } else {
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::{Delta, Epsilon, Order};
    use crate::privacy::Overflow;
    use crate::tests::oracle::{self, Real};
    use proptest::prelude::*;

    /// Floats of every size up to a magnitude, of both signs.
    fn any_size(largest: i32) -> impl Strategy<Value = f64> {
        (-300..largest, 1.0..10.0, any::<bool>()).prop_map(|(exponent, digits, negative)| {
            let size: f64 = digits * 10_f64.powi(exponent);
            if negative { -size } else { size }
        })
    }

    /// The interval contains the number, and is narrow.
    #[track_caller]
    fn encloses(interval: Interval, number: &Real) {
        let (low, high) = (oracle::real(interval.low), oracle::real(interval.high));
        assert!(low <= *number && *number <= high, "{interval:?} {number}");
        let narrow = oracle::real(2e-15) * oracle::abs(number) + oracle::real(1e-300);
        assert!(high - low <= narrow, "{interval:?} is wide");
    }

    #[test]
    fn both_ends_can_be_read() {
        let interval = Interval::between(-1.0, 2.0);
        assert_eq!((interval.low(), interval.high()), (-1.0, 2.0));
    }

    proptest! {
        #[test]
        fn arithmetic_is_outward(one in any_size(300), other in any_size(150)) {
            let [a, b] = [one, other].map(oracle::real);
            let (x, y) = (Interval::exactly(one), Interval::exactly(other));
            encloses(x + y, &(a.clone() + b.clone()));
            encloses(x - y, &(a.clone() - b.clone()));
            if one.abs() < 1e150 {
                encloses(x * y, &(a.clone() * b.clone()));
                encloses(x.square(), &(a.clone() * a.clone()));
            }
            if other.abs() > 1e-5 {
                encloses(x / y, &(a.clone() / b));
            }
            encloses(Interval::exactly(one.abs()).sqrt(), &oracle::sqrt(&oracle::abs(&a)));
        }

        #[test]
        fn functions_are_outward(x in prop_oneof![any_size(2), -690.0..700.0, -1.0..1.0]) {
            let real = oracle::real(x);
            let interval = Interval::exactly(x);
            if x.abs() < 690.0 {
                encloses(interval.exp(), &oracle::exp(&real));
                encloses(interval.exp_m1(), &oracle::exp_m1(&real));
            }
            if x > -1.0 {
                encloses(interval.ln_1p(), &oracle::ln_1p(&real));
            }
        }

        #[test]
        fn logarithms_are_outward(x in prop_oneof![any_size(300), 0.5..2.0, 1e-30..1e3]) {
            encloses(Interval::exactly(x.abs()).ln(), &oracle::ln(&oracle::real(x.abs())));
        }

        #[test]
        fn wide_operands_contain_every_result(
            low in -9.0_f64..9.0, width in 0.0..9.0, at in 0.0..=1.0,
            other_low in -9.0_f64..9.0, other_width in 0.0..9.0, other_at in 0.0..=1.0,
        ) {
            let x = Interval::between(low, low + width);
            let y = Interval::between(other_low, other_low + other_width);
            let one = f64::clamp(low + at * width, x.low, x.high);
            let other = f64::clamp(other_low + other_at * other_width, y.low, y.high);
            let holds = |z: Interval, value: f64| z.low <= value && value <= z.high;
            prop_assert!(holds(x + y, one + other));
            prop_assert!(holds(x - y, one - other));
            prop_assert!(holds(x * y, one * other));
            prop_assert!(holds(x / y, one / other));
            prop_assert!(holds(x.square(), one * one));
            prop_assert!(holds(-x, -one));
            prop_assert!(holds(x.max(y), one.max(other)));
            prop_assert!(holds(x.min(y), one.min(other)));
        }

        #[test]
        fn quantities_survive(units in 0..=340_000_000_000 * 10_u128.pow(27), cut in 0..128) {
            let epsilon = Epsilon::from_units(units >> cut).unwrap();
            let interval = Interval::from(epsilon);
            encloses(interval, &(oracle::whole(epsilon.units()) / oracle::power_of_ten(27)));
            let (down, up) = (interval.down::<crate::number::units::Epsilon>(), interval.up());
            prop_assert!(down.unwrap() <= epsilon && epsilon <= up.unwrap_or(epsilon));
            let squares = Interval::squares(U256::of(epsilon), 27);
            prop_assert!(squares.squares_down(27) <= U256::of(epsilon));
        }

        #[test]
        fn floats_become_the_nearest_quantity_outside(x in prop_oneof![any_size(11), 0.0..2.0]) {
            let x = x.abs();
            let units = oracle::real(x) * oracle::power_of_ten(27);
            let down = Interval::exactly(x).down::<crate::number::units::Epsilon>().unwrap();
            let up = Interval::exactly(x).up::<crate::number::units::Epsilon>().unwrap();
            prop_assert!(oracle::whole(down.units()) <= units);
            prop_assert!(oracle::whole(up.units()) >= units);
            prop_assert!(up.units() - down.units() <= 1);
        }
    }

    #[test]
    fn what_cannot_be_held() {
        let largest = Epsilon::from_units(340_000_000_000 * 10_u128.pow(27)).unwrap();
        for number in [3.5e11, 1e30, 1e300, f64::INFINITY] {
            let interval = Interval::exactly(number);
            assert_eq!(
                interval
                    .up::<crate::number::units::Epsilon>()
                    .ok_or(Overflow),
                Err(Overflow)
            );
            assert_eq!(interval.down(), Some(largest));
        }
        assert_eq!(Interval::exactly(f64::INFINITY).squares_down(27), U256::MAX);
        assert_eq!(Interval::exactly(-1.0).up(), Some(Epsilon::ZERO));
        assert_eq!(
            Interval::exactly(-1.0).down::<crate::number::units::Epsilon>(),
            None
        );
        assert_eq!(Interval::exactly(-1.0).squares_down(27), U256::default());
        assert_eq!(Interval::exactly(1.0).up(), Some(Delta::ONE));
        assert_eq!(
            Interval::exactly(5e-324).up(),
            "1e-38".parse::<Delta>().ok()
        );
        assert_eq!(Interval::exactly(5e-324).down(), Some(Delta::ZERO));
        assert_eq!(
            Interval::exactly(0.5).down::<crate::number::units::Order>(),
            None
        );
        assert_eq!(Interval::exactly(2.5).down(), "2.5".parse::<Order>().ok());
        assert_eq!(
            Interval::exactly(0.25).squares_down(27),
            U256::of("0.5".parse::<Epsilon>().unwrap())
        );
    }

    #[test]
    fn an_operation_without_a_result_says_nothing() {
        let line = Interval::between(f64::NEG_INFINITY, f64::INFINITY);
        let infinite = Interval::exactly(f64::INFINITY);
        assert_eq!(infinite - infinite, line);
        assert_eq!(Interval::ONE / Interval::between(-1.0, 1.0), line);
        assert_eq!(Interval::ONE / Interval::ZERO, line);
        assert_eq!(Interval::ZERO * infinite, line);
        assert_eq!(Interval::exactly(-1.0).ln().low, f64::NEG_INFINITY);
    }

    #[test]
    fn no_sign_is_lost_by_underflow() {
        let tiny = Interval::exactly(1e-200);
        assert!((tiny * -tiny).low < 0.0);
        assert_eq!((tiny * tiny).low, 0.0);
        assert!((tiny * tiny).high > 0.0);
    }
}
