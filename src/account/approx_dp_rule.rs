//! One of the (ε, δ) rules, chosen at run time.

use super::menu::MenuFilter;
use super::{
    Capped, ContinuationRule, Exceeded, FixedCount, LaunchesLeft, Repeats, Rogers, Sum, ThroughRdp,
    ThroughZCdp, ValidConcurrently, ValidSequentially,
};
use crate::privacy::{ApproxDp, EpsilonDelta};

/// Any of the (ε, δ) rules here, chosen in advance.
///
/// Example: [`compare`](crate::account::compare).
///
/// # Guarantee
///
/// That of the rule inside; which one it is depends on public values only, and never changes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
#[must_use = "`charge` gives the next rule and changes nothing"]
pub enum ApproxDpRule {
    /// Losses add up (Rogers et al. 3.3).
    Basic(Capped<Sum<ApproxDp>>),
    /// Rogers et al. 5.1.
    Rogers(Rogers),
    /// Whitehouse et al. Thm 2.
    Whitehouse(ThroughZCdp),
    /// Through zCDP, with the conversion of Canonne, Kamath and Steinke 2020.
    ThroughZCdp(ThroughZCdp),
    /// Through Rényi privacy, at the best order.
    ThroughRdp(ThroughRdp),
    /// A number of launches that are all at most the typical one (Kairouz, Oh, Viswanath 2015).
    FixedCount(FixedCount),
    /// A price list (after Tran et al. App. B).
    Menu(MenuFilter),
}

macro_rules! each {
    ($rule:expr, $inner:ident => $value:expr) => {
        match $rule {
            ApproxDpRule::Basic($inner) => $value,
            ApproxDpRule::Rogers($inner) => $value,
            ApproxDpRule::Whitehouse($inner) | ApproxDpRule::ThroughZCdp($inner) => $value,
            ApproxDpRule::ThroughRdp($inner) => $value,
            ApproxDpRule::FixedCount($inner) => $value,
            ApproxDpRule::Menu($inner) => $value,
        }
    };
}

impl ApproxDpRule {
    /// The name of the rule.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Basic(_) => "basic",
            Self::Rogers(_) => "Rogers",
            Self::Whitehouse(_) => "Whitehouse",
            Self::ThroughZCdp(_) => "zCDP, tight",
            Self::ThroughRdp(_) => "RDP, exact curve",
            Self::FixedCount(_) => "fixed count",
            Self::Menu(rule) => rule.name(),
        }
    }
}

crate::account::approx_dp_in_and_out!(ApproxDpRule);

impl ContinuationRule for ApproxDpRule {
    fn limit(&self) -> &EpsilonDelta {
        each!(self, rule => rule.limit())
    }

    fn spent(&self) -> EpsilonDelta {
        each!(self, rule => rule.spent())
    }

    fn set_aside(&self) -> EpsilonDelta {
        each!(self, rule => rule.set_aside())
    }

    fn remaining(&self) -> EpsilonDelta {
        each!(self, rule => rule.remaining())
    }

    fn charge(&self, loss: &EpsilonDelta) -> Result<Self, Exceeded> {
        self.charge_times(loss, 1)
    }

    fn admits(&self, loss: &EpsilonDelta) -> LaunchesLeft {
        self.launches_left(loss)
    }
}

impl Repeats for ApproxDpRule {
    fn charge_times(&self, loss: &EpsilonDelta, times: u64) -> Result<Self, Exceeded> {
        Ok(match self {
            Self::Basic(rule) => Self::Basic(rule.charge_times(loss, times)?),
            Self::Rogers(rule) => Self::Rogers(rule.charge_times(loss, times)?),
            Self::Whitehouse(rule) => Self::Whitehouse(rule.charge_times(loss, times)?),
            Self::ThroughZCdp(rule) => Self::ThroughZCdp(rule.charge_times(loss, times)?),
            Self::ThroughRdp(rule) => Self::ThroughRdp(rule.charge_times(loss, times)?),
            Self::FixedCount(rule) => Self::FixedCount(rule.charge_times(loss, times)?),
            Self::Menu(rule) => Self::Menu(rule.charge_times(loss, times)?),
        })
    }
}

impl ValidSequentially for ApproxDpRule {}
impl ValidConcurrently for ApproxDpRule {}
