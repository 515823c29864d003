//! Any number of counts, most of them from a public guess that is corrected where it is wrong.

use std::ops::RangeInclusive;
use std::sync::Arc;

use super::above_threshold::{AboveThreshold, AboveThresholdMachine};
use super::least_loss::least_loss;
use super::limit::DOMAIN;
use super::sparse_vector::WithCounts;
use super::statistic::around;
use super::weights::Weights;
use super::{
    About, Accuracy, Counts, Domain, Estimates, MechanismError, RowRelation, Source, SparseVector,
    SparseVectorAccuracy, shown, states,
};
use crate::machine::{
    Coins, Description, DomainMismatch, Fault, Machine, Mechanism, Public, ReleasesOnly,
};
use crate::number::{Confidence, Epsilon};
use crate::privacy::Replace;
use crate::privacy::facts::Pure;

/// Private multiplicative weights (Hardt and Rothblum 2010): answers counting queries from a public
/// guess of the data, and spends privacy only where the guess is wrong.
///
/// Use it for very many counts over a domain that is finite and small enough to be listed, a few
/// binary attributes for example, where the number of rows is public. Each query takes time in
/// proportion to the domain. For a handful of counts [`Count`](super::Count) is more
/// accurate.
///
/// The guess is a weight for each row of the domain, at first the same for all. An answer is what
/// the guess says, if a [sparse vector](SparseVector) finds it less than the threshold away from
/// the truth; otherwise it is a noisy count, and the weights are moved toward it.
///
/// Questions are predicates, or conditions that the data can count ([`Counts`]) and the domain can
/// decide ([`Domain`]).
///
/// ```
/// use queryables::data::Predicate;
/// use queryables::mechanisms::MultiplicativeWeights;
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// // Three yes-or-no answers of 100000 people, who all say yes to the first.
/// let people: Arc<Vec<u8>> = Arc::new((0..100_000_u32).map(|row| 1 | row as u8 & 7).collect());
/// let filter = start(&Filter::concurrent(PureDp, epsilon!(1)), people)?;
///
/// let counts = MultiplicativeWeights::new(Vec::from_iter(0..8), 100_000, 10_000, 20, epsilon!(1))?;
/// let counts = filter.launch(&counts)?;
/// // Every conjunction, three times over. Those without the first answer are guessed at no cost.
/// for mask in (0..8_u8).cycle().take(24) {
///     let all_of = Predicate::new(format!("{mask:03b}"), move |row: &u8| row & mask == mask);
///     let truth = 100_000 >> (mask & 6).count_ones();
///     assert!(counts.ask(all_of)?.abs_diff(truth) < 20_000);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// ε-DP, whether a row is added, removed or replaced, against every adaptive choice of predicates.
/// It is composed of parts with theorems of their own, as in Dwork and Roth 2014, §4.2:
///
/// - a sparse vector with counts (Lyu, Su and Li 2017, Algorithm 7) is asked whether a count is
///   above the guess by the threshold, and whether it is below by as much. Either difference changes
///   by at most one with a row, and one may rise while the other falls: so its noise is that for
///   [`Replace`], which covers added and removed rows too;
/// - what asks it is a person in the middle, which knows the guess and on which side it was found to be
///   wrong, and not the data (Haney et al. 2.17).
///
/// How far an answer is from the truth, if there is one: [`Accuracy`]. How many updates it takes: if each update is made where the guess is wrong by at least α of all rows, there are
/// at most 4·ln(domain)/α² of them: the divergence of the data from the guess is at most ln(domain)
/// at first, and a step of η toward a count that is α away lessens it by ηα − η², which is α²/4 for
/// the η = α/2 taken here, with the threshold for α. Once all updates are made, every query is
/// [`Fault::Exhausted`].
#[doc(alias = "MWEM")]
#[doc(alias = "PMW")]
#[doc(alias = "synthetic data")]
pub struct MultiplicativeWeights<U, Q> {
    search: SparseVector<Q, Replace>,
    weights: Weights<U>,
}

