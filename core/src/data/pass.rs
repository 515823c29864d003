//! One pass over all records, with third-party code that may panic on any of them.

use std::iter::once;
use std::ops::Range;

use super::{Dataset, Fold, Value};
use crate::machine::caught;

/// The number of records that are read under one guard.
///
/// Large enough that the cost of the guard is negligible, and small enough that reading a chunk
/// again after a panic is cheap and its values stay in the cache.
pub const CHUNK: usize = 1024;

/// Reads the records with these indices and folds their values.
///
/// This is the one place that decides what a panic on a record means: the record has the value
/// [`Value::UNREADABLE`]. See the [module](crate::data).
///
/// ```
/// use queryables::data::{ClampedSum, pass};
///
/// let texts = ["3", "four", "5"];
/// let mut sum = ClampedSum::new(0..=9);
/// # std::panic::set_hook(Box::new(|_| ()));
/// pass(&texts, 0..3, &|text: &&str| text.parse::<i64>().unwrap(), &mut sum);
/// assert_eq!(sum.total(), 8);
/// ```
///
/// `read` must depend on nothing but the record: it may be called twice on the same one.
pub fn pass<D, T, F>(
    data: &D,
    range: Range<usize>,
    read: &impl Fn(D::Record<'_>) -> T,
    fold: &mut F,
) where
    D: Dataset + ?Sized,
    T: Value,
    F: Fold<T>,
{
    in_chunks(range, CHUNK, fold, |fold, chunk| match chunk {
        Chunk::Readable(chunk) => fold.take(data.records(chunk).map(read)),
        Chunk::Unreadable(_) => fold.take(once(T::UNREADABLE)),
    });
}

/// What a pass reads next.
#[derive(Debug)]
pub enum Chunk {
    /// Records to read; the closure may panic.
    Readable(Range<usize>),
    /// One record on which the closure panicked.
    Unreadable(Range<usize>),
}

/// Reads records in chunks of this size; if a chunk panics, its records one by one.
///
/// If `take` panics, it must leave the state unchanged, or overwrite later what it left.
pub fn in_chunks<S: ?Sized>(
    range: Range<usize>,
    size: usize,
    state: &mut S,
    take: impl Fn(&mut S, Chunk),
) {
    let (end, size) = (range.end, size.max(1));
    for start in range.step_by(size) {
        let chunk = start..end.min(start.saturating_add(size));
        if caught(|| take(state, Chunk::Readable(chunk.clone()))).is_some() {
            continue;
        }
        for index in chunk {
            let record = index..index + 1;
            if caught(|| take(state, Chunk::Readable(record.clone()))).is_none() {
                take(state, Chunk::Unreadable(record));
            }
        }
    }
}
