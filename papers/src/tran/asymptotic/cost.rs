//! What the approximate GDP filter charges (Tran et al. Alg. 2), and its inverse.

use queryables::number::{Delta, Scale};
use queryables::privacy::Overflow;

use super::{MeanLoss, Regime};
use crate::number::{above, below, float};

/// T's `getApprox`: about the mean privacy loss of a sampled Gaussian, ½q²(e^(c²/σ²) − 1) for small
/// rates and ½q²c²/σ² for large ones, rounded up, for a contribution of norm c.
///
/// # Errors
///
/// [`Overflow`] if it cannot be held.
///
/// ```
/// use papers::tran::asymptotic::{Regime, cost};
///
/// let cost = cost(Regime::Small, "0.01".parse()?, "1.5".parse()?, "1".parse()?)?;
/// assert!(cost.0 > "2.798e-5".parse()? && cost.0 < "2.799e-5".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn cost(regime: Regime, rate: Delta, sigma: Scale, norm: Scale) -> Result<MeanLoss, Overflow> {
    let cost = cost_of(regime, rate, float(norm) / float(sigma));
    above(cost).map(MeanLoss).ok_or(Overflow)
}

/// By the ratio of norm and deviation.
pub(super) fn cost_of(regime: Regime, rate: Delta, ratio: f64) -> f64 {
    let square = ratio * ratio;
    let growth = match regime {
        Regime::Small => square.exp_m1(),
        Regime::Large => square,
    };
    0.5 * float(rate).powi(2) * growth
}

/// T's `invBudg`: the norm that spends exactly this much, rounded down; with the rate of the step
/// itself (T prints q̄).
///
/// ```
/// use papers::tran::asymptotic::{MeanLoss, Regime, norm_for_budget};
///
/// let budget = MeanLoss("0.001".parse()?);
/// let norm = norm_for_budget(Regime::Small, "0.01".parse()?, "1.5".parse()?, budget);
/// assert!(norm > Some("2.617283".parse()?) && norm < Some("2.617284".parse()?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn norm_for_budget(
    regime: Regime,
    rate: Delta,
    sigma: Scale,
    budget: MeanLoss,
) -> Option<Scale> {
    if rate == Delta::ZERO || budget == MeanLoss::default() {
        return None;
    }
    let square = 2.0 * float(budget.0) / float(rate).powi(2);
    let square = match regime {
        Regime::Small => square.ln_1p(),
        Regime::Large => square,
    };
    below(float(sigma) * square.sqrt())
}

/// σ in T §4.5: offset + sin(π/steps · block·⌈t/block⌉), for step t from 1.
#[must_use]
pub fn scheduled_sigma(step: u64, steps: u64, block: u64, offset: f64) -> f64 {
    let turn = block as f64 * step.div_ceil(block.max(1)) as f64;
    offset + libm::sin(std::f64::consts::PI / steps as f64 * turn)
}

/// The total cost of a schedule as in T §4.5, rounded up.
///
/// # Errors
///
/// [`Overflow`] if it cannot be held.
///
/// ```
/// use papers::tran::asymptotic::schedule;
///
/// let cost = schedule(3650, "0.01".parse()?, 150, 1.5, "1".parse()?)?;
/// assert!((cost.about_mu() - 0.31425).abs() < 1e-5);
/// // Less than the 1.2157 of the same launches in a fixed order: not an upper bound.
/// assert!((cost.about_epsilon("1e-5".parse()?) - 1.191).abs() < 1e-3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn schedule(
    steps: u64,
    rate: Delta,
    block: u64,
    offset: f64,
    norm: Scale,
) -> Result<MeanLoss, Overflow> {
    let total = (1..=steps).fold(0.0, |sum, step| {
        let sigma = scheduled_sigma(step, steps, block, offset);
        sum + cost_of(Regime::Small, rate, float(norm) / sigma)
    });
    above(total).map(MeanLoss).ok_or(Overflow)
}
