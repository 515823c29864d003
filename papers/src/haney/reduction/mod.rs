//! Reductions as programs: an interactive mechanism on two datasets is an interactive
//! postprocessing of randomized response (Haney et al. 1.25 and 3.3, after Vadhan and Zhang 2023 and
//! Lyu 2022; without interaction Rogers et al. 2.7 and Whitehouse et al. Lemma 12, after Kairouz, Oh
//! and Viswanath 2015).
//!
//! ```text
//! M on x₀, x₁   =   P∘N on 0, 1        N: randomized response, P: knows neither x₀ nor x₁
//! ```
//!
//! [`Transcripts`] is the law of a mechanism with finite communication on a pair of datasets, and
//! [`Transcripts::reduce`] constructs N and P.
//!
//! # Pure privacy
//!
//! With c = e^ε, `A = (c·M₀ − M₁)/(c − 1)` and `B = (c·M₁ − M₀)/(c − 1)`, transcript by transcript.
//! No mass is negative, because M is ε-DP, and at every query the masses of the answers add up to
//! that before it, because those of M₀ and M₁ do: A and B are machines. M on x₀ is A with
//! probability c/(c + 1) and B otherwise, on x₁ it is the other way round. So N is a response with
//! odds of c to 1 and P runs the machine that N names.
//!
//! # With δ
//!
//! N reveals its bit with probability δ: there are two more machines, `R₀` and `R₁`. The masses
//! α and β of A and B, before they are scaled to one, must satisfy `c·α + β ≤ M₀` and
//! `α + c·β ≤ M₁` at every transcript, and both must be conserved at every query; what is missing is
//! the share of `R₀` and of `R₁`. This is a linear program in as many variables as there are
//! transcripts. It falls apart: which (α, β) are possible at a point is a set in the plane. At a
//! leaf it is given by the two inequalities, for a query it is the sum of the sets of its answers,
//! and for a point the intersection over its queries. All of them hold, with a pair, every smaller
//! one, so each is the set below a concave function with finitely many corners (`frontier.rs`), and
//! everything is exact. At the beginning α = β = (1 − δ)/(c + 1) is needed; downwards each point's
//! pair is shared out among the answers to each query.
//!
//! That this succeeds for every (ε, δ)-DP mechanism is the theorem. Whether it has succeeded needs
//! no theorem: the laws of M and P∘N are compared.
//!
//! # What is not reduced
//!
//! - *More transcripts than a limit, or masses finer than 64 bits.* P has a coin with the odds of
//!   every answer, and a source of coins takes 64 bits.
//! - *e^ε that is not a fraction.* The masses would be intervals, in which conservation cannot be
//!   checked.
//! - *Trade-off functions with more corners.* The theorem holds (Haney et al. 3.3). There is one
//!   machine for each piece, the sets have as many dimensions, and corners no longer suffice.
//! - *Rényi divergences and zCDP.* There is no such N: the reduction needs a measure with the coupling
//!   property, which the Rényi divergence lacks (Haney et al. §4, after Theorem 4.6). Their
//!   concurrent theorems go another way ([`ConcurrentComposition`](queryables::compose::ConcurrentComposition)
//!   with a universal mechanism, Haney et al. 4.7).

mod frontier;
mod response;
#[cfg(test)]
mod tests;
mod transcripts;

pub use response::{Postprocessing, Reduction};
pub use transcripts::Transcripts;

use queryables::verify::{Rational, VerifyError};
use thiserror::Error;

/// Why a mechanism is not reduced.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ReductionError {
    /// The mechanism could not be explored.
    #[error(transparent)]
    Verify(#[from] VerifyError),
    /// There are too many transcripts.
    #[error("more than {limit} transcripts")]
    TooLarge {
        /// How many there may be.
        limit: usize,
    },
    /// A probability is not a known fraction.
    #[error("the probability of a transcript is not a known fraction")]
    NotExact,
    /// The mechanism may fail to start.
    #[error("the mechanism may fail to start: restate it as one that starts and then fails")]
    DoesNotStart,
    /// The mechanism is not private enough.
    #[error("not private enough: at these odds, δ must be at least {least}")]
    NotPrivate {
        /// The least δ for which there is a reduction.
        least: Rational,
    },
    /// No such randomized response.
    #[error("the odds must be at least even")]
    BadOdds,
    /// The odds of an answer do not fit in 64 bits.
    #[error("the odds of an answer do not fit in 64 bits")]
    TooFine,
}
