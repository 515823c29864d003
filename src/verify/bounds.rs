//! What an exploration may take.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

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
    /// [`VerifyError::Cancelled`](super::VerifyError::Cancelled).
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// What an exploration may take, for [`views_within`](super::views_within). A
/// [`Verifier`](super::Verifier) has the same, and says what they mean.
#[derive(Clone, Debug)]
pub struct Limits {
    pub(super) limit: u64,
    pub(super) memory: u64,
    pub(super) time: Duration,
    pub(super) cancel: Cancel,
}

/// Two million runs of the machine, 1 GB and 60 seconds.
impl Default for Limits {
    fn default() -> Self {
        Self {
            limit: 2_000_000,
            memory: 1_000_000_000,
            time: Duration::from_secs(60),
            cancel: Cancel::default(),
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
    pub fn cancelled_by(self, cancel: &Cancel) -> Self {
        let cancel = cancel.clone();
        Self { cancel, ..self }
    }
}
