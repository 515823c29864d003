//! A profile between two polygons.

use super::Adjacency;
use super::chords::{Sagging, above, lowered};
use super::curve::{Curve, Point};
use super::lattice::Lattice;
use crate::number::Interval;

/// Bounds on a profile H at places of a lattice.
///
/// # Guarantee
///
/// With γ = e^s for the places s, H lies between the polygon through the points (γ, low) and the one
/// through (γ, up), in between the places too. Left of the first place H is between the chords from
/// (0, `start`) and from (0, 1). Right of the last place H is at most the last `up` and at least the
/// last `low`, which is at most the probability of an infinite loss.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Table {
    pub(super) lattice: Lattice,
    pub(super) nodes: Vec<i64>,
    pub(super) up: Vec<f64>,
    pub(super) low: Vec<f64>,
    /// Where the lower polygon starts, at γ = 0.
    pub(super) start: f64,
    /// A lower bound on the probability of an infinite loss.
    pub(super) infinite: f64,
}

impl Table {
    /// Of a curve.
    ///
    /// The chords of a convex function lie above it. How far, is bounded by its tangents: on a cell
    /// of width Δ, with a slope S of the chord and slopes −a₀ and −a₁ of H at its ends, H lies above
    /// both tangents. They meet at a share b/(a+b) of the cell, Δab/(a+b) below the chord, for
    /// a = a₀ − |S| and b = |S| − a₁. If the chord's ends are lowered so that it comes down there by
    /// as much, all of it lies below the tangents, and below H.
    ///
    /// How much of that either end takes is free: half of what the two cells ask that meet there, and
    /// then what a cell still lacks, at both of its ends.
    pub(super) fn of_curve(
        curve: &Curve,
        direction: Adjacency,
        lattice: Lattice,
        nodes: Vec<i64>,
    ) -> Self {
        let points: Vec<Point> = nodes
            .iter()
            .map(|&node| curve.at(direction, lattice.loss(node)))
            .collect();
        let infinite = curve.infinite(direction).low();
        Self::of_points(&points, lattice, nodes, infinite)
    }

    pub(super) fn of_points(
        points: &[Point],
        lattice: Lattice,
        nodes: Vec<i64>,
        infinite: f64,
    ) -> Self {
        let cells: Vec<Sagging> = points
            .windows(2)
            .zip(nodes.windows(2))
            .filter_map(|(points, nodes)| match (points, nodes) {
                ([left, right], [from, to]) => {
                    Some(Sagging::new(left, right, lattice.gap(*from, *to)))
                }
                _ => None,
            })
            .collect();
        let low = points
            .iter()
            .zip(lowered(&cells))
            .map(|(point, by)| (point.height.low() - by).next_down())
            .collect();
        let mut least = 1.0_f64;
        // H falls, so what bounds it at a place bounds it to the right.
        let up = points
            .iter()
            .map(|point| {
                least = least.min(point.height.high());
                least
            })
            .collect();
        let tangent = points
            .first()
            .zip(nodes.first())
            .map_or(0.0, |(point, &node)| {
                let odds = lattice.loss(node).exp();
                (point.height + odds * point.slope).low()
            });
        Self {
            lattice,
            nodes,
            up,
            low,
            start: tangent,
            infinite,
        }
        .with_ends()
    }

    /// Lowers the ends as the guarantee asks.
    ///
    /// On the left, a tangent of H at the first place will do, if it comes near (0, 1); `start` is
    /// where it begins. Otherwise 1 − γ is below H.
    pub(super) fn with_ends(mut self) -> Self {
        if let (Some(low), Some(&node)) = (self.low.first_mut(), self.nodes.first()) {
            if self.start > 1.0 - 1e-9 {
                // The first place may have come down since: by less than the tangent may.
                self.start = self.start.min(1.0);
            } else {
                *low = low.min((-self.lattice.loss(node).exp_m1()).low());
                self.start = 1.0;
            }
        }
        if let Some(low) = self.low.last_mut() {
            *low = low.min(self.infinite);
        }
        self
    }

