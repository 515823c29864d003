//! Which of several scores is the largest, after noise.

use super::{Choice, ChoiceLaw};
use crate::machine::{Coins, DrawnNoise, Fault};
use crate::mechanisms::{MechanismError, Unavailable};
use crate::noise::{DiscreteLaplace, Noise};
use crate::number::{Confidence, Epsilon, Ratio};
use crate::privacy::facts::Pure;

/// The index of the predicate with the largest count, or of the candidate with the largest
/// [`Score`](super::Score), after noise was added to each: report noisy max.
///
/// Use it to choose the best of many candidates at the price of one count. Only the index is
/// released; for how far it is ahead take [`NoisyMaxWithMargin`](super::NoisyMaxWithMargin), which costs
/// nothing more, and for the count a [`Count`](crate::mechanisms::Count). [`ExponentialMechanism`](super::ExponentialMechanism) does the
/// same with other odds, which can be written down, and [`PermuteAndFlip`](super::PermuteAndFlip)
/// with better ones.
///
/// ```
/// use queryables::data::Predicate;
/// use queryables::mechanisms::{Choice, CountScores, NoisyMax};
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let votes: Arc<Vec<char>> = Arc::new("abbbbbbc".repeat(1000).chars().collect());
/// let filter = start(&Filter::concurrent(PureDp, epsilon!(1)), votes)?;
///
/// let votes_for = |name| Predicate::new(String::from(name), move |vote: &char| *vote == name);
/// let candidates = CountScores::of(['a', 'b', 'c'].map(votes_for));
/// let choice = Choice::by(AddRemove, NoisyMax, candidates, epsilon!(0.5))?;
/// assert_eq!(filter.release(&choice)?, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// ε-DP for neighbours under `R`, with discrete Laplace noise of scale 2/ε; where a row is added or
/// removed, all counts move in the same direction, and 1/ε is enough (Dwork and Roth 2014, Claim
/// 3.9). Their proof shifts the winner's noise by the distance that two counts can move apart, and
/// so holds for discrete noise and any fixed way to break ties; here the first of equals wins. For a
/// score it is the distance of its [`Sensitivity`](super::Sensitivity), over ε.
///
/// With n candidates and a scale of s, the winner's score is behind the largest by more than
/// 2s·(ln(2n) + t) with probability at most e^(−t): one of the n noises would have to be more than
/// half of that away from zero.
///
/// Noise ends where an `i128` does; what lies beyond has a probability below e^-100000000 and is
/// not part of the bound.
#[doc(alias = "report noisy max")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NoisyMax;

/// Each score and its noise.
pub(super) fn noisy(
    noise: &DiscreteLaplace,
    candidates: usize,
    scores: impl FnOnce() -> Result<Vec<i64>, Unavailable>,
    coins: &mut Coins<'_>,
) -> Result<Vec<(i128, DrawnNoise)>, Fault> {
    // Drawn before the data is read: whether the coins fail must not depend on the data.
    let noise = (0..candidates).map(|_| coins.noise(noise));
    let noise = noise.collect::<Result<Vec<_>, _>>()?;
    let scores = scores()?.into_iter().map(i128::from);
    Ok(scores.zip(noise).collect())
}

impl<L: ChoiceLaw<Sampler = DiscreteLaplace>, S, R> Choice<L, S, R> {
    /// The noise on each score.
    #[must_use]
    pub fn noise(&self) -> Noise {
        self.sampler.into()
    }
}

impl ChoiceLaw for NoisyMax {
    const NAME: &'static str = "NoisyMax";
    /// The noise of each score.
    type Sampler = DiscreteLaplace;
    type Fact = Pure;
    type Answer = usize;

    fn sampler(rate: Ratio) -> Result<DiscreteLaplace, MechanismError> {
        let scale = rate.inverse().ok_or(MechanismError::NoLoss("epsilon"))?;
        Ok(DiscreteLaplace::new(scale)?)
    }

    fn fact(self, epsilon: Epsilon) -> Pure {
        Pure { epsilon }
    }

    /// The noise of the chosen one and that of the best one differ by at least the gap; so one of the n
    /// noises is at least half of it away from zero.
    fn is_within(
        noise: &DiscreteLaplace,
        candidates: usize,
        gap: u64,
        confidence: Confidence,
    ) -> bool {
        let each = confidence.for_each_of(candidates as u64);
        each.is_some_and(|each| Noise::from(*noise).is_within((gap / 2).into(), each))
    }

    fn choose(
        self,
        noise: &DiscreteLaplace,
        candidates: usize,
        scores: impl FnOnce() -> Result<Vec<i64>, Unavailable>,
        coins: &mut Coins<'_>,
    ) -> Result<usize, Fault> {
        let noisy = noisy(noise, candidates, scores, coins)?;
        let noisy = noisy.iter().map(|(score, noise)| (*score, noise));
        let mut noisy = noisy.enumerate();
        let mut largest = noisy.next().ok_or(Fault::Failed)?;
        for next in noisy {
            // The first of equals wins.
            if !coins.at_least(largest.1, next.1) {
                largest = next;
            }
        }
        Ok(largest.0)
    }
}
