//! Tables of PostgreSQL that can be asked.

mod bind;
mod dialect;
mod error;
mod session;

use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use queryables::machine::PublicMetadata;
use queryables::mechanisms::query::Unavailable;
use queryables::table::sql::{Dialect, Parameter, Statement, read_totals};
use queryables::table::{Condition, Kind, Plan, Schema, Table, TableError, Value, canaries};
use tokio_postgres::{Config, Row};

pub use error::OpenTableError;

use dialect::Postgres;
use error::readable;
use session::Session;

/// A table, or a view, in a database of PostgreSQL. The server adds up; noise is drawn here.
///
/// ```no_run
/// use queryables::prelude::*;
/// use queryables::table::{Column, Kind, Schema};
/// use queryables_postgres::PostgresTable;
/// use std::sync::Arc;
///
/// let schema = Schema::of_people(
///     "patient",
///     [Column::new("patient", Kind::Whole), Column::whole("age", 0..=120)],
/// )?;
/// let visits = PostgresTable::open("host=/run/postgresql dbname=clinic", "public", "visits", &schema)?;
/// let filter = start(&Filter::concurrent(PureDp, epsilon!(1)), Arc::new(visits))?;
/// let adults = schema.count().filter("age >= 18")?.laplace(epsilon!(0.1))?;
/// println!("{}", filter.release(&adults)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Each tally is one statement in a read-only transaction of its own, with one snapshot. **The curator
/// promises that the rows do not change** while the table is open.
///
/// It keeps the connections that it has opened, one for each thread that asks at the same time. They are
/// not encrypted by this crate: use a Unix socket, or a network that you trust. Its calls block, and panic
/// on a thread that runs asynchronous code: use a thread for blocking calls there.
///
/// # Guarantee
///
/// The totals are those of [`Plan`], if the server computes what it should. Opening checks that on
/// [small tables](canaries), which is no proof. Everything that goes wrong later is [`Unavailable`],
/// which is constant. How long an answer takes depends on the data.
pub struct PostgresTable {
    config: Config,
    from: Statement,
    schema: Schema,
    limit: Duration,
    idle: Mutex<Vec<Session>>,
}

/// The time that a statement may take, where nothing else is said.
const LIMIT: Duration = Duration::from_secs(600);

impl PostgresTable {
    /// Opens a table that is in a schema of the database (`public`, for instance). The parameters are
    /// those of libpq: `host=… dbname=… user=…`.
    ///
    /// # Errors
    ///
    /// [`OpenTableError`]: the server cannot be reached or is not suitable, a column is not there or has
    /// another type, or the server fails a canary.
    ///
    /// # Panics
    ///
    /// On a thread that runs asynchronous code of tokio.
    pub fn open(
        parameters: &str,
        namespace: &str,
        table: &str,
        schema: &Schema,
    ) -> Result<Self, OpenTableError> {
        let config: Result<Config, tokio_postgres::Error> = parameters.parse();
        let name = [namespace, table].map(|name| Postgres.quoted(name));
        let table_of = Self {
            config: config.map_err(|error| OpenTableError::Unavailable(error.to_string()))?,
            from: Statement {
                text: name.join("."),
                parameters: vec![],
            },
            schema: schema.clone(),
            limit: LIMIT,
            idle: Mutex::default(),
        };
        table_of.check_server()?;
        table_of.check_columns(namespace, table)?;
        canaries(|schema, rows, plan| table_of.tally_from(values(schema, rows), schema, plan))?;
        Ok(table_of)
    }

    /// The same, with a time after which the server stops a statement. By default it is ten minutes. What
    /// is stopped is [`Unavailable`].
    #[must_use]
    pub fn with_time_limit(self, limit: Duration) -> Self {
        Self { limit, ..self }
    }

    /// The statement that a plan becomes, to be read, or explained by the server. It has nothing of the data.
    ///
    /// # Errors
    ///
    /// [`TableError::OtherSchema`] if the plan was made from another schema.
    pub fn statement(&self, plan: &Plan) -> Result<Statement, TableError> {
        Statement::tally(&Postgres, self.from.clone(), &self.schema, plan)
    }

    fn check_server(&self) -> Result<(), OpenTableError> {
        let query = "SELECT current_setting('server_encoding'), \
                     current_setting('server_version_num')::integer >= 140000";
        let rows = self
            .query(&text(query))
            .map_err(OpenTableError::Unavailable)?;
        let row = rows.first().map(|row| (row.get(0), row.get(1)));
        let problem = match row {
            Some(("UTF8", true)) => return Ok(()),
            Some(("UTF8", _)) => "is older than PostgreSQL 14",
            _ => "has a database in another encoding than UTF8",
        };
        Err(OpenTableError::Server(problem))
    }

