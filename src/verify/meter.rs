//! What an exploration has taken.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::VerifyError;
use super::bounds::Limits;

/// How far an exploration has come.
///
/// Example: [`Verifier`](crate::verify::Verifier).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// How long it has taken.
    pub elapsed: Duration,
    /// How often machines were run.
    pub runs: u64,
    /// How many points of the conversation were explored.
    pub points: u64,
    /// About how many bytes it holds.
    pub memory: u64,
}

impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "verifying: {} s, {} runs, {} points, {} MB",
            self.elapsed.as_secs(),
            self.runs,
            self.points,
            self.memory / 1_000_000
        )
    }
}

/// Counts what one exploration takes, on all its threads.
#[derive(Debug)]
pub(super) struct Meter {
    bounds: Limits,
    start: Instant,
    runs: AtomicU64,
    points: AtomicU64,
    memory: AtomicU64,
    /// How many machines are running now.
    running: AtomicU64,
}

impl Meter {
    pub(super) fn new(bounds: Limits) -> Self {
        Self {
            bounds,
            start: Instant::now(),
            runs: AtomicU64::new(0),
            points: AtomicU64::new(0),
            memory: AtomicU64::new(0),
            running: AtomicU64::new(0),
        }
    }

    pub(super) fn progress(&self) -> Progress {
        Progress {
            elapsed: self.start.elapsed(),
            runs: self.runs.load(Ordering::Relaxed),
            points: self.points.load(Ordering::Relaxed),
            memory: self.memory.load(Ordering::Relaxed),
        }
    }

    pub(super) fn time(&self) -> Duration {
        self.bounds.time
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.bounds.cancel.load(Ordering::Relaxed)
    }

    /// Whether a machine has been called and has not returned.
    pub(super) fn is_running(&self) -> bool {
        self.running.load(Ordering::Relaxed) > 0
    }

    /// Runs a machine.
    pub(super) fn run<T>(&self, machine: impl FnOnce() -> T) -> Result<T, VerifyError> {
        self.count(&self.runs)?;
        self.running.fetch_add(1, Ordering::Relaxed);
        let result = machine();
        self.running.fetch_sub(1, Ordering::Relaxed);
        Ok(result)
    }

    /// A point is about to be explored.
    pub(super) fn count_point(&self) -> Result<(), VerifyError> {
        self.count(&self.points)
    }

    fn count(&self, counter: &AtomicU64) -> Result<(), VerifyError> {
        let limit = self.bounds.limit;
        if counter.load(Ordering::Relaxed) >= limit {
            return Err(VerifyError::Limit { limit });
        }
        counter.fetch_add(1, Ordering::Relaxed);
        self.check()
    }

    /// Whether it may go on. To be called wherever the verifier itself may take long.
    pub(super) fn check(&self) -> Result<(), VerifyError> {
        let Limits { memory, time, .. } = self.bounds;
        if self.memory.load(Ordering::Relaxed) > memory {
            return Err(VerifyError::Memory { limit: memory });
        }
        if self.is_cancelled() {
            return Err(VerifyError::Cancelled);
        }
        if self.start.elapsed() >= time {
            return Err(VerifyError::Time { limit: time });
        }
        Ok(())
    }
}

/// Memory that is counted for as long as this lives.
#[derive(Debug)]
pub(super) struct Held {
    meter: Arc<Meter>,
    bytes: AtomicU64,
}

impl Held {
    pub(super) fn new(meter: &Arc<Meter>, bytes: usize) -> Self {
        let held = Self {
            meter: Arc::clone(meter),
            bytes: AtomicU64::new(0),
        };
        held.grow(bytes);
        held
    }

    /// For something that is about to be allocated: an error if it would be too much.
    pub(super) fn within(meter: &Arc<Meter>, bytes: usize) -> Result<Self, VerifyError> {
        let held = Self::new(meter, bytes);
        meter.check()?;
        Ok(held)
    }

