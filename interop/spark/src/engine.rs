//! Engines that speak Spark Connect.

use std::fmt;
use std::sync::Arc;

use queryables::table::sql::{Dialect, Parameter, Statement};
use queryables::table::{Schema, Value, canaries};

use crate::dialect::{Spark, placed, type_of};
use crate::error::OpenError;
use crate::session::Session;
use crate::table::{LIMIT, SparkTable, tally_from};

/// Apache Spark or Sail, found to compute what it should on small tables.
///
/// An example is at the [crate](crate). Its calls block, and panic on a thread that runs asynchronous
/// code: use a thread for blocking calls there.
///
/// # Guarantee
///
/// Opening runs [canaries], which is a check and no proof.
pub struct SparkEngine {
    session: Arc<Session>,
}

impl SparkEngine {
    /// Opens an engine by its address: `sc://host:port`, with `;use_ssl=true` and `;token=…` behind a
    /// slash where it needs them.
    ///
    /// # Errors
    ///
    /// [`OpenError::Unavailable`], and [`OpenError::Canary`] with the name of the canary on which it
    /// differs from the reference.
    ///
    /// # Panics
    ///
    /// On a thread that runs asynchronous code of tokio.
    pub fn open(remote: &str) -> Result<Self, OpenError> {
        let session = Session::new(remote).map_err(OpenError::Unavailable)?;
        session.prepare_first().map_err(OpenError::Unavailable)?;
        canaries(|schema, rows, plan| {
            let from = (values(schema, rows), schema);
            tally_from(&session, from, plan, LIMIT)
        })?;
        Ok(Self {
            session: Arc::new(session),
        })
    }

    /// A table or a view of the catalog, by the parts of its name.
    ///
    /// # Errors
    ///
    /// [`OpenError`]: there is none, or a column is not there or has another type.
    ///
    /// # Panics
    ///
    /// On a thread that runs asynchronous code of tokio.
    pub fn table(&self, name: &[&str], schema: &Schema) -> Result<SparkTable, OpenError> {
        if name.is_empty() {
            return Err(OpenError::NoTable);
        }
        let name: Vec<String> = name.iter().map(|part| Spark.quoted(part)).collect();
        SparkTable::new(&self.session, name.join("."), schema)
    }

    /// Files or folders of Parquet, as the engine finds them: the rows of all of them.
    ///
    /// # Errors
    ///
    /// As [`table`](Self::table).
    ///
    /// # Panics
    ///
    /// On a thread that runs asynchronous code of tokio.
    pub fn parquet(&self, paths: &[&str], schema: &Schema) -> Result<SparkTable, OpenError> {
        let columns: Vec<String> = schema
            .columns()
            .iter()
            .map(|column| Spark.quoted(column.name()))
            .collect();
        let columns = columns.join(", ");
        let from = match paths {
            [] => return Err(OpenError::NoTable),
            [path] => format!("parquet.{}", Spark.quoted(path)),
            paths => {
                let each = paths
                    .iter()
                    .map(|path| format!("SELECT {columns} FROM parquet.{}", Spark.quoted(path)));
                format!("({})", each.collect::<Vec<_>>().join(" UNION ALL "))
            }
        };
        SparkTable::new(&self.session, from, schema)
    }
}

/// Rows that are sent with the question.
fn values(schema: &Schema, rows: &[Vec<Option<Value>>]) -> Statement {
    let columns = schema.columns();
    let names: Vec<String> = columns
        .iter()
        .map(|column| Spark.quoted(column.name()))
        .collect();
    if rows.is_empty() {
        let none = columns.iter().zip(&names);
        let none = none
            .map(|(column, name)| format!("CAST(NULL AS {}) AS {name}", type_of(column.kind())));
        let none = none.collect::<Vec<_>>().join(", ");
        return Statement {
            text: format!("(SELECT {none} FROM VALUES (1) AS v (one) WHERE one = 0)"),
            parameters: vec![],
        };
    }
    let lists = columns.iter().enumerate().map(|(place, column)| {
        let values = rows.iter().map(|row| row.get(place).cloned().flatten());
        Parameter::List(column.kind(), values.collect())
    });
    let parameters: Vec<Parameter> = lists.collect();
    let rows = rows.iter().enumerate().map(|(place, row)| {
        let values = columns.iter().zip(row).zip(1..);
        let values =
            values.map(|((column, value), number)| placed(number, place, column.kind(), value));
        format!("({})", values.collect::<Vec<_>>().join(", "))
    });
    let rows = rows.collect::<Vec<_>>().join(", ");
    Statement {
        text: format!("(SELECT * FROM VALUES {rows} AS v ({}))", names.join(", ")),
        parameters,
    }
}

impl fmt::Debug for SparkEngine {
    /// Nothing of where it is: that may hold a token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SparkEngine")
    }
}
