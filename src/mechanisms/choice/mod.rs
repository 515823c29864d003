//! Choosing: a law of choice, and a score of the candidates.

mod accuracy;
mod exponential;
mod margin;
mod noisy_max;
mod permute_and_flip;
mod quantiles;
mod score;
mod sum_scores;
mod top_k;

pub use exponential::ExponentialMechanism;
pub use margin::{NoisyMaxWithMargin, Winner};
pub use noisy_max::NoisyMax;
pub use permute_and_flip::PermuteAndFlip;
pub use quantiles::NoisyQuantiles;
#[cfg(feature = "table")]
pub(super) use quantiles::Ranked;
use score::scores;
pub use score::{CountScores, Evaluate, Score, Sensitivity, sensitivity_between};
pub use sum_scores::SumScores;
pub use top_k::TopK;

#[cfg(test)]
mod tests;

use std::marker::PhantomData;
use std::sync::Arc;

use super::least_loss::{least, least_loss};
use super::{About, Accuracy, MechanismError, Unavailable, shown};
use crate::machine::{
    Coins, Description, DomainMismatch, Fault, Mechanism, Public, Released, public,
};
use crate::number::{Confidence, Epsilon, Ratio};
use crate::privacy::{
    AddRemove, Distance, Measure, Prices, Private, PureDp, Relation, UnknownLoss,
};

/// A choice among candidates: a law of choice `L`, and a score `S`.
///
/// | law | chooses | states |
/// |---|---|---|
/// | [`NoisyMax`] | the largest score after noise | [`Pure`](crate::privacy::facts::Pure) |
/// | [`NoisyMaxWithMargin`] | the same, and says by how much it is ahead | [`Pure`](crate::privacy::facts::Pure) |
/// | [`ExponentialMechanism`] | with odds that can be written down | [`BoundedRange`](crate::privacy::facts::BoundedRange) |
/// | [`PermuteAndFlip`] | with better odds | [`Pure`](crate::privacy::facts::Pure) |
/// | [`TopK`] | the best few | [`BoundedRanges`](crate::privacy::facts::BoundedRanges) |
///
/// | score | of a candidate |
/// |---|---|
/// | [`CountScores`] | the number of records of which a condition holds |
/// | [`SumScores`] | the sum of an attribute |
/// | your own | [`Score`] and [`Evaluate`] |
///
/// ```
/// use queryables::data::Predicate;
/// use queryables::mechanisms::{Accuracy, Choice, CountScores, PermuteAndFlip};
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let votes: Arc<Vec<char>> = Arc::new("abbbbbbc".repeat(1000).chars().collect());
/// let filter = start(&Filter::concurrent(PureDp, epsilon!(1)), votes)?;
///
/// let votes_for = |name| Predicate::new(String::from(name), move |vote: &char| *vote == name);
/// let candidates = CountScores::of(['a', 'b', 'c'].map(votes_for));
/// let choice = Choice::by(AddRemove, PermuteAndFlip, candidates, epsilon!(0.5))?;
/// assert_eq!(filter.release(&choice)?, 1);
/// // 19 choices in 20 are behind the best one by at most this number of votes.
/// assert_eq!(choice.accuracy(confidence!(0.95)), 5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// That of its law, for neighbours under `R`, as far as the [`Sensitivity`] of the score is true.
/// What is chosen and nothing else is released.
#[doc(alias = "argmax")]
#[doc(alias = "selection")]
pub struct Choice<L: ChoiceLaw, S, R = AddRemove> {
    law: L,
    score: Arc<S>,
    epsilon: Epsilon,
    sampler: L::Sampler,
    relation: PhantomData<fn() -> R>,
}

/// A law of choice. It knows the scores of the candidates, and how far two of them can move apart;
/// what is scored and by which data is the [`Score`]'s.
///
/// # What an implementer owes
///
/// Where no two scores move apart by more than the sensitivity, the fact is true of what is chosen, and
/// an answer is within the distance that holds with the given confidence.
pub trait ChoiceLaw: Copy + Send + Sync {
    /// How it is called.
    const NAME: &'static str;
    /// What it draws with.
    type Sampler: Clone + Send + Sync;
    /// What it states.
    type Fact;
    /// What is chosen.
    type Answer;

    /// How often it chooses: each time with a part of the loss.
    fn times(self) -> u64 {
        1
    }

    /// Whether it can choose among n candidates; there is at least one.
    ///
    /// # Errors
    ///
    /// Why not.
    fn check(self, _candidates: usize) -> Result<(), MechanismError> {
        Ok(())
    }

    /// With what it draws, if the logarithm of odds may fall by this with each step of the score.
    ///
    /// # Errors
    ///
    /// [`MechanismError`] if it cannot.
    fn sampler(rate: Ratio) -> Result<Self::Sampler, MechanismError>;

    /// What is true with this ε; at a distance of d, with d times as much.
    fn fact(self, epsilon: Epsilon) -> Self::Fact;

    /// Whether an answer is at most this far off.
    fn is_within(
        sampler: &Self::Sampler,
        candidates: usize,
        gap: u64,
        confidence: Confidence,
    ) -> bool;

    /// How far an answer is off, at most.
    fn distance(sampler: &Self::Sampler, candidates: usize, confidence: Confidence) -> u128 {
        let is_within = |gap| Self::is_within(sampler, candidates, gap, confidence);
        least(0..=u64::MAX, is_within).into()
    }

    /// What the distance is measured from.
    fn about() -> About {
        About::all_rows()
    }

