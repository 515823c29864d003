//! Ready-made mechanisms.
//!
//! Each is constructed from its loss, and adds exactly the noise that the loss pays for; how much
//! one row can change is a consequence of what is computed, never a number that somebody enters.
//! Bad parameters are errors at construction, before any data is touched.
//!
//! | mechanism | answers | loss |
//! |---|---|---|
//! | [`NoisyCount`] | how many rows satisfy a predicate | ε |
//! | [`GaussianCount`] | the same, with lighter tails | ρ or μ |
//! | [`NoisySum`] | the sum of a bounded attribute | ε |
//! | [`NoisyRealSum`] | the same, of real numbers on a lattice | ε |
//! | [`GaussianVectorSum`] | the sum of clipped vectors | ρ or μ |
//! | [`SampledGaussianSum`] | the same over a random sample | an RDP curve |
//! | [`NoisyHistogram`] | how many rows there are in each bin | ε |
//! | [`NoisyMax`], [`ExponentialMechanism`] | which of several counts is the largest | ε |
//! | [`RandomizedResponse`] | one bit | ε |
//! | [`RevealingResponse`] | one bit, revealed with probability δ | (ε, δ) |
//! | [`ConditionalResponse`] | the same, with parameters that depend on what was seen | its budget |
//! | [`ContinualCount`] | how many rows there are so far, at every time | ε |
//! | [`GaussianContinualCount`] | the same, with lighter tails | ρ or μ |
//! | [`QueryAnswerer`] | counts at a price that comes with the query | its budget |
//! | [`AboveThreshold`] | which of many counts are large | ε for a number of hits |
//! | [`SparseVector`] | the same, with the counts | ε for a number of hits |
//! | [`MultiplicativeWeights`] | any number of counts over a small domain | ε for a number of updates |
//!
//! Each states its loss under every measure in which it has one of its own: for Laplace noise pure
//! and Rényi privacy, for the exponential mechanism zCDP too, for Gaussian noise zCDP, Rényi privacy
//! and GDP. Under other measures, what follows is had by [`Restated`](crate::privacy::Restated).
//!
//! Data are rows: anything that is `AsRef<[Row]>`, a `Vec<Row>` or a `[Row]` for instance.

mod above_threshold;
mod attribute;
mod choose;
mod conditional_response;
mod continual_count;
mod count;
#[cfg(test)]
mod exact;
mod gaussian;
mod histogram;
mod lattice;
mod logarithm;
mod multiplicative_weights;
mod query_answerer;
mod randomized_response;
mod real_sum;
mod revealing_response;
mod sampled_sum;
mod sparse_vector;
mod sum;
mod tree;
mod vector_sum;
mod weights;

pub use above_threshold::{AboveThreshold, CountingRelation, Search};
pub use attribute::{Attribute, Predicate};
pub use choose::{ExponentialMechanism, NoisyMax};
pub use conditional_response::{ConditionalResponse, Responder};
pub use continual_count::{ContinualCount, GaussianContinualCount};
pub use count::{GaussianCount, NoisyCount};
pub use gaussian::{GaussianLoss, GaussianMeasure};
pub use histogram::NoisyHistogram;
pub use lattice::Lattice;
pub use multiplicative_weights::{GapSearch, MultiplicativeWeights};
pub use query_answerer::{Answerer, Priced, Pricing, QueryAnswerer};
pub use randomized_response::RandomizedResponse;
pub use real_sum::NoisyRealSum;
pub use revealing_response::{Response, RevealingResponse};
pub use sampled_sum::SampledGaussianSum;
pub use sparse_vector::{CountingSearch, SparseVector};
pub use sum::{NoisySum, SummingRelation};
pub use tree::{Counter, StreamingRelation};
pub use vector_sum::GaussianVectorSum;
pub use weights::{Gap, Weights};

use crate::machine::Ratio;
use crate::noise::NoiseError;
use crate::privacy::convert::rdp;
use crate::privacy::{Epsilon, Order, Overflow, Quantity, Unit, UnknownLoss};

