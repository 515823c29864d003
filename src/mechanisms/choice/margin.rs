//! Which of several scores is the largest, and by how much.

use std::ops::RangeInclusive;

use super::noisy_max::noisy;
use super::{Choice, ChoiceLaw, NoisyMax, Score};
use crate::machine::{Coins, Fault};
use crate::mechanisms::statistic::around;
use crate::mechanisms::{About, Estimates, MechanismError, Unavailable};
use crate::noise::{DiscreteLaplace, Noise};
use crate::number::{Confidence, Epsilon, Ratio};
use crate::privacy::Relation;
use crate::privacy::facts::Pure;

/// [`NoisyMax`], which also says by how much the winner is ahead, at the same price.
///
/// ```
/// use queryables::data::Predicate;
/// use queryables::mechanisms::{Choice, CountScores, NoisyMaxWithMargin};
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let votes: Arc<Vec<char>> = Arc::new("abbbbbbc".repeat(1000).chars().collect());
/// let filter = start(&Filter::concurrent(PureDp, epsilon!(1)), votes)?;
///
/// let votes_for = |name| Predicate::new(String::from(name), move |vote: &char| *vote == name);
/// let candidates = CountScores::of(['a', 'b', 'c'].map(votes_for));
/// let vote = Choice::by(AddRemove, NoisyMaxWithMargin, candidates, epsilon!(0.5))?;
/// let winner = filter.release(&vote)?;
/// assert_eq!(winner.index, 1);
/// assert!(winner.margin.abs_diff(5000) < 200);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// ε-DP for neighbours under `R`, where ε is that of the [`NoisyMax`]: the gap comes for free (Ding,
/// Wang, Xiao, Zhang, Kifer 2021). Their proof is for continuous noise, where no two scores tie.
/// Here the first of equals wins, and the margin is counted from what the winner *needed*: the
/// largest noisy score of the later candidates, or of the earlier ones plus one.
///
/// *Proof.* Fix the noise z of all candidates but i. With u the scores and `[j < i]` one or zero, i
/// wins with margin g ≥ 0 if and only if its own noise is
/// g + max over j ≠ i of (u_j − u_i + z_j + `[j < i]`). Between neighbours no difference u_j − u_i
/// changes by more than the distance that two scores move apart, and so neither does the maximum. At
/// a scale of that distance over ε, the odds of this one value change by a factor of e^ε at most,
/// whatever z is. ∎
///
/// With the plain difference of the two largest noisy scores the proof fails: given z, a difference
/// of zero may be possible for i on one dataset and not on the other, where an earlier candidate
/// ties.
///
/// The *lead* of a candidate is how far its score is ahead of the best of the others: of one that is
/// not the best, less than zero. If all noises are within s of zero, the lead of the winner is at least
/// the margin less 2s, and at most the margin plus 2s + 1. [`estimate`](Estimates::estimate) says in
/// which interval it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NoisyMaxWithMargin;

/// The winner of a choice.
///
/// Example: [`NoisyMaxWithMargin`](crate::mechanisms::NoisyMaxWithMargin).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Winner {
    /// Which candidate.
    pub index: usize,
    /// By how much its noisy score could be smaller and it would still win.
    pub margin: u64,
}

/// How far two noises are apart, at most: twice as far as none of them is from zero. Unlike the
/// distance of two scores it may be more than a `u64` holds.
fn two_noises(noise: DiscreteLaplace, candidates: usize, confidence: Confidence) -> u128 {
    let each = confidence.for_each_of(candidates as u64);
    let within = each.map(|each| Noise::from(noise).steps_within(each));
    within.map_or(u128::MAX, |within| within.saturating_mul(2))
}

impl ChoiceLaw for NoisyMaxWithMargin {
    const NAME: &'static str = "NoisyMaxWithMargin";
    type Sampler = DiscreteLaplace;
    type Fact = Pure;
    type Answer = Winner;

    fn check(self, candidates: usize) -> Result<(), MechanismError> {
        if candidates < 2 {
            return Err(MechanismError::TooFew {
                what: "candidates",
                given: candidates,
                least: 2,
            });
        }
        Ok(())
    }

    fn sampler(rate: Ratio) -> Result<DiscreteLaplace, MechanismError> {
        NoisyMax::sampler(rate)
    }

    fn fact(self, epsilon: Epsilon) -> Pure {
        Pure { epsilon }
    }

    fn is_within(
        noise: &DiscreteLaplace,
        candidates: usize,
        gap: u64,
        confidence: Confidence,
    ) -> bool {
        Self::distance(noise, candidates, confidence) <= gap.into()
    }

