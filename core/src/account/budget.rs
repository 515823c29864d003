#[cfg(feature = "serde")]
mod written;

use super::deltas::Deltas;
use super::{Exceeded, RuleError};
use crate::number::{Delta, Epsilon, Interval, U256};
use crate::privacy::EpsilonDelta;
use crate::privacy::convert::log_inverse;

/// The shared state of the (ε, δ) rules with a threshold: costs add up to at most the threshold,
/// and the δ of children to at most δ − δ′, where δ′ is the slack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Budget<T> {
    pub(super) limit: EpsilonDelta,
    /// With the slack, which is spent from the start, the threshold implies the limit's ε.
    pub(super) deltas: Deltas,
    pub(super) threshold: T,
    pub(super) total: T,
}

impl<T: Cost> Budget<T> {
    pub(super) fn new(limit: EpsilonDelta, slack: Delta, threshold: T) -> Self {
        Self {
            limit,
            deltas: Deltas::new(slack),
            threshold,
            total: T::default(),
        }
    }

    /// After one more child.
    pub(super) fn charge(&self, cost: T, delta: Delta) -> Result<Self, Exceeded> {
        let total = self.total.plus(cost);
        let total = total.filter(|total| *total <= self.threshold);
        let deltas = self.deltas.charge(delta, self.limit.delta);
        Ok(Self {
            total: total.ok_or(Exceeded)?,
            deltas: deltas.ok_or(Exceeded)?,
            ..*self
        })
    }

    /// After this many children of the same cost and δ.
    pub(super) fn charge_times(&self, cost: T, delta: Delta, times: u64) -> Result<Self, Exceeded> {
        let cost = cost.times(times).ok_or(Exceeded)?;
        let delta = delta.checked_mul(times).ok_or(Exceeded)?;
        self.charge(cost, delta)
    }

    /// What is spent, if the total cost is known to imply this ε, rounded up.
    pub(super) fn spent(&self, epsilon: impl FnOnce(T) -> Option<Epsilon>) -> EpsilonDelta {
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

    /// What is left of the threshold.
    pub(super) fn cost_left(&self) -> T {
        self.threshold.minus(self.total)
    }

    /// What is left of δ.
    pub(super) fn delta_left(&self) -> Delta {
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
pub(super) trait Cost: Copy + Default + Ord {
    fn plus(self, other: Self) -> Option<Self>;

    fn times(self, times: u64) -> Option<Self>;

    /// Not below zero.
    fn minus(self, other: Self) -> Self;
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

    #[inline]
    fn minus(self, other: Self) -> Self {
        self.checked_sub(other).unwrap_or_default()
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

    #[inline]
    fn minus(self, other: Self) -> Self {
        self.saturating_sub(other)
    }
}
