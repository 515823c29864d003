//! How far chords of a convex function lie above it.

use super::curve::Point;
use crate::number::Interval;

/// A little more than a non-negative number that a few roundings led to.
pub(super) fn above(number: f64) -> f64 {
    number * (1.0 + 2_f64.powi(-40))
}

/// At most how far a chord lies above the curve, and at which share of the cell.
pub(super) struct Sagging {
    depth: f64,
    share: f64,
}

impl Sagging {
    pub(super) fn new(left: &Point, right: &Point, width: Interval) -> Self {
        let slope = (left.height - right.height) / width;
        let from = (left.slope - slope).high().max(0.0);
        let to = (slope - right.slope).high().max(0.0);
        if from + to > 0.0 {
            let share = to / (from + to);
            Self {
                depth: above(width.high() * from * share),
                share,
            }
        } else {
            Self {
                depth: 0.0,
                share: 0.5,
            }
        }
    }
}

/// By how much every place must come down.
///
/// The share is rounded by 2^-51 of it, so at the exact one the chord may be short by 2^-51 of the
/// larger end. Both ends are at most the sum of depths around, some hundreds of times the one in
/// between, and `above` covers 2^-40.
pub(super) fn lowered(cells: &[Sagging]) -> Vec<f64> {
    let left = std::iter::once(0.0).chain(cells.iter().map(|cell| cell.depth));
    let right = cells.iter().map(|cell| cell.depth).chain([0.0]);
    let mut by: Vec<f64> = left.zip(right).map(|(a, b)| 0.5 * (a + b)).collect();
    let mut ends = by.iter_mut();
    let mut before = ends.next();
    for (cell, after) in cells.iter().zip(ends) {
        if let Some(before) = before {
            let here = (1.0 - cell.share) * *before + cell.share * *after;
            let lacking = (cell.depth - here).max(0.0);
            *before = above(*before + lacking);
            *after = above(*after + lacking);
        }
        before = Some(after);
    }
    by
}
