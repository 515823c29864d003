//! The same work on one thread and on two.

use std::sync::Barrier;
use std::thread::{self, ScopedJoinHandle};
use std::time::Instant;

use crate::sample::Run;

/// Shares the work among threads, each with an operation of its own. The time is that from the
/// start of the first to the end of the last, for all of the work.
pub fn shared_among<O: FnMut() + Send + 'static>(threads: usize, one: impl Fn() -> O) -> Run {
    let mut operations: Vec<O> = (0..threads).map(|_| one()).collect();
    Box::new(move |times| {
        let barrier = Barrier::new(operations.len());
        let share = times.div_ceil(operations.len() as u64);
        let done = share * operations.len() as u64;
        let spans: Vec<_> = thread::scope(|scope| {
            let working: Vec<_> = operations
                .iter_mut()
                .map(|operation| {
                    let barrier = &barrier;
                    scope.spawn(move || {
                        barrier.wait();
                        let begin = Instant::now();
                        for _ in 0..share {
                            operation();
                        }
                        (begin, Instant::now())
                    })
                })
                .collect();
            let ended = working.into_iter().map(ScopedJoinHandle::join);
            ended.map(|span| span.expect("no panic")).collect()
        });
        let begin = spans.iter().map(|span| span.0).min().expect("a thread");
        let end = spans.iter().map(|span| span.1).max().expect("a thread");
        end.duration_since(begin)
            .mul_f64(times as f64 / done as f64)
    })
}
