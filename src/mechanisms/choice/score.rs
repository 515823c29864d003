//! How good candidates are, for mechanisms that choose one.

use std::fmt;
use std::sync::Arc;

use crate::machine::{Description, DomainMismatch, Public, caught};
use crate::mechanisms::limit::CANDIDATES;
use crate::mechanisms::{Counts, MechanismError, RowRelation, Source, Unavailable, apart};
use crate::number::{Epsilon, Ratio};
use crate::privacy::Relation;

/// Scores the candidates of a choice, of which there is a fixed and public number: larger is better.
///
/// Use it with every law of a [`Choice`](super::Choice). Counts and sums are ready-made
/// ([`CountScores`], [`SumScores`](super::SumScores)); this is for scores of your own. What is public
/// is said here, and how the scores are computed by [`Evaluate`]:
///
/// ```
/// use queryables::mechanisms::query::Unavailable;
/// use queryables::mechanisms::{Choice, Evaluate, ExponentialMechanism, Score, Sensitivity};
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// /// The price, from 0 to 9, that brings in the most: buyers pay if they would have paid more.
/// struct Revenue;
///
/// impl Score<AddRemove> for Revenue {
///     fn candidates(&self) -> usize {
///         10
///     }
///
///     fn sensitivity(&self) -> Sensitivity {
///         // One more bid adds at most the price, and takes nothing away.
///         Sensitivity::monotone(9)
///     }
/// }
///
/// impl Evaluate<Vec<i64>> for Revenue {
///     fn evaluate(&self, bids: &Vec<i64>, scores: &mut [i64]) -> Result<(), Unavailable> {
///         for (price, score) in (0..).zip(scores) {
///             *score = price * bids.iter().filter(|bid| **bid >= price).count() as i64;
///         }
///         Ok(())
///     }
/// }
///
/// let bids = Arc::new([3, 7, 7, 8].repeat(1000));
/// let filter = start(&Filter::concurrent(PureDp, epsilon!(1)), bids)?;
/// let price = Choice::by(AddRemove, ExponentialMechanism, Revenue, epsilon!(0.5))?;
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
/// The number of candidates and the sensitivity do not depend on data.
#[diagnostic::on_unimplemented(
    message = "choose by a score under `{R}`: `{Self}` is none",
    label = "not a score",
    note = "for the counts of predicates: `CountScores::of(predicates)`",
    note = "for a score of your own, implement `Score` and state its sensitivity"
)]
pub trait Score<R: Relation>: Send + Sync {
    /// The number of candidates.
    fn candidates(&self) -> usize;

    /// By how much scores change between neighbours.
    fn sensitivity(&self) -> Sensitivity;

    /// What is chosen from, in descriptions of mechanisms. By default the name of the type, as an
    /// [incomplete](Description::incomplete) description.
    fn description(&self) -> Description {
        Description::of::<Self>().incomplete()
    }
}

/// How a [`Score`] is computed on data of this kind.
///
/// # What an implementer owes
///
/// The scores depend on the data and on nothing else. A score that is not written is zero, and if
/// this panics, all scores are zero: the stated [`Sensitivity`] must be true of these, too. It does
/// not fail because of data.
#[diagnostic::on_unimplemented(
    message = "choose by a score that can be computed on `{D}`: `{Self}` cannot",
    label = "computed on other data"
)]
pub trait Evaluate<D: ?Sized> {
    /// Whether it can be computed on data like this, by what is public. By default it can.
    ///
    /// # Errors
    ///
    /// [`DomainMismatch`], which says why not: the launch is refused, and nothing is charged.
    fn check(&self, _data: Public<'_, D>) -> Result<(), DomainMismatch> {
        Ok(())
    }

    /// Writes the score of each candidate, in their order.
    ///
    /// # Errors
    ///
    /// [`Unavailable`] if the engine that holds the data does not answer.
    fn evaluate(&self, data: &D, scores: &mut [i64]) -> Result<(), Unavailable>;
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

