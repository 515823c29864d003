//! Privacy budgets in PostgreSQL: one budget for many processes and machines.
//!
//! ```no_run
//! use queryables::ledger::Ledger;
//! use queryables::prelude::*;
//! use queryables_postgres::PostgresStore;
//! use std::sync::Arc;
//!
//! // Once: PostgresStore::create("host=/run/postgresql dbname=budgets")?;
//! let store = PostgresStore::connect("host=/run/postgresql dbname=budgets")?;
//! let ledger = Ledger::on(store, "ages, March")?;
//! let ages = Arc::new(vec![17, 18, 43, 70]);
//! // Every process that opens it spends the same budget.
//! let filter = ledger.launch("census", &Filter::concurrent(PureDp, "1".parse()?), &ages)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A launch is one transaction. It locks the row of the ledger's counter and those of its budgets,
//! decides, writes, and commits before its mechanism runs: two round trips to the server (one more
//! with an idempotency key), and one for the outcome. The rows are locked from the answer of the first
//! to the commit in the second. States are versioned JSON, as text with a checksum; the numbers of a
//! loss are also kept as exact `NUMERIC`, for queries.

#![warn(missing_docs, missing_debug_implementations, unreachable_pub)]
#![warn(
    clippy::missing_errors_doc,
    clippy::missing_panics_doc,
    clippy::must_use_candidate
)]

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use futures_util::future::try_join;
use queryables::ledger::{
    Charge, Done, Line, Outcome, Receipt, Refusals, Saved, Store, StoreError,
};
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Config, Error, NoTls, Row, Statement};

/// Keeps a ledger in a database of PostgreSQL, in tables whose names begin with `queryables_`.
///
/// It has one connection, and makes a new one after an error. Connections are not encrypted by this
/// crate: use a Unix socket, or a network that you trust. Its calls block, and panic on a thread that
/// runs asynchronous code: use a thread for blocking calls there.
///
/// # Guarantee
///
/// What was synced is read by every process that uses the database, as far as the server keeps what
/// it has committed. `synchronous_commit` is on for every charge, whatever the session's default is. A
/// server with `fsync = off` is refused, and so is a standby, which may not have the last charges yet.
///
/// Where a commit is not acknowledged, because the server ends in the middle of it, nothing runs, and
/// the next launch reads whether it was charged.
pub struct PostgresStore {
    config: Config,
    connection: Mutex<Option<Connection>>,
}

/// A connection, and what it has prepared: a statement that is not prepared takes a round trip more
/// each time.
///
/// Requests whose futures are joined are sent together, in this order, and take one round trip.
struct Connection {
    client: Client,
    lock: Statement,
    write: Statement,
    finish: Statement,
    newer: Statement,
    /// Does something only while somebody waits for it.
    runtime: Runtime,
}

/// Says itself how it is to be committed: a pool may give each transaction another session.
const BEGIN: &str = "
    BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
    SET LOCAL synchronous_commit = on
";

/// Locks the counter first, as everybody does: sequence numbers follow the commits, without gaps.
/// Then it locks the budgets. A row that was changed while this waited for its lock is read as it is
/// now, because it is locked.
const LOCK: &str = "
    WITH about AS MATERIALIZED (SELECT next FROM queryables_about FOR UPDATE)
    SELECT about.next, budget, version, state::text
    FROM about, queryables_budgets WHERE budget = ANY($1)
    FOR UPDATE OF queryables_budgets
";

/// Writes all of a charge at once: the entry ($1, $2), its amounts, the changed budgets, the key.
const WRITE: &str = "
    WITH entry AS (
        INSERT INTO queryables_entries (sequence, line) VALUES ($1, $2::text::json)
    ), amounts AS (
        INSERT INTO queryables_amounts
        SELECT $1, name, amount::numeric FROM unnest($3::text[], $4::text[]) AS a (name, amount)
    ), budgets AS (
        UPDATE queryables_budgets SET version = changed.version, state = changed.state::json
        FROM unnest($5::text[], $6::bigint[], $7::text[]) AS changed (budget, version, state)
        WHERE queryables_budgets.budget = changed.budget
    ), keys AS (
        INSERT INTO queryables_keys SELECT key, $1 FROM unnest($8::text[]) AS k (key)
    )
    UPDATE queryables_about SET next = $1 + 1
";

/// Writes a refusal ($1, $2) in the place of the one before, whose amounts are gone.
const REPLACE: &str = "
    WITH entry AS (UPDATE queryables_entries SET line = $2::text::json WHERE sequence = $1)
    INSERT INTO queryables_amounts
    SELECT $1, name, amount::numeric FROM unnest($3::text[], $4::text[]) AS a (name, amount)
";

