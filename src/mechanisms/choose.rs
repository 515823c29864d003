//! Which of several counts or scores is the largest.

use std::marker::PhantomData;
use std::sync::Arc;

use super::score::CountScores;
use super::score::{gaps, scores, shared};
use super::{MechanismError, NoisyMaxWithMargin, RowRelation, Score, shown, states};
use crate::data::{Dataset, Predicate};
use crate::machine::{Coins, Description, DrawnNoise, Fault, Mechanism, Released};
use crate::noise::{DiscreteLaplace, ExponentialChoice, Noise};
use crate::number::Epsilon;
use crate::number::Ratio;
use crate::privacy::facts::{BoundedRange, Pure};
use crate::privacy::{AddRemove, Relation};

/// The index of the predicate with the largest count, or of the candidate with the largest
/// [`Score`], after noise was added to each: report noisy max.
///
/// Use it to choose the best of many candidates at the price of one count. Only the index is
/// released; for how far it is ahead use [`with_margin`](Self::with_margin), which costs nothing
/// more, and for the count a [`Count`](super::Count). [`ExponentialMechanism`] does the
/// same with other odds, which can be written down, and [`PermuteAndFlip`](super::PermuteAndFlip)
/// with better ones.
///
/// ```
/// use queryables::data::Predicate;
/// use queryables::mechanisms::NoisyMax;
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let votes: Arc<Vec<char>> = Arc::new("abbbbbbc".repeat(1000).chars().collect());
/// let filter = start(&Filter::concurrent(PureDp, "1".parse()?), votes)?;
///
/// let votes_for = |name| Predicate::new(String::from(name), move |vote: &char| *vote == name);
/// let candidates = ['a', 'b', 'c'].map(votes_for);
/// let winner = filter.release(&NoisyMax::new(AddRemove, candidates, "0.5".parse()?)?)?;
/// assert_eq!(winner, 1);
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
pub struct NoisyMax<D: ?Sized, R = AddRemove, S = CountScores<D>> {
    pub(super) score: Arc<S>,
    pub(super) fact: Pure,
    pub(super) noise: DiscreteLaplace,
    relation: PhantomData<fn(&D) -> R>,
}

/// The index of a predicate, with probability proportional to e^(ε count / 2), or of a candidate
/// with a [`Score`] of your own: the exponential mechanism of McSherry and Talwar.
///
/// Use it like [`NoisyMax`], where the odds of each candidate must be known, and where many choices
/// are accounted in zCDP, RDP or GDP: there it costs a quarter of what ε-DP implies, or half of its μ.
///
/// ```
/// use queryables::data::Predicate;
/// use queryables::mechanisms::ExponentialMechanism;
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let votes: Arc<Vec<char>> = Arc::new("abbbbbbc".repeat(1000).chars().collect());
/// let filter = start(&Filter::concurrent(PureDp, "1".parse()?), votes)?;
///
/// let votes_for = |name| Predicate::new(String::from(name), move |vote: &char| *vote == name);
/// let candidates = ['a', 'b', 'c'].map(votes_for);
/// let choice = ExponentialMechanism::new(AddRemove, candidates, "0.5".parse()?)?;
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
pub struct ExponentialMechanism<D: ?Sized, R = AddRemove, S = CountScores<D>> {
    pub(super) score: Arc<S>,
    fact: BoundedRange,
    pub(super) rate: Ratio,
    relation: PhantomData<fn(&D) -> R>,
}

/// Chooses among predicates by their counts.
macro_rules! by_counts {
    ($($Choice:ident)*) => {$(
        impl<D: Dataset + ?Sized, R: RowRelation> $Choice<D, R> {
            /// Chooses among `candidates` by their counts.
            ///
            /// # Errors
            ///
            /// [`MechanismError::NoChoice`] if there are none, [`MechanismError::TooMany`] if there are
            /// more than 2^21, [`MechanismError::NoLoss`] if ε is zero.
            pub fn new(
                relation: R,
                candidates: impl IntoIterator<Item = Predicate<D>>,
                epsilon: Epsilon,
            ) -> Result<Self, MechanismError> {
                Self::by_score(relation, CountScores::new(candidates), epsilon)
            }
        }
    )*};
}
pub(super) use by_counts;

by_counts!(NoisyMax ExponentialMechanism);

/// Scores, each with its noise.
type NoisyScores = Vec<(i128, DrawnNoise)>;