    /// These bytes are held, too.
    pub(super) fn grow(&self, bytes: usize) {
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        let memory = &self.meter.memory;
        memory.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(super) fn meter(&self) -> &Arc<Meter> {
        &self.meter
    }
}

impl Clone for Held {
    fn clone(&self) -> Self {
        Self::new(&self.meter, self.bytes.load(Ordering::Relaxed) as usize)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let memory = &self.meter.memory;
        memory.fetch_sub(*self.bytes.get_mut(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU64;

    use allocation_counter::{AllocationInfo, measure};

    use super::*;
    use crate::machine::{Coins, Fault, Mechanism, Released};
    use crate::noise::DiscreteLaplace;
    use crate::number::Ratio;
    use crate::verify::objective::Objective;
    use crate::verify::{Pair, Rational, Verifier, copies_of};

    /// Answers with all its draws, or with nothing.
    #[derive(Clone)]
    struct Drawing {
        draws: u32,
        draw: Draw,
        says: bool,
    }

    #[derive(Clone)]
    enum Draw {
        Uniform(NonZeroU64),
        Weighted(Arc<[u64]>),
        Law(Arc<DiscreteLaplace>),
    }

    impl Mechanism<bool> for Drawing {
        type Machine = Released<i128>;

        fn start(&self, _: &Arc<bool>, coins: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
            let mut all: i128 = 0;
            for _ in 0..self.draws {
                let drawn = match &self.draw {
                    Draw::Uniform(below) => coins.uniform(*below)?.into(),
                    Draw::Weighted(weights) => coins.weighted(weights)? as i128,
                    Draw::Law(law) => coins.draw(&**law)?,
                };
                all = all.wrapping_mul(3).wrapping_add(drawn);
            }
            Ok(Released(if self.says { all } else { 0 }))
        }
    }

    /// What is allocated on the thread of the exploration.
    fn explored(drawing: &Drawing, memory: u64) -> (AllocationInfo, Result<(), VerifyError>) {
        let pair = Pair::new(false, true);
        let verifier = Verifier::new(copies_of(drawing), &pair, vec![()], 1);
        let verifier = verifier.threads(1).replays(2).memory(memory);
        let explored = verifier.explore(|exploration| {
            let mut found = Ok(());
            let difference = [Objective::HockeyStick(Rational::ONE.into())];
            let info = measure(|| found = exploration.worst(&difference).map(drop));
            Ok((info, found))
        });
        explored.unwrap()
    }

    /// Many draws of few outcomes, and few of many.
    fn drawings() -> Vec<Drawing> {
        let uniform = |draws, below: u64, says| Drawing {
            draws,
            draw: Draw::Uniform(NonZeroU64::new(below).unwrap()),
            says,
        };
        let weighted = |draws, outcomes| Drawing {
            draws,
            draw: Draw::Weighted(vec![1; outcomes].into()),
            says: true,
        };
        let noise = DiscreteLaplace::new(Ratio::from(1000)).unwrap();
        vec![
            uniform(40, 2, true),
            uniform(40, 2, false),
            uniform(100, 2, true),
            uniform(3, 1 << 20, true),
            uniform(40, 1 << 20, true),
            uniform(100, 1 << 20, false),
            weighted(3, 64),
            weighted(100, 1 << 13),
            weighted(3, 1 << 20),
            Drawing {
                draws: 3,
                draw: Draw::Law(Arc::new(noise)),
                says: true,
            },
        ]
    }

    #[test]
    fn no_more_is_allocated_than_the_bound() {
        // At several bounds: lists and tables double at some.
        for limit in [1_000_000, 1_500_000, 2_500_000, 4_000_000, 6_000_000] {
            for (number, drawing) in drawings().iter().enumerate() {
                let (info, found) = explored(drawing, limit);
                assert_eq!(found, Err(VerifyError::Memory { limit }), "{number}");
                let ratio = info.bytes_max as f64 / limit as f64;
                assert!(ratio < 1.05, "{limit} {number}: {ratio}");
                // Where little of it is paths, most of what is counted is room to grow. One list
                // may be too much already.
                let one =
                    matches!(&drawing.draw, Draw::Weighted(weights) if weights.len() > 1 << 13);
                assert!(one || ratio > 0.3, "{limit} {number}: {ratio}");
            }
        }
    }
}
