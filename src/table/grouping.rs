//! Groups, which are public: categories, a list of keys, or buckets between edges.

use std::fmt;
use std::sync::Arc;

use super::calendar::{date_text, time_text};
use super::{Column, Domain, Kind, Schema, TableError, Value, col};

/// The groups of one column, in their order. A row whose value is in none of them is in no group.
///
/// ```
/// use queryables::table::{Column, Grouping, Schema};
///
/// let schema = Schema::of_rows([
///     Column::whole("age", 0..=120),
///     Column::categories("state", ["CA", "NY"]),
/// ])?;
/// // The categories of the column.
/// let states = Grouping::of(&schema, "state")?;
/// assert_eq!(states.labels().collect::<Vec<_>>(), ["CA", "NY"]);
/// // From each edge up to the next one.
/// let ages = Grouping::buckets(&schema, "age", [0, 18, 65, 121])?;
/// assert_eq!(ages.labels().collect::<Vec<_>>(), ["[0, 18)", "[18, 65)", "[65, 121)"]);
/// # Ok::<(), queryables::table::TableError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Grouping {
    pub(super) column: String,
    place: usize,
    pub(super) keys: Arc<Keys>,
}

/// What makes a group.
///
/// Example: [`Grouping`](crate::table::Grouping).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Keys {
    /// Rows with this value.
    Values(Vec<Value>),
    /// Rows from one edge up to, and without, the next one.
    Buckets(Vec<Value>),
}

impl Grouping {
    /// One group for each category of a column, or for yes and no.
    ///
    /// # Errors
    ///
    /// [`TableError`] if there is no such column, or it has no categories.
    pub fn of(schema: &Schema, column: &str) -> Result<Self, TableError> {
        let (_, stated) = schema.column(column)?;
        let keys = match (stated.domain(), stated.kind()) {
            (Some(Domain::Categories(keys)), _) => keys.clone(),
            (None, Kind::Bool) => [false, true].map(Value::from).to_vec(),
            _ => {
                return Err(bad(
                    stated,
                    "has no categories: name its keys, or edges of buckets",
                ));
            }
        };
        Self::keys(schema, column, keys)
    }

    /// One group for each of these values.
    ///
    /// # Errors
    ///
    /// [`TableError`] if there is no such column, a key has another type or stands twice, or there is none.
    pub fn keys<V: Into<Value>>(
        schema: &Schema,
        column: &str,
        keys: impl IntoIterator<Item = V>,
    ) -> Result<Self, TableError> {
        let (place, stated) = schema.column(column)?;
        let keys = typed(stated, keys)?;
        if keys.is_empty() {
            return Err(bad(stated, "needs at least one key to group by"));
        }
        if stated.kind() == Kind::Real {
            return Err(bad(
                stated,
                "has real numbers: group them by edges of buckets",
            ));
        }
        let mut sorted: Vec<&Value> = keys.iter().collect();
        sorted.sort_by(|one, other| order(one, other));
        if sorted.windows(2).any(|pair| pair.first() == pair.last()) {
            return Err(bad(stated, "has a key that stands twice"));
        }
        Ok(Self {
            column: column.to_owned(),
            place,
            keys: Arc::new(Keys::Values(keys)),
        })
    }

    /// One group from each of these edges up to, and without, the next one.
    ///
    /// # Errors
    ///
    /// [`TableError`] if there is no such column, an edge has another type, or there are fewer than two
    /// edges, or they do not rise.
    pub fn buckets<V: Into<Value>>(
        schema: &Schema,
        column: &str,
        edges: impl IntoIterator<Item = V>,
    ) -> Result<Self, TableError> {
        let (place, stated) = schema.column(column)?;
        if stated.kind() == Kind::Bool {
            return Err(bad(stated, "has no order: group it by its values"));
        }
        let edges = typed(stated, edges)?;
        let rises = |pair: &[Value]| match pair {
            [low, high] => low.order(high).is_some_and(std::cmp::Ordering::is_lt),
            _ => false,
        };
        if edges.len() < 2 || !edges.windows(2).all(rises) {
            return Err(bad(stated, "needs two edges or more, each above the last"));
        }
        Ok(Self {
            column: column.to_owned(),
            place,
            keys: Arc::new(Keys::Buckets(edges)),
        })
    }

