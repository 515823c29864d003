//! The number of rows of each kind, where the kinds are not known in advance.

mod individual;

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::num::NonZeroU64;
use std::ops::RangeInclusive;
use std::sync::Arc;

use super::statistic::clamped;
use super::{
    About, Accuracy, AddedNoise, Estimates, GaussianNoise, MechanismError, RowRelation, Statistic,
    apart, over, shown,
};
use crate::data::{Attribute, Dataset, GroupKey, Grouped, Groups};
use crate::machine::{Coins, Description, Fault, Mechanism, Released};
use crate::noise::{DiscreteLaplace, Noise};
use crate::number::{Confidence, Delta, Epsilon, Ratio, Rho};
use crate::privacy::facts::{Gaussian, Laplace, Thresholded};
use crate::privacy::{AddRemove, EpsilonDelta, Prices, Private, Relation, RhoDelta, UnknownLoss};

pub use accuracy::ThresholdAccuracy;
use accuracy::{found, left_out};

mod accuracy;

/// The number of rows with each key that occurs in the data, with discrete Laplace noise, if that is
/// a threshold or more.
///
/// Use it where the keys themselves are private: words, addresses, names of diseases. Where there is
/// a public list of keys, [`Histogram`](super::Histogram) needs no δ and leaves none out.
///
/// ```
/// use queryables::mechanisms::ThresholdHistogram;
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let text = "the cat and the dog and the hat".repeat(100);
/// let words: Arc<Vec<String>> = Arc::new(text.split(' ').map(String::from).collect());
/// let filter = start(&Filter::concurrent(ApproxDp, EpsilonDelta::new("1", "1e-6")?), words)?;
///
/// let word = |word: &String| word.clone();
/// let loss = EpsilonDelta::new("1", "1e-6")?;
/// let histogram = ThresholdHistogram::new(AddRemove, "word", word, loss)?;
/// assert_eq!(histogram.threshold(), 15);
/// let counts = filter.release(&histogram)?;
/// assert!((counts["cat"] - 100).abs() < 40);
/// // It occurs once, at the end.
/// assert_eq!(counts.get("hat"), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// (ε, δ)-DP for neighbours under `R`, and both are tight. The noise has a scale of 1/ε, or 2/ε where
/// rows are replaced, and δ is *exactly* the probability that a key with a single row is released:
/// for a threshold of T, that of noise Z ≥ T − 1, the case of equality included, which is
/// q^(T−1)/(1 + q) with q = e^(−1/scale); it is rounded up. Such a key is the only way in which one
/// of two neighbours can release what the other never does. It states [`Thresholded`]
/// [`Laplace`] noise; the proof is there. For replaced rows δ is the same and not twice as much,
/// because each side has at most one such key.
///
/// A key is a number, a text, or a few of them ([`GroupKey`]). Keys come in their own order, which
/// says nothing about the order of the rows. A row whose key is `None`, or on which computing it
/// panics, has none. Answers that an `i64` cannot hold are clamped
/// after the comparison, which is postprocessing.
///
/// A key with a count of c is left out with probability [`left_out(c)`](Self::left_out). What is
/// released of it has the noise of a [`Count`](super::Count), given that it is not below
/// the threshold: for counts near the threshold that is more than the count on average. What
/// [`Accuracy`] and [`estimate`](Self::estimate) say is about all coins, not about those with which a
/// key is released: that a key is released *and* its number is far from its count is no more likely
/// than that noise is that large.
///
/// Asked of an [`IndividualFilter`](crate::compose::IndividualFilter), it costs (ε, δ) those who have a
/// key and can pay, and nothing the others.
///
/// One draw is made for each key, after the data was read. If the operating system has no randomness
/// to give, whether the launch fails says that there is a key.
pub struct ThresholdHistogram<D: ?Sized, P: GroupKey, R = AddRemove> {
    groups: Above<D, P>,
    fact: Thresholded<Laplace>,
    noise: DiscreteLaplace,
    relation: PhantomData<fn() -> R>,
}

