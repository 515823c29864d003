//! Where rows come from: batches in memory, Parquet, CSV.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use arrow_array::{Array, ArrayRef, RecordBatch};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use queryables::mechanisms::query::Unavailable;
use queryables::table::Schema;

use crate::OpenError;
use crate::csv::CsvFile;
use crate::error::{named, unreadable};
use crate::types::places;

/// A part of a table that is read by one thread, from its first row to its last.
pub(crate) enum Piece {
    /// Columns in memory, in the order of the schema.
    Memory(Vec<ArrayRef>, usize),
    /// A row group of a Parquet file.
    RowGroup(Arc<ParquetFile>, usize),
    /// A CSV file.
    Csv(Arc<CsvFile>),
}

/// Columns of a batch, in the order in which they were asked for, and how many rows it has.
pub(crate) type Columns = (Vec<ArrayRef>, usize);

impl Piece {
    /// Its rows, in batches of `rows`: the same batches each time, whatever columns are read.
    pub(crate) fn read(
        &self,
        wanted: &[usize],
        rows: usize,
    ) -> Result<Box<dyn Iterator<Item = Result<Columns, Unavailable>> + '_>, Unavailable> {
        match self {
            Self::Memory(columns, length) => {
                let columns = wanted.iter().map(|place| columns.get(*place));
                let columns: Vec<&ArrayRef> = columns.collect::<Option<_>>().ok_or(Unavailable)?;
                let starts = (0..*length).step_by(rows.max(1));
                Ok(Box::new(starts.map(move |start| {
                    let part = rows.min(length - start);
                    let columns = columns.iter().map(|column| column.slice(start, part));
                    Ok((columns.collect(), part))
                })))
            }
            Self::RowGroup(file, group) => file.read(*group, wanted, rows),
            Self::Csv(file) => file.read(wanted, rows),
        }
    }

    /// Whether its columns are in memory.
    pub(crate) fn is_in_memory(&self) -> bool {
        matches!(self, Self::Memory(..))
    }

    /// How many rows it has, at most.
    pub(crate) fn most_rows(&self) -> u64 {
        match self {
            Self::Memory(_, rows) => *rows as u64,
            Self::RowGroup(file, group) => file.rows(*group),
            // A row has a byte at least.
            Self::Csv(file) => file.bytes(),
        }
    }

    /// About how much memory a column of it takes; none if it is not known before it is read.
    pub(crate) fn bytes(&self, place: usize) -> Option<usize> {
        match self {
            Self::Memory(..) => Some(0),
            Self::RowGroup(file, group) => file.bytes(*group, place),
            Self::Csv(_) => None,
        }
    }
}

/// The columns of the schema, of a batch that a program has.
pub(crate) fn in_memory(
    schema: &Schema,
    name: &str,
    batch: &RecordBatch,
) -> Result<Piece, OpenError> {
    let places = places(schema, name, &batch.schema())?;
    let columns = places.iter().map(|place| Arc::clone(batch.column(*place)));
    Ok(Piece::Memory(columns.collect(), batch.num_rows()))
}

/// A file that is opened again for each question, and must not have changed since.
pub(crate) struct Unchanged {
    path: PathBuf,
    length: u64,
    modified: Option<SystemTime>,
}

impl Unchanged {
    pub(crate) fn of(path: &Path) -> Result<(Self, File), OpenError> {
        let file = File::open(path).map_err(|error| unreadable(&named(path), error))?;
        let metadata = file
            .metadata()
            .map_err(|error| unreadable(&named(path), error))?;
        if metadata.is_dir() {
            return Err(unreadable(&named(path), "it is a folder: name its files"));
        }
        let unchanged = Self {
            path: path.to_owned(),
            length: metadata.len(),
            modified: metadata.modified().ok(),
        };
        Ok((unchanged, file))
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.length
    }

    /// Opens it. A file of another length or time is another table.
    pub(crate) fn open(&self) -> Result<File, Unavailable> {
        let file = File::open(&self.path).map_err(|_| Unavailable)?;
        let metadata = file.metadata().map_err(|_| Unavailable)?;
        if metadata.len() == self.length && metadata.modified().ok() == self.modified {
            Ok(file)
        } else {
            Err(Unavailable)
        }
    }
}

/// A Parquet file whose metadata was read.
pub(crate) struct ParquetFile {
    file: Unchanged,
    metadata: ArrowReaderMetadata,
    /// Where each column of the schema stands.
    places: Vec<usize>,
}

impl ParquetFile {
    /// The row groups of a file.
    pub(crate) fn open(schema: &Schema, path: &Path) -> Result<Vec<Piece>, OpenError> {
        let name = named(path);
        let (unchanged, file) = Unchanged::of(path)?;
        let metadata = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new());
        let metadata = metadata.map_err(|error| unreadable(&name, error))?;
        let places = places(schema, &name, metadata.schema())?;
        let groups = metadata.metadata().num_row_groups();
        let file = Arc::new(Self {
            file: unchanged,
            metadata,
            places,
        });
        let groups = 0..groups;
        Ok(groups
            .map(|group| Piece::RowGroup(Arc::clone(&file), group))
            .collect())
    }

    fn read(
        &self,
        group: usize,
        wanted: &[usize],
        rows: usize,
    ) -> Result<Box<dyn Iterator<Item = Result<Columns, Unavailable>> + '_>, Unavailable> {
        let places = wanted.iter().map(|place| self.places.get(*place).copied());
        let places: Vec<usize> = places.collect::<Option<_>>().ok_or(Unavailable)?;
        // The columns come in the order of the file.
        let mut sorted = places.clone();
        sorted.sort_unstable();
        sorted.dedup();
        let order = places.iter().map(|place| sorted.binary_search(place).ok());
        let order: Vec<usize> = order.collect::<Option<_>>().ok_or(Unavailable)?;
        let mask = ProjectionMask::roots(self.metadata.parquet_schema(), sorted);
        let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(
            self.file.open()?,
            self.metadata.clone(),
        );
        let reader = reader
            .with_row_groups(vec![group])
            .with_projection(mask)
            .with_batch_size(rows)
            .build()
            .map_err(|_| Unavailable)?;
        Ok(Box::new(reader.map(move |batch| {
            let batch = batch.map_err(|_| Unavailable)?;
            let columns = order
                .iter()
                .map(|place| batch.columns().get(*place).cloned());
            let columns = columns.collect::<Option<_>>().ok_or(Unavailable)?;
            Ok((columns, batch.num_rows()))
        })))
    }

    fn rows(&self, group: usize) -> u64 {
        let group = self.metadata.metadata().row_groups().get(group);
        group.map_or(0, |group| group.num_rows().unsigned_abs())
    }

    fn bytes(&self, group: usize, place: usize) -> Option<usize> {
        let place = *self.places.get(place)?;
        let group = self.metadata.metadata().row_groups().get(group)?;
        let rows = usize::try_from(group.num_rows()).ok()?;
        let width = self
            .metadata
            .schema()
            .field(place)
            .data_type()
            .primitive_width();
        // A text takes a view, or its two ends. What it points to may be shared.
        let width = width.unwrap_or(16);
        rows.checked_mul(width)
    }
}
