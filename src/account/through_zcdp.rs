use super::whitehouse::{simple_epsilon, simple_threshold};
use super::{Accounting, ContinuationRule, Exceeded, Repeats, RuleError};
use super::{ValidConcurrently, ValidSequentially, checked_slack};
use crate::privacy::convert::zcdp;
use crate::privacy::{ApproxDp, Delta, Epsilon, EpsilonDelta, Interval, Square};

/// The (ε, δ) filter through zCDP: go on while `½Σε² ≤ ρ*` and `δ′ + Σδ ≤ δ`, where ρ* is the
/// largest ρ for which ρ-zCDP implies (ε, δ′)-DP.
///
/// ρ* is computed once, rounded down; a launch adds integers and compares them. δ′, the slack, is
/// chosen in advance: all of δ if every child is pure, less if δ of theirs must fit, too.
///
/// # Guarantee
///
/// A child of loss (ε, δ) is δ-approximate ε²/2-zCDP (Whitehouse et al. Lemma 1), such losses add up
/// under a filter (Thm 1; Feldman and Zrnic 4.7 for δ = 0), and the sum implies (ε, δ′ + Σδ)-DP. For
/// interleaved children Haney et al. 1.20, with finite communication: losses and budget are
/// (ε, δ), whatever the proof passes through.
///
/// [`simple`](Self::simple) is Whitehouse et al. Thm 2, [`tight`](Self::tight) admits more.
///
/// # Example
///
/// ```
/// use queryables::account::{ContinuationRule, Exceeded, ThroughZCdp};
/// use queryables::privacy::EpsilonDelta;
///
/// let budget = EpsilonDelta::new("1", "1e-6")?;
/// let mut rule = ThroughZCdp::tight(budget, budget.delta)?;
/// let loss = EpsilonDelta::new("0.01", "0")?;
/// for _ in 0..487 {
///     rule.charge(&loss)?;
/// }
/// assert_eq!(rule.charge(&loss), Err(Exceeded));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ThroughZCdp {
    limit: EpsilonDelta,
    slack: Delta,
    log: Interval,
    conversion: Conversion,
    /// The largest Σε², twice ρ*.
    threshold: Square,
    squares: Square,
    deltas: Delta,
}

/// From ρ to ε.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Conversion {
    Simple,
    Tight,
}

impl ThroughZCdp {
    /// With `ε = ρ + 2√(ρ ln(1/δ′))`: Whitehouse et al. Thm 2.
    ///
    /// # Errors
    ///
    /// [`RuleError::NoSlack`] or [`RuleError::SlackTooLarge`].
    pub fn simple(limit: EpsilonDelta, slack: Delta) -> Result<Self, RuleError> {
        Self::new(limit, slack, Conversion::Simple)
    }

    /// With the tightest conversion known, that of Canonne, Kamath and Steinke 2020.
    ///
    /// # Errors
    ///
    /// [`RuleError::NoSlack`] or [`RuleError::SlackTooLarge`].
    pub fn tight(limit: EpsilonDelta, slack: Delta) -> Result<Self, RuleError> {
        Self::new(limit, slack, Conversion::Tight)
    }

    fn new(limit: EpsilonDelta, slack: Delta, conversion: Conversion) -> Result<Self, RuleError> {
        let log = checked_slack(limit, slack)?;
        let threshold = match conversion {
            Conversion::Simple => simple_threshold(limit.epsilon, log),
            // Never less than the simple one, whatever the search for the best order finds.
            Conversion::Tight => {
                let rho = zcdp::tight_budget(limit.epsilon.into(), log);
                (Interval::TWO * rho).squares_down(27)
            }
        };
        Ok(Self {
            limit,
            slack,
            log,
            conversion,
            threshold,
            squares: Square::default(),
            deltas: Delta::ZERO,
        })
    }

    fn spent_epsilon(&self) -> Option<Epsilon> {
        if self.squares == Square::default() {
            return Some(Epsilon::ZERO);
        }
        match self.conversion {
            Conversion::Simple => simple_epsilon(self.squares, self.log),
            Conversion::Tight => {
                let rho = Interval::squares(self.squares, 27) / Interval::TWO;
                zcdp::tight(rho, self.log).up()
            }
        }
    }
}

impl Accounting for ThroughZCdp {
    type Measure = ApproxDp;

    fn measure(&self) -> &ApproxDp {
        &ApproxDp
    }
}

impl ContinuationRule for ThroughZCdp {
    fn limit(&self) -> &EpsilonDelta {
        &self.limit
    }

    fn spent(&self) -> EpsilonDelta {
        // Whatever was admitted is within the limit, to the last digit.
        let epsilon = self.spent_epsilon().unwrap_or(self.limit.epsilon);
        EpsilonDelta {
            epsilon: epsilon.min(self.limit.epsilon),
            delta: self.slack.saturating_add(self.deltas),
        }
    }

