//! Gaussian noise, as it is and rounded.

use std::fmt;

use super::super::tail::tail;
use super::{Point, best, trivial};
use crate::number::{Interval, Mu, Rho, Scale, WideInterval};
use crate::privacy::facts::Gaussian;
use crate::privacy::{Gdp, Prices};

/// The deviation σ of noise before it is rounded, exactly. Neither more nor less of it is on the safe side:
/// with little noise, large losses become more likely with more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in super::super) enum Deviation {
    /// σ itself.
    Sigma(Scale),
    /// σ = 1/μ, where μ is not zero.
    OverMu(Mu),
    /// σ = 1/√(2ρ), where ρ is not zero.
    OverRho(Rho),
}

impl Deviation {
    fn enclosed(self) -> Interval {
        match self {
            Self::Sigma(sigma) => sigma.into(),
            Self::OverMu(mu) => Interval::ONE / Interval::from(mu),
            Self::OverRho(rho) => Interval::ONE / (Interval::TWO * Interval::from(rho)).sqrt(),
        }
    }

    /// μ = steps/σ, rounded up.
    pub(in super::super) fn mu(self, steps: u32) -> Option<Mu> {
        let of = |fact| Gdp.price(&fact).ok()?.checked_mul(steps.into());
        match self {
            Self::Sigma(sigma) => {
                (WideInterval::whole(steps.into()) / WideInterval::from(sigma)).up()
            }
            Self::OverMu(mu) => of(Gaussian::Mu(mu)),
            Self::OverRho(rho) => of(Gaussian::Rho(rho)),
        }
    }
}

impl fmt::Display for Deviation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sigma(sigma) => sigma.fmt(f),
            Self::OverMu(mu) => write!(f, "1/{mu}"),
            Self::OverRho(rho) => write!(f, "1/√(2·{rho})"),
        }
    }
}

/// Φ(−s/μ + μ/2) − e^s Φ(−s/μ − μ/2) (Dong, Roth, Su 2022, Cor. 2.13).
pub(super) fn plain(mu: Mu, s: Interval) -> Point {
    if mu == Mu::ZERO {
        return best(trivial(s));
    }
    let (middle, half) = (
        s / Interval::from(mu),
        Interval::from(mu) * Interval::exactly(0.5),
    );
    event(middle - half, middle + half, s)
}

/// The event above a threshold, which lies `near` deviations from P's mean and `far` from Q's.
fn event(near: Interval, far: Interval, s: Interval) -> Point {
    let (power, slope) = (tail(near), tail(far));
    let height = power - s.exp() * slope;
    Point {
        // Where e^s overflows, the power alone is still a bound.
        height: Interval::between(height.low(), height.high().min(power.high())),
        slope,
    }
}

/// Rounding keeps only the thresholds halfway between integers. The height rises up to the best
/// threshold of all, x = σ²s/d + d/2, and falls beyond it: so the best one that is left is a
/// neighbour of x. Two more on either side cover the rounding of x.
pub(super) fn rounded(deviation: Deviation, steps: u32, s: Interval) -> Point {
    if steps == 0 {
        return best(trivial(s));
    }
    let (sigma, shift) = (deviation.enclosed(), Interval::from(steps));
    let at = sigma * sigma * s / shift + shift * Interval::exactly(0.5);
    // Beyond 2^45 the next integer is no longer certain. With σ and d as they can be held, that is
    // far more than 40σ out, where nothing is left but the trivial events.
    let start = libm::floor(at.middle().clamp(-3e13, 3e13)) + 0.5;
    best(
        (-2..=2)
            .map(|offset| {
                let threshold = Interval::exactly(start + f64::from(offset));
                event((threshold - shift) / sigma, threshold / sigma, s)
            })
            .chain(trivial(s)),
    )
}

/// The losses of single integers, ln p(k − d)/p(k), where there is so little noise that they are far apart.
pub(super) fn kinks(deviation: Deviation, steps: u32) -> Vec<f64> {
    /// With more noise the profile is smooth, nearly.
    const LARGEST: f64 = 2.0;
    let sigma = deviation.enclosed().middle();
    if sigma > LARGEST {
        return Vec::new();
    }
    let shift = f64::from(steps);
    let above = |x: f64| tail(Interval::exactly(x / sigma)).middle();
    // Of an integer at this distance from zero.
    let mass = |k: f64| above(k.abs() - 0.5) - above(k.abs() + 0.5);
    // Those right of d/2; the others are their negatives.
    let first = (shift / 2.0).ceil();
    (0..64)
        .map(|index| first + f64::from(index))
        .map(|k| libm::log(mass(k - shift) / mass(k)))
        .take_while(|loss| loss.is_finite())
        .flat_map(|loss| [-loss, loss])
        .collect()
}