impl<U: Domain<Q>, Q: Source> MultiplicativeWeights<U, Q> {
    /// Answers about `rows` rows from this domain, to within about `threshold`, with at most
    /// `updates` updates. Half of ε is used to find where the guess is wrong, and half to correct
    /// it. The domain has each possible row once: for predicates it is a dataset of the same kind as the
    /// data.
    ///
    /// The number of rows is public. If it is not the true one, or if rows are not in the domain,
    /// answers are less accurate, but just as private.
    ///
    /// # Errors
    ///
    /// [`MechanismError::TooFew`] if the domain is empty, [`MechanismError::TooMany`] if it has more
    /// than 2^21 rows, [`MechanismError::BadParameter`] if the
    /// threshold is not between one and the number of rows, [`MechanismError::BadParameter`] if there are
    /// no updates, [`MechanismError::NoLoss`] if ε is zero, and [`MechanismError::TooSmall`] if one
    /// of its parts is zero.
    pub fn new(
        domain: U,
        rows: u32,
        threshold: u32,
        updates: u32,
        epsilon: Epsilon,
    ) -> Result<Self, MechanismError> {
        if domain.size() == 0 {
            return Err(MechanismError::none("rows in the domain"));
        }
        DOMAIN.check(domain.size())?;
        if threshold == 0 || threshold > rows {
            return Err(bad_threshold(threshold));
        }
        if epsilon == Epsilon::ZERO {
            return Err(MechanismError::NoLoss("epsilon"));
        }
        let rate = f64::from(threshold) / f64::from(rows) / 2.0;
        Ok(Self {
            search: search(threshold, updates, epsilon)?,
            weights: Weights::new(domain, rows, rate),
        })
    }

    /// The same with the smallest ε for which an answer is at most `within` away from the true count,
    /// with at least this confidence ([`Accuracy`]). It is rounded up to six digits.
    ///
    /// # Errors
    ///
    /// [`MechanismError::TooAccurate`] if no ε up to 10^6 suffices: if `within` is not more than the
    /// threshold, for instance. And those of [`new`](Self::new).
    pub fn with_accuracy(
        domain: U,
        rows: u32,
        threshold: u32,
        updates: u32,
        within: u128,
        confidence: Confidence,
    ) -> Result<Self, MechanismError> {
        if threshold == 0 {
            return Err(bad_threshold(threshold));
        }
        let make = |epsilon| search(threshold, updates, epsilon);
        let is_enough = |made: &SparseVector<Q, Replace>| {
            distance(made, confidence).is_some_and(|distance| distance <= within)
        };
        let Pure { epsilon } = least_loss(make, is_enough)?.fact;
        Self::new(domain, rows, threshold, updates, epsilon)
    }
}

fn bad_threshold(threshold: u32) -> MechanismError {
    let must = "from 1 to the number of rows";
    MechanismError::parameter("the threshold", threshold, must)
}

/// Half of ε is for finding where the guess is wrong, and half for correcting it.
fn search<Q>(
    threshold: u32,
    updates: u32,
    epsilon: Epsilon,
) -> Result<SparseVector<Q, Replace>, MechanismError> {
    let half = Epsilon::from_units(epsilon.units() / 2).map_err(|_| MechanismError::TooLarge)?;
    if half == Epsilon::ZERO {
        return Err(MechanismError::TooSmall);
    }
    let search = AboveThreshold::new(Replace, threshold.into(), updates, half)?;
    search.with_counts(epsilon.saturating_sub(half))
}

/// How far an answer is from the true count, at most, if there is one: `u128::MAX` if nothing can be
/// said.
///
/// A query is compared with the guess on both sides, and each comparison is off by at most a; so a guess
/// that is told is at most a − 1 plus the threshold away. A count that is told instead is off by its own
/// noise. Each of the three fails with a third of what is left. The noise on a count is fresh and
/// independent of that on the threshold, which is drawn once; so the sum of both is as large as that for
/// the n-th query whatever is asked, and it does not matter whether the query was chosen by earlier
/// answers.
impl<U, Q> Accuracy for MultiplicativeWeights<U, Q> {
    type Distance = u128;

