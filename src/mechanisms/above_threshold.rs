//! Which of many counts are large: the sparse vector technique.

use std::marker::PhantomData;
use std::sync::Arc;

use super::least_loss::least_loss;
use super::sparse_vector::WithCounts;
use super::{
    About, Accuracy, Counts, MechanismError, RowRelation, SparseVector, apart, over, shown, states,
};
use crate::machine::{
    Coins, Description, DrawnNoise, Fault, Inspect, Machine, Mechanism, StateKey, public,
};
use crate::noise::{DiscreteLaplace, within_two};
use crate::number::{Confidence, Epsilon, Ratio};
use crate::privacy::facts::Pure;
use crate::privacy::{AddRemove, Relation};

/// Answers whether the count of a predicate is above a threshold, for any number of predicates,
/// until it has said yes a given number of times.
///
/// Use it where most answers will be no: only yes answers cost anything. Predicates are chosen one
/// by one, after the answers to the earlier ones. The drawback is noise on both sides of the
/// comparison: a count within some multiples of hits/ε of the threshold may be on either side. To
/// get the counts too, use [`with_counts`](Self::with_counts).
///
/// ```
/// use queryables::data::Predicate;
/// use queryables::mechanisms::AboveThreshold;
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let ages: Arc<Vec<u32>> = Arc::new((0..10_000).map(|person| person % 80).collect());
/// let filter = start(&Filter::concurrent(PureDp, epsilon!(1)), ages)?;
///
/// // Is there a decade with more than 1000 people? It stops at the first.
/// let search = AboveThreshold::new(AddRemove, 1000, 1, epsilon!(0.5))?;
/// let search = filter.launch(&search)?;
/// let decade = |start: u32| {
///     Predicate::new(format!("{start} and on"), move |age: &u32| {
///         (start..start + 10).contains(age)
///     })
/// };
/// assert_eq!(search.ask(decade(90)), Ok(false));
/// assert_eq!(search.ask(decade(10)), Ok(true));
/// assert_eq!(search.ask(decade(20)), Err(AskError::Fault(Fault::Exhausted)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// ε-DP for neighbours under `R`, against every adaptive choice of predicates: Lyu, Su and Li
/// 2017, Algorithm 7. Of ε = ε₁ + ε₂, the threshold gets noise of scale 1/ε₁, once, and each count
/// gets noise of scale 2·hits/ε₂; where one row is added or removed, hits/ε₂ is enough.
///
/// Why: between neighbours, raise the threshold's noise by one, for a factor of e^ε₁, and every
/// miss is still a miss. Each hit is still a hit if its own noise is raised by two, one for the
/// threshold and one for a count that fell, for a factor of e^(ε₂/hits). Where a row is added, no
/// count falls, and one is enough; where it is removed, none rises, the threshold can stay, and
/// one is enough again. Where a row is replaced, one count may rise while another falls.
///
/// Noise is clamped to an `i128`; what lies beyond has a probability below e^-100000000 and is not
/// part of the bound.
#[doc(alias = "SVT")]
#[doc(alias = "sparse vector technique")]
pub struct AboveThreshold<Q, R = AddRemove, H = YesOrNo> {
    pub(super) search: Search,
    /// What a hit is answered with.
    pub(super) hit: H,
    pub(super) fact: Pure,
    /// What it is asked, and under which relation.
    kind: PhantomData<fn(Q) -> R>,
}

/// What is compared with what.
#[derive(Clone, Copy, Debug)]
pub(super) struct Search {
    pub(super) threshold: i64,
    pub(super) hits: u32,
    epsilon: Epsilon,
    /// The part of it that the threshold's noise has.
    threshold_epsilon: Epsilon,
    threshold_noise: DiscreteLaplace,
    count_noise: DiscreteLaplace,
}

/// How a hit is answered.
pub trait Hit: Copy {
    /// How the mechanism is called.
    const NAME: &'static str;
    /// The answer to every question.
    type Answer;

    /// The count of a hit, or no hit, as an answer.
    ///
    /// # Errors
    ///
    /// [`Fault`] if the coins fail.
    fn answer(&self, hit: Option<u64>, coins: &mut Coins<'_>) -> Result<Self::Answer, Fault>;

    /// Adds its own part of the loss.
    fn describe(&self, description: Description) -> Description {
        description
    }
}

/// A hit is answered with yes.
#[derive(Clone, Copy, Debug)]
pub struct YesOrNo;

impl Hit for YesOrNo {
    const NAME: &'static str = "AboveThreshold";
    type Answer = bool;

