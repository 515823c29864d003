use crate::privacy::Reentrant;
use std::fmt::Debug;

use super::budget::{Budget, checked_slack};
use super::sealed::Converted;
use super::{Accounting, ContinuationRule, Exceeded, LaunchesLeft, Repeats, RuleError};
use super::{ValidConcurrently, ValidSequentially};
#[cfg(feature = "serde")]
use super::{
    budget::Counts,
    durable::{Durable, Invalid},
};
use crate::number::{Delta, Epsilon, Interval, Order, Unit, units};
use crate::privacy::convert::search::{lowest, most};
use crate::privacy::convert::{curves, rdp};
use crate::privacy::{ApproxDp, EpsilonDelta, Measure, RdpCurve, RdpGrid};

/// The (ε, δ) filter through Rényi privacy of one order α: go on while `Στ ≤ τ*` and
/// `δ′ + Σδ ≤ δ`, where τ is what a child costs at that order and τ* the largest Rényi loss of that
/// order that implies (ε, δ′)-DP by the conversion of Canonne, Kamath and Steinke 2020.
///
/// That conversion has a closed form, so that a reading is cheap. [`rdp::budget_exact`] allows more at
/// orders that are far too small for the budget, and where δ is large: 7336 launches instead of 6766 of
/// (0.001, 0) in (0.1, 0.01), and as many, 490, of (0.01, 0) in (1, 1e-6).
///
/// The budget is (ε, δ). Children state their losses in one of two measures `C`:
///
/// | children | cost | constructors |
/// |---|---|---|
/// | [`ApproxDp`] | D_α(ε), the Rényi divergence of randomized response, which no ε-DP mechanism exceeds; and δ | [`at`](Self::at), [`chosen_for`](Self::chosen_for) |
/// | [`RdpGrid`] | the curve's value at α | [`on_grid_at`](Self::on_grid_at), [`on_grid_chosen_for`](Self::on_grid_chosen_for) |
///
/// A grid takes Gaussian, pure and sampled mechanisms together: each has a curve.
///
/// The order is fixed in advance, as the theorems require: a given one, or the best for a typical
/// loss. τ* is rounded down and every D_α(ε) up, then added exactly, so the order of launches does
/// not matter. On a grid the other orders decide nothing. To go on while *any* order still fits
/// would admit more, but which order fits last depends on the losses, which depend on the answers.
/// No theorem here covers that.
///
/// # Guarantee
///
/// (ε, δ) children: a child of loss (ε, δ) is, with probability at least 1 − δ, a postprocessing of
/// ε-randomized response (Kairouz, Oh, Viswanath 2015), so δ-approximate (α, D_α(ε))-RDP. Such losses
/// add up under a filter (Whitehouse et al. Thm 1 and its remark; Feldman and Zrnic 4.3 for δ = 0),
/// and the sum implies (ε, δ′ + Σδ)-DP by the conversion of Canonne, Kamath and Steinke 2020. For
/// interleaved children Haney et al. 1.20, with finite communication: losses and budget are (ε, δ),
/// whatever the proof passes through.
///
/// Children on a grid: at the one order, adding up is a valid filter for interleaved children (Haney
/// et al. 4.6, 4.9), so the whole is (α, τ*)-RDP. By the same conversion it is (ε, δ)-DP.
/// Communication need not be finite.
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
///     rule = rule.charge(&loss)?;
/// }
/// assert_eq!(rule.charge(&loss), Err(Exceeded));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use = "`charge` gives the next rule and changes nothing"]
pub struct ThroughRdp<C: RdpChildren = ApproxDp> {
    children: C,
    order: Order,
    /// In Στ.
    /// The largest sum at the order.
    threshold: Epsilon,
    budget: Budget<Epsilon>,
    prices: C::Prices,
}

impl ThroughRdp {
    /// For (ε, δ) children, at this order.
    ///
    /// # Errors
    ///
    /// [`RuleError::NoSlack`], [`RuleError::SlackTooLarge`], or [`RuleError::Order`] if at this
    /// order the conversion leaves nothing for children.
    pub fn at(order: Order, limit: EpsilonDelta, slack: Delta) -> Result<Self, RuleError> {
        Self::new(ApproxDp, order, limit, slack, LastPrice::default())
    }

