//! The best of several candidates, with better odds than the exponential mechanism.

use std::num::NonZeroU64;

use super::ChoiceLaw;
use super::accuracy::weight_beyond;
use super::score::gaps;
use crate::machine::{Coins, CoinsError, Fault};
use crate::mechanisms::{MechanismError, Unavailable};
use crate::noise::BernoulliExp;
use crate::number::{Confidence, Epsilon, Ratio, WideInterval, divide_product};
use crate::privacy::facts::Pure;

/// The index of a candidate with a large count or [`Score`](super::Score): permute-and-flip.
///
/// Candidates are gone through in random order, and each is taken with probability e^(−ε·behind/a),
/// where *behind* is how far its score is from the largest and a how far two scores move apart.
///
/// Use it like [`ExponentialMechanism`](super::ExponentialMechanism) where losses are accounted as
/// pure privacy: it is never worse and up to twice as accurate (McKenna and Sheldon 2020, Theorems 2
/// and 3). Under zCDP and RDP the exponential mechanism costs a quarter, and is the better choice.
///
/// ```
/// use queryables::data::Predicate;
/// use queryables::mechanisms::{Choice, CountScores, PermuteAndFlip};
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
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// ε-DP for neighbours under `R` (McKenna and Sheldon 2020, Theorem 1), and the odds are exact: all
/// flips are. With a = 2Δ that is their statement. That the distance a is enough follows from another
/// form of the mechanism: it has the same law as the largest score after adding exponential noise of
/// rate ε/a to each (Ding, Kifer, Saghaian, Steinke, Wang, Xiao, Zhang 2021). *Proof.* Fix the noise
/// of all others. A candidate wins if its noise is above some t, which moves by at most a between
/// neighbours; and exponential noise is above t + a with e^(−ε) times the probability that it is above
/// t, or more. ∎
///
/// With n candidates, the score of the chosen one is behind the largest by more than a/ε·(ln n + t)
/// with probability at most e^(−t): one of the n noises would have to be that large.
///
/// Its running time depends on the scores, and not only on what is released.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PermuteAndFlip;

impl ChoiceLaw for PermuteAndFlip {
    const NAME: &'static str = "PermuteAndFlip";
    /// By how much the logarithm of odds falls with each step of the score.
    type Sampler = Ratio;
    type Fact = Pure;
    type Answer = usize;

    fn sampler(rate: Ratio) -> Result<Ratio, MechanismError> {
        Ok(rate)
    }

    fn fact(self, epsilon: Epsilon) -> Pure {
        Pure { epsilon }
    }

    /// A candidate that is taken with probability w when it is met is chosen with w/2 at most: the best
    /// one must come later, and its place is uniform. So far behind there are n − 1 at most.
    fn is_within(rate: &Ratio, candidates: usize, gap: u64, confidence: Confidence) -> bool {
        let others = WideInterval::whole(candidates as u128 - 1);
        let odds = (others * weight_beyond(gap, *rate)).half();
        odds.certainly_at_most(confidence.failure().into())
    }

    fn choose(
        self,
        rate: &Ratio,
        _: usize,
        scores: impl FnOnce() -> Result<Vec<i64>, Unavailable>,
        coins: &mut Coins<'_>,
    ) -> Result<usize, Fault> {
        let gaps = gaps(&scores()?);
        let mut left: Vec<(usize, u64)> = gaps.into_iter().enumerate().collect();
        // The largest score has no gap and is taken when it is met, at the latest.
        while let Some(choices) = NonZeroU64::new(left.len() as u64) {
            let next = usize::try_from(coins.uniform(choices)?).map_err(|_| Fault::Failed)?;
            if next >= left.len() {
                return Err(CoinsError::OutOfRange.into());
            }
            let (index, gap) = left.swap_remove(next);
            if is_taken(gap, *rate, coins)? {
                return Ok(index);
            }
        }
        Err(Fault::Failed)
    }
}

