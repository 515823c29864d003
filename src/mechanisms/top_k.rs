//! The best few of many candidates.

use std::marker::PhantomData;
use std::num::NonZeroU64;
use std::sync::Arc;

use super::score::CountScores;
use super::score::{gaps, shared};
use super::{MechanismError, RowRelation, Score, shown, states};
use crate::data::{Dataset, Predicate};
use crate::machine::{Coins, Description, Fault, Mechanism, Released};
use crate::noise::ExponentialChoice;
use crate::number::{Epsilon, Ratio};
use crate::privacy::facts::BoundedRanges;
use crate::privacy::{AddRemove, Relation};

/// The indices of k candidates with large counts or [`Score`]s, the best first: the exponential
/// mechanism, k times, each time without those already chosen.
///
/// The same law has what is known as one-shot top-k: add Gumbel noise to all scores once, and take
/// the k largest (Durfee and Rogers 2019, Lemma 4.2). Here the odds are exact.
///
/// ```
/// use queryables::data::Predicate;
/// use queryables::mechanisms::TopK;
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let words: Arc<Vec<char>> = Arc::new("abbbbbbccc".repeat(1000).chars().collect());
/// let filter = start(&Filter::concurrent(ZCdp, "0.1".parse()?), words)?;
///
/// let is = |letter| Predicate::new(String::from(letter), move |word: &char| *word == letter);
/// let top = TopK::new(AddRemove, 2, ('a'..='z').map(is), "0.5".parse()?)?;
/// assert_eq!(filter.release(&top)?, [1, 2]);
/// // 2·(0.25)²/8.
/// assert_eq!(filter.privacy_loss(), "0.015625".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// ε-DP for neighbours under `R`. Each choice is an exponential mechanism with ε/k among the
/// candidates that are left, given those before: it states [`BoundedRanges`], k of length ε/k, which
/// add up under every measure. As zCDP that is ε²/(8k).
///
/// With n candidates, each chosen score is behind the largest of those that were left by more than
/// k·a/ε·(ln n + t) with probability at most e^(−t), where a is how far two scores move apart
/// ([`Sensitivity`](super::Sensitivity)).
///
/// Its running time depends on the scores, and not only on what is released.
pub struct TopK<D: ?Sized, R = AddRemove, S = CountScores<D>> {
    pub(super) score: Arc<S>,
    fact: BoundedRanges,
    pub(super) rate: Ratio,
    relation: PhantomData<fn(&D) -> R>,
}

impl<D: Dataset + ?Sized, R: RowRelation> TopK<D, R> {
    /// Chooses k of `candidates` by their counts.
    ///
    /// # Errors
    ///
    /// [`MechanismError::NoChoice`] if there are none or k is zero, [`MechanismError::TooMany`] if
    /// there are more than 2^21, [`MechanismError::TooFew`] if there are fewer than k,
    /// [`MechanismError::NoLoss`] if ε is zero.
    pub fn new(
        relation: R,
        k: usize,
        candidates: impl IntoIterator<Item = Predicate<D>>,
        epsilon: Epsilon,
    ) -> Result<Self, MechanismError> {
        Self::by_score(relation, k, CountScores::new(candidates), epsilon)
    }
}

impl<D: ?Sized, R: Relation, S: Score<D, R>> TopK<D, R, S> {
    /// Chooses k candidates by a score.
    ///
    /// # Errors
    ///
    /// [`MechanismError::NoChoice`] if there is no candidate or k is zero,
    /// [`MechanismError::TooFew`] if there are fewer than k, [`MechanismError::NoLoss`] if ε is
    /// zero, [`MechanismError::NoSensitivity`] if the sensitivity is.
    pub fn by_score(
        _relation: R,
        k: usize,
        score: S,
        epsilon: Epsilon,
    ) -> Result<Self, MechanismError> {
        Self::of(k, shared(score)?, epsilon)
    }

    pub(super) fn of(k: usize, score: Arc<S>, epsilon: Epsilon) -> Result<Self, MechanismError> {
        let choices = NonZeroU64::new(k as u64).ok_or(MechanismError::NoChoice)?;
        if k > score.candidates() {
            return Err(MechanismError::TooFew);
        }
        Ok(Self {
            rate: score.sensitivity().rate(epsilon, choices.get())?,
            score,
            fact: BoundedRanges { epsilon, choices },
            relation: PhantomData,
        })
    }

    fn description(&self) -> Description {
        Description::new("TopK")
            .with("relation", R::NAME)
            .with("k", self.fact.choices)
            .with_inner("candidates", self.score.description())
            .with("epsilon", self.fact.epsilon)
    }
}

impl<D: ?Sized, R: Relation, S: Score<D, R>> Mechanism<D> for TopK<D, R, S> {
    type Machine = Released<Vec<usize>>;