    /// H at e^s.
    pub(super) fn at(&self, s: Interval) -> Interval {
        let least = (-s.exp_m1()).max(Interval::ZERO).low();
        let polygons = self.polygons(s);
        let high = polygons.high().clamp(least, 1.0);
        Interval::between(polygons.low().max(least).min(high), high)
    }

    /// Both polygons at e^s: the largest H has the smallest s.
    fn polygons(&self, s: Interval) -> Interval {
        let low = self.chord(s.high(), &self.low, self.start);
        let high = self.chord(s.low(), &self.up, 1.0);
        Interval::between(
            low.map_or(0.0, Interval::low),
            high.map_or(1.0, Interval::high),
        )
    }

    /// The polygon through some values, where there is one.
    fn chord(&self, s: f64, values: &[f64], start: f64) -> Option<Interval> {
        let next = self
            .nodes
            .partition_point(|&node| self.lattice.loss(node).low() <= s);
        let Some(before) = next.checked_sub(1) else {
            // Left of the first place: on the chord from (0, start).
            let (node, value) = (*self.nodes.first()?, *values.first()?);
            let share = (Interval::exactly(s) - self.lattice.loss(node)).exp();
            let start = Interval::exactly(start);
            return Some(start - (start - Interval::exactly(value)) * share.min(Interval::ONE));
        };
        let (left, from) = (*self.nodes.get(before)?, *values.get(before)?);
        let (Some(&right), Some(&to)) = (self.nodes.get(next), values.get(next)) else {
            return Some(Interval::exactly(from));
        };
        // Exactly, so that what is nothing stays nothing.
        if from == to {
            return Some(Interval::exactly(from));
        }
        let reach = (Interval::exactly(s) - self.lattice.loss(left)).max(Interval::ZERO);
        let share = reach.exp_m1() / self.lattice.loss(right - left).exp_m1();
        let share = Interval::between(share.low().max(0.0), share.high().clamp(0.0, 1.0));
        Some(Interval::exactly(from) - (Interval::exactly(from) - Interval::exactly(to)) * share)
    }

    /// The same at more places. They must include those that the table has.
    pub(super) fn at_more(&self, nodes: Vec<i64>) -> Self {
        let values: Vec<Interval> = nodes
            .iter()
            .map(|&node| self.polygons(self.lattice.loss(node)))
            .collect();
        Self {
            lattice: self.lattice,
            nodes,
            up: values.iter().map(|value| value.high()).collect(),
            low: values.iter().map(|value| value.low()).collect(),
            start: self.start,
            infinite: self.infinite,
        }
    }

    /// The larger of two profiles, at the same places.
    ///
    /// Where the lower polygons cross within a cell, at distances a and b at its ends, the chord of
    /// the larger values lies ab/(a+b) above both: both ends are lowered by that.
    pub(super) fn max(&self, other: &Self) -> Self {
        let differences: Vec<f64> = self
            .low
            .iter()
            .zip(&other.low)
            .map(|(a, b)| a - b)
            .collect();
        let crossing: Vec<f64> = differences
            .windows(2)
            .map(|pair| match pair {
                [a, b] if a * b < 0.0 => above(a.abs() * b.abs() / (a.abs() + b.abs())),
                _ => 0.0,
            })
            .collect();
        let left = std::iter::once(0.0).chain(crossing.iter().copied());
        let right = crossing.iter().copied().chain([0.0]);
        let pairs = self.low.iter().zip(&other.low).zip(left.zip(right));
        Self {
            lattice: self.lattice,
            nodes: self.nodes.clone(),
            up: self
                .up
                .iter()
                .zip(&other.up)
                .map(|(a, b)| a.max(*b))
                .collect(),
            low: pairs
                .map(|((a, b), (left, right))| (a.max(*b) - left.max(right)).next_down())
                .collect(),
            // The larger one's own start is at least this.
            start: self.start.min(other.start),
            infinite: self.infinite.max(other.infinite),
        }
        .with_ends()
    }
}