/// An outcome ($1, $2). If it need not survive, it need not wait for the disk ($3).
const FINISH: &str = "
    WITH waits AS MATERIALIZED (SELECT set_config('synchronous_commit', $3, true))
    UPDATE queryables_entries SET outcome = $2::text::json FROM waits WHERE sequence = $1
";

const NEWER: &str = "
    SELECT version, state::text FROM queryables_budgets WHERE budget = $1 AND version <> $2
";

/// Sent as one request, so it is one transaction. Of two that make the tables at once, the second waits
/// for the first and then finds them.
const SCHEMA: &str = "
    SELECT pg_advisory_xact_lock(7205759403792793);
    CREATE TABLE queryables_about (
        one boolean PRIMARY KEY DEFAULT true CHECK (one),
        version integer NOT NULL,
        dataset text,
        next bigint NOT NULL
    );
    INSERT INTO queryables_about (version, next) VALUES (1, 1);
    CREATE TABLE queryables_budgets (
        budget text PRIMARY KEY,
        terms json NOT NULL,
        version bigint NOT NULL,
        state json NOT NULL
    );
    CREATE TABLE queryables_entries (
        sequence bigint PRIMARY KEY,
        line json NOT NULL,
        outcome json
    );
    CREATE TABLE queryables_amounts (
        sequence bigint REFERENCES queryables_entries,
        name text,
        amount numeric NOT NULL,
        PRIMARY KEY (sequence, name)
    );
    CREATE TABLE queryables_keys (
        key text PRIMARY KEY,
        sequence bigint NOT NULL REFERENCES queryables_entries
    );
";

impl PostgresStore {
    /// Makes the tables of a new ledger in a database, and connects to it. The text is that of libpq:
    /// `host=… dbname=… user=…`.
    ///
    /// # Errors
    ///
    /// [`StoreError::AlreadyExists`] if the database has them, and what the server does not do.
    ///
    /// # Panics
    ///
    /// On a thread that runs asynchronous code of tokio.
    pub fn create(parameters: &str) -> Result<Self, StoreError> {
        let store = Self::to(parameters)?;
        let (runtime, client) = store.client()?;
        let made = runtime.block_on(client.batch_execute(SCHEMA));
        made.map_err(|error| match error.code() {
            Some(&SqlState::DUPLICATE_TABLE) => StoreError::AlreadyExists,
            _ => unavailable(error),
        })?;
        Ok(store)
    }

    /// Connects to the ledger of a database. It makes no tables: where the parameters name another
    /// database by mistake, that is an error and not a new budget.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] if the database has no ledger, [`StoreError::Version`], and what the
    /// server does not do.
    ///
    /// # Panics
    ///
    /// On a thread that runs asynchronous code of tokio.
    pub fn connect(parameters: &str) -> Result<Self, StoreError> {
        let store = Self::to(parameters)?;
        let (runtime, client) = store.client()?;
        let query = "SELECT version FROM queryables_about";
        let version = runtime.block_on(client.query_one(query, &[]));
        let version = version.map_err(|error| match error.code() {
            Some(&SqlState::UNDEFINED_TABLE) => StoreError::NotFound,
            _ => unavailable(error),
        })?;
        match version.get::<_, i32>(0) {
            1 => Ok(store),
            _ => Err(StoreError::Version),
        }
    }

    fn to(parameters: &str) -> Result<Self, StoreError> {
        Ok(Self {
            config: parameters.parse().map_err(unavailable)?,
            connection: Mutex::new(None),
        })
    }

    /// Uses the connection, and gives it up after an error: the server then ends its transaction.
    fn with<T>(
        &self,
        run: impl AsyncFnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut kept = self
            .connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        // Taken out: what unwinds or fails leaves no connection behind.
        let connection = match kept.take() {
            Some(connection) => connection,
            None => {
                let (runtime, client) = self.client()?;
                Connection::new(runtime, client).map_err(unavailable)?
            }
        };
        let result = connection.runtime.block_on(run(&connection))?;
        *kept = Some(connection);
        Ok(result)
    }

    fn client(&self) -> Result<(Runtime, Client), StoreError> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| StoreError::Unavailable(error.to_string()))?;
        let connected = runtime.block_on(async {
            let (client, connection) = self.config.connect(NoTls).await?;
            // It ends with the client.
            drop(tokio::spawn(connection));
            let set = "SET default_transaction_isolation = 'read committed'";
            client.batch_execute(set).await?;
            let query = "SELECT current_setting('fsync'), pg_is_in_recovery()";
            let server = client.query_one(query, &[]).await?;
            Ok((client, server))
        });
        let (client, server) = connected.map_err(unavailable)?;
        let refused = match (server.get(0), server.get(1)) {
            ("on", false) => return Ok((runtime, client)),
            ("on", true) => "the server is a standby",
            _ => "the server has fsync = off",
        };
        Err(StoreError::Unavailable(refused.to_owned()))
    }
}

