//! What the menu filters for (ε, δ) children count beside their price lists.

use crate::account::Exceeded;
use crate::account::deltas::Deltas;
use crate::number::{Delta, Epsilon};
use crate::privacy::EpsilonDelta;

/// Σε and Σδ of all launches. Launches whose Σε is at most the limit's ε are admitted whatever the
/// price lists say; the δ of children have what the slack leaves of the limit's δ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sums {
    pub(super) limit: EpsilonDelta,
    /// The slack is the part of δ that the price lists may use.
    pub(super) deltas: Deltas,
    pub(super) epsilons: Epsilon,
}

impl Sums {
    pub(super) fn new(limit: EpsilonDelta, slack: Delta) -> Self {
        Self {
            limit,
            deltas: Deltas::new(slack),
            epsilons: Epsilon::ZERO,
        }
    }

    /// The sums after these launches, if their δ fit. Whether their ε do is another question.
    pub(super) fn charge_times(&self, loss: &EpsilonDelta, times: u64) -> Result<Self, Exceeded> {
        let limit = self.limit.delta;
        let deltas = self.deltas.charge_times(loss.delta, times, limit);
        let epsilons = loss.epsilon.checked_mul(times);
        let epsilons = epsilons.and_then(|added| self.epsilons.checked_add(added));
        Ok(Self {
            limit: self.limit,
            deltas: deltas.ok_or(Exceeded)?,
            // A sum of ε that cannot be held is over every limit.
            epsilons: epsilons.unwrap_or(Epsilon::LARGEST),
        })
    }

    /// Whether Σε is at most the limit's ε.
    pub(super) fn are_within(&self) -> bool {
        self.epsilons <= self.limit.epsilon
    }

    /// The sums while they are within the limit's ε; then the limit's ε, with this δ of what the
    /// price lists paid for.
    pub(super) fn spent(&self, listed: impl FnOnce() -> Delta) -> EpsilonDelta {
        let children = self.deltas.children();
        EpsilonDelta {
            epsilon: self.epsilons.min(self.limit.epsilon),
            delta: if self.are_within() {
                children
            } else {
                listed().saturating_add(children)
            },
        }
    }

    /// What is left, if the price lists have room for this ε.
    pub(super) fn remaining(&self, listed: Option<Epsilon>) -> EpsilonDelta {
        let basic = self.limit.epsilon.saturating_sub(self.epsilons);
        EpsilonDelta {
            epsilon: basic.max(listed.unwrap_or_default()),
            delta: self.deltas.left_of(self.limit.delta),
        }
    }

    /// These sums in place of its own, if the δ fit.
    #[cfg(feature = "serde")]
    pub(super) fn resumed(&self, epsilons: Epsilon, deltas: Delta) -> Option<Self> {
        let fresh = Deltas::new(self.deltas.slack());
        Some(Self {
            limit: self.limit,
            deltas: fresh.charge(deltas, self.limit.delta)?,
            epsilons,
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::account::ContinuationRule;
    use crate::account::menu::{MenuError, MenuFilter, TwoSums};
    use crate::number::{Delta, Epsilon};
    use crate::privacy::EpsilonDelta;

    /// What the slack leaves of δ belongs to the children, however little of it they use.
    #[test]
    fn price_lists_may_use_the_slack_only() {
        let each: Epsilon = "0.04".parse().unwrap();
        let slack: Delta = "1e-6".parse().unwrap();
        let limit = EpsilonDelta::new("1", "1e-4").unwrap();
        let all = |limit| {
            let mut rule = MenuFilter::many_small(limit, slack, each).unwrap();
            let loss = EpsilonDelta {
                epsilon: each,
                ..EpsilonDelta::default()
            };
            let mut launches = 0;
            while let Ok(next) = rule.charge(&loss) {
                (rule, launches) = (next, launches + 1);
            }
            assert!(rule.spent().delta <= slack, "{}", rule.spent());
            launches
        };
        let alone = EpsilonDelta {
            delta: slack,
            ..limit
        };
        assert_eq!(all(limit), all(alone));

        let entries = [(each, [1, 10])];
        let error = TwoSums::new(limit, slack, each, &entries, [60, 600]).unwrap_err();
        let MenuError::OverBudget { delta, .. } = error else {
            panic!("{error}");
        };
        assert!(slack < delta && delta <= limit.delta, "{error}");
    }
}
