//! How far an answer is from the truth.

use std::ops::RangeInclusive;

use super::About;
use super::lattice::of_steps;
use crate::compose::Preview;
use crate::noise::Noise;
use crate::number::Confidence;

/// A mechanism that states how far its answers are from the truth.
///
/// Every mechanism that adds noise to a number does so through [`Noisy`]; the others say in their own
/// documentation what their distance is measured from. The table [below](#which-mechanism-says-what) has
/// all of them.
///
/// ```
/// use queryables::data::Predicate;
/// use queryables::mechanisms::{Accuracy, Estimates, NoisyCount};
///
/// let adults = Predicate::new("at least 18", |age: &u32| *age >= 18);
/// let count = NoisyCount::<Vec<u32>>::new(adults, "0.1".parse()?)?;
/// // 19 answers in 20 are at most 30 away from the true count.
/// assert_eq!(count.accuracy("0.95".parse()?), 30);
///
/// let estimate = count.estimate(1234, "0.95".parse()?);
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
/// | [`NoisyCount`], [`GaussianCount`] | [`Noisy`] | exact tail | `with_accuracy` | [`Estimates`] |
/// | [`NoisySum`], [`NoisyRealSum`] | [`Noisy`] | exact tail | `with_accuracy` | [`Estimates`] |
/// | [`GaussianSum`], [`GaussianRealSum`] | [`Noisy`] | exact tail | `with_accuracy` | [`Estimates`] |
/// | [`GaussianVectorSum`] | [`Noisy`], each coordinate | exact tail | `with_accuracy` | [`Estimates`] |
/// | [`SampledGaussianSum`] | [`Noisy`], each coordinate | exact tail, from the sum over the sample; how far that is from the sum over all rows depends on the data | `with_accuracy` | [`Estimates`] |
/// | [`NoisyHistogram`], [`GaussianHistogram`] | [`Noisy`], each bin | exact tail | `with_accuracy` | [`Estimates`] |
/// | [`ContinualCount`] | [`Noisy`], at the worst time | exact tail | `with_accuracy` | [`Estimates`] |
/// | [`GaussianContinualCount`], [`FactorizedContinualCount`] | [`Noisy`], at the worst time | an upper bound on the tail of rounded sums ([`Noise`]) | `with_accuracy` | [`Estimates`] |
/// | [`NoisyMean`], [`GaussianMean`] | `noise`, each of two sums | union bound, for a number of rows | `with_accuracy`, for a number of rows | [`Estimates`] |
/// | [`NoisyVariance`], [`GaussianVariance`] | `noise`, each of three sums | union bound, for a number of rows | `with_accuracy`, for a number of rows | [`Estimates`] |
/// | [`ThresholdHistogram`], [`GaussianThresholdHistogram`] | `noise`, each key | exact tails: of the numbers, and of the counts that are found | `with_accuracy`, for a δ | [`Estimates`]; what is said of a number includes that its key is released |
/// | [`NoisyQuantiles`] | none: its odds are not those of noise | rank, the exact worst case of one; union bound for several | `with_accuracy` | none: how far a rank is in the attribute depends on the data |
/// | [`ExponentialMechanism`] | none: its odds are not those of noise | how far behind the best score, the exact worst case | `with_accuracy` | none: an answer is no number |
/// | [`TopK`] | none: its odds are not those of noise | the same, for each choice | `with_accuracy` | none: an answer is no number |
/// | [`PermuteAndFlip`] | none: its odds are not those of noise | how far behind the best score, an upper bound | `with_accuracy` | none: an answer is no number |
/// | [`NoisyMax`] | `noise`, each score | how far behind the best score, union bound | `with_accuracy` | none: an answer is no number |
/// | [`NoisyMaxWithMargin`] | that of its [`NoisyMax`] | how far its margin is from the lead, union bound | [`NoisyMax::with_accuracy`](super::NoisyMax::with_accuracy), for one less | [`Estimates`], of the lead |
/// | [`AboveThreshold`] | none: two noises of different scales | how far on the wrong side, exact tail of their sum | `with_accuracy` | none: an answer is no number |
/// | [`SparseVector`] | none: three noises | the same, and the exact tail of its counts | [`with_counts_within`](super::AboveThreshold::with_counts_within) | [`Estimates`]; what is said of a count includes that it is told |
/// | [`MultiplicativeWeights`] | none: answers are guesses or counts | union bound over both comparisons and the count | `with_accuracy` | [`Estimates`] |
/// | [`QueryAnswerer`] | those of [`NoisyCount`] or [`GaussianCount`], at the price of the query | the same | [`Priced::with_accuracy`](super::Priced) | the same |
/// | [`RandomizedResponse`], [`ApproxRandomizedResponse`] | none: a bit | `truth`, the exact probability | `with_odds` | none: an answer is no number |
/// | [`ConditionalResponse`] | none: a bit | none: how often it is right depends on what it was shown before | none | none |
/// | [`GradientDescent`] | that of each step, a [`GaussianVectorSum`] | none: how far weights are from the best ones depends on the objective and on the data | none | none |
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
/// [`NoisyCount`]: super::NoisyCount
/// [`GaussianCount`]: super::GaussianCount
/// [`NoisySum`]: super::NoisySum
/// [`NoisyRealSum`]: super::NoisyRealSum
/// [`GaussianSum`]: super::GaussianSum
/// [`GaussianRealSum`]: super::GaussianRealSum
/// [`GaussianVectorSum`]: super::GaussianVectorSum
/// [`SampledGaussianSum`]: super::SampledGaussianSum
/// [`NoisyHistogram`]: super::NoisyHistogram
/// [`GaussianHistogram`]: super::GaussianHistogram
/// [`ContinualCount`]: super::ContinualCount
/// [`GaussianContinualCount`]: super::GaussianContinualCount
/// [`FactorizedContinualCount`]: super::FactorizedContinualCount
/// [`NoisyMean`]: super::NoisyMean
/// [`GaussianMean`]: super::GaussianMean
/// [`NoisyVariance`]: super::NoisyVariance
/// [`GaussianVariance`]: super::GaussianVariance
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
/// [`ConditionalResponse`]: super::ConditionalResponse
/// [`GradientDescent`]: super::GradientDescent
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

