//! Statistics of tables: what is asked is data, and one person is bounded.
//!
//! A [`TableQuery`] is made from the public [`Schema`] and becomes a mechanism with noise, as every other
//! query does:
//!
//! ```
//! use queryables::prelude::*;
//! use queryables::table::{Column, Kind, RowTable, Schema, Value};
//! use std::sync::Arc;
//!
//! let schema = Schema::of_people(
//!     "patient",
//!     [
//!         Column::new("patient", Kind::Whole),
//!         Column::categories("state", ["CA", "NY"]),
//!         Column::real("hours", 0.0..=80.0),
//!     ],
//! )?;
//! let row = |patient: i64, state: &str, hours: f64| {
//!     vec![Some(patient.into()), Some(state.into()), Some(Value::from(hours))]
//! };
//! let rows = (0..6000).map(|row_number| {
//!     let state = if row_number % 3 == 0 { "NY" } else { "CA" };
//!     row(row_number / 2, state, (row_number % 40) as f64)
//! });
//! let table = RowTable::new(&schema, rows.collect())?;
//! let filter = start(&Filter::concurrent(PureDp, epsilon!(1)), Arc::new(table))?;
//!
//! // At most two rows of each patient.
//! let hours = schema.mean("hours")?.by("state")?.rows_per_person(2).laplace(epsilon!(0.5))?;
//! println!("{}", filter.release(&hours.reported(confidence!(0.95)))?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cells;
mod change;
mod groups;
mod keys;
mod query;
mod range;
mod report;
mod statistic;
mod steps;

pub use cells::Cells;
pub use groups::{FirstGroups, GroupScores, TableContinualCount, TableQuantiles};
pub use keys::TableKeys;
pub use query::{One, PerGroup, TableQuery};
pub use range::FindRange;
pub use report::{Report, ReportRow};
pub use statistic::{MeanOf, RowsOf, SumOf, VarianceOf};

use std::borrow::Cow;

use super::{Counts, Source, Unavailable};
use crate::machine::{Description, DomainMismatch, Public};
use crate::table::{
    Amount, Bound, Condition, Expr, Grouping, Keys, Number, Parts, Person, Plan, Schema, Table, col,
};

/// Its name is its text.
impl Source for Condition {
    fn name(&self) -> Cow<'_, str> {
        self.text().into()
    }
}

/// The number of people with a row that satisfies the condition.
///
/// So searches, sparse vectors, choices by counts and priced counts can be asked conditions.
impl<T: Table + ?Sized> Counts<Condition> for T {
    fn check(data: Public<'_, Self>, question: &Condition) -> Result<(), DomainMismatch> {
        fits(question.schema(), data)
    }

    fn count(&self, question: &Condition) -> Result<u64, Unavailable> {
        let schema = question.schema();
        let bound = match schema.person() {
            Person::EachRow => Bound::Row,
            Person::Column(_) => Bound::Each(1),
        };
        let one = Amount::one(0).map(|one| (one, Parts::Value));
        let plan = one.and_then(|one| {
            let condition = Some(question.clone());
            Plan::new(schema, condition, one, Vec::new(), bound)
        });
        let totals = self.tally(&plan.map_err(|_| Unavailable)?)?;
        let count = totals.first().copied().unwrap_or_default();
        u64::try_from(count).map_err(|_| Unavailable)
    }
}

/// Adds which rows a plan is about, in which groups, and of which table.
fn described(plan: &Plan, mut description: Description) -> Description {
    if let Some(condition) = plan.condition() {
        description = description.with("where", condition);
    }
    for grouping in plan.groupings() {
        description = description.with("by", grouping);
    }
    let number = plan.amount().number();
    let description =
        description.with_json("question", json(number, plan.condition(), plan.groupings()));
    of_table(plan.schema(), description)
}

/// What is asked, for programs: what there is of `number`, `where` and `by`.
fn json(
    number: Option<&Number>,
    condition: Option<&Condition>,
    groupings: &[Grouping],
) -> serde_json::Value {
    // What is in a question can be written: it has been typed.
    let expr = |expr: &Expr| serde_json::to_value(expr).unwrap_or_default();
    let mut question = serde_json::Map::new();
    if let Some(number) = number {
        question.insert("number".to_owned(), expr(number.expr()));
    }
    if let Some(condition) = condition {
        question.insert("where".to_owned(), expr(condition.expr()));
    }
    if !groupings.is_empty() {
        let by = groupings.iter().map(|grouping| {
            let (key, values) = match grouping.groups() {
                Keys::Values(keys) => ("keys", keys),
                Keys::Buckets(edges) => ("edges", edges),
            };
            let values = serde_json::to_value(values).unwrap_or_default();
            let column = grouping.column().into();
            let by = [("column".to_owned(), column), (key.to_owned(), values)];
            serde_json::Value::Object(by.into_iter().collect())
        });
        question.insert("by".to_owned(), by.collect());
    }
    question.into()
}

/// Adds which table is asked, and what the relation calls one row, where that is a person with several.
fn of_table(schema: &Schema, description: Description) -> Description {
    let description = description.with("schema", schema.digest());
    match schema.person() {
        Person::EachRow => description,
        Person::Column(column) => {
            let person = format!("all rows with one value of {}", col(column));
            description.with("one row", person)
        }
    }
}

/// Whether a table can be asked: before anything is charged.
fn fits<T: Table + ?Sized>(asked: &Schema, data: Public<'_, T>) -> Result<(), DomainMismatch> {
    is_of(asked, data.metadata())?;
    if data.is_reachable() {
        return Ok(());
    }
    Err(DomainMismatch(
        "the engine that holds it does not answer: nothing is charged, try again",
    ))
}

fn is_of(asked: &Schema, data: &Schema) -> Result<(), DomainMismatch> {
    if asked == data {
        return Ok(());
    }
    Err(DomainMismatch(
        "the question was made from the schema of another table",
    ))
}

#[cfg(test)]
mod tests;
