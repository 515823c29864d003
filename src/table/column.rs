//! A column: its name, its type and its public domain.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::fmt;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use super::print::Shortened;
use super::{TableError, Value};

const LONGEST_NAME: usize = 128;
const MOST_CATEGORIES: usize = 65_536;

/// The type of a column.
///
/// Example: [`Schema`](crate::table::Schema).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Whole numbers of 64 bits.
    Whole,
    /// Real numbers, as IEEE doubles.
    Real,
    /// Texts.
    Text,
    /// Yes or no.
    Bool,
    /// Days.
    Date,
    /// Moments, in microseconds.
    Time,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Whole => "whole number",
            Self::Real => "real number",
            Self::Text => "text",
            Self::Bool => "yes-or-no value",
            Self::Date => "date",
            Self::Time => "time",
        })
    }
}

/// The public domain of a column, which the curator states. It is never read from the data.
///
/// Example: [`Schema`](crate::table::Schema).
#[derive(Clone, Debug, PartialEq)]
pub enum Domain {
    /// From one value to another, both included.
    Range(Value, Value),
    /// These values, in this order.
    Categories(Vec<Value>),
}

/// A column: its name, its type, and its domain where the curator states one.
///
/// See [`Schema`](super::Schema) for an example.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "WrittenColumn", into = "WrittenColumn")]
pub struct Column {
    name: String,
    kind: Kind,
    domain: Option<Domain>,
}

impl Column {
    /// A column without a domain.
    pub fn new(name: impl Into<String>, kind: Kind) -> Self {
        Self {
            name: name.into(),
            kind,
            domain: None,
        }
    }

    /// A column of whole numbers from this range.
    pub fn whole(name: impl Into<String>, range: RangeInclusive<i64>) -> Self {
        let (low, high) = range.into_inner();
        Self::new(name, Kind::Whole).with(Domain::Range(low.into(), high.into()))
    }

    /// A column of real numbers from this range.
    pub fn real(name: impl Into<String>, range: RangeInclusive<f64>) -> Self {
        let (low, high) = range.into_inner();
        Self::new(name, Kind::Real).with(Domain::Range(low.into(), high.into()))
    }

    /// A column of texts from this list.
    pub fn categories<'a>(
        name: impl Into<String>,
        categories: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let categories = categories.into_iter().map(Value::from).collect();
        Self::new(name, Kind::Text).with(Domain::Categories(categories))
    }

    /// The same column, with a domain.
    #[must_use]
    pub fn with(self, domain: Domain) -> Self {
        Self {
            domain: Some(domain),
            ..self
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its type.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Its domain.
    #[must_use]
    pub fn domain(&self) -> Option<&Domain> {
        self.domain.as_ref()
    }
}

impl Column {
    pub(super) fn bad(&self, problem: &'static str) -> TableError {
        TableError::BadColumn {
            column: self.name.clone(),
            problem,
        }
    }

    /// The column, with constants of its type, if it fits together.
    pub(super) fn checked(self) -> Result<Self, TableError> {
        if self.name.is_empty() {
            return Err(self.bad("has no name: give it one"));
        }
        if self.name.len() > LONGEST_NAME {
            return Err(self.bad("has a name of more than 128 bytes: shorten it"));
        }
        if self.name.contains(char::is_control) {
            return Err(self.bad("has a control character in its name: leave it out"));
        }
        let domain = match &self.domain {
            None => None,
            Some(Domain::Range(low, high)) => Some(self.checked_range(low, high)?),
            Some(Domain::Categories(categories)) => Some(self.checked_categories(categories)?),
        };
        Ok(Self { domain, ..self })
    }

    fn checked_range(&self, low: &Value, high: &Value) -> Result<Domain, TableError> {
        if self.kind == Kind::Bool {
            return Err(self.bad("holds yes or no, which have no order: state no range"));
        }
        let place = format!(" in the range of column {:?}", self.name);
        let fit = |value: &Value| value.clone().fit(self.kind, &place);
        let (low, high) = (fit(low)?, fit(high)?);
        if low.order(&high).is_some_and(Ordering::is_le) {
            Ok(Domain::Range(low, high))
        } else {
            Err(self.bad("has a range that ends before it begins: swap the ends"))
        }
    }

    fn checked_categories(&self, categories: &[Value]) -> Result<Domain, TableError> {
        if categories.is_empty() {
            return Err(
                self.bad("has an empty list of categories: list one at least, or leave it out")
            );
        }
        if categories.len() > MOST_CATEGORIES {
            return Err(self.bad("has more than 65536 categories: leave the list out"));
        }
        let place = format!(" in the categories of column {:?}", self.name);
        let fitted = categories
            .iter()
            .map(|value| value.clone().fit(self.kind, &place));
        let categories = fitted.collect::<Result<Vec<_>, _>>()?;
        let mut texts = HashSet::new();
        match categories
            .iter()
            .find(|value| !texts.insert(value.to_string()))
        {
            None => Ok(Domain::Categories(categories)),
            Some(value) => Err(TableError::BadLiteral {
                what: format!("{}{place}", Shortened(value)),
                problem: "stands twice: list it once",
            }),
        }
    }

    pub(super) fn category_texts(&self) -> HashSet<String> {
        match &self.domain {
            Some(Domain::Categories(categories)) => {
                categories.iter().map(Value::to_string).collect()
            }
            _ => HashSet::new(),
        }
    }

    /// It names the person: everything about it but its type is private.
    pub(super) fn check_person(&self) -> Result<(), TableError> {
        if !matches!(self.kind, Kind::Whole | Kind::Text) {
            return Err(self.bad("names the person: it must hold whole numbers or texts"));
        }
        if self.domain.is_some() {
            return Err(self.bad("names the person: state no range or categories for it"));
        }
        Ok(())
    }
}

/// A column as it is written down.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenColumn {
    name: String,
    #[serde(rename = "type")]
    kind: Kind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    range: Option<(Value, Value)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    categories: Option<Vec<Value>>,
}

impl TryFrom<WrittenColumn> for Column {
    type Error = TableError;

    fn try_from(written: WrittenColumn) -> Result<Self, TableError> {
        let WrittenColumn {
            name,
            kind,
            range,
            categories,
        } = written;
        let domain = match (range, categories) {
            (None, None) => None,
            (Some((low, high)), None) => Some(Domain::Range(low, high)),
            (None, Some(categories)) => Some(Domain::Categories(categories)),
            (Some(_), Some(_)) => {
                return Err(TableError::BadColumn {
                    column: name,
                    problem: "has a range and categories: state one of them",
                });
            }
        };
        Ok(Self { name, kind, domain })
    }
}

impl From<Column> for WrittenColumn {
    fn from(column: Column) -> Self {
        let (range, categories) = match column.domain {
            None => (None, None),
            Some(Domain::Range(low, high)) => (Some((low, high)), None),
            Some(Domain::Categories(categories)) => (None, Some(categories)),
        };
        Self {
            name: column.name,
            kind: column.kind,
            range,
            categories,
        }
    }
}
