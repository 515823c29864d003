//! Rényi divergences of mechanisms, as functions of the order.

use std::num::NonZeroU64;

use super::loss_up;
use super::rdp::excess;
use super::stable::{exp_m1_less_linear, rest, sinh_ratio_rise};
use crate::number::{Delta, Epsilon, Interval, Order, Scale};
use crate::privacy::UnknownLoss;

/// The largest Rényi divergence of order α that an ε-DP mechanism can have: that of randomized
/// response, rounded up.
///
/// # Guarantee
///
/// Every ε-DP mechanism is a postprocessing of randomized response (Kairouz, Oh, Viswanath 2015),
/// and postprocessing does not increase a Rényi divergence. It is less than αε²/2, which ε²/2-zCDP
/// would give.
///
/// ```
/// use queryables::privacy::convert::rdp;
///
/// let loss = rdp::pure("2".parse()?, "1".parse()?);
/// assert!(loss < "0.7354".parse()?); // αε²/2 = 1
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn pure(order: Order, epsilon: Epsilon) -> Epsilon {
    if epsilon == Epsilon::ZERO {
        return Epsilon::ZERO;
    }
    let loss = randomized_response(excess(order), epsilon.into()).up();
    // Never more than ε, even after rounding.
    loss.map_or(epsilon, |loss: Epsilon| loss.min(epsilon))
}

/// The Rényi divergence of order 1 + a of randomized response.
///
/// With p = e^ε/(1 + e^ε), Σ p^α q^(1−α) − 1 = (1 − e^(−aε)) (e^(αε) − 1) / (1 + e^ε).
pub(crate) fn randomized_response(excess: Interval, epsilon: Interval) -> Interval {
    let order = excess + Interval::ONE;
    let exponent = order * epsilon;
    if exponent.high() < 600.0 {
        let shortfall = -(-(excess * epsilon)).exp_m1();
        let moment = shortfall * exponent.exp_m1() / (Interval::ONE + epsilon.exp());
        moment.ln_1p() / excess
    } else {
        // The logarithm of the same sum, written so that nothing overflows.
        let tail = (-epsilon).exp().ln_1p() - (-(exponent + excess * epsilon)).exp().ln_1p();
        epsilon - tail / excess
    }
}

/// The Rényi divergence of order α of Laplace noise, rounded up (Mironov 2017, Prop. 6).
///
/// # Errors
///
/// [`UnknownLoss`] if it cannot be held.
///
/// ```
/// use queryables::privacy::convert::rdp;
///
/// let loss = rdp::laplace("2".parse()?, "1".parse()?, "1".parse()?)?;
/// assert!(loss < "0.61913".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn laplace(order: Order, sensitivity: Scale, scale: Scale) -> Result<Epsilon, UnknownLoss> {
    let epsilon = Interval::from(sensitivity) / Interval::from(scale);
    let excess = excess(order);
    let order = excess + Interval::ONE;
    let both = order + excess;
    let rise = excess * epsilon;
    let loss = if rise.high() < 1.0 {
        // The moment less 1, in which the linear terms of the two exponentials cancel exactly.
        let moment = (order * exp_m1_less_linear(rise)
            + excess * exp_m1_less_linear(-(order * epsilon)))
            / both;
        moment.ln_1p() / excess
    } else {
        let tail = excess / order * (-(both * epsilon)).exp();
        epsilon + ((order / both).ln() + tail.ln_1p()) / excess
    };
    loss_up(loss)
}

/// The Rényi divergence of order α of discrete Laplace noise of scale `steps/ε` on a whole number
/// that changes by at most `steps`, rounded up.
///
/// Noise is `k` with probability `(1 − q)/(1 + q) · q^|k|`, where `q = e^(−ε/steps)`. For one step
/// this is [`pure`], which no ε-DP mechanism exceeds; for many it falls to [`laplace`].
///
/// # Guarantee
///
/// Of `p(k)^α · p(k − d)^(1−α)`, summed up over all k, the parts below 0, from 1 to d − 1, and from d
/// on are geometric series. They make
/// `e^((α−1)ε) · ((1 + e^(−(2α−1)ε))/(1 + q) + (1 − q)/(1 + q) · (r − r^d)/(1 − r))`
/// with `r = q^(2α−1)`, for d = `steps`. With the same q it is less for smaller d: the sum grows from d
/// to d + 1 by at least `q^(αd)/(1 + q)` times `2q^(1−α) − q^(2−α) + q^α − 2`, and that is zero at
/// α = 1 and grows with α.
///
/// ```
/// use queryables::privacy::convert::rdp;
/// use std::num::NonZeroU64;
///
/// let (order, epsilon) = ("2".parse()?, "1".parse()?);
/// let ten = NonZeroU64::new(10).expect("not zero");
/// assert!(rdp::discrete_laplace(order, ten, epsilon) < rdp::pure(order, epsilon));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn discrete_laplace(order: Order, steps: NonZeroU64, epsilon: Epsilon) -> Epsilon {
    let most = pure(order, epsilon);
    if steps == NonZeroU64::MIN || epsilon == Epsilon::ZERO {
        return most;
    }
    let loss = geometric(excess(order), steps, epsilon.into()).up();
    loss.map_or(most, |loss: Epsilon| loss.min(most))
}

