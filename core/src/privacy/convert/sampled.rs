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
/// both enclosed.
///
/// Two ranges have an upper bound only. Between whole orders, where the integral would take more than
/// 2^18 places (from an order of about 44 000·σ² on, if σ is at most 1), it is the chord of the moment's
/// logarithm, which is convex in the order. Beyond an order of a million, and wherever that is less, it is
/// ln(1 − q + q·e^(aτ))/a for a = α − 1 and the divergence τ on all rows, because moments are jointly convex.
///
/// # Errors
///
/// [`UnknownLoss`] if it cannot be held.
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
/// (1 − q)N(0, 1); or the bound from all rows, if that is less.
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
pub fn added(order: Order, rate: Delta, half: Interval) -> Result<Epsilon, UnknownLoss> {
    at_most_mixed(order, rate, half, || {
        let integral = || Mixture::new(rate, half).log_moment(Against::Nothing, excess(order));
        let log = match order.whole() {
            Some(whole) if whole <= LARGEST_SUM => {
                let sum = log_moment_at(whole, rate, half);
                // Long sums, and rates next to 1, are rounded more than the integral is.
                let wide = sum.high() - sum.low() > 1e-10 * sum.high();
                let integral = wide.then(integral).flatten();
                integral.map_or(sum, |integral| integral.min(sum))
            }
            Some(_) => return None,
            None => integral().or_else(|| chord(order, rate, half))?,
        };
        Some(log / excess(order))
    })
}

/// [`subsampled_gaussian_replaced`], where `half` is half the square of μ.
pub fn replaced(order: Order, rate: Delta, half: Interval) -> Result<Epsilon, UnknownLoss> {
    // N(μ, 1) and N(−μ, 1) are 2μ apart.
    at_most_mixed(order, rate, Interval::exactly(4.0) * half, || {
        let integral = Mixture::new(rate, half).log_moment(Against::Opposite, excess(order));
        integral.map(|log| log / excess(order)).or_else(|| {
            let rest = Interval::from(Delta::ONE.saturating_sub(rate));
            Some(Interval::from(added(order, rate, half).ok()?) - rest.ln())
        })
    })
}

/// What `sampled` says, and never more than follows from what all rows lose, τ = α·`half`: moments are
/// jointly convex, so with a = α − 1 that of a mixture is at most 1 − q + q·e^(aτ).
fn at_most_mixed(
    order: Order,
    rate: Delta,
    half: Interval,
    sampled: impl FnOnce() -> Option<Interval>,
) -> Result<Epsilon, UnknownLoss> {
    if rate == Delta::ZERO {
        return Ok(Epsilon::ZERO);
    }
    let everybody = Interval::from(order) * half;
    if rate == Delta::ONE {
        return loss_up(everybody);
    }
    let log = Mixture::new(rate, half).log_of_mixture(excess(order) * everybody);
    // Next to a rate of 1 it is rounded more than τ itself.
    let mixed = loss_up((log / excess(order)).min(everybody));
    match (sampled().map(loss_up), mixed) {
        (Some(Ok(sampled)), Ok(mixed)) => Ok(sampled.min(mixed)),
        (Some(Ok(sampled)), Err(_)) => Ok(sampled),
        (_, mixed) => mixed,
    }
}

/// The sum of this order takes about a second.
const LARGEST_SUM: u32 = 1_000_000;

/// An upper bound of the moment's logarithm between two whole orders n and n + 1: it is convex in the
/// order (Hölder's inequality), so it lies below its chord.
fn chord(order: Order, rate: Delta, half: Interval) -> Option<Interval> {
    const ONE: u128 = 10_u128.pow(<units::Order as Unit>::DECIMALS);
    let (below, part) = (order.units() / ONE, order.units() % ONE);
    let below = u32::try_from(below).ok().filter(|n| *n < LARGEST_SUM)?;
    let part = Interval::whole(part) / Interval::whole(ONE);
    // At the order 1 it is 0.
    let low = match below {
        1 => Interval::ZERO,
        _ => log_moment_at(below, rate, half),
    };
    let high = log_moment_at(below + 1, rate, half);
    Some((Interval::ONE - part) * low + part * high)
}

/// The logarithm of the sum of Mironov, Talwar and Zhang 2019, §3.3, for an order from 2 on.
fn log_moment_at(order: u32, rate: Delta, half: Interval) -> Interval {
    // Σ_k C(α,k) (1−q)^(α−k) q^k (e^(k(k−1)·half) − 1) is the moment less 1: the weights sum up
    // to 1, and the terms for k = 0 and 1 vanish.
    let rest = Interval::from(Delta::ONE.saturating_sub(rate));
    let rate = Interval::from(rate);
    let log_rest = if rate.high() < 0.5 {
        (-rate).ln_1p()
    } else {
        rest.ln()
    };
    // In logarithms, so that neither weights nor moments overflow: ln weight of k = 0 first.
    let mut log_weight = Interval::from(order) * log_rest;
    let mut log_moment = Interval::exactly(f64::NEG_INFINITY);
    let log_odds = (rate / rest).ln();
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
    if log_moment.high() < 500.0 {
        log_moment.exp().ln_1p()
    } else {
        // ln(1 + m) ≤ ln m + 1/m.
        log_moment + Interval::between(0.0, 1e-200)
    }
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
