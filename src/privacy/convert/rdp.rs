//! Rényi privacy of a fixed order, to and from (ε, δ), and the Rényi curves of mechanisms.

pub use super::curves::{gaussian, laplace, pure, subsampled_gaussian};
use super::{log_inverse, loss_up, probability_up};
use crate::privacy::{Delta, Epsilon, Interval, Order, UnknownLoss};

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
