//! Rényi privacy of a fixed order, to and from (ε, δ), and the Rényi curves of mechanisms.

pub use super::curves::{discrete_laplace, gaussian, laplace, pure};
pub use super::exact::{budget_exact, delta_exact, epsilon_exact};
pub use super::sampled::{subsampled_gaussian, subsampled_gaussian_replaced};
use super::search::most;
use super::{either, log_inverse, loss_up, other_of_either, probability_up};
use crate::number::{Delta, Epsilon, Interval, Order, Unit, units};
use crate::privacy::{EpsilonDelta, UnknownLoss};

/// An ε such that Rényi privacy `loss` of order α implies (ε, δ)-DP (Canonne, Kamath, Steinke 2020,
/// Prop. 12). At one order [`epsilon_exact`] is the smallest; this is what is optimised over orders.
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

/// A δ such that Rényi privacy `loss` of order α implies (ε, δ)-DP (Canonne, Kamath, Steinke 2020,
/// Prop. 12). At one order [`delta_exact`] is the smallest.
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

/// The largest Rényi loss of order α that implies (ε, δ)-DP by the conversion of [`epsilon`]. At one
/// order [`budget_exact`] allows more.
///
/// # Errors
///
/// [`UnknownLoss`] if δ is zero, or if at this order the conversion allows no loss at all.
///
/// ```
/// use queryables::privacy::{UnknownLoss, convert::rdp};
///
/// let order = "8".parse()?;
/// let loss = rdp::budget(order, "1.7142".parse()?, "1e-5".parse()?)?;
/// assert!(loss >= "0.5".parse()?);
/// assert_eq!(
///     rdp::budget("1.5".parse()?, "0.1".parse()?, "1e-5".parse()?),
///     Err(UnknownLoss("by this conversion no Rényi loss of this order is within the budget")),
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn budget(order: Order, epsilon: Epsilon, delta: Delta) -> Result<Epsilon, UnknownLoss> {
    renyi_budget_at(epsilon.into(), excess(order), log_inverse(delta)?)
        .down()
        .ok_or(NONE)
}

const NONE: UnknownLoss =
    UnknownLoss("by this conversion no Rényi loss of this order is within the budget");

/// `ε − ln(1/δ)/(α − 1)`: the largest Rényi loss of order α that implies (ε, δ)-DP by
/// [`epsilon_simple`].
///
/// # Errors
///
/// As for [`budget`].
///
/// ```
/// use queryables::privacy::convert::rdp;
///
/// let (order, delta) = ("8".parse()?, "1e-5".parse()?);
/// let loss = rdp::budget_simple(order, "2.2".parse()?, delta)?;
/// assert!(rdp::epsilon_simple(order, loss, delta)? <= "2.200000001".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn budget_simple(order: Order, epsilon: Epsilon, delta: Delta) -> Result<Epsilon, UnknownLoss> {
    (Interval::from(epsilon) - log_inverse(delta)? / excess(order))
        .down()
        .ok_or(NONE)
}

/// The (ε, δ) that δ-approximate Rényi privacy of order α is known to imply if `slack` = δ′ is given
/// up: the ε of [`epsilon_exact`] for δ′, and δ + δ′ − δδ′.
///
/// # Guarantee
///
/// Let P = (1 − δ)P′ + δP″ and Q = (1 − δ)Q′ + δQ″, where P′ and Q′ have the Rényi divergence. By
/// [`epsilon_exact`], P′(S) ≤ e^ε Q′(S) + δ′ for every event S, so
/// P(S) ≤ (1 − δ)(e^ε Q′(S) + δ′) + δ ≤ e^ε Q(S) + (1 − δ)δ′ + δ.
///
/// # Errors
///
/// As for [`epsilon_exact`], for δ′.
///
/// ```
/// use queryables::privacy::{EpsilonDelta, convert::rdp};
///
/// let loss = EpsilonDelta::new("0.5", "1e-6")?;
/// let pair = rdp::approximate("8".parse()?, loss, "1e-5".parse()?)?;
/// assert!(pair.epsilon < "1.7142".parse()?);
/// assert_eq!(pair.delta, "1.099999e-5".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn approximate(
    order: Order,
    loss: EpsilonDelta,
    slack: Delta,
) -> Result<EpsilonDelta, UnknownLoss> {
    Ok(EpsilonDelta {
        epsilon: epsilon_exact(order, loss.epsilon, slack)?,
        delta: either(loss.delta, slack),
    })
}

/// The largest approximate Rényi loss of order α that is known to imply (ε, δ)-DP by
/// [`approximate`] if `slack` = δ′ is given up: that of [`budget_exact`] for (ε, δ′), and (δ − δ′)/(1 − δ′), both
/// rounded down.
///
/// # Errors
///
/// As for [`budget_exact`], for δ′; and [`UnknownLoss`] if δ′ is more than δ.
pub fn approximate_budget(
    order: Order,
    limit: EpsilonDelta,
    slack: Delta,
) -> Result<EpsilonDelta, UnknownLoss> {
    Ok(EpsilonDelta {
        epsilon: budget_exact(order, limit.epsilon, slack)?,
        delta: other_of_either(limit.delta, slack)?,
    })
}

/// The largest ε such that every ε-DP mechanism has at most this Rényi loss of order α, by
/// [`pure`], rounded down.
///
/// ```
/// use queryables::privacy::convert::rdp;
///
/// let epsilon = rdp::pure_budget("2".parse()?, "0.7354".parse()?);
/// assert!(epsilon > "1".parse()? && epsilon < "1.0001".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn pure_budget(order: Order, loss: Epsilon) -> Epsilon {
    // D_α(ε) is at most ε, and about αε²/2 where that is less.
    let (size, alpha) = (
        Interval::from(loss).middle(),
        Interval::from(order).middle(),
    );
    let guess = size.max((2.0 * size / alpha).sqrt());
    let units = most(guess * 1e27, <units::Epsilon as Unit>::LARGEST, |units| {
        Epsilon::from_units(units).is_ok_and(|epsilon| pure(order, epsilon) <= loss)
    });
    units
        .and_then(|units| Epsilon::from_units(units).ok())
        .unwrap_or_default()
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
