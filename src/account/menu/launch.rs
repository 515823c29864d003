//! One launch on the lattice: a pair of distributions whose losses are lattice points, and whose
//! profile is nowhere below that of the launch.

use super::MenuError;
use super::lattice::Lattice;
use super::sum::visit;
use crate::number::{Epsilon, Interval};
use crate::privacy::EpsilonDelta;

/// What every weight and value is raised by: it keeps products above the subnormal floats, whose
/// rounding errors are not relative. It is far below the 1e-38 that δ resolves.
pub(super) const FLOOR: f64 = 1e-100;

/// A launch, as the recursion needs it.
///
/// # Guarantee
///
/// Let H be the profile of the launch, V any profile, and W = V − H₀ at most `next` at every
/// lattice point. Then `excess[k] + Σ_j weights[j] · next[k − offsets[j]]`, summed in floats from
/// left to right, is at least (H ⊗ V)(s_k) − H₀(s_k).
///
/// *Proof.* Let Ĥ be the chords of H in γ = e^s between some lattice points, the *dots*, with
/// (0, 1) in front of them and the last value behind them. H is convex and falls, so Ĥ ≥ H. V is
/// a mixture of the profiles (1 − γ/t)⁺ and 1, so H ⊗ V is the same mixture of H(γ/t) and 1, and
/// grows if H is replaced by Ĥ. With p_j the mass at dot j, (Ĥ ⊗ V)(s) = p_∞ + Σ p_j V(s − s_j) =
/// Ĥ(s) + Σ p_j W(s − s_j), as p_∞ + Σ p_j H₀(s − s_j) = Ĥ(s). The stored numbers are at least
/// Ĥ − H₀ and p_j, and raised by [`inflation`] and [`FLOOR`], which covers the sum's rounding. ∎
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Launch {
    pub(super) offsets: Vec<i64>,
    pub(super) weights: Vec<f64>,
    pub(super) excess: Vec<f64>,
    /// Whether the pair and its reverse have the same profile.
    pub(super) symmetric: bool,
}

/// What to raise the terms of a float sum by, so that the sum is at least the exact one of the
/// terms before they were raised.
///
/// A term p·w passes through one product and at most `dots` sums, each of which may lose a factor
/// of 1 − 2⁻⁵³. With n = dots + 1 of them, (1 + (n + 3)·2⁻⁵²)(1 − 2⁻⁵³)^n > 1 for every n < 2²⁰,
/// also if the factor and the product with it are rounded down once more each.
pub(super) fn inflation(dots: usize) -> f64 {
    1.0 + (dots as f64 + 4.0) * f64::EPSILON
}

impl Launch {
    /// (ε, δ)-DP as a whole: that of randomized response with a leak (Kairouz, Oh, Viswanath
    /// 2015). With probability δ it tells everything; else it tells the truth with odds of e^ε.
    ///
    /// Where ε is no lattice point, the mass at ε is divided between its neighbours a and a + 1 by
    /// the chord: p(1 − e^-(ε − s_a))/(1 − e^-h) goes to the upper one.
    pub(crate) fn approximate(lattice: &Lattice, loss: EpsilonDelta) -> Self {
        let (below, rest) = lattice.below(loss.epsilon);
        let epsilon = Interval::from(loss.epsilon);
        let odds = (-epsilon).exp();
        let honest = Interval::ONE - Interval::from(loss.delta);
        let truth = honest / (Interval::ONE + odds);
        let lie = truth * odds;
        let mut parts = Vec::new();
        if rest == Epsilon::ZERO {
            parts.extend([(below, truth), (-below, lie)]);
        } else {
            let width = -(-Interval::from(lattice.step())).exp_m1();
            let up = -(-Interval::from(rest)).exp_m1() / width;
            let left = Interval::from(lattice.step()) - Interval::from(rest);
            let down = -(-left).exp_m1() / width;
            // The lower neighbour takes what the upper one leaves, 1 − up.
            parts.extend([
                (below + 1, truth * up),
                (below, truth * (Interval::ONE - up)),
            ]);
            parts.extend([
                (-below, lie * down),
                (-below - 1, lie * (Interval::ONE - down)),
            ]);
        }
        let value = |point: i64| {
            // (1 − δ)(e^ε − e^|s|)/(1 + e^ε) + δ, and e^s times that to the left of zero. The
            // distance to ε is exact, so that there is nothing left at ε itself.
            let leak = Interval::from(loss.delta);
            let size = u128::from(point.unsigned_abs());
            let size = lattice.step().units().saturating_mul(size);
            let above = match loss.epsilon.units().checked_sub(size) {
                Some(units) if units > 0 => {
                    let distance = Epsilon::from_units(units).unwrap_or(loss.epsilon);
                    leak + truth * -(-Interval::from(distance)).exp_m1()
                }
                _ => leak,
            };
            if point < 0 {
                (lattice.at(point).exp() * above).high()
            } else {
                above.high()
            }
        };
        let excess = lattice.points().map(value).collect();
        Self::raised(parts, excess, true)
    }

