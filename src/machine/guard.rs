//! Running code of others such that a panic in it tells nobody anything.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::Fault;

/// Runs code of others; a panic is [`Fault::Failed`], and what was thrown is dropped unseen.
///
/// What unwinds may be half changed: drop it without another look.
///
/// The message of a panic goes to the process's panic hook, as always: a process that shows its
/// standard error to analysts should set a hook that is silent. A process built with
/// `panic = "abort"` ends at the first panic.
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
pub fn guarded<T>(code: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
    catch_unwind(AssertUnwindSafe(code)).unwrap_or_else(|thrown| {
        discard(thrown);
        Err(Fault::Failed)
    })
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
    if let Err(thrown) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
        std::mem::forget(thrown);
    }
}
