use super::{
    Accounting, Accumulator, Capped, ContinuationRule, Exceeded, Repeats, Rogers, RuleError, Sum,
    ThroughRdp, ThroughZCdp, ValidConcurrently, ValidSequentially,
};
use crate::privacy::{ApproxDp, Delta, EpsilonDelta};

/// Any of the (ε, δ) rules here, chosen in advance.
///
/// # Guarantee
///
/// That of the rule inside; which one it is depends on public values only, and never changes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ApproxDpRule {
    /// Losses add up (Rogers et al. 3.3).
    Basic(Capped<Sum<ApproxDp>>),
    /// Rogers et al. 5.1.
    Rogers(Rogers),
    /// Whitehouse et al. Thm 2.
    Whitehouse(ThroughZCdp),
    /// Through zCDP, with the tightest conversion.
    ZCdp(ThroughZCdp),
    /// Through Rényi privacy, at the best order.
    Rdp(ThroughRdp),
}

macro_rules! each {
    ($rule:expr, $inner:ident => $value:expr) => {
        match $rule {
            ApproxDpRule::Basic($inner) => $value,
            ApproxDpRule::Rogers($inner) => $value,
            ApproxDpRule::Whitehouse($inner) | ApproxDpRule::ZCdp($inner) => $value,
            ApproxDpRule::Rdp($inner) => $value,
        }
    };
}

impl ApproxDpRule {
    /// What the rule is called.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Basic(_) => "basic",
            Self::Rogers(_) => "Rogers",
            Self::Whitehouse(_) => "Whitehouse",
            Self::ZCdp(_) => "zCDP, tight",
            Self::Rdp(_) => "RDP, exact curve",
        }
    }
}

impl Accounting for ApproxDpRule {
    type Measure = ApproxDp;

    fn measure(&self) -> &ApproxDp {
        &ApproxDp
    }
}

impl ContinuationRule for ApproxDpRule {
    fn limit(&self) -> &EpsilonDelta {
        each!(self, rule => rule.limit())
    }

    fn spent(&self) -> EpsilonDelta {
        each!(self, rule => rule.spent())
    }

    fn remaining(&self) -> EpsilonDelta {
        each!(self, rule => rule.remaining())
    }

    fn charge(&mut self, loss: &EpsilonDelta) -> Result<(), Exceeded> {
        each!(self, rule => rule.charge(loss))
    }
}

impl Repeats for ApproxDpRule {
    fn charge_times(&mut self, loss: &EpsilonDelta, times: u64) -> Result<(), Exceeded> {
        each!(self, rule => rule.charge_times(loss, times))
    }
}

impl Repeats for Capped<Sum<ApproxDp>> {
    fn charge_times(&mut self, loss: &EpsilonDelta, times: u64) -> Result<(), Exceeded> {
        let whole = EpsilonDelta {
            epsilon: loss.epsilon.checked_mul(times).ok_or(Exceeded)?,
            delta: loss.delta.checked_mul(times).ok_or(Exceeded)?,
        };
        self.charge(&whole)
    }
}

impl ValidSequentially for ApproxDpRule {}
impl ValidConcurrently for ApproxDpRule {}

/// A rule, and how many launches of the typical loss it admits.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// How many.
    pub admits: u64,
    /// The rule, with nothing counted.
    pub rule: ApproxDpRule,
}

/// All (ε, δ) rules that are valid for a budget, the one that admits most launches of a typical
/// loss first.
///
/// Where a slack must be set aside it is all of δ for a pure loss, and the best part of δ
/// otherwise; a rule with nothing left of δ refuses children with δ > 0.
///
/// # Example
///
/// ```
/// use queryables::account::{ContinuationRule, compare};
/// use queryables::privacy::EpsilonDelta;
///
/// let budget = EpsilonDelta::new("1", "1e-6")?;
/// let typical = EpsilonDelta::new("0.01", "0")?;
/// let best = compare(budget, typical).swap_remove(0);
/// assert_eq!((best.rule.name(), best.admits), ("RDP, exact curve", 490));
///
/// // For few launches nothing beats adding up.
/// let typical = EpsilonDelta::new("0.5", "0")?;
/// let mut best = compare(budget, typical).swap_remove(0);
/// assert_eq!((best.rule.name(), best.admits), ("basic", 2));
/// best.rule.charge(&typical)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn compare(budget: EpsilonDelta, typical: EpsilonDelta) -> Vec<Candidate> {
    let basic = ApproxDpRule::Basic(Sum::new(ApproxDp).capped(budget));
    let rogers = Rogers::new(budget).map(ApproxDpRule::Rogers);
    let with_slack = [
        best_slack(budget, typical, |slack| {
            ThroughZCdp::simple(budget, slack).map(ApproxDpRule::Whitehouse)
        }),
        best_slack(budget, typical, |slack| {
            ThroughZCdp::tight(budget, slack).map(ApproxDpRule::ZCdp)
        }),
        best_slack(budget, typical, |slack| {
            ThroughRdp::chosen_for(budget, slack, typical.epsilon).map(ApproxDpRule::Rdp)
        }),
    ];
    let mut candidates: Vec<Candidate> = std::iter::once(basic)
        .chain(rogers.ok())
        .chain(with_slack.into_iter().filter_map(Result::ok))
        .map(|rule| Candidate {
            admits: admits(&rule, &typical),
            rule,
        })
        .collect();
    // Stable: of equals the simplest stays first.
    candidates.sort_by_key(|candidate| std::cmp::Reverse(candidate.admits));
    candidates
}

/// How many launches of a loss a rule admits, one after the other.
///
/// ```
/// use queryables::account::{ApproxDpRule, Rogers, admits};
/// use queryables::privacy::EpsilonDelta;
///
/// let rule = ApproxDpRule::Rogers(Rogers::new(EpsilonDelta::new("1", "1e-6")?)?);
/// assert_eq!(admits(&rule, &EpsilonDelta::new("0.01", "0")?), 147);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn admits(rule: &ApproxDpRule, loss: &EpsilonDelta) -> u64 {
    largest(|times| rule.clone().charge_times(loss, times).is_ok())
}

/// The slack with which a rule admits most: more of it leaves more of ε and less of δ to children.
fn best_slack(
    budget: EpsilonDelta,
    typical: EpsilonDelta,
    rule: impl Fn(Delta) -> Result<ApproxDpRule, RuleError>,
) -> Result<ApproxDpRule, RuleError> {
    if typical.delta == Delta::ZERO {
        return rule(budget.delta);
    }
    let pure = EpsilonDelta {
        delta: Delta::ZERO,
        ..typical
    };
    // How many fit into ε rises with the slack, how many fit into δ falls: where do they meet?
    let at = |units: u128| Delta::from_units(units).unwrap_or_default();
    let fits = |units: u128| {
        let by_delta = (budget.delta.units() - units) / typical.delta.units();
        let by_epsilon = rule(at(units)).map_or(0, |rule| admits(&rule, &pure));
        u128::from(by_epsilon) >= by_delta
    };
    let (mut low, mut high) = (0, budget.delta.units());
    while high - low > 1 + (high >> 30) {
        let middle = low + (high - low) / 2;
        if fits(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    rule(at(high))
}

/// The largest number of which a claim holds that holds up to somewhere; 0 if for none.
pub(super) fn largest(holds: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (0, 1);
    while holds(high) {
        low = high;
        if high == u64::MAX {
            return high;
        }
        high = high.saturating_mul(2);
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}
