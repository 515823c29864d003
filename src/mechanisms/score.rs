//! How good candidates are, for mechanisms that choose one.

use std::fmt;
use std::sync::Arc;

use super::limit::CANDIDATES;
use super::{MechanismError, RowRelation, apart};
use crate::data::{Attribute, Dataset, Predicate, Value};
use crate::machine::{Description, caught};
use crate::number::{Epsilon, Ratio};
use crate::privacy::Relation;

/// Scores the candidates of a choice, of which there is a fixed and public number: larger is better.
///
/// Use it with [`NoisyMax`](super::NoisyMax), [`ExponentialMechanism`](super::ExponentialMechanism),
/// [`PermuteAndFlip`](super::PermuteAndFlip) and [`TopK`](super::TopK). Counts of predicates are
/// ready-made ([`CountScores`]); this is for scores of your own:
///
/// ```
/// use queryables::mechanisms::{ExponentialMechanism, Score, Sensitivity};
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// /// The price, from 0 to 9, that brings in the most: buyers pay if they would have paid more.
/// struct Revenue;
///
/// impl Score<Vec<i64>, AddRemove> for Revenue {
///     fn candidates(&self) -> usize {
///         10
///     }
///
///     fn sensitivity(&self) -> Sensitivity {
///         // One more bid adds at most the price, and takes nothing away.
///         Sensitivity::monotone(9)
///     }
///
///     fn write(&self, bids: &Vec<i64>, scores: &mut [i64]) {
///         for (price, score) in (0..).zip(scores) {
///             *score = price * bids.iter().filter(|bid| **bid >= price).count() as i64;
///         }
///     }
/// }
///
/// let bids = Arc::new([3, 7, 7, 8].repeat(1000));
/// let filter = start(&Filter::concurrent(PureDp, "1".parse()?), bids)?;
/// let price = ExponentialMechanism::by_score(AddRemove, Revenue, "0.5".parse()?)?;
/// assert_eq!(filter.release(&price)?, 7);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # What an implementer owes
///
/// The stated [`Sensitivity`] is true of any two neighbours under `R`: every guarantee of a choice
/// by this score depends on it. Test it: `verify::strategies::assert_sensitivity` looks for
/// neighbours that refute it, and [`sensitivity_between`] measures one pair.
///
/// The number of candidates and the sensitivity do not depend on data, and the scores depend on
/// nothing else.
///
/// A score that is not written is zero, and if writing panics, all scores are zero. The stated
/// sensitivity must be true of these, too.
#[diagnostic::on_unimplemented(
    message = "choose by a score of `{D}` under `{R}`: `{Self}` is none",
    label = "not a score",
    note = "for the counts of predicates: `CountScores::new(predicates)`",
    note = "for a score of your own, implement `Score` and state its sensitivity"
)]
pub trait Score<D: ?Sized, R: Relation>: Send + Sync {
    /// The number of candidates.
    fn candidates(&self) -> usize;

    /// By how much scores change between neighbours.
    fn sensitivity(&self) -> Sensitivity;

    /// Writes the score of each candidate, in their order.
    fn write(&self, data: &D, scores: &mut [i64]);

    /// What is chosen from, in descriptions of mechanisms. By default the name of the type, as an
    /// [incomplete](Description::incomplete) description.
    fn description(&self) -> Description {
        Description::of::<Self>().incomplete()
    }
}

/// By how much scores change between neighbours: at most how far two of them move apart.
///
/// This is all that the choices of this crate depend on. If each score changes by at most Δ, one can
/// rise by Δ while another falls by Δ, and they move apart by 2Δ; if all move in the same direction,
/// by Δ.
///
/// ```
/// use queryables::mechanisms::Sensitivity;
///
/// assert_eq!(Sensitivity::each(3).apart(), 6);
/// assert_eq!(Sensitivity::monotone(3).apart(), 3);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sensitivity {
    apart: u128,
}

impl Sensitivity {
    /// Each score changes by at most `change`.
    #[must_use]
    pub const fn each(change: u64) -> Self {
        Self {
            apart: 2 * change as u128,
        }
    }

    /// Each score changes by at most `change`, and between two neighbours all in the same direction.
    #[must_use]
    pub const fn monotone(change: u64) -> Self {
        Self {
            apart: change as u128,
        }
    }

    /// By how much two scores can move apart.
    #[must_use]
    pub const fn apart(self) -> u128 {
        self.apart
    }

    /// ε/apart: by how much the logarithm of odds may fall with each step of the score, where the
    /// choice is made `times` times with ε in all.
    pub(super) fn rate(self, epsilon: Epsilon, times: u64) -> Result<Ratio, MechanismError> {
        if self.apart == 0 {
            return Err(MechanismError::NoSensitivity);
        }
        if epsilon == Epsilon::ZERO {
            return Err(MechanismError::NoLoss("epsilon"));
        }
        let spread = self.apart.checked_mul(times.into());
        let spread = spread.and_then(|spread| Ratio::new(1, spread));
        let rate = spread.and_then(|part| Ratio::from(epsilon).checked_mul(part));
        rate.ok_or(MechanismError::TooFine)
    }
}

