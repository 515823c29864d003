//! What an exploration may take, and what it has taken.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::VerifyError;

/// How often machines are run, and how many points are explored, by default.
pub(super) const LIMIT: u64 = 2_000_000;

/// How much memory an exploration holds, by default: 1 GB.
pub(super) const MEMORY: u64 = 1_000_000_000;

/// How long an exploration takes, by default.
pub(super) const TIME: Duration = Duration::from_secs(60);

/// Cancels explorations from another thread.
///
/// ```
/// use queryables::mechanisms::RandomizedResponse;
/// use queryables::verify::{copies_of, Cancel, Pair, Verifier, VerifyError};
///
/// let respond = RandomizedResponse::with_odds(3, 1)?;
/// let cancel = Cancel::default();
/// let pair = Pair::new(false, true);
/// let verifier = Verifier::new(copies_of(&respond), &pair, vec![()], 1).cancelled_by(&cancel);
/// // Somebody presses a key, in another thread.
/// cancel.cancel();
/// assert_eq!(verifier.worst_ratio().unwrap_err(), VerifyError::Cancelled);
/// # Ok::<(), queryables::mechanisms::MechanismError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Ends every exploration that was given this, or a clone of it, with
    /// [`VerifyError::Cancelled`].
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The bounds of an exploration.
#[derive(Clone, Debug)]
pub(super) struct Bounds {
    pub(super) limit: u64,
    pub(super) memory: u64,
    pub(super) time: Duration,
    pub(super) cancel: Cancel,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            limit: LIMIT,
            memory: MEMORY,
            time: TIME,
            cancel: Cancel::default(),
        }
    }
}

/// How far an exploration has come.
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
    bounds: Bounds,
    start: Instant,
    runs: AtomicU64,
    points: AtomicU64,
    memory: AtomicU64,
}

impl Meter {
    pub(super) fn new(bounds: Bounds) -> Self {
        Self {
            bounds,
            start: Instant::now(),
            runs: AtomicU64::new(0),
            points: AtomicU64::new(0),
            memory: AtomicU64::new(0),
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

    /// A machine is about to run.
    pub(super) fn count_run(&self) -> Result<(), VerifyError> {
        self.within(&self.runs)
    }

    /// A point is about to be explored.
    pub(super) fn count_point(&self) -> Result<(), VerifyError> {
        self.within(&self.points)
    }

    fn within(&self, counter: &AtomicU64) -> Result<(), VerifyError> {
        let Bounds { limit, time, .. } = self.bounds;
        if counter.load(Ordering::Relaxed) >= limit {
            return Err(VerifyError::Limit { limit });
        }
        counter.fetch_add(1, Ordering::Relaxed);
        self.check_memory()?;
        if self.bounds.cancel.0.load(Ordering::Relaxed) {
            return Err(VerifyError::Cancelled);
        }
        if self.start.elapsed() >= time {
            return Err(VerifyError::Time { limit: time });
        }
        Ok(())
    }

    /// Whether no more is held than may be.
    pub(super) fn check_memory(&self) -> Result<(), VerifyError> {
        let limit = self.bounds.memory;
        if self.memory.load(Ordering::Relaxed) > limit {
            return Err(VerifyError::Memory { limit });
        }
        Ok(())
    }

    /// These bytes are kept until the end.
    pub(super) fn keep(&self, bytes: usize) {
        self.memory.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

/// Memory that is counted for as long as this lives.
#[derive(Debug)]
pub(super) struct Held {
    meter: Arc<Meter>,
    bytes: u64,
}

impl Held {
    pub(super) fn new(meter: &Arc<Meter>, bytes: usize) -> Self {
        meter.keep(bytes);
        Self {
            meter: Arc::clone(meter),
            bytes: bytes as u64,
        }
    }

    /// It is more by this.
    pub(super) fn grow(&mut self, bytes: usize) {
        self.meter.keep(bytes);
        self.bytes += bytes as u64;
    }
}

impl Clone for Held {
    fn clone(&self) -> Self {
        Self::new(&self.meter, self.bytes as usize)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.meter.memory.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use allocation_counter::{AllocationInfo, measure};

    use super::*;
    use crate::machine::{Coins, Fault, Mechanism, Released};
    use crate::verify::objective::Objective;
    use crate::verify::{Pair, Rational, Verifier};

    /// Answers with all its coins, or with nothing.
    #[derive(Clone, Copy)]
    struct Tossing {
        coins: u32,
        faces: u64,
        says: bool,
    }

    impl Mechanism<bool> for Tossing {
        type Machine = Released<u128>;

        fn start(&self, _: &Arc<bool>, coins: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
            let mut all = 0;
            for _ in 0..self.coins {
                let face = coins.weighted(&vec![1; self.faces as usize])?;
                all = all * u128::from(self.faces) + face as u128;
            }
            Ok(Released(if self.says { all } else { 0 }))
        }
    }

    /// What is allocated on the thread of the exploration.
    fn explored(tossing: Tossing, memory: u64) -> (AllocationInfo, Result<(), VerifyError>) {
        let pair = Pair::new(false, true);
        let verifier = Verifier::new(move || tossing, &pair, vec![()], 1);
        let verifier = verifier.threads(1).replays(2).memory(memory);
        let explored = verifier.explore(|exploration| {
            let mut found = Ok(());
            let difference = [Objective::HockeyStick(Rational::ONE.into())];
            let info = measure(|| found = exploration.worst(&difference).map(drop));
            Ok((info, found))
        });
        explored.unwrap()
    }

    #[test]
    fn no_more_is_allocated_than_the_bound() {
        let long = |coins, says| Tossing {
            coins,
            faces: 2,
            says,
        };
        let short = Tossing {
            coins: 3,
            faces: 64,
            says: true,
        };
        // At several bounds: lists and tables double at some.
        for limit in [1_000_000, 1_500_000, 2_500_000, 4_000_000, 6_000_000] {
            for tossing in [long(40, true), long(40, false), long(100, true), short] {
                let Tossing { coins, faces, says } = tossing;
                let (info, found) = explored(tossing, limit);
                assert_eq!(found, Err(VerifyError::Memory { limit }));
                let ratio = info.bytes_max as f64 / limit as f64;
                // Where little of it is paths, most of what is counted is room to grow.
                let near = 0.3..1.05;
                assert!(
                    near.contains(&ratio),
                    "{limit} {coins} {faces} {says}: {ratio}"
                );
            }
        }
    }
}
