//! A machine that was launched by a compositor.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::AskError;
use super::leash::Leash;
use crate::machine::{Coins, Fault, Inspect, Machine, Mechanism, StateKey};

/// A launched machine: it stops answering when it has failed, or when an ancestor stops it.
///
/// A failure or a panic closes it and nothing else; what the analyst sees is an [`AskError`] that
/// says nothing about the data. The message of a panic goes to the process's panic hook, as
/// always: a process that shows its standard error to analysts should set a hook that is silent.
/// A process built with `panic = "abort"` ends at the first panic.
pub struct Child<S> {
    /// `None` once it has failed: what is left of it is dropped at once.
    machine: Option<S>,
    leash: Leash,
}

impl<S> Child<S> {
    /// Starts a mechanism on a leash.
    pub(crate) fn start<D: ?Sized, M: Mechanism<D, Machine = S> + ?Sized>(
        mechanism: &M,
        data: &Arc<D>,
        leash: Leash,
        coins: &mut Coins<'_>,
    ) -> Result<Self, Fault> {
        let held = leash.hold();
        let machine = guarded(|| mechanism.start(data, coins));
        drop(held);
        Ok(Self {
            machine: Some(machine?),
            leash,
        })
    }

    /// Starts a mechanism that no compositor launches: only its own failure stops it.
    pub(crate) fn root<D: ?Sized, M: Mechanism<D, Machine = S> + ?Sized>(
        mechanism: &M,
        data: &Arc<D>,
        coins: &mut Coins<'_>,
    ) -> Result<Self, Fault> {
        Self::start(mechanism, data, Leash::default(), coins)
    }

    /// The machine and its leash, for handles that check it themselves.
    pub(crate) fn into_parts(mut self) -> Option<(S, Leash)> {
        Some((self.machine.take()?, std::mem::take(&mut self.leash)))
    }

    fn close(&mut self) {
        discard(self.machine.take());
    }
}

impl<S: Machine> Child<S> {
    /// Asks one query.
    ///
    /// # Errors
    ///
    /// Those of the machine ([`Fault`]), and [`AskError::Closed`], [`AskError::Frozen`],
    /// [`AskError::Halted`].
    pub fn ask(&mut self, query: S::Query, coins: &mut Coins<'_>) -> Result<S::Answer, AskError> {
        self.leash.check()?;
        let machine = self.machine.as_mut().ok_or(AskError::Closed)?;
        let held = self.leash.hold();
        let answer = guarded(|| machine.step(query, coins));
        drop(held);
        if matches!(answer, Err(fault) if !fault.is_recoverable()) {
            self.close();
        }
        Ok(answer?)
    }
}

/// The machine's state, and whether an ancestor has stopped it. Who may stop it yet follows from
/// its place among its siblings.
impl<S: Inspect> Inspect for Child<S> {
    fn inspect(&self, key: &mut StateKey) {
        key.write(&self.leash.check());
        key.write(&self.machine.is_some());
        if let Some(machine) = &self.machine {
            key.write(machine);
        }
    }
}

impl<S> fmt::Debug for Child<S> {
    /// Nothing of what is inside.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Child")
    }
}

/// A machine that panics as it is dropped tells the analyst nothing either.
impl<S> Drop for Child<S> {
    fn drop(&mut self) {
        self.close();
    }
}

/// Runs code of a mechanism; a panic is a failure.
///
/// What unwinds may be half changed, and is dropped by the caller without another look.
pub(crate) fn guarded<T>(code: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
    catch_unwind(AssertUnwindSafe(code)).unwrap_or_else(|payload| {
        discard(payload);
        Err(Fault::Failed)
    })
}

/// Drops something of a mechanism's; should that panic, what it throws is not even looked at.
fn discard<T>(value: T) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
        std::mem::forget(payload);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::leash::Cut;
    use crate::machine::CoinSource;
    use crate::machine::NotPrivateSeededCoins;

    /// Does as it is told.
    struct Obedient;

    impl Machine for Obedient {
        type Query = Option<Fault>;
        type Answer = ();

        fn step(&mut self, query: Option<Fault>, _: &mut Coins<'_>) -> Result<(), Fault> {
            query.map_or(Ok(()), Err)
        }
    }

    fn on_leash(leash: Leash) -> Child<Obedient> {
        Child {
            machine: Some(Obedient),
            leash,
        }
    }

    fn ask(child: &mut Child<Obedient>, query: Option<Fault>) -> Result<(), AskError> {
        child.ask(query, &mut NotPrivateSeededCoins::new(0).coins())
    }

    #[test]
    fn what_it_rejects_does_not_close_it() {
        let mut child = on_leash(Leash::default());
        assert_eq!(
            ask(&mut child, Some(Fault::InvalidQuery("no"))),
            Err(AskError::InvalidQuery("no"))
        );
        assert_eq!(
            ask(&mut child, Some(Fault::Exhausted)),
            Err(AskError::Exhausted)
        );
        assert_eq!(ask(&mut child, None), Ok(()));
    }

    #[test]
    fn a_failure_closes_it() {
        for (fault, error) in [
            (Fault::Failed, AskError::Failed),
            (Fault::RoundLimit(7), AskError::RoundLimit(7)),
        ] {
            let mut child = on_leash(Leash::default());
            assert_eq!(ask(&mut child, Some(fault)), Err(error));
            assert_eq!(ask(&mut child, None), Err(AskError::Closed));
        }
    }

    #[test]
    fn a_cut_leash_is_seen_before_the_machine_is() {
        for (cut, error) in [
            (Cut::Frozen, AskError::Frozen),
            (Cut::Halted, AskError::Halted),
        ] {
            let (leash, knife) = Leash::default().extended();
            let mut child = on_leash(leash);
            knife.cut(cut);
            assert_eq!(ask(&mut child, Some(Fault::Failed)), Err(error));
            assert!(child.machine.is_some());
        }
    }
}