/// By how much two scores move apart between these datasets.
///
/// ```
/// use queryables::data::Predicate;
/// use queryables::mechanisms::{CountScores, sensitivity_between};
/// use queryables::privacy::Replace;
///
/// let is = |value: u8| Predicate::new(value.to_string(), move |row: &u8| *row == value);
/// let votes = CountScores::new([is(1), is(2)]);
/// assert_eq!(sensitivity_between(Replace, &votes, &vec![1, 1, 2], &vec![1, 2, 2]), 2);
/// ```
pub fn sensitivity_between<D: ?Sized, R: Relation>(
    _relation: R,
    score: &impl Score<D, R>,
    one: &D,
    other: &D,
) -> u128 {
    let [before, after] = [one, other].map(|data| scores(score, data));
    let rises = || {
        let pairs = before.iter().zip(&after);
        pairs.map(|(before, after)| i128::from(*after) - i128::from(*before))
    };
    match (rises().max(), rises().min()) {
        (Some(most), Some(least)) => most.abs_diff(least),
        _ => 0,
    }
}

/// The scores of all candidates; zeros if writing them panics.
pub(super) fn scores<D: ?Sized, R: Relation, S: Score<D, R>>(score: &S, data: &D) -> Vec<i64> {
    let mut scores = vec![0; score.candidates()];
    if caught(|| score.write(data, &mut scores)).is_none() {
        scores.fill(0);
    }
    scores
}

/// How far each score is behind the largest one.
pub(super) fn gaps<D: ?Sized, R: Relation, S: Score<D, R>>(score: &S, data: &D) -> Vec<u64> {
    let scores = scores(score, data);
    let largest = scores.iter().copied().max().unwrap_or_default();
    let behind = scores.iter().map(|score| largest.abs_diff(*score));
    behind.collect()
}

/// A score that has candidates, and not more than can be held, ready to be shared.
pub(super) fn shared<D: ?Sized, R: Relation, S: Score<D, R>>(
    score: S,
) -> Result<Arc<S>, MechanismError> {
    let candidates = score.candidates();
    if candidates == 0 {
        return Err(MechanismError::NoChoice);
    }
    CANDIDATES.check(candidates)?;
    Ok(Arc::new(score))
}

/// Candidates that are scored by the number of rows for which they hold.
///
/// ```
/// use queryables::data::Predicate;
/// use queryables::mechanisms::{CountScores, Score};
/// use queryables::privacy::AddRemove;
///
/// let is = |value: u8| Predicate::new(value.to_string(), move |row: &u8| *row == value);
/// let votes = CountScores::new([is(1), is(2)]);
/// let mut scores = [0; 2];
/// Score::<_, AddRemove>::write(&votes, &vec![1, 2, 2], &mut scores);
/// assert_eq!(scores, [1, 2]);
/// ```
///
/// # Guarantee
///
/// A row that is added changes every count by one or not at all: they move apart by one. A row that
/// is replaced may raise one and lower another: by two.
pub struct CountScores<D: ?Sized> {
    predicates: Arc<[Predicate<D>]>,
}

impl<D: ?Sized> CountScores<D> {
    /// A candidate for each predicate. Of more than 2^21, one too many is kept, so that every mechanism
    /// refuses them ([`MechanismError::TooMany`]), and a list without an end takes no more memory.
    #[must_use]
    pub fn new(predicates: impl IntoIterator<Item = Predicate<D>>) -> Self {
        let kept = predicates.into_iter().take(CANDIDATES.most() + 1);
        Self {
            predicates: kept.collect(),
        }
    }
}

impl<D: Dataset + ?Sized, R: RowRelation> Score<D, R> for CountScores<D> {
    fn candidates(&self) -> usize {
        self.predicates.len()
    }

    fn sensitivity(&self) -> Sensitivity {
        Sensitivity {
            apart: apart::<R>().into(),
        }
    }

    fn write(&self, data: &D, scores: &mut [i64]) {
        for (predicate, score) in self.predicates.iter().zip(scores) {
            *score = i64::try_from(predicate.count(data)).unwrap_or(i64::MAX);
        }
    }

    fn description(&self) -> Description {
        Description::new(listed(&self.predicates))
    }
}

/// The names of all. A name with a comma is in quotes: no two lists look the same.
pub(super) fn listed<D: ?Sized, T: Value>(candidates: &[Attribute<D, T>]) -> String {
    let named = candidates.iter().map(|candidate| {
        let name = candidate.name();
        if name.contains([',', '"', '[', ']']) {
            format!("{name:?}")
        } else {
            name.to_owned()
        }
    });
    format!("[{}]", named.collect::<Vec<_>>().join(", "))
}

impl<D: ?Sized> Clone for CountScores<D> {
    fn clone(&self) -> Self {
        Self {
            predicates: Arc::clone(&self.predicates),
        }
    }
}

