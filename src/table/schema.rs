//! What is public about a table: its columns, and who one person is.

use std::collections::HashSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::digest::digest;
use super::print::Shortened;
use super::{Column, Condition, Domain, Kind, TableError, Value};

const MOST_COLUMNS: usize = 1024;

/// Who is protected.
///
/// In JSON it is the name of the column, or `{"each_row": true}`.
///
/// Example: [`Schema`](crate::table::Schema).
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
            .find(|(_, column)| column.name() == name)
            .ok_or_else(|| TableError::UnknownColumn {
                column: name.to_owned(),
                known: self
                    .columns()
                    .iter()
                    .map(|column| column.name().to_owned())
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

    /// The place and the type of a column whose values can be counted as keys
    /// ([`Table::tally_keys`](super::Table::tally_keys)), of rows that satisfy the condition.
    ///
    /// # Errors
    ///
    /// [`TableError::OtherSchema`] if the condition was made from another schema,
    /// [`TableError::UnknownColumn`], [`TableError::BadColumn`] if it holds neither whole numbers nor
    /// texts.
    pub fn key_column(
        &self,
        condition: Option<&Condition>,
        column: &str,
    ) -> Result<(usize, Kind), TableError> {
        if condition.is_some_and(|condition| condition.schema() != self) {
            return Err(TableError::OtherSchema);
        }
        let (place, stated) = self.column(column)?;
        if !matches!(stated.kind(), Kind::Whole | Kind::Text) {
            let column = column.to_owned();
            let problem = "cannot be a key: only whole numbers and texts can";
            return Err(TableError::BadColumn { column, problem });
        }
        Ok((place, stated.kind()))
    }

    /// The place of the column that names the person; none if each row is one.
    #[must_use]
    pub fn person_column(&self) -> Option<usize> {
        match self.person() {
            Person::EachRow => None,
            Person::Column(name) => self
                .columns()
                .iter()
                .position(|column| column.name() == name),
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
            .find(|column| !names.insert(column.name()))
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
