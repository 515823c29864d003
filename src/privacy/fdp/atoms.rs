//! Laws on a lattice whose profiles bound a given one.

use super::table::Table;

/// Everything below is a product, quotient or difference of a handful of floats, each rounded by
/// less than 2^-50 of it (`exp` included): a factor of 1 ± 2^-46 covers them all.
const SLACK: f64 = 1.0 / (1_u64 << 46) as f64;

/// Probabilities below this get no place of their own.
const TINY: f64 = 1e-280;

/// Probabilities of losses under P: at places of a lattice, and of an infinite one.
///
/// Their profile is Σ p (1 − e^(s−L))⁺ + p_∞. It need not be that of a pair of laws.
#[derive(Clone, Debug)]
pub(super) struct Atoms {
    pub(super) masses: Vec<(i64, f64)>,
    pub(super) infinite: f64,
    /// By how much the profile may be above the one that it should be below.
    pub(super) missing: f64,
}

impl Atoms {
    /// A profile that is at least the one in the table, everywhere.
    ///
    /// It is a polygon through some of the points (γ, up) and (0, 1), convex, so that its changes of
    /// slope are probabilities. A chord between any two of the points lies above H, because H is
    /// convex: whatever is left out, the bound holds.
    ///
    /// Rounding: the slopes are computed to a relative error, and the polygon is the sum of slope
    /// times width from the right, all of one sign: it has that relative error, too. So has the sum
    /// that the masses stand for. Hence a factor slightly above 1 at the end.
    pub(super) fn above(table: &Table) -> Self {
        let points = table.nodes.iter().copied().zip(table.up.iter().copied());
        let hull = hull(table, points, 1.0);
        // What is too small for a float with all its digits counts as an infinite loss.
        let (masses, tiny): (Vec<_>, Vec<_>) = masses(table, &hull, 1.0 + SLACK)
            .into_iter()
            .partition(|(_, mass)| *mass > TINY);
        let tiny = tiny.iter().filter(|(_, mass)| *mass > 0.0).count();
        let last = table.up.last().copied().unwrap_or(1.0);
        Self {
            masses,
            infinite: (last + TINY * tiny as f64).min(1.0),
            missing: 0.0,
        }
    }

    /// A profile that is at most the one in the table, everywhere.
    ///
    /// The lower polygon is cut off where it comes down to the probability of an infinite loss: at
    /// the last place with a positive value, which becomes zero. The chord from the place before
    /// only has to lie below the polygon at its ends.
    ///
    /// A law that ends with a jump, such as randomized response, has zero at the next place, but
    /// for rounding. There that place becomes the end, and what it is raised by is `missing`: a
    /// composition is above the product of such profiles by at most the sum of that, because a
    /// constant ν in one factor comes to at most ν in the product.
    ///
    /// Then the convex hull is taken from below. Where a place that it leaves out turns out, by
    /// rounding, to lie below the hull, everything is scaled down.
    pub(super) fn below(table: &Table) -> Self {
        let infinite = table.infinite.max(0.0);
        let values = table.nodes.iter().zip(&table.low);
        let mut values = values.map(|(&node, &low)| (node, (low - infinite).next_down()));
        let mut points: Vec<(i64, f64)> = Vec::new();
        let mut missing = 0.0;
        for (node, value) in values.by_ref() {
            if value > 0.0 {
                points.push((node, value));
                continue;
            }
            match points.last_mut() {
                Some((_, last)) if -value > (1e-9 * *last).min(1e-15) => *last = 0.0,
                _ => {
                    points.push((node, 0.0));
                    missing = -value;
                }
            }
            break;
        }
        // The last place always has a value of zero or less.
        debug_assert!(points.last().is_some_and(|(_, value)| *value == 0.0));
        let hull = hull(
            table,
            points.iter().copied(),
            (table.start - infinite).next_down(),
        );
        let mut scale = 1.0_f64;
        for (left, right) in hull.iter().zip(hull.iter().skip(1)) {
            let first = points.partition_point(|point| point.0 <= left.node);
            let between = points.iter().skip(first);
            for (node, value) in between.take_while(|point| point.0 < right.node) {
                let chord = right.value + right.slope * table.lattice.gap(*node, right.node).high();
                if chord > *value {
                    scale = scale.min(value / chord);
                }
            }
        }
        let mut masses = masses(table, &hull, scale * (1.0 - SLACK));
        masses.retain(|(_, mass)| *mass > TINY);
        Self {
            masses,
            infinite,
            missing,
        }
    }
}

/// A corner of a convex polygon that falls.
struct Corner {
    node: i64,
    value: f64,
    /// How steeply it falls from the corner before.
    slope: f64,
}

/// The lower convex hull of the points and of (0, `start`).
fn hull(table: &Table, points: impl Iterator<Item = (i64, f64)>, start: f64) -> Vec<Corner> {
    let mut hull: Vec<Corner> = Vec::new();
    for (node, value) in points {
        let slope = loop {
            let (from, width) = match hull.last() {
                Some(last) => (last.value, table.lattice.gap(last.node, node).middle()),
                None => (start, table.lattice.loss(node).exp().middle()),
            };
            let slope = ((from - value) / width).max(0.0);
            match hull.last() {
                Some(last) if last.slope <= slope => hull.pop(),
                _ => break slope,
            };
        };
        hull.push(Corner { node, value, slope });
    }
    hull
}

/// The changes of slope, as probabilities under P.
fn masses(table: &Table, hull: &[Corner], factor: f64) -> Vec<(i64, f64)> {
    let after = hull.iter().skip(1).map(|corner| corner.slope).chain([0.0]);
    hull.iter()
        .zip(after)
        .map(|(corner, after)| {
            let odds = table.lattice.loss(corner.node).exp().middle();
            (corner.node, odds * (corner.slope - after) * factor)
        })
        .collect()
}
