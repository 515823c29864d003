//! What can go wrong with a trade-off function, and what to do about it.

use thiserror::Error;

use crate::number::{Delta, Epsilon};

/// Why a trade-off function, a profile or a bound on one cannot be computed.
///
/// Example: [`Profile`](crate::privacy::fdp::Profile).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
#[non_exhaustive]
pub enum FdpError {
    /// The corners of a trade-off function do not describe one.
    #[error("not a trade-off function at corner {corner}: {why}")]
    NotATradeOff {
        /// Which corner, from 0.
        corner: usize,
        /// What is wrong there.
        why: &'static str,
    },
    /// A lattice needs a step between 1e-9 and 1.
    #[error("the step {step} is not between 1e-9 and 1: choose one of about a hundredth of ε")]
    Step {
        /// The step that was given.
        step: Epsilon,
    },
    /// A composition needs at least one part.
    #[error("nothing to compose: name at least one part, launched at least once")]
    NoParts,
    /// Losses reach farther than floats do.
    #[error("a loss above 600 has a probability of more than {tail}: state it as (ε, δ) instead")]
    TooFar {
        /// The probability that may be cut off.
        tail: Delta,
    },
    /// The lattice would have too many points.
    #[error("{needed} points are needed and {most} allowed: choose a larger step, or allow more")]
    TooManyPoints {
        /// How many points the composition needs.
        needed: u64,
        /// How many are allowed.
        most: u64,
    },
    /// Two tables on different lattices.
    #[error("the steps {one} and {other} differ: build both on the same lattice")]
    DifferentSteps {
        /// One step.
        one: Epsilon,
        /// The other.
        other: Epsilon,
    },
    /// No δ this small is certified at any ε.
    #[error(
        "δ is certified down to {floor} only, not to {asked}: aim the grid at it, with a smaller step"
    )]
    BelowFloor {
        /// The δ that was asked for.
        asked: Delta,
        /// The smallest δ that is certified.
        floor: Delta,
    },
    /// The bounds are farther apart than asked.
    #[error("the bounds on ε are {reached} apart, not {asked}: choose a smaller step or aim at δ")]
    TooCoarse {
        /// How far apart they are.
        reached: Epsilon,
        /// How far apart they may be.
        asked: Epsilon,
    },
    /// There is no largest number of launches.
    #[error("2^40 or more launches fit: take a base that loses more")]
    Endless,
    /// No Gaussian trade-off function is known to lie below this one.
    #[error("no μ is known for this trade-off function: read (ε, δ) from it instead")]
    NoGaussianBound,
}
