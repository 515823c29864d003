//! A connection that reads.

use std::time::Duration;

use futures_util::future::try_join;
use queryables::table::sql::Statement;
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Config, Error, NoTls, Row};

use super::bind::bound;

/// A connection, and the runtime that does something only while somebody waits for it.
pub(crate) struct Session {
    client: Client,
    runtime: Runtime,
}

/// How long to wait for an answer that takes no work.
const PROMPT: Duration = Duration::from_secs(5);

impl Session {
    pub(crate) fn new(config: &Config) -> Result<Self, String> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        let connected = async {
            let (client, connection) = config.connect(NoTls).await?;
            // It ends with the client.
            drop(tokio::spawn(connection));
            Ok(client)
        };
        let client = runtime.block_on(within(PROMPT, connected))?;
        Ok(Self { client, runtime })
    }

    /// Whether the server answers.
    pub(crate) fn answers(&self) -> bool {
        let asked = within(PROMPT, self.client.batch_execute(""));
        self.runtime.block_on(asked).is_ok()
    }

    /// What a statement answers, in a transaction of its own. After an error the session must not be used
    /// again.
    ///
    /// The server stops it after `limit`. If the server is not heard of by then, it is told to, and
    /// nothing is waited for.
    pub(crate) fn query(&self, statement: &Statement, limit: Duration) -> Result<Vec<Row>, String> {
        self.runtime.block_on(async {
            let answer = self.in_transaction(statement, limit);
            let answer = within(limit + PROMPT, answer).await;
            if answer.is_err() {
                let cancelled = self.client.cancel_token();
                let _ = within(PROMPT, cancelled.cancel_query(NoTls)).await;
            }
            answer
        })
    }

    /// Two round trips: requests whose futures are joined are sent together, in this order.
    async fn in_transaction(
        &self,
        statement: &Statement,
        limit: Duration,
    ) -> Result<Vec<Row>, Error> {
        let begin = format!(
            "{BEGIN}; SET LOCAL statement_timeout = {}",
            limit.as_millis().max(1)
        );
        let ((), prepared) = try_join(
            self.client.batch_execute(&begin),
            self.client.prepare(&statement.text),
        )
        .await?;
        let parameters = bound(&statement.parameters);
        let parameters: Vec<&(dyn ToSql + Sync)> = parameters
            .iter()
            .map(|parameter| &**parameter as &(dyn ToSql + Sync))
            .collect();
        let (rows, ()) = try_join(
            self.client.query(&prepared, &parameters),
            self.client.batch_execute("COMMIT"),
        )
        .await?;
        Ok(rows)
    }
}

/// One snapshot, and nothing is written. Names and functions are those of the server, whatever the role's
/// settings are. Times are read in UTC. A query whose client has gone is stopped.
const BEGIN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; \
    SET LOCAL search_path = pg_catalog; \
    SET LOCAL TIME ZONE 'UTC'; \
    SET LOCAL client_connection_check_interval = '1s'";

/// Waits that long and no longer.
async fn within<T>(
    limit: Duration,
    answer: impl Future<Output = Result<T, Error>>,
) -> Result<T, String> {
    match timeout(limit, answer).await {
        Ok(answered) => answered.map_err(|error| said(&error)),
        Err(late) => Err(late.to_string()),
    }
}

fn said(error: &Error) -> String {
    match error.as_db_error() {
        Some(error) => error.to_string(),
        None => error.to_string(),
    }
}
