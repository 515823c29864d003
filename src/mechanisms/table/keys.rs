//! The number of people with each key, where nobody listed the keys.

use std::borrow::Cow;

use super::super::{
    CountsBy, GaussianNoise, KeyHistogram, KeySource, LaplaceNoise, MechanismError, RowRelation,
    Source, Unavailable,
};
use super::{fits, json, of_table};
use crate::machine::{Description, DomainMismatch, Public};
use crate::privacy::{EpsilonDelta, RhoDelta};
use crate::table::{Condition, Schema, Table, TableError, Value, col};

/// The values of a column that occur in a table, each person with one: the least of their rows that satisfy
/// the condition ([`Table::tally_keys`]). Made by [`TableQuery::keys`](super::TableQuery::keys).
///
/// ```
/// use queryables::prelude::*;
/// use queryables::table::{Column, Kind, RowTable, Schema, Value};
/// use std::sync::Arc;
///
/// let schema = Schema::of_rows([Column::new("disease", Kind::Text)])?;
/// let rows = (0..1000).map(|row| if row == 0 { "a rare one" } else { "a cold" });
/// let rows = rows.map(|disease| vec![Some(disease.into())]).collect();
/// let table = Arc::new(RowTable::new(&schema, rows)?);
/// let filter = start(&Filter::concurrent(ApproxDp, EpsilonDelta::new("1", "1e-6")?), table)?;
///
/// let loss = EpsilonDelta::new("1", "1e-6")?;
/// let diseases = schema.count().keys("disease")?.laplace(AddRemove, loss)?;
/// let found = filter.release(&diseases)?;
/// assert_eq!(found.len(), 1);
/// assert_eq!(found[0].0, Value::from("a cold"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantee
///
/// That of [`ThresholdHistogram`](super::super::ThresholdHistogram): a person has one key, or none.
#[derive(Clone, Debug)]
pub struct TableKeys {
    schema: Schema,
    condition: Option<Condition>,
    column: String,
}

impl TableKeys {
    pub(super) fn new(
        schema: &Schema,
        condition: Option<Condition>,
        column: &str,
    ) -> Result<Self, TableError> {
        schema.key_column(condition.as_ref(), column)?;
        Ok(Self {
            schema: schema.clone(),
            condition,
            column: column.to_owned(),
        })
    }

    /// With Laplace noise, and the least threshold for this (ε, δ).
    ///
    /// # Errors
    ///
    /// As for [`ThresholdHistogram::new`](super::super::ThresholdHistogram).
    pub fn laplace<R: RowRelation>(
        self,
        relation: R,
        loss: EpsilonDelta,
    ) -> Result<KeyHistogram<Self, LaplaceNoise, R>, MechanismError> {
        KeyHistogram::of(relation, self, loss)
    }

    /// With Gaussian noise, and the least threshold for this (ρ, δ).
    ///
    /// # Errors
    ///
    /// As for [`GaussianThresholdHistogram::new`](super::super::GaussianThresholdHistogram).
    pub fn gaussian<R: RowRelation>(
        self,
        relation: R,
        loss: RhoDelta,
    ) -> Result<KeyHistogram<Self, GaussianNoise, R>, MechanismError> {
        KeyHistogram::of(relation, self, loss)
    }
}

impl Source for TableKeys {
    fn name(&self) -> Cow<'_, str> {
        self.column.as_str().into()
    }

    fn describe(&self, role: &'static str, description: Description) -> Description {
        let mut description = description.with(role, col(&self.column));
        if let Some(condition) = &self.condition {
            description = description.with("where", condition);
        }
        let question = json(None, self.condition.as_ref(), &[]);
        of_table(&self.schema, description.with_json("question", question))
    }
}

impl KeySource for TableKeys {
    type Key = Value;
    type Answer = Vec<(Value, i64)>;
}

impl<T: Table + ?Sized> CountsBy<T, Value> for TableKeys {
    fn check(&self, data: Public<'_, T>) -> Result<(), DomainMismatch> {
        fits(&self.schema, data)
    }

    fn counts(&self, data: &T) -> Result<Vec<(Value, u64)>, Unavailable> {
        let mut counts = data.tally_keys(self.condition.as_ref(), &self.column)?;
        // An engine has an order of its own, which may depend on where rows are.
        counts
            .sort_by(|(one, _), (other, _)| one.order(other).unwrap_or(std::cmp::Ordering::Equal));
        // An answer that came twice: a key would have noise twice for one charge.
        if counts.is_sorted_by(|(one, _), (other, _)| one != other) {
            Ok(counts)
        } else {
            Err(Unavailable)
        }
    }
}