    /// For (ε, δ) children, at the order that admits most launches of a typical ε. Launches of
    /// another ε are counted just as soundly, but fewer of them may fit.
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
        // For losses this small, the best order depends little on the loss.
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
}

impl ThroughRdp<RdpGrid> {
    /// For children on a grid, at this order of it.
    ///
    /// # Errors
    ///
    /// [`RuleError::NotOnGrid`], [`RuleError::NoSlack`] if δ is zero, or [`RuleError::Order`] if at
    /// this order the conversion leaves nothing for children.
    pub fn on_grid_at(grid: RdpGrid, order: Order, limit: EpsilonDelta) -> Result<Self, RuleError> {
        let index = grid.orders().binary_search(&order);
        let index = index.map_err(|_| RuleError::NotOnGrid)?;
        Self::new(grid, order, limit, limit.delta, OrderIndex(index))
    }

    /// For children on a grid, at the order that admits most launches of a typical curve: where τ*,
    /// divided by the curve, is largest. Launches of other curves are counted just as soundly, but
    /// fewer of them may fit.
    ///
    /// # Errors
    ///
    /// As for [`on_grid_at`](Self::on_grid_at); [`RuleError::Order`] if no order of the grid fits
    /// the budget.
    ///
    /// ```
    /// use queryables::account::{ContinuationRule, ThroughRdp};
    /// use queryables::privacy::convert::rdp;
    /// use queryables::privacy::{EpsilonDelta, RdpGrid};
    ///
    /// let budget = EpsilonDelta::new("1", "1e-6")?;
    /// let grid = RdpGrid::new(["8".parse()?, "24".parse()?, "64".parse()?])?;
    /// let (sensitivity, sigma, epsilon) = ("1".parse()?, "20".parse()?, "0.05".parse()?);
    /// let gaussian = grid.at_each_order(|order| rdp::gaussian(order, sensitivity, sigma))?;
    /// let pure = grid.at_each_order(|order| Ok(rdp::pure(order, epsilon)))?;
    ///
    /// let rule = ThroughRdp::on_grid_chosen_for(grid, budget, &gaussian)?;
    /// assert_eq!(rule.order(), "24".parse()?);
    /// let rule = rule.charge(&gaussian)?.charge(&pure)?;
    /// assert!(rule.spent() < budget);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn on_grid_chosen_for(
        grid: RdpGrid,
        limit: EpsilonDelta,
        typical: &RdpCurve,
    ) -> Result<Self, RuleError> {
        checked_slack(limit, limit.delta)?;
        if !grid.is_valid(typical) {
            return Err(RuleError::NotOnGrid);
        }
        let costs = grid.orders().iter().zip(typical.epsilons());
        let (mut best, mut most) = (None, 0.0);
        for (order, cost) in costs {
            let Ok(threshold) = rdp::budget(*order, limit.epsilon, limit.delta) else {
                continue;
            };
            // A cost of zero counts as one unit. Any order that is found is a valid one.
            let launches = threshold.units() as f64 / cost.units().max(1) as f64;
            if best.is_none() || launches > most {
                (best, most) = (Some(*order), launches);
            }
        }
        Self::on_grid_at(grid, best.ok_or(RuleError::Order)?, limit)
    }
}

impl<C: RdpChildren> ThroughRdp<C> {
    fn new(
        children: C,
        order: Order,
        limit: EpsilonDelta,
        slack: Delta,
        prices: C::Prices,
    ) -> Result<Self, RuleError> {
        checked_slack(limit, slack)?;
        let threshold = rdp::budget(order, limit.epsilon, slack).map_err(|_| RuleError::Order)?;
        Ok(Self {
            children,
            order,
            threshold,
            budget: Budget::new(limit, slack),
            prices,
        })
    }

    fn with(&self, budget: Budget<Epsilon>, prices: C::Prices) -> Self {
        Self {
            children: self.children.clone(),
            order: self.order,
            threshold: self.threshold,
            budget,
            prices,
        }
    }

