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
/// use queryables::account::{ContinuationRule, ThroughZCdp};
/// use queryables::privacy::EpsilonDelta;
///
/// let budget = EpsilonDelta::new("1", "1e-6")?;
/// let mut rule = ThroughZCdp::tight(budget, budget.delta)?;
/// let loss = EpsilonDelta::new("0.01", "0")?;
/// for _ in 0..487 {
///     rule.charge(&loss)?;
/// }
/// assert!(rule.charge(&loss).is_err());
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
        let simple = simple_threshold(limit.epsilon, log);
        let threshold = match conversion {
            Conversion::Simple => simple,
            // Never less than the simple one, whatever the search for the best order finds.
            Conversion::Tight => {
                let rho = zcdp::tight_budget(limit.epsilon.into(), log);
                simple.max((Interval::TWO * rho).squares_down(27))
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
