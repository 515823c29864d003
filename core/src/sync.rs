//! The locks, atomics and thread-locals of whatever runs: the standard library's, or, where the races
//! are tested, those of a scheduler that tries many orders of events.

#[cfg(shuttle)]
pub use shuttle::sync::{Condvar, RwLock};
#[cfg(shuttle)]
pub use shuttle::{
    sync::atomic::{AtomicU8, Ordering},
    sync::{Mutex, MutexGuard, PoisonError, TryLockError},
    thread_local,
};
#[cfg(not(shuttle))]
pub use std::sync::{Condvar, RwLock};
#[cfg(not(shuttle))]
pub use std::{
    sync::atomic::{AtomicU8, Ordering},
    sync::{Mutex, MutexGuard, PoisonError, TryLockError},
    thread_local,
};
