//! Writes that share a sync.

use super::StoreError;
use crate::machine::guarded;
use crate::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// A queue of writes (group commit). The first thread that waits writes everything that is queued,
/// in order and with one sync, and the others wait for it; meanwhile the next writes queue up.
pub(crate) struct GroupCommit<T> {
    state: Mutex<State<T>>,
    done: Condvar,
}

struct State<T> {
    queue: Vec<T>,
    /// How many were queued so far, and how many of those are synced.
    queued: u64,
    durable: u64,
    /// Whether a thread is writing.
    writing: bool,
    /// A write has failed: nothing after it is written before it is, so that no entry is missing in
    /// between. It is the first in the queue.
    broken: Option<StoreError>,
}

impl<T> GroupCommit<T> {
    pub(crate) fn new() -> Self {
        Self {
            state: Mutex::new(State {
                queue: Vec::new(),
                queued: 0,
                durable: 0,
                writing: false,
                broken: None,
            }),
            done: Condvar::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues a write, and says up to where to wait for it.
    pub(crate) fn queue(&self, write: T) -> Result<u64, StoreError> {
        let mut state = self.state();
        if let Some(error) = &state.broken {
            return Err(error.clone());
        }
        state.queue.push(write);
        state.queued += 1;
        Ok(state.queued)
    }

    /// Up to where everything that is queued by now reaches.
    pub(crate) fn queued(&self) -> u64 {
        self.state().queued
    }

    /// Why the last write failed, if it did.
    pub(crate) fn broken(&self) -> Option<StoreError> {
        self.state().broken.clone()
    }

    /// Lets the next who waits try to write again.
    pub(crate) fn resume(&self) {
        self.state().broken = None;
    }

    /// Waits until everything up to there survives. `write` writes a batch with one sync.
    pub(crate) fn wait(
        &self,
        mark: u64,
        write: impl Fn(&[T]) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut state = self.state();
        loop {
            if state.durable >= mark {
                return Ok(());
            }
            if let Some(error) = &state.broken {
                return Err(error.clone());
            }
            if state.writing {
                let woken = self.done.wait(state);
                state = woken.unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            state.writing = true;
            let mut batch = std::mem::take(&mut state.queue);
            let reaches = state.queued;
            drop(state);
            // A panic in there must not leave the others waiting.
            let written = guarded(|| Ok(write(&batch))).unwrap_or_else(|_| Err(failed()));
            state = self.state();
            state.writing = false;
            match written {
                Ok(()) => state.durable = reaches,
                Err(error) => {
                    batch.append(&mut state.queue);
                    state.queue = batch;
                    state.broken = Some(error);
                }
            }
            self.done.notify_all();
        }
    }
}

fn failed() -> StoreError {
    StoreError::Damaged {
        what: "the file".to_owned(),
    }
}

crate::debug_fields!([T] GroupCommit<T>, "GroupCommit");
