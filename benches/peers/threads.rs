//! The same work on one thread and on two.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, ScopedJoinHandle};
use std::time::Instant;

use crate::sample::Run;

/// Shares the work among threads, each with an operation of its own. The time is that from the
/// start of the first to the end of the last, for all of the work.
pub fn shared_among<O: FnMut() + Send + 'static>(threads: usize, one: impl Fn() -> O) -> Run {
    let mut operations: Vec<O> = (0..threads).map(|_| one()).collect();
    Box::new(move |times| {
        let meeting = Meeting::default();
        let share = times.div_ceil(operations.len() as u64);
        let done = share * operations.len() as u64;
        let spans: Vec<_> = thread::scope(|scope| {
            let working: Vec<_> = operations
                .iter_mut()
                .zip(0..)
                .map(|(operation, place)| {
                    let meeting = &meeting;
                    scope.spawn(move || {
                        meeting.attend(place, threads as u64);
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

/// Where threads wait for each other until each has a core of its own.
///
/// A system may start a thread on the core of the one that made it, and leave it there for
/// milliseconds though another is idle. So they count together, one after the other: on one core,
/// every number takes until the other thread is put aside.
#[derive(Default)]
struct Meeting(AtomicU64);

impl Meeting {
    fn attend(&self, place: u64, threads: u64) {
        const ROUNDS: u64 = 1000;
        for round in 0..ROUNDS {
            while self.0.load(Ordering::Acquire) != round * threads + place {
                spin_loop();
            }
            self.0.fetch_add(1, Ordering::Release);
        }
    }
}
