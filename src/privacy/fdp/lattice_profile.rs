//! From probabilities on a lattice to a profile at its places.

use super::lattice::Lattice;

/// The profile of masses at successive places, at those places.
///
/// From right to left, B = Σ p e^(s−L) over larger losses becomes (B + p) e^-h, and H grows by
/// (B + p)(1 − e^-h): sums and products of positive numbers only, so the relative error is at most
/// 8 N u.
pub(super) fn profile(masses: &[f64], lattice: Lattice) -> Vec<f64> {
    let fall = (-(-lattice.loss(1)).exp_m1()).middle();
    let keep = 1.0 - fall;
    let (mut height, mut rest) = (0.0, 0.0);
    let mut heights: Vec<f64> = masses
        .iter()
        .rev()
        .map(|mass| {
            let here = height;
            rest += mass;
            height += rest * fall;
            rest *= keep;
            here
        })
        .collect();
    heights.reverse();
    heights
}

/// The running minimum.
pub(super) fn falling(values: &[f64]) -> Vec<f64> {
    let mut least = 1.0_f64;
    values
        .iter()
        .map(|value| {
            least = least.min(*value);
            least
        })
        .collect()
}
