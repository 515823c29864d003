//! The number of rows of each kind, where the kinds are not known in advance.

mod individual;

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::num::NonZeroU64;
use std::ops::RangeInclusive;
use std::sync::Arc;

use super::least_loss::{least, least_loss};
use super::statistic::clamped;
use super::{
    About, Accuracy, AddedNoise, Change, CountsBy, Estimates, GaussianNoise, LaplaceNoise,
    MechanismError, RowRelation, Source, Statistic, Unavailable, shown,
};
use crate::data::{Attribute, Dataset, GroupKey, Groups, RowKey};
use crate::machine::{
    Coins, Description, DomainMismatch, Fault, Mechanism, Public, Released, public,
};
use crate::noise::Noise;
use crate::number::{Confidence, Delta, Quantity, Unit, units};
#[cfg(doc)]
use crate::privacy::facts::Laplace;
use crate::privacy::facts::{Gaussian, Thresholded};
use crate::privacy::{AddRemove, EpsilonDelta, Prices, Private, Relation, RhoDelta, UnknownLoss};

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
/// A key with a count of c is left out with probability [`left_out(c)`](KeyHistogram::left_out). What is
/// released of it has the noise of a [`Count`](super::Count), given that it is not below
/// the threshold: for counts near the threshold that is more than the count on average. What
/// [`Accuracy`] and [`estimate`](Estimates::estimate) say is about all coins, not about those with which a
/// key is released: that a key is released *and* its number is far from its count is no more likely
/// than that noise is that large.
///
/// Asked of an [`IndividualFilter`](crate::compose::IndividualFilter), it costs (ε, δ) those who have a
/// key and can pay, and nothing the others.
///
/// One draw is made for each key, after the data was read. If the operating system has no randomness
/// to give, whether the launch fails says that there is a key.
#[doc(alias = "partition selection")]
#[doc(alias = "unknown domain")]
pub type ThresholdHistogram<D, K, R = AddRemove> =
    KeyHistogram<Attribute<D, RowKey<K>>, LaplaceNoise, R>;

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
/// let histogram = RestatedAt::new(ApproxZCdp, delta!(5e-7), histogram);
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
pub type GaussianThresholdHistogram<D, K, R = AddRemove> =
    KeyHistogram<Attribute<D, RowKey<K>>, GaussianNoise, R>;

/// The number of rows with each key that occurs in the data, with noise, if that is a threshold or
/// more: a [`ThresholdHistogram`] or a [`GaussianThresholdHistogram`], which have the examples.
pub struct KeyHistogram<A, N, R = AddRemove> {
    keys: A,
    threshold: u64,
    noise: N,
    /// The probability that a key of one row is released.
    delta: Delta,
    relation: PhantomData<fn() -> R>,
}

/// Where the keys of a [`KeyHistogram`] come from, and how they are answered.
pub trait KeySource: Source {
    /// A key.
    type Key;
    /// Keys with their noisy counts.
    type Answer: FromIterator<(Self::Key, i64)>;
}

/// The key of a row, or none.
impl<D: ?Sized, K: Ord + Clone + Send + Sync + 'static> KeySource for Attribute<D, RowKey<K>> {
    type Key = K;
    type Answer = BTreeMap<K, i64>;
}

impl<D, K> CountsBy<D, K> for Attribute<D, RowKey<K>>
where
    D: Dataset + ?Sized,
    K: Ord + Clone + Send + Sync + 'static,
{
    fn counts(&self, data: &D) -> Result<Vec<(K, u64)>, Unavailable> {
        let mut groups = Groups::new();
        self.fold(data, &mut groups);
        Ok(groups.into_counts().into_iter().collect())
    }
}

/// Noise of a [`KeyHistogram`]. It has no public name, because [`Thresholded`] is proved for each of them.
pub trait KeyNoise: AddedNoise<Law: Copy + Into<Noise>> {
    /// That of the loss: ε or ρ.
    type Unit: Unit;
    /// The loss with a δ.
    type Pair;
    /// How the histogram is called.
    const NAME: &'static str;