    fn answer(&self, hit: Option<u64>, _: &mut Coins<'_>) -> Result<bool, Fault> {
        Ok(hit.is_some())
    }
}

impl<Q, R: RowRelation> AboveThreshold<Q, R> {
    /// Says yes `hits` times, for counts of about `threshold` or more.
    ///
    /// ε is divided such that the noise of a comparison has the least variance: ε₂ is about
    /// (2·hits)^(2/3) times ε₁, or hits^(2/3) for [`AddRemove`] (Lyu, Su and Li 2017, §4.2).
    ///
    /// # Errors
    ///
    /// [`MechanismError::BadParameter`], [`MechanismError::NoLoss`], or [`MechanismError::TooSmall`] for
    /// an ε so small that one of its parts is zero.
    pub fn new(
        relation: R,
        threshold: i64,
        hits: u32,
        epsilon: Epsilon,
    ) -> Result<Self, MechanismError> {
        if epsilon == Epsilon::ZERO {
            return Err(MechanismError::NoLoss("epsilon"));
        }
        let spread = u128::from(apart::<R>()) * u128::from(hits);
        let shares = 1 + cube_root(spread * spread).max(1);
        let threshold_epsilon =
            Epsilon::from_units(epsilon.units() / shares).map_err(|_| MechanismError::TooLarge)?;
        if threshold_epsilon == Epsilon::ZERO {
            return Err(MechanismError::TooSmall);
        }
        let counts_epsilon = epsilon.saturating_sub(threshold_epsilon);
        Self::with_shares(relation, threshold, hits, threshold_epsilon, counts_epsilon)
    }

    /// The same with the smallest ε for which a count is at most `within` on the wrong side of the
    /// threshold, with at least this confidence ([`Accuracy`]). It is rounded up to six digits.
    ///
    /// # Errors
    ///
    /// [`MechanismError::TooAccurate`] if no ε up to 10^6 suffices, and those of [`new`](Self::new).
    pub fn with_accuracy(
        relation: R,
        threshold: i64,
        hits: u32,
        within: u128,
        confidence: Confidence,
    ) -> Result<Self, MechanismError> {
        let make = |epsilon| Self::new(relation, threshold, hits, epsilon);
        least_loss(make, |made| made.off(confidence) <= within)
    }

    /// [`new`](Self::new), with ε₁ for the threshold and ε₂ for the counts.
    ///
    /// # Errors
    ///
    /// [`MechanismError::BadParameter`], [`MechanismError::NoLoss`], or [`MechanismError::TooLarge`] if
    /// the two cannot be added.
    pub fn with_shares(
        _relation: R,
        threshold: i64,
        hits: u32,
        threshold_epsilon: Epsilon,
        counts_epsilon: Epsilon,
    ) -> Result<Self, MechanismError> {
        if hits == 0 {
            return Err(MechanismError::parameter(
                "the number of hits",
                hits,
                "at least 1",
            ));
        }
        let spread = Ratio::from(apart::<R>() * u64::from(hits));
        let epsilon = threshold_epsilon
            .checked_add(counts_epsilon)
            .ok_or(MechanismError::TooLarge)?;
        let search = Search {
            threshold,
            hits,
            epsilon,
            threshold_epsilon,
            threshold_noise: DiscreteLaplace::new(over(Ratio::from(1), threshold_epsilon)?)?,
            count_noise: DiscreteLaplace::new(over(spread, counts_epsilon)?)?,
        };
        Ok(Self::with(search, YesOrNo, epsilon))
    }

    /// Answers each yes with a noisy count too, for an ε₃ on top.
    ///
    /// # Errors
    ///
    /// [`MechanismError::NoLoss`], or [`MechanismError::TooLarge`] if the losses cannot be added.
    pub fn with_counts(self, epsilon: Epsilon) -> Result<SparseVector<Q, R>, MechanismError> {
        let hit = WithCounts::new(self.search.hits, epsilon)?;
        let epsilon = self.search.epsilon.checked_add(epsilon);
        let epsilon = epsilon.ok_or(MechanismError::TooLarge)?;
        Ok(AboveThreshold::with(self.search, hit, epsilon))
    }

