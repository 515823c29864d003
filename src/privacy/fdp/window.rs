//! Which losses a composition can have, but for a negligible part: Chernoff's bound.

use super::atoms::Atoms;
use super::lattice::Lattice;

/// A part of a composition: bounds on its profile, and how often it is launched.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) above: Atoms,
    pub(super) below: Atoms,
    pub(super) launches: u64,
}

impl Part {
    fn above(&self) -> &Atoms {
        &self.above
    }

    fn below(&self) -> &Atoms {
        &self.below
    }
}

/// ln Σ p e^(tL), relative to the largest exponent, so that nothing overflows. Every p is positive,
/// so the sum is at least the one with the largest exponent, and not zero.
pub(super) fn log_moment(atoms: &Atoms, lattice: Lattice, t: f64) -> f64 {
    let exponent = |index: i64| t * lattice.about(index);
    let largest = atoms
        .masses
        .iter()
        .map(|(index, _)| exponent(*index))
        .fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = atoms
        .masses
        .iter()
        .map(|(index, mass)| mass * libm::exp(exponent(*index) - largest))
        .sum();
    largest + libm::log(sum)
}

/// The sum of ln Σ p e^(tL) over all launches.
pub(super) struct Moments<'a> {
    parts: &'a [Part],
    lattice: Lattice,
    launches: f64,
    /// The largest size of a loss.
    farthest: f64,
}

impl<'a> Moments<'a> {
    pub(super) fn new(parts: &'a [Part], lattice: Lattice) -> Self {
        let masses = parts
            .iter()
            .flat_map(|part| part.above.masses.iter().chain(&part.below.masses));
        Self {
            parts,
            lattice,
            launches: parts.iter().map(|part| part.launches as f64).sum(),
            farthest: masses
                .map(|(index, _)| lattice.about(*index).abs())
                .fold(0.0, f64::max),
        }
    }

    /// For one of the two bounds.
    fn log(&self, atoms: fn(&Part) -> &Atoms, t: f64) -> f64 {
        self.parts
            .iter()
            .map(|part| part.launches as f64 * log_moment(atoms(part), self.lattice, t))
            .sum()
    }

    /// More than the rounding of [`log`](Self::log): for each launch, exponents are off by 4 u of
    /// their size, and a sum of up to 2^22 positive terms by 2^-30 of it.
    fn slack(&self, t: f64) -> f64 {
        self.launches * (2_f64.powi(-29) + t.abs() * self.farthest * 2_f64.powi(-48))
    }
}

/// The tilt θ ≥ 0: the smallest at which e^(Λ(θ) − θs), the bound on P(S > s), is within e^5 of the
/// best one where that reaches δ.
pub(super) fn tilt(moments: &Moments<'_>, delta: f64) -> f64 {
    let value = |t: f64| (moments.log(Part::above, t) - libm::log(delta)) / t;
    let (mut theta, reached) = best(value);
    // A law that ends before δ is reached has no best tilt, and needs none.
    if theta * moments.lattice.about(1) > 0.5 {
        return 0.0;
    }
    while theta > 1e-3 {
        let less = 0.7 * theta;
        if less * (value(less) - reached) > 5.0 {
            break;
        }
        theta = less;
    }
    theta
}

/// A range of losses, and at most what of the tilted laws lies outside.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    pub(super) first: i64,
    pub(super) width: u64,
    pub(super) outside: f64,
}

/// The range outside of which a law tilted by θ, P(L) e^(θL) / M(θ), has at most a probability of
/// about e^-37 on either side, for both bounds.
///
/// P_θ(S ≥ b) ≤ e^(Λ(θ+λ) − Λ(θ) − λb) for every λ > 0, and likewise on the left.
pub(super) fn window(moments: &Moments<'_>, theta: f64) -> Window {
    /// e^-37 < 1e-16, what a float resolves.
    const NEGLIGIBLE: f64 = 37.0;
    let value = |atoms: fn(&Part) -> &Atoms, base: f64, t: f64| {
        let slack = moments.slack(theta + t) + moments.slack(theta);
        (moments.log(atoms, theta + t) - base + slack + NEGLIGIBLE) / t.abs()
    };
    let base = moments.log(Part::above, theta);
    let (right, mut last) = best(|t| value(Part::above, base, t));
    let (left, mut first) = best(|t| value(Part::above, base, -t));
    // What is best for one law is good enough for the other.
    let base = moments.log(Part::below, theta);
    last = last.max(value(Part::below, base, right));
    first = first.max(value(Part::below, base, -left));
    // One more step than needed, against the rounding of the division. Zero and the place before are
    // always inside.
    let first = (moments.lattice.floor(-first) - 1).min(-1);
    let last = (moments.lattice.floor(last) + 2).max(0);
    Window {
        first,
        width: (last - first + 1).unsigned_abs(),
        // Two sides of either law.
        outside: 4.04 * libm::exp(-NEGLIGIBLE),
    }
}

/// The smallest value of a function of t > 0 that falls and then rises, and where. Any t is valid,
/// the best one gives most.
fn best(value: impl Fn(f64) -> f64) -> (f64, f64) {
    let at = |log: f64| {
        let t = libm::exp2(log);
        let value = value(t);
        (log, t, if value.is_nan() { f64::INFINITY } else { value })
    };
    let mut result = at(4.0);
    for width in [2.0, 0.6] {
        for sign in [1.0, -1.0] {
            loop {
                let here = at(result.0 + sign * width);
                if here.2 >= result.2 || here.0.abs() > 24.0 {
                    break;
                }
                result = here;
            }
        }
    }
    (result.1, result.2)
}