/// True with probability e^(−rate·gap): as e^−whole times e^−part, of which each is a ratio.
fn is_taken(gap: u64, rate: Ratio, coins: &mut Coins<'_>) -> Result<bool, CoinsError> {
    if gap == 0 {
        return Ok(true);
    }
    let under = rate.denominator();
    let (whole, rest) = divide_product(gap.into(), rate.numerator(), 0, under);
    for exponent in [Ratio::new(whole, 1), Ratio::new(rest, under.get())] {
        let Some(exponent) = exponent.filter(|exponent| exponent.numerator() > 0) else {
            continue;
        };
        if coins.draw(&BernoulliExp::new(exponent))? == 0 {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{CoinSource, Mechanism, NotPrivateSeededCoins, Released};
    use crate::mechanisms::{Choice, CountScores, Evaluate, RowRelation, Score};
    use crate::privacy::{AddRemove, Relation, Replace};
    use crate::tests::enumerate::{Enumeration, enumerate};
    use crate::tests::exact::{rows_of, violation};
    use proptest::prelude::*;
    use std::sync::Arc;

    fn epsilon(text: &str) -> Epsilon {
        text.parse().unwrap()
    }

    /// The odds of each index, up to 1e-6: flips are followed through their tosses.
    fn odds<R: Relation, S: Score<R> + Evaluate<Vec<u8>>>(
        choice: &Choice<PermuteAndFlip, S, R>,
        rows: &[u8],
    ) -> Enumeration<Result<usize, String>> {
        let data = Arc::new(rows.to_vec());
        let found = enumerate(1e-8, |coins| {
            let released = choice.start(&data, &mut Coins::new(&mut *coins));
            released
                .map(|Released(index)| index)
                .map_err(|fault| fault.to_string())
        });
        assert!(
            found.cut.to_f64_fast() < 1e-5,
            "{}",
            found.cut.to_f64_fast()
        );
        found
    }

    /// p_r ∫ Π_(s ≠ r) (1 − u p_s) du: the position of r in the order is uniform, and those before it
    /// fail (McKenna and Sheldon 2020, Proposition 1).
    #[test]
    fn the_odds_are_those_of_the_formula() {
        let candidates = [0, 1, 2].map(rows_of);
        let choice = Choice::by(
            AddRemove,
            PermuteAndFlip,
            CountScores::of(candidates),
            epsilon("0.5"),
        )
        .unwrap();
        // Three behind, none, one behind.
        let found = odds(&choice, &[1, 1, 1, 2, 2]);
        let taken = [1.5_f64, 0.0, 0.5].map(|exponent| (-exponent).exp());
        for (index, others) in [(0, [1, 2]), (1, [0, 2]), (2, [0, 1])] {
            let [p, q] = others.map(|other| taken[other]);
            let expected = taken[index] * (1.0 - (p + q) / 2.0 + p * q / 3.0);
            let probability = found.probability(&Ok(index)).to_f64_fast();
            assert!(
                (probability - expected).abs() < 1e-5,
                "{index} {probability} {expected}"
            );
        }
    }

    fn exceeds<R: RowRelation>(relation: R, claim: &str, pair: [&[u8]; 2]) -> bool {
        let candidates = [0, 1].map(rows_of);
        let choice = Choice::by(
            relation,
            PermuteAndFlip,
            CountScores::of(candidates),
            epsilon("1"),
        )
        .unwrap();
        let [one, other] = pair.map(|rows| odds(&choice, rows));
        violation(&one, &other, epsilon(claim)).is_some()
            || violation(&other, &one, epsilon(claim)).is_some()
    }

    #[test]
    fn the_loss_is_attained_and_not_exceeded() {
        // One that is behind in either case is taken e^ε times as often: p (1 − 1/2) each.
        let (far, near): (&[u8], &[u8]) = (&[0, 0, 0, 1], &[0, 0, 0, 1, 1]);
        assert!(!exceeds(AddRemove, "1", [far, near]));
        assert!(exceeds(AddRemove, "0.999", [far, near]));
        let moved: &[u8] = &[0, 0, 1, 1];
        assert!(!exceeds(Replace, "1", [far, moved]));
        assert!(exceeds(Replace, "0.999", [far, moved]));
        // The odds for added rows are too steep for replaced ones.
        assert!(exceeds(AddRemove, "1", [far, moved]));
    }

    #[test]
    fn the_widest_gaps_and_the_finest_rates_end() {
        let mut coins = NotPrivateSeededCoins::new(3);
        let [large, fine] =
            [Ratio::new(u128::MAX, 1), Ratio::new(1, u128::MAX)].map(Option::unwrap);
        assert_eq!(is_taken(u64::MAX, large, &mut coins.coins()), Ok(false));
        assert_eq!(is_taken(u64::MAX, fine, &mut coins.coins()), Ok(true));
        assert_eq!(is_taken(0, large, &mut coins.coins()), Ok(true));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// One of them is always chosen.
        #[test]
        fn it_always_ends(rows in proptest::collection::vec(0_u8..4, 0..30), seed: u64) {
            let candidates = [0, 1, 2, 3].map(rows_of);
            let choice = Choice::by(AddRemove, PermuteAndFlip, CountScores::of(candidates), epsilon("0.7")).unwrap();
            let mut coins = NotPrivateSeededCoins::new(seed);
            let Released(index) = choice.start(&Arc::new(rows), &mut coins.coins()).unwrap();
            prop_assert!(index < 4);
        }
    }
}