    /// How far the margin is from the lead of the winner.
    fn distance(noise: &DiscreteLaplace, candidates: usize, confidence: Confidence) -> u128 {
        two_noises(*noise, candidates, confidence).saturating_add(1)
    }

    fn about() -> About {
        About::all_rows().with("for the lead of the winner")
    }

    fn choose(
        self,
        noise: &DiscreteLaplace,
        candidates: usize,
        scores: impl FnOnce() -> Result<Vec<i64>, Unavailable>,
        coins: &mut Coins<'_>,
    ) -> Result<Winner, Fault> {
        let noisy = noisy(noise, candidates, scores, coins)?.into_iter();
        let noisy = noisy.map(|(score, noise)| coins.release(score, noise));
        winner(&noisy.collect::<Vec<_>>()).ok_or(Fault::Failed)
    }
}

/// The margin with an interval for the lead of the winner: its score less that of the best of the
/// others.
///
/// ```
/// use queryables::data::Predicate;
/// use queryables::mechanisms::{Choice, CountScores, Estimates, NoisyMaxWithMargin, Winner};
/// use queryables::prelude::*;
///
/// let is = |value: u8| Predicate::<Vec<u8>>::new(value.to_string(), move |row: &u8| *row == value);
/// let votes = CountScores::of([is(1), is(2)]);
/// let vote = Choice::by(AddRemove, NoisyMaxWithMargin, votes, epsilon!(0.5))?;
/// let winner = Winner { index: 1, margin: 100 };
/// // Of two noises none is farther than 7 from zero.
/// assert_eq!(vote.estimate(winner, confidence!(0.95)).interval, 86..=115);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl<S: Score<R>, R: Relation> Estimates for Choice<NoisyMaxWithMargin, S, R> {
    type Answer = Winner;
    type Number = i64;

    fn interval(&self, winner: Winner, confidence: Confidence) -> (i64, RangeInclusive<i64>) {
        let value = i64::try_from(winner.margin).unwrap_or(i64::MAX);
        let below = two_noises(self.sampler, self.score.candidates(), confidence);
        let (low, _) = around(value, below).into_inner();
        let (_, high) = around(value, below.saturating_add(1)).into_inner();
        (value, low..=high)
    }
}