impl<D: ?Sized> fmt::Debug for CountScores<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Counts({} predicates)", self.predicates.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::{AddRemove, Replace};
    use crate::tests::exact::rows_of;

    /// Writes one score too few and panics on an empty dataset.
    struct Careless;

    impl Score<Vec<u8>, AddRemove> for Careless {
        fn candidates(&self) -> usize {
            3
        }

        fn sensitivity(&self) -> Sensitivity {
            Sensitivity::each(1)
        }

        fn write(&self, data: &Vec<u8>, scores: &mut [i64]) {
            scores[0] = i64::from(data.len() as u8) + 5;
            scores[1] = i64::from(data[0]);
        }
    }

    #[test]
    fn what_is_not_written_is_zero_and_so_is_all_of_it_after_a_panic() {
        assert_eq!(scores(&Careless, &vec![9]), [6, 9, 0]);
        assert_eq!(scores(&Careless, &vec![]), [0, 0, 0]);
        assert_eq!(gaps(&Careless, &vec![9]), [3, 0, 9]);
        assert_eq!(
            sensitivity_between(AddRemove, &Careless, &vec![], &vec![9]),
            9
        );
        let description = Score::<Vec<u8>, AddRemove>::description(&Careless);
        assert_eq!(description, Description::new("Careless").incomplete());
    }

    #[test]
    fn counts_move_apart_as_far_as_they_state() {
        let counts = CountScores::new([rows_of(1), rows_of(2), rows_of(3)]);
        let replaced = sensitivity_between(Replace, &counts, &vec![1], &vec![2]);
        let stated = |sensitivity: Sensitivity| sensitivity.apart();
        assert_eq!(replaced, 2);
        assert_eq!(stated(Score::<_, Replace>::sensitivity(&counts)), 2);
        let added = sensitivity_between(AddRemove, &counts, &vec![1], &vec![1, 2]);
        assert_eq!(added, 1);
        assert_eq!(stated(Score::<_, AddRemove>::sensitivity(&counts)), 1);
        assert_eq!(
            sensitivity_between(AddRemove, &CountScores::new([]), &vec![1], &vec![]),
            0
        );
    }

    #[test]
    fn a_score_has_candidates_and_not_too_many() {
        #[derive(Debug)]
        struct Many(usize);
        impl Score<(), AddRemove> for Many {
            fn candidates(&self) -> usize {
                self.0
            }

            fn sensitivity(&self) -> Sensitivity {
                Sensitivity::each(1)
            }

            fn write(&self, (): &(), _: &mut [i64]) {}
        }
        let shared = |candidates| shared(Many(candidates)).map(|many| many.0);
        assert_eq!(shared(0), Err(MechanismError::NoChoice));
        let most = 1 << 21;
        assert_eq!(shared(most), Ok(most));
        for asked in [most + 1, 1 << 50] {
            let what = "candidates";
            let refused = MechanismError::TooMany { what, asked, most };
            assert_eq!(shared(asked), Err(refused));
        }
    }

    #[test]
    fn a_list_of_predicates_without_an_end_is_refused() {
        let all = Predicate::<Vec<u8>>::new("all", |_: &u8| true);
        let endless = CountScores::new(std::iter::repeat(all));
        let refused = super::shared::<Vec<u8>, AddRemove, _>(endless).unwrap_err();
        let (what, asked, most) = ("candidates", (1 << 21) + 1, 1 << 21);
        assert_eq!(refused, MechanismError::TooMany { what, asked, most });
    }

    #[test]
    fn the_widest_scores_have_gaps() {
        struct Widest;
        impl Score<(), AddRemove> for Widest {
            fn candidates(&self) -> usize {
                2
            }

            fn sensitivity(&self) -> Sensitivity {
                Sensitivity::each(u64::MAX)
            }

            fn write(&self, (): &(), scores: &mut [i64]) {
                scores.copy_from_slice(&[i64::MIN, i64::MAX]);
            }
        }
        assert_eq!(gaps(&Widest, &()), [u64::MAX, 0]);
        let apart = Widest.sensitivity().apart();
        assert_eq!(apart, 2 * u128::from(u64::MAX));
    }

    #[test]
    fn the_rate_is_exact_or_an_error() {
        let epsilon = |text: &str| text.parse().unwrap();
        let rate = |sensitivity: Sensitivity, text, times| sensitivity.rate(epsilon(text), times);
        assert_eq!(
            rate(Sensitivity::each(3), "0.5", 2),
            Ok(Ratio::new(1, 24).unwrap())
        );
        assert_eq!(
            rate(Sensitivity::each(0), "0.5", 1),
            Err(MechanismError::NoSensitivity)
        );
        assert_eq!(
            rate(Sensitivity::each(1), "0", 1),
            Err(MechanismError::NoLoss("epsilon"))
        );
        assert_eq!(
            rate(Sensitivity::each(u64::MAX), "1e-27", u64::MAX),
            Err(MechanismError::TooFine)
        );
    }
}
