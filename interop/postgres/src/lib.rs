//! Privacy budgets in PostgreSQL: one budget for many processes and machines.
//!
//! ```no_run
//! use queryables::ledger::Ledger;
//! use queryables::prelude::*;
//! use queryables_postgres::PostgresStore;
//! use std::sync::Arc;
//!
//! let store = PostgresStore::connect("host=/run/postgresql dbname=budgets")?;
//! let ledger = Ledger::on(store, "ages, March")?;
//! let ages = Arc::new(vec![17, 18, 43, 70]);
//! // Every process that opens it spends the same budget.
//! let filter = ledger.launch("census", &Filter::concurrent(PureDp, "1".parse()?), &ages)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A launch is one transaction. It locks the row of the ledger's counter and those of its budgets,
//! decides, writes, and commits before its mechanism runs: four round trips to the server (one more
//! with an idempotency key), and one for the outcome. States are versioned JSON, as text with a
//! checksum; the numbers of a loss are also kept as exact `NUMERIC`, for queries.

#![warn(missing_docs, missing_debug_implementations, unreachable_pub)]
#![warn(
    clippy::missing_errors_doc,
    clippy::missing_panics_doc,
    clippy::must_use_candidate
)]

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use postgres::{Client, Config, NoTls, Statement, Transaction};
use queryables::ledger::{Charge, Done, Line, Outcome, Receipt, Saved, Store, StoreError};

/// Keeps a ledger in a database of PostgreSQL, in tables whose names begin with `queryables_`.
///
/// It has one connection, and makes a new one after an error. Connections are not encrypted by this
/// crate: use a Unix socket, or a network that you trust.
///
/// # Guarantee
///
/// What was synced is read by every process that uses the database, as far as the server keeps what
/// it has committed. `synchronous_commit` is on, whatever the server's default is; a server with
/// `fsync = off` is refused.
///
/// Where a commit is not acknowledged, because the server ends in the middle of it, nothing runs, and
/// the next launch reads whether it was charged.
pub struct PostgresStore {
    config: Config,
    connection: Mutex<Option<Connection>>,
}

/// A connection, and what it has prepared: a statement that is not prepared takes a round trip more
/// each time.
struct Connection {
    client: Client,
    lock: Statement,
    write: Statement,
    finish: Statement,
}

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

/// An outcome ($1, $2). If it need not survive, it need not wait for the disk ($3).
const FINISH: &str = "
    WITH waits AS MATERIALIZED (SELECT set_config('synchronous_commit', $3, true))
    UPDATE queryables_entries SET outcome = $2::text::json FROM waits WHERE sequence = $1
";

const SCHEMA: &str = "
    SELECT pg_advisory_xact_lock(7205759403792793);
    CREATE TABLE IF NOT EXISTS queryables_about (
        one boolean PRIMARY KEY DEFAULT true CHECK (one),
        version integer NOT NULL,
        dataset text,
        next bigint NOT NULL
    );
    INSERT INTO queryables_about (version, next) VALUES (1, 1) ON CONFLICT DO NOTHING;
    CREATE TABLE IF NOT EXISTS queryables_budgets (
        budget text PRIMARY KEY,
        terms json NOT NULL,
        version bigint NOT NULL,
        state json NOT NULL
    );
    CREATE TABLE IF NOT EXISTS queryables_entries (
        sequence bigint PRIMARY KEY,
        line json NOT NULL,
        outcome json
    );
    CREATE TABLE IF NOT EXISTS queryables_amounts (
        sequence bigint REFERENCES queryables_entries,
        name text,
        amount numeric NOT NULL,
        PRIMARY KEY (sequence, name)
    );
    CREATE TABLE IF NOT EXISTS queryables_keys (
        key text PRIMARY KEY,
        sequence bigint NOT NULL REFERENCES queryables_entries
    );
";

