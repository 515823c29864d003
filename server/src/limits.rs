//! What an analyst may use up besides privacy.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
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
    /// Seconds a minute that questions run, on all threads together.
    pub seconds_per_minute: u32,
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
            seconds_per_minute: 60,
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

    fn fill(&mut self, per_minute: f64) {
        let now = Instant::now();
        let seconds = now.duration_since(self.filled).as_secs_f64();
        self.left = (self.left + seconds * per_minute / 60.0).min(per_minute);
        self.filled = now;
    }

    /// Takes an amount, if there is enough.
    fn takes(&mut self, amount: f64, per_minute: f64) -> bool {
        self.fill(per_minute);
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
    requests: Mutex<Bucket>,
    bytes: Mutex<Bucket>,
    seconds: Mutex<Bucket>,
    running: AtomicUsize,
}

impl Usage {
    pub fn new(limits: Limits) -> Self {
        let full = |per_minute: u32| Mutex::new(Bucket::new(per_minute.into()));
        Self {
            limits,
            requests: full(limits.requests_per_minute),
            bytes: full(limits.bytes_per_minute),
            seconds: full(limits.seconds_per_minute),
            running: AtomicUsize::new(0),
        }
    }

    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// One more request.
    pub fn request(&self) -> Result<(), Problem> {
        let per_minute = self.limits.requests_per_minute.into();
        match lock(&self.requests).takes(1.0, per_minute) {
            true => Ok(()),
            false => Err(Problem::new(Code::TooMany).saying("requests a minute")),
        }
    }

    /// A body of this length.
    pub fn body(&self, bytes: usize) -> Result<(), Problem> {
        let per_minute = self.limits.bytes_per_minute.into();
        match lock(&self.bytes).takes(bytes as f64, per_minute) {
            true => Ok(()),
            false => Err(Problem::new(Code::TooMany).saying("bytes a minute")),
        }
    }

    /// One more that runs, until what is returned is dropped.
    pub fn run(self: &Arc<Self>) -> Result<Running, Problem> {
        let too_many = |what| Err(Problem::new(Code::TooMany).saying(what));
        let per_minute = self.limits.seconds_per_minute.into();
        if !lock(&self.seconds).takes(0.0, per_minute) {
            return too_many("seconds a minute that questions run");
        }
        let running = Running {
            usage: Arc::clone(self),
            started: None,
        };
        let before = self.running.fetch_add(1, Ordering::Relaxed);
        if before >= self.limits.running {
            return too_many("questions that run at the same time");
        }
        Ok(running)
    }
}

/// One question of an analyst that runs, or waits for a thread.
pub struct Running {
    usage: Arc<Usage>,
    started: Option<Instant>,
}

impl Running {
    /// From now on its time counts.
    pub fn start(&mut self) {
        self.started = Some(Instant::now());
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.usage.running.fetch_sub(1, Ordering::Relaxed);
        if let Some(started) = self.started {
            // More than there is: those that come wait longer.
            lock(&self.usage.seconds).left -= started.elapsed().as_secs_f64();
        }
    }
}

/// Poison is ignored: what is held under these locks is changed in one step.
pub fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}