    /// The order α.
    #[must_use]
    pub fn order(&self) -> Order {
        self.order
    }

    /// What is left for children, at the order.
    pub(crate) fn cost_left(&self) -> Epsilon {
        self.threshold.saturating_sub(self.budget.total)
    }

    /// What is left of δ for children.
    pub(crate) fn delta_left(&self) -> Delta {
        self.budget.delta_left()
    }
}

/// A measure in which children of [`ThroughRdp`] state their losses. Sealed: each conversion is a
/// theorem, and the guarantee of the rule rests on it.
#[diagnostic::on_unimplemented(
    message = "`ThroughRdp` takes children under `ApproxDp` or `RdpGrid`, not under `{Self}`"
)]
pub trait RdpChildren: Measure + Converted {
    /// What is needed to price a loss at the order.
    type Prices: Clone + Debug + std::hash::Hash + Send + Sync + 'static;

    /// What a loss costs at the order, and its δ, and the prices from then on; `None` if it is not
    /// one of the measure.
    fn cost(rule: &ThroughRdp<Self>, loss: &Self::Loss) -> Option<(Epsilon, Delta, Self::Prices)>;

    /// A loss that costs at most this, as does every smaller one.
    fn largest(rule: &ThroughRdp<Self>, cost: Epsilon, delta: Delta) -> Self::Loss;
}

/// The last ε and its D_α: launches tend to repeat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct LastPrice {
    epsilon: Epsilon,
    cost: Epsilon,
}

impl LastPrice {
    fn cost(&self, order: Order, epsilon: Epsilon) -> Epsilon {
        if epsilon == self.epsilon {
            self.cost
        } else {
            rdp::pure(order, epsilon)
        }
    }
}

impl RdpChildren for ApproxDp {
    type Prices = LastPrice;

    fn cost(rule: &ThroughRdp, loss: &EpsilonDelta) -> Option<(Epsilon, Delta, LastPrice)> {
        let epsilon = loss.epsilon;
        let cost = rule.prices.cost(rule.order, epsilon);
        Some((cost, loss.delta, LastPrice { epsilon, cost }))
    }

    /// The exact D_α rises with ε; the computed one does so up to rounding, a relative error below
    /// 1e-13. So that every smaller loss is admitted too, ε is cut a little: its cost leaves a
    /// relative margin of 2^-39 (2e-12).
    fn largest(rule: &ThroughRdp, left: Epsilon, delta: Delta) -> EpsilonDelta {
        let fits = |epsilon| {
            let cost = rule.prices.cost(rule.order, epsilon).units();
            cost + cost.div_ceil(1 << 39) <= left.units()
        };
        // D_α(ε) is about αε²/2.
        let (room, order) = (Interval::from(left), Interval::from(rule.order));
        let guess = (Interval::TWO * room / order).sqrt().middle();
        let epsilon = most(guess * 1e27, <units::Epsilon as Unit>::LARGEST, |units| {
            Epsilon::from_units(units).is_ok_and(fits)
        });
        EpsilonDelta {
            epsilon: Epsilon::from_units(epsilon.unwrap_or(0)).unwrap_or_default(),
            delta,
        }
    }
}

/// Where the order is on the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OrderIndex(usize);

impl RdpChildren for RdpGrid {
    type Prices = OrderIndex;

    fn cost(rule: &ThroughRdp<Self>, loss: &RdpCurve) -> Option<(Epsilon, Delta, OrderIndex)> {
        if !rule.children.is_valid(loss) {
            return None;
        }
        let cost = loss.epsilons().get(rule.prices.0)?;
        Some((*cost, Delta::ZERO, rule.prices))
    }

    fn largest(rule: &ThroughRdp<Self>, left: Epsilon, _: Delta) -> RdpCurve {
        let values = rule.children.orders().iter().map(|order| {
            if *order == rule.order {
                left
            } else {
                Epsilon::LARGEST
            }
        });
        let curve = rule.children.curve(values);
        curve.unwrap_or_else(|_| rule.children.zero())
    }
}

impl<C: RdpChildren> Accounting for ThroughRdp<C> {
    const REENTRANT: Reentrant = Reentrant(false);