    /// Its two parts.
    fn parts(pair: Self::Pair) -> (Quantity<Self::Unit>, Delta);
    /// What the noise is made for.
    fn loss(loss: Quantity<Self::Unit>) -> Self::Loss;
}

impl KeyNoise for LaplaceNoise {
    type Unit = units::Epsilon;
    type Pair = EpsilonDelta;

    const NAME: &'static str = "ThresholdHistogram";

    fn parts(pair: EpsilonDelta) -> (Quantity<units::Epsilon>, Delta) {
        (pair.epsilon, pair.delta)
    }

    fn loss(epsilon: Quantity<units::Epsilon>) -> Self::Loss {
        epsilon
    }
}

impl KeyNoise for GaussianNoise {
    type Unit = units::Rho;
    type Pair = RhoDelta;

    const NAME: &'static str = "GaussianThresholdHistogram";

    fn parts(pair: RhoDelta) -> (Quantity<units::Rho>, Delta) {
        (pair.rho, pair.delta)
    }

    fn loss(rho: Quantity<units::Rho>) -> Self::Loss {
        Gaussian::Rho(rho)
    }
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
    if delta_of(noise, LARGEST_THRESHOLD)? > delta {
        return Err(MechanismError::TooSmall);
    }
    Ok(least(LEAST_THRESHOLD..=LARGEST_THRESHOLD, |threshold| {
        delta_of(noise, threshold).is_ok_and(|least| least <= delta)
    }))
}

/// How near the numbers of a [`ThresholdHistogram`] are to the counts, and which keys it finds. Each of
/// the two holds with the confidence, for one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ThresholdAccuracy {
    /// A number that is released is at most this far from the count of the key.
    pub count: u128,
    /// A key with at least this number of rows is not left out.
    pub found: u64,
}

/// Draws a coin before the data is read: whether there are coins must not depend on whether there is a
/// key, which has noise.
fn ready(coins: &mut Coins<'_>) -> Result<(), Fault> {
    coins.uniform(NonZeroU64::MIN)?;
    Ok(())
}

/// The noise for counts of which one changes by one, or two where a row is replaced.
fn made<N: KeyNoise, R: RowRelation>(loss: Quantity<N::Unit>) -> Result<N, MechanismError> {
    N::new(N::loss(loss), &Change::of_counts::<R>())
}

fn law<N: KeyNoise>(noise: &N) -> Noise {
    (*noise.law()).into()
}

