//! Rényi privacy of a fixed order, to and from (ε, δ), and the Rényi curves of mechanisms.

use super::{log_inverse, loss_up, probability_up};
use crate::privacy::{Delta, Epsilon, Interval, Order, Scale, UnknownLoss};

/// The smallest ε such that Rényi privacy `loss` of order α is known to imply (ε, δ)-DP
/// (Canonne, Kamath, Steinke 2020, Prop. 12).
///
/// # Errors
///
/// [`UnknownLoss`] if δ is zero or ε cannot be held.
///
/// ```
/// use queryables::privacy::convert::rdp;
///
/// let epsilon = rdp::epsilon("8".parse()?, "0.5".parse()?, "1e-5".parse()?)?;
/// assert!(epsilon < "1.7142".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn epsilon(order: Order, loss: Epsilon, delta: Delta) -> Result<Epsilon, UnknownLoss> {
    let log = log_inverse(delta)?;
    loss_up(epsilon_at(loss.into(), excess(order), log))
}

/// `τ + ln(1/δ)/(α − 1)`: the smallest ε by the conversion of Mironov 2017 (Feldman and Zrnic,
/// Fact 2.4).
///
/// # Errors
///
/// As for [`epsilon`].
pub fn epsilon_simple(order: Order, loss: Epsilon, delta: Delta) -> Result<Epsilon, UnknownLoss> {
    loss_up(Interval::from(loss) + log_inverse(delta)? / excess(order))
}

/// The smallest δ such that Rényi privacy `loss` of order α is known to imply (ε, δ)-DP
/// (Canonne, Kamath, Steinke 2020, Prop. 12).
///
/// ```
/// use queryables::privacy::convert::rdp;
///
/// let delta = rdp::delta("8".parse()?, "0.5".parse()?, "1.7142".parse()?);
/// assert!(delta <= "1e-5".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn delta(order: Order, loss: Epsilon, epsilon: Epsilon) -> Delta {
    probability_up(log_delta_at(loss.into(), excess(order), epsilon.into()).exp())
}

/// The largest Rényi loss of order α that is known to imply (ε, δ)-DP, by the conversion of
/// [`epsilon`].
///
/// # Errors
///
/// [`UnknownLoss`] if δ is zero, or if at this order no loss at all is known to be within (ε, δ).
///
/// ```
/// use queryables::privacy::{UnknownLoss, convert::rdp};
///
/// let order = "8".parse()?;
/// let loss = rdp::budget(order, "1.7142".parse()?, "1e-5".parse()?)?;
/// assert!(loss >= "0.5".parse()?);
/// assert_eq!(
///     rdp::budget("1.5".parse()?, "0.1".parse()?, "1e-5".parse()?),
///     Err(UnknownLoss("no Rényi loss of this order is known to be within the budget")),
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn budget(order: Order, epsilon: Epsilon, delta: Delta) -> Result<Epsilon, UnknownLoss> {
    renyi_budget_at(epsilon.into(), excess(order), log_inverse(delta)?)
        .down()
        .ok_or(UnknownLoss(
            "no Rényi loss of this order is known to be within the budget",
        ))
}

// With a = α − 1, which is exact where α itself would be rounded, Prop. 12 of Canonne, Kamath and
// Steinke, δ = e^(a(τ−ε)) / a · (1 − 1/α)^α, reads
//
//     ln δ = a (τ − ε − ln(1 + 1/a)) − ln(1 + a),
//
// because ln(1 − 1/α) = −ln(1 + 1/a). Solved for ε and for τ it gives the other two. Nothing
// cancels but what must.

/// ε at the order 1 + a.
pub(crate) fn epsilon_at(tau: Interval, excess: Interval, log: Interval) -> Interval {
    tau + renyi_surcharge(excess, log)
}

/// τ at the order 1 + a.
pub(crate) fn renyi_budget_at(epsilon: Interval, excess: Interval, log: Interval) -> Interval {
    epsilon - renyi_surcharge(excess, log)
}

/// ln δ at the order 1 + a.
pub(crate) fn log_delta_at(tau: Interval, excess: Interval, epsilon: Interval) -> Interval {
    excess * (tau - epsilon - (Interval::ONE / excess).ln_1p()) - excess.ln_1p()
}

/// ε − τ.
fn renyi_surcharge(excess: Interval, log: Interval) -> Interval {
    (log - excess.ln_1p()) / excess - (Interval::ONE / excess).ln_1p()
}

/// α − 1.
pub(crate) fn excess(order: Order) -> Interval {
    const ONE: u128 = 1_000_000_000;
    Interval::whole(order.units() - ONE) / Interval::whole(ONE)
}

/// The largest Rényi divergence of order α that an ε-DP mechanism can have: that of randomized
/// response, rounded up.
///
/// # Guarantee
///
/// Every ε-DP mechanism is a postprocessing of randomized response (Kairouz, Oh, Viswanath 2015),
/// which no Rényi divergence survives larger. It is less than αε²/2, which ε²/2-zCDP would give.
///
/// # Errors
///
/// [`UnknownLoss`] if it cannot be held.
///
/// ```
/// use queryables::privacy::convert::rdp;
///
/// let loss = rdp::pure("2".parse()?, "1".parse()?)?;
/// assert!(loss < "0.7354".parse()?); // αε²/2 = 1
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn pure(order: Order, epsilon: Epsilon) -> Result<Epsilon, UnknownLoss> {
    if epsilon == Epsilon::ZERO {
        return Ok(Epsilon::ZERO);
    }
    // Never more than ε, which rounding might forget.
    let loss: Epsilon = loss_up(randomized_response(excess(order), epsilon.into()))?;
    Ok(loss.min(epsilon))
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

/// `e^x − 1 − x`, precise near zero.
fn exp_m1_less_linear(x: Interval) -> Interval {
    /// 0.5^20/20! = 4e-25, of a result of x²/2.
    const TERMS: u32 = 20;
    if x.low().abs().max(x.high().abs()) > 0.5 {
        return x.exp_m1() - x;
    }
    // x²/2 · (1 + x/3 · (1 + x/4 · (… (1 + x/TERMS · rest)))), where the rest, 1 + x/21 + …, is
    // within 1 ± 0.03.
    let rest = Interval::between(0.9, 1.1);
    let series = (3..=TERMS).rev().fold(rest, |rest, divisor| {
        Interval::ONE + x / Interval::from(divisor) * rest
    });
    x.square() / Interval::TWO * series
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
/// [`UnknownLoss`] if it cannot be held, if `rate` is more than 1, or if the order is 1 or less.
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
    if order < 2 {
        return Err(UnknownLoss("the order must be at least 2"));
    }
    let ratio = Interval::from(sensitivity) / Interval::from(sigma);
    let half = ratio.square() / Interval::TWO;
    if rate == Delta::ONE {
        return loss_up(Interval::from(order) * half);
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