    /// A launch with the chords between the given dots: points in rising order, one of them 0, each
    /// with an upper bound of H − H₀ there.
    ///
    /// # Guarantee
    ///
    /// With Δ the distances between dots, the masses are
    /// `p_j = (W_{j+1} − W_j)/(e^{Δ_j} − 1) − (W_j − W_{j−1})/(1 − e^{−Δ_{j−1}})`, plus 1 at the
    /// dot 0, where H₀ has its corner; in front of the first dot Δ = ∞ and W = 0, behind the last
    /// one the first term is 0. A mass that comes out negative, because the bounds are not convex
    /// to the last bit, counts as 0, which only raises the result.
    pub(crate) fn chords(lattice: &Lattice, dots: &[(i64, f64)], symmetric: bool) -> Self {
        let mass = |(index, (point, value)): (usize, &(i64, f64))| {
            let here = Interval::exactly(*value);
            let before = index.checked_sub(1).and_then(|before| dots.get(before));
            let before = before.map_or(here, |(from, start)| {
                let distance = lattice.at(point - from);
                (here - Interval::exactly(*start)) / -(-distance).exp_m1()
            });
            let after = dots.get(index + 1).map_or(Interval::ZERO, |(to, end)| {
                (Interval::exactly(*end) - here) / lattice.at(to - point).exp_m1()
            });
            let corner = if *point == 0 {
                Interval::ONE
            } else {
                Interval::ZERO
            };
            (*point, (corner + after - before).max(Interval::ZERO))
        };
        let parts = dots.iter().enumerate().map(mass).collect();
        Self::raised(parts, Self::interpolated(lattice, dots), symmetric)
    }

    /// As [`chords`](Self::chords), with fewer dots where little happens: the time of the recursion
    /// grows with them. `values` are at consecutive points. Any choice of dots is valid.
    ///
    /// A gap of g points is taken where the mass, seen at the order that matters, is below 1/g² of
    /// the largest, times a constant that was found by trying.
    pub(crate) fn sparse(
        lattice: &Lattice,
        values: &[(i64, f64)],
        order: f64,
        symmetric: bool,
    ) -> Self {
        const SPARSE: f64 = 0.01;
        let all = Self::chords(lattice, values, symmetric);
        let step = lattice.step_middle();
        let tilted: Vec<f64> = all
            .weights
            .iter()
            .zip(&all.offsets)
            .map(|(weight, offset)| weight * libm::exp(order * step * *offset as f64))
            .collect();
        let largest = tilted.iter().copied().fold(0.0, f64::max);
        let last = values.last().map(|(point, _)| *point);
        let is_kept = |((point, _), mass): &(&(i64, f64), &f64)| {
            let mass = mass.max(f64::MIN_POSITIVE);
            let gap = libm::sqrt(SPARSE * largest / mass).clamp(1.0, 64.0) as u64;
            point % (1 << gap.ilog2()) == 0 || Some(*point) == last
        };
        let kept = values.iter().zip(&tilted).filter(is_kept);
        let kept: Vec<_> = kept.map(|(dot, _)| *dot).collect();
        Self::chords(lattice, &kept, symmetric)
    }