/// The number of rows with each key that occurs in the data, with rounded Gaussian noise, if that is
/// a threshold or more.
///
/// Use it like [`ThresholdHistogram`], where losses are accounted as approximate zCDP or Rényi
/// privacy. For (ε, δ) choose a slack on top of its own δ
/// ([`RestatedAt`](crate::privacy::RestatedAt)).
///
/// ```
/// use queryables::mechanisms::GaussianThresholdHistogram;
/// use queryables::prelude::*;
/// use queryables::privacy::{RestatedAt, ApproxZCdp, RhoDelta};
/// use std::sync::Arc;
///
/// let towns: Arc<Vec<&str>> = Arc::new(["Aleppo", "Bergen", "Bergen"].repeat(100));
/// let filter = start(&Filter::concurrent(ApproxDp, EpsilonDelta::new("2", "1e-6")?), towns)?;
///
/// let loss = RhoDelta::new("0.05", "5e-7")?;
/// let town = |town: &&'static str| *town;
/// let histogram = GaussianThresholdHistogram::new(AddRemove, "town", town, loss)?;
/// // 4.9 times a deviation of √10, and 3/2.
/// assert_eq!(histogram.threshold(), 17);
/// let histogram = RestatedAt::new(ApproxZCdp, "5e-7".parse()?, histogram);
/// let counts = filter.release(&histogram)?;
/// assert!((counts["Bergen"] - 200).abs() < 30);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// (ρ, δ) for neighbours under `R`, as δ-approximate ρ-zCDP: it states [`Thresholded`] [`Gaussian`]
/// noise, of variance 1/(2ρ), or 1/ρ where rows are replaced. With σ² the variance, δ is exactly the
/// probability that a key with a single row is released: Φ(−(T − 3/2)/σ) for a threshold of T, since
/// noise is rounded to the nearest whole number; it is rounded up.
///
/// All else is as for [`ThresholdHistogram`].
pub struct GaussianThresholdHistogram<D: ?Sized, P: GroupKey, R = AddRemove> {
    groups: Above<D, P>,
    delta: Delta,
    gaussian: GaussianNoise,
    relation: PhantomData<fn() -> R>,
}

/// The keys of rows, and the threshold.
struct Above<D: ?Sized, P: GroupKey> {
    key: Attribute<D, Grouped<P::Key>>,
    threshold: u64,
}

/// With less, a key of one row is more likely to be released than not.
const LEAST_THRESHOLD: u64 = 2;
const LARGEST_THRESHOLD: u64 = i64::MAX as u64;

/// The probability that a key of one row is released.
fn delta_of(noise: Noise, threshold: u64) -> Result<Delta, MechanismError> {
    if !(LEAST_THRESHOLD..=LARGEST_THRESHOLD).contains(&threshold) {
        let must = "from 2 to 2^63 - 1";
        return Err(MechanismError::parameter(
            "the threshold of keys",
            threshold,
            must,
        ));
    }
    Ok(noise.at_least(u128::from(threshold) - 1))
}