    /// The same with the smallest ε₃ for which a count that is told is at most `within` away from the
    /// true one, with at least this confidence. It is rounded up to six digits.
    ///
    /// # Errors
    ///
    /// [`MechanismError::TooAccurate`] if no ε₃ up to 10^6 suffices, and those of
    /// [`with_counts`](Self::with_counts).
    pub fn with_counts_within(
        self,
        within: u128,
        confidence: Confidence,
    ) -> Result<SparseVector<Q, R>, MechanismError> {
        let make = |epsilon| self.clone().with_counts(epsilon);
        least_loss(make, |made| made.hit.within(confidence) <= within)
    }
}

impl<D: Counts<Q> + ?Sized, Q, R: Relation, H: Hit> Mechanism<D> for AboveThreshold<Q, R, H> {
    type Machine = AboveThresholdMachine<D, Q, H>;

    fn start(&self, data: &Arc<D>, coins: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        Ok(AboveThresholdMachine {
            data: Arc::clone(data),
            threshold: self.search.threshold.into(),
            threshold_noise: coins.noise(&self.search.threshold_noise)?,
            count_noise: self.search.count_noise,
            hits_left: self.search.hits,
            hit: self.hit,
            questions: PhantomData,
        })
    }

    fn describe(&self) -> Description {
        self.description()
    }
}

impl<Q, R, H> AboveThreshold<Q, R, H> {
    fn with(search: Search, hit: H, epsilon: Epsilon) -> Self {
        Self {
            search,
            hit,
            fact: Pure { epsilon },
            kind: PhantomData,
        }
    }

    /// How far a count may be on the wrong side of the threshold.
    pub(super) fn off(&self, confidence: Confidence) -> u128 {
        let search = &self.search;
        within_two(search.threshold_noise, search.count_noise, confidence)
    }
}

impl<Q, R: Relation, H: Hit> AboveThreshold<Q, R, H> {
    fn description(&self) -> Description {
        self.parameters(H::NAME)
    }

    /// Under this name.
    pub(super) fn parameters(&self, name: &'static str) -> Description {
        let description = Description::new(name)
            .with("relation", R::NAME)
            .with("threshold", self.search.threshold)
            .with("hits", self.search.hits)
            .with("epsilon", self.search.epsilon)
            .with("epsilon of the threshold", self.search.threshold_epsilon);
        self.hit.describe(description)
    }
}

/// How far a count may be on the wrong side of the threshold: that of a yes is at least the threshold
/// minus this, that of a no at most the threshold plus this.
///
/// The sum of both noises is within this distance with the confidence, which is enough for every
/// predicate, even one that was chosen by the answers before.
impl<Q, R> Accuracy for AboveThreshold<Q, R> {
    type Distance = u128;

    fn accuracy(&self, confidence: Confidence) -> u128 {
        self.off(confidence)
    }

    fn about(&self) -> About {
        About::all_rows()
    }
}

states!(Pure: impl[Q, R: RowRelation, H,] AboveThreshold<Q, R, H>, R, |search| search.fact);
shown!(impl[Q, R: Relation, H: Hit] AboveThreshold<Q, R, H>);

crate::clone_fields!([Q, R, H: Clone] AboveThreshold<Q, R, H> { search, hit, fact, kind });

/// A running [`AboveThreshold`]: it is asked questions that the data can count ([`Counts`]), and after the last hit every query is
/// [`Fault::Exhausted`].
pub struct AboveThresholdMachine<D: ?Sized, Q, H = YesOrNo> {
    data: Arc<D>,
    threshold: i128,
    threshold_noise: DrawnNoise,
    count_noise: DiscreteLaplace,
    hits_left: u32,
    hit: H,
    questions: PhantomData<fn(Q)>,
}

impl<D: Counts<Q> + ?Sized, Q, H: Hit> AboveThresholdMachine<D, Q, H> {
    /// Whether some value of the count looks large: one that changes by at most one when the count
    /// does. Values that do not all move in the same direction need the noise for [`Replace`].
    pub(super) fn hit_by(
        &mut self,
        question: &Q,
        value: impl FnOnce(u64) -> i128,
        coins: &mut Coins<'_>,
    ) -> Result<H::Answer, Fault> {
        if self.hits_left == 0 {
            return Err(Fault::Exhausted);
        }
        D::check(public(&*self.data), question)?;
        let noise = coins.noise(&self.count_noise)?;
        let count = self.data.count(question)?;
        let threshold = (self.threshold, &self.threshold_noise);
        let is_hit = coins.at_least((value(count), &noise), threshold);
        self.hits_left -= u32::from(is_hit);
        self.hit.answer(is_hit.then_some(count), coins)
    }
}

impl<D: Counts<Q> + ?Sized, Q, H: Hit> Machine for AboveThresholdMachine<D, Q, H> {
    type Query = Q;
    type Answer = H::Answer;