impl Connection {
    fn new(runtime: Runtime, client: Client) -> Result<Self, Error> {
        let prepared = |text| runtime.block_on(client.prepare(text));
        Ok(Self {
            lock: prepared(LOCK)?,
            write: prepared(WRITE)?,
            finish: prepared(FINISH)?,
            newer: prepared(NEWER)?,
            client,
            runtime,
        })
    }

    /// Begins a transaction and locks the counter and these budgets: the next sequence number, and
    /// the states in this order.
    async fn locked(&self, budgets: &[String]) -> Result<(u64, Vec<Saved>), StoreError> {
        let begun = try_join(
            self.client.batch_execute(BEGIN),
            self.client.query(&self.lock, &[&budgets]),
        )
        .await;
        let ((), rows) = begun.map_err(unavailable)?;
        let mut next = 0;
        let mut states = HashMap::new();
        for row in rows {
            next = row.get::<_, i64>(0).cast_unsigned();
            states.insert(row.get::<_, String>(1), saved(&row, 2));
        }
        let found = budgets.iter().map(|budget| {
            let saved = states.get(budget).cloned();
            saved.ok_or_else(|| damaged(budget))
        });
        Ok((next, found.collect::<Result<_, _>>()?))
    }

    /// What is known of a key.
    async fn known(&self, key: &str) -> Result<Option<Receipt>, StoreError> {
        let query = "SELECT line::text, outcome::text FROM queryables_entries \
                     JOIN queryables_keys USING (sequence) WHERE key = $1";
        let row = self.client.query_opt(query, &[&key]).await;
        let Some(row) = row.map_err(unavailable)? else {
            return Ok(None);
        };
        let outcome: Option<String> = row.get(1);
        let done = outcome.map(|line| match Line::read(&line) {
            Some(Line::Done(done)) => Ok(done),
            _ => Err(damaged("an outcome")),
        });
        Ok(Some(Receipt::Known {
            line: row.get(0),
            done: done.transpose()?,
        }))
    }

    /// Writes a refusal in the place of the last one, and commits.
    async fn replace(
        &self,
        charge: &dyn Charge,
        sequence: u64,
        times: u64,
    ) -> Result<(), StoreError> {
        let place = signed(sequence);
        let line = charge.line(sequence, times)?;
        let (names, amounts): (Vec<String>, Vec<String>) = charge.amounts().into_iter().unzip();
        let client = &self.client;
        let removed = "DELETE FROM queryables_amounts WHERE sequence = $1";
        client
            .execute(removed, &[&place])
            .await
            .map_err(unavailable)?;
        let replaced = client
            .execute(REPLACE, &[&place, &line, &names, &amounts])
            .await;
        replaced.map_err(unavailable)?;
        client.batch_execute("COMMIT").await.map_err(unavailable)
    }

    /// How many refusals are at the end of the record.
    async fn refusals(&self) -> Result<Refusals, StoreError> {
        let query = "SELECT line::text FROM queryables_entries ORDER BY sequence DESC LIMIT $1";
        let rows = self.client.query(query, &[&(Refusals::KEPT as i64)]).await;
        let rows = rows.map_err(unavailable)?;
        Ok(Refusals::read(rows.iter().map(|row| row.get(0))))
    }

    /// Writes what a charge has decided, and commits.
    async fn commit(
        &self,
        charge: &dyn Charge,
        sequence: u64,
        admitted: bool,
    ) -> Result<(), StoreError> {
        let place = signed(sequence);
        let line = charge.line(sequence, 1)?;
        let (names, amounts): (Vec<String>, Vec<String>) = charge.amounts().into_iter().unzip();
        let (mut budgets, mut versions, mut states) = (vec![], vec![], vec![]);
        for (budget, Saved { version, state }) in charge.changed()? {
            budgets.push(charge.budgets().get(budget).cloned().unwrap_or_default());
            versions.push(signed(version));
            states.push(state);
        }
        let key: Vec<&str> = charge.key().filter(|_| admitted).into_iter().collect();
        // Where the first fails, the server makes a rollback of the second, and the error is here.
        let committed = try_join(
            self.client.execute(
                &self.write,
                &[
                    &place, &line, &names, &amounts, &budgets, &versions, &states, &key,
                ],
            ),
            self.client.batch_execute("COMMIT"),
        )
        .await;
        committed.map_err(unavailable)?;
        Ok(())
    }
}

/// Nothing of the data is in what the server says: it has none.
fn unavailable(error: Error) -> StoreError {
    let text = match error.as_db_error() {
        Some(error) => error.to_string(),
        None => error.to_string(),
    };
    StoreError::Unavailable(text)
}

fn damaged(what: &str) -> StoreError {
    StoreError::Damaged { what: what.into() }
}

