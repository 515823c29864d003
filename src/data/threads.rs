//! Large data on several threads.
//!
//! [`pieces`] divides the records, and [`each`] works on the pieces. The caller merges the results
//! in the order of the pieces, so that nothing depends on the number of threads.

use std::ops::Range;
#[cfg(feature = "rayon")]
use std::panic::resume_unwind;

#[cfg(feature = "rayon")]
use rayon::prelude::*;

#[cfg(feature = "rayon")]
use crate::machine::{ThreadContext, caught};

/// The least number of values in a piece: reading them takes several times as long as waking a
/// thread, which is some ten microseconds.
const PIECE: usize = 1 << 16;

/// Pieces for each thread, so that one which is held up does not hold up the rest.
const PER_THREAD: usize = 4;

/// Divides records with this number of values each among the threads; `None` if there is only one
/// thread, or not much to read.
#[inline]
pub(crate) fn pieces(records: Range<usize>, values: usize) -> Option<Vec<Range<usize>>> {
    let most = records.len().saturating_mul(values.max(1)) / PIECE;
    (most > 1).then(|| divided(records, most)).flatten()
}

fn divided(records: Range<usize>, most: usize) -> Option<Vec<Range<usize>>> {
    // Asked only for large data: the first time, it starts the threads.
    let threads = threads();
    if threads == 1 {
        return None;
    }
    let count = threads.saturating_mul(PER_THREAD).min(most);
    let (end, size) = (records.end, records.len().div_ceil(count).max(1));
    let pieces = records
        .step_by(size)
        .map(|start| start..end.min(start.saturating_add(size)));
    Some(pieces.collect())
}

/// Without threads: one.
#[cfg(not(feature = "rayon"))]
fn threads() -> usize {
    1
}

/// The number of threads that a pass may use.
#[cfg(feature = "rayon")]
fn threads() -> usize {
    // Under the scheduler that tests races there are no real threads. On a thread of a pool, waiting
    // means to run other tasks of the pool, which may want a lock that this thread holds.
    if cfg!(shuttle) || rayon::current_thread_index().is_some() {
        return 1;
    }
    // It panics if threads cannot be started.
    caught(rayon::current_num_threads).unwrap_or(1)
}

/// Without threads: one task after the other.
#[cfg(not(feature = "rayon"))]
pub(crate) fn each<T, S>(tasks: Vec<T>, work: impl Fn(T) -> S) -> Vec<S> {
    tasks.into_iter().map(work).collect()
}

/// Works on all tasks, on several threads, and returns the results in the order of the tasks.
///
/// Third-party code in it is guarded by whoever calls this; a panic that is not is passed on,
/// without its payload.
#[cfg(feature = "rayon")]
pub(crate) fn each<T: Send, S: Send>(tasks: Vec<T>, work: impl Fn(T) -> S + Sync) -> Vec<S> {
    if tasks.len() < 2 {
        return tasks.into_iter().map(work).collect();
    }
    let errand = ThreadContext::current();
    // Caught here: a payload may panic when it is dropped, which rayon answers with an abort.
    let work = |task| errand.run(|| caught(|| work(task)));
    let results: Option<Vec<S>> = tasks.into_par_iter().with_max_len(1).map(work).collect();
    results.unwrap_or_else(|| resume_unwind(Box::new("a fold panicked")))
}

#[cfg(all(test, feature = "rayon"))]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::sync::Barrier;
    use std::thread;

    #[test]
    fn pieces_cover_the_records_in_order() {
        let two = 7..7 + 2 * PIECE;
        for (records, values) in [(3..5_000_003, 1), (0..100_000, 8), (0..9, PIECE), (two, 1)] {
            let pieces = pieces(records.clone(), values);
            assert_eq!(pieces.is_some(), threads() > 1);
            assert!(pieces.is_none_or(|pieces| pieces.into_iter().flatten().eq(records)));
        }
    }

    #[test]
    fn what_is_small_or_starts_on_a_thread_of_a_pool_is_not_divided() {
        assert_eq!(pieces(0..2 * PIECE - 1, 1), None);
        assert_eq!(pieces(5..5, 100), None);
        for threads in [1, 4] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            let pieces = pool.build().unwrap().install(|| pieces(0..1 << 30, 1));
            assert_eq!(pieces, None);
        }
    }

    #[test]
    fn results_are_in_the_order_of_the_tasks() {
        let tasks: Vec<usize> = (0..100).collect();
        assert_eq!(each(tasks.clone(), |task| task), tasks);
        assert!(each(Vec::<u8>::new(), |task| task).is_empty());
    }

    /// It ends only if each task has a thread of its own.
    #[test]
    fn tasks_run_at_the_same_time() {
        let threads = threads();
        let barrier = Barrier::new(threads);
        let work = |_| {
            barrier.wait();
            thread::current().id()
        };
        let on: BTreeSet<String> = each((0..threads).collect(), work)
            .iter()
            .map(|id| format!("{id:?}"))
            .collect();
        assert_eq!(on.len(), threads);
    }

    /// A payload that panics when it is dropped.
    struct Bomb;

    impl Drop for Bomb {
        fn drop(&mut self) {
            std::panic::panic_any(Bomb);
        }
    }

    #[test]
    fn a_panic_of_a_task_reaches_the_caller_without_its_payload() {
        let tasks = || (0..8).collect::<Vec<u8>>();
        let found = caught(|| each(tasks(), |_| -> u8 { std::panic::panic_any(Bomb) }));
        assert_eq!(found, None);
        // Rayon's threads are as before.
        assert_eq!(each(tasks(), |task| task), tasks());
    }
}
