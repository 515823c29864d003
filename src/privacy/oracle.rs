//! For tests only: real numbers to more than 70 digits, by code that has nothing in common with
//! what it checks.

use dashu::base::Abs;
use dashu::float::FBig;
use dashu::float::round::mode::HalfEven;
use dashu::integer::IBig;

/// A number to 256 bits.
pub(crate) type Real = FBig<HalfEven, 2>;

const BITS: usize = 256;

/// A float, exactly.
pub(crate) fn real(float: f64) -> Real {
    full(Real::try_from(float).unwrap())
}

/// A whole number.
pub(crate) fn whole(number: u128) -> Real {
    full(Real::from(IBig::from(number)))
}

/// `10^exponent`.
pub(crate) fn power_of_ten(exponent: usize) -> Real {
    full(Real::from(IBig::from(10).pow(exponent)))
}

fn full(number: Real) -> Real {
    number.with_precision(BITS).value()
}

pub(crate) fn abs(number: &Real) -> Real {
    number.clone().abs()
}

pub(crate) fn sqrt(number: &Real) -> Real {
    number.sqrt()
}

pub(crate) fn exp(number: &Real) -> Real {
    number.exp()
}

pub(crate) fn exp_m1(number: &Real) -> Real {
    number.exp_m1()
}

pub(crate) fn ln(number: &Real) -> Real {
    number.ln()
}

pub(crate) fn ln_1p(number: &Real) -> Real {
    number.ln_1p()
}
