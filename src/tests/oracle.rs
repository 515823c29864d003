//! For tests only: real numbers to more than 70 digits, by code that has nothing in common with
//! what it checks.

use dashu_base::Abs;
use dashu_float::FBig;
use dashu_float::round::mode::HalfEven;
use dashu_int::IBig;
use proptest::prelude::*;

use crate::number::{Delta, Epsilon, Interval, Order, Quantity, U256, Unit};
use crate::privacy::convert::search;

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

/// A quantity, exactly as far as 256 bits go.
pub(crate) fn quantity<U: Unit>(quantity: Quantity<U>) -> Real {
    whole(quantity.units()) / power_of_ten(U::DECIMALS as usize)
}

/// A sum of squares of quantities in units of 1e-27.
pub(crate) fn squares(squares: U256) -> Real {
    let (high, low) = squares.halves();
    (whole(high) * exp2(128) + whole(low)) / power_of_ten(54)
}

/// Canonne, Kamath, Steinke 2020, Prop. 12: ε at an order α, from a Rényi loss.
pub(crate) fn epsilon_of(order: &Real, tau: &Real, delta: &Real) -> Real {
    let excess = order.clone() - real(1.0);
    let shrink = ln(&(excess.clone() / order));
    tau + (-ln(delta) + order * &shrink - ln(&excess)) / &excess
}

/// The least ε over all orders, from ρ-zCDP.
pub(crate) fn least_epsilon(rho: &Real, delta: &Real) -> Real {
    let (size, log) = (float(rho), -float(&ln(delta)));
    let hint = search::lowest(-20.0, 45.0, |log_excess| {
        let excess = log_excess.exp();
        (1.0 + excess) * size + (log - excess.ln_1p()) / excess - (1.0 / excess).ln_1p()
    });
    least_near(hint, |order| epsilon_of(order, &(rho * order), delta))
}

/// The least value over the orders near one.
pub(crate) fn least_near(log_excess: f64, function: impl Fn(&Real) -> Real) -> Real {
    valley(log_excess, |log| function(&(real(1.0) + exp(log))))
}

/// `ρ + 2√(ρ ln(1/δ))`.
pub(crate) fn simple_epsilon(rho: &Real, delta: &Real) -> Real {
    rho + real(2.0) * sqrt(&(-ln(delta) * rho))
}

/// The better of both, and not below zero.
pub(crate) fn better_epsilon(rho: &Real, delta: &Real) -> Real {
    let (tight, simple) = (
        at_least_zero(least_epsilon(rho, delta)),
        simple_epsilon(rho, delta),
    );
    if tight < simple { tight } else { simple }
}

/// The Rényi divergence of order α of randomized response, as printed.
pub(crate) fn randomized_response(alpha: &Real, epsilon: &Real) -> Real {
    let one = real(1.0);
    let likely = exp(epsilon) / (&one + exp(epsilon));
    let rare = &one / (&one + exp(epsilon));
    let power = |base: &Real, exponent: &Real| exp(&(exponent * ln(base)));
    let rest = &one - alpha;
    let moment =
        power(&likely, alpha) * power(&rare, &rest) + power(&rare, alpha) * power(&likely, &rest);
    ln(&moment) / (alpha - &one)
}

/// The nearest float.
pub(crate) fn float(number: &Real) -> f64 {
    number.to_f64().value()
}

pub(crate) fn at_least_zero(number: Real) -> Real {
    if number < Real::ZERO {
        Real::ZERO
    } else {
        number
    }
}

/// An ε just above the truth, or above it by what floats lose where large terms cancel.
#[track_caller]
pub(crate) fn is_above_given_terms(given: Epsilon, truth: &Real, terms: &Real) {
    assert!(quantity(given) >= *truth, "{given} is below {truth}");
    let margin = abs(truth) * real(1e-9) + terms * real(1e-14) + real(1e-27);
    assert!(
        quantity(given) <= truth + margin,
        "{given} is far above {truth}"
    );
}

/// Φ(t) for any t.
pub(crate) fn cdf(t: &Real) -> Real {
    if *t < Real::ZERO {
        tail(&-t.clone())
    } else {
        real(1.0) - tail(t)
    }
}

/// The least value of a smooth function, near a hint that is right to a few digits.
pub(crate) fn valley(hint: f64, function: impl Fn(&Real) -> Real) -> Real {
    let mut bottom = real(hint);
    let mut least = function(&bottom);
    // The vertex of a parabola through three points, ever closer together: each time the distance
    // to the bottom shrinks to about its square, and the height above it to the fourth power. Where
    // the function cancels, the closest three points differ by less than its last digits, and their
    // parabola has its vertex anywhere: what is higher than the point before is no bottom.
    for width in [1e-3, 1e-6, 1e-12, 1e-24].map(real) {
        let [left, right] = [&bottom - &width, &bottom + &width].map(|at| function(&at));
        let slope = (&right - &left) / real(2.0);
        let bend = left + right - &least * real(2.0);
        if bend <= Real::ZERO {
            break;
        }
        let vertex = &bottom - &width * slope / bend;
        let height = function(&vertex);
        if height > least {
            break;
        }
        (bottom, least) = (vertex, height);
    }
    least
}

/// Asserts that a quantity is at least the truth, and within 1e-9 of it or one unit.
#[track_caller]
pub(crate) fn is_just_above<U: Unit>(given: Quantity<U>, truth: &Real) {
    let one = power_of_ten(U::DECIMALS as usize);
    let value = quantity(given);
    assert!(value >= *truth, "{given} is below {truth}");
    let margin = abs(truth) * real(1e-9) + real(1.0) / one;
    assert!(
        value <= truth.clone() + margin,
        "{given} is far above {truth}"
    );
}

/// Quantities of every size between powers of ten.
pub(crate) fn sizes<U: Unit>(
    exponents: std::ops::Range<f64>,
) -> impl Strategy<Value = Quantity<U>> {
    exponents.prop_map(|exponent| Interval::exactly(libm::exp10(exponent)).up().unwrap())
}

/// δ from 1e-30 to 0.5.
pub(crate) fn deltas() -> impl Strategy<Value = Delta> {
    sizes(-30.0..-0.301)
}

/// ε from 1e-9 to 100.
pub(crate) fn epsilons() -> impl Strategy<Value = Epsilon> {
    sizes(-9.0..2.0)
}

/// Orders from 1.0001 to 100 001.
pub(crate) fn orders() -> impl Strategy<Value = Order> {
    (-4.0..5.0).prop_map(|exponent| Interval::exactly(1.0 + libm::exp10(exponent)).up().unwrap())
}
