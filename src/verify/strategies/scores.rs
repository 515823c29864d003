use std::fmt::Debug;

use proptest::collection::SizeRange;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::{neighbours, replaced};
use crate::mechanisms::{Evaluate, Score, sensitivity_between};
use crate::privacy::{AddRemove, Relation, Replace};
use crate::verify::Pair;

/// A relation whose neighbours can be generated.
pub trait GeneratedRelation: Relation {
    /// Two datasets that are neighbours; the size is that of what they have in common.
    fn pairs<S>(rows: S, size: SizeRange) -> BoxedStrategy<Pair<Vec<S::Value>>>
    where
        S: Strategy<Value: Clone> + Clone + 'static;
}

impl GeneratedRelation for AddRemove {
    fn pairs<S>(rows: S, size: SizeRange) -> BoxedStrategy<Pair<Vec<S::Value>>>
    where
        S: Strategy<Value: Clone> + Clone + 'static,
    {
        neighbours(rows, size).boxed()
    }
}

impl GeneratedRelation for Replace {
    fn pairs<S>(rows: S, size: SizeRange) -> BoxedStrategy<Pair<Vec<S::Value>>>
    where
        S: Strategy<Value: Clone> + Clone + 'static,
    {
        replaced(rows, size).boxed()
    }
}

/// Looks for neighbours that refute the [`Sensitivity`](crate::mechanisms::Sensitivity) that a score
/// states, among 4096 that are generated from these rows. It shows the smallest ones that it finds.
///
/// ```should_panic
/// use queryables::mechanisms::query::Unavailable;
/// use queryables::mechanisms::{Evaluate, Score, Sensitivity};
/// use queryables::privacy::AddRemove;
/// use queryables::verify::strategies::assert_sensitivity;
///
/// /// How far each number from 0 to 9 is from being in the middle of the rows.
/// struct Middle;
///
/// impl Score<AddRemove> for Middle {
///     fn candidates(&self) -> usize {
///         10
///     }
///
///     fn sensitivity(&self) -> Sensitivity {
///         // Wrong: one score may rise by one while another falls by one.
///         Sensitivity::monotone(1)
///     }
/// }
///
/// impl Evaluate<Vec<i64>> for Middle {
///     fn evaluate(&self, rows: &Vec<i64>, scores: &mut [i64]) -> Result<(), Unavailable> {
///         for (number, score) in (0..).zip(scores) {
///             let side = |row: &i64| (row - number).signum();
///             *score = -rows.iter().map(side).sum::<i64>().abs();
///         }
///         Ok(())
///     }
/// }
///
/// assert_sensitivity(AddRemove, &Middle, 0..10_i64, 0..6);
/// ```
///
/// # Panics
///
/// If two neighbours are found on which scores move apart by more than is stated, or if no pair can
/// be generated.
#[track_caller]
pub fn assert_sensitivity<R, S>(
    relation: R,
    score: &(impl Score<R> + Evaluate<Vec<S::Value>>),
    rows: S,
    size: impl Into<SizeRange>,
) where
    R: GeneratedRelation,
    S: Strategy<Value: Clone + Debug> + Clone + 'static,
{
    let stated = score.sensitivity().apart();
    let mut runner = TestRunner::new(Config {
        cases: 4096,
        failure_persistence: None,
        ..Config::default()
    });
    let outcome = runner.run(&R::pairs(rows, size.into()), |pair| {
        let found = sensitivity_between(relation, score, &**pair.one(), &**pair.other());
        let found = found.map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert!(
            found <= stated,
            "scores move apart by {found}, and {stated} is stated"
        );
        Ok(())
    });
    #[expect(clippy::panic, reason = "it is an assertion, and documented to panic")]
    if let Err(found) = outcome {
        panic!(
            "the sensitivity of {} is refuted: {found}",
            score.description()
        );
    }
}