impl<D: ?Sized, R: Relation, S: Score<D, R>> NoisyMax<D, R, S> {
    /// Chooses by a score.
    ///
    /// # Errors
    ///
    /// [`MechanismError::NoChoice`] if there is no candidate, [`MechanismError::NoLoss`] if ε is
    /// zero, [`MechanismError::NoSensitivity`] if the sensitivity is.
    pub fn by_score(_relation: R, score: S, epsilon: Epsilon) -> Result<Self, MechanismError> {
        Self::of(shared(score)?, epsilon)
    }

    pub(super) fn of(score: Arc<S>, epsilon: Epsilon) -> Result<Self, MechanismError> {
        let scale = score.sensitivity().rate(epsilon, 1)?.inverse();
        Ok(Self {
            score,
            fact: Pure { epsilon },
            noise: DiscreteLaplace::new(scale.ok_or(MechanismError::NoLoss("epsilon"))?)?,
            relation: PhantomData,
        })
    }

    /// The noise on each score.
    #[must_use]
    pub fn noise(&self) -> Noise {
        self.noise.into()
    }

    /// Answers with how far the winner is ahead, too, at the same price.
    ///
    /// # Errors
    ///
    /// [`MechanismError::NoRival`] if there is one candidate only.
    pub fn with_margin(self) -> Result<NoisyMaxWithMargin<D, R, S>, MechanismError> {
        NoisyMaxWithMargin::new(self)
    }

    /// Each score and its noise.
    pub(super) fn noisy(&self, data: &D, coins: &mut Coins<'_>) -> Result<NoisyScores, Fault> {
        // Drawn before the data is read: whether the coins fail must not depend on the data.
        let noise = (0..self.score.candidates())
            .map(|_| coins.noise(&self.noise))
            .collect::<Result<Vec<_>, _>>()?;
        let scores = scores(&*self.score, data);
        let scores = scores.iter().map(|score| i128::from(*score));
        Ok(scores.zip(noise).collect())
    }
}

impl<D: ?Sized, R: Relation, S: Score<D, R>> ExponentialMechanism<D, R, S> {
    /// Chooses by a score.
    ///
    /// # Errors
    ///
    /// [`MechanismError::NoChoice`] if there is no candidate, [`MechanismError::NoLoss`] if ε is
    /// zero, [`MechanismError::NoSensitivity`] if the sensitivity is.
    pub fn by_score(_relation: R, score: S, epsilon: Epsilon) -> Result<Self, MechanismError> {
        Self::of(shared(score)?, epsilon)
    }

    pub(super) fn of(score: Arc<S>, epsilon: Epsilon) -> Result<Self, MechanismError> {
        Ok(Self {
            rate: score.sensitivity().rate(epsilon, 1)?,
            score,
            fact: BoundedRange { epsilon },
            relation: PhantomData,
        })
    }
}

impl<D: ?Sized, R: Relation, S: Score<D, R>> Mechanism<D> for NoisyMax<D, R, S> {
    type Machine = Released<usize>;

    fn start(&self, data: &Arc<D>, coins: &mut Coins<'_>) -> Result<Released<usize>, Fault> {
        let noisy = self.noisy(data, coins)?;
        let mut noisy = noisy
            .iter()
            .map(|(score, noise)| (*score, noise))
            .enumerate();
        let mut largest = noisy.next().ok_or(Fault::Failed)?;
        for next in noisy {
            // The first of equals wins.
            if !coins.at_least(largest.1, next.1) {
                largest = next;
            }
        }
        Ok(Released(largest.0))
    }

    fn describe(&self) -> Description {
        self.description()
    }
}

impl<D: ?Sized, R: Relation, S: Score<D, R>> Mechanism<D> for ExponentialMechanism<D, R, S> {
    type Machine = Released<usize>;

    fn start(&self, data: &Arc<D>, coins: &mut Coins<'_>) -> Result<Released<usize>, Fault> {
        let law = ExponentialChoice::new(gaps(&*self.score, data), self.rate);
        let index = coins.draw(&law.map_err(|_| Fault::Failed)?)?;
        usize::try_from(index)
            .map(Released)
            .map_err(|_| Fault::Failed)
    }

    fn describe(&self) -> Description {
        self.description()
    }
}

