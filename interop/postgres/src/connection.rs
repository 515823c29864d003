//! A connection to the server, and what is asked through it.

use std::collections::HashMap;

use futures_util::future::{try_join, try_join3};
use queryables::ledger::{Charge, Line, Receipt, Refusals, Saved, StoreError};
use tokio::runtime::Runtime;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Error, Row, Statement};

use crate::seen::{Seen, damaged, other_launches, seal};
use crate::statements::{
    BEGIN, CHANGES, CHARGED, FINISH, LOCK, NEWER, REPLACE, WRITE, WRITE_ALONE, WRITE_ONE,
};
use crate::writing::{Outcome, Queued, Writing, amounts, columns};

/// A connection, and what it has prepared: a statement that is not prepared takes a round trip more
/// each time.
///
/// Requests whose futures are joined are sent together, in this order, and take one round trip.
pub(crate) struct Connection {
    pub(crate) client: Client,
    lock: Statement,
    changes: Statement,
    write: Statement,
    write_alone: Statement,
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
            lock: prepared(LOCK)?,
            changes: prepared(CHANGES)?,
            write: prepared(WRITE)?,
            write_alone: prepared(WRITE_ALONE)?,
            write_one: prepared(WRITE_ONE)?,
            finish: prepared(FINISH)?,
            newer: prepared(NEWER)?,
            client,
            runtime,
        })
    }

    /// Begins a transaction and locks the counter and these budgets: the next sequence number, and
    /// the states in this order.
    pub(crate) async fn locked(
        &self,
        budgets: &[String],
        seen: &mut Seen,
    ) -> Result<(u64, Vec<Saved>), StoreError> {
        let entry = signed(seen.entry());
        let counters = counters(budgets, seen);
        let begun = try_join3(
            self.client.batch_execute(BEGIN),
            self.client.query(&self.lock, &[&budgets, &entry]),
            self.client
                .query(&self.changes, &[&budgets, &counters, &i64::MAX]),
        )
        .await;
        let ((), rows, changes) = begun.map_err(unavailable)?;
        let mut next = 0;
        let mut states = HashMap::new();
        for row in &rows {
            next = unsigned(row, 0);
            states.insert(row.get::<_, String>(2), saved(row, 3));
        }
        if let Some(row) = rows.first() {
            seen.alone = seen.next() == next;
            seen.counter(next)?;
            seen.same_entry(row.get(1))?;
        }
        let found = budgets.iter().zip(&changes).map(|(budget, changes)| {
            let saved = states.get(budget).cloned();
            let saved = saved.ok_or_else(|| damaged(budget))?;
            seen.changes(budget, saved.version, unsigned(changes, 0))?;
            seen.state(budget, &saved, next)?;
            Ok(saved)
        });
        Ok((next, found.collect::<Result<_, _>>()?))
    }

    /// The states that are not the known ones, each with its place.
    pub(crate) async fn newer(
        &self,
        known: &[(&str, u64)],
        seen: &mut Seen,
    ) -> Result<Vec<(usize, Saved)>, StoreError> {
        let entry = signed(seen.entry());
        let (budgets, versions): (Vec<&str>, Vec<i64>) = known
            .iter()
            .map(|(budget, version)| (*budget, signed(*version)))
            .unzip();
        let seals: Vec<&str> = budgets.iter().map(|budget| seen.seal_of(budget)).collect();
        let counters = counters(&budgets, seen);
        let rows = self
            .client
            .query(
                &self.newer,
                &[&entry, &budgets, &versions, &seals, &counters, &i64::MAX],
            )
            .await;
        let rows = rows.map_err(unavailable)?;
        let first = rows
            .first()
            .ok_or_else(|| damaged("the counter of entries"))?;
        let next = unsigned(first, 0);
        seen.counter(next)?;
        seen.same_entry(first.get(1))?;
        let mut newer = Vec::new();
        for row in &rows {
            let place = usize::try_from(row.get::<_, i64>(2) - 1).unwrap_or(usize::MAX);
            let Some((budget, _)) = known.get(place) else {
                continue;
            };
            let version = row.get::<_, Option<i64>>(3).map(i64::cast_unsigned);
            let version = version.ok_or_else(|| damaged(*budget))?;
            seen.changes(budget, version, unsigned(row, 5))?;
            match row.get::<_, Option<String>>(4) {
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
        let first = rows
            .first()
            .ok_or_else(|| damaged("the counter of entries"))?;
        let next = unsigned(first, 0);
        if first
            .get::<_, Option<i64>>(1)
            .is_some_and(|last| last.cast_unsigned() >= next)
        {
            return Err(damaged("the counter of entries (it went back)"));
        }
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
            seen.compared = next;
            if let (Some(last), Some(seal)) = (first.get::<_, Option<i64>>(3), first.get(4)) {
                seen.admitted(last.cast_unsigned(), seal);
            }
        }
        seen.counter(next)?;
        Ok(rows.pop())
    }

    /// What is known of a key.
    pub(crate) async fn known(&self, key: &str) -> Result<Option<Receipt>, StoreError> {
        let query = "SELECT line::text, outcome::text FROM queryables_entries \
                     JOIN queryables_keys USING (sequence) WHERE key = $1";
        let row = self.client.query_opt(query, &[&key]).await;
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
    ) -> Result<(), StoreError> {
        let place = signed(sequence);
        let line = charge.line(sequence, times)?;
        let (client, amounts) = (&self.client, amounts(charge));
        let replaced = client.execute(REPLACE, &[&place, &line, &amounts]).await;
        replaced.map_err(unavailable)?;
        client.batch_execute("COMMIT").await.map_err(unavailable)
    }

    /// How many refusals are at the end of the record.
    pub(crate) async fn refusals(&self) -> Result<Refusals, StoreError> {
        let query = "SELECT line::text FROM queryables_entries ORDER BY sequence DESC LIMIT $1";
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

    /// Writes what a charge has decided under the locks, and commits.
    pub(crate) async fn commit(&self, charge: Queued, seen: &mut Seen) -> Result<(), StoreError> {
        let writing = Writing::of(std::slice::from_ref(&charge));
        let (keys, keyed): (Vec<&String>, Vec<i64>) = charge
            .key
            .iter()
            .map(|key| (key, signed(charge.sequence)))
            .unzip();
        let mut parameters = writing.parameters().to_vec();
        parameters.extend([&keys as &(dyn ToSql + Sync), &keyed]);
        // Where the first fails, the server makes a rollback of the second, and the error is here.
        let committed = try_join(
            self.client.execute(&self.write, &parameters),
            self.client.batch_execute("COMMIT"),
        )
        .await;
        committed.map_err(unavailable)?;
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
        let writing = Writing::of(charges);
        let first = charges.first().map(|charge| charge.sequence);
        let Some(known) = seen.newest(&writing.budgets) else {
            return Ok(false);
        };
        if first != Some(seen.next()) {
            return Ok(false);
        }
        let (first, entry, entry_seal) = (
            signed(seen.next()),
            signed(seen.entry()),
            seen.entry_seal().map(str::to_owned),
        );
        let versions: Vec<i64> = known.iter().map(|saved| signed(saved.version)).collect();
        let seals: Vec<&str> = known.iter().map(|saved| seal(&saved.state)).collect();
        let (done, lines) = columns(outcomes);
        let position: [&(dyn ToSql + Sync); 3] = [&first, &entry, &entry_seal];
        let one = writing.parameters_of_one().filter(|_| outcomes.len() <= 1);
        let written = match (one, &*versions, &*seals) {
            (Some(one), [version], [seal]) => {
                // No entry has the number 0.
                let done = (done.first().unwrap_or(&0), lines.first().unwrap_or(&"null"));
                let last: [&(dyn ToSql + Sync); 4] = [done.0, done.1, version, seal];
                let parameters: Vec<_> = one.into_iter().chain(position).chain(last).collect();
                self.client.execute(&self.write_one, &parameters).await
            }
            _ => {
                let last: [&(dyn ToSql + Sync); 4] = [&done, &lines, &versions, &seals];
                let all = writing.parameters().into_iter();
                let parameters: Vec<_> = all.chain(position).chain(last).collect();
                self.client.execute(&self.write_alone, &parameters).await
            }
        };
        if written.map_err(unavailable)? == 0 {
            return Ok(false);
        }
        for charge in charges {
            charge.taken_up(seen)?;
        }
        Ok(true)
    }
}

/// From which entry on each of these budgets may have changed.
fn counters(budgets: &[impl AsRef<str>], seen: &Seen) -> Vec<i64> {
    let counters = budgets
        .iter()
        .map(|budget| seen.counter_of(budget.as_ref()));
    counters.map(signed).collect()
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
