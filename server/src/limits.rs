//! What an analyst may use up besides privacy.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use serde::Deserialize;

use crate::problem::{Code, Problem};

/// The limits of each analyst.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Requests a minute, and at most this many at once after a rest.
    pub requests_per_minute: u32,
    /// Bytes of bodies a minute.
    pub bytes_per_minute: u32,
    /// The longest body of a request, in bytes.
    pub longest_body: usize,
    /// The deepest nesting of JSON.
    pub deepest_json: usize,
    /// Children that are open at the same time, shares included.
    pub open_children: usize,
    /// Mechanisms and previews that run at the same time.
    pub running: usize,
    /// How often a child is asked.
    pub asks_per_child: u64,
    /// After how long without a question a child ends.
    pub idle_seconds: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            requests_per_minute: 600,
            bytes_per_minute: 4 << 20,
            longest_body: 64 << 10,
            deepest_json: 64,
            open_children: 16,
            running: 4,
            asks_per_child: 10_000,
            idle_seconds: 1800,
        }
    }
}

/// Fills up with time, and is emptied by use.
struct Bucket {
    left: f64,
    filled: Instant,
}

impl Bucket {
    fn new(most: f64) -> Self {
        Self {
            left: most,
            filled: Instant::now(),
        }
    }

    /// Whether there was enough.
    fn takes(&mut self, amount: f64, per_minute: f64) -> bool {
        let now = Instant::now();
        let seconds = now.duration_since(self.filled).as_secs_f64();
        self.left = (self.left + seconds * per_minute / 60.0).min(per_minute);
        self.filled = now;
        let enough = self.left >= amount;
        if enough {
            self.left -= amount;
        }
        enough
    }
}

/// What one analyst is using.
pub struct Usage {
    limits: Limits,
    buckets: Mutex<(Bucket, Bucket)>,
    running: AtomicUsize,
}

impl Usage {
    pub fn new(limits: Limits) -> Self {
        let requests = Bucket::new(limits.requests_per_minute.into());
        let bytes = Bucket::new(limits.bytes_per_minute.into());
        Self {
            limits,
            buckets: Mutex::new((requests, bytes)),
            running: AtomicUsize::new(0),
        }
    }

    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// One more request.
    pub fn request(&self) -> Result<(), Problem> {
        let per_minute = self.limits.requests_per_minute.into();
        let mut buckets = lock(&self.buckets);
        match buckets.0.takes(1.0, per_minute) {
            true => Ok(()),
            false => Err(Problem::new(Code::TooMany).saying("requests a minute")),
        }
    }

    /// A body of this length.
    pub fn body(&self, bytes: usize) -> Result<(), Problem> {
        let per_minute = self.limits.bytes_per_minute.into();
        let mut buckets = lock(&self.buckets);
        match buckets.1.takes(bytes as f64, per_minute) {
            true => Ok(()),
            false => Err(Problem::new(Code::TooMany).saying("bytes a minute")),
        }
    }

    /// One more that runs, until what is returned is dropped.
    pub fn run(self: &std::sync::Arc<Self>) -> Result<Running, Problem> {
        let running = Running(std::sync::Arc::clone(self));
        let before = self.running.fetch_add(1, Ordering::Relaxed);
        match before < self.limits.running {
            true => Ok(running),
            false => Err(Problem::new(Code::TooMany).saying("questions that run at the same time")),
        }
    }
}

/// One question of an analyst that runs.
pub struct Running(std::sync::Arc<Usage>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Poison is ignored: what is held under these locks is changed in one step.
pub fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}
