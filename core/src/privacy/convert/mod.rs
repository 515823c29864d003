//! From one measure to another: what a guarantee implies (a loss, rounded up), and how much may be
//! spent for a guarantee to hold (a budget, rounded down).
//!
//! Where nothing must be chosen, a mechanism is restated by [`Implies`](super::Implies) instead.
//!
//! | from | to (ε, δ): loss | from (ε, δ): budget | source |
//! |---|---|---|---|
//! | zCDP | [`zcdp::epsilon`], [`zcdp::delta`] | [`zcdp::budget`] | Canonne, Kamath, Steinke 2020, Prop. 12 |
//! | zCDP, simpler | [`zcdp::epsilon_simple`] | [`zcdp::budget_simple`] | Bun, Steinke 2016, Prop. 1.3; Feldman, Zrnic 4.7 |
//! | approximate zCDP | [`zcdp::approximate`] | [`zcdp::approximate_budget`] | proved there, after Whitehouse et al. Lemma 1 |
//! | RDP | [`rdp::epsilon`], [`rdp::delta`] | [`rdp::budget`] | Canonne, Kamath, Steinke 2020, Prop. 12 |
//! | RDP, tight at one order | [`rdp::epsilon_exact`], [`rdp::delta_exact`] | [`rdp::budget_exact`] | Asoodeh et al. 2021, proved there |
//! | RDP, simpler | [`rdp::epsilon_simple`] | [`rdp::budget_simple`] | Mironov 2017; Feldman, Zrnic, Fact 2.4 |
//! | approximate RDP | [`rdp::approximate`] | [`rdp::approximate_budget`] | the same, proved there |
//! | GDP | [`gdp::epsilon`], [`gdp::delta`] | [`gdp::budget`] | Dong, Roth, Su 2022, Cor. 2.13 |
//! | (ε, δ) | [`probabilistic`] (to pDP) | | proved there; Whitehouse et al. Lemma 2 is not sound |
//!
//! | pure DP | to it: loss | from it: budget for ε | source |
//! |---|---|---|---|
//! | RDP | [`rdp::pure`] | [`rdp::pure_budget`] | Kairouz, Oh, Viswanath 2015 |
//! | zCDP | [`zcdp::pure`] | [`zcdp::pure_budget`] | Kairouz, Oh, Viswanath 2015 |
//! | GDP | [`gdp::pure`] | [`gdp::pure_budget`] | proved there |
//!
//! Curves of mechanisms: [`rdp::pure`], [`rdp::laplace`], [`rdp::discrete_laplace`],
//! [`rdp::gaussian`], [`rdp::subsampled_gaussian`], [`rdp::subsampled_gaussian_replaced`]; what discrete
//! Laplace noise loses under zCDP and GDP: [`zcdp::discrete_laplace`], [`gdp::discrete_laplace`].

pub mod gdp;
pub mod rdp;
pub mod zcdp;

#[allow(
    clippy::missing_errors_doc,
    clippy::must_use_candidate,
    reason = "nobody but the toolkit sees it"
)]
pub(crate) mod bounded_range;
pub(crate) mod curves;
pub(crate) mod exact;
mod mixture;
#[allow(
    clippy::missing_errors_doc,
    clippy::must_use_candidate,
    reason = "nobody but the toolkit sees it"
)]
pub(crate) mod sampled;
#[allow(
    clippy::missing_errors_doc,
    clippy::must_use_candidate,
    reason = "nobody but the toolkit sees it"
)]
pub(crate) mod search;
pub(crate) mod stable;

use super::{EpsilonDelta, Overflow, UnknownLoss};
use crate::number::{Delta, Epsilon, Interval, Quantity, U256, Unit};

/// (ε, δ)-DP is (2ε, δ (1 + e^-2ε)/(1 − e^-ε))-pDP, rounded up; and ε-DP is (ε, 0)-pDP.
///
/// # Guarantee
///
/// If δ is zero, no answer has a loss above ε in either direction: that is ε-DP. Otherwise:
/// Let P and Q be the laws of the answer on neighbours and B where P > e^2ε Q. Then
/// P(B) ≤ e^ε Q(B) + δ ≤ e^-ε P(B) + δ, so P(B) ≤ δ/(1 − e^-ε); and where Q > e^2ε P,
/// e^2ε P(B′) ≤ Q(B′) ≤ e^ε P(B′) + δ, so P(B′) ≤ δ e^-2ε/(1 − e^-ε).
///
/// This is more than the 2δ/(ε e^ε) of Whitehouse et al. Lemma 2 (after Kasiviswanathan and Smith),
/// which does not hold as printed. Its proof bounds by half of that the probability of a loss below
/// −2ε, and, on the *neighbour's* data, of a loss above 2ε. A loss above 2ε on the data itself is
/// up to e^2ε times as likely: let an answer have probability a = δ/(1 − e^-t) here and e^(−ε−t) a
/// there, for a t just above ε. That is (ε, δ)-DP, and the loss is ε + t > 2ε with probability a:
/// 1.58 δ for ε = 1, where the printed lemma says 0.74 δ.
///
/// # Errors
///
/// [`UnknownLoss`] if δ is not zero, and 2ε cannot be held or ε is zero.
///
/// ```
/// use queryables::privacy::{EpsilonDelta, convert};
///
/// let loss = convert::probabilistic(EpsilonDelta::new("1", "1e-6")?)?;
/// assert_eq!(loss.epsilon, "2".parse()?);
/// assert!(loss.delta > "1.796e-6".parse()? && loss.delta < "1.797e-6".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn probabilistic(loss: EpsilonDelta) -> Result<EpsilonDelta, UnknownLoss> {
    if loss.delta == Delta::ZERO {
        return Ok(loss);
    }
    let twice = loss.epsilon.checked_mul(2).ok_or(Overflow)?;
    if loss.epsilon == Epsilon::ZERO {
        return Err(UnknownLoss("pDP follows from (ε, δ) with ε > 0 only"));
    }
    let above = (-Interval::from(twice)).exp();
    let below = -(-Interval::from(loss.epsilon)).exp_m1();
    let delta = Interval::from(loss.delta) * (Interval::ONE + above) / below;
    Ok(EpsilonDelta {
        epsilon: twice,
        delta: probability_up(delta),
    })
}

