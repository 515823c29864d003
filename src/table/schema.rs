//! What is public about a table: its columns, their domains, and who one person is.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::digest::digest;
use super::print::Shortened;
use super::{TableError, Value};

const MOST_COLUMNS: usize = 1024;
const LONGEST_NAME: usize = 128;
const MOST_CATEGORIES: usize = 65_536;

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
            Self::Bool => "yes-or-no value",
            Self::Date => "date",
            Self::Time => "time",
        })
    }
}

/// The public domain of a column, which the curator states. It is never read from the data.
#[derive(Clone, Debug, PartialEq)]
pub enum Domain {
    /// From one value to another, both included.
    Range(Value, Value),
    /// These values, in this order.
    Categories(Vec<Value>),
}

/// A column: its name, its type, and its domain where the curator states one.
///
/// See [`Schema`] for an example.
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
    fn bad(&self, problem: &'static str) -> TableError {
        TableError::BadColumn {
            column: self.name.clone(),
            problem,
        }
    }

    /// The column, with constants of its type, if it fits together.
    fn checked(self) -> Result<Self, TableError> {
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

    fn category_texts(&self) -> HashSet<String> {
        match &self.domain {
            Some(Domain::Categories(categories)) => {
                categories.iter().map(Value::to_string).collect()
            }
            _ => HashSet::new(),
        }
    }

    /// It names the person: everything about it but its type is private.
    fn check_person(&self) -> Result<(), TableError> {
        if !matches!(self.kind, Kind::Whole | Kind::Text) {
            return Err(self.bad("names the person: it must hold whole numbers or texts"));
        }
        if self.domain.is_some() {
            return Err(self.bad("names the person: state no range or categories for it"));
        }
        Ok(())
    }
}

/// Who is protected.
///
/// In JSON it is the name of the column, or `{"each_row": true}`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "WrittenPerson", into = "WrittenPerson")]
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
///
/// let json = r#"{
///     "person": "patient",
///     "columns": [
///         {"name": "patient", "type": "whole"},
///         {"name": "age", "type": "whole", "range": [0, 120]},
///         {"name": "state", "type": "text", "categories": ["CA", "NY"]}
///     ]
/// }"#;
/// assert_eq!(serde_json::from_str::<Schema>(json)?, schema);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// In JSON, types are `whole`, `real`, `text`, `bool`, `date` and `time`. Where each row is another
/// person, `"person"` is `{"each_row": true}`: it is never left out.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct Schema(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    written: Written,
    digest: String,
    /// The texts of each column's categories, which may be many.
    categories: Vec<HashSet<String>>,
}

/// A schema as it is written down.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    person: Person,
    columns: Vec<Column>,
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

/// Who is protected, as it is written down.
#[derive(Serialize, Deserialize)]
#[serde(
    untagged,
    deny_unknown_fields,
    expecting = "the person is the name of a column, or {\"each_row\": true}"
)]
enum WrittenPerson {
    Column(String),
    EachRow { each_row: bool },
}

impl TryFrom<WrittenPerson> for Person {
    type Error = &'static str;

    fn try_from(written: WrittenPerson) -> Result<Self, &'static str> {
        match written {
            WrittenPerson::Column(name) => Ok(Self::Column(name)),
            WrittenPerson::EachRow { each_row: true } => Ok(Self::EachRow),
            WrittenPerson::EachRow { each_row: false } => {
                Err("if rows are not people, write the name of the column that names the person")
            }
        }
    }
}

impl From<Person> for WrittenPerson {
    fn from(person: Person) -> Self {
        match person {
            Person::Column(name) => Self::Column(name),
            Person::EachRow => Self::EachRow { each_row: true },
        }
    }
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
                beside_text: false,
            })
    }

    /// Whether a value is one of the column's categories, or may be anything.
    pub(super) fn check_category(&self, name: &str, value: &Value) -> Result<(), TableError> {
        let (place, column) = self.column(name)?;
        let Some(Domain::Categories(known)) = column.domain() else {
            return Ok(());
        };
        let value = value.to_string();
        let texts = self.0.categories.get(place);
        if texts.is_some_and(|texts| texts.contains(&value)) {
            return Ok(());
        }
        Err(TableError::UnknownCategory {
            column: name.to_owned(),
            value: Shortened(&value).to_string(),
            known: known.iter().map(Value::to_string).collect(),
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

    fn try_from(mut written: Written) -> Result<Self, TableError> {
        if written.columns.len() > MOST_COLUMNS {
            return Err(TableError::TooLong {
                what: "columns",
                most: MOST_COLUMNS,
            });
        }
        let columns = written.columns.into_iter().map(Column::checked);
        written.columns = columns.collect::<Result<_, _>>()?;
        let mut names = HashSet::new();
        if let Some(column) = written
            .columns
            .iter()
            .find(|column| !names.insert(&column.name))
        {
            return Err(column.bad("stands twice: rename one"));
        }
        let digest = digest("", &written);
        let categories = written.columns.iter().map(Column::category_texts).collect();
        let schema = Self(Arc::new(Inner {
            written,
            digest,
            categories,
        }));
        if let Person::Column(name) = schema.person() {
            schema.column(name)?.1.check_person()?;
        }
        Ok(schema)
    }
}

impl From<Schema> for Written {
    fn from(schema: Schema) -> Self {
        schema.0.written.clone()
    }
}
