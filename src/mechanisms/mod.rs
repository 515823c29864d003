//! Ready-made mechanisms.
//!
//! What can be asked for takes a bounded amount of memory ([`MOST_MEMORY`]).
//!
//! Each is constructed from its loss, and adds exactly the noise that this loss requires. The
//! sensitivity follows from what is computed, and is never a parameter; only a [`Score`] of your own
//! states it. Bad parameters are errors at construction, before any data is touched.
//!
//! A mechanism with added noise is a **query**, a **noise** and a **relation** ([`Noised`]):
//!
//! ```
//! use queryables::data::{Attribute, Predicate};
//! use queryables::mechanisms::{Count, Mean, Partition, Sum};
//! use queryables::prelude::*;
//!
//! type Rows = Vec<(&'static str, u32)>;
//! let adults = Predicate::<Rows>::new("at least 18", |row: &(&str, u32)| row.1 >= 18);
//! let age = Attribute::<Rows, _>::new("age", |row: &(&str, u32)| f64::from(row.1));
//! let whole = Attribute::<Rows, _>::new("age", |row: &(&str, u32)| i64::from(row.1));
//! let state = Partition::by_key("state", |row: &(&'static str, u32)| row.0, ["CA", "NY"])?;
//!
//! let count = Count::of(adults).laplace(epsilon!(0.1))?;
//! let mean = Mean::of(age, 0.0..=120.0).laplace_within((0.5, 10_000), confidence!(0.95))?;
//! let sums = Sum::of(whole, 0..=120).by(state).under(Replace).gaussian(rho!(0.02))?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # I want to …
//!
//! The six rows with a ★ are where to start. Queries take Laplace noise for an ε, or Gaussian noise for
//! a ρ or a μ, and state [`Laplace`] or [`Gaussian`].
//!
//! | mechanism | I want to know | made for | states | error stated |
//! |---|---|---|---|---|
//! | ★ [`Count`] | how many rows satisfy a predicate | ε, ρ or μ | its noise | [`Accuracy`] |
//! | ★ [`Sum`] | the sum of a bounded attribute, of whole or real numbers | ε, ρ or μ | its noise | [`Accuracy`] |
//! | ★ [`Mean`] | the mean of a bounded attribute | ε, ρ or μ | its noise | [`Accuracy`], for a number of rows |
//! | ★ [`Histogram`] | how many rows are in each bin, by number or key | ε, ρ or μ | its noise | [`Accuracy`] |
//! | [`By`] | the sum, mean, variance or share in each group | ε, ρ or μ | its noise | [`Accuracy`] |
//! | [`Variance`] | the variance of a bounded attribute | ε, ρ or μ | its noise | [`Accuracy`], for a number of rows |
//! | [`Proportion`] | which share of rows satisfies a predicate | ε, ρ or μ | its noise | [`Accuracy`], for a number of rows |
//! | [`VectorSum`] | the sum of clipped vectors | ρ or μ, or ε | its noise | [`Accuracy`] |
//! | [`SampledGaussianSum`] | the same over a random sample | a rate and μ | [`SampledGaussian`], or [`SampledReplacement`] | [`Accuracy`], from the sample |
//! | [`GradientDescent`] | weights that fit a model, step by step | ρ of a step | [`Gaussian`] | – |
//! | [`ThresholdHistogram`] | how many rows have each key, for keys not known in advance | (ε, δ) | [`Thresholded`] [`Laplace`] | [`Accuracy`] |
//! | [`GaussianThresholdHistogram`] | the same, with lighter tails | (ρ, δ) | [`Thresholded`] [`Gaussian`] | [`Accuracy`] |
//! | ★ [`NoisyQuantiles`] | medians and other quantiles | ε | [`BoundedRanges`] | [`Accuracy`] |
//! | [`NoisyMax`] | which of several counts or scores is the largest | ε | [`Pure`] | [`Accuracy`] |
//! | [`NoisyMaxWithMargin`] | the same, and by how much | ε | [`Pure`] | [`Accuracy`] |
//! | [`ExponentialMechanism`] | the same, with odds that can be written down | ε | [`BoundedRange`] | [`Accuracy`] |
//! | [`PermuteAndFlip`] | the same, with better odds | ε | [`Pure`] | [`Accuracy`] |
//! | [`TopK`] | which few of many counts or scores are the largest | ε | [`BoundedRanges`] | [`Accuracy`] |
//! | [`RandomizedResponse`] | one bit | ε | [`Pure`] | [`truth`](RandomizedResponse::truth) |
//! | [`ApproxRandomizedResponse`] | one bit, revealed with probability δ | (ε, δ) | [`Probabilistic`] | [`truth`](ApproxRandomizedResponse::truth) |
//! | [`ContinualCount`] | how many rows came so far, at every time | ε, ρ or μ | its noise | [`Accuracy`] |
//! | [`FactorizedContinualCount`] | the same, with a much smaller error | ρ or μ | [`Gaussian`] | [`Accuracy`] |
//! | [`QueryAnswerer`] | counts at a price that comes with the query | its budget | – | that of a count |
//! | ★ [`AboveThreshold`] | which of many counts are large | ε for a number of hits | [`Pure`] | [`Accuracy`] |
//! | [`SparseVector`] | the same, with the counts | ε for a number of hits | [`Pure`] | [`Accuracy`] |
//! | [`MultiplicativeWeights`] | any number of counts over a small domain | ε for a number of updates | [`Pure`] | [`Accuracy`] |
//!
//! What chooses is a [`Choice`]: a law of choice ([`NoisyMax`], [`ExponentialMechanism`], …) and a score
//! of the candidates ([`CountScores`], [`SumScores`], or a [`Score`] of your own).
//!
//! A mechanism whose error is stated says how far its answers are from the truth, with a given
//! probability ([`Accuracy`]), and can be made for that instead of a loss ([`QueryExt::laplace_within`], `with_accuracy`). What each of
//! them says, and why some say nothing, is in the
//! [table of accuracies](Accuracy#which-mechanism-says-what).
//!
//! Each states a fact, and every measure that can price the fact does so, at the smallest loss that
//! is known ([`Prices`]): so a mechanism can be launched under any of these measures without a
//! wrapper.
//!
//! | fact | `PureDp` | `ApproxDp`, `ProbabilisticDp` | `ZCdp`, `ApproxZCdp` | `Rdp`, `RdpGrid`, `ApproxRdp` | `Gdp` | [`FDp`](crate::privacy::fdp::FDp) |
//! |---|---|---|---|---|---|---|
//! | [`Pure`] | ε | (ε, 0) | ε·tanh(ε/2) | that of randomized response | yes | randomized response |
//! | [`Laplace`] | ε | (ε, 0) | its own, exactly | its own curve | its own; several answers: the best of two bounds | its own, all steps as one number |
//! | [`BoundedRange`] | ε | (ε, 0) | ε²/8, or as [`Pure`] | its worst case, at most αε²/8 | its own, that of ε/2 as [`Pure`] | its own, logistic noise |
//! | [`BoundedRanges`] | ε | (ε, 0) | choice by choice | choice by choice | choice by choice | one choice: its own; several: as [`Pure`] |
//! | [`Probabilistic`] | if δ = 0 | (ε, δ) | approximate: yes; zCDP: if δ = 0 | approximate: yes; others: if δ = 0 | if δ = 0 | (ε, δ)-randomized response |
//! | [`Thresholded`] [`Laplace`] | no | (ε, δ); in pDP ε may be more | approximate: that of the noise, δ; zCDP: no | approximate: that of the noise, δ; others: no | no | (ε, δ)-randomized response |
//! | [`Gaussian`] | no | choose a δ: [`RestatedAt`] | ρ | αρ | μ | its own |
//! | [`SampledGaussian`], [`SampledReplacement`] | no | choose a δ: [`RestatedAt`] | no | the curve | no | its own |
//!
//! Queries for which each record pays what it can lose are in [`individual`].
//!
//! A [`QueryAnswerer`] is a filter inside: its loss is its budget, under the measure of its rule.
//!
//! On [`People`](crate::data::People) with several rows, a mechanism on rows is launched as
//! [`OnRows`], which prices it for people.
//!
//! Data are rows: any [`Dataset`], a `Vec` for instance, or columns of your own. What is asked about
//! one row is an [`Attribute`](crate::data::Attribute).

