use crate::number::{Delta, Epsilon};
use crate::privacy::EpsilonDelta;

/// The δ of an (ε, δ) rule: a slack δ′, which the rule itself uses and sets aside when it is built,
/// and the δ of children, which add up beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Deltas {
    slack: Delta,
    children: Delta,
}

impl Deltas {
    /// Nothing counted yet.
    pub fn new(slack: Delta) -> Self {
        Self {
            slack,
            children: Delta::ZERO,
        }
    }

    /// δ′.
    pub fn slack(&self) -> Delta {
        self.slack
    }

    /// Σδ.
    pub fn children(&self) -> Delta {
        self.children
    }

    /// δ′ + Σδ.
    pub fn total(&self) -> Delta {
        self.slack.saturating_add(self.children)
    }

    /// The slack, as a loss.
    pub fn set_aside(&self) -> EpsilonDelta {
        EpsilonDelta {
            epsilon: Epsilon::ZERO,
            delta: self.slack,
        }
    }

    /// What children still have of this δ.
    pub fn left_of(&self, limit: Delta) -> Delta {
        limit
            .saturating_sub(self.slack)
            .saturating_sub(self.children)
    }

    /// After one more child, whatever the limit.
    pub fn plus(&self, delta: Delta) -> Self {
        Self {
            children: self.children.saturating_add(delta),
            ..*self
        }
    }

    /// After one more child, if `δ′ + Σδ` stays within the limit.
    #[inline]
    pub fn charge(&self, delta: Delta, limit: Delta) -> Option<Self> {
        (delta <= self.left_of(limit)).then(|| self.plus(delta))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delta(text: &str) -> Delta {
        text.parse().unwrap()
    }

    #[test]
    fn children_have_what_the_slack_leaves_to_the_last_unit() {
        let limit = delta("3e-38");
        let nothing = Deltas::new(delta("1e-38"));
        assert_eq!(nothing.total(), nothing.set_aside().delta);
        assert_eq!(nothing.left_of(limit), delta("2e-38"));
        assert_eq!(nothing.charge(delta("3e-38"), limit), None);
        let one = nothing.charge(delta("1e-38"), limit).unwrap();
        let all = one.charge(delta("1e-38"), limit).unwrap();
        assert_eq!((all.total(), all.children()), (limit, delta("2e-38")));
        assert_eq!(all.charge(delta("1e-38"), limit), None);
        assert_eq!(all.charge(Delta::ZERO, limit), Some(all));
    }

    #[test]
    fn a_sum_above_one_is_over_every_limit() {
        let half = Deltas::new(delta("0.5"));
        assert_eq!(half.charge(delta("0.6"), Delta::ONE), None);
        assert_eq!(half.plus(delta("0.6")).total(), Delta::ONE);
        assert_eq!(half.plus(delta("0.6")).left_of(Delta::ONE), Delta::ZERO);
    }
}
