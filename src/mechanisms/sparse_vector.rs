//! The large counts among many.

use std::ops::RangeInclusive;

use super::above_threshold::{AboveThreshold, Hit};
use super::statistic::{around, clamped};
use super::{About, Accuracy, Estimates, MechanismError, over};
use crate::machine::{Coins, Description, Fault, ReleasesOnly};
use crate::noise::{DiscreteLaplace, Noise};
use crate::number::{Confidence, Epsilon, Ratio};
use crate::privacy::AddRemove;

/// [`AboveThreshold`] that answers with the counts: `None` for a no, and for a yes the count with
/// noise of its own, of scale hits/ε₃.
///
/// Use it to find the few large counts among many and to learn them, in one go.
///
/// ```
/// use queryables::data::Predicate;
/// use queryables::mechanisms::AboveThreshold;
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let votes: Arc<Vec<char>> = Arc::new("aaaaaaaabbbbbbbb".repeat(1000).chars().collect());
/// let filter = start(&Filter::concurrent(PureDp, epsilon!(1)), votes)?;
///
/// let search = AboveThreshold::new(AddRemove, 4000, 2, epsilon!(0.5))?;
/// let search = filter.launch(&search.with_counts(epsilon!(0.5))?)?;
/// let votes_for = |name| Predicate::new(String::from(name), move |vote: &char| *vote == name);
/// assert_eq!(search.ask(votes_for('c'))?, None);
/// assert!(search.ask(votes_for('a'))?.is_some_and(|count| count.abs_diff(8000) < 2000));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// (ε₁ + ε₂ + ε₃)-DP for neighbours under `R`: Lyu, Su and Li 2017, Algorithm 7. Each released
/// count costs ε₃/hits. Its noise is fresh: releasing the noisy count that was compared would not
/// be private.
#[doc(alias = "SVT")]
pub type SparseVector<Q, R = AddRemove> = AboveThreshold<Q, R, WithCounts>;

/// A hit is answered with its count, with noise.
#[derive(Clone, Copy, Debug)]
pub struct WithCounts {
    epsilon: Epsilon,
    noise: DiscreteLaplace,
}

impl WithCounts {
    pub(super) fn new(hits: u32, epsilon: Epsilon) -> Result<Self, MechanismError> {
        let scale = over(Ratio::from(u64::from(hits)), epsilon)?;
        let noise = DiscreteLaplace::new(scale)?;
        Ok(Self { epsilon, noise })
    }

    /// How far a count that is told is from the true one.
    pub(super) fn within(&self, confidence: Confidence) -> u128 {
        Noise::from(self.noise).steps_within(confidence)
    }
}

impl Hit for WithCounts {
    const NAME: &'static str = "SparseVector";
    type Answer = Option<i64>;

    fn answer(&self, hit: Option<u64>, coins: &mut Coins<'_>) -> Result<Option<i64>, Fault> {
        let Some(count) = hit else { return Ok(None) };
        let noise = coins.noise(&self.noise)?;
        Ok(Some(clamped(coins.release(count.into(), noise))))
    }

    fn describe(&self, description: Description) -> Description {
        description.with("epsilon of the counts", self.epsilon)
    }
}

/// What it compares is not released, and what it releases has noise of its own and is not used again.
impl<Q, R> ReleasesOnly for SparseVector<Q, R> {}

/// A count that was told, with an interval for the true one.
///
/// That a count is told with an interval that misses the true one has at most the probability that is
/// left.
impl<Q, R> Estimates for SparseVector<Q, R> {
    type Answer = i64;
    type Number = i64;

    fn interval(&self, answer: i64, confidence: Confidence) -> (i64, RangeInclusive<i64>) {
        (answer, around(answer, self.hit.within(confidence)))
    }
}

/// Each of the two holds with the confidence.
impl<Q, R> Accuracy for SparseVector<Q, R> {
    type Distance = SparseVectorAccuracy;

    fn accuracy(&self, confidence: Confidence) -> SparseVectorAccuracy {
        SparseVectorAccuracy {
            threshold: self.off(confidence),
            count: self.hit.within(confidence),
        }
    }

    fn about(&self) -> About {
        About::all_rows()
    }
}

/// How far the answers of a [`SparseVector`] are from the truth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SparseVectorAccuracy {
    /// How far a count may be on the wrong side of the threshold, as for [`AboveThreshold`].
    pub threshold: u128,
    /// How far a count that is told is from the true one.
    pub count: u128,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Predicate;
    use crate::machine::{CoinSource, Machine, Mechanism, NotPrivateSeededCoins};
    use crate::privacy::{Private, PureDp};
    use crate::tests::exact::{answers, rows_of, violation};
    use std::sync::Arc;

    fn sparse_vector(
        epsilons: [&str; 3],
    ) -> Result<SparseVector<Predicate<Vec<u8>>>, MechanismError> {
        let [threshold, counts, answers] = epsilons.map(|text| text.parse().unwrap());
        AboveThreshold::with_shares(AddRemove, 1, 1, threshold, counts)?.with_counts(answers)
    }

    #[test]
    fn no_answers_on_neighbours_differ_by_more_than_the_loss() {
        let mechanism = sparse_vector(["1", "1", "1"]).unwrap();
        let loss = mechanism.loss(&PureDp).unwrap();
        assert_eq!(loss, "3".parse().unwrap());
        let answers = |rows: &[u8]| answers(&mechanism, rows, &[rows_of(1)], 9);
        let (one, other) = (answers(&[1]), answers(&[]));
        assert!(one.cut.to_f64_fast() < 0.001 && other.cut.to_f64_fast() < 0.001);
        assert_eq!(violation(&one, &other, loss), None);
        assert_eq!(violation(&other, &one, loss), None);
        // The comparison and the count both contribute: neither alone exceeds 1.
        let less = "1.3".parse().unwrap();
        assert!(violation(&one, &other, less).is_some());
    }

    #[test]
    fn a_hit_comes_with_a_count_of_its_own() {
        let mechanism = sparse_vector(["1e6", "1e6", "0.001"]).unwrap();
        let mut coins = NotPrivateSeededCoins::new(5);
        let data = Arc::new(vec![1, 1, 2]);
        let mut machine = mechanism.start(&data, &mut coins.coins()).unwrap();
        assert_eq!(machine.step(rows_of(3), &mut coins.coins()), Ok(None));
        let count = machine
            .step(rows_of(1), &mut coins.coins())
            .unwrap()
            .unwrap();
        // Scale 1000: within 10 of the truth with probability 1%; the seed is one where it is not.
        assert!(count.abs_diff(2) > 10);
        assert_eq!(
            machine.step(rows_of(1), &mut coins.coins()),
            Err(Fault::Exhausted)
        );
    }

    #[test]
    fn bad_parameters_are_refused() {
        let error = |epsilons| sparse_vector(epsilons).map(|_| ());
        assert_eq!(
            error(["1", "1", "0"]),
            Err(MechanismError::NoLoss("epsilon"))
        );
        assert_eq!(
            error(["1e11", "2e11", "1e11"]),
            Err(MechanismError::TooLarge)
        );
    }
}