mod above_threshold;
mod accuracy;
#[cfg(test)]
mod accuracy_tests;
mod added_noise;
mod approx_randomized_response;
mod by;
mod choice;
mod continual_count;
mod contributes;
mod count;
mod error;
mod estimate;
mod factorization;
mod factorized_count;
mod gradient_descent;
mod histogram;
pub mod individual;
mod lattice;
mod least_loss;
mod limit;
mod logarithm;
mod mean;
mod moments;
mod multiplicative_weights;
mod noised;
mod on_rows;
mod paid_sum;
mod partition;
mod proportion;
pub mod query;
mod query_answerer;
mod question;
mod randomized_response;
mod real_range;
mod sampled_sum;
mod source;
mod sparse_vector;
mod statistic;
mod sum;
#[cfg(feature = "table")]
pub mod table;
mod threshold_histogram;
mod variance;
mod vector_sum;
mod weights;

pub use above_threshold::AboveThreshold;
pub use accuracy::Accuracy;
pub use approx_randomized_response::{ApproxRandomizedResponse, Response};
pub use by::{By, Grouped};
pub use choice::{
    Choice, CountScores, Evaluate, ExponentialMechanism, NoisyMax, NoisyMaxWithMargin,
    NoisyQuantiles, PermuteAndFlip, Score, Sensitivity, SumScores, TopK, Winner,
    sensitivity_between,
};
pub use continual_count::ContinualCount;
pub use count::{Count, NoisyCount};
pub use error::MechanismError;
pub use estimate::{About, Estimate, Estimates};
pub use factorized_count::FactorizedContinualCount;
pub use gradient_descent::{Descent, GradientDescent, Objective};
pub use histogram::Histogram;
pub use lattice::Lattice;
pub use limit::MOST_MEMORY;
pub use mean::{Mean, NoisyMean};
pub use moments::{MomentAccuracy, Moments};
pub use multiplicative_weights::MultiplicativeWeights;
pub use noised::Noised;
pub use on_rows::OnRows;
pub use partition::Partition;
pub use proportion::Proportion;
pub use query::QueryExt;
pub use query_answerer::{Priced, Pricing, QueryAnswerer};
pub use randomized_response::RandomizedResponse;
pub use real_range::RealRange;
pub use sampled_sum::SampledGaussianSum;
pub use sparse_vector::{SparseVector, SparseVectorAccuracy};
pub use sum::Sum;
pub use threshold_histogram::{
    GaussianThresholdHistogram, KeyHistogram, ThresholdAccuracy, ThresholdHistogram,
};
pub use variance::{NoisyVariance, Variance};
pub use vector_sum::VectorSum;