    fn accuracy(&self, confidence: Confidence) -> u128 {
        distance(&self.search, confidence).unwrap_or(u128::MAX)
    }

    fn about(&self) -> About {
        About::all_rows()
    }
}

fn distance<Q>(search: &SparseVector<Q, Replace>, confidence: Confidence) -> Option<u128> {
    let SparseVectorAccuracy { threshold, count } = search.accuracy(confidence.for_each_of(3)?);
    let guessed = u128::from(search.search.threshold.unsigned_abs() - 1).saturating_add(threshold);
    Some(guessed.max(count))
}

impl<U, Q> Estimates for MultiplicativeWeights<U, Q> {
    type Answer = i64;
    type Number = i64;

    fn interval(&self, answer: i64, confidence: Confidence) -> (i64, RangeInclusive<i64>) {
        (answer, around(answer, self.accuracy(confidence)))
    }
}

impl<D, U, Q> Mechanism<D> for MultiplicativeWeights<U, Q>
where
    D: Counts<Q> + ?Sized,
    U: Domain<Q>,
    Q: Source,
{
    type Machine = MultiplicativeWeightsMachine<D, U, Q>;

    fn start(&self, data: &Arc<D>, coins: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        Ok(MultiplicativeWeightsMachine {
            search: self.search.start(data, coins)?,
            weights: self.weights.clone(),
        })
    }

    fn check(&self, data: Public<'_, D>) -> Result<(), DomainMismatch> {
        let example = self.weights.domain.example();
        example.map_or(Ok(()), |question| D::check(data, &question))
    }

    fn describe(&self) -> Description {
        self.description()
    }
}

/// A count that is told is not used again: the weights are moved by which side it is on, which was
/// compared and not released.
impl<U, Q> ReleasesOnly for MultiplicativeWeights<U, Q> {}

impl<U, Q> MultiplicativeWeights<U, Q> {
    fn description(&self) -> Description {
        Description::new("MultiplicativeWeights")
            .with("domain", self.weights.size())
            .with("rows", self.weights.rows)
            .with("threshold", self.search.search.threshold)
            .with("updates", self.search.search.hits)
            .with("epsilon", self.search.fact.epsilon)
            // Records have no text.
            .incomplete()
    }
}

// That of the search, for replaced rows, and with it for added and removed ones: see above.
states!(
    Pure: impl[U, Q, R: RowRelation,] MultiplicativeWeights<U, Q>, R,
    |counts| counts.search.fact
);
shown!(impl[U, Q] MultiplicativeWeights<U, Q>);

crate::clone_fields!([U, Q] MultiplicativeWeights<U, Q> { search, weights });

/// A running [`MultiplicativeWeights`]: the sparse vector is asked whether the count is above the guess, and
/// then whether it is below.
pub struct MultiplicativeWeightsMachine<D: ?Sized, U, Q> {
    search: AboveThresholdMachine<D, Q, WithCounts>,
    weights: Weights<U>,
}

impl<D: Counts<Q> + ?Sized, U: Domain<Q>, Q> Machine for MultiplicativeWeightsMachine<D, U, Q> {
    type Query = Q;
    type Answer = i64;

    fn step(&mut self, question: Q, coins: &mut Coins<'_>) -> Result<i64, Fault> {
        self.weights.domain.check(&question)?;
        let guess = self.weights.guess(&question);
        for side in [1, -1] {
            let gap = |count: u64| i128::from(side) * (i128::from(count) - i128::from(guess));
            // The code of the domain and of the data has run: it may have seen a later launch, or made one.
            coins.check()?;
            let hit = coins.guarded(|coins| self.search.hit_by(&question, gap, coins))?;
            if let Some(count) = hit {
                // By the side alone: what was released is said, and nothing is computed from it.
                self.weights.update(&question, side);
                return Ok(count);
            }
        }
        Ok(guess)
    }
}

