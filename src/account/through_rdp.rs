use super::{Accounting, ContinuationRule, Exceeded, Repeats, RuleError};
use super::{ValidConcurrently, ValidSequentially, checked_slack};
use crate::privacy::convert::rdp;
use crate::privacy::convert::search::{lowest, most};
use crate::privacy::{ApproxDp, Delta, Epsilon, EpsilonDelta, Interval, Order, Unit, units};

/// The (ε, δ) filter through Rényi privacy of one order α: go on while `Σ D_α(ε_i) ≤ τ*` and
/// `δ′ + Σδ ≤ δ`, where D_α(ε) is the Rényi divergence of randomized response, the largest that an
/// ε-DP mechanism can have, and τ* the largest Rényi loss that implies (ε, δ′)-DP.
///
/// The order is fixed in advance, as the theorem asks: [`at`](Self::at) a stated one, or
/// [`chosen_for`](Self::chosen_for) a typical loss. τ* is rounded down and every D_α(ε_i) up, then
/// added exactly, so the order of launches does not matter.
///
/// # Guarantee
///
/// A child of loss (ε, δ) is, but for probability δ, a postprocessing of ε-randomized response
/// (Kairouz, Oh, Viswanath 2015), so δ-approximate (α, D_α(ε))-RDP. Such losses add up under a
/// filter (Whitehouse et al. Thm 1 and its remark; Feldman and Zrnic 4.3 for δ = 0), and the sum
/// implies (ε, δ′ + Σδ)-DP by the conversion of Canonne, Kamath and Steinke 2020. For interleaved
/// children Haney et al. 1.20, with finite communication: losses and budget are (ε, δ), whatever
/// the proof passes through.
///
/// # Example
///
/// ```
/// use queryables::account::{ContinuationRule, ThroughRdp};
/// use queryables::privacy::EpsilonDelta;
///
/// let budget = EpsilonDelta::new("1", "1e-6")?;
/// let loss = EpsilonDelta::new("0.01", "0")?;
/// let mut rule = ThroughRdp::chosen_for(budget, budget.delta, loss.epsilon)?;
/// for _ in 0..490 {
///     rule.charge(&loss)?;
/// }
/// assert!(rule.charge(&loss).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThroughRdp {
    limit: EpsilonDelta,
    slack: Delta,
    order: Order,
    /// τ*.
    threshold: Epsilon,
    total: Epsilon,
    deltas: Delta,
    /// The last ε and its D_α: launches tend to repeat.
    last: (Epsilon, Epsilon),
}

impl ThroughRdp {
    /// At this order.
    ///
    /// # Errors
    ///
    /// [`RuleError::NoSlack`], [`RuleError::SlackTooLarge`], or [`RuleError::Order`] if at this
    /// order not even a loss of zero is known to be within the budget.
    pub fn at(order: Order, limit: EpsilonDelta, slack: Delta) -> Result<Self, RuleError> {
        checked_slack(limit, slack)?;
        Ok(Self {
            limit,
            slack,
            order,
            threshold: rdp::budget(order, limit.epsilon, slack).map_err(|_| RuleError::Order)?,
            total: Epsilon::ZERO,
            deltas: Delta::ZERO,
            last: (Epsilon::ZERO, Epsilon::ZERO),
        })
    }

    /// At the order that admits most launches of a typical ε. Launches of another ε are counted
    /// just as soundly, if not as sparingly.
    ///
    /// # Errors
    ///
    /// As for [`at`](Self::at).
    pub fn chosen_for(
        limit: EpsilonDelta,
        slack: Delta,
        typical: Epsilon,
    ) -> Result<Self, RuleError> {
        let log = checked_slack(limit, slack)?;
        let epsilon = Interval::from(limit.epsilon);
        // The best order depends little on losses that are as small as this.
        let typical = Interval::from(typical).max(Interval::exactly(1e-9));
        // In ln(α − 1), over all that an order can be: −τ*/D, to be as low as possible.
        let best = lowest(libm::log(1e-9), libm::log(1e9), |log_excess| {
            let excess = Interval::exactly(libm::exp(log_excess));
            -rdp::renyi_budget_at(epsilon, excess, log).middle()
                / rdp::randomized_response(excess, typical).middle()
        });
        let units = 1e9 * (1.0 + libm::exp(best));
        let least = 10_u128.pow(9) + 1;
        let units = (units as u128).clamp(least, <units::Order as Unit>::LARGEST);
        let order = Order::from_units(units).map_err(|_| RuleError::Order)?;
        Self::at(order, limit, slack)
    }

    /// The order α.
    #[must_use]
    pub fn order(&self) -> Order {
        self.order
    }

    fn cost(&self, epsilon: Epsilon) -> Result<Epsilon, Exceeded> {
        if epsilon == self.last.0 {
            return Ok(self.last.1);
        }
        rdp::pure(self.order, epsilon).map_err(|_| Exceeded)
    }
}

impl Accounting for ThroughRdp {
    type Measure = ApproxDp;

    fn measure(&self) -> &ApproxDp {
        &ApproxDp
    }
}

impl ContinuationRule for ThroughRdp {
    fn limit(&self) -> &EpsilonDelta {
        &self.limit
    }

    fn spent(&self) -> EpsilonDelta {
        let epsilon = if self.total == Epsilon::ZERO {
            Epsilon::ZERO
        } else {
            rdp::epsilon(self.order, self.total, self.slack).unwrap_or(self.limit.epsilon)
        };
        EpsilonDelta {
            // Whatever was admitted is within the limit, to the last digit.
            epsilon: epsilon.min(self.limit.epsilon),
            delta: self.slack.saturating_add(self.deltas),
        }
    }

    fn remaining(&self) -> EpsilonDelta {
        let left = self.threshold.saturating_sub(self.total);
        // D_α(ε) is about αε²/2.
        let (room, order) = (Interval::from(left), Interval::from(self.order));
        let guess = (Interval::TWO * room / order).sqrt().middle();
        let epsilon = most(guess * 1e27, <units::Epsilon as Unit>::LARGEST, |units| {
            Epsilon::from_units(units)
                .is_ok_and(|epsilon| self.cost(epsilon).is_ok_and(|cost| cost <= left))
        });
        let spent = self.slack.saturating_add(self.deltas);
        EpsilonDelta {
            epsilon: Epsilon::from_units(epsilon.unwrap_or(0)).unwrap_or_default(),
            delta: self.limit.delta.saturating_sub(spent),
        }
    }

    fn charge(&mut self, loss: &EpsilonDelta) -> Result<(), Exceeded> {
        self.charge_times(loss, 1)
    }
}

impl Repeats for ThroughRdp {
    fn charge_times(&mut self, loss: &EpsilonDelta, times: u64) -> Result<(), Exceeded> {
        let cost = self.cost(loss.epsilon)?;
        let total = cost
            .checked_mul(times)
            .and_then(|cost| self.total.checked_add(cost))
            .filter(|total| *total <= self.threshold)
            .ok_or(Exceeded)?;
        let deltas = loss
            .delta
            .checked_mul(times)
            .and_then(|deltas| self.deltas.checked_add(deltas))
            .filter(|deltas| self.slack.saturating_add(*deltas) <= self.limit.delta)
            .ok_or(Exceeded)?;
        self.last = (loss.epsilon, cost);
        (self.total, self.deltas) = (total, deltas);
        Ok(())
    }
}

impl ValidSequentially for ThroughRdp {}
impl ValidConcurrently for ThroughRdp {}
