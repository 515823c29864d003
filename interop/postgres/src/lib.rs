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
//! let filter = ledger.start("census", &Filter::concurrent(PureDp, "1".parse()?), &ages)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A launch is one transaction, which is committed before its mechanism runs. While nobody else charges, it
//! is one statement: it writes what was decided on the states that this process knows, if the last entry is
//! still the one that it knows. Launches of one process that wait for it meanwhile are decided one on what the
//! other leaves behind, and go into the next such statement together; if anybody else has charged, none of
//! them is written, and each is decided anew. Otherwise a launch takes the lock that everybody takes who charges,
//! reads its budgets, decides, and writes: two round trips to the server (one more with an idempotency key). The
//! lock is held from the answer of the first to the commit in the second. Outcomes without an answer are written
//! with the next charge. States are versioned JSON, as text with a checksum; the view `queryables_amounts`
//! has the numbers of each loss as exact `NUMERIC`, for queries.

#![warn(missing_docs, missing_debug_implementations, unreachable_pub)]
#![warn(
    clippy::missing_errors_doc,
    clippy::missing_panics_doc,
    clippy::must_use_candidate
)]

mod connection;
mod group;
mod seen;
mod statements;
mod table;
mod writing;

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use queryables::ledger::{Charge, Outcome, OutcomeLine, Receipt, Saved, Store, StoreError};
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Config, NoTls};