/// A bit pattern: PostgreSQL has no unsigned numbers, and a version that nobody has stays one.
fn signed(number: u64) -> i64 {
    number.cast_signed()
}

/// A version and a state, from this column on.
fn saved(row: &Row, column: usize) -> Saved {
    Saved {
        version: row.get::<_, i64>(column).cast_unsigned(),
        state: row.get(column + 1),
    }
}

impl Store for PostgresStore {
    fn name_dataset(&self, name: &str) -> Result<(), StoreError> {
        let named: String = self.with(async |connection| {
            let query = "UPDATE queryables_about SET dataset = coalesce(dataset, $1) \
                         RETURNING dataset";
            let row = connection.client.query_one(query, &[&name]).await;
            Ok(row.map_err(unavailable)?.get(0))
        })?;
        if named != name {
            let given = name.to_owned();
            return Err(StoreError::OtherDataset { named, given });
        }
        Ok(())
    }

    fn open(&self, budget: &str, terms: &str, state: &str) -> Result<Saved, StoreError> {
        let row = self.with(async |connection| {
            let query = "INSERT INTO queryables_budgets \
                         VALUES ($1, $2::text::json, 0, $3::text::json) ON CONFLICT DO NOTHING";
            let Connection { client, .. } = connection;
            let new = client.execute(query, &[&budget, &terms, &state]).await;
            new.map_err(unavailable)?;
            let query = "SELECT version, state::text, terms::text FROM queryables_budgets \
                         WHERE budget = $1";
            let row = client.query_one(query, &[&budget]).await;
            row.map_err(unavailable)
        })?;
        let known: String = row.get(2);
        if known != terms {
            return Err(StoreError::OtherTerms {
                budget: budget.to_owned(),
                terms: known,
            });
        }
        Ok(saved(&row, 0))
    }

    fn newer(&self, budget: &str, known: u64) -> Result<Option<Saved>, StoreError> {
        self.with(async |connection| {
            let Connection { client, newer, .. } = connection;
            let row = client.query_opt(newer, &[&budget, &signed(known)]).await;
            Ok(row.map_err(unavailable)?.map(|row| saved(&row, 0)))
        })
    }

    fn charge(&self, charge: &mut dyn Charge) -> Result<Receipt, StoreError> {
        self.with(async |connection| {
            let (sequence, states) = connection.locked(charge.budgets()).await?;
            // After the lock: whoever used the key before has committed.
            if let Some(key) = charge.key()
                && let Some(known) = connection.known(key).await?
            {
                let ended = connection.client.batch_execute("ROLLBACK").await;
                return ended.map(|()| known).map_err(unavailable);
            }
            for (place, saved) in states.iter().enumerate() {
                if saved.version != charge.known(place) {
                    charge.refresh(place, saved)?;
                }
            }
            let admitted = charge.decide();
            if !admitted && charge.changed()?.is_empty() {
                let mut refusals = connection.refusals().await?;
                let (last, times) = refusals.place(sequence, true);
                if last < sequence {
                    connection.replace(charge, last, times).await?;
                    return Ok(Receipt::Written {
                        sequence: last,
                        mark: 0,
                    });
                }
            }
            connection.commit(charge, sequence, admitted).await?;
            Ok(Receipt::Written { sequence, mark: 0 })
        })
    }

    /// It was committed already.
    fn sync(&self, _: &Receipt) -> Result<(), StoreError> {
        Ok(())
    }

    fn finish(&self, sequence: u64, outcome: Outcome) -> Result<(), StoreError> {
        let kept = matches!(outcome, Outcome::Answered(Some(_)));
        let line = Done::new(sequence, outcome).line()?;
        let waits = if kept { "on" } else { "off" };
        self.with(async |connection| {
            let Connection { client, finish, .. } = connection;
            let place = signed(sequence);
            let finished = client.execute(finish, &[&place, &line, &waits]).await;
            finished.map(drop).map_err(unavailable)
        })
    }

    fn lines(&self, from: u64, most: usize) -> Result<Vec<String>, StoreError> {
        self.with(async |connection| {
            let query = "SELECT line::text, outcome::text FROM queryables_entries \
                         WHERE sequence >= $1 ORDER BY sequence LIMIT $2";
            let (from, most) = [from, most as u64]
                .map(|number| i64::try_from(number).unwrap_or(i64::MAX))
                .into();
            let rows = connection.client.query(query, &[&from, &most]).await;
            let mut lines = Vec::new();
            for row in rows.map_err(unavailable)? {
                lines.push(row.get(0));
                lines.extend(row.get::<_, Option<String>>(1));
            }
            Ok(lines)
        })
    }
}

impl fmt::Debug for PostgresStore {
    /// Nothing of where it is: that may hold a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PostgresStore")
    }
}
