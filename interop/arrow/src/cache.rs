//! Columns that are kept in memory.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{Array, ArrayRef};
use hashbrown::{HashMap, HashSet};

/// A column: its batches, piece by piece.
pub(crate) type Kept = Arc<Vec<Vec<ArrayRef>>>;

/// Columns that fit into the memory bound. Those that do not are read from the file for each question.
#[derive(Default)]
pub(crate) struct Cache(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    columns: HashMap<usize, Kept>,
    too_large: HashSet<usize>,
    bytes: usize,
}

impl Cache {
    pub(crate) fn get(&self, place: usize) -> Option<Kept> {
        self.with(|inner| inner.columns.get(&place).cloned())
    }

    /// Starts to keep those of these columns that fit. `bytes` tells about how large one is.
    pub(crate) fn keeping(
        &self,
        places: &[usize],
        pieces: usize,
        most: usize,
        bytes: impl Fn(usize) -> usize,
    ) -> Keeping {
        let mut left = self.with(|inner| most.saturating_sub(inner.bytes));
        let total = left;
        let mut kept = Vec::new();
        for place in places {
            let is_too_large = self.with(|inner| inner.too_large.contains(place));
            let bytes = bytes(*place);
            if !is_too_large && bytes <= left {
                left -= bytes;
                let pieces = (0..pieces).map(|_| Mutex::default());
                kept.push((*place, pieces.collect()));
            }
        }
        Keeping {
            columns: kept,
            left: AtomicUsize::new(total),
            most,
        }
    }

    /// Keeps what was read.
    pub(crate) fn keep(&self, keeping: Keeping) {
        let given_up = keeping.left.load(Ordering::Relaxed) == 0;
        self.with(|inner| {
            for (place, pieces) in keeping.columns {
                if given_up {
                    inner.too_large.insert(place);
                    continue;
                }
                let pieces = pieces
                    .into_iter()
                    .map(|piece| piece.into_inner().unwrap_or_else(PoisonError::into_inner));
                let pieces: Vec<Vec<ArrayRef>> = pieces.collect();
                let arrays = pieces.iter().flatten();
                let bytes = arrays.map(Array::get_array_memory_size).sum::<usize>();
                // Another question may have kept it, or others, at the same time.
                let fits = inner.bytes.saturating_add(bytes) <= keeping.most;
                if fits && !inner.columns.contains_key(&place) {
                    inner.bytes += bytes;
                    inner.columns.insert(place, Arc::new(pieces));
                }
            }
        });
    }

    fn with<T>(&self, with: impl FnOnce(&mut Inner) -> T) -> T {
        with(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Columns that are kept while they are read.
pub(crate) struct Keeping {
    columns: Vec<(usize, Vec<Mutex<Vec<ArrayRef>>>)>,
    /// How many bytes are left; zero once there were too many.
    left: AtomicUsize,
    most: usize,
}

impl Keeping {
    /// Keeps a batch of a column, if that column is kept.
    pub(crate) fn push(&self, piece: usize, place: usize, array: &ArrayRef) {
        let Some((_, pieces)) = self.columns.iter().find(|(kept, _)| *kept == place) else {
            return;
        };
        let Some(piece) = pieces.get(piece) else {
            return;
        };
        let bytes = array.get_array_memory_size();
        let before = self
            .left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                Some(left.saturating_sub(bytes))
            });
        let mut kept = piece.lock().unwrap_or_else(PoisonError::into_inner);
        if before.is_ok_and(|left| left > bytes) {
            kept.push(Arc::clone(array));
        } else {
            kept.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::Int64Array;

    use super::*;

    /// What does not fit is let go while it is read, and is not tried again.
    #[test]
    fn a_column_that_does_not_fit_takes_no_memory() {
        let cache = Cache::default();
        let array: ArrayRef = Arc::new(Int64Array::from(vec![7; 1000]));
        let bytes = array.get_array_memory_size();
        // An estimate of zero, as for texts and CSV.
        let keeping = |most| cache.keeping(&[3], 1, most, |_| 0);
        let small = keeping(2 * bytes);
        let held = |keeping: &Keeping| match &keeping.columns[..] {
            [(3, pieces)] => pieces[0].lock().unwrap().len(),
            _ => 0,
        };
        for expected in [1, 0, 0] {
            small.push(0, 3, &array);
            assert_eq!(held(&small), expected);
        }
        cache.keep(small);
        assert!(cache.get(3).is_none());
        let again = keeping(100 * bytes);
        assert!(again.columns.is_empty());

        let cache = Cache::default();
        let large = cache.keeping(&[3], 1, 100 * bytes, |_| 0);
        large.push(0, 3, &array);
        cache.keep(large);
        assert_eq!(cache.get(3).unwrap()[0].len(), 1);
    }
}
