//! On whose behalf a thread works, so that other threads can work for the same one.

use std::cell::{Cell, RefCell};

use super::{Stop, StopToken};
use crate::sync::thread_local;

thread_local! {
    /// Whether this thread is inside the answer of a handle.
    static ANSWERING: Cell<bool> = const { Cell::new(false) };
}

std::thread_local! {
    /// The token of the scope that runs on this thread.
    static IN_FORCE: RefCell<StopToken> = RefCell::default();
}

/// Marks that this thread is inside an answer, until dropped.
pub(crate) struct Answering {
    /// Whether it was inside another one before.
    pub(crate) outer: bool,
}

impl Answering {
    #[cfg(test)]
    pub(crate) fn now() -> bool {
        ANSWERING.with(Cell::get)
    }

    #[inline]
    pub(crate) fn begin() -> Self {
        Self::set(true)
    }

    #[inline]
    fn set(now: bool) -> Self {
        Self {
            outer: ANSWERING.with(|answering| answering.replace(now)),
        }
    }
}

impl Drop for Answering {
    #[inline]
    fn drop(&mut self) {
        ANSWERING.with(|answering| answering.set(self.outer));
    }
}

/// Puts a token in force on this thread, until dropped.
pub(crate) struct CurrentToken {
    outer: Option<StopToken>,
}

impl CurrentToken {
    /// `None` if the thread is ending and its variables are gone.
    pub(crate) fn begin(token: StopToken) -> Option<Self> {
        let outer = IN_FORCE.try_with(|in_force| in_force.replace(token)).ok();
        outer.map(|outer| Self { outer: Some(outer) })
    }

    /// The token that is in force; by default one that is never stopped.
    pub(crate) fn now() -> StopToken {
        let in_force = IN_FORCE.try_with(|in_force| in_force.borrow().clone());
        in_force.unwrap_or_else(|_| {
            let (token, stopper) = StopToken::default().extended();
            stopper.stop(Stop::Frozen);
            token
        })
    }
}

impl Drop for CurrentToken {
    fn drop(&mut self) {
        if let Some(outer) = self.outer.take() {
            // This cannot fail: the variable existed before, and this thread has not ended since.
            let _ = IN_FORCE.try_with(|in_force| in_force.replace(outer));
        }
    }
}

/// What the current thread is in the middle of, for threads that help it.
///
/// Third-party code on such a thread then sees what it would see here: a handle that is busy
/// refuses instead of waiting for the answer that waits for this very code, and what is launched is
/// stopped with the scope.
#[derive(Debug)]
pub struct ThreadContext {
    answering: bool,
    in_force: StopToken,
}

impl ThreadContext {
    /// That of this thread.
    pub fn current() -> Self {
        Self {
            answering: ANSWERING.with(Cell::get),
            in_force: CurrentToken::now(),
        }
    }

    /// Runs code on this thread, on behalf of the other one.
    pub fn run<T>(&self, code: impl FnOnce() -> T) -> T {
        let _answering = Answering::set(self.answering);
        let _in_force = CurrentToken::begin(self.in_force.clone());
        code()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::thread;

    #[test]
    fn a_helping_thread_is_in_the_middle_of_the_same_until_it_is_done() {
        let (token, stopper) = StopToken::default().extended();
        let _in_force = CurrentToken::begin(token);
        let _answering = Answering::begin();
        let errand = ThreadContext::current();
        stopper.stop(Stop::Halted);
        let helper = || {
            let before = || (Answering::now(), CurrentToken::now().check());
            assert_eq!(before(), (false, Ok(())));
            let inside = errand.run(before);
            assert_eq!(inside, (true, Err(Stop::Halted)));
            assert_eq!(before(), (false, Ok(())));
            let panics = || errand.run(|| -> () { panic!("on purpose") });
            let payload = catch_unwind(AssertUnwindSafe(panics)).unwrap_err();
            assert_eq!(payload.downcast_ref(), Some(&"on purpose"));
            assert_eq!(before(), (false, Ok(())));
        };
        thread::scope(|scope| scope.spawn(helper).join().unwrap());
        assert!(Answering::now());
    }
}
