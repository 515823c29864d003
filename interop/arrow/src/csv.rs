//! CSV: texts that are read as the schema says.

use std::io::{BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::{
    BooleanBuilder, Date32Builder, Float64Builder, Int64Builder, StringBuilder,
    TimestampMicrosecondBuilder,
};
use arrow_array::{Array, ArrayRef};
use chrono::{DateTime, NaiveDate, NaiveDateTime};
use csv::{ByteRecord, Position, Reader, ReaderBuilder};
use queryables::mechanisms::query::Unavailable;
use queryables::table::{Kind, Schema};

use crate::error::{named, unreadable};
use crate::source::{Columns, Piece, Unchanged};
use crate::types::place_of;
use crate::{OpenError, UnreadCells};

/// A CSV file whose header was read.
pub(crate) struct CsvFile {
    file: Unchanged,
    header: Header,
}

/// Where each column of the schema stands, and its type.
struct Header(Vec<(usize, Kind)>);

impl CsvFile {
    pub(crate) fn open(schema: &Schema, path: &Path) -> Result<Piece, OpenError> {
        let (unchanged, file) = Unchanged::of(path)?;
        let header = Header::read(schema, &named(path), &mut reader(file))?;
        Ok(Piece::Csv(Arc::new(Self {
            file: unchanged,
            header,
        })))
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.file.bytes()
    }

    pub(crate) fn read(
        &self,
        wanted: &[usize],
        rows: usize,
    ) -> Result<Box<dyn Iterator<Item = Result<Columns, Unavailable>> + '_>, Unavailable> {
        let columns = wanted
            .iter()
            .map(|place| self.header.0.get(*place).copied());
        let columns = columns.collect::<Option<Vec<_>>>().ok_or(Unavailable)?;
        let batches = Batches {
            reader: reader(self.file.open()?),
            columns,
            rows: rows.max(1),
        };
        Ok(Box::new(batches))
    }
}

/// All of a CSV, in memory.
pub(crate) fn in_memory(
    schema: &Schema,
    source: impl Read,
    rows: usize,
) -> Result<Vec<Piece>, OpenError> {
    let name = "the CSV";
    let mut reader = reader(source);
    let Header(columns) = Header::read(schema, name, &mut reader)?;
    let batches = Batches {
        reader,
        columns,
        rows,
    };
    let pieces = batches.map(|batch| match batch {
        Ok((columns, rows)) => Ok(Piece::Memory(columns, rows)),
        Err(Unavailable) => Err(unreadable(name, "it ends in an error of reading")),
    });
    pieces.collect()
}

/// The cells of a file that hold something that cannot be read.
pub(crate) fn unread(schema: &Schema, path: &Path) -> Result<Vec<UnreadCells>, OpenError> {
    let name = named(path);
    let (_, file) = Unchanged::of(path)?;
    let mut reader = reader(file);
    let Header(places) = Header::read(schema, &name, &mut reader)?;
    let columns = schema.columns().iter().zip(&places);
    let mut counted: Vec<UnreadCells> = columns
        .map(|(column, (_, kind))| UnreadCells {
            file: name.clone(),
            column: column.name().to_owned(),
            kind: *kind,
            cells: 0,
            first_line: 0,
        })
        .collect();
    let mut record = ByteRecord::new();
    while reader
        .read_byte_record(&mut record)
        .map_err(|error| unreadable(&name, error))?
    {
        let line = record.position().map_or(0, Position::line);
        for (counted, (place, kind)) in counted.iter_mut().zip(&places) {
            let cell = record.get(*place).unwrap_or_default();
            if cell.trim_ascii().is_empty() {
                continue;
            }
            let mut one = Builder::new(*kind);
            one.push(str::from_utf8(cell).ok());
            if one.finish().null_count() > 0 {
                counted.cells += 1;
                if counted.cells == 1 {
                    counted.first_line = line;
                }
            }
        }
    }
    counted.retain(|counted| counted.cells > 0);
    Ok(counted)
}

fn reader<R: Read>(source: R) -> Reader<BufReader<R>> {
    // A line that is too short lacks its last values.
    let mut builder = ReaderBuilder::new();
    builder
        .flexible(true)
        .from_reader(BufReader::with_capacity(1 << 16, source))
}

impl Header {
    fn read<R: Read>(
        schema: &Schema,
        file: &str,
        reader: &mut Reader<R>,
    ) -> Result<Self, OpenError> {
        let header = reader.headers().map_err(|error| unreadable(file, error))?;
        // Some programs begin a file with a mark of the byte order.
        let names = header.iter().enumerate().map(|(place, name)| match place {
            0 => name.strip_prefix('\u{feff}').unwrap_or(name),
            _ => name,
        });
        let names: Vec<&str> = names.collect();
        let columns = schema.columns().iter().map(|column| {
            let place = place_of(file, column.name(), &names)?;
            Ok((place, column.kind()))
        });
        Ok(Self(columns.collect::<Result<_, _>>()?))
    }
}

