//! Moments of the privacy loss of a sampled Gaussian, and the approximation of them that the
//! approximate GDP filter charges (Tran et al. 4.1, Alg. 2).
//!
//! Nothing here is a guarantee: the approximation holds in a limit, as q → 0 or as q → 1 and
//! σ → ∞, and the moments are computed by quadrature in floats.

use crate::number::{Delta, Epsilon, Interval, Mu, Scale};
use crate::privacy::Overflow;

/// The limit in which an approximation holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Regime {
    /// Small rates: q < 0.2.
    Small,
    /// Large rates and much noise: q > 0.8.
    Large,
}

/// T's `getApprox`: about the mean privacy loss of a sampled Gaussian, ½q²(e^(c²/σ²) − 1) for small
/// rates and ½q²c²/σ² for large ones, rounded up, for a contribution of norm c.
///
/// # Errors
///
/// [`Overflow`] if it cannot be held.
///
/// ```
/// use queryables::privacy::fdp::asymptotic::{Regime, cost};
///
/// let cost = cost(Regime::Small, "0.01".parse()?, "1.5".parse()?, "1".parse()?)?;
/// assert!(cost > "2.798e-5".parse()? && cost < "2.799e-5".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn cost(regime: Regime, rate: Delta, sigma: Scale, norm: Scale) -> Result<Epsilon, Overflow> {
    cost_of(regime, rate, sigma.into(), norm.into())
        .up()
        .ok_or(Overflow)
}

fn cost_of(regime: Regime, rate: Delta, sigma: Interval, norm: Interval) -> Interval {
    let ratio = (norm / sigma).square();
    let growth = match regime {
        Regime::Small => ratio.exp_m1(),
        Regime::Large => ratio,
    };
    Interval::from(rate).square() * growth * Interval::exactly(0.5)
}

/// T's `invBudg`: the norm that spends exactly this much, rounded down; with the rate of the step
/// itself (T prints q̄).
///
/// ```
/// use queryables::privacy::fdp::asymptotic::{Regime, norm_for_budget};
///
/// let norm = norm_for_budget(Regime::Small, "0.01".parse()?, "1.5".parse()?, "0.001".parse()?);
/// assert!(norm > Some("2.617283".parse()?) && norm < Some("2.617284".parse()?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn norm_for_budget(
    regime: Regime,
    rate: Delta,
    sigma: Scale,
    budget: Epsilon,
) -> Option<Scale> {
    if rate == Delta::ZERO || budget == Epsilon::ZERO {
        return None;
    }
    let twice = Interval::TWO * Interval::from(budget);
    let root = match regime {
        Regime::Small => (twice / Interval::from(rate).square()).ln_1p().sqrt(),
        Regime::Large => twice.sqrt() / Interval::from(rate),
    };
    (Interval::from(sigma) * root).down()
}

/// σ in T §4.5: offset + sin(π/steps · block·⌈t/block⌉), for step t from 1.
#[must_use]
pub fn scheduled_sigma(step: u64, steps: u64, block: u64, offset: f64) -> f64 {
    let turn = block as f64 * step.div_ceil(block.max(1)) as f64;
    offset + libm::sin(std::f64::consts::PI / steps as f64 * turn)
}

/// The total cost of a schedule as in T §4.5, and √(2·cost), rounded up.
///
/// # Errors
///
/// [`Overflow`] if they cannot be held.
pub fn schedule(
    steps: u64,
    rate: Delta,
    block: u64,
    offset: f64,
    norm: Scale,
) -> Result<(Epsilon, Mu), Overflow> {
    let total = (1..=steps).fold(Interval::ZERO, |sum, step| {
        let sigma = scheduled_sigma(step, steps, block, offset);
        // The angle is right to 1e-14, so is the sine.
        let sigma = Interval::between(sigma - 1e-13, sigma + 1e-13);
        sum + cost_of(Regime::Small, rate, sigma, norm.into())
    });
    let mu = (Interval::TWO * total).sqrt();
    Ok((total.up().ok_or(Overflow)?, mu.up().ok_or(Overflow)?))
}

/// Moments of the privacy loss ln P/Q of a sampled Gaussian.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moments {
    /// Its mean under P.
    pub mean_p: f64,
    /// Its mean under Q.
    pub mean_q: f64,
    /// Its variance under P.
    pub variance_p: f64,
    /// Its variance under Q.
    pub variance_q: f64,
}

/// The moments for a rate and a deviation σ, at sensitivity 1, to some ten digits.
///
/// By the trapezoidal rule, whose error falls faster than any power of the step for a function
/// that is smooth and falls like e^(−x²/2).
///
/// ```
/// use queryables::privacy::fdp::asymptotic::moments;
///
/// let moments = moments(0.01, 1.0);
/// assert!((moments.mean_p - 8.38122076508e-5).abs() < 1e-14);
/// ```
#[must_use]
pub fn moments(rate: f64, sigma: f64) -> Moments {
    const STEPS: i32 = 64;
    let mu = 1.0 / sigma;
    let from = (-40 * STEPS) / 3;
    let to = (libm::ceil(mu + 14.0) as i32).saturating_mul(STEPS);
    let mut sums = [0.0_f64; 5];
    for index in from..=to {
        let x = f64::from(index) / f64::from(STEPS);
        let excess = rate * libm::expm1(mu * x - 0.5 * mu * mu);
        let loss = libm::log1p(excess);
        let density = libm::exp(-0.5 * x * x);
        // ln(1+e) − e, so that the mean, which is far smaller than the loss, is precise.
        for (sum, value) in sums.iter_mut().zip([
            density,
            density * (loss - excess),
            density * loss * loss,
            density * (loss - excess) * (1.0 + excess) + density * excess * excess,
            density * loss * loss * (1.0 + excess),
        ]) {
            *sum += value;
        }
    }
    let [whole, mean_q, square_q, mean_p, square_p] = sums;
    // E_Q[e] = 0 and E_P[e] = E_Q[e²].
    let [mean_q, square_q, mean_p, square_p] =
        [mean_q, square_q, mean_p, square_p].map(|sum| sum / whole);
    Moments {
        mean_p,
        mean_q,
        variance_p: square_p - mean_p * mean_p,
        variance_q: square_q - mean_q * mean_q,
    }
}
