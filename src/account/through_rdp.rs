use super::{Accounting, ContinuationRule, Exceeded, Repeats, RuleError};
use super::{ValidConcurrently, ValidSequentially, checked_slack};
use crate::privacy::convert::search::{lowest, most};
use crate::privacy::convert::{curves, rdp};
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
/// use queryables::account::{ContinuationRule, Exceeded, ThroughRdp};
/// use queryables::privacy::EpsilonDelta;
///
/// let budget = EpsilonDelta::new("1", "1e-6")?;
/// let loss = EpsilonDelta::new("0.01", "0")?;
/// let mut rule = ThroughRdp::chosen_for(budget, budget.delta, loss.epsilon)?;
/// for _ in 0..490 {
///     rule.charge(&loss)?;
/// }
/// assert_eq!(rule.charge(&loss), Err(Exceeded));
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
                / curves::randomized_response(excess, typical).middle()
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

    fn cost(&self, epsilon: Epsilon) -> Epsilon {
        if epsilon == self.last.0 {
            self.last.1
        } else {
            rdp::pure(self.order, epsilon)
        }
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

    /// D_α rises with ε, but D_α as computed only but for rounding, less than 1e-13 of it. So that
    /// everything less is admitted, too, ε is cut a little: what it costs fits with 2^-39 (2e-12)
    /// to spare.
    fn remaining(&self) -> EpsilonDelta {
        let left = self.threshold.saturating_sub(self.total);
        let fits = |epsilon| {
            let cost = self.cost(epsilon).units();
            cost + cost.div_ceil(1 << 39) <= left.units()
        };
        // D_α(ε) is about αε²/2.
        let (room, order) = (Interval::from(left), Interval::from(self.order));
        let guess = (Interval::TWO * room / order).sqrt().middle();
        let epsilon = most(guess * 1e27, <units::Epsilon as Unit>::LARGEST, |units| {
            Epsilon::from_units(units).is_ok_and(fits)
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
        let cost = self.cost(loss.epsilon);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::oracle::{
        at_least_zero, deltas, epsilon_of, float, ln, orders, quantity, real,
    };
    use proptest::prelude::*;

    fn pair(epsilon: &str, delta: &str) -> EpsilonDelta {
        EpsilonDelta::new(epsilon, delta).unwrap()
    }

    #[test]
    fn parameters_are_checked() {
        let (slack, delta): (Delta, Delta) = ("2e-6".parse().unwrap(), "1e-6".parse().unwrap());
        let budget = pair("1", "1e-6");
        let at = |order: &str, slack| ThroughRdp::at(order.parse().unwrap(), budget, slack);
        let too_large = RuleError::SlackTooLarge { slack, delta };
        assert_eq!(at("8", Delta::ZERO), Err(RuleError::NoSlack));
        assert_eq!(at("8", slack), Err(too_large));
        // ln(1e6)/(α − 1) alone is more than 1.
        assert_eq!(at("2", delta), Err(RuleError::Order));
        let epsilon = "0.01".parse().unwrap();
        let chosen = |slack| ThroughRdp::chosen_for(budget, slack, epsilon);
        assert_eq!(chosen(Delta::ZERO), Err(RuleError::NoSlack));
        assert_eq!(chosen(slack), Err(too_large));
    }

    #[test]
    fn no_other_order_admits_more() {
        let (budget, loss) = (pair("1", "1e-6"), pair("0.01", "0"));
        let admits = |mut rule: ThroughRdp| {
            let mut launches = 0;
            while rule.charge(&loss).is_ok() {
                launches += 1;
            }
            launches
        };
        let chosen = ThroughRdp::chosen_for(budget, budget.delta, loss.epsilon).unwrap();
        assert_eq!(admits(chosen), 490);
        for order in ["18", "20", "22", "24", "26", "30", "40"] {
            let rule = ThroughRdp::at(order.parse().unwrap(), budget, budget.delta).unwrap();
            assert!(admits(rule) <= 490, "{order}");
        }
    }

    #[test]
    fn remaining_is_admitted_and_a_little_more_is_not() {
        let budget = pair("1", "1e-6");
        let mut rule =
            ThroughRdp::chosen_for(budget, "5e-7".parse().unwrap(), "0.01".parse().unwrap())
                .unwrap();
        rule.charge(&pair("0.05", "1e-7")).unwrap();
        let remaining = rule.remaining();
        assert_eq!(remaining.delta, "4e-7".parse().unwrap());
        assert_eq!(rule.clone().charge(&remaining), Ok(()));
        let units = remaining.epsilon.units();
        let more = Epsilon::from_units(units + units / 1_000_000_000).unwrap();
        let more = EpsilonDelta {
            epsilon: more,
            ..remaining
        };
        assert_eq!(rule.charge(&more), Err(Exceeded));
    }

    #[test]
    fn the_last_cost_that_is_kept_is_the_right_one() {
        let budget = pair("5", "1e-6");
        let mut rule = ThroughRdp::at("8".parse().unwrap(), budget, budget.delta).unwrap();
        let mut plain = Epsilon::ZERO;
        for epsilon in ["0.1", "0.1", "0.2", "0", "0.1"] {
            rule.charge(&pair(epsilon, "0")).unwrap();
            let cost = rdp::pure(rule.order(), epsilon.parse().unwrap());
            plain = plain.checked_add(cost).unwrap();
            assert_eq!(rule.total, plain);
        }
    }
    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// The threshold is ε less the surcharge of the order, rounded down, to 1e-9.
        #[test]
        fn the_threshold_is_rounded_down(
            order in orders(), size in -9.0..2.0_f64, delta in deltas(),
        ) {
            let (alpha, exact) = (quantity(order), quantity(delta));
            let surcharge = epsilon_of(&alpha, &real(0.0), &exact);
            let room = float(&at_least_zero(surcharge.clone())) + libm::exp10(size);
            let epsilon = Interval::exactly(room).up().unwrap();
            let rule = ThroughRdp::at(order, EpsilonDelta { epsilon, delta }, delta).unwrap();
            let truth = quantity(epsilon) - surcharge;
            prop_assert!(quantity(rule.threshold) <= truth);
            let terms = quantity(epsilon) - ln(&exact) / (alpha - real(1.0));
            let margin = &truth * real(1e-9) + terms * real(1e-14) + real(1e-27);
            prop_assert!(quantity(rule.threshold) >= truth - margin);
        }
    }
    /// Charges a part of what there is, and then, each to a copy, what remains and less.
    fn check_everything_less(order: Order, size: f64, delta: Delta, part: f64) {
        let (alpha, exact) = (quantity(order), quantity(delta));
        let surcharge = float(&at_least_zero(epsilon_of(&alpha, &real(0.0), &exact)));
        let room = Interval::exactly(surcharge + libm::exp10(size));
        let epsilon = room.up().unwrap();
        let mut rule = ThroughRdp::at(order, EpsilonDelta { epsilon, delta }, delta).unwrap();
        let launch = |units: u128| EpsilonDelta {
            epsilon: Epsilon::from_units(units).unwrap(),
            delta: Delta::ZERO,
        };
        let units = rule.remaining().epsilon.units();
        rule.charge(&launch((units as f64 * part) as u128)).unwrap();
        let units = rule.remaining().epsilon.units();
        // A few floats apart, where rounding shows, and then further down.
        let near = (0..400).map(|step| units - (units >> 51) * step);
        for less in near.chain((1..40).map(|bits| units >> bits)) {
            assert_eq!(rule.clone().charge(&launch(less)), Ok(()));
        }
    }

    /// Without the margin these fail.
    #[test]
    fn rounding_does_not_stand_between_what_remains_and_less() {
        for (order, size, delta, part) in [
            (
                "1.046294612",
                1.6432714868775804,
                "2.984302737682218e-23",
                0.7174052895815983,
            ),
            (
                "1.004597418",
                1.5458000321814223,
                "0.0816147036645377133012857484573032707",
                0.5437240275317223,
            ),
        ] {
            let (order, delta) = (order.parse().unwrap(), delta.parse().unwrap());
            check_everything_less(order, size, delta, part);
        }
    }

    /// Where D_α is rounded most.
    fn orders_near_one() -> impl Strategy<Value = Order> {
        (1..100_000_000_u128).prop_map(|units| Order::from_units(1_000_000_000 + units).unwrap())
    }

    proptest! {
        #[test]
        fn everything_less_than_what_remains_is_admitted(
            order in prop_oneof![orders(), orders_near_one()],
            size in prop_oneof![-6.0..2.0_f64, 1.0..1.7],
            delta in deltas(),
            part in 0.0..1.0,
        ) {
            check_everything_less(order, size, delta, part);
        }
    }
}
