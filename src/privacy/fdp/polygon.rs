//! A trade-off function that is a polygon, as a pair of laws.

use std::sync::Arc;

use super::FdpError;
use crate::number::{Delta, U256};

/// The probabilities under P and Q of the answers between successive corners of T[P, Q].
///
/// Between two corners the best test lets one more answer raise the alarm: false alarms grow by its
/// probability under P, misses fall by that under Q.
pub(super) fn masses(corners: &[(Delta, Delta)]) -> Result<Arc<[(Delta, Delta)]>, FdpError> {
    let ends = [(Delta::ZERO, Delta::ONE), (Delta::ONE, Delta::ZERO)];
    let [start, end] = ends;
    let mut masses: Vec<(Delta, Delta)> = Vec::new();
    let mut from = start;
    for (index, &to) in corners.iter().chain([&end]).enumerate() {
        let wrong = |why| FdpError::NotATradeOff { corner: index, why };
        if to.1 > Delta::ONE.saturating_sub(to.0) {
            return Err(wrong("β is more than 1 − α"));
        }
        if to.0 < from.0 {
            return Err(wrong("α falls"));
        }
        if to.1 > from.1 {
            return Err(wrong("β rises"));
        }
        let mass = (to.0.saturating_sub(from.0), from.1.saturating_sub(to.1));
        if mass == (Delta::ZERO, Delta::ZERO) {
            continue;
        }
        // Convex: Q/P falls from one answer to the next.
        if masses.last().is_some_and(|last| is_steeper(mass, *last)) {
            return Err(wrong("not convex"));
        }
        masses.push(mass);
        from = to;
    }
    Ok(masses.into())
}

/// q₁/p₁ > q₂/p₂, exactly.
fn is_steeper(one: (Delta, Delta), other: (Delta, Delta)) -> bool {
    let product = |a: Delta, b: Delta| U256::whole(a.units()).checked_mul(b.units());
    product(one.1, other.0) > product(other.1, one.0)
}