    /// The name of the column.
    #[must_use]
    pub fn column(&self) -> &str {
        &self.column
    }

    /// The place of the column in the schema.
    #[must_use]
    pub fn place(&self) -> usize {
        self.place
    }

    /// Whether the schema has this column, of the type of the groups.
    pub(crate) fn is_of(&self, schema: &Schema) -> bool {
        let (Keys::Values(values) | Keys::Buckets(values)) = &*self.keys;
        let kind = values.first().map(Value::kind);
        schema
            .column(&self.column)
            .is_ok_and(|(place, column)| place == self.place && Some(column.kind()) == kind)
    }

    /// What makes each group.
    #[must_use]
    pub fn groups(&self) -> &Keys {
        &self.keys
    }

    /// How many groups there are.
    #[must_use]
    pub fn len(&self) -> usize {
        match &*self.keys {
            Keys::Values(keys) => keys.len(),
            Keys::Buckets(edges) => edges.len().saturating_sub(1),
        }
    }

    /// Never: there is at least one group.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How each group is shown.
    pub fn labels(&self) -> impl Iterator<Item = String> + '_ {
        (0..self.len()).map(|group| self.label(group))
    }

    /// How this group is shown; nothing if there is none.
    #[must_use]
    pub fn label(&self, group: usize) -> String {
        match &*self.keys {
            Keys::Values(keys) => keys.get(group).map(label).unwrap_or_default(),
            Keys::Buckets(edges) => match edges.get(group..) {
                Some([low, high, ..]) => format!("[{}, {})", label(low), label(high)),
                _ => String::new(),
            },
        }
    }

    /// The group of a value.
    #[must_use]
    pub fn group_of(&self, value: &Value) -> Option<usize> {
        match &*self.keys {
            Keys::Values(keys) => keys.iter().position(|key| key == value),
            Keys::Buckets(edges) => {
                let is_at_most =
                    |edge: &Value| edge.order(value).is_some_and(std::cmp::Ordering::is_le);
                let edges_below = edges.partition_point(is_at_most);
                edges_below
                    .checked_sub(1)
                    .filter(|group| *group < self.len())
            }
        }
    }
}

fn typed<V: Into<Value>>(
    column: &Column,
    values: impl IntoIterator<Item = V>,
) -> Result<Vec<Value>, TableError> {
    let place = format!(" among the groups of column {:?}", column.name());
    let values = values.into_iter();
    values
        .map(|value| value.into().fit(column.kind(), &place))
        .collect()
}

fn order(one: &Value, other: &Value) -> std::cmp::Ordering {
    one.order(other).unwrap_or(std::cmp::Ordering::Equal)
}

fn bad(column: &Column, problem: &'static str) -> TableError {
    TableError::BadColumn {
        column: column.name().to_owned(),
        problem,
    }
}

/// A text without its quotes, and a date without its word.
fn label(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        Value::Bool(yes) => yes.to_string(),
        Value::Date(days) => date_text(*days),
        Value::Time(time) => time_text(*time),
        Value::Real(number) => number.to_string(),
        Value::Whole(number) => number.to_string(),
    }
}

/// In the words of a question, so that no two groupings look the same: `state IN ('CA', 'NY')`, or
/// `age BETWEEN EDGES (0, 18, 65)`.
impl fmt::Display for Grouping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (words, values) = match &*self.keys {
            Keys::Values(values) => ("IN", values),
            Keys::Buckets(edges) => ("BETWEEN EDGES", edges),
        };
        write!(f, "{} {words} (", col(&self.column))?;
        for (place, value) in values.iter().enumerate() {
            let comma = if place == 0 { "" } else { ", " };
            write!(f, "{comma}{value}")?;
        }
        f.write_str(")")
    }
}
