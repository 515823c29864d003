//! Exact noise on the integers.
//!
//! Floating-point samplers leak through their rounding (Mironov 2012), so nothing here uses them:
//! every law is sampled with integer arithmetic from uniform draws, after Canonne, Kamath and
//! Steinke 2020, and has exactly the probabilities that it states.
//!
//! | law | probability of `k` | parameter |
//! |---|---|---|
//! | [`Logistic`] | `1 / (1 + e^x)` for 1 | exponent `x`, rational |
//! | [`Geometric`] | proportional to `e^(-k/s)`, `k >= 0` | scale `s`, rational |
//! | [`DiscreteLaplace`] | proportional to `e^(-\|k\|/s)` | scale `s`, rational |
//! | [`DiscreteGaussian`] | proportional to `e^(-k^2 / 2v)` | variance `v`, rational |
//! | [`RoundedGaussian`] | that of a Gaussian value nearest to `k` | variance `v`, rational |
//!
//! [`Noise`] says how far the noise of an answer reaches.
//!
//! A bias with rational odds is [`Bernoulli`](crate::machine::Bernoulli).
//!
//! # Timing
//!
//! These samplers reject and retry, and count how often a bias came up: **how long a draw takes
//! depends on the value drawn**, roughly linearly in its distance from zero in units of the scale.
//! An attacker who can time a single draw to a few nanoseconds learns something about the noise,
//! and thereby about the data (Jin, McMurtry, Rubinstein and Ohrimenko 2022). Over a network that
//! precision is out of reach; on a shared processor it may not be.

mod choice;
mod exponential;
mod gaussian;
mod geometric;
mod laplace;
mod logistic;
mod noise_of_answer;
mod piecewise;
mod rounded_gaussian;
mod tail;
mod uniform;

pub(crate) use choice::ExponentialChoice;
pub(crate) use exponential::BernoulliExp;
pub use gaussian::DiscreteGaussian;
pub use geometric::Geometric;
pub use laplace::DiscreteLaplace;
pub use logistic::Logistic;
pub use noise_of_answer::Noise;
pub(crate) use noise_of_answer::within_two;
pub(crate) use piecewise::PiecewiseChoice;
pub use rounded_gaussian::RoundedGaussian;

pub(crate) use uniform::uniform_below;

use thiserror::Error;

/// Why a number cannot be the parameter of a law.
///
/// Example: [`DiscreteLaplace`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
#[non_exhaustive]
pub enum NoiseError {
    /// There is no noise at scale zero.
    #[error("the {0} must be greater than zero")]
    Zero(&'static str),
    /// The values would not fit in an `i128`.
    #[error("the {what} must be at most 2^{bits}")]
    TooLarge {
        /// The parameter.
        what: &'static str,
        /// It must be at most two to this power.
        bits: u32,
    },
    /// The numerator has more digits than the sampler can work with.
    #[error("the {what}, in lowest terms, must have a numerator of at most 2^{bits}")]
    TooFine {
        /// The parameter.
        what: &'static str,
        /// Its numerator must be at most two to this power.
        bits: u32,
    },
}
