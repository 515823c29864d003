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
//! decides, writes, and commits before its mechanism runs. States are versioned JSON, as text with a
//! checksum; the numbers of a loss are also kept as exact `NUMERIC`, for queries.

#![warn(missing_docs, missing_debug_implementations, unreachable_pub)]
#![warn(
    clippy::missing_errors_doc,
    clippy::missing_panics_doc,
    clippy::must_use_candidate
)]

use std::fmt;
use std::sync::{Mutex, PoisonError};

use postgres::{Client, Config, NoTls, Transaction};
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
    client: Mutex<Option<Client>>,
}

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
            client: Mutex::new(None),
        };
        let version: i32 = store.with(|transaction| {
            transaction.batch_execute(SCHEMA).map_err(unavailable)?;
            let row = transaction.query_one("SELECT version FROM queryables_about", &[]);
            Ok(row.map_err(unavailable)?.get(0))
        })?;
        if version != 1 {
            return Err(StoreError::Version);
        }
        Ok(store)
    }

    /// Runs one transaction, and commits it unless it fails. After an error the connection is given
    /// up.
    fn with<T>(
        &self,
        run: impl FnOnce(&mut Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut client = self.client.lock().unwrap_or_else(PoisonError::into_inner);
        // Taken out: what unwinds or fails leaves no connection behind.
        let mut connected = match client.take() {
            Some(connected) => connected,
            None => self.connected()?,
        };
        let mut transaction = connected.transaction().map_err(unavailable)?;
        let result = run(&mut transaction)?;
        transaction.commit().map_err(unavailable)?;
        *client = Some(connected);
        Ok(result)
    }

    fn connected(&self) -> Result<Client, StoreError> {
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

/// Writes what a charge has decided.
fn write(
    transaction: &mut Transaction<'_>,
    charge: &dyn Charge,
    sequence: u64,
    admitted: bool,
) -> Result<(), StoreError> {
    let place = signed(sequence);
    let line = charge.line(sequence)?;
    let entry = "INSERT INTO queryables_entries (sequence, line) VALUES ($1, $2::text::json)";
    transaction
        .execute(entry, &[&place, &line])
        .map_err(unavailable)?;
    for (name, amount) in charge.amounts() {
        let query = "INSERT INTO queryables_amounts VALUES ($1, $2, $3::text::numeric)";
        transaction
            .execute(query, &[&place, &name, &amount])
            .map_err(unavailable)?;
    }
    for (budget, Saved { version, state }) in charge.changed()? {
        let budget = charge.budgets().get(budget).cloned().unwrap_or_default();
        let query = "UPDATE queryables_budgets SET version = $2, state = $3::text::json \
                     WHERE budget = $1";
        let version = signed(version);
        transaction
            .execute(query, &[&budget, &version, &state])
            .map_err(unavailable)?;
    }
    if admitted && let Some(key) = charge.key() {
        let query = "INSERT INTO queryables_keys VALUES ($1, $2)";
        transaction
            .execute(query, &[&key, &place])
            .map_err(unavailable)?;
    }
    let next = "UPDATE queryables_about SET next = $1";
    transaction
        .execute(next, &[&(place + 1)])
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
        self.with(|transaction| {
            // Everybody locks this first: sequence numbers follow the commits, without gaps.
            let query = "SELECT next FROM queryables_about FOR UPDATE";
            let next = transaction.query_one(query, &[]).map_err(unavailable)?;
            let sequence = next.get::<_, i64>(0).cast_unsigned();
            if let Some(key) = charge.key()
                && let Some(known) = known(transaction, key)?
            {
                return Ok(known);
            }
            for (place, budget) in charge.budgets().to_vec().iter().enumerate() {
                let saved = saved(transaction, budget)?;
                if saved.version != charge.known(place) {
                    charge.refresh(place, &saved)?;
                }
            }
            let admitted = charge.decide();
            write(transaction, charge, sequence, admitted)?;
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
        self.with(|transaction| {
            if !kept {
                // It need not survive, and so need not wait for the disk.
                let later = "SET LOCAL synchronous_commit = off";
                transaction.batch_execute(later).map_err(unavailable)?;
            }
            let query = "UPDATE queryables_entries SET outcome = $2::text::json \
                         WHERE sequence = $1";
            transaction
                .execute(query, &[&signed(sequence), &line])
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
