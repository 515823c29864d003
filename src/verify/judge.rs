//! How a claim is judged: what is tried, in which order.
//!
//! Where noise is released, all values that it may have are many, and those that are told apart where
//! values are [taken together](super::released) are few: so that is tried first. It proves claims, and
//! refutes none. What it does not prove is explored up to the cut.

use std::fmt::Debug;
use std::hash::Hash;

use super::claim::Verdict;
use super::exploration::{Exploration, Together};
use super::goal::Goal;
use super::menu::Menu;
use super::objective::{Objective, Value};
use super::worst::{Completeness, Worst, order_of};
use super::{Rational, VerifyError};
use crate::number::Delta;

/// Checks goals against the worst adversary, all in one exploration where that is possible.
pub(super) fn judge<Q, A, N>(
    exploration: &Exploration<Q, A, N>,
    goals: &[Goal],
) -> Result<Verdict<Q, A>, VerifyError>
where
    Q: Clone + Debug + Send + Sync,
    A: Clone + Eq + Hash + Send + Sync,
    N: Menu<Q, A>,
{
    let mut bounds = Vec::new();
    let mut stopped = None;
    let ratios = |goal: &Goal| matches!(goal, Goal::Ratio { .. });
    let renyis = |goal: &Goal| matches!(goal, Goal::Renyi { .. });
    for kind in [&ratios as &dyn Fn(&Goal) -> bool, &renyis] {
        let of_kind: Vec<_> = goals.iter().copied().filter(|goal| kind(goal)).collect();
        if of_kind.is_empty() {
            continue;
        }
        match exploration.together(&objectives(&of_kind)?, orders(&of_kind)) {
            Ok(Together::Nothing(wide, worst)) if of_kind.len() == goals.len() => {
                return explored(&wide, goals, worst, &[]);
            }
            Ok(Together::Unknown | Together::Nothing(..)) => (),
            Ok(Together::Limits(found)) => {
                for (goal, worst) in of_kind.into_iter().zip(found) {
                    bounds.push(Verdict::new(goal, worst, exploration.cut())?);
                }
            }
            Err(error) if error.leaves_undecided() => stopped = Some(error),
            Err(error) => return Err(error),
        }
    }
    if bounds.len() == goals.len() && bounds.iter().all(is_proved) {
        return bounds.pop().ok_or(VerifyError::Diverged);
    }
    let worst = match exploration.worst(&objectives(goals)?) {
        Err(error) if error.leaves_undecided() => {
            let open = bounds.into_iter().find(|bound| !bound.holds());
            return open
                .map(|bound| bound.stopped_by(Some(error.clone())))
                .ok_or(error);
        }
        worst => worst?,
    };
    let verdict = explored(exploration, goals, worst, &bounds)?;
    Ok(match verdict.is_decided() {
        true => verdict,
        false => verdict.stopped_by(stopped),
    })
}

/// Whether a bound proves the claim, so that it cannot be refuted either: not even within the
/// tolerance.
fn is_proved<Q, A>(bound: &Verdict<Q, A>) -> bool {
    bound.holds() && !bound.worst.value.is_more_than(&bound.allowed)
}

fn objectives(goals: &[Goal]) -> Result<Vec<Objective>, VerifyError> {
    goals.iter().map(Goal::objective).collect()
}

fn orders(goals: &[Goal]) -> Vec<Rational> {
    let order = |goal: &Goal| match goal {
        Goal::Renyi { order, .. } => Some(order_of(*order)),
        _ => None,
    };
    goals.iter().filter_map(order).collect()
}

/// What follows for each goal from what was explored up to the cut, and from bounds.
fn explored<Q, A, N>(
    exploration: &Exploration<Q, A, N>,
    goals: &[Goal],
    worst: Vec<Worst<Q, A>>,
    bounds: &[Verdict<Q, A>],
) -> Result<Verdict<Q, A>, VerifyError>
where
    Q: Clone + Debug + Send + Sync,
    A: Clone + Eq + Hash + Send + Sync,
    N: Menu<Q, A>,
{
    let found = goals.iter().zip(worst);
    let found = found.map(|(goal, worst)| Verdict::new(*goal, worst, exploration.cut()));
    let mut found = found.collect::<Result<Vec<_>, _>>()?;
    beyond_the_cut(exploration, &mut found, bounds)?;
    let mut kept: Option<Verdict<Q, A>> = None;
    let mut cut = exploration.cut().clone();
    for mut verdict in found {
        let truncated = matches!(verdict.worst.completeness, Completeness::Truncated { .. });
        if !verdict.is_decided() && !truncated {
            verdict = deeper(exploration, verdict)?;
        }
        if verdict.is_refuted() {
            return Ok(verdict);
        }
        // One tree for all goals needs the smallest cut of all.
        cut = cut.min(verdict.cut.clone());
        // An undecided goal stays, but does not hide a later one that is refuted.
        if kept.as_ref().is_none_or(Verdict::holds) {
            kept = Some(verdict);
        }
    }
    let mut kept = kept.ok_or(VerifyError::NoGoals)?;
    kept.cut = cut;
    Ok(kept)
}

