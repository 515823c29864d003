//! Finitely many answers.

use super::{Adjacency, Point};
use crate::number::{Delta, Interval};

/// The pair in the order in which it is compared.
fn ordered(
    masses: &[(Delta, Delta)],
    direction: Adjacency,
) -> impl Iterator<Item = (Delta, Delta)> {
    masses.iter().map(move |&(p, q)| match direction {
        Adjacency::Remove => (p, q),
        Adjacency::Add => (q, p),
    })
}

/// Σ (p − γq)⁺.
pub(super) fn at(masses: &[(Delta, Delta)], direction: Adjacency, s: Interval) -> Point {
    let odds = s.exp();
    let (mut height, mut slope) = (Interval::ZERO, Interval::ZERO);
    for (p, q) in ordered(masses, direction) {
        let (p, q) = (Interval::from(p), Interval::from(q));
        let gain = p - odds * q;
        if gain.high() > 0.0 {
            height = height + gain.max(Interval::ZERO);
            // Where the sign is not certain, the answer may or may not belong to the event.
            let sure = if gain.low() > 0.0 { q.low() } else { 0.0 };
            slope = slope + Interval::between(sure, q.high());
        }
    }
    Point { height, slope }
}

pub(super) fn infinite(masses: &[(Delta, Delta)], direction: Adjacency) -> Interval {
    ordered(masses, direction)
        .filter(|(_, q)| *q == Delta::ZERO)
        .fold(Interval::ZERO, |sum, (p, _)| sum + p.into())
}

pub(super) fn kinks(masses: &[(Delta, Delta)], direction: Adjacency) -> Vec<f64> {
    ordered(masses, direction)
        .filter(|(p, q)| *p > Delta::ZERO && *q > Delta::ZERO)
        .map(|(p, q)| libm::log(Interval::from(p).middle() / Interval::from(q).middle()))
        .collect()
}