    fn check_columns(&self, namespace: &str, table: &str) -> Result<(), OpenTableError> {
        let query = "SELECT attname::text, atttypid::regtype::text FROM pg_attribute \
                     JOIN pg_class ON pg_class.oid = attrelid \
                     JOIN pg_namespace ON pg_namespace.oid = relnamespace \
                     WHERE nspname = $1::text AND relname = $2::text \
                     AND relkind IN ('r', 'p', 'v', 'm', 'f') AND attnum > 0 AND NOT attisdropped";
        let query = Statement {
            text: query.to_owned(),
            parameters: [namespace, table]
                .map(|name| Parameter::One(name.into()))
                .to_vec(),
        };
        let rows = self.query(&query).map_err(OpenTableError::Unavailable)?;
        if rows.is_empty() {
            return Err(OpenTableError::NoTable {
                namespace: namespace.to_owned(),
                table: table.to_owned(),
            });
        }
        for column in self.schema.columns() {
            let found = rows
                .iter()
                .find(|row| row.get::<_, &str>(0) == column.name());
            let Some(found) = found.map(|row| row.get::<_, &str>(1)) else {
                return Err(OpenTableError::NoColumn {
                    column: column.name().to_owned(),
                });
            };
            if !readable(column.kind()).contains(&found) {
                return Err(OpenTableError::WrongType {
                    column: column.name().to_owned(),
                    found: found.to_owned(),
                    wanted: column.kind(),
                });
            }
        }
        Ok(())
    }

    fn tally_from(
        &self,
        from: Statement,
        schema: &Schema,
        plan: &Plan,
    ) -> Result<Vec<i128>, Unavailable> {
        let statement = Statement::tally(&Postgres, from, schema, plan);
        let rows = self.query(&statement.map_err(|_| Unavailable)?);
        let rows = rows.map_err(|_| Unavailable)?;
        let rows = rows.iter().map(|row| {
            let totals = (1..row.len()).map(|column| row.try_get::<_, &str>(column));
            Ok((row.try_get(0)?, totals.collect::<Result<_, _>>()?))
        });
        let rows = rows.collect::<Result<Vec<(i64, Vec<&str>)>, tokio_postgres::Error>>();
        read_totals(plan, rows.map_err(|_| Unavailable)?)
    }

    /// Uses a session that is idle, or a new one, and gives it up after an error: the server then ends
    /// its transaction.
    fn query(&self, statement: &Statement) -> Result<Vec<Row>, String> {
        let session = self.session()?;
        let rows = session.query(statement, self.limit)?;
        self.sessions().push(session);
        Ok(rows)
    }

    fn session(&self) -> Result<Session, String> {
        let idle = self.sessions().pop();
        idle.map_or_else(|| Session::new(&self.config), Ok)
    }

    fn sessions(&self) -> std::sync::MutexGuard<'_, Vec<Session>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Rows that are sent with the question.
fn values(schema: &Schema, rows: &[Vec<Option<Value>>]) -> Statement {
    let columns = schema.columns().iter().enumerate();
    let (parameters, names): (Vec<Parameter>, Vec<String>) = columns
        .map(|(place, column)| {
            let values = rows.iter().map(|row| row.get(place).cloned().flatten());
            let list = Parameter::List(column.kind(), values.collect());
            (list, Postgres.quoted(column.name()))
        })
        .unzip();
    let placeholders: Vec<String> = parameters
        .iter()
        .zip(1..)
        .map(|(list, number)| Postgres.placeholder(number, list))
        .collect();
    let (placeholders, names) = (placeholders.join(", "), names.join(", "));
    Statement {
        text: format!("(SELECT * FROM unnest({placeholders}) AS v ({names}))"),
        parameters,
    }
}

fn text(text: &str) -> Statement {
    Statement {
        text: text.to_owned(),
        parameters: vec![],
    }
}

impl Table for PostgresTable {
    fn tally(&self, plan: &Plan) -> Result<Vec<i128>, Unavailable> {
        self.tally_from(self.from.clone(), &self.schema, plan)
    }

    fn tally_keys(
        &self,
        condition: Option<&Condition>,
        column: &str,
    ) -> Result<Vec<(Value, u64)>, Unavailable> {
        let key = self.schema.key_column(condition, column);
        let (_, kind) = key.map_err(|_| Unavailable)?;
        let from = self.from.clone();
        let statement = Statement::tally_keys(&Postgres, from, &self.schema, condition, column);
        let rows = self.query(&statement.map_err(|_| Unavailable)?);
        let keys = rows.map_err(|_| Unavailable)?.into_iter().map(|row| {
            let key = match kind {
                Kind::Whole => row.try_get::<_, i64>(0).map(Value::from),
                _ => row.try_get::<_, String>(0).map(Value::from),
            };
            let number = row.try_get::<_, i64>(1).map_err(|_| Unavailable)?;
            let number = u64::try_from(number).map_err(|_| Unavailable)?;
            Ok((key.map_err(|_| Unavailable)?, number))
        });
        keys.collect()
    }
}

impl PublicMetadata for PostgresTable {
    type Metadata = Schema;

    fn metadata(&self) -> &Schema {
        &self.schema
    }

    /// One round trip; with a connection that was lost, a new one.
    fn is_reachable(&self) -> bool {
        loop {
            let idle = self.sessions().pop();
            let is_new = idle.is_none();
            let Ok(session) = idle.map_or_else(|| Session::new(&self.config), Ok) else {
                return false;
            };
            if session.answers() {
                self.sessions().push(session);
                return true;
            }
            if is_new {
                return false;
            }
        }
    }
}

impl fmt::Debug for PostgresTable {
    /// Nothing of where it is: that may hold a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresTable")
            .field("schema", &self.schema)
            .finish_non_exhaustive()
    }
}
