//! Gaussian privacy, to and from (ε, δ).

use std::cmp::Ordering;

use super::search::{after, bisect, least, most};
use super::{Delta, Epsilon, UnknownLoss};
use crate::number::normal::{above_half, density, mills, tail};
use crate::number::{Interval, Mu, Quantity, U256, Unit, WideInterval, units};
use crate::privacy::Overflow;

/// The smallest δ such that μ-GDP implies (ε, δ)-DP: Φ(−ε/μ + μ/2) − e^ε Φ(−ε/μ − μ/2), rounded up
/// (Dong, Roth, Su 2022, Cor. 2.13).
///
/// ```
/// use queryables::privacy::convert::gdp;
///
/// let delta = gdp::delta("1".parse()?, "1".parse()?);
/// assert!(delta > "0.1269367".parse()? && delta < "0.1269368".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn delta(mu: Mu, epsilon: Epsilon) -> Delta {
    if mu == Mu::ZERO {
        return Delta::ZERO;
    }
    about(profile(mu, epsilon)).up().unwrap_or(Delta::ONE)
}

/// δ(ε) of N(μ, 1) against N(0, 1), for μ > 0.
fn profile(mu: Mu, epsilon: Epsilon) -> WideInterval {
    let (middle, half) = (
        WideInterval::from(epsilon) / WideInterval::from(mu),
        WideInterval::from(mu).half(),
    );
    let far = middle + half;
    // With t = ε/μ − μ/2 the second term is e^ε φ(t + μ) times Mills' ratio R(t + μ), and
    // e^ε φ(t + μ) = φ(t).
    if is_right_of_zero(mu, epsilon) {
        let near = middle - half;
        density(near) * (mills(near) - mills(far))
    } else {
        let near = half - middle;
        WideInterval::whole(1).half() + above_half(near) - density(near) * mills(far)
    }
}

/// ε/μ ≥ μ/2, decided exactly: 2ε·10²⁷ ≥ μ² in squared units.
fn is_right_of_zero(mu: Mu, epsilon: Epsilon) -> bool {
    let twice = U256::whole(epsilon.units())
        .checked_mul(2 * 10_u128.pow(27))
        .unwrap_or(U256::MAX);
    twice >= U256::of(mu)
}

/// The smallest ε such that μ-GDP implies (ε, δ)-DP, rounded up.
///
/// # Errors
///
/// [`UnknownLoss`] if δ is zero and μ is not, or ε cannot be held.
///
/// ```
/// use queryables::privacy::convert::gdp;
///
/// let epsilon = gdp::epsilon("1".parse()?, "1e-5".parse()?)?;
/// assert!(epsilon > "4.377178".parse()? && epsilon < "4.377179".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn epsilon(mu: Mu, delta: Delta) -> Result<Epsilon, UnknownLoss> {
    if mu == Mu::ZERO {
        return Ok(Epsilon::ZERO);
    }
    if delta == Delta::ZERO {
        return Err(UnknownLoss("this conversion needs δ > 0"));
    }
    let target = WideInterval::from(delta);
    let (size, goal) = (float(mu), float(delta));
    // δ falls in ε; beyond μ²/2 + 14μ it is below 1e-38.
    let guess = crossing(0.0, 0.5 * size * size + 14.0 * size, |epsilon| {
        approximate(size, epsilon) < goal
    });
    let units = least(guess * 1e27, <units::Epsilon as Unit>::LARGEST, |units| {
        Epsilon::from_units(units)
            .is_ok_and(|epsilon| profile(mu, epsilon).certainly_at_most(target))
    });
    Ok(units
        .and_then(|units| Epsilon::from_units(units).ok())
        .ok_or(Overflow)?)
}

/// The largest μ such that μ-GDP implies (ε, δ)-DP, rounded down.
///
/// ```
/// use queryables::privacy::convert::gdp;
///
/// let mu = gdp::budget("1".parse()?, "1e-5".parse()?);
/// assert!(mu > "0.268051".parse()? && mu < "0.268052".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn budget(epsilon: Epsilon, delta: Delta) -> Mu {
    if delta == Delta::ZERO {
        return Mu::ZERO;
    }
    let target = WideInterval::from(delta);
    let (size, goal) = (float(epsilon), float(delta));
    // δ rises in μ; from 4ε + 20 on it is all but 1.
    let guess = crossing(0.0, 4.0 * size + 20.0, |mu| approximate(mu, size) > goal);
    let units = most(guess * 1e27, <units::Mu as Unit>::LARGEST, |units| {
        Mu::from_units(units)
            .is_ok_and(|mu| mu == Mu::ZERO || profile(mu, epsilon).certainly_at_most(target))
    });
    units
        .and_then(|units| Mu::from_units(units).ok())
        .unwrap_or_default()
}

