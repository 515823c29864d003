//! Rényi divergences of Gaussian noise on a Poisson sample.

use super::loss_up;
use super::mixture::{Against, Mixture};
use super::rdp::excess;
use crate::number::{Delta, Epsilon, Interval, Order, Scale, Unit, units};
use crate::privacy::UnknownLoss;

/// The Rényi divergence of order α of Gaussian noise on a sample that each row joins with
/// probability `rate`, rounded up (Mironov, Talwar, Zhang 2019, §3.3).
///
/// # Guarantee
///
/// For rows that are added or removed; for rows that are replaced it is
/// [`subsampled_gaussian_replaced`]. At whole orders it is their sum, elsewhere the integral itself,
/// both enclosed. Where that would take more than 2^18 places, which begins at an order of about
/// 40 000·σ, it is the divergence of the next whole order, which is not less.
///
/// # Errors
///
/// [`UnknownLoss`] if it cannot be held, or if the order is more than a million: there is one term to
/// sum up for each whole number up to it, unless `rate` is 0 or 1.
///
/// ```
/// use queryables::privacy::convert::rdp;
///
/// let at = |order: &str| -> Result<_, Box<dyn std::error::Error>> {
///     Ok(rdp::subsampled_gaussian(order.parse()?, "0.01".parse()?, "1".parse()?, "1".parse()?)?)
/// };
/// assert!(at("2")? < "0.0001719".parse()?);
/// assert!(at("2.5")? < "0.0002176".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn subsampled_gaussian(
    order: Order,
    rate: Delta,
    sensitivity: Scale,
    sigma: Scale,
) -> Result<Epsilon, UnknownLoss> {
    added(order, rate, half_square(sensitivity, sigma))
}

/// The same for a row that is replaced by another one: both move the sum by at most `sensitivity`, in
/// any two directions. Rounded up.
///
/// # Guarantee
///
/// The worst are opposite directions ([`SampledReplacement`]), so it is the divergence of
/// (1 − q)N(0, 1) + qN(μ, 1) from (1 − q)N(0, 1) + qN(−μ, 1), for μ = sensitivity/σ. It is enclosed, but
/// for orders that would take more than 2^18 places (from about 3000 on, for μ = 1). There it is
/// [`subsampled_gaussian`] plus ln(1/(1 − q)), which is not less, because the second density is at least
/// (1 − q)N(0, 1); or 2αμ² if that is less, because a sample is never worse than all rows.
///
/// # Errors
///
/// As for [`subsampled_gaussian`].
///
/// ```
/// use queryables::privacy::convert::rdp;
///
/// let (order, rate, one) = ("2".parse()?, "0.01".parse()?, "1".parse()?);
/// let replaced = rdp::subsampled_gaussian_replaced(order, rate, one, one)?;
/// assert!(replaced < "0.0004576".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// [`SampledReplacement`]: crate::privacy::facts::SampledReplacement
pub fn subsampled_gaussian_replaced(
    order: Order,
    rate: Delta,
    sensitivity: Scale,
    sigma: Scale,
) -> Result<Epsilon, UnknownLoss> {
    replaced(order, rate, half_square(sensitivity, sigma))
}

fn half_square(sensitivity: Scale, sigma: Scale) -> Interval {
    let ratio = Interval::from(sensitivity) / Interval::from(sigma);
    ratio.square() / Interval::TWO
}

/// [`subsampled_gaussian`], where `half` is half the square of μ.
pub(crate) fn added(order: Order, rate: Delta, half: Interval) -> Result<Epsilon, UnknownLoss> {
    at_most_everybody(order, rate, half, || {
        if let Some(whole) = order.whole() {
            return at_whole_order(whole, rate, half);
        }
        match Mixture::new(rate, half).log_moment(Against::Nothing, excess(order)) {
            Some(log) => loss_up(log / excess(order)),
            None => at_whole_order(above(order)?, rate, half),
        }
    })
}

/// [`subsampled_gaussian_replaced`], where `half` is half the square of μ.
pub(crate) fn replaced(order: Order, rate: Delta, half: Interval) -> Result<Epsilon, UnknownLoss> {
    // N(μ, 1) and N(−μ, 1) are 2μ apart.
    let everybody = Interval::exactly(4.0) * half;
    at_most_everybody(order, rate, everybody, || {
        match Mixture::new(rate, half).log_moment(Against::Opposite, excess(order)) {
            Some(log) => loss_up(log / excess(order)),
            None => {
                let rest = Interval::from(Delta::ONE.saturating_sub(rate));
                loss_up(Interval::from(added(order, rate, half)?) - rest.ln())
            }
        }
    })
}

