//! The locks, atomics and thread-locals of whatever runs: the standard library's, or, where the races
//! are tested, those of a scheduler that tries many orders of events.

#[cfg(all(feature = "redb", shuttle))]
pub(crate) use shuttle::sync::{Condvar, RwLock};
#[cfg(shuttle)]
pub(crate) use shuttle::{
    sync::atomic::{AtomicU8, Ordering},
    sync::{Mutex, MutexGuard, PoisonError, TryLockError},
    thread_local,
};
#[cfg(all(feature = "redb", not(shuttle)))]
pub(crate) use std::sync::{Condvar, RwLock};
#[cfg(not(shuttle))]
pub(crate) use std::{
    sync::atomic::{AtomicU8, Ordering},
    sync::{Mutex, MutexGuard, PoisonError, TryLockError},
    thread_local,
};
