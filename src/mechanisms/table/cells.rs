//! All rows that there could be, over a few columns with listed values.

use super::super::query::Domain;
use super::super::{MechanismError, limit};
use super::is_of;
use crate::machine::DomainMismatch;
use crate::table::{Condition, Expr, Grouping, Keys, Schema, TableError, Value};

/// The product of the listed values of a few columns: the domain of
/// [`MultiplicativeWeights`](super::super::MultiplicativeWeights) that are asked conditions about these
/// columns.
///
/// ```
/// use queryables::mechanisms::MultiplicativeWeights;
/// use queryables::mechanisms::table::Cells;
/// use queryables::prelude::*;
/// use queryables::table::{Column, Kind, RowTable, Schema, Value};
/// use std::sync::Arc;
///
/// let schema = Schema::of_rows([
///     Column::new("smokes", Kind::Bool),
///     Column::categories("state", ["CA", "NY"]),
/// ])?;
/// let row = |number: u32| {
///     let state = if number % 4 == 0 { "NY" } else { "CA" };
///     vec![Some(Value::from(number % 2 == 0)), Some(Value::from(state))]
/// };
/// let table = Arc::new(RowTable::new(&schema, (0..20_000).map(row).collect())?);
/// let filter = start(&Filter::concurrent(PureDp, epsilon!(1)), table)?;
///
/// let cells = Cells::of(&schema, ["smokes", "state"])?;
/// let counts = MultiplicativeWeights::new(cells, 20_000, 2_000, 20, epsilon!(1))?;
/// let counts = filter.launch(&counts)?;
/// let found = counts.ask(schema.condition("smokes and state = 'NY'")?)?;
/// assert!((found - 5_000).abs() < 4_000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The weights guess tables in which each person is in one cell. Where people have rows in several, answers
/// are just as private, and less accurate.
#[derive(Clone, Debug)]
pub struct Cells {
    schema: Schema,
    groupings: Vec<Grouping>,
}

impl Cells {
    /// The product of the categories of these columns, where yes and no are two.
    ///
    /// # Errors
    ///
    /// [`TableError`] if there is no such column or it has no categories, and those of
    /// [`of_groupings`](Self::of_groupings).
    pub fn of<'a>(
        schema: &Schema,
        columns: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, MechanismError> {
        let columns = columns.into_iter();
        let groupings = columns.map(|column| Grouping::of(schema, column));
        Self::of_groupings(schema, groupings.collect::<Result<Vec<_>, _>>()?)
    }

    /// The product of listed values.
    ///
    /// # Errors
    ///
    /// [`TableError::BadColumn`] if a grouping has buckets or its column has one already,
    /// [`TableError::OtherSchema`] if it is of another table, and [`MechanismError::TooMany`] if there are
    /// more than 2^16 cells: a question is computed for each of them.
    pub fn of_groupings(
        schema: &Schema,
        groupings: impl IntoIterator<Item = Grouping>,
    ) -> Result<Self, MechanismError> {
        let groupings: Vec<Grouping> = groupings.into_iter().collect();
        let mut size = 1_usize;
        for (place, grouping) in groupings.iter().enumerate() {
            let bad = |problem| {
                let column = grouping.column().to_owned();
                MechanismError::from(TableError::BadColumn { column, problem })
            };
            if !grouping.is_of(schema) {
                return Err(TableError::OtherSchema.into());
            }
            if matches!(grouping.groups(), Keys::Buckets(_)) {
                return Err(bad("has buckets: a cell needs listed values"));
            }
            let before = groupings.iter().take(place);
            if before
                .into_iter()
                .any(|other| other.place() == grouping.place())
            {
                return Err(bad("stands twice in a cell"));
            }
            size = size.saturating_mul(grouping.len());
        }
        limit::CELLS.check(size)?;
        Ok(Self {
            schema: schema.clone(),
            groupings,
        })
    }

    /// The row of a cell. What is in no grouping is missing.
    fn row(&self, cell: usize) -> Vec<Option<Value>> {
        let mut row = vec![None; self.schema.columns().len()];
        let mut rest = cell;
        // The last grouping changes fastest.
        for grouping in self.groupings.iter().rev() {
            let (Keys::Values(values) | Keys::Buckets(values)) = grouping.groups();
            let value = values.get(rest % grouping.len().max(1)).cloned();
            if let Some(place) = row.get_mut(grouping.place()) {
                *place = value;
            }
            rest /= grouping.len().max(1);
        }
        row
    }
}

impl Domain<Condition> for Cells {
    fn size(&self) -> usize {
        self.groupings.iter().map(Grouping::len).product()
    }

    fn check(&self, question: &Condition) -> Result<(), DomainMismatch> {
        is_of(question.schema(), &self.schema)?;
        let is_listed = |place: &usize| self.groupings.iter().any(|of| of.place() == *place);
        if question.columns().iter().all(is_listed) {
            return Ok(());
        }
        Err(DomainMismatch(
            "the question reads a column that is not in the domain",
        ))
    }

    /// About no column, and all rows.
    fn example(&self) -> Option<Condition> {
        self.schema.condition(Expr::from(true)).ok()
    }

    fn holds(&self, question: &Condition, record: usize) -> bool {
        question.holds(&self.row(record)) == Some(true)
    }
}