/// A probability, rounded up; whatever is more than 1 is 1.
pub(crate) fn probability_up(probability: Interval) -> Delta {
    probability.up().unwrap_or(Delta::ONE)
}

/// `ln(1/δ)`, if δ is not zero.
pub(crate) fn log_inverse(delta: Delta) -> Result<Interval, UnknownLoss> {
    if delta == Delta::ZERO {
        return Err(UnknownLoss("this conversion needs δ > 0"));
    }
    if delta == Delta::ONE {
        return Ok(Interval::ZERO);
    }
    // Next to 1 the logarithm is that of 1 less the complement, which is exact.
    let complement = Delta::ONE.saturating_sub(delta);
    let log = if complement < delta {
        -(-Interval::from(complement)).ln_1p()
    } else {
        -Interval::from(delta).ln()
    };
    Ok(log.max(Interval::ZERO))
}

/// A loss, rounded up.
pub(crate) fn loss_up<U: Unit>(loss: Interval) -> Result<Quantity<U>, UnknownLoss> {
    Ok(loss.up().ok_or(Overflow)?)
}

/// `δ₁ + δ₂ − δ₁δ₂`, rounded up: either of two independent events.
pub(crate) fn either(one: Delta, other: Delta) -> Delta {
    // In units u of 1e-38: u₁ + u₂ − ⌊u₁u₂ / 1e38⌋, so at least the truth.
    let both = U256::whole(one.units())
        .checked_mul(other.units())
        .map_or(0, |product| {
            product.div_rem(Delta::ONE.units()).0.halves().1
        });
    let units = one.units() - both + other.units();
    Delta::from_units(units).unwrap_or(Delta::ONE)
}

/// The largest δ₁ with `δ₁ + δ₂ − δ₁δ₂ ≤ δ`, that is (δ − δ₂)/(1 − δ₂), rounded down.
///
/// # Errors
///
/// [`UnknownLoss`] if δ₂ alone is more than δ.
pub(crate) fn other_of_either(both: Delta, one: Delta) -> Result<Delta, UnknownLoss> {
    const TOO_MUCH: UnknownLoss = UnknownLoss("the slack is more than the budget's δ");
    let left = both.units().checked_sub(one.units()).ok_or(TOO_MUCH)?;
    let certainty = Delta::ONE.units();
    if one == Delta::ONE {
        return Ok(Delta::ONE);
    }
    let units = U256::whole(left)
        .checked_mul(certainty)
        .map_or(0, |scaled| {
            scaled.div_rem(certainty - one.units()).0.halves().1
        });
    Ok(Delta::from_units(units).unwrap_or_default())
}

#[cfg(test)]
mod budget_tests;

#[cfg(test)]
mod near_tests;

#[cfg(test)]
mod tests;

#[cfg(test)]
mod small_tests {
    use super::*;

    #[test]
    fn either_event_rounds_up() {
        let delta = |text: &str| text.parse::<Delta>().unwrap();
        assert_eq!(
            either(delta("1e-7"), delta("1e-6")),
            delta("0.0000010999999")
        );
        assert_eq!(either(delta("0.5"), delta("0.5")), delta("0.75"));
        assert_eq!(either(Delta::ONE, delta("0.3")), Delta::ONE);
        assert_eq!(either(Delta::ONE, Delta::ONE), Delta::ONE);
        assert_eq!(either(delta("1e-38"), delta("1e-38")), delta("2e-38"));
    }

    /// The mechanism that refutes Lemma 2 as printed, with ε = 1: its two probabilities, exact as
    /// fractions of a million.
    #[test]
    fn the_printed_conversion_to_pdp_is_refuted() {
        // One answer has probability 20 in a million here and 2 there: a loss of ln 10 > 2. All
        // other answers together have 999980 and 999998: a loss near 0.
        let (here, there) = (20e-6, 2e-6);
        let delta = here - f64::exp(1.0) * there; // (1, δ)-DP, as that answer is the worst event
        let loss = EpsilonDelta {
            epsilon: "1".parse().unwrap(),
            delta: Delta::try_from(delta).unwrap(),
        };
        let printed = 2.0 * delta / f64::exp(1.0);
        assert!(printed < 0.54 * here);
        assert!(probabilistic(loss).unwrap().delta >= Delta::try_from(here).unwrap());
    }

    #[test]
    fn pdp_needs_an_epsilon() {
        let pair = |epsilon: &str, delta: &str| EpsilonDelta::new(epsilon, delta).unwrap();
        // Without δ nothing is lost.
        for epsilon in ["0", "0.5", "3e11"] {
            assert_eq!(probabilistic(pair(epsilon, "0")), Ok(pair(epsilon, "0")));
        }
        assert_eq!(
            probabilistic(pair("0", "1e-6")),
            Err(UnknownLoss("pDP follows from (ε, δ) with ε > 0 only"))
        );
        assert_eq!(
            probabilistic(pair("3e11", "1e-6")),
            Err(UnknownLoss("the loss is more than can be held"))
        );
        // More than certainty is certainty.
        assert_eq!(probabilistic(pair("1e-9", "0.5")), Ok(pair("2e-9", "1")));
    }
}