/// What `sampled` says, and never more than all rows lose, α·`half`: the divergence of a mixture is at
/// most the largest of its parts.
fn at_most_everybody(
    order: Order,
    rate: Delta,
    half: Interval,
    sampled: impl FnOnce() -> Result<Epsilon, UnknownLoss>,
) -> Result<Epsilon, UnknownLoss> {
    /// This order takes about a second.
    const LARGEST_ORDER: u128 = 1_000_000;
    if rate == Delta::ZERO {
        return Ok(Epsilon::ZERO);
    }
    let everybody = loss_up(Interval::from(order) * half);
    if rate == Delta::ONE {
        return everybody;
    }
    if order.units() > LARGEST_ORDER * ONE {
        return Err(UnknownLoss("the order must be at most 1000000"));
    }
    // If the rate is so near 1 that floats cannot distinguish it, only the other bound is known.
    match (sampled(), everybody) {
        (Ok(sampled), Ok(everybody)) => Ok(sampled.min(everybody)),
        (sampled, everybody) => sampled.or(everybody),
    }
}

/// The units of the order 1.
const ONE: u128 = 10_u128.pow(<units::Order as Unit>::DECIMALS);

/// The next whole order.
fn above(order: Order) -> Result<u32, UnknownLoss> {
    u32::try_from(order.units().div_ceil(ONE)).map_err(|_| UnknownLoss("no order is large enough"))
}

/// The sum of Mironov, Talwar and Zhang 2019, §3.3, for an order from 2 on.
fn at_whole_order(order: u32, rate: Delta, half: Interval) -> Result<Epsilon, UnknownLoss> {
    // Σ_k C(α,k) (1−q)^(α−k) q^k (e^(k(k−1)·half) − 1) is the moment less 1: the weights sum up
    // to 1, and the terms for k = 0 and 1 vanish.
    let (rate, rest) = (Interval::from(rate), Interval::ONE - Interval::from(rate));
    let odds = rate / rest;
    let log_rest = (-rate).ln_1p();
    // In logarithms, so that neither weights nor moments overflow: ln weight of k = 0 first.
    let mut log_weight = Interval::from(order) * log_rest;
    let mut log_moment = Interval::exactly(f64::NEG_INFINITY);
    let log_odds = odds.ln();
    for k in 1..=order {
        let ratio = Interval::from(order - k + 1) / Interval::from(k);
        log_weight = log_weight + ratio.ln() + log_odds;
        if k == 1 {
            continue;
        }
        let exponent = Interval::from(k) * Interval::from(k - 1) * half;
        let log_term = log_weight + log_exp_m1(exponent);
        log_moment = log_sum(log_moment, log_term);
    }
    let log_total = if log_moment.high() < 500.0 {
        log_moment.exp().ln_1p()
    } else {
        // ln(1 + m) ≤ ln m + 1/m.
        log_moment + Interval::between(0.0, 1e-200)
    };
    loss_up(log_total / Interval::from(order - 1))
}

/// `ln(e^x − 1)` of a positive number.
fn log_exp_m1(x: Interval) -> Interval {
    if x.high() < 30.0 {
        x.exp_m1().ln()
    } else {
        x + (-(-x).exp()).ln_1p()
    }
}

/// `ln(e^a + e^b)`, where a may be −∞.
fn log_sum(one: Interval, other: Interval) -> Interval {
    if one.high() == f64::NEG_INFINITY {
        return other;
    }
    // ln(e^a + e^b) = max + ln(1 + e^(min − max)), and rises in both: bound by bound.
    let at = |one: f64, other: f64| {
        let (small, large) = if one < other {
            (one, other)
        } else {
            (other, one)
        };
        let (small, large) = (Interval::exactly(small), Interval::exactly(large));
        large + (small - large).exp().ln_1p()
    };
    Interval::between(
        at(one.low(), other.low()).low(),
        at(one.high(), other.high()).high(),
    )
}

#[cfg(test)]
mod tests;
