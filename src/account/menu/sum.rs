//! The recursion for one sum of integer costs: the state is what is left of the budget.

use std::collections::VecDeque;

use super::MenuError;
use super::curve::{Curve, Margin};
use super::lattice::Lattice;
use super::launch::Launch;
use crate::privacy::EpsilonDelta;

/// The largest number of floats kept in memory: 720 MB.
const MOST_KEPT: usize = 90_000_000;

/// The largest number of states visited.
const MOST_STATES: u64 = 1 << 20;

/// A launch, and what it costs.
pub(crate) type CostedLaunch = (Launch, u64);

/// Visits V₀, V₁, … in order, as long as `go_on` returns true.
///
/// # Guarantee
///
/// Each curve visited is at least V_n − H₀ at the lattice points, where V₀ = H₀ and
/// V_n = max(H₀, max over c_i ≤ n of H_i ⊗ V_{n − c_i}): by induction, with the guarantee of
/// [`Launch`]. The menu filter's theorem makes it a bound on every adaptive interaction whose
/// costs add up to at most n.
///
/// # Errors
///
/// [`MenuError::Empty`], [`MenuError::CostsNothing`], [`MenuError::TooLarge`] if the curves that
/// the dearest entry looks back to do not fit in memory, [`MenuError::Endless`] if `go_on` never
/// says no.
pub(crate) fn visit(
    lattice: &Lattice,
    entries: &[CostedLaunch],
    mut go_on: impl FnMut(u64, &Curve) -> bool,
) -> Result<(), MenuError> {
    let dearest = entries.iter().map(|(_, cost)| *cost).max();
    let dearest = dearest.ok_or(MenuError::Empty)?;
    if let Some(entry) = entries.iter().position(|(_, cost)| *cost == 0) {
        return Err(MenuError::CostsNothing { entry });
    }
    let margin = Margin::of(entries.iter().map(|(launch, _)| launch));
    let start = Curve::nothing(lattice, margin);
    let size = start.size();
    let kept = usize::try_from(dearest).unwrap_or(usize::MAX);
    if kept.saturating_add(1).saturating_mul(size) > MOST_KEPT {
        return Err(MenuError::TooLarge);
    }
    if !go_on(0, &start) {
        return Ok(());
    }
    // The newest curve first: what costs c continues from the one at c − 1.
    let mut curves = VecDeque::from([start]);
    for left in 1..=MOST_STATES {
        let mut curve = if curves.len() > kept {
            curves.pop_back().ok_or(MenuError::TooLarge)?
        } else {
            Curve::nothing(lattice, margin)
        };
        curve.clear();
        for (launch, cost) in entries {
            let place = usize::try_from(cost - 1).unwrap_or(usize::MAX);
            if let Some(next) = curves.get(place) {
                curve.raise_to(launch, next);
            }
        }
        curve.finish();
        if !go_on(left, &curve) {
            return Ok(());
        }
        curves.push_front(curve);
    }
    Err(MenuError::Endless)
}

/// The largest budget whose worst case is within (ε, δ), and the worst cases up to it: δ after
/// each sum of costs.
///
/// # Errors
///
/// As for [`visit`].
pub(crate) fn largest_budget(
    lattice: &Lattice,
    entries: &[CostedLaunch],
    limit: EpsilonDelta,
) -> Result<Vec<crate::number::Delta>, MenuError> {
    let symmetric = entries.iter().all(|(launch, _)| launch.symmetric);
    let mut deltas = Vec::new();
    visit(lattice, entries, |_, curve| {
        let delta = curve.delta(lattice, limit.epsilon, symmetric);
        let fits = delta <= limit.delta;
        if fits {
            deltas.push(delta);
        }
        fits
    })?;
    Ok(deltas)
}