    fn step(&mut self, query: Q, coins: &mut Coins<'_>) -> Result<H::Answer, Fault> {
        self.hit_by(&query, i128::from, coins)
    }
}

impl<D: Inspect + ?Sized, Q> Inspect for AboveThresholdMachine<D, Q> {
    fn inspect(&self, key: &mut StateKey) {
        key.write(&*self.data);
        key.write(&self.threshold_noise);
        key.write(&(self.threshold, &self.count_noise, self.hits_left));
    }
}

// Shows neither the data nor the noisy threshold.
crate::debug_fields!([D: ?Sized, Q, H] AboveThresholdMachine<D, Q, H>, "AboveThresholdMachine" { hits_left, .. });

/// The largest number whose cube is at most this, for numbers below 2^69.
fn cube_root(number: u128) -> u128 {
    (0..23).rev().fold(0, |root, bit| {
        let larger = root | (1 << bit);
        if larger * larger * larger <= number {
            larger
        } else {
            root
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Predicate;
    use crate::machine::noise_drawn;
    use crate::machine::{ClosedForm, CoinSource, Law, NotPrivateSeededCoins};
    use crate::privacy::Replace;
    use crate::privacy::{Private, PureDp};
    use crate::tests::exact::{answers, rows_of, violation};

    fn epsilon(text: &str) -> Epsilon {
        text.parse().unwrap()
    }

    /// Datasets that differ by one row, on which two counts move apart or together.
    const REPLACED: [&[u8]; 2] = [&[1], &[2]];
    const REMOVED: [&[u8]; 2] = [&[1, 2], &[2]];

    /// The first threshold at which some answers have odds that surely differ by more than the
    /// declared loss, where less than one in a hundred is cut from the noise.
    fn worst<R: RowRelation>(
        relation: R,
        hits: u32,
        counts_epsilon: &str,
        pair: [&[u8]; 2],
    ) -> Option<i64> {
        // Hits in one direction, misses in the other, and questions after the last hit.
        let queries = [rows_of(1), rows_of(2), rows_of(1)];
        let queries = if hits == 1 { &queries[..2] } else { &queries };
        let span = if hits == 1 { 8 } else { 6 };
        (0..=2).find(|&threshold| {
            let shares = (epsilon("1"), epsilon(counts_epsilon));
            let search = AboveThreshold::with_shares(relation, threshold, hits, shares.0, shares.1);
            let search = search.unwrap();
            let loss = search.loss(&PureDp).unwrap();
            let [one, other] = pair.map(|rows| answers(&search, rows, queries, span));
            assert!(one.cut.to_f64_fast() < 0.01 && other.cut.to_f64_fast() < 0.01);
            violation(&one, &other, loss).is_some() || violation(&other, &one, loss).is_some()
        })
    }

    #[test]
    fn no_answers_on_neighbours_differ_by_more_than_the_loss() {
        assert_eq!(worst(AddRemove, 1, "1", REMOVED), None);
        assert_eq!(worst(Replace, 1, "2", REPLACED), None);
        assert_eq!(worst(Replace, 1, "2", REMOVED), None);
        assert_eq!(worst(AddRemove, 2, "2", REMOVED), None);
    }

    /// The noise for added rows is too small for replaced ones: the test above can fail, and the
    /// two relations do need different noise.
    #[test]
    fn noise_for_added_rows_does_not_do_for_replaced_ones() {
        assert_eq!(worst(AddRemove, 1, "2", REPLACED), Some(1));
    }

    /// The same search without noise on the threshold: every miss leaks anew.
    struct Unshaken(AboveThreshold<Predicate<Vec<u8>>>);

    impl Mechanism<Vec<u8>> for Unshaken {
        type Machine = AboveThresholdMachine<Vec<u8>, Predicate<Vec<u8>>>;

        fn start(
            &self,
            data: &Arc<Vec<u8>>,
            _coins: &mut Coins<'_>,
        ) -> Result<Self::Machine, Fault> {
            let mut search = self
                .0
                .start(data, &mut NotPrivateSeededCoins::new(0).coins())?;
            search.threshold_noise = noise_drawn(0);
            Ok(search)
        }
    }

    #[test]
    fn misses_cost_nothing_because_the_threshold_is_noisy() {
        let queries = [rows_of(1), rows_of(1), rows_of(1)];
        let search =
            AboveThreshold::with_shares(AddRemove, 1, 1, epsilon("0.5"), epsilon("1")).unwrap();
        let loss = search.loss(&PureDp).unwrap();
        let [few, many] = [&[2][..], &[1, 2][..]];
        let right = [few, many].map(|rows| answers(&search, rows, &queries, 8));
        assert!(right.iter().all(|found| found.cut.to_f64_fast() < 0.02));
        assert_eq!(violation(&right[0], &right[1], loss), None);
        assert_eq!(violation(&right[1], &right[0], loss), None);
        let wrong = [few, many].map(|rows| answers(&Unshaken(search.clone()), rows, &queries, 8));
        let misses = vec![Ok(false); 3];
        assert_eq!(violation(&wrong[0], &wrong[1], loss), Some(&misses));
    }

    #[test]
    fn after_the_last_hit_it_is_exhausted() {
        // With an ε of a million the noise is negligible.
        let search = AboveThreshold::new(AddRemove, 1, 2, epsilon("1000000")).unwrap();
        let mut coins = NotPrivateSeededCoins::new(5);
        let data = Arc::new(vec![1, 2]);
        let mut machine = search.start(&data, &mut coins.coins()).unwrap();
        let mut ask = |value| machine.step(rows_of(value), &mut coins.coins());
        assert_eq!(ask(1), Ok(true));
        assert_eq!(ask(3), Ok(false));
        assert_eq!(ask(2), Ok(true));
        assert_eq!(ask(2), Err(Fault::Exhausted));
        assert_eq!(ask(3), Err(Fault::Exhausted));
        assert_eq!(
            format!("{machine:?}"),
            "AboveThresholdMachine { hits_left: 0, .. }"
        );
    }

    #[test]
    fn the_loss_is_shared_out_whole() {
        let scales = |search: &AboveThreshold<Predicate<Vec<u8>>, Replace>| {
            [
                search.search.threshold_noise.closed_form(),
                search.search.count_noise.closed_form(),
            ]
        };
        let laplace = |numerator, denominator| ClosedForm::DiscreteLaplace {
            scale: Ratio::new(numerator, denominator).unwrap(),
        };
        // (2·4)^(2/3) = 4: a fifth for the threshold.
        let search = AboveThreshold::new(Replace, 9, 4, epsilon("1")).unwrap();
        assert_eq!(scales(&search), [laplace(5, 1), laplace(10, 1)]);
        assert_eq!(search.loss(&PureDp), Ok(epsilon("1")));
        // What cannot be halved goes to the counts.
        let tiny =
            AboveThreshold::<Predicate<Vec<u8>>>::new(AddRemove, 9, 1, epsilon("3e-27")).unwrap();
        assert_eq!(tiny.loss(&PureDp), Ok(epsilon("3e-27")));
        assert_eq!(
            format!("{tiny:?}"),
            "AboveThreshold(relation = add or remove one row, threshold = 9, hits = 1, \
             epsilon = 3e-27, epsilon of the threshold = 1e-27)"
        );
    }

    #[test]
    fn bad_parameters_are_refused() {
        let new = |hits, text| {
            AboveThreshold::<Predicate<Vec<u8>>>::new(AddRemove, 0, hits, epsilon(text)).map(|_| ())
        };
        let none = new(0, "1").unwrap_err();
        assert_eq!(
            none.to_string(),
            "the number of hits must be at least 1, not 0"
        );
        assert_eq!(new(1, "0"), Err(MechanismError::NoLoss("epsilon")));
        assert_eq!(new(1, "1e-27"), Err(MechanismError::TooSmall));
        assert_eq!(new(u32::MAX, "1"), Ok(()));
        let shares = |one, other| {
            AboveThreshold::<Predicate<Vec<u8>>>::with_shares(
                AddRemove,
                0,
                1,
                epsilon(one),
                epsilon(other),
            )
            .map(|_| ())
        };
        assert_eq!(shares("1", "0"), Err(MechanismError::NoLoss("epsilon")));
        assert_eq!(shares("0", "1"), Err(MechanismError::NoLoss("epsilon")));
        assert_eq!(shares("3e11", "3e11"), Err(MechanismError::TooLarge));
    }

    #[test]
    fn cube_roots() {
        for root in [0, 1, 2, 10, 1000, (1 << 22) + 12345] {
            assert_eq!(cube_root(root * root * root), root);
            assert_eq!(cube_root((root + 1).pow(3) - 1), root);
        }
    }
}
