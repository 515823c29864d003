//! Running third-party code such that a panic in it reveals nothing.

use std::cell::Cell;
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};

use super::Fault;

thread_local! {
    /// The number of guards that this thread is inside of.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

// By `with`, which is compiled in place; `set` is a call.
#[inline]
fn enter() {
    DEPTH.with(|depth| depth.set(depth.get().wrapping_add(1)));
}

#[inline]
fn leave() {
    DEPTH.with(|depth| depth.set(depth.get().wrapping_sub(1)));
}

/// Runs third-party code. A panic becomes [`Fault::Failed`], and its payload is dropped unread.
///
/// State that the code has unwound through may be half changed: drop it, and do not read it again.
///
/// The message of a panic goes to the process's panic hook, as usual, unless
/// [`silence_guarded_panics`] was called. A process built with `panic = "abort"` ends at the first
/// panic.
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

/// Runs third-party code; `None` if it panics. All guards of this crate go through here.
#[inline]
pub fn caught<T>(code: impl FnOnce() -> T) -> Option<T> {
    enter();
    // It does not unwind from here: the depth is always restored.
    let result = catch_unwind(AssertUnwindSafe(code));
    let result = result.map_err(discard).ok();
    leave();
    result
}

/// Drops a third-party value. If that panics, the payload is leaked, because dropping it might
/// panic too.
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
    enter();
    if let Err(thrown) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
        std::mem::forget(thrown);
    }
    leave();
}

/// A third-party value that is [discarded](discard) at its end.
#[derive(Clone)]
pub struct Quiet<T>(Option<T>);

impl<T> Quiet<T> {
    /// This value.
    pub fn new(value: T) -> Self {
        Self(Some(value))
    }
}

impl<T> Deref for Quiet<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        match &self.0 {
            Some(value) => value,
            None => unreachable!("only its end takes it"),
        }
    }
}

impl<T> Drop for Quiet<T> {
    fn drop(&mut self) {
        discard(self.0.take());
    }
}

// Shows nothing of the contents.
crate::debug_fields!([T] Quiet<T>, "Quiet");

/// Installs a panic hook that ignores panics in code that this crate guards: mechanisms, middles,
/// and closures that read a record. All other panics go to the hook that was there before.
///
/// A panic is caught by this crate and tells an analyst nothing, but its message still goes to the
/// panic hook, and so to standard error: a predicate that panics on 1187 rows writes 1187 messages,
/// with whatever it puts into them. The data holder calls this once, at the start, if analysts can
/// see that output. It also makes such panics faster.
///
/// ```
/// use queryables::machine::{Fault, guarded, silence_guarded_panics};
///
/// silence_guarded_panics();
/// assert_eq!(guarded(|| -> Result<(), Fault> { panic!("not printed") }), Err(Fault::Failed));
/// ```
///
/// Guards are tracked per thread: if guarded code starts a thread of its own, panics there are not
/// silenced. A hook that is set later replaces this one.
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