/// A mechanism whose answers are true numbers plus noise that does not depend on the data.
///
/// # Guarantee
///
/// The truth is what the mechanism would answer without noise: the count of the rows, or the sum of
/// what the rows have after clamping and rounding. If that is more than an `i64` holds, it is not
/// within the answer's range, and nothing is said. Otherwise an answer that was clamped to an `i64`
/// is closer to the truth than it was before. An answer that was rounded to a float was within the
/// distance before that; [`estimate`](super::Estimates::estimate) allows for it.
///
/// Where a mechanism answers with several numbers, it holds for each of them.
pub trait Noisy: Accuracy {
    /// The type of one answer: `i64` or `f64`.
    type Number: Number;

    /// The noise of one answer; where it depends on the query, the one that reaches farthest.
    fn noise(&self) -> Noise;

    /// The variance of an answer, rounded up: that of the very law ([`Noise::variance`]).
    fn variance(&self) -> f64 {
        self.noise().variance()
    }
}

/// A number that a mechanism answers with: `i64` or `f64`.
pub trait Number: Copy + PartialOrd + sealed::Sealed {
    /// `u128` for whole numbers, otherwise `f64`.
    type Distance: Copy + PartialOrd;

    /// This number of steps of 2 to the power of `exponent`, rounded up.
    #[doc(hidden)]
    fn distance(steps: u128, exponent: i32) -> Self::Distance;

    /// How many whole steps there are in a distance; `None` if it is not a distance.
    #[doc(hidden)]
    fn steps(distance: Self::Distance, exponent: i32) -> Option<u128>;

    /// The numbers that are at most this far away. What the type cannot hold is beyond its end.
    #[doc(hidden)]
    fn around(self, distance: Self::Distance) -> RangeInclusive<Self>;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for i64 {}
    impl Sealed for f64 {}
}

