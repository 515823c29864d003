//! What an exploration may take.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// What an exploration may take, for [`views_within`](super::views_within). A
/// [`Verifier`](super::Verifier) has the same, and says what they mean.
#[derive(Clone, Debug)]
pub struct Limits {
    pub(super) limit: u64,
    pub(super) memory: u64,
    pub(super) time: Duration,
    pub(super) cancel: Arc<AtomicBool>,
}

/// Two million runs of the machine, 1 GB and 60 seconds.
impl Default for Limits {
    fn default() -> Self {
        Self {
            limit: 2_000_000,
            memory: 1_000_000_000,
            time: Duration::from_secs(60),
            cancel: Arc::default(),
        }
    }
}

impl Limits {
    /// At most this number of runs of the machine, and of points of the conversation.
    #[must_use]
    pub fn limit(self, limit: u64) -> Self {
        Self { limit, ..self }
    }

    /// At most about this number of bytes.
    #[must_use]
    pub fn memory(self, bytes: u64) -> Self {
        let memory = bytes;
        Self { memory, ..self }
    }

    /// At most this time.
    #[must_use]
    pub fn time(self, time: Duration) -> Self {
        Self { time, ..self }
    }

    /// Until this is cancelled.
    #[must_use]
    pub fn cancelled_by(self, cancel: &Arc<AtomicBool>) -> Self {
        let cancel = Arc::clone(cancel);
        Self { cancel, ..self }
    }
}
