use super::deltas::Deltas;
#[cfg(feature = "serde")]
use super::durable::{ImpossibleCounts, Invalid};
use super::{Exceeded, RuleError};
use crate::number::{Delta, Epsilon, Interval, U256};
use crate::privacy::EpsilonDelta;
use crate::privacy::convert::log_inverse;

/// What all (ε, δ) rules count: costs, which add up, and the δ of children, which add up to at most
/// δ − δ′, where δ′ is the slack.
///
/// | rule | cost | within the limit's ε |
/// |---|---|---|
/// | through zCDP | 2ρ | at most a threshold |
/// | through Rényi privacy | ε at the order | at most a threshold |
/// | Rogers et al. | Σε² and the drift | by the theorem's bound |
/// | fixed count | 1 | at most the count |
/// | menus | ε | at most the limit's ε, or a price list has room |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Budget<T> {
    /// The budget of the whole.
    pub limit: EpsilonDelta,
    /// With the slack, which is spent from the start, the totals that are within imply the limit's ε.
    pub deltas: Deltas,
    /// The costs so far.
    pub total: T,
}

impl<T: Cost> Budget<T> {
    /// Nothing counted yet.
    #[must_use]
    pub fn new(limit: EpsilonDelta, slack: Delta) -> Self {
        Self {
            limit,
            deltas: Deltas::new(slack),
            total: T::default(),
        }
    }

    /// After one more child, if the total is then within the limit's ε, and δ′ + Σδ within its δ.
    ///
    /// # Errors
    ///
    /// [`Exceeded`] if one of them is not.
    pub fn charge(
        &self,
        cost: T,
        delta: Delta,
        is_within: impl FnOnce(&T) -> bool,
    ) -> Result<Self, Exceeded> {
        let total = self.total.plus(cost).filter(is_within);
        let deltas = self.deltas.charge(delta, self.limit.delta);
        Ok(Self {
            total: total.ok_or(Exceeded)?,
            deltas: deltas.ok_or(Exceeded)?,
            ..*self
        })
    }

    /// After this many children of the same cost and δ.
    ///
    /// # Errors
    ///
    /// As for [`charge`](Self::charge).
    pub fn charge_times(
        &self,
        cost: T,
        delta: Delta,
        times: u64,
        is_within: impl FnOnce(&T) -> bool,
    ) -> Result<Self, Exceeded> {
        let cost = cost.times(times).ok_or(Exceeded)?;
        let delta = delta.checked_mul(times).ok_or(Exceeded)?;
        self.charge(cost, delta, is_within)
    }

    /// What is spent, if the total cost is known to imply this ε, rounded up.
    pub fn spent(&self, epsilon: impl FnOnce(T) -> Option<Epsilon>) -> EpsilonDelta {
        let epsilon = if self.total == T::default() {
            Epsilon::ZERO
        } else {
            // What was admitted is within the limit exactly; only the rounded ε may be above it.
            epsilon(self.total).map_or(self.limit.epsilon, |epsilon| {
                epsilon.min(self.limit.epsilon)
            })
        };
        EpsilonDelta {
            epsilon,
            delta: self.deltas.total(),
        }
    }

    /// What is left of δ.
    #[must_use]
    pub fn delta_left(&self) -> Delta {
        self.deltas.left_of(self.limit.delta)
    }
}

/// `ln(1/δ′)`, if the slack is positive and within the budget's δ.
pub(super) fn checked_slack(limit: EpsilonDelta, slack: Delta) -> Result<Interval, RuleError> {
    let delta = limit.delta;
    if slack > delta {
        return Err(RuleError::SlackTooLarge { slack, delta });
    }
    log_inverse(slack).map_err(|_| RuleError::NoSlack)
}

/// A number of units that add up exactly. The default is zero.
pub trait Cost: Copy + Default + PartialEq {
    /// The sum; `None` if it cannot be held.
    fn plus(self, other: Self) -> Option<Self>;

    /// As many times; `None` if it cannot be held.
    fn times(self, times: u64) -> Option<Self>;
}

impl Cost for U256 {
    #[inline]
    fn plus(self, other: Self) -> Option<Self> {
        self.checked_add(other)
    }

