//! A connection to the server, and what is asked through it.

use futures_util::future::try_join;
use queryables::ledger::{Charge, Line, Receipt, Refusals, Saved, StoreError};
use tokio::runtime::Runtime;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Error, Row, Statement};

use crate::seen::{Seen, damaged, other_launches, seal};
use crate::statements::{BEGIN, CHARGED, FINISH, KNOWN, NEWER, REPLACE, WRITE, WRITE_ONE};
use crate::writing::{Outcome, Queued, Writing, amounts, columns};

/// A connection, and what it has prepared: a statement that is not prepared takes a round trip more
/// each time.
///
/// Requests whose futures are joined are sent together, in this order, and take one round trip.
pub(crate) struct Connection {
    pub(crate) client: Client,
    write: Statement,
    write_one: Statement,
    finish: Statement,
    newer: Statement,
    /// Does something only while somebody waits for it.
    pub(crate) runtime: Runtime,
}

impl Connection {
    pub(crate) fn new(runtime: Runtime, client: Client) -> Result<Self, Error> {
        let prepared = |text| runtime.block_on(client.prepare(text));
        Ok(Self {
            write: prepared(WRITE)?,
            write_one: prepared(WRITE_ONE)?,
            finish: prepared(FINISH)?,
            newer: prepared(NEWER)?,
            client,
            runtime,
        })
    }

    /// Begins a transaction, waits for the lock, and reads these budgets: their states in this order.
    pub(crate) async fn locked(
        &self,
        budgets: &[String],
        seen: &mut Seen,
    ) -> Result<Vec<Saved>, StoreError> {
        let next = seen.next();
        let known = budgets
            .iter()
            .map(|budget| (&**budget, seen.version_of(budget)));
        let known: Vec<(&str, u64)> = known.collect();
        let begun = try_join(self.client.batch_execute(BEGIN), self.read(&known, seen)).await;
        let ((), rows) = begun.map_err(unavailable)?;
        take_up(&rows, &known, seen)?;
        seen.alone = seen.next() == next;
        seen.newest(budgets)
            .ok_or_else(|| damaged("a budget that was read"))
    }

    /// The states that are not the known ones, each with its place.
    pub(crate) async fn newer(
        &self,
        known: &[(&str, u64)],
        seen: &mut Seen,
    ) -> Result<Vec<(usize, Saved)>, StoreError> {
        let rows = self.read(known, seen).await.map_err(unavailable)?;
        take_up(&rows, known, seen)
    }

    async fn read(&self, known: &[(&str, u64)], seen: &Seen) -> Result<Vec<Row>, Error> {
        let entry = signed(seen.entry());
        let (budgets, versions): (Vec<&str>, Vec<i64>) = known
            .iter()
            .map(|(budget, version)| (*budget, signed(*version)))
            .unzip();
        let seals: Vec<&str> = budgets.iter().map(|budget| seen.seal_of(budget)).collect();
        // From which entry on each of them may have changed.
        let counters = budgets.iter().map(|budget| seen.counter_of(budget));
        let counters: Vec<i64> = counters.map(signed).collect();
        let parameters: [&(dyn ToSql + Sync); 6] =
            [&entry, &budgets, &versions, &seals, &counters, &i64::MAX];
        self.client.query(&self.newer, &parameters).await
    }

    /// Compares one budget, or all, with the entries that have charged it: the row of that budget.
    ///
    /// A version is the number of charges, and one more where the filter has halted: so it is found if
    /// one of the tables is older than another.
    pub(crate) async fn compared(
        &self,
        one: Option<&str>,
        seen: &mut Seen,
    ) -> Result<Option<Row>, StoreError> {
        let from = if one.is_some() { seen.compared } else { 0 };
        let rows = self.client.query(CHARGED, &[&signed(from), &one]).await;
        let mut rows = rows.map_err(unavailable)?;
        let first = rows.first().ok_or_else(|| damaged("the entries"))?;
        let (last, last_seal) = last_entry(first);
        for row in &rows {
            let Some(budget) = row.get::<_, Option<String>>(5) else {
                continue;
            };
            let before = seen.charged.get(&budget).filter(|_| one.is_some());
            let charged = unsigned(row, 6) + before.copied().unwrap_or(0);
            let halted = row.get::<_, Option<bool>>(10) == Some(true);
            let version = row.get::<_, Option<i64>>(7).map(i64::cast_unsigned);
            let launched: Option<String> = row.get(11);
            let counted = launched.is_none_or(|launched| launched == charged.to_string());
            if version != Some(charged + u64::from(halted)) || !counted {
                return Err(other_launches(&budget));
            }
            if one.is_none() {
                seen.charged.insert(budget, charged);
            }
        }
        if let Some(lost) = first.get::<_, Option<i64>>(2) {
            return Err(damaged(format!("the key of entry {lost}")));
        }
        if one.is_none() {
            seen.compared = last.saturating_add(1);
            if let (Some(last), Some(seal)) = (first.get::<_, Option<i64>>(3), first.get(4)) {
                seen.admitted(last.cast_unsigned(), seal);
            }
        }
        seen.reaches(last, last_seal)?;
        Ok(rows.pop())
    }