/// The trade-off function of μ-GDP: against it, a test with false-alarm rate α misses at least with
/// this probability, Φ(Φ⁻¹(1 − α) − μ), rounded down (Dong, Roth, Su 2022, Def. 2.6).
///
/// ```
/// use queryables::privacy::convert::gdp;
///
/// let missed = gdp::tradeoff("1".parse()?, "0.05".parse()?);
/// assert!(missed > "0.7404".parse()? && missed < "0.7405".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn tradeoff(mu: Mu, alarms: Delta) -> Delta {
    if alarms == Delta::ZERO {
        return Delta::ONE;
    }
    if alarms == Delta::ONE {
        return Delta::ZERO;
    }
    let half = Delta::ONE.units() / 2;
    let (distance, right) = if alarms.units() <= half {
        // z ≥ 0, as small as Φ(−z) ≥ α proves.
        let target = WideInterval::from(alarms);
        let units = most(1e27, FARTHEST, |units| {
            target.certainly_at_most(tail(distance_of(units)))
        });
        let z = Mu::from_units(units.unwrap_or_default()).unwrap_or_default();
        match z.cmp(&mu) {
            Ordering::Less => (mu.saturating_sub(z), false),
            _ => (z.saturating_sub(mu), true),
        }
    } else {
        // z < 0: −z as large as Φ(z) ≤ 1 − α needs.
        let target = WideInterval::from(Delta::ONE.saturating_sub(alarms));
        let units = least(1e27, FARTHEST, |units| {
            tail(distance_of(units)).certainly_at_most(target)
        });
        let z = Mu::from_units(units.unwrap_or(FARTHEST)).unwrap_or_default();
        (mu.checked_add(z).unwrap_or(mu), false)
    };
    let distance = WideInterval::from(distance);
    let missed = if right {
        WideInterval::whole(1).half() + above_half(distance)
    } else {
        tail(distance)
    };
    about(missed).down().unwrap_or_default()
}

/// Φ(−14) < 1e-44, less than any probability that can be held.
const FARTHEST: u128 = 14 * 10_u128.pow(27);

fn distance_of(units: u128) -> WideInterval {
    WideInterval::whole(units) / WideInterval::whole(10_u128.pow(27))
}

/// The smallest μ such that every ε-DP mechanism is μ-GDP, rounded up.
///
/// # Guarantee
///
/// The trade-off function of randomized response runs straight from (0, 1) to (c, c) and from there
/// straight to (1, 0), with c = 1/(1 + e^ε). That of μ-GDP is convex, has the same ends and meets
/// the diagonal at Φ(−μ/2); so it lies below if and only if Φ(−μ/2) ≤ c.
///
/// For ε above 8192 that is decided in logarithms. With h = μ/2, Φ(−h) is φ(h) times Mills' ratio,
/// which is at most (h² + 2)/(h(h² + 3)), the third convergent of Laplace's continued fraction; so it is
/// enough that `h²/2 + ln√(2π) + ln(h(h² + 3)/(h² + 2)) ≥ ε + ln(1 + e^−ε)`.
///
/// # Errors
///
/// [`UnknownLoss`] if it cannot be held.
///
/// ```
/// use queryables::privacy::convert::gdp;
///
/// // −2Φ⁻¹(1/(1 + e^0.1)).
/// let mu = gdp::pure("0.1".parse()?)?;
/// assert!(mu > "0.1253".parse()? && mu < "0.1254".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn pure(epsilon: Epsilon) -> Result<Mu, UnknownLoss> {
    let size = float(epsilon);
    let guess = if size > 700.0 {
        // h²/2 + ln h + ln√(2π) = ε, approximately.
        (8.0 * size - 4.0 * libm::log(4.0 * std::f64::consts::PI * size)).sqrt()
    } else {
        crossing(0.0, 3.0 * size + 2.0, |mu| {
            upper(0.5 * mu) < 1.0 / (1.0 + libm::exp(size))
        })
    };
    let claim = pure_is_gaussian(epsilon);
    let units = least(guess * 1e27, <units::Mu as Unit>::LARGEST, |units| {
        Mu::from_units(units).is_ok_and(&claim)
    });
    Ok(units
        .and_then(|units| Mu::from_units(units).ok())
        .ok_or(Overflow)?)
}

