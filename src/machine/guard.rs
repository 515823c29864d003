//! Running code of others such that a panic in it tells nobody anything.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};

use super::Fault;

thread_local! {
    /// How many guards this thread is inside of.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// Runs code of others; a panic is [`Fault::Failed`], and what was thrown is dropped unseen.
///
/// What unwinds may be half changed: drop it without another look.
///
/// The message of a panic goes to the process's panic hook, as always, unless that was told to be
/// [silent](silence_guarded_panics). A process built with `panic = "abort"` ends at the first panic.
///
/// ```
/// use queryables::machine::{Fault, guarded};
///
/// assert_eq!(guarded(|| Ok(7)), Ok(7));
/// # std::panic::set_hook(Box::new(|_| ()));
/// assert_eq!(guarded(|| -> Result<(), Fault> { panic!("a secret") }), Err(Fault::Failed));
/// ```
///
/// # Errors
///
/// Those of the code, and [`Fault::Failed`] where it panics.
#[inline]
pub fn guarded<T>(code: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
    caught(code).unwrap_or(Err(Fault::Failed))
}

/// Runs code of others; `None` if it panics. Every guard of this crate is this one.
#[inline]
pub(crate) fn caught<T>(code: impl FnOnce() -> T) -> Option<T> {
    DEPTH.set(DEPTH.get().wrapping_add(1));
    // It does not unwind from here: the depth is always restored.
    let result = catch_unwind(AssertUnwindSafe(code));
    let result = result.map_err(discard).ok();
    DEPTH.set(DEPTH.get().wrapping_sub(1));
    result
}

/// Drops something that others made. Should that panic, what it throws is not even dropped: it
/// might panic in its turn.
///
/// ```
/// use queryables::machine::discard;
///
/// struct Bomb;
/// impl Drop for Bomb {
///     fn drop(&mut self) {
///         std::panic::panic_any(Bomb);
///     }
/// }
/// # std::panic::set_hook(Box::new(|_| ()));
/// discard(Bomb);
/// ```
pub fn discard<T>(value: T) {
    DEPTH.set(DEPTH.get().wrapping_add(1));
    if let Err(thrown) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
        std::mem::forget(thrown);
    }
    DEPTH.set(DEPTH.get().wrapping_sub(1));
}

/// Lets the process's panic hook say nothing about panics in code that this crate guards:
/// mechanisms, middles, and whatever is asked about a record. All other panics go to the hook that
/// was there before.
///
/// A panic is caught by this crate and tells an analyst nothing, but its message still goes to the
/// panic hook, and so to standard error: a predicate that panics on 1187 rows writes 1187 messages,
/// with whatever it puts into them. Whoever holds the data calls this once, at the start, if
/// analysts can see that output. It also makes such panics faster.
///
/// ```
/// use queryables::machine::{Fault, guarded, silence_guarded_panics};
///
/// silence_guarded_panics();
/// assert_eq!(guarded(|| -> Result<(), Fault> { panic!("not printed") }), Err(Fault::Failed));
/// ```
///
/// Whether code is guarded is known for each thread: if guarded code starts a thread of its own,
/// panics there are not silenced. A hook that is set later replaces this one.
///
/// # Panics
///
/// If called from a thread that is panicking, as [`std::panic::set_hook`] does.
pub fn silence_guarded_panics() {
    let previous = take_hook();
    set_hook(Box::new(move |info| {
        if DEPTH.get() == 0 {
            previous(info);
        }
    }));
}