use added_noise::{AddedNoise, GaussianLoss, GaussianNoise, LaplaceNoise};
use contributes::{Contributes, Contributions};
use moments::SumScale;
use partition::Labels;
use query::{Change, Once, Query, RowRelation, Tally, Under, apart};
use question::{Counts, Domain};
use source::{CountsBy, Source};
use statistic::Statistic;
use sum::Summand;
#[cfg(feature = "table")]
use threshold_histogram::KeySource;

#[cfg(doc)]
use crate::data::Dataset;
use crate::data::{Unavailable, clip};
use crate::number::{Quantity, Ratio, Unit};
#[cfg(doc)]
use crate::privacy::{
    Prices, RestatedAt,
    facts::{
        BoundedRange, BoundedRanges, Gaussian, Laplace, Probabilistic, Pure, SampledGaussian,
        SampledReplacement, Thresholded,
    },
};

/// States the fact of a mechanism, at every distance, to every measure that prices it.
macro_rules! states {
    ($Fact:ty: impl[$($generics:tt)*] $Mechanism:ty, $R:ty, |$mechanism:ident| $fact:expr) => {
        impl<$($generics)* Me> crate::privacy::Private<Me, $R> for $Mechanism
        where
            Me: crate::privacy::Prices<$Fact>,
        {
            fn loss(&self, measure: &Me) -> Result<Me::Loss, crate::privacy::UnknownLoss> {
                let $mechanism = self;
                measure.price(&$fact)
            }

            fn loss_at(
                &self,
                measure: &Me,
                distance: crate::privacy::Distance,
            ) -> Result<Me::Loss, crate::privacy::UnknownLoss> {
                let $mechanism = self;
                measure.price(&$fact.at(distance)?)
            }
        }
    };
}
use states;

/// `Debug` that shows the description.
macro_rules! shown {
    (impl[$($generics:tt)*] $Mechanism:ty) => {
        impl<$($generics)*> std::fmt::Debug for $Mechanism {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(&self.description(), f)
            }
        }
    };
}
use shown;

/// `factor / quantity`, exactly.
fn over<U: Unit>(factor: Ratio, quantity: Quantity<U>) -> Result<Ratio, MechanismError> {
    let inverse = Ratio::from(quantity)
        .inverse()
        .ok_or(MechanismError::NoLoss(U::NAME))?;
    inverse.checked_mul(factor).ok_or(MechanismError::TooFine)
}