    type Children = C;
    type Whole = ApproxDp;

    fn children(&self) -> &C {
        &self.children
    }

    fn whole(&self) -> &ApproxDp {
        &ApproxDp
    }
}

impl<C: RdpChildren> ContinuationRule for ThroughRdp<C> {
    fn limit(&self) -> &EpsilonDelta {
        &self.budget.limit
    }

    fn spent(&self) -> EpsilonDelta {
        let (order, slack) = (self.order, self.budget.deltas.slack());
        self.budget
            .spent(|total| rdp::epsilon(order, total, slack).ok())
    }

    fn set_aside(&self) -> EpsilonDelta {
        self.budget.deltas.set_aside()
    }

    /// On a grid it is a curve with what is left at the order, and at the other orders, which decide
    /// nothing, the largest ε that can be held. A curve is admitted if and only if it is at most this
    /// one.
    fn remaining(&self) -> C::Loss {
        C::largest(self, self.cost_left(), self.delta_left())
    }

    fn charge(&self, loss: &C::Loss) -> Result<Self, Exceeded> {
        self.charge_times(loss, 1)
    }

    fn admits(&self, loss: &C::Loss) -> LaunchesLeft {
        self.launches_left(loss)
    }
}

impl<C: RdpChildren> Repeats for ThroughRdp<C> {
    fn charge_times(&self, loss: &C::Loss, times: u64) -> Result<Self, Exceeded> {
        let (cost, delta, prices) = C::cost(self, loss).ok_or(Exceeded)?;
        Ok(self.with(
            self.budget
                .charge_times(cost, delta, times, |total| *total <= self.threshold)?,
            prices,
        ))
    }
}

impl<C: RdpChildren> ValidSequentially for ThroughRdp<C> {}
impl<C: RdpChildren> ValidConcurrently for ThroughRdp<C> {}

/// What it is built from, in serialized form.
#[cfg(feature = "serde")]
#[derive(Debug, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    order: Order,
    limit: EpsilonDelta,
    slack: Delta,
}

#[cfg(feature = "serde")]
impl Durable for ThroughRdp {
    const NAME: &'static str = "ThroughRdp";

    type Parameters = Parameters;
    type Counts = Counts<Epsilon>;

    fn parameters(&self) -> Parameters {
        Parameters {
            order: self.order,
            limit: self.budget.limit,
            slack: self.budget.deltas.slack(),
        }
    }

    fn build(parameters: Parameters) -> Result<Self, Invalid> {
        let Parameters {
            order,
            limit,
            slack,
        } = parameters;
        Ok(Self::at(order, limit, slack)?)
    }

    fn counts(&self) -> Counts<Epsilon> {
        self.budget.counts()
    }

    fn resume(&self, counts: Counts<Epsilon>) -> Result<Self, Invalid> {
        Ok(self.with(
            self.budget
                .resume(counts, |total| *total <= self.threshold)?,
            LastPrice::default(),
        ))
    }
}

/// What it is built from, on a grid, in serialized form.
#[cfg(feature = "serde")]
#[derive(Debug, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OnGrid {
    grid: RdpGrid,
    order: Order,
    limit: EpsilonDelta,
}

#[cfg(feature = "serde")]
impl Durable for ThroughRdp<RdpGrid> {
    const NAME: &'static str = "ThroughRdp on a grid";

    type Parameters = OnGrid;
    type Counts = Counts<Epsilon>;

    fn parameters(&self) -> OnGrid {
        OnGrid {
            grid: self.children.clone(),
            order: self.order,
            limit: self.budget.limit,
        }
    }

    fn build(OnGrid { grid, order, limit }: OnGrid) -> Result<Self, Invalid> {
        Ok(Self::on_grid_at(grid, order, limit)?)
    }

    fn counts(&self) -> Counts<Epsilon> {
        self.budget.counts()
    }

    fn resume(&self, counts: Counts<Epsilon>) -> Result<Self, Invalid> {
        Ok(self.with(
            self.budget
                .resume(counts, |total| *total <= self.threshold)?,
            self.prices,
        ))
    }
}

#[cfg(test)]
mod tests;
