//! How far an answer is from the truth.

use super::About;
use crate::compose::Preview;
use crate::number::Confidence;

/// A mechanism that states how far its answers are from the truth.
///
/// Where noise is added to a number, the truth is what would be answered without noise: the count of the
/// rows, or the sum of what the rows have after clamping and rounding. If that is more than an `i64`
/// holds, nothing is said. The others say in their own documentation what their distance is measured
/// from. The table [below](#which-mechanism-says-what) has all of them.
///
/// ```
/// use queryables::data::Predicate;
/// use queryables::mechanisms::{Accuracy, Count, Estimates};
/// use queryables::prelude::*;
///
/// let adults = Predicate::new("at least 18", |age: &u32| *age >= 18);
/// let count = Count::<Predicate<Vec<u32>>>::of(adults).laplace(epsilon!(0.1))?;
/// // 19 answers in 20 are at most 30 away from the true count.
/// assert_eq!(count.accuracy(confidence!(0.95)), 30);
///
/// let estimate = count.estimate(1234, confidence!(0.95));
/// assert_eq!(estimate.interval, 1204..=1264);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// An answer is within [`accuracy(confidence)`](Self::accuracy) of the truth with probability at
/// least `confidence`, over the coins of the mechanism, whatever the data is. It holds for each
/// answer by itself, to a query that does not depend on other answers; for several answers at once
/// ask for the confidence that [each of them](Confidence::for_each_of) needs.
///
/// It is a public value: it depends on the mechanism's parameters and on no data.
///
/// # Which mechanism says what
///
/// The scale and the variance are those of the noise on one number. Where there is more than one, or a
/// number is no more than a part of the answer, the row says of what.
///
/// | mechanism | scale, variance | accuracy | made for an accuracy | estimate |
/// |---|---|---|---|---|
/// | [`Count`], [`Sum`] | `noise` | exact tail | `laplace_within`, `gaussian_within` | [`Estimates`] |
/// | [`VectorSum`] | `noise`, each coordinate | exact tail | `gaussian_within` | [`Estimates`] |
/// | [`SampledGaussianSum`] | `noise`, each coordinate | exact tail, from the sum over the sample; how far that is from the sum over all rows depends on the data | `with_accuracy` | [`Estimates`] |
/// | [`Histogram`] | `noise`, each bin | exact tail | `laplace_within`, `gaussian_within` | [`Estimates`] |
/// | [`ContinualCount`] | `noise`, at the worst time | exact tail; with Gaussian noise an upper bound on the tail of rounded sums ([`Noise`]) | `laplace_within`, `gaussian_within` | [`Estimates`] |
/// | [`FactorizedContinualCount`] | `noise`, at the worst time | an upper bound on the tail of rounded sums ([`Noise`]) | `with_accuracy` | [`Estimates`] |
/// | [`Mean`], [`Proportion`] | `noise`, each of two sums | union bound, for a number of rows | `laplace_within`, `gaussian_within`, for a number of rows | [`Estimates`] |
/// | [`Variance`] | `noise`, each of three sums | union bound, for a number of rows | `laplace_within`, `gaussian_within`, for a number of rows | [`Estimates`] |
/// | [`By`] | that of the statistic, in each group | that of the statistic | `laplace_within`, `gaussian_within` | [`Estimates`] |
/// | [`ThresholdHistogram`], [`GaussianThresholdHistogram`] | `noise`, each key | exact tails: of the numbers, and of the counts that are found | `with_accuracy`, for a δ | [`Estimates`]; what is said of a number includes that its key is released |
/// | [`NoisyQuantiles`] | none: its odds are not those of noise | rank, the exact worst case of one; union bound for several | `with_accuracy` | none: how far a rank is in the attribute depends on the data |
/// | [`ExponentialMechanism`] | none: its odds are not those of noise | how far behind the best score, the exact worst case | `by_within` | none: an answer is no number |
/// | [`TopK`] | none: its odds are not those of noise | the same, for each choice | `by_within` | none: an answer is no number |
/// | [`PermuteAndFlip`] | none: its odds are not those of noise | how far behind the best score, an upper bound | `by_within` | none: an answer is no number |
/// | [`NoisyMax`] | `noise`, each score | how far behind the best score, union bound | `by_within` | none: an answer is no number |
/// | [`NoisyMaxWithMargin`] | that of its [`NoisyMax`] | how far its margin is from the lead, union bound | `by_within` | [`Estimates`], of the lead |
/// | [`AboveThreshold`] | none: two noises of different scales | how far on the wrong side, exact tail of their sum | `with_accuracy` | none: an answer is no number |
/// | [`SparseVector`] | none: three noises | the same, and the exact tail of its counts | [`with_counts_within`](super::AboveThreshold::with_counts_within) | [`Estimates`]; what is said of a count includes that it is told |
/// | [`MultiplicativeWeights`] | none: answers are guesses or counts | union bound over both comparisons and the count | `with_accuracy` | [`Estimates`] |
/// | [`QueryAnswerer`] | those of a [`Count`], at the price of the query | the same | the price of a [`Count`] that is made for it | the same |
/// | [`RandomizedResponse`], [`ApproxRandomizedResponse`] | none: a bit | `truth`, the exact probability | `with_odds` | none: an answer is no number |
/// | [`GradientDescent`] | that of each step, a [`VectorSum`] | none: how far weights are from the best ones depends on the objective and on the data | none | none |
///
/// What is made for an accuracy has the smallest loss that is enough, rounded up to six digits. Where
/// noise for six digits would need longer numbers than can be held, it has fewer; if they can be held for
/// no loss that is small enough, it is an error, and not a larger loss.
///
/// [`OnRows`](super::OnRows) has the accuracy and the estimates of its mechanism, and says of how many
/// rows a person. Queries for which each record pays
/// what it can lose ([`individual`](super::individual)) have the noise that they were made for, and are
/// about the records that can still pay: how far that is from all records depends on the data.
///
/// [`Estimates`]: super::Estimates
/// [`Count`]: super::Count
/// [`Sum`]: super::Sum
/// [`VectorSum`]: super::VectorSum
/// [`Histogram`]: super::Histogram
/// [`Mean`]: super::Mean
/// [`Proportion`]: super::Proportion
/// [`Variance`]: super::Variance
/// [`By`]: super::By
/// [`Noise`]: crate::noise::Noise
/// [`SampledGaussianSum`]: super::SampledGaussianSum
/// [`ContinualCount`]: super::ContinualCount
/// [`FactorizedContinualCount`]: super::FactorizedContinualCount
/// [`ThresholdHistogram`]: super::ThresholdHistogram
/// [`GaussianThresholdHistogram`]: super::GaussianThresholdHistogram
/// [`NoisyQuantiles`]: super::NoisyQuantiles
/// [`ExponentialMechanism`]: super::ExponentialMechanism
/// [`TopK`]: super::TopK
/// [`PermuteAndFlip`]: super::PermuteAndFlip
/// [`NoisyMax`]: super::NoisyMax
/// [`NoisyMaxWithMargin`]: super::NoisyMaxWithMargin
/// [`AboveThreshold`]: super::AboveThreshold
/// [`SparseVector`]: super::SparseVector
/// [`MultiplicativeWeights`]: super::MultiplicativeWeights
/// [`QueryAnswerer`]: super::QueryAnswerer
/// [`RandomizedResponse`]: super::RandomizedResponse
/// [`ApproxRandomizedResponse`]: super::ApproxRandomizedResponse
/// [`GradientDescent`]: super::GradientDescent
#[doc(alias = "error bar")]
#[doc(alias = "utility")]
pub trait Accuracy {
    /// A distance from the truth: a whole number where answers are, otherwise a float.
    type Distance;

    /// The smallest distance within which an answer is with at least this probability, rounded up.
    fn accuracy(&self, confidence: Confidence) -> Self::Distance;

    /// Which truth it is a distance from: that of which rows, and of which values.
    fn about(&self) -> About;
}

/// How far an answer would be from the truth.
impl<M: Accuracy + ?Sized, L> Accuracy for Preview<'_, M, L> {
    type Distance = M::Distance;

    fn accuracy(&self, confidence: Confidence) -> M::Distance {
        self.mechanism().accuracy(confidence)
    }

    fn about(&self) -> About {
        self.mechanism().about()
    }
}