    /// What is known of a key.
    pub(crate) async fn known(&self, key: &str) -> Result<Option<Receipt>, StoreError> {
        let row = self.client.query_opt(KNOWN, &[&key]).await;
        let Some(row) = row.map_err(unavailable)? else {
            return Ok(None);
        };
        let outcome: Option<String> = row.get(1);
        let done = outcome.map(|line| match Line::read(&line) {
            Some(Line::Outcome(done)) => Ok(done),
            _ => Err(damaged("an outcome")),
        });
        Ok(Some(Receipt::Known {
            line: row.get(0),
            done: done.transpose()?,
        }))
    }

    /// Writes a refusal in the place of the last one, and commits.
    pub(crate) async fn replace(
        &self,
        charge: &dyn Charge,
        sequence: u64,
        times: u64,
        seen: &mut Seen,
    ) -> Result<(), StoreError> {
        let place = signed(sequence);
        let line = charge.line(sequence, times)?;
        let (client, amounts) = (&self.client, amounts(charge));
        let replaced = client.execute(REPLACE, &[&place, &line, &amounts]).await;
        replaced.map_err(unavailable)?;
        let committed = client.batch_execute("COMMIT").await;
        committed.map_err(unavailable)?;
        seen.reaches(sequence, seal(&line))
    }

    /// How many refusals are at the end of the record.
    pub(crate) async fn refusals(&self) -> Result<Refusals, StoreError> {
        let query = "SELECT line FROM queryables_entries ORDER BY sequence DESC LIMIT $1";
        let rows = self.client.query(query, &[&(Refusals::KEPT as i64)]).await;
        let rows = rows.map_err(unavailable)?;
        Ok(Refusals::read(rows.iter().map(|row| row.get(0))))
    }

    /// Writes an answer, if there is no outcome; whether there was none.
    pub(crate) async fn finish(&self, sequence: u64, line: &str) -> Result<bool, StoreError> {
        let finished = self.finished(&[(sequence, line.to_owned())], "on").await?;
        Ok(finished == 1)
    }

    /// Writes outcomes that need not survive, where there are none.
    pub(crate) async fn flush(&self, outcomes: &[Outcome]) -> Result<(), StoreError> {
        self.finished(outcomes, "off").await.map(drop)
    }

    async fn finished(&self, outcomes: &[Outcome], waits: &str) -> Result<u64, StoreError> {
        let (places, lines) = columns(outcomes);
        let finished = self
            .client
            .execute(&self.finish, &[&places, &lines, &waits])
            .await;
        finished.map_err(unavailable)
    }

    /// Writes what a charge has decided under the lock, and commits.
    pub(crate) async fn commit(&self, charge: Queued, seen: &mut Seen) -> Result<(), StoreError> {
        let charges = std::slice::from_ref(&charge);
        // Where the first fails, the server makes a rollback of the second, and the error is here.
        let committed = try_join(
            self.write(charges, &[], seen),
            self.client.batch_execute("COMMIT"),
        )
        .await;
        if committed.map_err(unavailable)?.0 == 0 {
            let why = "somebody has written into the tables without the lock".to_owned();
            return Err(StoreError::Unavailable(why));
        }
        charge.taken_up(seen)
    }

    /// Writes charges in one round trip if nobody else has charged since this store has read or written the
    /// states that the first of them was decided on; whether that was so. Otherwise nothing is written.
    pub(crate) async fn commit_alone(
        &self,
        charges: &[Queued],
        outcomes: &[Outcome],
        seen: &mut Seen,
    ) -> Result<bool, StoreError> {
        if charges.first().map(|charge| charge.sequence) != Some(seen.next()) {
            return Ok(false);
        }
        match self.write(charges, outcomes, seen).await {
            Ok(0) => return Ok(false),
            Ok(_) => {}
            Err(error) => return Err(unavailable(error)),
        }
        for charge in charges {
            charge.taken_up(seen)?;
        }
        Ok(true)
    }

