//! The recursion for two sums of costs, of which either may fit.

use std::collections::{BTreeMap, BTreeSet};

use super::MenuError;
use super::curve::{Curve, Margin};
use super::lattice::Lattice;
use super::launch::Launch;

/// The largest number of floats kept in memory: 720 MB.
const MOST_KEPT: usize = 90_000_000;

/// What is left of either budget; `None` where the sum no longer fits.
type Left = [Option<u64>; 2];

/// Where a launch leads, if it is admitted.
fn after(left: Left, costs: [u64; 2]) -> Option<Left> {
    let ([first, second], [one, other]) = (left, costs);
    let next = [
        first.and_then(|first| first.checked_sub(one)),
        second.and_then(|second| second.checked_sub(other)),
    ];
    next.iter().any(Option::is_some).then_some(next)
}

/// A state comes after every state that it leads to: a launch makes each number smaller, or
/// removes it, and costs are positive.
fn rank(left: Left) -> u128 {
    left.iter()
        .map(|left| left.map_or(0, |left| u128::from(left) + 1))
        .sum()
}

/// A bound on every adaptive interaction in which, at all times, the first costs add up to at most
/// the first budget or the second ones to at most the second.
///
/// # Guarantee
///
/// As for one sum: the states are those that can be reached, and V at each is the largest over the
/// launches that it admits.
///
/// # Errors
///
/// [`MenuError::Empty`], or [`MenuError::TooLarge`] if there are too many states.
pub(crate) fn worst_of_either(
    lattice: &Lattice,
    entries: &[(Launch, [u64; 2])],
    budgets: [u64; 2],
) -> Result<Curve, MenuError> {
    if entries.is_empty() {
        return Err(MenuError::Empty);
    }
    let margin = Margin::of(entries.iter().map(|(launch, _)| launch));
    let nothing = Curve::nothing(lattice, margin);
    let root = budgets.map(Some);
    let mut states = BTreeSet::from([(rank(root), root)]);
    let mut open = vec![root];
    while let Some(state) = open.pop() {
        for (_, costs) in entries {
            if let Some(next) = after(state, *costs)
                && states.insert((rank(next), next))
            {
                open.push(next);
            }
        }
        if states.len().saturating_mul(nothing.size()) > MOST_KEPT {
            return Err(MenuError::TooLarge);
        }
    }
    let mut curves: BTreeMap<Left, Curve> = BTreeMap::new();
    let mut last = nothing.clone();
    for (_, state) in states {
        let mut curve = nothing.clone();
        for (launch, costs) in entries {
            if let Some(next) = after(state, *costs).and_then(|next| curves.get(&next)) {
                curve.raise_to(launch, next);
            }
        }
        curve.finish();
        last = curve.clone();
        curves.insert(state, curve);
    }
    // The root has the highest rank.
    Ok(last)
}
