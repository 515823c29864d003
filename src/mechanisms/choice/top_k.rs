//! The best few of many candidates.

use std::num::NonZeroU64;

use super::ChoiceLaw;
use super::accuracy::exponential;
use super::exponential::drawn;
use super::score::gaps;
use crate::machine::{Coins, Description, Fault};
use crate::mechanisms::{MechanismError, Unavailable};
use crate::number::{Confidence, Epsilon, Ratio};
use crate::privacy::facts::BoundedRanges;

/// The indices of k candidates with large counts or [`Score`](super::Score)s, the best first: the exponential
/// mechanism, k times, each time without those already chosen.
///
/// The same law has what is known as one-shot top-k: add Gumbel noise to all scores once, and take
/// the k largest (Durfee and Rogers 2019, Lemma 4.2). Here the odds are exact.
///
/// ```
/// use queryables::data::Predicate;
/// use queryables::mechanisms::{Choice, CountScores, TopK};
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let words: Arc<Vec<char>> = Arc::new("abbbbbbccc".repeat(1000).chars().collect());
/// let filter = start(&Filter::concurrent(ZCdp, rho!(0.1)), words)?;
///
/// let is = |letter| Predicate::new(String::from(letter), move |word: &char| *word == letter);
/// let letters = CountScores::of(('a'..='z').map(is));
/// let top = Choice::by(AddRemove, TopK(2), letters, epsilon!(0.5))?;
/// assert_eq!(filter.release(&top)?, [1, 2]);
/// // 2·(0.25)²/8.
/// assert_eq!(filter.privacy_loss(), rho!(0.015625));
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
#[doc(alias = "most frequent")]
#[doc(alias = "top-k")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TopK(
    /// How many are chosen.
    pub usize,
);

impl ChoiceLaw for TopK {
    const NAME: &'static str = "TopK";
    /// By how much odds fall with each step of the score.
    type Sampler = Ratio;
    type Fact = BoundedRanges;
    type Answer = Vec<usize>;

    fn times(self) -> u64 {
        self.0 as u64
    }

    fn check(self, candidates: usize) -> Result<(), MechanismError> {
        let Self(k) = self;
        if k == 0 {
            return Err(MechanismError::parameter(
                "the number to choose",
                k,
                "at least 1",
            ));
        }
        if k > candidates {
            return Err(MechanismError::TooFew {
                what: "candidates",
                given: candidates,
                least: k,
            });
        }
        Ok(())
    }

    fn sampler(rate: Ratio) -> Result<Ratio, MechanismError> {
        Ok(rate)
    }

    fn fact(self, epsilon: Epsilon) -> BoundedRanges {
        let choices = NonZeroU64::new(self.times()).unwrap_or(NonZeroU64::MIN);
        BoundedRanges { epsilon, choices }
    }

    fn is_within(rate: &Ratio, candidates: usize, gap: u64, confidence: Confidence) -> bool {
        exponential(candidates as u128 - 1, *rate, gap, confidence)
    }

    fn describe(self, description: Description) -> Description {
        description.with("k", self.0)
    }

    fn choose(
        self,
        rate: &Ratio,
        _: usize,
        scores: impl FnOnce() -> Result<Vec<i64>, Unavailable>,
        coins: &mut Coins<'_>,
    ) -> Result<Vec<usize>, Fault> {
        let Self(k) = self;
        let mut gaps = gaps(&scores()?);
        let mut left: Vec<usize> = (0..gaps.len()).collect();
        let mut chosen = Vec::new();
        for _ in 0..k {
            let next = drawn(gaps.clone(), *rate, coins)?;
            if next >= left.len() {
                return Err(Fault::Failed);
            }
            gaps.remove(next);
            chosen.push(left.remove(next));
        }
        Ok(chosen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Predicate;
    use crate::mechanisms::{Choice, CountScores, RowRelation};
    use crate::privacy::{AddRemove, Distance, Private, PureDp, Rdp, Replace, ZCdp};
    use crate::tests::exact::{answers, rows_of, violation};

    fn epsilon(text: &str) -> Epsilon {
        text.parse().unwrap()
    }

    type Scores = CountScores<Predicate<Vec<u8>>>;

    fn top<R: RowRelation>(
        relation: R,
        k: usize,
        values: std::ops::Range<u8>,
        text: &str,
    ) -> Result<Choice<TopK, Scores, R>, MechanismError> {
        Choice::by(
            relation,
            TopK(k),
            CountScores::of(values.map(rows_of)),
            epsilon(text),
        )
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
        let choice = Choice::by(
            Replace,
            TopK(2),
            CountScores::of(candidates),
            epsilon("0.2"),
        )
        .unwrap();
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
        for (k, last, message) in [
            (1, 0, "0 candidates were given: there must be at least 1"),
            (0, 3, "the number to choose must be at least 1, not 0"),
            (4, 3, "3 candidates were given: there must be at least 4"),
        ] {
            assert_eq!(error(k, last, "1").to_string(), message);
        }
        assert_eq!(error(2, 3, "0"), MechanismError::NoLoss("epsilon"));
        assert_eq!(
            format!("{:?}", top(Replace, 2, 0..3, "0.5").unwrap()),
            "TopK(relation = replace one row, k = 2, candidates = [0, 1, 2], epsilon = 0.5)"
        );
    }
}