crate::debug_fields!([D: ?Sized, U, Q] MultiplicativeWeightsMachine<D, U, Q>, "MultiplicativeWeightsMachine" { search, .. });

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Predicate;
    use crate::machine::{
        CoinSource, CoinsError, Law, NotPrivateSeededCoins, Stop, StopToken, Stopper,
    };
    use crate::privacy::{AddRemove, Private, PureDp, Relation};
    use crate::tests::exact::{answers, rows_of, violation};
    use std::sync::atomic::{AtomicBool, Ordering};

    fn epsilon(text: &str) -> Epsilon {
        text.parse().unwrap()
    }

    /// Says whether gaps look large, and hides the counts.
    struct Hits<R>(SparseVector<Predicate<Vec<u8>>, R>);
    struct Hitting(AboveThresholdMachine<Vec<u8>, Predicate<Vec<u8>>, WithCounts>);

    /// How far the ones are above a guess, or below it.
    #[derive(Clone, Copy, Debug)]
    struct Gap {
        guess: i128,
        side: i128,
    }

    impl<R: Relation> Mechanism<Vec<u8>> for Hits<R> {
        type Machine = Hitting;

        fn start(&self, data: &Arc<Vec<u8>>, coins: &mut Coins<'_>) -> Result<Hitting, Fault> {
            Ok(Hitting(self.0.start(data, coins)?))
        }
    }

    impl Machine for Hitting {
        type Query = Gap;
        type Answer = bool;

        fn step(&mut self, gap: Gap, coins: &mut Coins<'_>) -> Result<bool, Fault> {
            let value = |count: u64| gap.side * (i128::from(count) - gap.guess);
            Ok(self.0.hit_by(&rows_of(1), value, coins)?.is_some())
        }
    }

    /// The first threshold at which the comparisons' answers surely differ by more than what the
    /// comparisons are said to lose, where less than one in a hundred is cut from the noise.
    fn worst<R: RowRelation>(relation: R, pair: [&[u8]; 2]) -> Option<i64> {
        let gaps = [(0, 1), (1, -1)].map(|(guess, side)| Gap { guess, side });
        (0..=2).find(|&threshold| {
            let (one, two) = (epsilon("1"), epsilon("2"));
            let search = AboveThreshold::with_shares(relation, threshold, 1, one, two).unwrap();
            // The counts, which nobody sees, have negligible noise.
            let hits = Hits(search.with_counts(epsilon("1000")).unwrap());
            let [one, other] = pair.map(|rows| answers(&hits, rows, &gaps, 8));
            assert!(one.cut.to_f64_fast() < 0.01 && other.cut.to_f64_fast() < 0.01);
            let loss = epsilon("3");
            violation(&one, &other, loss).is_some() || violation(&other, &one, loss).is_some()
        })
    }

    #[test]
    fn gaps_on_both_sides_take_the_noise_for_replaced_rows() {
        for pair in [[&[1][..], &[2]], [&[1], &[]], [&[1, 1], &[1]]] {
            assert_eq!(worst(Replace, pair), None);
        }
        // Even where a row is removed: one gap rises while the other falls.
        assert_eq!(worst(AddRemove, [&[1], &[]]), Some(1));
    }

    #[test]
    fn no_answers_on_neighbours_differ_by_more_than_the_loss() {
        let mechanism = MultiplicativeWeights::new(vec![1, 2], 2, 1, 1, epsilon("6")).unwrap();
        let loss = Private::<PureDp, Replace>::loss(&mechanism, &PureDp).unwrap();
        assert_eq!(loss, epsilon("6"));
        let answers = |rows: &[u8]| answers(&mechanism, rows, &[rows_of(1)], 9);
        let base = answers(&[1, 1]);
        let exceeds = |other: &[u8], loss| {
            let other = answers(other);
            assert!(base.cut.to_f64_fast() < 0.01 && other.cut.to_f64_fast() < 0.01);
            violation(&base, &other, loss).is_some() || violation(&other, &base, loss).is_some()
        };
        for other in [&[1, 2][..], &[1], &[1, 1, 2]] {
            assert!(!exceeds(other, loss), "{other:?}");
        }
        // The comparison and the count both contribute: neither alone exceeds 3.
        assert!(exceeds(&[1, 2], epsilon("3.05")));
    }

    fn conjunctions() -> impl Iterator<Item = Predicate<Vec<u8>>> {
        (0..16_u8)
            .map(|mask| Predicate::new(format!("{mask:04b}"), move |row: &u8| row & mask == mask))
    }

    /// With negligible noise, every answer is within the threshold, and the guess is corrected no
    /// more often than the divergence allows, which is 4·ln(16)/0.2² = 277.3 times.
    #[test]
    fn the_guess_is_mended_until_it_is_right() {
        let (rows, threshold, updates) = (1000, 200, 277);
        let data = (0..rows).map(|row| 13 | (row % 7 * (row % 3)) as u8 & 15);
        let data: Arc<Vec<u8>> = Arc::new(data.collect());
        let domain: Vec<_> = (0..16).collect();
        let mechanism =
            MultiplicativeWeights::new(domain, rows, threshold, updates, epsilon("1e9")).unwrap();
        let mut coins = NotPrivateSeededCoins::new(5);
        let mut machine = mechanism.start(&data, &mut coins.coins()).unwrap();
        let mut round = || -> Vec<i64> {
            let answers = conjunctions().map(|predicate| {
                let truth = predicate.count(&data) as i64;
                let answer = machine.step(predicate, &mut coins.coins()).unwrap();
                assert!(answer.abs_diff(truth) < u64::from(threshold));
                answer
            });
            answers.collect()
        };
        // After a round without corrections, all later rounds are the same.
        let (first, mut last) = (round(), round());
        for _ in 0..updates {
            last = round();
        }
        assert_eq!(round(), last);
        assert_ne!(first, last);
        assert_eq!(mechanism.weights.rate, 0.1);
    }

    /// What it promises with `ReleasesOnly`.
    #[test]
    fn weights_do_not_depend_on_the_count_that_is_told() {
        /// Noise of zero in comparisons, and then this on the count.
        struct Noise(Vec<i128>);

        impl CoinSource for Noise {
            fn uniform(&mut self, _: std::num::NonZeroU64) -> Result<u64, CoinsError> {
                Err(CoinsError::TapeEnds)
            }

            fn draw(&mut self, _: &dyn Law) -> Result<i128, CoinsError> {
                self.0.pop().ok_or(CoinsError::TapeEnds)
            }
        }

        // All rows are ones, and a quarter of them is guessed; or no row is.
        let moved = |rows: u8, noise: i128, draws: usize| {
            let mechanism =
                MultiplicativeWeights::new(vec![1_u8, 2, 3, 4], 100, 10, 1, epsilon("1")).unwrap();
            let mut noise = Noise([vec![noise], vec![0; draws]].concat());
            let data = Arc::new(vec![rows; 100]);
            let mut coins = Coins::new(&mut noise);
            let mut machine = mechanism.start(&data, &mut coins).unwrap();
            let told = machine.step(rows_of(1), &mut coins).unwrap();
            (told, machine.weights.guess(&rows_of(1)))
        };
        for noise in [0, 3, -1000, 1 << 40] {
            let told = noise as i64;
            // 25 times e^0.05, and e^-0.05, over the new total.
            assert_eq!(moved(1, noise, 2), (100 + told, 26));
            assert_eq!(moved(2, noise, 3), (told, 24));
        }
    }

    /// Guesses that a condition holds of no row, and may stop whoever asks for the guess.
    struct StopsAt {
        domain: bool,
        stopper: Stopper,
    }

    impl Domain<Predicate<Vec<u8>>> for Arc<StopsAt> {
        fn size(&self) -> usize {
            1
        }

        fn holds(&self, _: &Predicate<Vec<u8>>, _: usize) -> bool {
            if self.domain {
                self.stopper.stop(Stop::Frozen);
            }
            false
        }
    }

    /// Code of the domain or of the data may learn of a later launch: no answer comes after that.
    #[test]
    fn what_is_stopped_while_it_is_asked_does_not_answer() {
        // Whether the data was read, where one of the two stops it.
        for (domain, reads) in [(true, false), (false, true)] {
            let (token, stopper) = StopToken::default().extended();
            let stops = Arc::new(StopsAt { domain, stopper });
            let read = Arc::new(AtomicBool::new(false));
            let (reading, at_data) = (Arc::clone(&read), Arc::clone(&stops));
            let all = Predicate::new("all", move |_: &u8| {
                reading.store(true, Ordering::Relaxed);
                at_data.stopper.stop(Stop::Frozen);
                true
            });
            let mechanism = MultiplicativeWeights::new(stops, 100, 10, 1, epsilon("1e9")).unwrap();
            let mut source = NotPrivateSeededCoins::new(5);
            let coins: &mut Coins<'_> = &mut source.coins();
            let data = Arc::new(vec![1_u8; 100]);
            let answer = coins.under(&token, |coins| {
                let mut machine = mechanism.start(&data, coins)?;
                machine.step(all, coins)
            });
            // All rows are above the guess, and their number would be said at once.
            assert_eq!(answer, Err(Fault::Stopped(Stop::Frozen)));
            assert_eq!(read.load(Ordering::Relaxed), reads);
        }
    }

    #[test]
    fn after_the_last_update_it_is_exhausted() {
        let mechanism =
            MultiplicativeWeights::new(vec![1_u8, 2], 100, 10, 1, epsilon("1e9")).unwrap();
        let mut coins = NotPrivateSeededCoins::new(5);
        let data = Arc::new(vec![1_u8; 100]);
        let mut machine = mechanism.start(&data, &mut coins.coins()).unwrap();
        let all = Predicate::new("all", |_: &u8| true);
        assert_eq!(machine.step(all.clone(), &mut coins.coins()), Ok(100));
        assert_eq!(machine.step(rows_of(2), &mut coins.coins()), Ok(0));
        assert_eq!(machine.step(all, &mut coins.coins()), Err(Fault::Exhausted));
    }

    #[test]
    fn bad_parameters_are_refused() {
        let error = |domain: &[u8], rows, threshold, updates, text| {
            let domain = domain.to_vec();
            MultiplicativeWeights::new(domain, rows, threshold, updates, epsilon(text)).map(|_| ())
        };
        assert_eq!(error(&[1], 9, 9, 1, "1"), Ok(()));
        assert_eq!(
            error(&[], 9, 1, 1, "1"),
            Err(MechanismError::none("rows in the domain"))
        );
        let (what, asked, most) = ("rows in the domain", (1 << 21) + 1, 1 << 21);
        let too_many = MechanismError::TooMany { what, asked, most };
        assert_eq!(error(&vec![1; asked], 9, 1, 1, "1"), Err(too_many));
        for (rows, threshold, message) in [
            (
                0,
                0,
                "the threshold must be from 1 to the number of rows, not 0",
            ),
            (
                9,
                0,
                "the threshold must be from 1 to the number of rows, not 0",
            ),
            (
                9,
                10,
                "the threshold must be from 1 to the number of rows, not 10",
            ),
        ] {
            let refused = error(&[1], rows, threshold, 1, "1").unwrap_err();
            assert_eq!(refused.to_string(), message);
        }
        let none = error(&[1], 9, 1, 0, "1").unwrap_err();
        assert_eq!(
            none.to_string(),
            "the number of hits must be at least 1, not 0"
        );
        assert_eq!(
            error(&[1], 9, 1, 1, "0"),
            Err(MechanismError::NoLoss("epsilon"))
        );
        assert_eq!(error(&[1], 9, 1, 1, "1e-27"), Err(MechanismError::TooSmall));
    }

    #[test]
    fn debug_shows_what_is_public() {
        let mechanism =
            MultiplicativeWeights::new(vec![1_u8, 2], 100, 10, 1, epsilon("1")).unwrap();
        assert!(Private::<PureDp, AddRemove>::loss(&mechanism, &PureDp).is_ok());
        let shown = format!("{mechanism:?}");
        assert!(
            shown.starts_with("MultiplicativeWeights(domain = 2, rows = 100, threshold = 10, ")
        );
    }
}
