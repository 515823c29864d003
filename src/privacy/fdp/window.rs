//! Which losses a composition can have, but for a negligible part: Chernoff's bound.

use super::atoms::Atoms;
use super::lattice::Lattice;
use crate::privacy::convert::search::bisect;

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

    /// The index of the largest loss that all launches can have together, by the upper bounds. Where
    /// an `i64` does not hold it, the largest `i64`, which no table reaches.
    pub(super) fn end(&self) -> i64 {
        let last = |part: &Part| part.above.masses.iter().map(|(index, _)| *index).max();
        let end = self.parts.iter().try_fold(0_i128, |sum, part| {
            let last = i128::from(last(part)?) * i128::from(part.launches);
            sum.checked_add(last)
        });
        end.and_then(|end| i64::try_from(end).ok())
            .unwrap_or(i64::MAX)
    }

    /// More than the rounding of [`log`](Self::log): for each launch, exponents are off by 4 u of
    /// their size, and a sum of up to 2^22 positive terms by 2^-30 of it.
    fn slack(&self, t: f64) -> f64 {
        self.launches * (2_f64.powi(-29) + t.abs() * self.farthest * 2_f64.powi(-48))
    }
}

/// The loss at which bounds are to be narrow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Aim {
    /// This one alone.
    Loss(f64),
    /// The one where about this much of δ is left, and losses around it.
    Delta(f64),
}

/// The tilt θ ≥ 0: about the smallest at which e^(Λ(θ) − θs), the bound on P(S ≥ s), is within e of
/// the best one, for the loss s that is aimed at; or within e^6, if bounds elsewhere are of use, too.
/// Any tilt gives valid bounds.
///
/// Beyond the largest loss there is nothing to bound, so s is at most that one. There the bound falls
/// to the probability of the largest loss as θ grows. At θ = 1/h, what is uncertain already grows by e
/// from a place to the one before: more than that would help at one place, and harm at all others.
pub(super) fn tilt(moments: &Moments<'_>, aim: Aim) -> f64 {
    let log = |t: f64| moments.log(Part::above, t);
    let (loss, near) = match aim {
        Aim::Loss(loss) => (loss, 1.0),
        Aim::Delta(delta) => (best(START, |t| (log(t) - libm::log(delta)) / t).1, 6.0),
    };
    let loss = loss.min(moments.lattice.about(moments.end()));
    let bound = |t: f64| log(t) - t * loss;
    let (high, least) = best(START, bound);
    // The bound is convex and 0 at 0: it falls through every negative level once.
    let level = least + near;
    if level >= 0.0 {
        return 0.0;
    }
    let near = |high: f64, low: f64| high - low <= 0.05 * high;
    let (high, _) = bisect(high, 0.0, near, |t| bound(t) <= level);
    high.min(1.0 / moments.lattice.about(1))
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
    // What is best for the lower law may be far from what is best for the upper one: the lower one can
    // have more of very small losses. The search for it starts at the other.
    let side = |sign: f64, atoms: fn(&Part) -> &Atoms, start: f64| {
        let base = moments.log(atoms, theta);
        best(start, |t| value(atoms, base, sign * t))
    };
    let (right, last) = side(1.0, Part::above, START);
    let (left, first) = side(-1.0, Part::above, START);
    let last = last.max(side(1.0, Part::below, right).1);
    let first = first.max(side(-1.0, Part::below, left).1);
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

/// Where the search for a best t starts if nothing is known of it.
const START: f64 = 16.0;

/// The smallest value of a function of t > 0 that falls and then rises, and where. Any t is valid,
/// the best one gives most.
fn best(start: f64, value: impl Fn(f64) -> f64) -> (f64, f64) {
    let at = |log: f64| {
        let t = libm::exp2(log);
        let value = value(t);
        (log, t, if value.is_nan() { f64::INFINITY } else { value })
    };
    let mut result = at(libm::log2(start));
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