/// The largest ε such that every ε-DP mechanism is μ-GDP, by [`pure`], rounded down.
///
/// ```
/// use queryables::privacy::convert::gdp;
///
/// let epsilon = gdp::pure_budget("0.1254".parse()?);
/// assert!(epsilon > "0.1".parse()? && epsilon < "0.1001".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn pure_budget(mu: Mu) -> Epsilon {
    let size = float(mu);
    let half = upper(0.5 * size);
    // ln(1/Φ(−μ/2) − 1), and about μ²/8 where floats end.
    let guess = if half > 0.0 {
        libm::log1p((1.0 - 2.0 * half) / half)
    } else {
        size * size / 8.0 + libm::log(0.5 * size)
    };
    let units = most(guess * 1e27, <units::Epsilon as Unit>::LARGEST, |units| {
        Epsilon::from_units(units).is_ok_and(|epsilon| pure_is_gaussian(epsilon)(mu))
    });
    units
        .and_then(|units| Epsilon::from_units(units).ok())
        .unwrap_or_default()
}

/// For which μ it is certain that ε-DP implies μ-GDP: Φ(−μ/2) ≤ 1/(1 + e^ε).
fn pure_is_gaussian(epsilon: Epsilon) -> impl Fn(Mu) -> bool {
    let exact = WideInterval::from(epsilon);
    let powers = exact.exp().zip(exact.exp_m1());
    move |mu| {
        if epsilon == Epsilon::ZERO {
            return true;
        }
        let Some((power, rise)) = powers else {
            return is_far_out(epsilon.into(), mu.into());
        };
        let (half, below) = (
            WideInterval::from(mu).half(),
            WideInterval::whole(1) + power,
        );
        if epsilon.units() < 10_u128.pow(27) {
            // Φ(h) − ½ ≥ ½ − c = (e^ε − 1) / (2(e^ε + 1)): nothing cancels near zero.
            (rise / below).half().certainly_at_most(above_half(half))
        } else {
            (tail(half) * below).certainly_at_most(WideInterval::whole(1))
        }
    }
}

/// Φ(−μ/2) ≤ 1/(1 + e^ε) for large ε, as [`pure`] explains.
fn is_far_out(epsilon: Interval, mu: Interval) -> bool {
    use std::f64::consts::PI;
    let half = mu / Interval::TWO;
    if half.low() <= 0.0 {
        return false;
    }
    // π lies between its float, which is rounded down, and the next.
    let circle = Interval::TWO * Interval::between(PI, PI.next_up());
    let square = half.square();
    let mills = half * (square + Interval::from(3)) / (square + Interval::TWO);
    let tail = square / Interval::TWO + circle.ln() / Interval::TWO + mills.ln();
    tail.low() >= (epsilon + (-epsilon).exp().ln_1p()).high()
}

/// To 25 digits. Enclosures here are narrower than what references print, so that a comparison
/// could turn on how the last digit of the reference was rounded.
fn about(number: WideInterval) -> WideInterval {
    let digits = 10_u128.pow(25);
    number * (WideInterval::between(digits - 1, digits + 1) / WideInterval::whole(digits))
}

fn float<U: Unit>(quantity: Quantity<U>) -> f64 {
    Interval::from(quantity).middle()
}

/// δ(ε) in plain floats, for first guesses.
fn approximate(mu: f64, epsilon: f64) -> f64 {
    let (middle, half) = (epsilon / mu, 0.5 * mu);
    upper(middle - half) - libm::exp(epsilon) * upper(middle + half)
}

/// Φ(−t) in plain floats.
fn upper(t: f64) -> f64 {
    0.5 * libm::erfc(t / std::f64::consts::SQRT_2)
}

/// Where a monotone claim about floats becomes true.
fn crossing(low: f64, high: f64, claim: impl Fn(f64) -> bool) -> f64 {
    bisect(high, low, after(60), claim).0
}