    /// Two scores move apart by at most this.
    pub(super) const fn moving_apart(apart: u128) -> Self {
        Self { apart }
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
            let must = "greater than zero";
            return Err(MechanismError::parameter(
                "the sensitivity of a score",
                0,
                must,
            ));
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
/// let votes = CountScores::of([is(1), is(2)]);
/// assert_eq!(sensitivity_between(Replace, &votes, &vec![1, 1, 2], &vec![1, 2, 2]), Ok(2));
/// ```
///
/// # Errors
///
/// [`Unavailable`] if an engine that holds the data does not answer.
pub fn sensitivity_between<D: ?Sized, R: Relation>(
    _relation: R,
    score: &(impl Score<R> + Evaluate<D>),
    one: &D,
    other: &D,
) -> Result<u128, Unavailable> {
    let (before, after) = (scores(score, one)?, scores(score, other)?);
    let rises = || {
        let pairs = before.iter().zip(&after);
        pairs.map(|(before, after)| i128::from(*after) - i128::from(*before))
    };
    let (most, least) = (rises().max(), rises().min());
    Ok(most.unwrap_or(0).abs_diff(least.unwrap_or(0)))
}

/// The scores of all candidates; zeros if evaluating them panics.
pub(super) fn scores<D: ?Sized, R: Relation>(
    score: &(impl Score<R> + Evaluate<D>),
    data: &D,
) -> Result<Vec<i64>, Unavailable> {
    let mut scores = vec![0; score.candidates()];
    match caught(|| score.evaluate(data, &mut scores)) {
        Some(evaluated) => evaluated?,
        None => scores.fill(0),
    }
    Ok(scores)
}

/// How far each score is behind the largest one.
pub(super) fn gaps(scores: &[i64]) -> Vec<u64> {
    let largest = scores.iter().copied().max().unwrap_or_default();
    let behind = scores.iter().map(|score| largest.abs_diff(*score));
    behind.collect()
}

/// Whether there are candidates, and not more than can be held.
pub(super) fn check<R: Relation>(score: &impl Score<R>) -> Result<(), MechanismError> {
    match score.candidates() {
        0 => Err(MechanismError::none("candidates")),
        candidates => CANDIDATES.check(candidates),
    }
}

/// Candidates that are scored by the number of records of which they hold: predicates, or conditions
/// that the data can count ([`Counts`]).
///
/// ```
/// use queryables::data::Predicate;
/// use queryables::mechanisms::{CountScores, Evaluate};
///
/// let is = |value: u8| Predicate::new(value.to_string(), move |row: &u8| *row == value);
/// let votes = CountScores::of([is(1), is(2)]);
/// let mut scores = [0; 2];
/// votes.evaluate(&vec![1, 2, 2], &mut scores)?;
/// assert_eq!(scores, [1, 2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// A record that is added changes every count by one or not at all: they move apart by one. A record
/// that is replaced may raise one and lower another: by two.
#[derive(Clone)]
pub struct CountScores<P> {
    candidates: Arc<[P]>,
}

impl<P> CountScores<P> {
    /// A candidate for each condition. Of more than 2^21, one too many is kept, so that every mechanism
    /// refuses them ([`MechanismError::TooMany`]), and a list without an end takes no more memory.
    pub fn of(candidates: impl IntoIterator<Item = P>) -> Self {
        let kept = candidates.into_iter().take(CANDIDATES.most() + 1);
        Self {
            candidates: kept.collect(),
        }
    }
}

impl<P: Source, R: RowRelation> Score<R> for CountScores<P> {
    fn candidates(&self) -> usize {
        self.candidates.len()
    }

    fn sensitivity(&self) -> Sensitivity {
        Sensitivity::moving_apart(apart::<R>().into())
    }

    fn description(&self) -> Description {
        let names = self.candidates.iter().map(Source::name);
        Description::new(listed(names))
    }
}

impl<D: Counts<P> + ?Sized, P> Evaluate<D> for CountScores<P> {
    fn check(&self, data: Public<'_, D>) -> Result<(), DomainMismatch> {
        let mut candidates = self.candidates.iter();
        candidates.try_for_each(|candidate| D::check(data, candidate))
    }

    fn evaluate(&self, data: &D, scores: &mut [i64]) -> Result<(), Unavailable> {
        for (candidate, score) in self.candidates.iter().zip(scores) {
            *score = i64::try_from(data.count(candidate)?).unwrap_or(i64::MAX);
        }
        Ok(())
    }
}

/// All names. One with a comma is in quotes: no two lists look the same.
pub(super) fn listed<N: AsRef<str>>(names: impl Iterator<Item = N>) -> String {
    let named = names.map(|name| {
        let name = name.as_ref();
        if name.contains([',', '"', '[', ']']) {
            format!("{name:?}")
        } else {
            name.to_owned()
        }
    });
    format!("[{}]", named.collect::<Vec<_>>().join(", "))
}

impl<P> fmt::Debug for CountScores<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CountScores({} candidates)", self.candidates.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Predicate;
    use crate::privacy::{AddRemove, Replace};
    use crate::tests::exact::rows_of;

    /// Writes one score too few and panics on an empty dataset.
    struct Careless;

    impl Score<AddRemove> for Careless {
        fn candidates(&self) -> usize {
            3
        }

        fn sensitivity(&self) -> Sensitivity {
            Sensitivity::each(1)
        }
    }

    impl Evaluate<Vec<u8>> for Careless {
        fn evaluate(&self, data: &Vec<u8>, scores: &mut [i64]) -> Result<(), Unavailable> {
            scores[0] = i64::from(data.len() as u8) + 5;
            scores[1] = i64::from(data[0]);
            Ok(())
        }
    }

    #[test]
    fn what_is_not_written_is_zero_and_so_is_all_of_it_after_a_panic() {
        assert_eq!(scores(&Careless, &vec![9]), Ok(vec![6, 9, 0]));
        assert_eq!(scores(&Careless, &vec![]), Ok(vec![0, 0, 0]));
        assert_eq!(gaps(&[6, 9, 0]), [3, 0, 9]);
        assert_eq!(
            sensitivity_between(AddRemove, &Careless, &vec![], &vec![9]),
            Ok(9)
        );
        let description = Score::<AddRemove>::description(&Careless);
        assert_eq!(description, Description::new("Careless").incomplete());
    }

    #[test]
    fn counts_move_apart_as_far_as_they_state() {
        let counts = CountScores::of([rows_of(1), rows_of(2), rows_of(3)]);
        let replaced = sensitivity_between(Replace, &counts, &vec![1], &vec![2]);
        let stated = |sensitivity: Sensitivity| sensitivity.apart();
        assert_eq!(replaced, Ok(2));
        assert_eq!(stated(Score::<Replace>::sensitivity(&counts)), 2);
        let added = sensitivity_between(AddRemove, &counts, &vec![1], &vec![1, 2]);
        assert_eq!(added, Ok(1));
        assert_eq!(stated(Score::<AddRemove>::sensitivity(&counts)), 1);
        assert_eq!(
            sensitivity_between(
                AddRemove,
                &CountScores::<Predicate<_>>::of([]),
                &vec![1],
                &vec![]
            ),
            Ok(0)
        );
    }

    #[test]
    fn a_score_has_candidates_and_not_too_many() {
        #[derive(Debug)]
        struct Many(usize);
        impl Score<AddRemove> for Many {
            fn candidates(&self) -> usize {
                self.0
            }

            fn sensitivity(&self) -> Sensitivity {
                Sensitivity::each(1)
            }
        }
        let check = |candidates| check(&Many(candidates));
        assert_eq!(check(0), Err(MechanismError::none("candidates")));
        let most = 1 << 21;
        assert_eq!(check(most), Ok(()));
        for asked in [most + 1, 1 << 50] {
            let what = "candidates";
            let refused = MechanismError::TooMany { what, asked, most };
            assert_eq!(check(asked), Err(refused));
        }
    }

    #[test]
    fn a_list_of_predicates_without_an_end_is_refused() {
        let all = Predicate::<Vec<u8>>::new("all", |_: &u8| true);
        let endless = CountScores::of(std::iter::repeat(all));
        let refused = super::check::<AddRemove>(&endless).unwrap_err();
        let (what, asked, most) = ("candidates", (1 << 21) + 1, 1 << 21);
        assert_eq!(refused, MechanismError::TooMany { what, asked, most });
    }

    #[test]
    fn the_widest_scores_have_gaps() {
        struct Widest;
        impl Score<AddRemove> for Widest {
            fn candidates(&self) -> usize {
                2
            }

            fn sensitivity(&self) -> Sensitivity {
                Sensitivity::each(u64::MAX)
            }
        }
        impl Evaluate<()> for Widest {
            fn evaluate(&self, (): &(), scores: &mut [i64]) -> Result<(), Unavailable> {
                scores.copy_from_slice(&[i64::MIN, i64::MAX]);
                Ok(())
            }
        }
        let widest = scores(&Widest, &()).unwrap();
        assert_eq!(gaps(&widest), [u64::MAX, 0]);
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
            rate(Sensitivity::each(0), "0.5", 1)
                .unwrap_err()
                .to_string(),
            "the sensitivity of a score must be greater than zero, not 0"
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
