//! What the menu filters for (ε, δ) children count beside their price lists.

use crate::account::Exceeded;
use crate::account::budget::{Budget, Cost};
#[cfg(feature = "serde")]
use crate::account::durable::ImpossibleCounts;
use crate::number::{Delta, Epsilon};
use crate::privacy::EpsilonDelta;

/// Σε and Σδ of all launches. Launches whose Σε is at most the limit's ε are admitted whatever the
/// price lists say; the δ of children have what the slack leaves of the limit's δ. The slack is the part
/// of δ that the price lists may use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sums(Budget<Sum>);

/// Σε; a sum that cannot be held is over every limit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Sum(Epsilon);

impl Cost for Sum {
    fn plus(self, Sum(other): Self) -> Option<Self> {
        let Sum(sum) = self;
        Some(Sum(sum.checked_add(other).unwrap_or(Epsilon::LARGEST)))
    }

    fn times(self, times: u64) -> Option<Self> {
        let Sum(sum) = self;
        Some(Sum(sum.checked_mul(times).unwrap_or(Epsilon::LARGEST)))
    }
}

impl Sums {
    pub(super) fn new(limit: EpsilonDelta, slack: Delta) -> Self {
        Self(Budget::new(limit, slack))
    }

    pub(super) fn limit(&self) -> &EpsilonDelta {
        &self.0.limit
    }

    pub(super) fn slack(&self) -> Delta {
        self.0.deltas.slack()
    }

    /// Σε.
    pub(super) fn epsilons(&self) -> Epsilon {
        let Sum(epsilons) = self.0.total;
        epsilons
    }

    /// Σδ.
    pub(super) fn deltas(&self) -> Delta {
        self.0.deltas.children()
    }

    /// The sums after these launches, if their δ fit. Whether their ε do is another question.
    pub(super) fn charge_times(&self, loss: &EpsilonDelta, times: u64) -> Result<Self, Exceeded> {
        let cost = Sum(loss.epsilon);
        let budget = self.0.charge_times(cost, loss.delta, times, |_| true);
        budget.map(Self)
    }

    /// Whether Σε is at most the limit's ε.
    pub(super) fn are_within(&self) -> bool {
        self.epsilons() <= self.0.limit.epsilon
    }

    /// The sums while they are within the limit's ε; then the limit's ε, with this δ of what the
    /// price lists paid for.
    pub(super) fn spent(&self, listed: impl FnOnce() -> Delta) -> EpsilonDelta {
        EpsilonDelta {
            epsilon: self.epsilons().min(self.0.limit.epsilon),
            delta: if self.are_within() {
                self.deltas()
            } else {
                listed().saturating_add(self.deltas())
            },
        }
    }

    /// What is left, if the price lists have room for this ε.
    pub(super) fn remaining(&self, listed: Option<Epsilon>) -> EpsilonDelta {
        let basic = self.0.limit.epsilon.saturating_sub(self.epsilons());
        EpsilonDelta {
            epsilon: basic.max(listed.unwrap_or_default()),
            delta: self.0.delta_left(),
        }
    }

    /// These sums in place of its own, if the δ fit.
    #[cfg(feature = "serde")]
    pub(super) fn resumed(
        &self,
        epsilons: Epsilon,
        deltas: Delta,
    ) -> Result<Self, ImpossibleCounts> {
        let budget = self.0.resumed(Sum(epsilons), deltas, |_| true);
        budget.map(Self)
    }
}

#[cfg(test)]
mod tests {
    use crate::account::ContinuationRule;
    use crate::account::menu::{MenuError, MenuFilter, TwoPriceListFilter};
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
        let error = TwoPriceListFilter::new(limit, slack, each, &entries, [60, 600]).unwrap_err();
        let MenuError::OverBudget { delta, .. } = error else {
            panic!("{error}");
        };
        assert!(slack < delta && delta <= limit.delta, "{error}");
    }
}
