//! The approximate GDP filter for Gaussians on samples (Tran et al. Alg. 2, Theorem 4.3), and its
//! basis: moments of the privacy loss (4.1).
//!
//! **Nothing here is a bound.** Theorem 4.3 speaks of a limit, as q → 0 or as q → 1 and σ → ∞, with an
//! error of O(√q) on every probability and an unnamed constant. On the schedule of T §4.5 the filter
//! reads ε = 1.191 at δ = 1e-5, and the same launches in a fixed order have 1.2157. The
//! [`SampledGaussianFilter`](queryables::account::menu::SampledGaussianFilter) certifies 1.2248 for every
//! adaptive order. So the guarantee has a measure of its own, [`AsymptoticGdp`], which implies no
//! other one, and readings are floats.

mod cost;
mod limit;
mod measure;
mod moments;

pub use cost::{cost, norm_for_budget, schedule, scheduled_sigma};
pub use limit::{
    CentralLimit, LimitConditions, LimitError, Step, third_moment_bound, third_moments,
};
pub use measure::{AsymptoticGdp, MeanLoss, RegimeError};
pub use moments::{Moments, moments};

/// The limit in which an approximation holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Regime {
    /// Small rates: q < 0.2.
    Small,
    /// Large rates and much noise: q > 0.8.
    Large,
}