impl<D, K, N, R> KeyHistogram<Attribute<D, RowKey<K>>, N, R>
where
    D: Dataset + ?Sized,
    K: Ord + Clone + Send + Sync + 'static,
    N: KeyNoise,
    R: RowRelation,
{
    /// Counts rows by key, with the least threshold for which δ is at most that of `loss`, an
    /// (ε, δ) or a (ρ, δ). The loss that is stated has the δ of this threshold, which may be less.
    ///
    /// # Errors
    ///
    /// [`MechanismError::NoLoss`] if ε, ρ or δ is zero, [`MechanismError::TooSmall`] if no `i64`
    /// is large enough for them, and those of a [`Count`](super::Count) with this noise.
    pub fn new<P: GroupKey<Key = K>>(
        relation: R,
        name: impl Into<Arc<str>>,
        key: impl Fn(D::Record<'_>) -> P + Send + Sync + 'static,
        loss: N::Pair,
    ) -> Result<Self, MechanismError> {
        Self::of(relation, key_of(name, key), loss)
    }

    /// Counts rows by key, with this threshold and an ε or a ρ. [`delta`](Self::delta) says what it
    /// costs.
    ///
    /// # Errors
    ///
    /// [`MechanismError::NoLoss`] if ε or ρ is zero, [`MechanismError::BadParameter`] if the threshold
    /// is less than 2 or more than an `i64` holds, and those of a [`Count`](super::Count) with this
    /// noise.
    pub fn with_threshold<P: GroupKey<Key = K>>(
        _relation: R,
        name: impl Into<Arc<str>>,
        key: impl Fn(D::Record<'_>) -> P + Send + Sync + 'static,
        threshold: u64,
        loss: Quantity<N::Unit>,
    ) -> Result<Self, MechanismError> {
        Self::above(key_of(name, key), threshold, made::<N, R>(loss)?)
    }

    /// The same with the smallest ε or ρ for which a number that is released is at most `within` away
    /// from the count, with at least this confidence ([`Accuracy`]). It is rounded up to six digits.
    /// The threshold is the least one for this loss and δ.
    ///
    /// ```
    /// use queryables::mechanisms::{Accuracy, ThresholdHistogram};
    /// use queryables::prelude::*;
    ///
    /// let word = |word: &String| word.clone();
    /// let (likely, delta) = (confidence!(0.95), delta!(1e-6));
    /// let histogram =
    ///     ThresholdHistogram::<Vec<String>, _>::with_accuracy(AddRemove, "word", word, 30, likely, delta)?;
    /// let accuracy = histogram.accuracy(likely);
    /// assert_eq!(accuracy.count, 30);
    /// // A word that occurs that often is found.
    /// assert_eq!((histogram.threshold(), accuracy.found), (136, 159));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`MechanismError::TooAccurate`] if no loss up to 10^6 suffices, and those of [`new`](Self::new).
    pub fn with_accuracy<P: GroupKey<Key = K>>(
        _relation: R,
        name: impl Into<Arc<str>>,
        key: impl Fn(D::Record<'_>) -> P + Send + Sync + 'static,
        within: u128,
        confidence: Confidence,
        delta: Delta,
    ) -> Result<Self, MechanismError> {
        let is_enough = |noise: &N| law(noise).is_within(within, confidence);
        let noise = least_loss(made::<N, R>, is_enough)?;
        let threshold = least_threshold(law(&noise), delta)?;
        Self::above(key_of(name, key), threshold, noise)
    }
}

fn key_of<D: Dataset + ?Sized, P: GroupKey>(
    name: impl Into<Arc<str>>,
    key: impl Fn(D::Record<'_>) -> P + Send + Sync + 'static,
) -> Attribute<D, RowKey<P::Key>> {
    Attribute::new(name, move |row: D::Record<'_>| RowKey(key(row).key()))
}

impl<A: KeySource, N: KeyNoise, R: RowRelation> KeyHistogram<A, N, R> {
    /// As [`new`](KeyHistogram::new), with keys from elsewhere: from a table, for instance.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn of(_relation: R, keys: A, loss: N::Pair) -> Result<Self, MechanismError> {
        let (loss, delta) = N::parts(loss);
        let noise = made::<N, R>(loss)?;
        let threshold = least_threshold(law(&noise), delta)?;
        Self::above(keys, threshold, noise)
    }

    fn above(keys: A, threshold: u64, noise: N) -> Result<Self, MechanismError> {
        Ok(Self {
            delta: delta_of(law(&noise), threshold)?,
            keys,
            threshold,
            noise,
            relation: PhantomData,
        })
    }
}

impl<A: KeySource, N: KeyNoise, R: Relation> KeyHistogram<A, N, R> {
    /// Noisy counts below this are not released.
    #[must_use]
    pub fn threshold(&self) -> u64 {
        self.threshold
    }

    /// The probability that a key with a single row is released, rounded up.
    #[must_use]
    pub fn delta(&self) -> Delta {
        self.delta
    }

    /// The probability that a key with this count is not released, rounded up: how many rows it takes
    /// to be seen.
    #[must_use]
    pub fn left_out(&self, count: u64) -> Delta {
        if count == 0 {
            // Only keys that occur are compared with the threshold.
            return Delta::ONE;
        }
        match count.checked_sub(self.threshold) {
            // Noise is symmetric: less than the threshold is as likely as this far above.
            Some(above) => self.noise().at_least(u128::from(above) + 1),
            None => self.noise().less_than((self.threshold - count).into()),
        }
    }

    /// The noise on each count, before it is compared with the threshold.
    #[must_use]
    pub fn noise(&self) -> Noise {
        law(&self.noise)
    }

    fn fact(&self) -> Thresholded<N::Fact> {
        Thresholded {
            noise: self.noise.fact(),
            delta: self.delta,
        }
    }

    /// Keys are gone through in their own order, so that draws do not depend on that of the rows.
    fn those_above(
        &self,
        counts: impl IntoIterator<Item = (A::Key, u64)>,
        coins: &mut Coins<'_>,
    ) -> Result<A::Answer, Fault> {
        let mut released = Vec::new();
        for (key, count) in counts {
            let noisy = i128::from(count).saturating_add(coins.draw(self.noise.law())?);
            if noisy >= self.threshold.into() {
                released.push((key, clamped(noisy)));
            }
        }
        Ok(released.into_iter().collect())
    }

    fn description(&self) -> Description {
        let description = Description::new(N::NAME).with("relation", R::NAME);
        let description = self.keys.describe("key", description);
        let description = description.with("threshold", self.threshold);
        self.noise.describe(description).with("delta", self.delta)
    }
}

/// A number that was released, with an interval for the count of its key.
///
/// That a key is released with an interval that misses its count has at most the probability that is
/// left.
impl<A: KeySource, N: KeyNoise, R: Relation> Estimates for KeyHistogram<A, N, R> {
    type Answer = i64;
    type Number = i64;

    fn interval(&self, answer: i64, confidence: Confidence) -> (i64, RangeInclusive<i64>) {
        answer.interval((), self.noise(), confidence)
    }
}

impl<A: KeySource, N: KeyNoise, R: Relation> Accuracy for KeyHistogram<A, N, R> {
    type Distance = ThresholdAccuracy;

    fn accuracy(&self, confidence: Confidence) -> ThresholdAccuracy {
        ThresholdAccuracy {
            count: self.noise().steps_within(confidence),
            // What is left out falls with the number of rows.
            found: least(0..=u64::MAX, |count| {
                self.left_out(count) <= confidence.failure()
            }),
        }
    }

    fn about(&self) -> About {
        About::all_rows()
    }
}

impl<D, A, N, R> Mechanism<D> for KeyHistogram<A, N, R>
where
    D: ?Sized,
    A: KeySource + CountsBy<D, A::Key>,
    N: KeyNoise,
    R: Relation,
{
    type Machine = Released<A::Answer>;

    fn start(&self, data: &Arc<D>, coins: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        self.keys.check(public(&**data))?;
        ready(coins)?;
        let counts = self.keys.counts(data)?;
        Ok(Released(self.those_above(counts, coins)?))
    }

    fn check(&self, data: Public<'_, D>) -> Result<(), DomainMismatch> {
        self.keys.check(data)
    }

    fn describe(&self) -> Description {
        self.description()
    }
}

/// For more than one row it is what group privacy implies.
impl<A, N, R, Me> Private<Me, R> for KeyHistogram<A, N, R>
where
    A: KeySource,
    N: KeyNoise,
    R: RowRelation,
    Me: Prices<Thresholded<N::Fact>>,
{
    fn loss(&self, measure: &Me) -> Result<Me::Loss, UnknownLoss> {
        measure.price(&self.fact())
    }
}

shown!(impl[A: KeySource, N: KeyNoise, R: Relation] KeyHistogram<A, N, R>);

crate::clone_fields!(
    [A: Clone, N: Clone, R] KeyHistogram<A, N, R> { keys, threshold, noise, delta, relation }
);

#[cfg(test)]
mod tests;
