//! Groups of rows: columns with categories, and buckets of numbers.

use queryables::mechanisms::table::{PerGroup, RowsOf, TableQuery};
use queryables::table::{Grouping, Kind, Schema, Value};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::expression::Written;
use crate::problem::Problem;

/// A column that has categories; or a column, and the edges of buckets.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum By {
    /// A column with public categories.
    Categories(String),
    /// A column of numbers, in buckets.
    Buckets(Buckets),
}

/// The buckets of a column of numbers: from each edge up to, and without, the next one.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Buckets {
    pub column: String,
    pub edges: Vec<f64>,
}

impl Buckets {
    pub(super) fn grouping(&self, schema: &Schema) -> Result<Grouping, Problem> {
        let (_, column) = schema.column(&self.column)?;
        let whole = column.kind() == Kind::Whole;
        let edges = self.edges.iter().map(|edge| match whole {
            // A whole number that a float holds exactly.
            true if edge.fract() == 0.0 && edge.abs() <= 9e15 => Value::Whole(*edge as i64),
            _ => Value::Real(*edge),
        });
        Ok(Grouping::buckets(schema, &self.column, edges)?)
    }
}

impl By {
    pub(super) fn column(&self) -> &str {
        match self {
            Self::Categories(column) => column,
            Self::Buckets(buckets) => &buckets.column,
        }
    }

    pub(super) fn grouping(&self, schema: &Schema) -> Result<Grouping, Problem> {
        Ok(match self {
            Self::Categories(column) => Grouping::of(schema, column)?,
            Self::Buckets(buckets) => buckets.grouping(schema)?,
        })
    }
}

/// The most groups of one answer. Each is a line of the reply, and of the record: a question of some
/// hundred bytes could otherwise ask for hundreds of megabytes.
const MOST_GROUPS: usize = 1 << 14;

/// The groupings of a question, if together they are not too many groups.
pub(super) fn groupings(schema: &Schema, by: &[By]) -> Result<Vec<Grouping>, Problem> {
    let groupings = by.iter().map(|by| by.grouping(schema));
    let groupings = groupings.collect::<Result<Vec<_>, _>>()?;
    let lengths = groupings.iter().map(Grouping::len);
    match lengths.fold(1, usize::saturating_mul) <= MOST_GROUPS {
        true => Ok(groupings),
        false => {
            let problem = format!("an answer has at most {MOST_GROUPS} groups");
            Err(Problem::invalid_query(problem))
        }
    }
}

/// The number of rows that satisfy a condition, in each group.
pub(super) fn counts(
    schema: &Schema,
    condition: Option<&Written>,
    groupings: impl IntoIterator<Item = Grouping>,
) -> Result<TableQuery<RowsOf, PerGroup>, Problem> {
    let mut count = schema.count();
    if let Some(condition) = condition {
        count = count.filter(condition.expr()?)?;
    }
    let mut groupings = groupings.into_iter();
    let first = groupings.next();
    let first = first.ok_or_else(|| Problem::invalid_query("`by` names at least one column"))?;
    let mut grouped = count.grouped(first);
    for grouping in groupings {
        grouped = grouped.grouped(grouping);
    }
    Ok(grouped)
}