    fn remaining(&self) -> EpsilonDelta {
        let left = self.threshold.checked_sub(self.squares);
        let units = left.map_or(0, Square::root_down);
        let spent = self.slack.saturating_add(self.deltas);
        EpsilonDelta {
            epsilon: Epsilon::from_units(units).unwrap_or(self.limit.epsilon),
            delta: self.limit.delta.saturating_sub(spent),
        }
    }

    fn charge(&mut self, loss: &EpsilonDelta) -> Result<(), Exceeded> {
        self.charge_times(loss, 1)
    }
}

impl Repeats for ThroughZCdp {
    fn charge_times(&mut self, loss: &EpsilonDelta, times: u64) -> Result<(), Exceeded> {
        let squares = Square::of(loss.epsilon)
            .checked_mul(u128::from(times))
            .and_then(|squares| self.squares.checked_add(squares))
            .filter(|squares| *squares <= self.threshold)
            .ok_or(Exceeded)?;
        let deltas = loss
            .delta
            .checked_mul(times)
            .and_then(|deltas| self.deltas.checked_add(deltas))
            .filter(|deltas| self.slack.saturating_add(*deltas) <= self.limit.delta)
            .ok_or(Exceeded)?;
        (self.squares, self.deltas) = (squares, deltas);
        Ok(())
    }
}

impl ValidSequentially for ThroughZCdp {}
impl ValidConcurrently for ThroughZCdp {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::oracle::{
        Real, better_epsilon, deltas, epsilons, quantity, real, simple_epsilon, squares,
    };
    use proptest::prelude::*;

    fn pair(epsilon: &str, delta: &str) -> EpsilonDelta {
        EpsilonDelta::new(epsilon, delta).unwrap()
    }

    #[test]
    fn the_slack_must_be_there_and_affordable() {
        let (slack, delta) = ("2e-6".parse().unwrap(), "1e-6".parse().unwrap());
        let budget = pair("1", "1e-6");
        for new in [ThroughZCdp::simple, ThroughZCdp::tight] {
            assert_eq!(new(budget, Delta::ZERO), Err(RuleError::NoSlack));
            assert_eq!(
                new(budget, slack),
                Err(RuleError::SlackTooLarge { slack, delta })
            );
        }
    }

    #[test]
    fn deltas_of_children_share_what_the_slack_leaves() {
        let mut rule = ThroughZCdp::tight(pair("1", "1e-6"), "4e-7".parse().unwrap()).unwrap();
        assert_eq!(rule.charge(&pair("0.01", "5e-7")), Ok(()));
        assert_eq!(rule.remaining().delta, "1e-7".parse().unwrap());
        assert_eq!(rule.charge(&pair("0.01", "2e-7")), Err(Exceeded));
        assert_eq!(rule.charge(&pair("0.01", "1e-7")), Ok(()));
        assert_eq!(rule.spent().delta, "1e-6".parse().unwrap());
        assert_eq!(rule.charge(&pair("0.01", "1e-38")), Err(Exceeded));
        assert_eq!(rule.charge(&pair("0.01", "0")), Ok(()));
    }

    #[test]
    fn no_epsilon_admits_only_launches_that_cost_none() {
        let mut rule = ThroughZCdp::simple(pair("0", "1e-6"), "1e-7".parse().unwrap()).unwrap();
        assert_eq!(rule.charge(&pair("1e-27", "0")), Err(Exceeded));
        assert_eq!(rule.charge(&pair("0", "9e-7")), Ok(()));
    }

    #[test]
    fn a_billion_launches() {
        // Of 1e-6 each, in (0.5, 1e-9).
        let budget = pair("0.5", "1e-9");
        let mut rule = ThroughZCdp::simple(budget, budget.delta).unwrap();
        let loss = pair("1e-6", "0");
        assert_eq!(rule.charge_times(&loss, 5_960_000_000), Ok(()));
        assert_eq!(rule.charge_times(&loss, 1_000_000_000), Err(Exceeded));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// The threshold is the largest Σε² within the bound, rounded down, to 1e-9.
        #[test]
        fn the_threshold_is_rounded_down(epsilon in epsilons(), delta in deltas()) {
            let rule = ThroughZCdp::simple(EpsilonDelta { epsilon, delta }, delta).unwrap();
            let largest = squares(rule.threshold) / real(2.0);
            let bound = |rho: &Real| simple_epsilon(rho, &quantity(delta));
            prop_assert!(bound(&largest) <= quantity(epsilon));
            prop_assert!(bound(&(largest * real(1.0 + 1e-9))) > quantity(epsilon));
        }

        /// The same for the better of the two conversions.
        #[test]
        fn the_tight_threshold_is_rounded_down(epsilon in epsilons(), delta in deltas()) {
            let rule = ThroughZCdp::tight(EpsilonDelta { epsilon, delta }, delta).unwrap();
            let largest = squares(rule.threshold) / real(2.0);
            let (target, exact) = (quantity(epsilon), quantity(delta));
            let admits = |rho: &Real| better_epsilon(rho, &exact) <= target;
            prop_assert!(admits(&largest));
            prop_assert!(!admits(&(largest * real(1.0 + 1e-9))));
        }
    }
}
