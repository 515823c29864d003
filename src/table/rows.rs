//! Tables, and the plainest one: the reference that every other is compared with.

use std::collections::BTreeMap;

use super::{Bound, Condition, Plan, Schema, TableError, Value};
use crate::data::Unavailable;
use crate::machine::PublicMetadata;

/// Data in columns that can tally a plan: in memory, in files, or on an engine.
///
/// # What an implementer owes
///
/// The totals are those of [`Plan`]'s "What is computed", to the last digit: [`RowTable`] is the
/// reference. They do not fail because of data. The rows do not change while the table is open.
///
/// What is public about it is its schema. A table of a kind that is known only at run time is a
/// `dyn Table`, and is asked in the same way:
///
/// ```
/// use queryables::prelude::*;
/// use queryables::table::{Column, RowTable, Schema, Table};
/// use std::sync::Arc;
///
/// let schema = Schema::of_rows([Column::whole("age", 0..=120)])?;
/// let rows = [17, 43, 70].map(|age: i64| vec![Some(age.into())]);
/// let table: Arc<dyn Table> = Arc::new(RowTable::new(&schema, rows.to_vec())?);
///
/// let filter = start(&Filter::concurrent(PureDp, epsilon!(1)), table)?;
/// let adults = schema.count().filter("age >= 18")?;
/// let answer: f64 = filter.release(&adults.laplace(epsilon!(0.5))?)?;
/// assert_eq!(*filter.metadata(), schema);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Table: PublicMetadata<Metadata = Schema> + Send + Sync {
    /// The totals of a plan, of which there are [`Plan::totals`].
    ///
    /// # Errors
    ///
    /// [`Unavailable`] if the engine that holds the data does not answer. A plan of another schema is
    /// unavailable, too.
    fn tally(&self, plan: &Plan) -> Result<Vec<i128>, Unavailable>;

    /// The number of people with each key, for keys that nobody listed, in no order that depends on data
    /// beyond them. Each person has one key: the least of those of their rows that satisfy the condition,
    /// by bytes or by number.
    ///
    /// # Errors
    ///
    /// As for [`tally`](Self::tally).
    fn tally_keys(
        &self,
        condition: Option<&Condition>,
        column: &str,
    ) -> Result<Vec<(Value, u64)>, Unavailable>;
}

/// A table of rows in memory: slow and obvious.
///
/// ```
/// use queryables::table::{Amount, Bound, Column, Kind, Parts, Plan, RowTable, Schema, Table, Value};
///
/// let schema = Schema::of_people(
///     "person",
///     [Column::new("person", Kind::Whole), Column::new("visits", Kind::Whole)],
/// )?;
/// let row = |person: i64, visits: i64| vec![Some(person.into()), Some(visits.into())];
/// let table = RowTable::new(&schema, vec![row(1, 3), row(1, 4), row(2, 5)])?;
///
/// let often = schema.condition("visits >= 4")?;
/// let plan = Plan::new(&schema, Some(often), (Amount::one(0)?, Parts::Value), vec![], Bound::Each(1))?;
/// // Two people with such a row.
/// assert_eq!(table.tally(&plan)?, [2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct RowTable {
    schema: Schema,
    rows: Vec<Vec<Option<Value>>>,
}

impl RowTable {
    /// A table with these rows. NaN is a missing value.
    ///
    /// # Errors
    ///
    /// [`TableError::BadRow`] if a row has another number of values than there are columns, or a value of
    /// another type. It says which: for curators only.
    pub fn new(schema: &Schema, mut rows: Vec<Vec<Option<Value>>>) -> Result<Self, TableError> {
        for (number, row) in rows.iter_mut().enumerate() {
            if row.len() != schema.columns().len() {
                return Err(TableError::BadRow {
                    row: number,
                    column: String::new(),
                });
            }
            for (value, column) in row.iter_mut().zip(schema.columns()) {
                if matches!(value, Some(Value::Real(number)) if number.is_nan()) {
                    *value = None;
                }
                let kind = value.as_ref().map_or(column.kind(), Value::kind);
                if kind != column.kind() {
                    return Err(TableError::BadRow {
                        row: number,
                        column: column.name().to_owned(),
                    });
                }
            }
        }
        Ok(Self {
            schema: schema.clone(),
            rows,
        })
    }

