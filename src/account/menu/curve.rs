//! A bound on everything that can follow a state: upper bounds of W = V − H₀ on the lattice.

use super::lattice::{LANES, Lattice};
use super::launch::{FLOOR, Launch};
use crate::number::{Delta, Epsilon, Interval};
use crate::privacy::convert::probability_up;

/// How far launches reach beyond the window on either side, in points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Margin {
    left: usize,
    right: usize,
}

impl Margin {
    /// Enough for all of these launches.
    pub(crate) fn of<'a>(launches: impl IntoIterator<Item = &'a Launch>) -> Self {
        let mut margin = Self::default();
        for launch in launches {
            let (largest, smallest) = launch.reach();
            margin.left = margin.left.max(largest.unsigned_abs() as usize);
            margin.right = margin.right.max(smallest.unsigned_abs() as usize);
        }
        margin
    }
}

/// Upper bounds of W at the lattice points, with margins in which the outermost values repeat.
///
/// # Guarantee
///
/// W rises to the left of zero and falls to its right: H₀ has slope −1 there and 0 here, and the
/// slope of a profile in γ is between −1 and 0. So beyond the window W is at most its outermost
/// values, and repeating them is an upper bound.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Curve {
    margin: Margin,
    values: Vec<f64>,
}

impl Curve {
    /// Nothing is launched any more: W = 0.
    pub(crate) fn nothing(lattice: &Lattice, margin: Margin) -> Self {
        Self {
            margin,
            values: vec![FLOOR; margin.left + lattice.len() + margin.right],
        }
    }

    /// How many floats it holds.
    pub(crate) fn size(&self) -> usize {
        self.values.len()
    }

    /// The value at a point, or the outermost one beyond the window.
    pub(crate) fn at(&self, lattice: &Lattice, point: i64) -> f64 {
        let place = self.margin.left + lattice.place(point);
        // No profile is more than 1.
        self.values.get(place).copied().unwrap_or(1.0)
    }

    /// Raises this curve to what one launch followed by `next` may lead to.
    pub(crate) fn raise_to(&mut self, launch: &Launch, next: &Self) {
        let left = self.margin.left;
        let len = launch.excess.len();
        let Some(inside) = self.values.get_mut(left..left + len) else {
            // Not the same lattice: no profile is more than 1.
            self.values.fill(1.0);
            return;
        };
        let blocks = inside
            .chunks_exact_mut(LANES)
            .zip(launch.excess.chunks_exact(LANES));
        // Where the first point of the block finds its value, for a loss of zero.
        let mut start = left as i64;
        for (block, excess) in blocks {
            let mut sums = [0.0; LANES];
            sums.copy_from_slice(excess);
            for (weight, offset) in launch.weights.iter().zip(&launch.offsets) {
                let from = (start - offset).unsigned_abs() as usize;
                let Some(source) = next.values.get(from..from + LANES) else {
                    sums.iter_mut().for_each(|sum| *sum += weight);
                    continue;
                };
                for (sum, value) in sums.iter_mut().zip(source) {
                    *sum += weight * value;
                }
            }
            for (kept, sum) in block.iter_mut().zip(sums) {
                *kept = kept.max(sum);
            }
            start += LANES as i64;
        }
    }

    /// Repeats the outermost values, after the last [`raise_to`](Self::raise_to).
    pub(crate) fn finish(&mut self) {
        let (left, right) = (self.margin.left, self.margin.right);
        let end = self.values.len().saturating_sub(right);
        let value = |place: usize| self.values.get(place).copied().unwrap_or(1.0);
        let (first, last) = (value(left), value(end.saturating_sub(1)));
        self.values
            .iter_mut()
            .take(left)
            .for_each(|value| *value = first);
        self.values
            .iter_mut()
            .skip(end)
            .for_each(|value| *value = last);
    }

    /// Resets the curve to zero, for reuse.
    pub(crate) fn clear(&mut self) {
        self.values.fill(FLOOR);
    }

    /// δ at the last lattice point up to ε, in the direction that the launches are stated in, and
    /// in the other: e^ε W(−ε).
    ///
    /// Profiles fall, so what holds at a smaller point holds at ε.
    fn directions(&self, lattice: &Lattice, point: i64) -> (Interval, Interval) {
        let forth = Interval::exactly(self.at(lattice, point));
        let back = Interval::exactly(self.at(lattice, -point)) * lattice.at(point).exp();
        (forth, back)
    }

    /// An upper bound of δ(ε), in both directions.
    pub(crate) fn delta(&self, lattice: &Lattice, epsilon: Epsilon, symmetric: bool) -> Delta {
        let point = lattice.below(epsilon).0.min(lattice.high());
        let (forth, back) = self.directions(lattice, point);
        probability_up(if symmetric { forth } else { forth.max(back) })
    }

    /// An upper bound of the smallest ε with δ(ε) ≤ δ in both directions, if the window has one.
    ///
    /// Between two lattice points the chord in γ is an upper bound in either direction: from
    /// δ₀ > δ at s to δ₁ ≤ δ one step h later, γ = e^s (1 + (e^h − 1)(δ₀ − δ)/(δ₀ − δ₁)) suffices.
    pub(crate) fn epsilon(
        &self,
        lattice: &Lattice,
        delta: Delta,
        symmetric: bool,
    ) -> Option<Epsilon> {
        let target = Interval::from(delta);
        let crossing = |direction: &dyn Fn(i64) -> Interval| {
            let last = if symmetric {
                lattice.high()
            } else {
                lattice.high().min(-lattice.low())
            };
            let point = (0..=last).find(|point| direction(*point).high() <= target.low())?;
            if point == 0 {
                return Some(Epsilon::ZERO);
            }
            let (before, after) = (direction(point - 1), direction(point));
            let part = (before - target) / (before - after);
            let rise = Interval::from(lattice.step()).exp_m1() * part;
            (lattice.at(point - 1) + rise.ln_1p()).up()
        };
        let forth = crossing(&|point| self.directions(lattice, point).0)?;
        if symmetric {
            return Some(forth);
        }
        Some(forth.max(crossing(&|point| self.directions(lattice, point).1)?))
    }
}
