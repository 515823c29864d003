//! The exponential mechanism.

use super::ChoiceLaw;
use super::accuracy::exponential;
use super::score::gaps;
use crate::machine::{Coins, Fault};
use crate::mechanisms::{MechanismError, Unavailable};
use crate::noise::ExponentialChoice;
use crate::number::{Confidence, Epsilon, Ratio};
use crate::privacy::facts::BoundedRange;

/// The index of a predicate, with probability proportional to e^(ε count / 2), or of a candidate
/// with a [`Score`](super::Score) of your own: the exponential mechanism of McSherry and Talwar.
///
/// Use it like [`NoisyMax`](super::NoisyMax), where the odds of each candidate must be known, and where many choices
/// are accounted in zCDP, RDP or GDP: there it costs a quarter of what ε-DP implies, or half of its μ.
///
/// ```
/// use queryables::data::Predicate;
/// use queryables::mechanisms::{Choice, CountScores, ExponentialMechanism};
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let votes: Arc<Vec<char>> = Arc::new("abbbbbbc".repeat(1000).chars().collect());
/// let filter = start(&Filter::concurrent(PureDp, epsilon!(1)), votes)?;
///
/// let votes_for = |name| Predicate::new(String::from(name), move |vote: &char| *vote == name);
/// let candidates = CountScores::of(['a', 'b', 'c'].map(votes_for));
/// let choice = Choice::by(AddRemove, ExponentialMechanism, candidates, epsilon!(0.5))?;
/// assert_eq!(filter.release(&choice)?, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// ε-DP for neighbours under `R` (McSherry and Talwar 2007, Theorem 6). Where a row is added or
/// removed, all counts move in the same direction; the odds are then proportional to e^(ε count),
/// because a candidate's own weight and the sum of all change by factors that partly cancel.
///
/// It states a [`BoundedRange`]: between neighbours, the logarithms of the odds' ratios all lie
/// within some interval of length ε, since two counts move apart by what the odds are made for. So
/// it is ε²/8-zCDP, or what ε-DP implies if that is less, and its Rényi divergences are at most the
/// worst case of such intervals, which is less than both. Under f-DP it has the curve of logistic noise,
/// and under GDP the μ of ε/2-DP. For a score, the odds are proportional to
/// e^(ε score / a), where a is how far two scores move apart ([`Sensitivity`](super::Sensitivity)).
///
/// With n candidates, the score of the chosen one is behind the largest by more than
/// a/ε·(ln n + t) with probability at most e^(−t): each of the others that far behind has at most
/// e^(−t)/n of the best one's odds.
///
/// Its running time depends on the counts, and not only on what is released.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ExponentialMechanism;

/// One of these gaps, with odds that fall with it at this rate.
pub(super) fn drawn(gaps: Vec<u64>, rate: Ratio, coins: &mut Coins<'_>) -> Result<usize, Fault> {
    let law = ExponentialChoice::new(gaps, rate).map_err(|_| Fault::Failed)?;
    usize::try_from(coins.draw(&law)?).map_err(|_| Fault::Failed)
}

impl ChoiceLaw for ExponentialMechanism {
    const NAME: &'static str = "ExponentialMechanism";
    /// By how much odds fall with each step of the score.
    type Sampler = Ratio;
    type Fact = BoundedRange;
    type Answer = usize;

    fn sampler(rate: Ratio) -> Result<Ratio, MechanismError> {
        Ok(rate)
    }

    fn fact(self, epsilon: Epsilon) -> BoundedRange {
        BoundedRange { epsilon }
    }

    fn is_within(rate: &Ratio, candidates: usize, gap: u64, confidence: Confidence) -> bool {
        exponential(candidates as u128 - 1, *rate, gap, confidence)
    }

    fn choose(
        self,
        rate: &Ratio,
        _: usize,
        scores: impl FnOnce() -> Result<Vec<i64>, Unavailable>,
        coins: &mut Coins<'_>,
    ) -> Result<usize, Fault> {
        drawn(gaps(&scores()?), *rate, coins)
    }
}