    fn start(&self, data: &Arc<D>, coins: &mut Coins<'_>) -> Result<Released<Vec<usize>>, Fault> {
        let mut gaps = gaps(&*self.score, data);
        let mut left: Vec<usize> = (0..gaps.len()).collect();
        let mut chosen = Vec::new();
        for _ in 0..self.fact.choices.get() {
            let law = ExponentialChoice::new(gaps.clone(), self.rate);
            let next = coins.draw(&law.map_err(|_| Fault::Failed)?)?;
            let next = usize::try_from(next).map_err(|_| Fault::Failed)?;
            if next >= left.len() {
                return Err(Fault::Failed);
            }
            gaps.remove(next);
            chosen.push(left.remove(next));
        }
        Ok(Released(chosen))
    }

    fn describe(&self) -> Description {
        self.description()
    }
}

states!(
    BoundedRanges: impl[D: ?Sized, R: Relation, S: Score<D, R>,] TopK<D, R, S>, R,
    |choice| choice.fact
);
shown!(impl[D: ?Sized, R: Relation, S: Score<D, R>] TopK<D, R, S>);

impl<D: ?Sized, R, S> Clone for TopK<D, R, S> {
    fn clone(&self) -> Self {
        Self {
            score: Arc::clone(&self.score),
            ..*self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::{Distance, Private, PureDp, Rdp, Replace, ZCdp};
    use crate::tests::exact::{answers, rows_of, violation};

    fn epsilon(text: &str) -> Epsilon {
        text.parse().unwrap()
    }

    fn top<R: RowRelation>(
        relation: R,
        k: usize,
        values: std::ops::Range<u8>,
        text: &str,
    ) -> Result<TopK<Vec<u8>, R>, MechanismError> {
        TopK::new(relation, k, values.map(rows_of), epsilon(text))
    }

    /// Weights of e^(rate·count), divided by what is left each time.
    #[test]
    fn each_choice_is_among_those_that_are_left() {
        let choice = top(AddRemove, 2, 0..3, "2").unwrap();
        let found = answers(&choice, &[0, 0, 1], &[()], 3);
        // ε/2 for each choice, and counts move apart by one.
        let weights = [2.0_f64, 1.0, 0.0].map(f64::exp);
        let total: f64 = weights.iter().sum();
        for (first, second) in [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)] {
            let expected = weights[first] / total * weights[second] / (total - weights[first]);
            let probability = found.probability(&vec![Ok(vec![first, second])]);
            assert!((probability.to_f64_fast() - expected).abs() < 1e-9);
        }
    }

    #[test]
    fn the_loss_is_nearly_attained_and_not_exceeded() {
        // Many that fall, and two that rise and are chosen: twice 0.05·(1 + 18/22).
        let candidates = std::iter::repeat_n(0, 20).chain([1, 1]).map(rows_of);
        let choice = TopK::new(Replace, 2, candidates, epsilon("0.2")).unwrap();
        let found = [&[0_u8][..], &[1]].map(|rows| answers(&choice, rows, &[()], 22));
        let [one, other] = &found;
        let exceeds = |claim: &str| violation(other, one, epsilon(claim)).is_some();
        assert_eq!(violation(one, other, epsilon("0.2")), None);
        assert!(!exceeds("0.2"));
        assert!(exceeds("0.17"));
    }

    #[test]
    fn losses_are_those_of_k_bounded_ranges() {
        let choice = top(AddRemove, 4, 0..9, "0.8").unwrap();
        assert_eq!(choice.loss(&PureDp), Ok(epsilon("0.8")));
        // 4·0.2²/8.
        assert_eq!(choice.loss(&ZCdp), Ok("0.02".parse().unwrap()));
        let three = Distance::new(3).unwrap();
        assert_eq!(choice.loss_at(&ZCdp, three), Ok("0.18".parse().unwrap()));
        let one = top(AddRemove, 1, 0..9, "0.2").unwrap();
        let order = Rdp::new("7".parse().unwrap());
        let [four, one]: [Epsilon; 2] = [choice, one].map(|choice| choice.loss(&order).unwrap());
        assert_eq!(four, one.checked_mul(4).unwrap());
    }

    #[test]
    fn all_of_them_can_be_chosen() {
        let choice = top(AddRemove, 3, 0..3, "1000000").unwrap();
        let found = answers(&choice, &[2, 2, 2, 0, 0], &[()], 3);
        let (likely, _) = found.outcomes.iter().max_by_key(|(_, mass)| *mass).unwrap();
        assert_eq!(*likely, [Ok(vec![2, 0, 1])]);
    }

    #[test]
    fn bad_parameters_are_refused() {
        let error = |k, last, text| top(AddRemove, k, 0..last, text).unwrap_err();
        assert_eq!(error(1, 0, "1"), MechanismError::NoChoice);
        assert_eq!(error(0, 3, "1"), MechanismError::NoChoice);
        assert_eq!(error(4, 3, "1"), MechanismError::TooFew);
        assert_eq!(error(2, 3, "0"), MechanismError::NoLoss("epsilon"));
        assert_eq!(
            format!("{:?}", top(Replace, 2, 0..3, "0.5").unwrap()),
            "TopK(relation = replace one row, k = 2, candidates = [0, 1, 2], epsilon = 0.5)"
        );
    }
}