    /// Writes charges and outcomes if nobody else has charged; how many charges it has written.
    async fn write(
        &self,
        charges: &[Queued],
        outcomes: &[Outcome],
        seen: &Seen,
    ) -> Result<u64, Error> {
        let writing = Writing::of(charges);
        let Some(known) = seen.newest(&writing.budgets) else {
            return Ok(0);
        };
        let (last, last_seal) = seen.last();
        let versions: Vec<i64> = known.iter().map(|saved| signed(saved.version)).collect();
        let seals: Vec<&str> = known.iter().map(|saved| seal(&saved.state)).collect();
        let last_number = signed(last);
        let position: [&(dyn ToSql + Sync); 2] = [&last_number, &last_seal];
        // What the entry before has in the row of this one.
        let before = match outcomes {
            [] => Some(None),
            [(sequence, line)] if *sequence == last => Some(Some(line)),
            _ => None,
        };
        let written = match (writing.parameters_of_one(), before, &*versions, &*seals) {
            (Some(one), Some(before), [version], [seal]) => {
                let rest: [&(dyn ToSql + Sync); 3] = [version, seal, &before];
                let parameters: Vec<_> = one.into_iter().chain(position).chain(rest).collect();
                self.client.execute(&self.write_one, &parameters).await
            }
            _ => {
                let (done, lines) = columns(outcomes);
                let rest: [&(dyn ToSql + Sync); 4] = [&versions, &seals, &done, &lines];
                let all = writing.parameters().into_iter().chain(position);
                let parameters: Vec<_> = all.chain(rest).chain(writing.keys()).collect();
                self.client.execute(&self.write, &parameters).await
            }
        };
        // While this waited for the lock, somebody has written the entry with that number, or a budget.
        let changed = [SqlState::UNIQUE_VIOLATION, SqlState::NOT_NULL_VIOLATION];
        match written {
            Err(error) if error.code().is_some_and(|code| changed.contains(code)) => Ok(0),
            written => written,
        }
    }
}

/// Takes up what was read of these budgets: the states that are not the known ones, each with its place.
fn take_up(
    rows: &[Row],
    known: &[(&str, u64)],
    seen: &mut Seen,
) -> Result<Vec<(usize, Saved)>, StoreError> {
    let first = rows.first().ok_or_else(|| damaged("the budgets"))?;
    let (sequence, last_seal) = last_entry(first);
    seen.reaches(sequence, last_seal)?;
    seen.same_entry(first.get(2))?;
    let next = seen.next();
    let mut newer = Vec::new();
    for row in rows {
        let place = usize::try_from(row.get::<_, i64>(3) - 1).unwrap_or(usize::MAX);
        let Some((budget, _)) = known.get(place) else {
            continue;
        };
        let version = row.get::<_, Option<i64>>(4).map(i64::cast_unsigned);
        let version = version.ok_or_else(|| damaged(*budget))?;
        seen.changes(budget, version, unsigned(row, 6))?;
        match row.get::<_, Option<String>>(5) {
            None => seen.same_state(budget, version, next),
            Some(state) => {
                let saved = Saved { version, state };
                seen.state(budget, &saved, next)?;
                newer.push((place, saved));
            }
        }
    }
    Ok(newer)
}

/// The number and the checksum of the last entry, from the first columns.
fn last_entry(row: &Row) -> (u64, &str) {
    let number = row.get::<_, Option<i64>>(0).map_or(0, i64::cast_unsigned);
    (number, row.get::<_, Option<&str>>(1).unwrap_or_default())
}

/// Nothing of the data is in what the server says: it has none.
pub(crate) fn unavailable(error: Error) -> StoreError {
    let text = match error.as_db_error() {
        Some(error) => error.to_string(),
        None => error.to_string(),
    };
    StoreError::Unavailable(text)
}

/// A bit pattern: PostgreSQL has no unsigned numbers, and a version that nobody has stays one.
pub(crate) fn signed(number: u64) -> i64 {
    number.cast_signed()
}

pub(crate) fn unsigned(row: &Row, column: usize) -> u64 {
    row.get::<_, i64>(column).cast_unsigned()
}

/// A version and a state, from this column on.
pub(crate) fn saved(row: &Row, column: usize) -> Saved {
    Saved {
        version: unsigned(row, column),
        state: row.get(column + 1),
    }
}