impl PostgresStore {
    /// Connects to a database, and makes the tables where there are none. The text is that of libpq:
    /// `host=… dbname=… user=…`.
    ///
    /// # Errors
    ///
    /// [`StoreError::Version`], and what the server does not do.
    pub fn connect(parameters: &str) -> Result<Self, StoreError> {
        let store = Self {
            config: parameters.parse().map_err(unavailable)?,
            connection: Mutex::new(None),
        };
        let mut client = store.client()?;
        let mut transaction = client.transaction().map_err(unavailable)?;
        transaction.batch_execute(SCHEMA).map_err(unavailable)?;
        let row = transaction.query_one("SELECT version FROM queryables_about", &[]);
        let version: i32 = row.map_err(unavailable)?.get(0);
        transaction.commit().map_err(unavailable)?;
        if version != 1 {
            return Err(StoreError::Version);
        }
        Ok(store)
    }

    /// Uses the connection, and gives it up after an error.
    fn with_connection<T>(
        &self,
        run: impl FnOnce(&mut Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut kept = self
            .connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        // Taken out: what unwinds or fails leaves no connection behind.
        let mut connection = match kept.take() {
            Some(connection) => connection,
            None => Connection::new(self.client()?)?,
        };
        let result = run(&mut connection)?;
        *kept = Some(connection);
        Ok(result)
    }

    /// Runs one transaction, and commits it unless it fails.
    fn with<T>(
        &self,
        run: impl FnOnce(&mut Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.with_connection(|connection| {
            let mut transaction = connection.client.transaction().map_err(unavailable)?;
            let result = run(&mut transaction)?;
            transaction.commit().map_err(unavailable)?;
            Ok(result)
        })
    }

    fn client(&self) -> Result<Client, StoreError> {
        let mut client = self.config.connect(NoTls).map_err(unavailable)?;
        let set = "SET synchronous_commit = on; \
                   SET default_transaction_isolation = 'read committed'";
        client.batch_execute(set).map_err(unavailable)?;
        let fsync = client.query_one("SHOW fsync", &[]).map_err(unavailable)?;
        if fsync.get::<_, &str>(0) != "on" {
            return Err(StoreError::Unavailable("the server has fsync = off".into()));
        }
        Ok(client)
    }
}

impl Connection {
    fn new(mut client: Client) -> Result<Self, StoreError> {
        let mut prepared = |text| client.prepare(text).map_err(unavailable);
        let (lock, write, finish) = (prepared(LOCK)?, prepared(WRITE)?, prepared(FINISH)?);
        Ok(Self {
            client,
            lock,
            write,
            finish,
        })
    }
}

/// Nothing of the data is in what the server says: it has none.
fn unavailable(error: postgres::Error) -> StoreError {
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

fn saved(transaction: &mut Transaction<'_>, budget: &str) -> Result<Saved, StoreError> {
    let query = "SELECT version, state::text FROM queryables_budgets WHERE budget = $1 FOR UPDATE";
    let row = transaction
        .query_opt(query, &[&budget])
        .map_err(unavailable)?;
    let row = row.ok_or_else(|| damaged(budget))?;
    Ok(Saved {
        version: row.get::<_, i64>(0).cast_unsigned(),
        state: row.get(1),
    })
}

fn known(transaction: &mut Transaction<'_>, key: &str) -> Result<Option<Receipt>, StoreError> {
    let query = "SELECT line::text, outcome::text FROM queryables_entries \
                 JOIN queryables_keys USING (sequence) WHERE key = $1";
    let row = transaction.query_opt(query, &[&key]).map_err(unavailable)?;
    let Some(row) = row else { return Ok(None) };
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

/// Locks the counter and these budgets: the next sequence number, and the states in this order.
fn locked(
    transaction: &mut Transaction<'_>,
    lock: &Statement,
    budgets: &[String],
) -> Result<(u64, Vec<Saved>), StoreError> {
    let rows = transaction.query(lock, &[&budgets]).map_err(unavailable)?;
    let mut next = 0;
    let mut states = HashMap::new();
    for row in rows {
        next = row.get::<_, i64>(0).cast_unsigned();
        let saved = Saved {
            version: row.get::<_, i64>(2).cast_unsigned(),
            state: row.get(3),
        };
        states.insert(row.get::<_, String>(1), saved);
    }
    let found = budgets.iter().map(|budget| {
        let saved = states.get(budget).cloned();
        saved.ok_or_else(|| damaged(budget))
    });
    Ok((next, found.collect::<Result<_, _>>()?))
}

/// Writes what a charge has decided.
fn write(
    transaction: &mut Transaction<'_>,
    write: &Statement,
    charge: &dyn Charge,
    sequence: u64,
    admitted: bool,
) -> Result<(), StoreError> {
    let place = signed(sequence);
    let line = charge.line(sequence)?;
    let (names, amounts): (Vec<String>, Vec<String>) = charge.amounts().into_iter().unzip();
    let (mut budgets, mut versions, mut states) = (vec![], vec![], vec![]);
    for (budget, Saved { version, state }) in charge.changed()? {
        budgets.push(charge.budgets().get(budget).cloned().unwrap_or_default());
        versions.push(signed(version));
        states.push(state);
    }
    let key: Vec<&str> = charge.key().filter(|_| admitted).into_iter().collect();
    transaction
        .execute(
            write,
            &[
                &place, &line, &names, &amounts, &budgets, &versions, &states, &key,
            ],
        )
        .map_err(unavailable)?;
    Ok(())
}

impl Store for PostgresStore {
    fn name_dataset(&self, name: &str) -> Result<(), StoreError> {
        let named: String = self.with(|transaction| {
            let query = "UPDATE queryables_about SET dataset = coalesce(dataset, $1) \
                         RETURNING dataset";
            Ok(transaction
                .query_one(query, &[&name])
                .map_err(unavailable)?
                .get(0))
        })?;
        if named != name {
            let given = name.to_owned();
            return Err(StoreError::OtherDataset { named, given });
        }
        Ok(())
    }

    fn open(&self, budget: &str, terms: &str, state: &str) -> Result<Saved, StoreError> {
        self.with(|transaction| {
            let query = "INSERT INTO queryables_budgets \
                         VALUES ($1, $2::text::json, 0, $3::text::json) ON CONFLICT DO NOTHING";
            transaction
                .execute(query, &[&budget, &terms, &state])
                .map_err(unavailable)?;
            let query = "SELECT terms::text FROM queryables_budgets WHERE budget = $1";
            let known = transaction
                .query_one(query, &[&budget])
                .map_err(unavailable)?;
            let known: String = known.get(0);
            if known != terms {
                return Err(StoreError::OtherTerms {
                    budget: budget.to_owned(),
                    terms: known,
                });
            }
            saved(transaction, budget)
        })
    }

    fn newer(&self, budget: &str, known: u64) -> Result<Option<Saved>, StoreError> {
        self.with(|transaction| {
            let query = "SELECT version, state::text FROM queryables_budgets \
                         WHERE budget = $1 AND version <> $2";
            let row = transaction.query_opt(query, &[&budget, &signed(known)]);
            Ok(row.map_err(unavailable)?.map(|row| Saved {
                version: row.get::<_, i64>(0).cast_unsigned(),
                state: row.get(1),
            }))
        })
    }

    fn charge(&self, charge: &mut dyn Charge) -> Result<Receipt, StoreError> {
        self.with_connection(|connection| {
            let Connection {
                client,
                lock,
                write,
                ..
            } = connection;
            let mut transaction = client.transaction().map_err(unavailable)?;
            let (sequence, states) = locked(&mut transaction, lock, charge.budgets())?;
            // After the lock: whoever used the key before has committed.
            if let Some(key) = charge.key()
                && let Some(known) = known(&mut transaction, key)?
            {
                return Ok(known);
            }
            for (place, saved) in states.iter().enumerate() {
                if saved.version != charge.known(place) {
                    charge.refresh(place, saved)?;
                }
            }
            let admitted = charge.decide();
            self::write(&mut transaction, write, charge, sequence, admitted)?;
            transaction.commit().map_err(unavailable)?;
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
        self.with_connection(|connection| {
            let Connection { client, finish, .. } = connection;
            client
                .execute(&*finish, &[&signed(sequence), &line, &waits])
                .map_err(unavailable)?;
            Ok(())
        })
    }

    fn lines(&self, from: u64, most: usize) -> Result<Vec<String>, StoreError> {
        self.with(|transaction| {
            let query = "SELECT line::text, outcome::text FROM queryables_entries \
                         WHERE sequence >= $1 ORDER BY sequence LIMIT $2";
            let most = i64::try_from(most).unwrap_or(i64::MAX);
            let rows = transaction.query(query, &[&signed(from), &most]);
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