    /// Adds its own parameters, if it has any.
    fn describe(self, description: Description) -> Description {
        description
    }

    /// Chooses one or several of the candidates. The data is read when the scores are asked for.
    ///
    /// # Errors
    ///
    /// [`Fault`] if coins or an engine fail.
    fn choose(
        self,
        sampler: &Self::Sampler,
        candidates: usize,
        scores: impl FnOnce() -> Result<Vec<i64>, Unavailable>,
        coins: &mut Coins<'_>,
    ) -> Result<Self::Answer, Fault>;
}

impl<L: ChoiceLaw, S: Score<R>, R: Relation> Choice<L, S, R> {
    /// Chooses by this law among the candidates of a score.
    ///
    /// # Errors
    ///
    /// [`MechanismError::TooFew`] if there is no candidate, fewer than are to be chosen, or only one
    /// where a margin is asked for, [`MechanismError::TooMany`] if there are more than 2^21,
    /// [`MechanismError::NoLoss`] if ε is zero, [`MechanismError::BadParameter`] if the sensitivity or
    /// the number to choose is.
    pub fn by(_relation: R, law: L, score: S, epsilon: Epsilon) -> Result<Self, MechanismError> {
        score::check(&score)?;
        Self::of(law, Arc::new(score), epsilon)
    }

    /// The same with the smallest ε for which an answer is at most this far off, with at least this
    /// confidence ([`Accuracy`]). It is rounded up to six digits.
    ///
    /// ```
    /// use queryables::data::Predicate;
    /// use queryables::mechanisms::{Accuracy, Choice, CountScores, ExponentialMechanism, TopK};
    /// use queryables::prelude::*;
    ///
    /// let is = |value: u8| Predicate::<Vec<u8>>::new(value.to_string(), move |row: &u8| *row == value);
    /// let counts = || CountScores::of([1, 2, 3].map(is));
    /// let likely = confidence!(0.95);
    /// let best = Choice::by_within(AddRemove, ExponentialMechanism, counts(), 20, likely)?;
    /// assert!(best.accuracy(likely) <= 20);
    /// let two = Choice::by_within(AddRemove, TopK(2), counts(), 20, likely)?;
    /// assert!(two.accuracy(likely) <= 20);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`MechanismError::TooAccurate`] if no ε up to 10^6 suffices, and those of [`by`](Self::by).
    pub fn by_within(
        _relation: R,
        law: L,
        score: S,
        within: u128,
        confidence: Confidence,
    ) -> Result<Self, MechanismError> {
        score::check(&score)?;
        let score = Arc::new(score);
        let make = |epsilon| Self::of(law, Arc::clone(&score), epsilon);
        least_loss(make, |made: &Self| {
            // No gap is wider than a `u64`.
            u64::try_from(within).map_or(true, |gap| {
                L::is_within(&made.sampler, score.candidates(), gap, confidence)
            })
        })
    }

    fn of(law: L, score: Arc<S>, epsilon: Epsilon) -> Result<Self, MechanismError> {
        law.check(score.candidates())?;
        let rate = score.sensitivity().rate(epsilon, law.times())?;
        Ok(Self {
            law,
            sampler: L::sampler(rate)?,
            score,
            epsilon,
            relation: PhantomData,
        })
    }

    fn description(&self) -> Description {
        let named = Description::new(L::NAME).with("relation", R::NAME);
        let described = self.law.describe(named);
        described
            .with_inner("candidates", self.score.description())
            .with("epsilon", self.epsilon)
    }
}

impl<D, L, S, R> Mechanism<D> for Choice<L, S, R>
where
    D: ?Sized,
    L: ChoiceLaw,
    S: Score<R> + Evaluate<D>,
    R: Relation,
{
    type Machine = Released<L::Answer>;

    fn start(&self, data: &Arc<D>, coins: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        let Self {
            law,
            score,
            sampler,
            ..
        } = self;
        score.check(public(&**data))?;
        let scores = || scores(&**score, &**data);
        let chosen = law.choose(sampler, score.candidates(), scores, coins);
        chosen.map(Released)
    }

    fn check(&self, data: Public<'_, D>) -> Result<(), DomainMismatch> {
        self.score.check(data)
    }

    fn describe(&self) -> Description {
        self.description()
    }
}

impl<Me, L, S, R> Private<Me, R> for Choice<L, S, R>
where
    Me: Measure + Prices<L::Fact>,
    L: ChoiceLaw,
    R: Relation,
{
    fn loss(&self, measure: &Me) -> Result<Me::Loss, UnknownLoss> {
        measure.price(&self.law.fact(self.epsilon))
    }

    fn loss_at(&self, measure: &Me, distance: Distance) -> Result<Me::Loss, UnknownLoss> {
        let epsilon = PureDp.group(&self.epsilon, distance)?;
        measure.price(&self.law.fact(epsilon))
    }
}

/// How far the score of what is chosen is behind the best that could have been, at most. For a
/// [margin](NoisyMaxWithMargin), how far it is from the lead.
impl<L: ChoiceLaw, S: Score<R>, R: Relation> Accuracy for Choice<L, S, R> {
    type Distance = u128;

    fn accuracy(&self, confidence: Confidence) -> u128 {
        L::distance(&self.sampler, self.score.candidates(), confidence)
    }

    fn about(&self) -> About {
        L::about()
    }
}

crate::clone_fields!([L: ChoiceLaw, S, R] Choice<L, S, R> { law, score, epsilon, sampler, relation });
shown!(impl[L: ChoiceLaw, S: Score<R>, R: Relation] Choice<L, S, R>);