    #[inline]
    fn times(self, times: u64) -> Option<Self> {
        self.checked_mul(u128::from(times))
    }
}

impl Cost for u64 {
    #[inline]
    fn plus(self, other: Self) -> Option<Self> {
        self.checked_add(other)
    }

    #[inline]
    fn times(self, times: u64) -> Option<Self> {
        self.checked_mul(times)
    }
}

impl Cost for Epsilon {
    #[inline]
    fn plus(self, other: Self) -> Option<Self> {
        self.checked_add(other)
    }

    #[inline]
    fn times(self, times: u64) -> Option<Self> {
        self.checked_mul(times)
    }
}

/// The total, and the δ of children, in serialized form.
#[cfg(feature = "serde")]
#[derive(Debug, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts<T> {
    total: T,
    deltas: Delta,
}

#[cfg(feature = "serde")]
impl<T: Cost> Budget<T> {
    /// In serialized form.
    pub fn counts(&self) -> Counts<T> {
        Counts {
            total: self.total,
            deltas: self.deltas.children(),
        }
    }

    /// With these counts in place of its own.
    ///
    /// # Errors
    ///
    /// [`ImpossibleCounts`] if they are not within the limit.
    pub fn resume(
        &self,
        Counts { total, deltas }: Counts<T>,
        is_within: impl FnOnce(&T) -> bool,
    ) -> Result<Self, Invalid> {
        Ok(self.resumed(total, deltas, is_within)?)
    }

    /// With this total and this δ of children in place of its own.
    ///
    /// # Errors
    ///
    /// [`ImpossibleCounts`] if they are not within the limit.
    pub fn resumed(
        &self,
        total: T,
        deltas: Delta,
        is_within: impl FnOnce(&T) -> bool,
    ) -> Result<Self, ImpossibleCounts> {
        let fresh = Self::new(self.limit, self.deltas.slack());
        // One launch with all of it leads there.
        let resumed = fresh.charge(total, deltas, is_within);
        resumed.map_err(|Exceeded| ImpossibleCounts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delta(text: &str) -> Delta {
        text.parse().unwrap()
    }

    #[test]
    fn many_children_cost_what_they_cost_one_after_the_other() {
        let limit = EpsilonDelta::new("1", "3e-38").unwrap();
        let budget = Budget::<u64>::new(limit, delta("1e-38"));
        let (cost, each) = (4, delta("1e-38"));
        let within = |total: &u64| *total <= 8;
        let one = budget.charge(cost, each, within).unwrap();
        let two = one.charge(cost, each, within).unwrap();
        assert_eq!(budget.charge_times(cost, each, 2, within), Ok(two));
        assert_eq!((two.total, two.delta_left()), (8, Delta::ZERO));
        // The cost, δ, and what cannot be held.
        assert_eq!(
            budget.charge_times(cost, Delta::ZERO, 3, within),
            Err(Exceeded)
        );
        assert_eq!(budget.charge_times(0, each, 3, within), Err(Exceeded));
        assert_eq!(
            budget.charge_times(2, Delta::ZERO, u64::MAX, |_| true),
            Err(Exceeded)
        );
        assert_eq!(
            budget.charge_times(0, delta("0.6"), 2, |_| true),
            Err(Exceeded)
        );
    }

    #[test]
    fn what_is_spent_is_never_above_the_limit() {
        let limit = EpsilonDelta::new("1", "1e-6").unwrap();
        let budget = Budget::<u64>::new(limit, delta("1e-7"));
        let spent =
            |budget: Budget<u64>, epsilon: &str| budget.spent(|_| epsilon.parse().ok()).to_string();
        // Before the first cost there is only the slack.
        assert_eq!(spent(budget, "0.5"), "(0, 1e-7)");
        let one = budget.charge(1, delta("2e-7"), |_| true).unwrap();
        assert_eq!(spent(one, "0.5"), "(0.5, 3e-7)");
        // Rounded up beyond the limit, and not to be held.
        assert_eq!(spent(one, "1.1"), "(1, 3e-7)");
        assert_eq!(spent(one, "no number"), "(1, 3e-7)");
    }
}
