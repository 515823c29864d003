//! A table in memory or in files.

use std::fmt;
use std::io::{BufReader, Read};
use std::path::Path;
use std::thread;

use arrow_array::RecordBatch;
use arrow_ipc::reader::StreamReader;
use queryables::machine::PublicMetadata;
use queryables::mechanisms::query::Unavailable;
use queryables::table::{Condition, Grouping, Number, Plan, Schema, Table, Value};

use crate::cache::Cache;
use crate::csv::{self, CsvFile};
use crate::error::unreadable;
use crate::scan::Scan;
use crate::source::{ParquetFile, Piece, in_memory};
use crate::{OpenError, keys, tally};

/// A table in memory or in files, which tallies plans on all cores. The [crate](crate) has an example.
///
/// # Guarantee
///
/// Its totals are those of [`RowTable`](queryables::table::RowTable), to the last digit. Everything about
/// the data stays inside: `Debug` shows the schema, and a question that fails gives one constant error.
///
/// The curator promises that files do not change while the table is open. A file of another length or time
/// is found out, and is unavailable.
pub struct ArrowTable {
    schema: Schema,
    pieces: Vec<Piece>,
    cache: Cache,
    memory_bound: usize,
    threads: usize,
    batch_rows: usize,
}

/// One GiB.
const MEMORY_BOUND: usize = 1 << 30;
/// This many rows of a few columns stay in the cache of a core.
const BATCH_ROWS: usize = 1 << 13;
/// What a program has in memory is divided, so that every thread gets some.
const PIECE_ROWS: usize = 1 << 17;

impl ArrowTable {
    fn new(schema: &Schema, pieces: Vec<Piece>) -> Self {
        Self {
            schema: schema.clone(),
            pieces,
            cache: Cache::default(),
            memory_bound: MEMORY_BOUND,
            threads: thread::available_parallelism().map_or(1, usize::from),
            batch_rows: BATCH_ROWS,
        }
    }

    /// The rows of CSV files, whose first lines name the columns.
    ///
    /// # Errors
    ///
    /// [`OpenError`] if there is no file, one cannot be opened, or has no such column.
    pub fn csv<P: AsRef<Path>>(
        schema: &Schema,
        files: impl IntoIterator<Item = P>,
    ) -> Result<Self, OpenError> {
        let mut pieces = Vec::new();
        for file in some(files)? {
            pieces.push(CsvFile::open(schema, file.as_ref())?);
        }
        Ok(Self::new(schema, pieces))
    }

    /// The rows of a CSV that is read now, into memory.
    ///
    /// # Errors
    ///
    /// [`OpenError`] if it cannot be read, or has no such column.
    pub fn csv_from(schema: &Schema, source: impl Read) -> Result<Self, OpenError> {
        let pieces = csv::in_memory(schema, source, PIECE_ROWS)?;
        Ok(Self::new(schema, pieces))
    }

    /// The rows of Parquet files.
    ///
    /// # Errors
    ///
    /// [`OpenError`] if there is no file, one cannot be opened, or a column is not there or has a type that does
    /// not fit.
    pub fn parquet<P: AsRef<Path>>(
        schema: &Schema,
        files: impl IntoIterator<Item = P>,
    ) -> Result<Self, OpenError> {
        let mut pieces = Vec::new();
        for file in some(files)? {
            pieces.extend(ParquetFile::open(schema, file.as_ref())?);
        }
        Ok(Self::new(schema, pieces))
    }

    /// The rows of an Arrow IPC stream, which is read now, into memory.
    ///
    /// # Errors
    ///
    /// [`OpenError`] if it cannot be read, or a column is not there or has a type that does not fit.
    pub fn ipc_from(schema: &Schema, source: impl Read) -> Result<Self, OpenError> {
        let name = "the Arrow stream";
        let reader = StreamReader::try_new(BufReader::new(source), None);
        let reader = reader.map_err(|error| unreadable(name, error))?;
        // A stream without batches has a schema that must fit, too.
        let empty = RecordBatch::new_empty(reader.schema());
        let mut pieces = vec![in_memory(schema, name, &empty)?];
        for batch in reader {
            let batch = batch.map_err(|error| unreadable(name, error))?;
            pieces.extend(divided(schema, name, &batch)?);
        }
        Ok(Self::new(schema, pieces))
    }