/// The divergence of order 1 + a of discrete Laplace noise.
///
/// With s = ε/d, the moment of [`discrete_laplace`] is `A e^aε + B e^−αε`, where
/// `A = (1 − e^−2αs)/N` and `B = q(1 − e^−2as)/N` for `N = (1 + q)(1 − e^−(2α−1)s)` add up to 1.
/// With L(x) = e^x − 1 − x it is therefore more than 1 by `A L(aε) + B L(−αε) + (aA − αB) ε`, and
/// `N(aA − αB) = 2e^−αs (a sinh(αs) − α sinh(as))`: no term is negative.
fn geometric(excess: Interval, steps: NonZeroU64, epsilon: Interval) -> Interval {
    let order = Interval::ONE + excess;
    let both = order + excess;
    let step = epsilon / Interval::whole(steps.get().into());
    let (decay, rise) = ((-step).exp(), excess * epsilon);
    let whole = (Interval::ONE + decay) * rest(both * step);
    let up = rest(Interval::TWO * order * step) / whole;
    let down = decay * rest(Interval::TWO * excess * step) / whole;
    if rise.high() >= 1.0 {
        // The logarithm of the same moment, written so that nothing overflows.
        let tail = down / up * (-(both * epsilon)).exp();
        return epsilon + (up.ln() + tail.ln_1p()) / excess;
    }
    let (less, more) = (excess * step, order * step);
    let linear = if more.high() <= 1.0 {
        let sines = sinh_ratio_rise(less, more, both * step.square());
        Interval::TWO * (-more).exp() * excess * more * sines
    } else {
        excess * rest(more + more) - order * decay * rest(less + less)
    };
    let moment = up * exp_m1_less_linear(rise)
        + down * exp_m1_less_linear(-(order * epsilon))
        + epsilon * linear.max(Interval::ZERO) / whole;
    moment.ln_1p() / excess
}

/// The Rényi divergence of order α of Gaussian noise, `α·sensitivity²/(2σ²)`, rounded up
/// (Mironov 2017, Prop. 7).
///
/// # Errors
///
/// [`UnknownLoss`] if it cannot be held.
///
/// ```
/// use queryables::privacy::convert::rdp;
///
/// let loss = rdp::gaussian("8".parse()?, "1".parse()?, "10".parse()?)?;
/// assert!(loss >= "0.04".parse()? && loss < "0.0400000001".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn gaussian(order: Order, sensitivity: Scale, sigma: Scale) -> Result<Epsilon, UnknownLoss> {
    let ratio = Interval::from(sensitivity) / Interval::from(sigma);
    loss_up(Interval::from(order) * ratio.square() / Interval::TWO)
}

/// The Rényi divergence of a whole order α of Gaussian noise on a sample that each row joins with
/// probability `rate`, rounded up (Mironov, Talwar, Zhang 2019, §3.3).
///
/// # Guarantee
///
/// For rows that are added or removed; for rows that are replaced it is another one.
///
/// # Errors
///
/// [`UnknownLoss`] if it cannot be held, if the order is 1 or less, or if it is more than a million:
/// there is one term to sum up for each whole number up to it, unless `rate` is 0 or 1.
///
/// ```
/// use queryables::privacy::convert::rdp;
///
/// let loss = rdp::subsampled_gaussian(2, "0.01".parse()?, "1".parse()?, "1".parse()?)?;
/// assert!(loss < "0.0001719".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn subsampled_gaussian(
    order: u32,
    rate: Delta,
    sensitivity: Scale,
    sigma: Scale,
) -> Result<Epsilon, UnknownLoss> {
    let ratio = Interval::from(sensitivity) / Interval::from(sigma);
    sampled(order, rate, ratio.square() / Interval::TWO)
}

/// [`subsampled_gaussian`], where `half` is half the square of the sensitivity over σ.
pub(crate) fn sampled(order: u32, rate: Delta, half: Interval) -> Result<Epsilon, UnknownLoss> {
    /// This order takes about a second.
    const LARGEST_ORDER: u32 = 1_000_000;
    if order < 2 {
        return Err(UnknownLoss("the order must be at least 2"));
    }
    if rate == Delta::ZERO {
        return Ok(Epsilon::ZERO);
    }
    // A sample is never worse than all rows: the divergence of a mixture is at most that of its parts.
    let everybody = loss_up(Interval::from(order) * half);
    if rate == Delta::ONE {
        return everybody;
    }
    if order > LARGEST_ORDER {
        return Err(UnknownLoss("the order must be at most 1000000"));
    }
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
    // If the rate is so near 1 that floats cannot distinguish it, only the other bound is known.
    match (loss_up(log_total / Interval::from(order - 1)), everybody) {
        (Ok(sampled), Ok(everybody)) => Ok(sampled.min(everybody)),
        (sampled, everybody) => sampled.or(everybody),
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
