//! Tables of an engine.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use queryables::machine::PublicMetadata;
use queryables::mechanisms::query::Unavailable;
use queryables::table::sql::{Dialect, Statement, read_totals};
use queryables::table::{Condition, Kind, Plan, Schema, Table, TableError, Value};
use spark_connect_proto::data_type::{Kind as Type, StructField};

use crate::answer::{batches, number, text};
use crate::dialect::Spark;
use crate::error::OpenError;
use crate::session::Session;

/// A table of a [`SparkEngine`](crate::SparkEngine), as in the example of [the crate](crate). The engine adds
/// up; noise is drawn here.
///
/// Each tally is one statement. **The curator promises that the rows do not change** while the table is
/// open.
///
/// # Guarantee
///
/// The totals are those of [`Plan`], if the engine computes what it should. Everything that goes wrong
/// is [`Unavailable`], which is constant. How long an answer takes depends on the data.
pub struct SparkTable {
    session: Arc<Session>,
    from: Statement,
    schema: Schema,
    limit: Duration,
}

/// The time that a statement may take, where nothing else is said.
pub(crate) const LIMIT: Duration = Duration::from_secs(600);

impl SparkTable {
    pub(crate) fn new(
        session: &Arc<Session>,
        from: String,
        schema: &Schema,
    ) -> Result<Self, OpenError> {
        let from = Statement {
            text: from,
            parameters: vec![],
        };
        let table = Self {
            session: Arc::clone(session),
            from,
            schema: schema.clone(),
            limit: LIMIT,
        };
        table.check_columns()?;
        Ok(table)
    }

    /// The same, with a time after which a statement is given up. By default it is ten minutes. What is
    /// given up is [`Unavailable`].
    #[must_use]
    pub fn with_time_limit(self, limit: Duration) -> Self {
        Self { limit, ..self }
    }

    /// The statement that a plan becomes, to be read, or explained by the engine. It has nothing of the
    /// data.
    ///
    /// # Errors
    ///
    /// [`TableError::OtherSchema`] if the plan was made from another schema.
    pub fn statement(&self, plan: &Plan) -> Result<Statement, TableError> {
        Statement::tally(&Spark, self.from.clone(), &self.schema, plan)
    }

    fn check_columns(&self) -> Result<(), OpenError> {
        let found = self.columns("*")?;
        for column in self.schema.columns() {
            let found = found.iter().find(|found| found.name == column.name());
            let Some(found) = found else {
                return Err(OpenError::NoColumn {
                    column: column.name().to_owned(),
                });
            };
            let kind = found
                .data_type
                .as_ref()
                .and_then(|found| found.kind.as_ref());
            if !kind.is_some_and(|kind| is_readable(column.kind(), kind)) {
                return Err(OpenError::WrongType {
                    column: column.name().to_owned(),
                    found: kind.map_or_else(|| "unknown".to_owned(), |kind| format!("{kind:?}")),
                    wanted: column.kind(),
                });
            }
        }
        // By their names: an engine may not tell apart those that differ in case.
        let names = self.schema.columns().iter();
        let names: Vec<String> = names
            .map(|column| format!("t.{}", Spark.quoted(column.name())))
            .collect();
        self.columns(&names.join(", ")).map(drop)
    }

    /// Names and types of what is selected from the table.
    fn columns(&self, selected: &str) -> Result<Vec<StructField>, OpenError> {
        let statement = Statement {
            text: format!("SELECT {selected} FROM {} AS t", self.from.text),
            parameters: vec![],
        };
        let ready = self.session.prepare();
        let found = ready.and_then(|ready| ready.columns(&statement));
        match found.map_err(OpenError::Unavailable)?.kind {
            Some(Type::Struct(found)) => Ok(found.fields),
            _ => Ok(vec![]),
        }
    }
}

/// Whether a column of this type is read exactly. Decimals are not, because a double cannot hold them;
/// texts with a collation compare otherwise.
fn is_readable(wanted: Kind, found: &Type) -> bool {
    match (wanted, found) {
        (Kind::Whole, Type::Byte(_) | Type::Short(_) | Type::Integer(_) | Type::Long(_))
        | (Kind::Real, Type::Float(_) | Type::Double(_))
        | (Kind::Bool, Type::Boolean(_))
        | (Kind::Date, Type::Date(_))
        | (Kind::Time, Type::Timestamp(_) | Type::TimestampNtz(_)) => true,
        (Kind::Text, Type::String(text)) => matches!(&*text.collation, "" | "UTF8_BINARY"),
        _ => false,
    }
}

pub(crate) fn tally_from(
    session: &Session,
    (from, schema): (Statement, &Schema),
    plan: &Plan,
    limit: Duration,
) -> Result<Vec<i128>, Unavailable> {
    let statement = Statement::tally(&Spark, from, schema, plan).map_err(|_| Unavailable)?;
    let answer = session
        .prepare()
        .and_then(|ready| ready.query(&statement, limit));
    let mut rows = Vec::new();
    for batch in batches(answer.map_err(|_| Unavailable)?)? {
        let (place, totals) = batch.columns().split_first().ok_or(Unavailable)?;
        for row in 0..batch.num_rows() {
            let totals = totals.iter().map(|total| text(total, row));
            rows.push((number(place, row)?, totals.collect::<Result<Vec<_>, _>>()?));
        }
    }
    read_totals(plan, rows)
}

impl Table for SparkTable {
    fn tally(&self, plan: &Plan) -> Result<Vec<i128>, Unavailable> {
        let from = (self.from.clone(), &self.schema);
        tally_from(&self.session, from, plan, self.limit)
    }

    fn tally_keys(
        &self,
        condition: Option<&Condition>,
        column: &str,
    ) -> Result<Vec<(Value, u64)>, Unavailable> {
        let key = self.schema.key_column(condition, column);
        let (_, kind) = key.map_err(|_| Unavailable)?;
        let from = self.from.clone();
        let statement = Statement::tally_keys(&Spark, from, &self.schema, condition, column);
        let statement = statement.map_err(|_| Unavailable)?;
        let ready = self.session.prepare();
        let answer = ready.and_then(|ready| ready.query(&statement, self.limit));
        let mut keys = Vec::new();
        for batch in batches(answer.map_err(|_| Unavailable)?)? {
            let [key, people] = batch.columns() else {
                return Err(Unavailable);
            };
            for row in 0..batch.num_rows() {
                let key = match kind {
                    Kind::Whole => number(key, row)?.into(),
                    _ => text(key, row)?.into(),
                };
                let people = u64::try_from(number(people, row)?).map_err(|_| Unavailable)?;
                keys.push((key, people));
            }
        }
        Ok(keys)
    }
}

impl PublicMetadata for SparkTable {
    type Metadata = Schema;

    fn metadata(&self) -> &Schema {
        &self.schema
    }

    /// One round trip.
    fn is_reachable(&self) -> bool {
        self.session.prepare().is_ok()
    }
}

impl fmt::Debug for SparkTable {
    /// Nothing of where it is: that may hold a token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SparkTable")
            .field("schema", &self.schema)
            .finish_non_exhaustive()
    }
}
