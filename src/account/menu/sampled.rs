//! The profile of a Gaussian on a random sample, and bundles of its launches.

use super::MenuError;
use super::curve::{Curve, Margin};
use super::lattice::Lattice;
use super::launch::Launch;
use crate::number::{Delta, Epsilon, Interval, Mu};
use crate::privacy::convert::gdp;

/// An upper bound of W = H − H₀ at s, where H is the profile of P = (1 − q)N(0, 1) + qN(μ, 1)
/// against Q = N(0, 1): the dataset with the row against the one without it, each row being sampled
/// with probability q.
///
/// With γ = e^s and e^t = (γ − 1 + q)/q, P exceeds γQ where N(μ, 1) exceeds e^t N(0, 1). So
/// H(s) = q·δ_μ(t), where δ_μ is the profile of N(μ, 1) against N(0, 1); for t < 0,
/// δ_μ(t) = 1 − e^t + e^t δ_μ(−t) gives W = (γ − 1 + q) δ_μ(−t). Where γ ≤ 1 − q, W = 0.
/// δ_μ falls, so |t| is rounded down. Where γ is small, γ − 1 + q is γ minus the exact 1 − q: next to a
/// rate of 1 nothing would be left of γ − 1.
pub(crate) fn excess(rate: Delta, mu: Mu, at: Interval) -> f64 {
    let rest = Interval::from(Delta::ONE.saturating_sub(rate));
    let rate = Interval::from(rate);
    let rise = at.exp_m1();
    let is_small = at.high() < -1.0;
    let likelihood = if is_small {
        at.exp() - rest
    } else {
        rate + rise
    };
    if likelihood.high() <= 0.0 {
        return 0.0;
    }
    let profile = |distance: Interval| {
        let epsilon: Epsilon = distance.max(Interval::ZERO).down().unwrap_or_default();
        Interval::from(gdp::delta(mu, epsilon))
    };
    let value = if at.low() >= 0.0 {
        rate * profile((rise / rate).ln_1p())
    } else if likelihood.low() <= 0.0 {
        likelihood
    } else if is_small {
        likelihood * profile(-(likelihood / rate).ln())
    } else {
        likelihood * profile(-(rise / rate).ln_1p())
    };
    value.high().min(1.0)
}

/// The dots of one launch: every point near zero, then ever fewer, so that two neighbours are at
/// most 1/32 of their distance from zero apart. The last one has a value below `negligible`.
pub(crate) fn dots(
    lattice: &Lattice,
    rate: Delta,
    mu: Mu,
    negligible: f64,
) -> Result<Vec<(i64, f64)>, MenuError> {
    /// How many points on either side are all taken.
    const ALL: u64 = 64;
    let gap = |point: i64| match point.unsigned_abs() / ALL {
        0 => 1,
        times => 1_i64 << times.ilog2(),
    };
    let value = |point: i64| excess(rate, mu, lattice.at(point));
    let mut dots = vec![(0, value(0))];
    let mut point = 0;
    loop {
        point += gap(point);
        if point > lattice.high() {
            return Err(MenuError::OutOfRange {
                what: "the noise of a sampled Gaussian",
                advice: "take more noise, a smaller rate or a larger budget",
            });
        }
        let here = value(point);
        dots.push((point, here));
        if here <= negligible {
            break;
        }
    }
    let mut left = Vec::new();
    let mut point = 0;
    loop {
        point -= gap(point);
        let here = value(point);
        left.push((point, here));
        if here == 0.0 || point <= lattice.low() {
            break;
        }
    }
    left.reverse();
    left.extend(dots);
    Ok(left)
}

/// Up to `count` launches, as one: composed on the fine lattice, and put on the coarse one, whose
/// step is `ratio` times as large, once.
///
/// # Guarantee
///
/// Early stopping is a postprocessing, so the bundle's profile is that of all `count` launches.
/// The fine curve bounds it at every point of the coarse lattice; the chords between those points
/// dominate it.
pub(crate) fn bundle(
    fine: &Lattice,
    coarse: &Lattice,
    ratio: i64,
    launch: &Launch,
    count: u64,
    order: f64,
) -> Launch {
    let margin = Margin::of([launch]);
    let mut curve = Curve::nothing(fine, margin);
    let mut next = curve.clone();
    for _ in 0..count {
        std::mem::swap(&mut curve, &mut next);
        curve.clear();
        curve.raise_to(launch, &next);
        curve.finish();
    }
    let first = -(-fine.low() / ratio);
    let last = (fine.high() / ratio).min(coarse.high() - coarse.low());
    let values: Vec<(i64, f64)> = (first..=last)
        .map(|point| (point, curve.at(fine, point * ratio)))
        .collect();
    Launch::sparse(coarse, &values, order, false)
}
