//! Small tables with everything ugly in them: an engine that tallies one of them otherwise is refused.

mod tables;

use thiserror::Error;

use super::{Plan, RowTable, Schema, Table, Value};
use crate::data::Unavailable;
use tables::CANARIES;

/// Why an engine is refused.
///
/// Example: [`canaries`](crate::table::canaries).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
pub enum CanaryError {
    /// It tallied a small public table otherwise than the reference.
    #[error("the engine computes something else: canary {canary:?}")]
    Differs {
        /// The table's name.
        canary: &'static str,
    },
    /// It did not answer.
    #[error("the engine did not answer: canary {canary:?}")]
    Unavailable {
        /// The table's name.
        canary: &'static str,
    },
}

/// Runs small public tables through an engine and compares its totals with those of [`RowTable`].
///
/// An engine is opened by this. It is a check and no proof: the tables hold what engines are known to
/// disagree about.
///
/// ```
/// use queryables::table::{CanaryError, RowTable, Table, canaries};
///
/// canaries(|schema, rows, plan| {
///     let table = RowTable::new(schema, rows.to_vec()).expect("rows of the schema");
///     table.tally(plan)
/// })?;
///
/// // An engine that forgets everybody.
/// let refused = canaries(|_, _, plan| Ok(vec![0; plan.totals()]));
/// assert_eq!(refused, Err(CanaryError::Differs { canary: "missing values" }));
/// # Ok::<(), CanaryError>(())
/// ```
///
/// # Errors
///
/// [`CanaryError`] with the name of the first table on which they differ.
pub fn canaries(
    mut tally: impl FnMut(&Schema, &[Vec<Option<Value>>], &Plan) -> Result<Vec<i128>, Unavailable>,
) -> Result<(), CanaryError> {
    for (canary, make) in CANARIES {
        let made = make().and_then(|(rows, plans)| {
            let schema = match plans.first() {
                Some(plan) => plan.schema().clone(),
                None => return Ok(None),
            };
            let reference = RowTable::new(&schema, rows.clone())?;
            Ok(Some((schema, rows, reference, plans)))
        });
        let Ok(Some((schema, rows, reference, plans))) = made else {
            // A test makes all of them.
            return Err(CanaryError::Differs { canary });
        };
        for plan in &plans {
            let expected = reference.tally(plan);
            let found = tally(&schema, &rows, plan);
            let found = found.map_err(|_| CanaryError::Unavailable { canary })?;
            if Ok(found) != expected {
                return Err(CanaryError::Differs { canary });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The reference, over rows that were changed in this way.
    fn changed(change: fn(&mut Option<Value>)) -> Result<(), CanaryError> {
        canaries(|schema, rows, plan| {
            let mut rows = rows.to_vec();
            rows.iter_mut().flatten().for_each(change);
            let table = RowTable::new(schema, rows).map_err(|_| Unavailable)?;
            table.tally(plan)
        })
    }

    fn texts(change: fn(&str) -> String) -> impl Fn(&mut Option<Value>) {
        move |value| {
            if let Some(Value::Text(text)) = value {
                *text = change(text);
            }
        }
    }

    #[test]
    fn the_reference_passes() {
        assert_eq!(changed(|_| {}), Ok(()));
    }

    #[test]
    fn engines_with_planted_mistakes_are_refused() {
        let differs = |canary| Err(CanaryError::Differs { canary });
        // A missing number counts as zero.
        let missing = changed(|value| {
            if value.is_none() {
                *value = Some(Value::Whole(0));
            }
        });
        // Rows of another type do not fit: that engine does not answer.
        let canary = "missing values";
        assert_eq!(missing, Err(CanaryError::Unavailable { canary }));
        // NaN is a number.
        let nan = changed(|value| {
            if matches!(value, Some(Value::Real(number)) if number.is_nan()) {
                *value = Some(Value::Real(0.0));
            }
        });
        assert_eq!(nan, differs("NaN and infinity"));
        let halves = changed(|value| {
            if let Some(Value::Real(number)) = value {
                *number = number.round();
            }
        });
        assert_eq!(halves, differs("missing values"));
        let narrow = changed(|value| {
            if let Some(Value::Whole(number)) = value {
                *number = (*number).clamp(i64::MIN / 2, i64::MAX / 2);
            }
        });
        assert_eq!(narrow, differs("overflow"));
        let trimmed = changed(|value| texts(|text| text.trim_end().to_owned())(value));
        assert_eq!(trimmed, differs("quotes and control characters"));
        // As some languages compare.
        let folded = changed(|value| texts(|text| text.replace('ß', "ss"))(value));
        assert_eq!(folded, differs("texts by bytes"));
    }
}
