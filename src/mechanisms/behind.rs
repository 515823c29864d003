//! How far a choice may be behind the best one.

use super::{
    Accuracy, ExponentialMechanism, NoisyMax, NoisyQuantiles, PermuteAndFlip, Score, TopK,
};
use crate::noise::Noise;
use crate::number::{Confidence, Ratio, WideInterval};
use crate::privacy::Relation;

/// The least gap such that one of the candidates with larger gaps is chosen with at most the
/// probability that is left, if `odds` says how likely that is when each has this weight and the best
/// has one. No gap is larger than a `u64`.
fn least_gap(
    rate: Ratio,
    confidence: Confidence,
    odds: impl Fn(WideInterval) -> WideInterval,
) -> u128 {
    let failure = WideInterval::from(confidence.failure());
    let suffices = |gap: u64| {
        let exponent = WideInterval::from(rate) * WideInterval::whole(u128::from(gap) + 1);
        odds(exponent.exp_of_minus()).certainly_at_most(failure)
    };
    let (mut low, mut high) = (0, u64::MAX);
    while low < high {
        let middle = low + (high - low) / 2;
        if suffices(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low.into()
}

/// The worst case of the exponential mechanism: one candidate is the best, and all others are far
/// behind. With w the weight of each, that is (n − 1)·w/(1 + (n − 1)·w), and it rises with each of
/// them.
fn exponential(others: u128, rate: Ratio, confidence: Confidence) -> u128 {
    least_gap(rate, confidence, |weight| {
        let far = WideInterval::whole(others) * weight;
        far / (WideInterval::whole(1) + far)
    })
}

/// How far the score of the chosen candidate is behind the largest one, at most: the exact worst case
/// over all scores.
impl<D: ?Sized, R: Relation, S: Score<D, R>> Accuracy for ExponentialMechanism<D, R, S> {
    type Distance = u128;

    fn accuracy(&self, confidence: Confidence) -> u128 {
        let others = self.score.candidates() as u128 - 1;
        exponential(others, self.rate, confidence)
    }
}

/// How far the score of each chosen candidate is behind the largest of those that were left, at most.
impl<D: ?Sized, R: Relation, S: Score<D, R>> Accuracy for TopK<D, R, S> {
    type Distance = u128;

    fn accuracy(&self, confidence: Confidence) -> u128 {
        let others = self.score.candidates() as u128 - 1;
        exponential(others, self.rate, confidence)
    }
}

/// How far the score of the chosen candidate is behind the largest one, at most.
///
/// A candidate that is taken with probability w when it is met is chosen with w/2 at most: the best
/// one must come later, and its place is uniform. So far behind there are n − 1 at most.
impl<D: ?Sized, R: Relation, S: Score<D, R>> Accuracy for PermuteAndFlip<D, R, S> {
    type Distance = u128;

    fn accuracy(&self, confidence: Confidence) -> u128 {
        let others = WideInterval::whole(self.score.candidates() as u128 - 1);
        least_gap(self.rate, confidence, |weight| (others * weight).half())
    }
}

/// How far the score of the chosen candidate is behind the largest one, at most.
///
/// Its own noise and that of the best one differ by at least that; so one of the n noises is more than
/// half of it away from zero.
impl<D: ?Sized, R: Relation, S: Score<D, R>> Accuracy for NoisyMax<D, R, S> {
    type Distance = u128;

    fn accuracy(&self, confidence: Confidence) -> u128 {
        let each = confidence.for_each_of(self.score.candidates() as u64);
        let noise = Noise::from(self.noise);
        each.map_or(u128::MAX, |each| 2 * noise.steps_within(each))
    }
}

/// How many rows the rank of an answer is off, at most, rounded up, for all answers at once.
///
/// For one quantile it is the exact worst case over all data. Several are sorted, and so an answer may
/// be off because another draw was: if none of the m draws is off by more than this, no answer is, as
/// the numbers that are near enough to a quantile rise with it. So each draw may fail with a part of
/// what is left.
impl<D: ?Sized, R> Accuracy for NoisyQuantiles<D, R> {
    type Distance = u128;

    fn accuracy(&self, confidence: Confidence) -> u128 {
        let others = self.range.end().abs_diff(*self.range.start());
        let Some(each) = confidence.for_each_of(self.quantiles.len() as u64) else {
            return u64::MAX.into();
        };
        let rows = self.quantiles.iter().map(|quantile| {
            let error = exponential(others.into(), quantile.rate, each);
            error.div_ceil(quantile.whole.into())
        });
        rows.max().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Mechanism;
    use crate::machine::Released;
    use crate::mechanisms::Counts;
    use crate::privacy::AddRemove;
    use crate::tests::exact::{answers, rows_of};

    type Rows = Vec<u8>;

    fn confidence(text: &str) -> Confidence {
        text.parse().unwrap()
    }

    /// Four candidates, of which the first is this far ahead.
    fn ahead(rows: usize) -> Rows {
        vec![0; rows]
    }

    /// The probability that another than the first is chosen.
    fn wrong(choice: &impl Mechanism<Rows, Machine = Released<usize>>, rows: &Rows) -> f64 {
        let found = answers(choice, rows, &[()], 24);
        1.0 - found.probability(&vec![Ok(0)]).to_f64_fast()
    }

    fn candidates() -> Counts<Rows> {
        Counts::new([0, 1, 2, 3].map(rows_of))
    }

    /// It is the worst case: one less would be wrong too often.
    #[test]
    fn the_exponential_mechanism_is_as_far_off_as_stated() {
        let epsilon = "0.5".parse().unwrap();
        let choice = ExponentialMechanism::by_score(AddRemove, candidates(), epsilon).unwrap();
        let within = choice.accuracy(confidence("0.95"));
        assert_eq!(within, 8);
        assert!(wrong(&choice, &ahead(within as usize + 1)) <= 0.05);
        assert!(wrong(&choice, &ahead(within as usize)) > 0.05);
        // ln(3·19)/0.5 = 8.09 and ln(3/(2·0.05))/0.5 = 6.8.
        let flip = PermuteAndFlip::by_score(AddRemove, candidates(), epsilon).unwrap();
        assert_eq!(flip.accuracy(confidence("0.95")), 6);
        let top = TopK::by_score(AddRemove, 2, candidates(), epsilon).unwrap();
        assert_eq!(top.accuracy(confidence("0.95")), 16);
    }

    #[test]
    fn the_noisy_maximum_is_no_further_off_than_stated() {
        let epsilon = "1".parse().unwrap();
        let choice = NoisyMax::by_score(AddRemove, candidates(), epsilon).unwrap();
        let within = choice.accuracy(confidence("0.9")) as usize;
        assert_eq!(within, 8);
        let max = NoisyMax::new(AddRemove, [0, 1].map(rows_of), epsilon).unwrap();
        assert!(wrong(&max, &ahead(max.accuracy(confidence("0.9")) as usize + 1)) <= 0.1);
    }

    #[test]
    fn a_tiny_loss_says_nothing() {
        let epsilon = "1e-27".parse().unwrap();
        let choice = ExponentialMechanism::by_score(AddRemove, candidates(), epsilon).unwrap();
        assert_eq!(choice.accuracy(confidence("0.95")), u64::MAX.into());
    }
}