    /// Up to `count` launches of ε as one. Stopping early is a postprocessing.
    ///
    /// # Guarantee
    ///
    /// The profile is computed on the multiples of ε, where it is exact but for rounding upward. It
    /// is linear in γ between them, so its values on the lattice are, too.
    pub(crate) fn repeated(
        lattice: &Lattice,
        epsilon: Epsilon,
        count: u64,
        order: f64,
    ) -> Result<Self, MenuError> {
        let reach = epsilon.checked_mul(count).ok_or(MenuError::TooLarge)?;
        let own = Lattice::new(epsilon, reach, reach)?;
        let loss = EpsilonDelta {
            epsilon,
            ..EpsilonDelta::default()
        };
        let launch = Self::approximate(&own, loss);
        let mut worst = None;
        visit(&own, &[(launch, 1)], |left, curve| {
            if left == count {
                worst = Some(curve.clone());
            }
            left < count
        })?;
        let curve = worst.ok_or(MenuError::TooLarge)?;
        let last = lattice.below(reach).0 + 1;
        let whole = Interval::from(epsilon).exp_m1();
        let value = |point: i64| {
            // The multiple of ε below the point, and how far it is away.
            let units = lattice
                .step()
                .units()
                .saturating_mul(u128::from(point.unsigned_abs()));
            let (times, rest) = (units / epsilon.units(), units % epsilon.units());
            let times = i64::try_from(times).unwrap_or(i64::MAX);
            let (times, rest) = match point {
                0.. => (times, rest),
                _ if rest == 0 => (-times, 0),
                _ => (-times - 1, epsilon.units() - rest),
            };
            let start = Interval::exactly(curve.at(&own, times));
            let rise = Interval::exactly(curve.at(&own, times + 1)) - start;
            let rest = Interval::from(Epsilon::from_units(rest).unwrap_or_default());
            (start + rise * (rest.exp_m1() / whole)).high()
        };
        let values: Vec<_> = (-last..=last).map(|point| (point, value(point))).collect();
        Ok(Self::sparse(lattice, &values, order, true))
    }

    /// The chords of W in γ at every lattice point, rounded up.
    fn interpolated(lattice: &Lattice, dots: &[(i64, f64)]) -> Vec<f64> {
        let mut dots = dots.iter().copied().peekable();
        let mut before: Option<(i64, f64)> = None;
        let mut values = Vec::with_capacity(lattice.len());
        for point in lattice.points() {
            while let Some(dot) = dots.next_if(|(at, _)| *at < point) {
                before = Some(dot);
            }
            let value = match (before, dots.peek().copied()) {
                (_, Some((at, value))) if at == point => value,
                (None, Some((at, value))) => {
                    (Interval::exactly(value) * lattice.at(point - at).exp()).high()
                }
                (Some((from, start)), Some((at, value))) => {
                    let part = lattice.at(point - from).exp_m1() / lattice.at(at - from).exp_m1();
                    let rise = Interval::exactly(value) - Interval::exactly(start);
                    (Interval::exactly(start) + rise * part).high()
                }
                (Some((_, last)), None) => last,
                (None, None) => 1.0,
            };
            values.push(value);
        }
        values
    }

    fn raised(parts: Vec<(i64, Interval)>, excess: Vec<f64>, symmetric: bool) -> Self {
        let factor = inflation(parts.len());
        let raise = |value: f64| (value + FLOOR) * factor;
        Self {
            offsets: parts.iter().map(|(offset, _)| *offset).collect(),
            weights: parts.iter().map(|(_, mass)| raise(mass.high())).collect(),
            excess: excess.into_iter().map(raise).collect(),
            symmetric,
        }
    }

    /// The largest and the smallest loss, in steps.
    pub(super) fn reach(&self) -> (i64, i64) {
        let largest = self.offsets.iter().copied().max().unwrap_or(0);
        let smallest = self.offsets.iter().copied().min().unwrap_or(0);
        (largest.max(0), smallest.min(0))
    }
}