    /// The rows of batches that a program has.
    ///
    /// # Errors
    ///
    /// [`OpenError`] if a column is not there or has a type that does not fit.
    pub fn batches<'a>(
        schema: &Schema,
        batches: impl IntoIterator<Item = &'a RecordBatch>,
    ) -> Result<Self, OpenError> {
        let mut pieces = Vec::new();
        for batch in batches {
            pieces.extend(divided(schema, "the record batch", batch)?);
        }
        Ok(Self::new(schema, pieces))
    }

    /// The same table with another bound on its memory, in bytes: one GiB by default.
    ///
    /// What a program or a stream brought into memory does not count, nor do the totals of a plan and the
    /// keys that are returned.
    #[must_use]
    pub fn with_memory_bound(self, bytes: usize) -> Self {
        Self {
            memory_bound: bytes,
            cache: Cache::default(),
            ..self
        }
    }

    /// The same table, read on this many threads: one for each core by default.
    #[must_use]
    pub fn with_threads(self, threads: usize) -> Self {
        Self {
            threads: threads.max(1),
            ..self
        }
    }

    /// The same table, read in batches of this many rows.
    #[doc(hidden)]
    #[must_use]
    pub fn with_batch_rows(self, rows: usize) -> Self {
        Self {
            batch_rows: rows.max(1),
            cache: Cache::default(),
            ..self
        }
    }

    fn scan(&self, places: Vec<usize>) -> Scan<'_> {
        Scan {
            schema: &self.schema,
            pieces: &self.pieces,
            cache: &self.cache,
            places,
            threads: self.threads,
            batch_rows: self.batch_rows,
            most_kept: self.memory_bound / 2,
        }
    }
}

/// The files, if there are any.
fn some<P>(files: impl IntoIterator<Item = P>) -> Result<impl Iterator<Item = P>, OpenError> {
    let mut files = files.into_iter().peekable();
    match files.peek() {
        None => Err(OpenError::NoFiles),
        Some(_) => Ok(files),
    }
}

/// A batch in pieces of [`PIECE_ROWS`].
fn divided(schema: &Schema, name: &str, batch: &RecordBatch) -> Result<Vec<Piece>, OpenError> {
    let starts = (0..batch.num_rows().max(1)).step_by(PIECE_ROWS);
    let pieces = starts.map(|start| {
        let rows = PIECE_ROWS.min(batch.num_rows() - start);
        in_memory(schema, name, &batch.slice(start, rows))
    });
    pieces.collect()
}

impl Table for ArrowTable {
    fn tally(&self, plan: &Plan) -> Result<Vec<i128>, Unavailable> {
        if *plan.schema() != self.schema {
            return Err(Unavailable);
        }
        let condition = plan.condition().map(Condition::columns);
        let number = plan.amount().number().map(Number::columns);
        let mut places: Vec<usize> = [condition, number]
            .into_iter()
            .flatten()
            .flatten()
            .collect();
        places.extend(plan.groupings().iter().map(Grouping::place));
        let person = self.schema.person_column();
        places.extend(person);
        let scan = self.scan(once(places));
        match person {
            None => tally::of_rows(plan, &scan),
            Some(person) => tally::of_people(plan, &scan, person, self.memory_bound / 4),
        }
    }

    fn tally_keys(
        &self,
        condition: Option<&Condition>,
        column: &str,
    ) -> Result<Vec<(Value, u64)>, Unavailable> {
        let key = self.schema.key_column(condition, column);
        let (place, _) = key.map_err(|_| Unavailable)?;
        let mut places = condition.map(Condition::columns).unwrap_or_default();
        places.push(place);
        places.extend(self.schema.person_column());
        let scan = self.scan(once(places));
        keys::tally_keys(&scan, condition, place, self.memory_bound / 4)
    }
}

fn once(mut places: Vec<usize>) -> Vec<usize> {
    places.sort_unstable();
    places.dedup();
    places
}

impl PublicMetadata for ArrowTable {
    type Metadata = Schema;

    fn metadata(&self) -> &Schema {
        &self.schema
    }
}

// Nothing of the contents, nor where they are.
impl fmt::Debug for ArrowTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let schema = &self.schema;
        f.debug_struct("ArrowTable")
            .field("schema", schema)
            .finish_non_exhaustive()
    }
}