/// The least threshold with at most this δ.
fn least_threshold(noise: Noise, delta: Delta) -> Result<u64, MechanismError> {
    if delta == Delta::ZERO {
        return Err(MechanismError::NoLoss("delta"));
    }
    // It is in low..=high; the probability falls as the threshold rises.
    let (mut low, mut high) = (LEAST_THRESHOLD, LARGEST_THRESHOLD);
    if delta_of(noise, high)? > delta {
        return Err(MechanismError::TooSmall);
    }
    while low < high {
        let middle = low + (high - low) / 2;
        if delta_of(noise, middle)? <= delta {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Ok(low)
}

impl<D: Dataset + ?Sized, P: GroupKey, R: RowRelation> ThresholdHistogram<D, P, R> {
    /// Counts rows by key, with the least threshold for which δ is at most that of `loss`. The loss
    /// that is stated has the δ of this threshold, which may be less.
    ///
    /// # Errors
    ///
    /// [`MechanismError::NoLoss`] if ε or δ is zero, [`MechanismError::TooSmall`] if no `i64`
    /// is large enough for them.
    pub fn new(
        relation: R,
        name: impl Into<Arc<str>>,
        key: impl Fn(D::Record<'_>) -> P + Send + Sync + 'static,
        loss: EpsilonDelta,
    ) -> Result<Self, MechanismError> {
        let noise = laplace::<R>(loss.epsilon)?;
        let threshold = least_threshold(noise.into(), loss.delta)?;
        Self::with_threshold(relation, name, key, threshold, loss.epsilon)
    }

    /// Counts rows by key, with this threshold. [`delta`](Self::delta) says what it costs.
    ///
    /// # Errors
    ///
    /// [`MechanismError::NoLoss`] if ε is zero, [`MechanismError::BadParameter`] if the threshold
    /// is less than 2 or more than an `i64` holds.
    pub fn with_threshold(
        _relation: R,
        name: impl Into<Arc<str>>,
        key: impl Fn(D::Record<'_>) -> P + Send + Sync + 'static,
        threshold: u64,
        epsilon: Epsilon,
    ) -> Result<Self, MechanismError> {
        let noise = laplace::<R>(epsilon)?;
        let answers = NonZeroU64::new(apart::<R>()).unwrap_or(NonZeroU64::MIN);
        let counts = Laplace {
            answers,
            ..Laplace::of_count(epsilon)
        };
        Ok(Self {
            fact: Thresholded {
                noise: counts,
                delta: delta_of(noise.into(), threshold)?,
            },
            groups: Above::new(name, key, threshold),
            noise,
            relation: PhantomData,
        })
    }
}

fn laplace<R: RowRelation>(epsilon: Epsilon) -> Result<DiscreteLaplace, MechanismError> {
    let scale = over(Ratio::from(apart::<R>()), epsilon)?;
    Ok(DiscreteLaplace::new(scale)?)
}

impl<D: Dataset + ?Sized, P: GroupKey, R: RowRelation> GaussianThresholdHistogram<D, P, R> {
    /// Counts rows by key, with the least threshold for which δ is at most that of `loss`. The loss
    /// that is stated has the δ of this threshold, which may be less.
    ///
    /// # Errors
    ///
    /// [`MechanismError::NoLoss`] if ρ or δ is zero, [`MechanismError::TooSmall`] if no `i64`
    /// is large enough for them, and those of a [`Count`](super::Count) with this noise.
    pub fn new(
        relation: R,
        name: impl Into<Arc<str>>,
        key: impl Fn(D::Record<'_>) -> P + Send + Sync + 'static,
        loss: RhoDelta,
    ) -> Result<Self, MechanismError> {
        let gaussian = GaussianNoise::for_square(Gaussian::Rho(loss.rho), apart::<R>().into())?;
        let threshold = least_threshold((*gaussian.law()).into(), loss.delta)?;
        Self::with_threshold(relation, name, key, threshold, loss.rho)
    }

    /// Counts rows by key, with this threshold. [`delta`](Self::delta) says what it costs.
    ///
    /// # Errors
    ///
    /// [`MechanismError::NoLoss`] if ρ is zero, [`MechanismError::BadParameter`] if the threshold
    /// is less than 2 or more than an `i64` holds, and those of
    /// a [`Count`](super::Count) with this noise.
    pub fn with_threshold(
        _relation: R,
        name: impl Into<Arc<str>>,
        key: impl Fn(D::Record<'_>) -> P + Send + Sync + 'static,
        threshold: u64,
        rho: Rho,
    ) -> Result<Self, MechanismError> {
        let gaussian = GaussianNoise::for_square(Gaussian::Rho(rho), apart::<R>().into())?;
        Ok(Self {
            delta: delta_of((*gaussian.law()).into(), threshold)?,
            groups: Above::new(name, key, threshold),
            gaussian,
            relation: PhantomData,
        })
    }
}

impl<D: Dataset + ?Sized, P: GroupKey> Above<D, P> {
    fn new(
        name: impl Into<Arc<str>>,
        key: impl Fn(D::Record<'_>) -> P + Send + Sync + 'static,
        threshold: u64,
    ) -> Self {
        Self {
            key: Attribute::new(name, move |row: D::Record<'_>| Grouped(key(row).key())),
            threshold,
        }
    }

    fn release(
        &self,
        data: &D,
        noise: impl FnMut() -> Result<i128, Fault>,
    ) -> Result<BTreeMap<P::Key, i64>, Fault> {
        let mut groups = Groups::new();
        self.key.fold(data, &mut groups);
        self.those_above(groups.into_counts(), noise)
    }
}

impl<D: ?Sized, P: GroupKey> Above<D, P> {
    /// Keys are gone through in their own order, so that draws do not depend on that of the rows.
    fn those_above(
        &self,
        counts: BTreeMap<P::Key, u64>,
        mut noise: impl FnMut() -> Result<i128, Fault>,
    ) -> Result<BTreeMap<P::Key, i64>, Fault> {
        let mut released = BTreeMap::new();
        for (key, count) in counts {
            let noise = noise()?;
            if i128::from(count).saturating_add(noise) >= self.threshold.into() {
                released.insert(key, clamped(i128::from(count).saturating_add(noise)));
            }
        }
        Ok(released)
    }

    fn describe<R: Relation>(&self, name: &'static str) -> Description {
        Description::new(name)
            .with("relation", R::NAME)
            .with("key", self.key.name())
            .with("threshold", self.threshold)
    }
}

/// The shared implementation of the two.
macro_rules! threshold_histogram {
    ($Histogram:ident: $Fact:ty, |$histogram:ident| $noise:expr, $fact:expr) => {
        impl<D: ?Sized, P: GroupKey, R: Relation> $Histogram<D, P, R> {
            /// Noisy counts below this are not released.
            #[must_use]
            pub fn threshold(&self) -> u64 {
                self.groups.threshold
            }

            /// The probability that a key with a single row is released, rounded up.
            #[must_use]
            pub fn delta(&self) -> Delta {
                let $histogram = self;
                $fact.delta
            }

            /// The probability that a key with this count is not released, rounded up: how many rows
            /// it takes to be seen.
            #[must_use]
            pub fn left_out(&self, count: u64) -> Delta {
                left_out(self.noise(), self.groups.threshold, count)
            }

            /// The noise on each count, before it is compared with the threshold.
            #[must_use]
            pub fn noise(&self) -> Noise {
                let $histogram = self;
                $noise.into()
            }
        }

        /// A number that was released, with an interval for the count of its key.
        ///
        /// That a key is released with an interval that misses its count has at most the probability
        /// that is left.
        impl<D: ?Sized, P: GroupKey, R: Relation> Estimates for $Histogram<D, P, R> {
            type Answer = i64;
            type Number = i64;

            fn interval(&self, answer: i64, confidence: Confidence) -> (i64, RangeInclusive<i64>) {
                answer.interval((), self.noise(), confidence)
            }
        }

        impl<D: ?Sized, P: GroupKey, R: Relation> Accuracy for $Histogram<D, P, R> {
            type Distance = ThresholdAccuracy;

            fn accuracy(&self, confidence: Confidence) -> ThresholdAccuracy {
                ThresholdAccuracy {
                    count: self.noise().steps_within(confidence),
                    found: found(self.noise(), self.groups.threshold, confidence),
                }
            }

            fn about(&self) -> About {
                About::all_rows()
            }
        }

        impl<D: Dataset + ?Sized, P: GroupKey, R: Relation> Mechanism<D> for $Histogram<D, P, R> {
            type Machine = Released<BTreeMap<P::Key, i64>>;

            fn start(&self, data: &Arc<D>, coins: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
                let $histogram = self;
                let draw = || Ok(coins.draw(&$noise)?);
                Ok(Released(self.groups.release(data, draw)?))
            }

            fn describe(&self) -> Description {
                self.description()
            }
        }

        /// For more than one row it is what group privacy implies.
        impl<D: ?Sized, P: GroupKey, R: RowRelation, Me> Private<Me, R> for $Histogram<D, P, R>
        where
            Me: Prices<$Fact>,
        {
            fn loss(&self, measure: &Me) -> Result<Me::Loss, UnknownLoss> {
                let $histogram = self;
                measure.price(&$fact)
            }
        }

        shown!(impl[D: ?Sized, P: GroupKey, R: Relation] $Histogram<D, P, R>);

        impl<D: ?Sized, P: GroupKey, R> Clone for $Histogram<D, P, R> {
            fn clone(&self) -> Self {
                Self {
                    groups: self.groups.clone(),
                    ..*self
                }
            }
        }
    };
}

threshold_histogram!(
    ThresholdHistogram: Thresholded<Laplace>,
    |histogram| histogram.noise, histogram.fact
);
threshold_histogram!(
    GaussianThresholdHistogram: Thresholded<Gaussian>,
    |histogram| *histogram.gaussian.law(),
    Thresholded {
        noise: histogram.gaussian.fact(),
        delta: histogram.delta,
    }
);

impl<D: ?Sized, P: GroupKey, R: Relation> ThresholdHistogram<D, P, R> {
    fn description(&self) -> Description {
        let description = self.groups.describe::<R>("ThresholdHistogram");
        description
            .with("epsilon", self.fact.noise.epsilon)
            .with("delta", self.fact.delta)
    }
}

impl<D: ?Sized, P: GroupKey, R: Relation> GaussianThresholdHistogram<D, P, R> {
    fn description(&self) -> Description {
        let description = self.groups.describe::<R>("GaussianThresholdHistogram");
        let description = self.gaussian.describe(description);
        description.with("delta", self.delta)
    }
}

impl<D: ?Sized, P: GroupKey> Clone for Above<D, P> {
    fn clone(&self) -> Self {
        Self {
            key: self.key.clone(),
            threshold: self.threshold,
        }
    }
}

#[cfg(test)]
mod tests;
