//! How much of δ a rule should set aside.

use super::{ApproxDpRule, ContinuationRule, RuleError};
use crate::number::Delta;
use crate::privacy::EpsilonDelta;
use crate::privacy::convert::search::{apart_by, bisect};

/// The rule with the slack at which it admits most launches of a typical loss.
///
/// Pure launches leave δ to the slack, all of it. Otherwise δ is shared: what children get of it
/// limits their number by δ, and what is left as slack limits it by ε. With a larger share for
/// children the first number rises and the second falls, so the best share is where they meet. The
/// share may be tiny beside the slack, so the search is over the share. It is never all of δ, because
/// there is no rule without slack.
pub(super) fn with_best_slack(
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
    let with_share = |share: u128| {
        rule(Delta::from_units(budget.delta.units().saturating_sub(share)).unwrap_or_default())
    };
    let epsilon_is_the_limit = |share: u128| {
        let by_delta = share / typical.delta.units();
        let by_epsilon = admitted(&with_share(share), &pure);
        by_delta >= u128::from(by_epsilon)
    };
    let most = budget.delta.units().saturating_sub(1);
    let (high, low) = bisect(most, 0, apart_by(30), epsilon_is_the_limit);
    // One on either side of where they meet.
    let (less, more) = (with_share(low), with_share(high));
    match admitted(&less, &typical) > admitted(&more, &typical) {
        true => less,
        false => more,
    }
}

/// How many launches of this loss a rule admits; none if it could not be built.
fn admitted(rule: &Result<ApproxDpRule, RuleError>, loss: &EpsilonDelta) -> u64 {
    let admits = |rule: &ApproxDpRule| rule.admits(loss).certainly();
    rule.as_ref().map_or(0, admits)
}