/// Reads a CSV batch by batch.
struct Batches<R> {
    reader: Reader<R>,
    columns: Vec<(usize, Kind)>,
    rows: usize,
}

impl<R: Read> Iterator for Batches<R> {
    type Item = Result<Columns, Unavailable>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut builders: Vec<Builder> = self
            .columns
            .iter()
            .map(|(_, kind)| Builder::new(*kind))
            .collect();
        let mut record = ByteRecord::new();
        let mut rows = 0;
        while rows < self.rows {
            match self.reader.read_byte_record(&mut record) {
                Ok(true) => {}
                Ok(false) => break,
                Err(_) => return Some(Err(Unavailable)),
            }
            rows += 1;
            for (builder, (place, _)) in builders.iter_mut().zip(&self.columns) {
                builder.push(
                    record
                        .get(*place)
                        .and_then(|bytes| str::from_utf8(bytes).ok()),
                );
            }
        }
        let columns = builders.into_iter().map(Builder::finish).collect();
        (rows > 0).then_some(Ok((columns, rows)))
    }
}

/// Builds a column from texts. What does not parse is missing.
enum Builder {
    Whole(Int64Builder),
    Real(Float64Builder),
    Text(StringBuilder),
    Bool(BooleanBuilder),
    Date(Date32Builder),
    Time(TimestampMicrosecondBuilder),
}

impl Builder {
    fn new(kind: Kind) -> Self {
        match kind {
            Kind::Whole => Self::Whole(Int64Builder::new()),
            Kind::Real => Self::Real(Float64Builder::new()),
            Kind::Text => Self::Text(StringBuilder::new()),
            Kind::Bool => Self::Bool(BooleanBuilder::new()),
            Kind::Date => Self::Date(Date32Builder::new()),
            Kind::Time => Self::Time(TimestampMicrosecondBuilder::new()),
        }
    }

    fn push(&mut self, cell: Option<&str>) {
        let trimmed = cell.map(str::trim_ascii);
        match self {
            Self::Whole(builder) => {
                builder.append_option(trimmed.and_then(|cell| cell.parse().ok()));
            }
            Self::Real(builder) => {
                builder.append_option(trimmed.and_then(|cell| cell.parse().ok()));
            }
            // A text keeps its blanks. CSV cannot tell an empty one from a missing one.
            Self::Text(builder) => builder.append_option(cell.filter(|cell| !cell.is_empty())),
            Self::Bool(builder) => builder.append_option(trimmed.and_then(yes_or_no)),
            Self::Date(builder) => builder.append_option(trimmed.and_then(days)),
            Self::Time(builder) => builder.append_option(trimmed.and_then(microseconds)),
        }
    }

    fn finish(self) -> ArrayRef {
        match self {
            Self::Whole(mut builder) => Arc::new(builder.finish()),
            Self::Real(mut builder) => Arc::new(builder.finish()),
            Self::Text(mut builder) => Arc::new(builder.finish()),
            Self::Bool(mut builder) => Arc::new(builder.finish()),
            Self::Date(mut builder) => Arc::new(builder.finish()),
            Self::Time(mut builder) => Arc::new(builder.finish()),
        }
    }
}

fn yes_or_no(cell: &str) -> Option<bool> {
    let is_one_of = |words: [&str; 3]| words.iter().any(|word| cell.eq_ignore_ascii_case(word));
    if is_one_of(["true", "yes", "1"]) {
        Some(true)
    } else if is_one_of(["false", "no", "0"]) {
        Some(false)
    } else {
        None
    }
}

fn days(cell: &str) -> Option<i32> {
    let date = NaiveDate::parse_from_str(cell, "%Y-%m-%d").ok()?;
    i32::try_from(date.signed_duration_since(NaiveDate::default()).num_days()).ok()
}

/// A moment without a zone is one in UTC. It is rounded down.
fn microseconds(cell: &str) -> Option<i64> {
    if let Ok(moment) = DateTime::parse_from_rfc3339(cell) {
        return Some(moment.timestamp_micros());
    }
    let formats = ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f"];
    let mut moments = formats
        .iter()
        .filter_map(|format| NaiveDateTime::parse_from_str(cell, format).ok());
    moments
        .next()
        .map(|moment| moment.and_utc().timestamp_micros())
}