use connection::{Connection, saved, unavailable};
use group::{Group, Newest};
use seen::{Seen, damaged};
use statements::{LINES, NAME, OPEN, SCHEMA};
pub use table::{OpenTableError, PostgresTable};
use writing::{Outcome as Waiting, Queued};

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
///
/// A database that goes back, because a backup is restored or a copy of the server takes its place, is
/// [`StoreError::Damaged`] for every store that has read something newer or has made a launch that is
/// not there any more. Where one of the tables goes back alone, connecting finds that the budgets, the
/// entries and the keys do not belong together. Every
/// launch and every reading compares its budgets with the entries since they were last read. What
/// nobody can know who connects later: that all tables together are those of an earlier time.
pub struct PostgresStore {
    config: Config,
    group: Group,
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    connection: Option<Connection>,
    /// Outlives the connection: the server may come back with less.
    seen: Seen,
}

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
    /// It reads the record once, and compares the budgets with it.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] if the database has no ledger, [`StoreError::Version`],
    /// [`StoreError::Damaged`] if its tables are not of the same time, and what the server does not
    /// do.
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
        if version.get::<_, i32>(0) != 1 {
            return Err(StoreError::Version);
        }
        store.with(async |connection, seen| connection.compared(None, seen).await)?;
        Ok(store)
    }

    fn to(parameters: &str) -> Result<Self, StoreError> {
        Ok(Self {
            config: parameters.parse().map_err(unavailable)?,
            group: Group::default(),
            held: Mutex::default(),
        })
    }

    /// Uses the connection, and gives it up after an error: the server then ends its transaction.
    fn with<T>(
        &self,
        run: impl AsyncFnOnce(&Connection, &mut Seen) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut held = self.held();
        // Taken out: what unwinds or fails leaves no connection behind.
        let connection = match held.connection.take() {
            Some(connection) => connection,
            None => {
                let (runtime, client) = self.client()?;
                Connection::new(runtime, client).map_err(unavailable)?
            }
        };
        let result = run(&connection, &mut held.seen);
        let result = connection.runtime.block_on(result)?;
        held.connection = Some(connection);
        Ok(result)
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes charges that were decided before, and outcomes; whether nobody else had charged meanwhile.
    /// Otherwise nothing is written.
    fn written(&self, charges: &[Queued], outcomes: &[Waiting]) -> Result<bool, StoreError> {
        self.with(async |connection, seen| connection.commit_alone(charges, outcomes, seen).await)
    }

    /// Writes the outcomes that wait.
    fn flush(&self) -> Result<(), StoreError> {
        self.group.with_outcomes(|outcomes| match outcomes {
            [] => Ok(()),
            _ => self.with(async |connection, _| connection.flush(outcomes).await),
        })
    }

    /// Decides on a charge under the lock of the server, and writes it.
    fn charged(&self, charge: &mut dyn Charge) -> Result<Receipt, StoreError> {
        if charge.key().is_some() {
            // What became of the key.
            self.flush()?;
        }
        self.with(async |connection, seen| {
            let states = connection.locked(charge.budgets(), seen).await?;
            let sequence = seen.next();
            // After the lock: whoever used the key before has committed.
            if let Some(key) = charge.key()
                && let Some(known) = connection.known(key).await?
            {
                let ended = connection.client.batch_execute("ROLLBACK").await;
                return ended.map(|()| known).map_err(unavailable);
            }
            let admitted = charge.decide(&states)?;
            if !admitted && charge.changed()?.is_empty() {
                let mut refusals = connection.refusals().await?;
                let (last, times) = refusals.place(sequence, true);
                if last < sequence {
                    connection.replace(charge, last, times, seen).await?;
                    return Ok(Receipt::Written {
                        sequence: last,
                        mark: 0,
                    });
                }
            }
            let queued = Queued::of(charge, sequence, admitted)?;
            connection.commit(queued, seen).await?;
            Ok(Receipt::Written { sequence, mark: 0 })
        })
    }

    fn client(&self) -> Result<(Runtime, Client), StoreError> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| StoreError::Unavailable(error.to_string()))?;
        let connected = runtime.block_on(async {
            let (client, connection) = self.config.connect(NoTls).await?;
            // It ends with the client.
            drop(tokio::spawn(connection));
            // Plans are made once: for a row or two, making one takes longer than running it, and so does
            // compiling it, which the planner asks for where it takes lists of JSON to be long. It is made
            // while the tables may be empty, and must not read all of them later.
            let set = "SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; \
                       SET default_transaction_isolation = 'read committed'; \
                       SET default_transaction_read_only = off; \
                       SET jit = off; \
                       SET plan_cache_mode = force_generic_plan";
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

impl Store for PostgresStore {
    fn name_dataset(&self, name: &str) -> Result<(), StoreError> {
        let named: String = self.with(async |connection, _| {
            let row = connection.client.query_opt(NAME, &[&name]).await;
            let row = row.map_err(unavailable)?;
            Ok(row
                .ok_or_else(|| damaged("the name of the dataset"))?
                .get(0))
        })?;
        if named != name {
            let given = name.to_owned();
            return Err(StoreError::OtherDataset { named, given });
        }
        Ok(())
    }

    fn open(&self, budget: &str, terms: &str, state: &str) -> Result<Saved, StoreError> {
        self.with(async |connection, seen| {
            let Connection { client, .. } = connection;
            let new = client.execute(OPEN, &[&budget, &terms, &state]).await;
            new.map_err(unavailable)?;
            let row = connection.compared(Some(budget), seen).await?;
            let row = row.ok_or_else(|| damaged(budget))?;
            let known: String = row.get(9);
            if known != terms {
                return Err(StoreError::OtherTerms {
                    budget: budget.to_owned(),
                    terms: known,
                });
            }
            let saved = saved(&row, 7);
            seen.state(budget, &saved, seen.next())?;
            Ok(saved)
        })
    }

    fn newer(&self, known: &[(&str, u64)]) -> Result<Vec<(usize, Saved)>, StoreError> {
        self.with(async |connection, seen| connection.newer(known, seen).await)
    }

    fn charge(&self, charge: &mut dyn Charge) -> Result<Receipt, StoreError> {
        if charge.key().is_none()
            && let Some(queued) = self.group.queue(charge)?
        {
            return Ok(queued);
        }
        self.group.alone(
            |charges, outcomes| self.written(charges, outcomes),
            || self.charged(charge),
            || Newest::of(&self.held().seen),
        )
    }

    /// What was not queued was committed already.
    fn sync(&self, receipt: &Receipt) -> Result<(), StoreError> {
        match receipt {
            Receipt::Queued { mark, .. } => {
                let write = |charges: &[_], outcomes: &[_]| self.written(charges, outcomes);
                self.group.wait(*mark, write)
            }
            _ => Ok(()),
        }
    }

    /// An answer is written at once, if there is none: the first one is the one that everybody gets. Other
    /// outcomes are written with the next charge, or when the record is read.
    fn finish(&self, sequence: u64, outcome: Outcome) -> Result<(), StoreError> {
        let kept = matches!(outcome, Outcome::Answered(Some(_)));
        let line = OutcomeLine::new(sequence, outcome).line()?;
        if !kept {
            return match self.group.finish((sequence, line)) {
                true => self.flush(),
                false => Ok(()),
            };
        }
        self.with(async |connection, _| {
            if connection.finish(sequence, &line).await? {
                return Ok(());
            }
            let why = "another answer was kept before";
            Err(StoreError::Unavailable(why.to_owned()))
        })
    }

    fn lines(&self, from: u64, most: usize) -> Result<Vec<String>, StoreError> {
        self.flush()?;
        self.with(async |connection, _| {
            let (from, most) = [from, most as u64]
                .map(|number| i64::try_from(number).unwrap_or(i64::MAX))
                .into();
            let rows = connection.client.query(LINES, &[&from, &most]).await;
            let mut lines = Vec::new();
            for row in rows.map_err(unavailable)? {
                lines.push(row.get(0));
                lines.extend(row.get::<_, Option<String>>(1));
            }
            Ok(lines)
        })
    }
}

impl Drop for PostgresStore {
    /// Outcomes need not survive: what cannot be written reads as interrupted.
    fn drop(&mut self) {
        // There it would panic.
        let is_async = tokio::runtime::Handle::try_current().is_ok();
        let is_connected = self.held().connection.is_some();
        if is_connected && !is_async {
            let _ = self.flush();
        }
    }
}

impl fmt::Debug for PostgresStore {
    /// Nothing of where it is: that may hold a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PostgresStore")
    }
}
