//! What is public about a table: its columns, their domains, and who one person is.

use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{TableError, Value};

/// The type of a column.
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
            Self::Bool => "yes or no",
            Self::Date => "date",
            Self::Time => "time",
        })
    }
}

/// The public domain of a column, which the curator states. It is never read from the data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Domain {
    /// From one value to another, both included.
    Range(Value, Value),
    /// These values, in this order.
    Categories(Vec<Value>),
}

/// A column: its name, its type, and its domain where the curator states one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    name: String,
    #[serde(rename = "type")]
    kind: Kind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
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

/// Who is protected.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Person {
    /// Each row is another person: the curator says so.
    EachRow,
    /// All rows with the same value in this column are one person. A row without one is dropped.
    Column(String),
}

/// What is public about a table.
///
/// ```
/// use queryables::table::{Column, Kind, Schema};
///
/// let schema = Schema::of_people(
///     "patient",
///     [
///         Column::new("patient", Kind::Whole),
///         Column::whole("age", 0..=120),
///         Column::categories("state", ["CA", "NY"]),
///     ],
/// )?;
/// let adults = schema.condition("age >= 18 and state = 'CA'")?;
/// assert_eq!(adults.to_string(), "age >= 18 AND state = 'CA'");
/// # Ok::<(), queryables::table::TableError>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct Schema(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    written: Written,
    digest: String,
}

/// A schema as it is written down.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    person: Person,
    columns: Vec<Column>,
}

impl Schema {
    /// A table in which all rows with the same value in the column `person` are one person.
    ///
    /// # Errors
    ///
    /// [`TableError`] if a name is empty or stands twice, a domain does not fit its type, or there is no
    /// such column of whole numbers or texts.
    pub fn of_people(
        person: impl Into<String>,
        columns: impl IntoIterator<Item = Column>,
    ) -> Result<Self, TableError> {
        let columns = columns.into_iter().collect();
        let person = Person::Column(person.into());
        Self::try_from(Written { person, columns })
    }

    /// A table in which each row is another person.
    ///
    /// # Errors
    ///
    /// As for [`of_people`](Self::of_people).
    pub fn of_rows(columns: impl IntoIterator<Item = Column>) -> Result<Self, TableError> {
        let columns = columns.into_iter().collect();
        let person = Person::EachRow;
        Self::try_from(Written { person, columns })
    }

    /// The columns, in their order.
    #[must_use]
    pub fn columns(&self) -> &[Column] {
        &self.0.written.columns
    }

    /// Who one person is.
    #[must_use]
    pub fn person(&self) -> &Person {
        &self.0.written.person
    }

    /// The column with this name, and its place.
    ///
    /// # Errors
    ///
    /// [`TableError::UnknownColumn`].
    pub fn column(&self, name: &str) -> Result<(usize, &Column), TableError> {
        let mut columns = self.columns().iter().enumerate();
        columns
            .find(|(_, column)| column.name == name)
            .ok_or_else(|| TableError::UnknownColumn {
                column: name.to_owned(),
                known: self
                    .columns()
                    .iter()
                    .map(|column| column.name.clone())
                    .collect(),
            })
    }

    /// The place of the column that names the person; none if each row is one.
    #[must_use]
    pub fn person_column(&self) -> Option<usize> {
        match self.person() {
            Person::EachRow => None,
            Person::Column(name) => self
                .columns()
                .iter()
                .position(|column| column.name == *name),
        }
    }

    /// The SHA-256 of what is written here, in hexadecimal digits.
    #[must_use]
    pub fn digest(&self) -> &str {
        &self.0.digest
    }
}

impl PartialEq for Schema {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.written == other.0.written
    }
}

impl TryFrom<Written> for Schema {
    type Error = TableError;

    fn try_from(written: Written) -> Result<Self, TableError> {
        Ok(Self(Arc::new(Inner {
            digest: String::new(),
            written,
        })))
    }
}

impl From<Schema> for Written {
    fn from(schema: Schema) -> Self {
        schema.0.written.clone()
    }
}
