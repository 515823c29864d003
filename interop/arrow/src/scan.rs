//! A pass over the rows, on several threads.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use arrow_array::{Array, ArrayRef};
use queryables::mechanisms::query::Unavailable;
use queryables::table::Schema;

use crate::cache::{Cache, Keeping, Kept};
use crate::evaluate::Batch;
use crate::progress::Progress;
use crate::source::Piece;

/// What a pass reads, and how.
pub(crate) struct Scan<'a> {
    pub(crate) schema: &'a Schema,
    pub(crate) pieces: &'a [Piece],
    pub(crate) cache: &'a Cache,
    /// The columns that the question reads: their places in the schema.
    pub(crate) places: Vec<usize>,
    pub(crate) threads: usize,
    pub(crate) batch_rows: usize,
    /// How many bytes of columns are kept.
    pub(crate) most_kept: usize,
}

/// What a thread takes at a time.
enum Part {
    /// A piece, read from its source.
    Piece(usize),
    /// A batch of a piece, all of whose columns are in memory.
    Batch(usize, usize),
}

impl Scan<'_> {
    /// Reads all batches. Each thread has a state of its own: all of them are returned.
    pub(crate) fn run<A: Send>(
        &self,
        start: impl Fn() -> A + Sync,
        each: impl Fn(&mut A, &Batch<'_>) -> Result<(), Unavailable> + Sync,
    ) -> Result<Vec<A>, Unavailable> {
        let kept: Vec<(usize, Kept)> = self
            .places
            .iter()
            .filter_map(|place| Some((*place, self.cache.get(*place)?)))
            .collect();
        let is_kept = |place: &usize| kept.iter().any(|(other, _)| other == place);
        let wanted: Vec<usize> = self
            .places
            .iter()
            .copied()
            .filter(|place| !is_kept(place))
            .collect();
        let in_memory = self.pieces.iter().all(Piece::is_in_memory);
        let keeping = (!in_memory).then(|| {
            self.cache
                .keeping(&wanted, self.pieces.len(), self.most_kept, |place| {
                    let pieces = self
                        .pieces
                        .iter()
                        .map(|piece| piece.bytes(place).unwrap_or(0));
                    pieces.fold(0, usize::saturating_add)
                })
        });
        let parts = self.parts(&kept, &wanted);
        let progress = Progress::over(parts.len());
        let next = AtomicUsize::new(0);
        let work = || {
            let mut state = start();
            while let Some(part) = parts.get(next.fetch_add(1, Ordering::Relaxed)) {
                let done = match part {
                    Part::Batch(piece, batch) => self
                        .kept_batch(&kept, *piece, *batch)
                        .and_then(|batch| each(&mut state, &batch)),
                    Part::Piece(piece) => {
                        self.read_piece(*piece, (&kept, &wanted), keeping.as_ref(), |batch| {
                            each(&mut state, batch)
                        })
                    }
                };
                if done.is_err() {
                    // The others need not go on.
                    next.store(parts.len(), Ordering::Relaxed);
                    return Err(Unavailable);
                }
                progress.done();
            }
            Ok(state)
        };
        let threads = self.threads.min(parts.len()).max(1);
        let states = on_threads((0..threads).map(|_| &work))?;
        if let Some(keeping) = keeping {
            self.cache.keep(keeping);
        }
        Ok(states)
    }

    fn parts(&self, kept: &[(usize, Kept)], wanted: &[usize]) -> Vec<Part> {
        let first = kept.first().filter(|_| wanted.is_empty());
        match first {
            None => (0..self.pieces.len()).map(Part::Piece).collect(),
            Some((_, batches)) => {
                let batches = batches.iter().enumerate();
                let parts = batches.flat_map(|(piece, batches)| {
                    (0..batches.len()).map(move |batch| Part::Batch(piece, batch))
                });
                parts.collect()
            }
        }
    }

    fn kept_batch(
        &self,
        kept: &[(usize, Kept)],
        piece: usize,
        batch: usize,
    ) -> Result<Batch<'_>, Unavailable> {
        let columns: Vec<(usize, ArrayRef)> = kept_columns(kept, piece, batch)?;
        let rows = columns.first().map_or(0, |(_, column)| column.len());
        self.batch(columns, rows)
    }

    fn read_piece(
        &self,
        piece: usize,
        (kept, wanted): (&[(usize, Kept)], &[usize]),
        keeping: Option<&Keeping>,
        mut each: impl FnMut(&Batch<'_>) -> Result<(), Unavailable>,
    ) -> Result<(), Unavailable> {
        let source = self.pieces.get(piece).ok_or(Unavailable)?;
        for (number, batch) in source.read(wanted, self.batch_rows)?.enumerate() {
            let (read, rows) = batch?;
            let mut columns = kept_columns(kept, piece, number)?;
            for (place, column) in wanted.iter().zip(read) {
                if let Some(keeping) = keeping {
                    keeping.push(piece, *place, &column);
                }
                columns.push((*place, column));
            }
            each(&self.batch(columns, rows)?)?;
        }
        Ok(())
    }

    /// Columns of equal length. A file that changed meanwhile may give others.
    fn batch(
        &self,
        columns: Vec<(usize, ArrayRef)>,
        rows: usize,
    ) -> Result<Batch<'_>, Unavailable> {
        if columns.iter().any(|(_, column)| column.len() != rows) {
            return Err(Unavailable);
        }
        Ok(Batch {
            schema: self.schema,
            rows,
            columns,
        })
    }
}

fn kept_columns(
    kept: &[(usize, Kept)],
    piece: usize,
    batch: usize,
) -> Result<Vec<(usize, ArrayRef)>, Unavailable> {
    let columns = kept.iter().map(|(place, column)| {
        let column = column.get(piece)?.get(batch)?;
        Some((*place, Arc::clone(column)))
    });
    columns.collect::<Option<_>>().ok_or(Unavailable)
}

/// Runs all of these, each on a thread. One that panics is unavailable.
pub(crate) fn on_threads<T: Send, F: FnOnce() -> Result<T, Unavailable> + Send>(
    work: impl IntoIterator<Item = F>,
) -> Result<Vec<T>, Unavailable> {
    let mut work = work.into_iter();
    // Starting a thread takes longer than reading a few thousand rows: the caller is one of them.
    let own = work.next();
    thread::scope(|scope| {
        // All are started before the first is waited for.
        let threads: Vec<_> = work.map(|work| scope.spawn(work)).collect();
        let own = own.map(|own| catch_unwind(AssertUnwindSafe(own)).unwrap_or(Err(Unavailable)));
        // Each is waited for: one that panicked unnoticed would be a panic here.
        let results: Vec<_> = threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or(Err(Unavailable)))
            .collect();
        own.into_iter().chain(results).collect()
    })
}