    /// The rows that satisfy the condition, each with its person. A row without a person is dropped.
    fn rows<'a>(
        &'a self,
        condition: Option<&'a Condition>,
    ) -> impl Iterator<Item = (PersonKey<'a>, &'a [Option<Value>])> {
        let person = self.schema.person_column();
        let rows = self.rows.iter().enumerate();
        let rows = rows.filter(move |(_, row)| {
            condition.is_none_or(|condition| condition.holds(row) == Some(true))
        });
        rows.filter_map(move |(number, row)| {
            let person = match person {
                None => PersonKey::Row(number),
                Some(place) => match row.get(place)?.as_ref()? {
                    Value::Whole(key) => PersonKey::Whole(*key),
                    Value::Text(key) => PersonKey::Text(key),
                    _ => return None,
                },
            };
            Some((person, row.as_slice()))
        })
    }
}

/// Who a row belongs to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum PersonKey<'a> {
    Row(usize),
    Whole(i64),
    Text(&'a str),
}

impl Table for RowTable {
    fn tally(&self, plan: &Plan) -> Result<Vec<i128>, Unavailable> {
        if *plan.schema() != self.schema {
            return Err(Unavailable);
        }
        let parts = plan.parts().len();
        // The number of rows of each person, and the sums of their numbers by group.
        let mut people: BTreeMap<PersonKey<'_>, (u64, BTreeMap<usize, [i128; 3]>)> =
            BTreeMap::new();
        for (person, row) in self.rows(plan.condition()) {
            let Some(group) = plan.group_of(row) else {
                continue;
            };
            let (rows, groups) = people.entry(person).or_default();
            *rows += 1;
            let sums = groups.entry(group).or_default();
            let numbers = plan.numbers(plan.amount().steps(row));
            for (sum, number) in sums.iter_mut().zip(numbers) {
                *sum += number;
            }
        }
        let mut totals = vec![0; plan.totals()];
        for (rows, groups) in people.into_values() {
            let mut numbers: Vec<i128> = groups
                .values()
                .flat_map(|sums| sums.iter().take(parts).copied())
                .collect();
            if plan.bound() == Bound::First {
                // However many rows there are: one.
                for number in &mut numbers {
                    *number = plan.amount().range().0.into();
                }
            }
            plan.bound().apply(&mut numbers, rows);
            let places = groups.keys().flat_map(|group| {
                let start = group * parts;
                start..start + parts
            });
            for (place, number) in places.zip(numbers) {
                if let Some(total) = totals.get_mut(place) {
                    *total += number;
                }
            }
        }
        Ok(totals)
    }

    fn tally_keys(
        &self,
        condition: Option<&Condition>,
        column: &str,
    ) -> Result<Vec<(Value, u64)>, Unavailable> {
        let key = self.schema.key_column(condition, column);
        let (place, _) = key.map_err(|_| Unavailable)?;
        let mut keys: BTreeMap<PersonKey<'_>, &Value> = BTreeMap::new();
        for (person, row) in self.rows(condition) {
            let Some(Some(key)) = row.get(place) else {
                continue;
            };
            let least = keys.entry(person).or_insert(key);
            if key.order(least).is_some_and(std::cmp::Ordering::is_lt) {
                *least = key;
            }
        }
        let mut counted: Vec<(Value, u64)> = Vec::new();
        let mut keys: Vec<&Value> = keys.into_values().collect();
        keys.sort_by(|one, other| one.order(other).unwrap_or(std::cmp::Ordering::Equal));
        for key in keys {
            match counted.last_mut() {
                Some((last, count)) if last == key => *count += 1,
                _ => counted.push((key.clone(), 1)),
            }
        }
        Ok(counted)
    }
}

impl PublicMetadata for RowTable {
    type Metadata = Schema;

    fn metadata(&self) -> &Schema {
        &self.schema
    }
}

// Nothing of the contents.
crate::debug_fields!([] RowTable, "RowTable" { schema, .. });
