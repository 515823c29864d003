//! The first launch, cut into cells.

use super::super::curve::Point;
use super::{Direction, FdpError, Grid, Profile};
use crate::number::Interval;

/// Answers of the first launch between two places: their probabilities and where they are put.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    /// Whether y > 0.65, that is, the loss is positive.
    pub(super) is_right: bool,
    /// Probabilities under P at either end, chosen so that P and Q keep their probabilities.
    pub(super) ends: [(Interval, Interval); 2],
    /// The probability under P, and the loss of all of the cell taken together.
    pub(super) together: (Interval, Interval),
}

/// The first launch, cut at the places of a grid, of which 0 is one.
pub(super) fn cells(first: &Profile, grid: &Grid) -> Result<Vec<Cell>, FdpError> {
    let (direction, lattice) = (Direction::Remove, grid.lattice());
    let nodes = first.nodes(direction, lattice, 1e-16, grid.spread())?;
    // Places farther apart than the grid's own are more than fine enough here.
    let points: Vec<(i64, Point)> = nodes
        .iter()
        .filter_map(|&node| Some((node, first.point(direction, lattice.loss(node))?)))
        .collect();
    let power =
        |(node, point): &(i64, Point)| point.height + lattice.loss(*node).exp() * point.slope;
    let mut cells: Vec<Cell> = points
        .windows(2)
        .filter_map(|pair| match pair {
            [left, right] => Some((left, right)),
            _ => None,
        })
        .map(|(left, right)| {
            let p = (power(left) - power(right)).max(Interval::ZERO);
            let q = (left.1.slope - right.1.slope).max(Interval::ZERO);
            let (from, to) = (lattice.loss(left.0), lattice.loss(right.0));
            let width = lattice.gap(left.0, right.0);
            // Under Q: (γ₁q − p)/Δ to the left end and (p − γ₀q)/Δ to the right; times γ under P.
            let share =
                |mass: Interval, at: Interval| (mass / width * at.exp()).max(Interval::ZERO);
            let mean = if q.low() > 0.0 && p.low() > 0.0 {
                (p / q).ln()
            } else {
                from
            };
            let mean = Interval::between(
                mean.low().clamp(from.low(), to.high()),
                mean.high().clamp(from.low(), to.high()),
            );
            Cell {
                is_right: left.0 >= 0,
                ends: [
                    (share(to.exp() * q - p, from), from),
                    (share(p - from.exp() * q, to), to),
                ],
                together: (p, mean),
            }
        })
        .collect();
    // What lies right of the last place counts as an infinite loss, with the future's H(0) = 1.
    let last = points.last().map_or(Interval::ONE, power);
    let far = Interval::exactly(-600.0);
    cells.push(Cell {
        is_right: true,
        ends: [(last, -far), (Interval::ZERO, -far)],
        together: (Interval::ZERO, far),
    });
    // What lies left of the first place is put there: a larger loss. Nothing of it is counted below.
    if let Some(&(node, point)) = points.first() {
        let missed = (Interval::ONE - power(&(node, point))).max(Interval::ZERO);
        let loss = lattice.loss(node);
        cells.push(Cell {
            is_right: false,
            ends: [(missed, loss), (Interval::ZERO, loss)],
            together: (Interval::ZERO, far),
        });
    }
    Ok(cells)
}
