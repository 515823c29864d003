//! Exponentials, logarithms and powers, certified.

use dashu_int::{IBig, UBig};

use super::Interval;
use crate::verify::Rational;

impl Interval {
    /// `e^x`, for `x` from 0 to 1000; `None` beyond.
    ///
    /// The exponent is halved until it is at most 1/2. Of the series, 48 terms are added in units
    /// of 2⁻²⁵⁶, each rounded down. What is missing is less than three units per term, two for the
    /// argument, and a rest below twice its first term, `(1/2)^48 / 48! < 2⁻²⁵¹`, which is 64 units:
    /// 210 in all, taken as 256. The halvings, 11 at most, are undone by squaring, rounded outward.
    #[must_use]
    pub fn exp(x: &Rational) -> Option<Self> {
        if *x < Rational::ZERO || *x > Rational::from(1000_u32) {
            return None;
        }
        if *x == Rational::ZERO {
            return Some(Self::exact(Rational::ONE));
        }
        let mut halvings = 0_usize;
        let mut small = x.clone();
        while small > Rational::from_parts(1.into(), 2_u8.into()) {
            small /= Rational::from(2_u8);
            halvings += 1;
        }
        let argument = fixed_floor(&small);
        let (mut sum, mut term) = (fixed_one(), fixed_one());
        for index in 1..48_u32 {
            term = ((term * &argument) >> BITS) / IBig::from(index);
            sum += &term;
        }
        let mut low = sum.clone();
        let mut high = sum + IBig::from(256_u32);
        for _ in 0..halvings {
            low = (&low * &low) >> BITS;
            high = ((&high * &high) >> BITS) + IBig::ONE;
        }
        Some(Self::between(fixed_rational(low), fixed_rational(high)))
    }

    /// `e^-x`, for `x >= 0`; beyond 1000 all that is known is that it is at most `e^-1000`.
    pub(crate) fn exp_minus(x: &Rational) -> Self {
        let one = Self::exact(Rational::ONE);
        let inverse = |x: &Rational| Self::exp(x).and_then(|power| one.over(&power));
        inverse(x).unwrap_or_else(|| {
            let most = inverse(&Rational::from(1000_u32)).map(|most| most.high().clone());
            Self::between(Rational::ZERO, most.unwrap_or(Rational::ONE))
        })
    }

    /// `ln x`, for `x >= 1`; `None` below.
    ///
    /// `x = 2^k m` with `1 <= m < 2`, and `ln m = 2 artanh((m - 1) / (m + 1))`. The argument is at
    /// most 1/3, so that of the series 90 odd powers leave a rest below `3^-180 < 2⁻²⁸⁵`; each is
    /// rounded down in units of 2⁻²⁵⁶.
    #[must_use]
    pub fn ln(x: &Rational) -> Option<Self> {
        if *x < Rational::ONE {
            return None;
        }
        if *x == Rational::ONE {
            return Some(Self::ZERO);
        }
        let two = Rational::from(2_u8);
        let mut doublings = 0_u32;
        let mut mantissa = x.clone();
        while mantissa >= two {
            mantissa /= &two;
            doublings += 1;
        }
        let of_mantissa =
            twice_artanh(&((&mantissa - Rational::ONE) / (&mantissa + Rational::ONE)));
        let of_two = twice_artanh(&Rational::from_parts(1.into(), 3_u8.into()));
        let doublings = Self::exact(Rational::from(doublings));
        Some(of_mantissa.plus(&of_two.times(&doublings)))
    }

    /// `x^exponent` for a rational exponent above 0, within what [`exp`](Self::exp) covers.
    pub(crate) fn rational_power(&self, exponent: &Rational) -> Option<Self> {
        let of = |number: &Rational| -> Option<Self> {
            if *number == Rational::ZERO {
                return Some(Self::ZERO);
            }
            if *number >= Rational::ONE {
                let log = Self::ln(number)?.times(&Self::exact(exponent.clone()));
                let (low, high) = (Self::exp(log.low())?, Self::exp(log.high())?);
                return Some(Self::between(low.low, high.high().clone()));
            }
            let inverse = Self::exact(Rational::ONE / number);
            Self::exact(Rational::ONE).over(&inverse.rational_power(exponent)?)
        };
        let (low, high) = (of(self.low())?, of(self.high())?);
        Some(Self::between(low.low, high.high().clone()))
    }
}

/// Fixed-point numbers have this many binary places.
const BITS: usize = 256;

pub(super) fn fixed_one() -> IBig {
    IBig::ONE << BITS
}

pub(super) fn fixed_floor(number: &Rational) -> IBig {
    (number * Rational::from(fixed_one())).floor()
}

pub(super) fn fixed_rational(number: IBig) -> Rational {
    Rational::from_parts(number, UBig::ONE << BITS)
}

/// `2 artanh(z)` for `0 <= z <= 1/3`, see [`Interval::ln`].
fn twice_artanh(z: &Rational) -> Interval {
    if *z == Rational::ZERO {
        return Interval::ZERO;
    }
    let argument = fixed_floor(z);
    let square = (&argument * &argument) >> BITS;
    let mut sum = IBig::ZERO;
    let mut power = argument;
    for index in 0..90_u32 {
        sum += &power / IBig::from(2 * index + 1);
        power = (power * &square) >> BITS;
    }
    // Each power is off by less than four units, each quotient by one more; twice that.
    let low = fixed_rational(IBig::from(2_u8) * sum);
    let slack = fixed_rational(IBig::from(2 * 5 * 90 + 1));
    let high = &low + slack;
    Interval::between(low, high)
}