impl Number for i64 {
    type Distance = u128;

    fn distance(steps: u128, _: i32) -> u128 {
        steps
    }

    fn steps(distance: u128, _: i32) -> Option<u128> {
        Some(distance)
    }

    fn around(self, distance: u128) -> RangeInclusive<Self> {
        let distance = i128::try_from(distance).unwrap_or(i128::MAX);
        let end = |end: i128| end.clamp(Self::MIN.into(), Self::MAX.into()) as Self;
        let center = i128::from(self);
        end(center.saturating_sub(distance))..=end(center.saturating_add(distance))
    }
}

impl Number for f64 {
    type Distance = Self;

    fn distance(steps: u128, exponent: i32) -> Self {
        let steps = i128::try_from(steps).unwrap_or(i128::MAX);
        let distance = of_steps(steps, exponent);
        // Exact up to 2^53; beyond, at most half a unit in the last place too little.
        if steps <= 1 << Self::MANTISSA_DIGITS {
            distance
        } else {
            distance.next_up()
        }
    }

    fn steps(distance: Self, exponent: i32) -> Option<u128> {
        // The cast rounds down and saturates.
        let steps = libm::scalbn(distance, exponent.saturating_neg());
        (steps >= 0.0).then_some(steps as u128)
    }

    fn around(self, distance: Self) -> RangeInclusive<Self> {
        // One step for rounding the answer, and one for the ends.
        (self.next_down() - distance).next_down()..=(self.next_up() + distance).next_up()
    }
}

/// States the noise of a mechanism, and what its answers are about.
macro_rules! noisy {
    (impl[$($generics:tt)*] $Mechanism:ty, $Number:ty, |$mechanism:ident| $noise:expr, $about:expr) => {
        /// The distance for which [`Noise::steps_within`](crate::noise::Noise::steps_within) is the
        /// number of steps.
        impl<$($generics)*> crate::mechanisms::Accuracy for $Mechanism {
            type Distance = <$Number as crate::mechanisms::Number>::Distance;

            fn accuracy(&self, confidence: crate::number::Confidence) -> Self::Distance {
                let noise = crate::mechanisms::Noisy::noise(self);
                let steps = noise.steps_within(confidence);
                <$Number as crate::mechanisms::Number>::distance(steps, noise.exponent())
            }

            fn about(&self) -> crate::mechanisms::About {
                #[allow(unused_variables, reason = "some say nothing of their parameters")]
                let $mechanism = self;
                $about
            }
        }

        impl<$($generics)*> crate::mechanisms::Noisy for $Mechanism {
            type Number = $Number;

            fn noise(&self) -> crate::noise::Noise {
                #[allow(unused_variables, reason = "some have noise of one step")]
                let $mechanism = self;
                $noise
            }
        }
    };
}
pub(super) use noisy;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_end_where_the_type_does() {
        assert_eq!(7_i64.around(3), 4..=10);
        assert_eq!(i64::MAX.around(1), i64::MAX - 1..=i64::MAX);
        assert_eq!(0_i64.around(u128::MAX), i64::MIN..=i64::MAX);
        let around = 0.1_f64.around(0.2);
        assert!(*around.start() < -0.1 && *around.end() > 0.3);
        assert!(*around.end() < 0.3 + 1e-15);
    }

    #[test]
    fn distances_are_rounded_up() {
        assert_eq!(<f64 as Number>::distance(5, -1), 2.5);
        // 2^53 + 1 is halfway between two floats.
        let odd = (1_u128 << 53) + 1;
        assert!(<f64 as Number>::distance(odd, 0) as u128 >= odd);
        assert_eq!(<f64 as Number>::distance(1 << 53, 0), 2_f64.powi(53));
        assert_eq!(<i64 as Number>::distance(odd, 0), odd);
        assert_eq!(<f64 as Number>::steps(2.9, -1), Some(5));
        assert_eq!(<f64 as Number>::steps(-0.1, 0), None);
        assert_eq!(<f64 as Number>::steps(f64::NAN, 0), None);
    }
}
