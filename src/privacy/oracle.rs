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

/// `2^exponent`.
pub(crate) fn exp2(exponent: i32) -> Real {
    full(Real::from_parts(IBig::from(1), exponent as isize))
}

fn pi() -> Real {
    Real::pi(BITS)
}

/// The standard normal density.
pub(crate) fn density(t: &Real) -> Real {
    exp(&(-(t.clone() * t) / real(2.0))) / sqrt(&(pi() * real(2.0)))
}

/// Φ(−t) for positive t, by another route than the code takes: the series of Φ(t) − ½ around
/// zero, with as many more bits as 1 − 2(Φ(t) − ½) cancels.
pub(crate) fn tail(t: &Real) -> Real {
    let bits = BITS + 2 * (t.clone() * t).to_f64().value() as usize + 64;
    let more = |number: Real| number.with_precision(bits).value();
    let t = more(t.clone());
    let square = t.clone() * &t;
    // ∫₀ᵗ e^(−x²/2) dx = Σ (−1)^k t^(2k+1) / (2^k k! (2k+1)).
    let (mut power, mut sum) = (t.clone(), t.clone());
    for k in 1_u32.. {
        power = -(power * &square) / more(Real::from(2 * k));
        let term = power.clone() / more(Real::from(2 * k + 1));
        sum += &term;
        if term == Real::ZERO || abs(&term) < more(exp2(-(bits as i32))) {
            break;
        }
    }
    let scale = (Real::pi(bits) * more(real(2.0))).sqrt();
    let tail = more(real(0.5)) - sum / scale;
    full(tail)
}