/// What mechanisms that choose by a score have in common.
macro_rules! choice {
    ($Choice:ident: $Fact:ty) => {
        impl<D: ?Sized, R: Relation, S: Score<D, R>> $Choice<D, R, S> {
            fn description(&self) -> Description {
                Description::new(stringify!($Choice))
                    .with("relation", R::NAME)
                    .with_inner("candidates", self.score.description())
                    .with("epsilon", self.fact.epsilon)
            }
        }

        states!(
            $Fact: impl[D: ?Sized, R: Relation, S: Score<D, R>,] $Choice<D, R, S>, R,
            |choice| choice.fact
        );
        shown!(impl[D: ?Sized, R: Relation, S: Score<D, R>] $Choice<D, R, S>);

        impl<D: ?Sized, R, S> Clone for $Choice<D, R, S> {
            fn clone(&self) -> Self {
                Self {
                    score: Arc::clone(&self.score),
                    ..*self
                }
            }
        }
    };
}
pub(super) use choice;

choice!(NoisyMax: Pure);
choice!(ExponentialMechanism: BoundedRange);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::{Distance, Private, PureDp, Rdp, Replace, ZCdp};
    use crate::tests::exact::{answers, rows_of, violation};

    fn epsilon(text: &str) -> Epsilon {
        text.parse().unwrap()
    }

    /// Whether some choice has odds that surely differ by more than e^bound.
    fn exceeds(
        mechanism: &impl Mechanism<Vec<u8>, Machine = Released<usize>>,
        bound: &str,
        pair: [&[u8]; 2],
    ) -> bool {
        let [one, other] = pair.map(|rows| answers(mechanism, rows, &[()], 12));
        assert!(one.cut.to_f64_fast() < 1e-3);
        violation(&one, &other, epsilon(bound)).is_some()
            || violation(&other, &one, epsilon(bound)).is_some()
    }

    const ADDED: [&[u8]; 2] = [&[0, 1], &[1]];
    const REPLACED: [&[u8]; 2] = [&[0], &[1]];

    #[test]
    fn the_noisy_maximum_is_within_its_loss() {
        let candidates = || [rows_of(0), rows_of(1)];
        let added = NoisyMax::new(AddRemove, candidates(), epsilon("2")).unwrap();
        assert!(!exceeds(&added, "2", ADDED));
        // The noise for added rows is too small for replaced ones.
        assert!(exceeds(&added, "2", REPLACED));
        let replaced = NoisyMax::new(Replace, candidates(), epsilon("2")).unwrap();
        assert!(!exceeds(&replaced, "2", ADDED));
        assert!(!exceeds(&replaced, "2", REPLACED));
        assert!(exceeds(&replaced, "1", REPLACED));
    }

    #[test]
    fn the_exponential_mechanism_is_within_its_loss() {
        // One candidate loses what two others gain.
        let candidates = || [rows_of(0), rows_of(1), rows_of(1)];
        let added = ExponentialMechanism::new(AddRemove, candidates(), epsilon("2")).unwrap();
        assert!(!exceeds(&added, "2", ADDED));
        assert!(exceeds(&added, "2", REPLACED));
        let replaced = ExponentialMechanism::new(Replace, candidates(), epsilon("2")).unwrap();
        assert!(!exceeds(&replaced, "2", REPLACED));
        assert!(exceeds(&replaced, "1.3", REPLACED));
    }

    /// Many candidates that never count, against one that does: the loss is nearly attained.
    #[test]
    fn the_exponential_mechanism_attains_its_loss_in_the_limit() {
        let candidates = (1..=20).map(rows_of);
        let choice = ExponentialMechanism::new(AddRemove, candidates, epsilon("0.1")).unwrap();
        let pair: [&[u8]; 2] = [&[1], &[]];
        let [one, other] = pair.map(|rows| answers(&choice, rows, &[()], 20));
        assert_eq!(violation(&one, &other, epsilon("0.1")), None);
        assert!(violation(&one, &other, epsilon("0.09")).is_some());
    }

    /// The larger of the Rényi divergences in the two directions, over what is claimed.
    fn share<R: RowRelation>(relation: R, pair: [&[u8]; 2], order: f64) -> f64 {
        let candidates = [0, 1, 2].map(rows_of);
        let choice = ExponentialMechanism::new(relation, candidates, epsilon("2")).unwrap();
        // The odds of the three indices.
        let odds = pair.map(|rows| {
            let found = answers(&choice, rows, &[()], 3);
            [0, 1, 2].map(|index| found.probability(&vec![Ok(index)]).to_f64_fast())
        });
        let divergence = |one: [f64; 3], other: [f64; 3]| {
            let terms = one.iter().zip(other);
            let sum: f64 = terms.map(|(p, q)| q * (p / q).powf(order)).sum();
            sum.ln() / (order - 1.0)
        };
        let [one, other] = odds;
        let most = divergence(one, other).max(divergence(other, one));
        let measure = Rdp::new(order.to_string().parse().unwrap());
        let claim: f64 = choice.loss(&measure).unwrap().to_string().parse().unwrap();
        most / claim
    }

    #[test]
    fn the_exponential_mechanism_is_within_its_divergence() {
        for order in [1.001, 1.5, 2.0, 30.0] {
            let shares = [
                share(AddRemove, ADDED, order),
                share(Replace, REPLACED, order),
            ];
            assert!(
                shares.iter().all(|share| (0.4..1.0).contains(share)),
                "{shares:?}"
            );
        }
    }

    #[test]
    fn the_exponential_mechanism_is_concentrated() {
        let rho = |text| {
            let choice = ExponentialMechanism::new(AddRemove, [rows_of(0)], epsilon(text)).unwrap();
            choice.loss(&ZCdp).map(|rho| rho.to_string())
        };
        assert_eq!(rho("2"), Ok("0.5".into()));
        assert_eq!(rho("0.1"), Ok("0.00125".into()));
        assert_eq!(rho("1e-27"), Ok("1e-27".into()));
        // ε²/8 is more than can be held, and from about ε = 8 on more than what ε-DP implies.
        assert_eq!(rho("1e7"), Ok("10000000".into()));
        let large = ExponentialMechanism::new(AddRemove, [rows_of(0)], epsilon("1e7")).unwrap();
        let loss = large.loss(&Rdp::new("2".parse().unwrap())).unwrap();
        assert!(loss <= epsilon("1e7"));
    }

    #[test]
    fn at_a_distance_the_interval_is_longer() {
        let choice = ExponentialMechanism::new(Replace, [rows_of(0)], epsilon("0.2")).unwrap();
        let three = Distance::new(3).unwrap();
        assert_eq!(choice.loss_at(&PureDp, three), Ok(epsilon("0.6")));
        // (3·0.2)²/8, and at order 2 a little less than twice that.
        assert_eq!(choice.loss_at(&ZCdp, three), Ok("0.045".parse().unwrap()));
        let two = Rdp::new("2".parse().unwrap());
        let loss = choice.loss_at(&two, three).unwrap();
        assert!(loss > epsilon("0.0886815398") && loss < epsilon("0.0886815399"));
    }

    #[test]
    fn a_description_lists_all_candidates() {
        let choice = |last| NoisyMax::new(AddRemove, (1..=last).map(rows_of), epsilon("0.5"));
        assert_eq!(
            format!("{:?}", choice(3).unwrap()),
            "NoisyMax(relation = add or remove one row, candidates = [1, 2, 3], epsilon = 0.5)"
        );
        let many = Mechanism::<Vec<u8>>::describe(&choice(9).unwrap());
        assert_eq!(many.get("candidates"), Some("[1, 2, 3, 4, 5, 6, 7, 8, 9]"));
    }

    #[test]
    fn the_first_of_equals_wins_and_the_largest_before_all() {
        for (rows, winner) in [(&[][..], 0), (&[1], 1), (&[0, 1], 0), (&[2, 2, 1], 2)] {
            let candidates = [rows_of(0), rows_of(1), rows_of(2)];
            // With an ε of a million the noise is negligible.
            let choice = NoisyMax::new(AddRemove, candidates, epsilon("1e6")).unwrap();
            let found = answers(&choice, rows, &[()], 1);
            let (likely, _) = found.outcomes.iter().max_by_key(|(_, mass)| *mass).unwrap();
            assert_eq!(*likely, [Ok(winner)]);
        }
    }

    #[test]
    fn bad_parameters_are_refused() {
        let zero = MechanismError::NoLoss("epsilon");
        let none = MechanismError::NoChoice;
        let max = |candidates: &[Predicate<Vec<u8>>], text| {
            NoisyMax::new(AddRemove, candidates.to_vec(), epsilon(text)).unwrap_err()
        };
        assert_eq!(max(&[], "1"), none);
        assert_eq!(max(&[rows_of(0)], "0"), zero);
        let exponential = |candidates: &[Predicate<Vec<u8>>], text| {
            ExponentialMechanism::new(AddRemove, candidates.to_vec(), epsilon(text)).unwrap_err()
        };
        assert_eq!(exponential(&[], "1"), none);
        assert_eq!(exponential(&[rows_of(0)], "0"), zero);
    }
}
