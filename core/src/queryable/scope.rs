//! Running a framework's own code on behalf of a child.

use std::fmt;
use std::sync::Arc;

use crate::machine::{Coins, CurrentToken, Fault, Stop, StopToken, Withheld, guarded};
use crate::sync::{Mutex, PoisonError};

/// Runs a framework's code on behalf of a child, and says whether it is still running.
///
/// A machine that hands a query over to another framework cannot see what that framework creates
/// meanwhile. Run the framework's code in a scope:
///
/// - Whatever the framework creates inside calls [`check`](Self::check) before it answers. The
///   check passes while the code runs, unless the child is stopped meanwhile; afterwards it fails.
///   Clones are the same scope.
/// - What is launched inside with [`start_under`](super::start_under) and
///   [`in_force`](Self::in_force) is stopped when the code has ended, and with the child.
/// - A panic ends at the scope; an error becomes a [`Fault`].
///
/// ```
/// use queryables::machine::{CoinSource, Fault, NotPrivateSeededCoins, Stop};
/// use queryables::queryable::Scope;
///
/// let scope = Scope::default();
/// assert_eq!(scope.check(), Err(Stop::Frozen));
/// let answer = scope.run(&NotPrivateSeededCoins::new(7).coins(), || {
///     // Here the code of the framework is called; its closures get no coins.
///     assert_eq!(Scope::in_force().check(), Ok(()));
///     scope.check()?;
///     Ok::<u8, Fault>(42)
/// });
/// assert_eq!(answer, Ok(42));
/// assert_eq!(scope.check(), Err(Stop::Frozen));
/// ```
#[derive(Clone, Default)]
pub struct Scope {
    /// The token of the code that runs; none while nothing does.
    running: Arc<Mutex<Option<StopToken>>>,
}

impl Scope {
    /// Runs code on behalf of the machine that these coins belong to.
    ///
    /// # Errors
    ///
    /// Those of the code; [`Fault::Failed`] if it panics, or if the thread is ending and its
    /// thread-local variables are gone; [`Fault::Stopped`] if the child is stopped, or was while the
    /// code ran.
    pub fn run<T, S: ?Sized>(
        &self,
        coins: &Coins<'_, S>,
        code: impl FnOnce() -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        coins.check()?;
        let (token, stopper) = coins.token().extended();
        let in_force = CurrentToken::begin(token.clone()).ok_or(Fault::Failed)?;
        let before = self.replace(Some(token));
        let result = guarded(code);
        self.replace(before);
        drop(in_force);
        stopper.stop(Stop::Frozen);
        coins.settled(result).map_err(Withheld::inside)
    }

    /// Whether the code of this scope runs, and may go on.
    ///
    /// # Errors
    ///
    /// Why not: [`Stop::Frozen`] if it has ended, or has not begun.
    pub fn check(&self) -> Result<(), Stop> {
        let running = self.running.lock();
        match &*running.unwrap_or_else(PoisonError::into_inner) {
            Some(token) => token.check(),
            None => Err(Stop::Frozen),
        }
    }

    /// The token of the innermost scope that runs on this thread; outside any scope, a token that
    /// is never stopped.
    #[must_use]
    pub fn in_force() -> StopToken {
        CurrentToken::now()
    }

    fn replace(&self, token: Option<StopToken>) -> Option<StopToken> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut running, token)
    }
}

impl fmt::Debug for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Scope").field(&self.check()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{CoinSource, NotPrivateSeededCoins};

    #[test]
    fn a_scope_is_open_while_its_code_runs_and_the_child_is_not_stopped() {
        let (token, stopper) = StopToken::default().extended();
        let scope = Scope::default();
        let mut source = NotPrivateSeededCoins::new(1);
        let coins: &mut Coins<'_> = &mut source.coins();
        coins.under(&token, |coins| {
            let made = scope.run(coins, || {
                let made = Scope::in_force();
                assert_eq!((scope.check(), made.check()), (Ok(()), Ok(())));
                Ok(made)
            });
            // The end of the code stops what was made inside.
            assert_eq!(made.unwrap().check(), Err(Stop::Frozen));
            assert_eq!(scope.check(), Err(Stop::Frozen));
            let stopped = scope.run(coins, || {
                stopper.stop(Stop::Halted);
                assert_eq!(Scope::in_force().check(), Err(Stop::Halted));
                assert_eq!(scope.check(), Err(Stop::Halted));
                Ok(())
            });
            assert_eq!(stopped, Err(Fault::Stopped(Stop::Halted)));
            let again = scope.run(coins, || Ok(()));
            assert_eq!(again, Err(Fault::Stopped(Stop::Halted)));
        });
        assert_eq!(Scope::in_force().check(), Ok(()));
    }

    #[test]
    fn a_panic_ends_at_the_scope_and_scopes_nest() {
        let (outer, inner) = (Scope::default(), Scope::default());
        let mut source = NotPrivateSeededCoins::new(1);
        let coins = source.coins();
        let result = outer.run(&coins, || {
            let failed = inner.run(&coins, || -> Result<(), Fault> { panic!("on purpose") });
            assert_eq!(failed, Err(Fault::Failed));
            assert_eq!(inner.check(), Err(Stop::Frozen));
            // Entered again from inside, it is the same scope before and after.
            assert_eq!(outer.run(&coins, || Ok(outer.check())), Ok(Ok(())));
            outer.check()?;
            Scope::in_force().check()?;
            Ok(7)
        });
        assert_eq!(result, Ok(7));
    }
}