/// The first of the largest.
fn winner(noisy: &[i128]) -> Option<Winner> {
    let mut all = noisy.iter().copied().enumerate();
    let (mut index, mut largest) = all.next()?;
    let mut needed = i128::MIN;
    for (next, noisy) in all {
        if noisy > largest {
            needed = largest.saturating_add(1);
            (index, largest) = (next, noisy);
        } else {
            needed = needed.max(noisy);
        }
    }
    let margin = u64::try_from(largest.abs_diff(needed)).unwrap_or(u64::MAX);
    Some(Winner { index, margin })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanisms::{Accuracy, CountScores};
    use crate::privacy::{AddRemove, Replace};
    use crate::tests::enumerate::Enumeration;
    use crate::tests::exact::{answers, rows_of, violation};

    fn epsilon(text: &str) -> Epsilon {
        text.parse().unwrap()
    }

    fn won(noisy: &[i128]) -> (usize, u64) {
        let Winner { index, margin } = winner(noisy).unwrap();
        (index, margin)
    }

    #[test]
    fn the_margin_is_what_the_winner_could_lose() {
        assert_eq!(won(&[5, 3, 1]), (0, 2));
        // A later one that ties does not win; an earlier one does.
        assert_eq!(won(&[5, 5]), (0, 0));
        assert_eq!(won(&[4, 5]), (1, 0));
        assert_eq!(won(&[4, 5, 5]), (1, 0));
        assert_eq!(won(&[1, 2, 9, 4, 7]), (2, 2));
        assert_eq!(won(&[1, 8, 9, 4, 7]), (2, 0));
        assert_eq!(won(&[i128::MAX, i128::MIN]), (0, u64::MAX));
        // Taking the margin from the winner, and no more, leaves the winner.
        for noisy in [[3, 9, 4, 8], [9, 4, 8, 8], [4, 8, 8, 9]] {
            let (index, margin) = won(&noisy);
            let mut less = noisy;
            less[index] -= i128::from(margin);
            assert_eq!(won(&less), (index, 0));
            less[index] -= 1;
            assert_ne!(won(&less).0, index);
        }
    }

    type Found = Enumeration<Vec<Result<Winner, String>>>;

    fn exceeds(pair: &[Found; 2], bound: &str) -> bool {
        let [one, other] = pair;
        violation(one, other, epsilon(bound)).is_some()
            || violation(other, one, epsilon(bound)).is_some()
    }

    #[test]
    fn the_margin_costs_nothing() {
        let choice = |candidates: &[u8]| {
            let candidates = candidates.iter().map(|value| rows_of(*value));
            Choice::by(
                Replace,
                NoisyMaxWithMargin,
                CountScores::of(candidates),
                epsilon("2"),
            )
            .unwrap()
        };
        // The rows move a vote from either to the other, with ties before and after.
        for pair in [
            [&[0_u8, 1][..], &[1, 1]],
            [&[0], &[1]],
            [&[0, 0, 1], &[0, 1, 1]],
        ] {
            let found = pair.map(|rows| answers(&choice(&[0, 1]), rows, &[()], 14));
            assert!(found.iter().all(|found| found.cut.to_f64_fast() < 1e-4));
            assert!(!exceeds(&found, "2"), "{pair:?}");
            // The difference of two noises has odds that fall more slowly near zero.
            assert!(exceeds(&found, "1.5"), "{pair:?}");
        }
        let found = [&[0_u8][..], &[1]].map(|rows| answers(&choice(&[2, 0, 1]), rows, &[()], 6));
        assert!(!exceeds(&found, "2"));
        // The same noise is too small for two rows.
        let far = [&[0_u8, 0][..], &[1, 1]].map(|rows| answers(&choice(&[0, 1]), rows, &[()], 14));
        assert!(exceeds(&far, "2"));
    }

    /// By following all draws: the lead is in the interval as often as is stated, and it reaches both
    /// ends.
    #[test]
    fn the_lead_is_within_its_interval() {
        let candidates = || [0, 1].map(rows_of);
        let vote = Choice::by(
            Replace,
            NoisyMaxWithMargin,
            CountScores::of(candidates()),
            epsilon("1"),
        )
        .unwrap();
        let confidence = "0.9".parse().unwrap();
        let within = vote.accuracy(confidence);
        for rows in [&[0_u8, 0, 0][..], &[1, 1], &[0, 1]] {
            let scores =
                [0, 1].map(|value| rows.iter().filter(|row| **row == value).count() as i64);
            let found = answers(&vote, rows, &[()], 16);
            let mut covered = 0.0;
            for (answer, mass) in &found.outcomes {
                let [Ok(winner)] = &answer[..] else {
                    panic!("{answer:?}")
                };
                let lead = scores[winner.index] - scores[1 - winner.index];
                let estimate = vote.estimate(*winner, confidence);
                let far = u128::from(estimate.value.abs_diff(lead));
                if estimate.interval.contains(&lead) {
                    covered += mass.to_f64_fast();
                    assert!(far <= within);
                }
            }
            assert!(covered >= 0.9, "{rows:?} {covered}");
        }
        let estimate = vote.estimate(
            Winner {
                index: 0,
                margin: 3,
            },
            confidence,
        );
        let (low, high) = estimate.interval.into_inner();
        assert_eq!((3 - low) as u128 + 1, within);
        assert_eq!((high - 3) as u128, within);
        let far = Winner {
            index: 0,
            margin: u64::MAX,
        };
        assert_eq!(*vote.estimate(far, confidence).interval.end(), i64::MAX);
    }

    /// Where noise is larger than every score, a margin that is cut off may be farther from the lead than
    /// two scores can be apart.
    #[test]
    fn a_tiny_loss_says_nothing_of_a_lead() {
        let vote = Choice::by(
            AddRemove,
            NoisyMaxWithMargin,
            CountScores::of([0, 1].map(rows_of)),
            epsilon("1e-27"),
        )
        .unwrap();
        let confidence = "0.9".parse().unwrap();
        let margin = u64::MAX;
        // As likely as not, the loser by a million votes wins.
        let lead = -1_000_000_i128;
        assert!(i128::from(margin).abs_diff(lead) <= vote.accuracy(confidence));
        let winner = Winner { index: 1, margin };
        assert_eq!(
            vote.estimate(winner, confidence).interval,
            i64::MIN..=i64::MAX
        );
    }

    #[test]
    fn it_needs_two() {
        let one = CountScores::of([rows_of(1)]);
        let one = Choice::by(AddRemove, NoisyMaxWithMargin, one, epsilon("1"));
        assert_eq!(
            one.unwrap_err().to_string(),
            "1 candidates were given: there must be at least 2"
        );
    }
}