use std::num::NonZeroU64;

use thiserror::Error;

/// Why a mechanism cannot be constructed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
#[non_exhaustive]
pub enum MechanismError {
    /// A loss of zero: nothing can be said without any.
    #[error("{0} must be greater than zero")]
    NoLoss(&'static str),
    /// No hits are allowed.
    #[error("at least one hit must be allowed")]
    NoHits,
    /// The range is empty, or holds nothing that changes a sum.
    #[error("the range must hold numbers that make a difference")]
    BadRange,
    /// The range ends where the lattice's numbers do not reach.
    #[error("the range must end within 2^50 steps of zero on both sides")]
    TooWide,
    /// The lattice's step is not among those on offer.
    #[error("the exponent of the lattice's step must be from -500 to 500")]
    BadExponent,
    /// No vector is so short, or none is so long.
    #[error("the radius must be from 1 to 2^50 steps")]
    BadRadius,
    /// Vectors without coordinates, or with too many.
    #[error("vectors must have from 1 to 2^27 coordinates")]
    BadDimension,
    /// There is no time to ask for.
    #[error("the horizon must be greater than zero")]
    NoTime,
    /// The threshold is zero, or no count can be so far away from a guess.
    #[error("the threshold must be from 1 to the number of rows")]
    BadThreshold,
    /// There is nothing to choose from.
    #[error("there must be at least one bin or candidate")]
    NoChoice,
    /// The loss, shared out, leaves nothing that can be held for one of the shares.
    #[error("the loss is too small to be shared out")]
    TooSmall,
    /// The odds are not those of telling the truth more often than not.
    #[error("the odds of the truth must be greater than those of a lie, and both positive")]
    BadOdds,
    /// The sampling rate is zero.
    #[error("the sampling rate must be greater than zero")]
    BadRate,
    /// The loss is more than can be held.
    #[error("the loss is more than can be held")]
    TooLarge,
    /// The exact scale of the noise, as a ratio, needs longer numbers than there are.
    #[error(
        "the noise for this loss cannot be held exactly: write the loss with fewer digits, or, if \
         it is tiny, make the range smaller or the lattice coarser"
    )]
    TooFine,
    /// No noise has the scale that this would take.
    #[error(transparent)]
    Noise(#[from] NoiseError),
}

/// `factor / quantity`, exactly.
fn over<U: Unit>(factor: Ratio, quantity: Quantity<U>) -> Result<Ratio, MechanismError> {
    let inverse = Ratio::from(quantity)
        .inverse()
        .ok_or(MechanismError::NoLoss(U::NAME))?;
    inverse.checked_mul(factor).ok_or(MechanismError::TooFine)
}

/// The Rényi divergence of so many independent counts, each of which changes by one and has the
/// noise for its share of ε: that of one ([`rdp::discrete_laplace`]), as many times.
fn shared_divergence(order: Order, counts: u64, epsilon: Epsilon) -> Result<Epsilon, UnknownLoss> {
    let share = epsilon.units().div_ceil(u128::from(counts.max(1)));
    let share = Epsilon::from_units(share).map_err(|_| Overflow)?;
    let each = rdp::discrete_laplace(order, NonZeroU64::MIN, share);
    Ok(each.checked_mul(counts).ok_or(Overflow)?)
}

/// The nearest number that an `i64` holds.
///
/// This is postprocessing, and exact: noise that reached the end of an `i128` is still beyond the
/// end of an `i64` after any count was added to it.
fn clamped(exact: i128, noise: i128) -> i64 {
    let noisy = exact.saturating_add(noise);
    noisy.clamp(i64::MIN.into(), i64::MAX.into()) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A share that cannot be held is rounded up, not lost.
    #[test]
    fn shares_are_rounded_up() {
        let [least, three] = ["1e-27", "3e-27"].map(|text| text.parse().unwrap());
        let order = "2".parse().unwrap();
        assert_eq!(shared_divergence(order, 3, least), Ok(three));
    }
}