/// The same at a smaller cut, where everything was followed: then bounds on what compared noise decides
/// are narrower.
fn deeper<Q, A, N>(
    exploration: &Exploration<Q, A, N>,
    verdict: Verdict<Q, A>,
) -> Result<Verdict<Q, A>, VerifyError>
where
    Q: Clone + Debug + Send + Sync,
    A: Clone + Eq + Hash + Send + Sync,
    N: Menu<Q, A>,
{
    let Some(deeper) = exploration.deeper() else {
        return Ok(verdict);
    };
    match judge(&deeper, &[verdict.goal]) {
        Err(stopped) if stopped.leaves_undecided() => Ok(verdict.stopped_by(Some(stopped))),
        found => found,
    }
}

/// What else is known of ratios and Rényi divergences if samplers were cut: whether they are refuted
/// without what was cut, all in one exploration, and otherwise a bound from above if there is one.
fn beyond_the_cut<Q, A, N>(
    exploration: &Exploration<Q, A, N>,
    found: &mut [Verdict<Q, A>],
    bounds: &[Verdict<Q, A>],
) -> Result<(), VerifyError>
where
    Q: Clone + Debug + Send + Sync,
    A: Clone + Eq + Hash + Send + Sync,
    N: Menu<Q, A>,
{
    let mut open = Vec::new();
    let mut certain = Vec::new();
    for verdict in found {
        let Completeness::Truncated { mass } = &verdict.worst.completeness else {
            continue;
        };
        if verdict.is_refuted() || matches!(verdict.goal, Goal::Delta { .. }) {
            continue;
        }
        let bound = bounds.iter().find(|bound| bound.goal == verdict.goal);
        match bound {
            Some(bound) if is_proved(bound) => *verdict = bound.clone(),
            _ => {
                certain.push(at_least(verdict.goal, mass.clone())?);
                open.push((verdict, bound));
            }
        }
    }
    if open.is_empty() {
        return Ok(());
    }
    let (certain, stopped) = match exploration.worst(&certain) {
        Err(error) if error.leaves_undecided() => (Vec::new(), Some(error)),
        worst => (worst?, None),
    };
    let mut certain = certain.into_iter();
    for (verdict, bound) in open {
        let cut = verdict.cut.clone();
        let known = certain
            .next()
            .map(|worst| without(verdict.goal, worst, &cut));
        let known = known.transpose()?;
        *verdict = match (known, bound) {
            (Some(known), _) if known.is_refuted() => known,
            (Some(_), Some(bound)) => bound.clone(),
            (None, Some(bound)) => bound.clone().stopped_by(stopped.clone()),
            (Some(known), None) => known,
            (None, None) => verdict.clone().stopped_by(stopped.clone()),
        };
    }
    Ok(())
}

/// What is certain although a mass of at most `missing` was not followed.
fn at_least(goal: Goal, missing: Rational) -> Result<Objective, VerifyError> {
    match goal {
        Goal::Renyi { order, .. } => Ok(Objective::AtLeast {
            order: order_of(order),
            missing,
        }),
        _ => as_delta(goal).objective(),
    }
}

/// After a cut, δ(ε) is bounded from both sides, and the ratio from neither.
fn as_delta(goal: Goal) -> Goal {
    match goal {
        Goal::Ratio { epsilon } => Goal::Delta {
            epsilon,
            delta: Delta::ZERO,
        },
        _ => goal,
    }
}

/// The verdict without what was cut.
fn without<Q, A>(
    goal: Goal,
    worst: Worst<Q, A>,
    cut: &Rational,
) -> Result<Verdict<Q, A>, VerifyError> {
    let value = match goal {
        Goal::Renyi { .. } => Value::AtLeast(worst.value.low().cloned().unwrap_or_default()),
        _ => worst.value,
    };
    Verdict::new(as_delta(goal), Worst { value, ..worst }, cut)
}
