//! Profiles with a closed form.
//!
//! Of a pair (P, Q) and γ = e^s the best event is where P > γQ. Its height P(A) − γQ(A) is the
//! profile at γ, and −Q(A) is a slope of the profile there. Both are enclosed.

mod bounded_range;
mod display;
mod finite;
mod gaussian;
mod laplace;
mod opposite;
mod response;
mod sampled;

use std::sync::Arc;

pub(super) use gaussian::Deviation;
pub(super) use laplace::MOST_STEPS;

use super::Adjacency;
use crate::number::{Delta, Epsilon, Interval, Mu};
use crate::privacy::EpsilonDelta;

/// The profile at one place, enclosed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    /// H(γ).
    pub(super) height: Interval,
    /// Q(A), where −Q(A) is a slope of H at γ.
    pub(super) slope: Interval,
}

/// A pair of laws whose profile has a closed form.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Curve {
    /// N(μ, 1) against N(0, 1).
    Gaussian(Mu),
    /// Randomized response, or nothing hidden at all with probability δ.
    Response(EpsilonDelta),
    /// Logistic noise of scale 1/ε, moved by 1: the worst of log-ratios within an interval of length
    /// ε.
    BoundedRange(Epsilon),
    /// Laplace noise of scale 1/ε, moved by 1.
    Laplace(Epsilon),
    /// Integers with odds e^(−ε|k|/steps), moved by whole steps: ε is that of all of them together.
    DiscreteLaplace { epsilon: Epsilon, steps: u64 },
    /// Gaussian noise rounded to integers, moved by whole steps.
    RoundedGaussian { deviation: Deviation, steps: u32 },
    /// Finitely many answers: their probabilities under P and Q.
    Finite(Arc<[(Delta, Delta)]>),
    /// The base with probability `rate`, otherwise its Q; against Q.
    Sampled { rate: Delta, base: Arc<Curve> },
    /// (1 − q)N(0, 1) + qN(μ, 1) against (1 − q)N(0, 1) + qN(−μ, 1).
    Opposite { rate: Delta, mu: Mu },
}

impl Curve {
    /// The profile at e^s, of P against Q or of Q against P.
    pub(super) fn at(&self, direction: Adjacency, s: Interval) -> Point {
        let point = match self {
            Self::Gaussian(mu) => gaussian::plain(*mu, s),
            Self::RoundedGaussian { deviation, steps } => gaussian::rounded(*deviation, *steps, s),
            Self::Response(loss) => response::at(*loss, s),
            Self::BoundedRange(range) => bounded_range::at(*range, s),
            Self::Laplace(epsilon) => laplace::plain(*epsilon, s),
            Self::DiscreteLaplace { epsilon, steps } => laplace::discrete(*epsilon, *steps, s),
            Self::Finite(masses) => finite::at(masses, direction, s),
            Self::Sampled { rate, base } => sampled::at(*rate, base, direction, s),
            Self::Opposite { rate, mu } => opposite::at(*rate, *mu, s),
        };
        // Every profile is at least (1 − γ)⁺, and at most 1.
        let least = (-s.exp_m1()).max(Interval::ZERO);
        Point {
            height: Interval::between(
                point.height.low().max(least.low()),
                point.height.high().max(least.low()).min(1.0),
            ),
            slope: Interval::between(point.slope.low().max(0.0), point.slope.high().min(1.0)),
        }
    }

    /// The probability of an answer that reveals everything.
    pub(super) fn infinite(&self, direction: Adjacency) -> Interval {
        match self {
            Self::Response(loss) => loss.delta.into(),
            Self::Finite(masses) => finite::infinite(masses, direction),
            Self::Sampled { rate, base } => match direction {
                Adjacency::Remove => Interval::from(*rate) * base.infinite(direction),
                // Q is part of the mixture: nothing that Q answers is ruled out under it.
                Adjacency::Add if *rate < Delta::ONE => Interval::ZERO,
                Adjacency::Add => base.infinite(direction),
            },
            _ => Interval::ZERO,
        }
    }

    /// Whether both directions have the same profile.
    pub(super) fn is_symmetric(&self) -> bool {
        match self {
            Self::Finite(_) => false,
            Self::Sampled { rate, base } => *rate == Delta::ONE && base.is_symmetric(),
            _ => true,
        }
    }

    /// Losses with a probability of their own, and those where they end, in no order. Missing ones make bounds wider, not
    /// wrong.
    pub(super) fn kinks(&self, direction: Adjacency) -> Vec<f64> {
        /// Beyond this number they get no place each.
        const MANY: u32 = 32;
        match self {
            Self::Gaussian(_) | Self::Opposite { .. } => Vec::new(),
            Self::RoundedGaussian { deviation, steps } => gaussian::kinks(*deviation, *steps),
            Self::Response(EpsilonDelta { epsilon, .. })
            | Self::BoundedRange(epsilon)
            | Self::Laplace(epsilon) => {
                let end = Interval::from(*epsilon).middle();
                vec![-end, end]
            }
            Self::DiscreteLaplace { epsilon, steps } => {
                let (all, count) = (Interval::from(*epsilon).middle(), *steps as f64);
                if *steps > u64::from(MANY) {
                    return vec![-all, all];
                }
                let loss = |k: u64| (2.0 * k as f64 / count - 1.0) * all;
                (0..=*steps).map(loss).collect()
            }
            Self::Finite(masses) => finite::kinks(masses, direction),
            Self::Sampled { rate, base } => sampled::kinks(*rate, base, direction),
        }
    }
}

/// The better of several events that are worth considering. One of them must be the best one.
pub(super) fn best(events: impl IntoIterator<Item = Point>) -> Point {
    let events: Vec<Point> = events.into_iter().collect();
    let height = events
        .iter()
        .map(|event| event.height)
        .fold(Interval::ZERO, Interval::max);
    // The slope is that of the best event, which may be any of those that reach the height.
    let (low, high) = events
        .iter()
        .filter(|event| event.height.high() >= height.low())
        .fold((1.0_f64, 0.0_f64), |(low, high), event| {
            (low.min(event.slope.low()), high.max(event.slope.high()))
        });
    Point {
        height,
        slope: Interval::between(low.min(high), high),
    }
}

/// The event that always happens, and the one that never does.
pub(super) fn trivial(s: Interval) -> [Point; 2] {
    [
        Point {
            height: -s.exp_m1(),
            slope: Interval::ONE,
        },
        Point {
            height: Interval::ZERO,
            slope: Interval::ZERO,
        },
    ]
}

#[cfg(test)]
mod rate_tests;
#[cfg(test)]
mod tests;
