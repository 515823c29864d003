//! A machine that was launched, and the token that stops it.

use std::sync::Arc;

use super::AskError;
use crate::machine::{
    Coins, Fault, Inspect, MOST_OUTAGES, Machine, Mechanism, Outages, StateKey, StopToken,
    Withheld, discard,
};

/// A launched machine: it stops answering when it has failed, or when an ancestor stops it.
///
/// This is the form for authors of machines, who embed it and step it with their own coins; an
/// analyst gets a handle instead. A failure or a panic closes it and nothing else; the caller sees
/// an [`AskError`] that says nothing about the data.
///
/// [`CompositorMachine`](crate::compose::CompositorMachine) has an example.
pub struct Child<S> {
    /// `None` once it has failed or was closed: what is left of it is dropped at once.
    machine: Option<S>,
    token: StopToken,
    outages: Outages,
}

impl<S> Child<S> {
    /// Starts a mechanism that `token` can stop, in the context of the code that starts it.
    #[inline]
    pub(crate) fn start<D: ?Sized, M: Mechanism<D, Machine = S> + ?Sized>(
        mechanism: &M,
        data: &Arc<D>,
        token: StopToken,
        coins: &mut Coins<'_>,
    ) -> Result<Self, Fault> {
        let machine = Self::run(mechanism, data, &token, coins)?;
        Ok(Self {
            machine: Some(machine),
            token,
            outages: Outages::default(),
        })
    }

    /// The start itself: a check, the mechanism's code, and a check of whether what it has made may
    /// be given out. If the data could not be reached, nothing was, and it is tried again.
    #[inline]
    pub(crate) fn run<D: ?Sized, M: Mechanism<D, Machine = S> + ?Sized>(
        mechanism: &M,
        data: &Arc<D>,
        token: &StopToken,
        coins: &mut Coins<'_>,
    ) -> Result<S, Fault> {
        coins.run_under(token, |coins| match mechanism.start(data, coins) {
            Err(Fault::Unavailable) => Self::start_again(mechanism, data, coins),
            started => started,
        })
    }

    #[cold]
    fn start_again<D: ?Sized, M: Mechanism<D, Machine = S> + ?Sized>(
        mechanism: &M,
        data: &Arc<D>,
        coins: &mut Coins<'_>,
    ) -> Result<S, Fault> {
        for _ in 1..MOST_OUTAGES {
            coins.check()?;
            match mechanism.start(data, coins) {
                Err(Fault::Unavailable) => {}
                started => return started,
            }
        }
        Err(Fault::Unavailable)
    }

    /// The machine and its token, for handles that check it themselves.
    pub(crate) fn into_parts(mut self) -> Option<(S, StopToken)> {
        Some((self.machine.take()?, std::mem::take(&mut self.token)))
    }

    /// Closes it: the machine is dropped, and is not asked again.
    pub fn close(&mut self) {
        discard(self.machine.take());
    }
}

impl<S: Machine> Child<S> {
    /// Asks one query, in the context of the code that asks, extended by the child's own token.
    ///
    /// If one of these tokens is stopped while the machine answers, by the machine's own code or on
    /// another thread, there is no answer.
    ///
    /// # Errors
    ///
    /// Those of the machine, [`AskError::Closed`] and [`AskError::Stopped`].
    #[inline]
    pub fn ask(&mut self, query: S::Query, coins: &mut Coins<'_>) -> Result<S::Answer, AskError> {
        self.run_on(coins, |machine, coins| machine.step(query, coins))
    }
}

impl<S> Child<S> {
    /// Runs code on the machine, as a question to it is run.
    #[inline]
    pub(super) fn run_on<T>(
        &mut self,
        coins: &mut Coins<'_>,
        code: impl FnOnce(&mut S, &mut Coins<'_>) -> Result<T, Fault>,
    ) -> Result<T, AskError> {
        let Some(machine) = &mut self.machine else {
            coins.under(&self.token, |coins| coins.check())?;
            return Err(AskError::Closed);
        };
        let answer = coins.run_under(&self.token, |coins| code(machine, coins));
        answer.map_err(|withheld| self.unanswered(withheld))
    }

    #[cold]
    fn unanswered(&mut self, withheld: Withheld) -> AskError {
        // Also where a stop hides the failure: it may only be the caller who was stopped.
        if withheld.is_final(&mut self.outages) {
            self.close();
        }
        withheld.told.into()
    }
}

/// The machine's state, and whether an ancestor has stopped it. Which ancestors may still stop it
/// follows from its place among its siblings.
impl<S: Inspect> Inspect for Child<S> {
    fn inspect(&self, key: &mut StateKey) {
        key.write(&(self.token.check(), self.outages));
        key.write(&self.machine.is_some());
        if let Some(machine) = &self.machine {
            key.write(machine);
        }
    }
}

// Shows nothing of the contents.
crate::debug_fields!([S] Child<S>, "Child");

/// A panic while the machine is dropped reveals nothing either.
impl<S> Drop for Child<S> {
    fn drop(&mut self) {
        self.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{CoinSource, NotPrivateSeededCoins, Stop, Stopper};
    use crate::prelude::*;

    /// Returns the requested fault.
    struct Obedient;

    impl Machine for Obedient {
        type Query = Option<Fault>;
        type Answer = ();

        fn step(&mut self, query: Option<Fault>, _: &mut Coins<'_>) -> Result<(), Fault> {
            query.map_or(Ok(()), Err)
        }
    }

    /// Stops whatever the stopper stops, and then answers or returns the requested fault. The answer
    /// panics when it is dropped.
    struct Stopping(Stopper);

    #[derive(Debug, PartialEq)]
    struct Bomb;

    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("on purpose");
        }
    }

    impl Machine for Stopping {
        type Query = Option<Fault>;
        type Answer = Bomb;

        fn step(&mut self, query: Option<Fault>, _: &mut Coins<'_>) -> Result<Bomb, Fault> {
            self.0.stop(Stop::Halted);
            match query {
                Some(fault) => Err(fault),
                None => Ok(Bomb),
            }
        }
    }

    /// A machine that stops its own child, and one that stops whoever asks it.
    #[test]
    fn what_is_stopped_meanwhile_is_withheld_and_what_has_failed_is_closed() {
        let faults = [Fault::InvalidQuery("no"), Fault::Exhausted];
        let failures = [Fault::Failed, Fault::RoundLimit(7)];
        let queries = faults.into_iter().chain(failures).map(Some);
        for query in queries.chain([None]) {
            for of_the_asker in [false, true] {
                let (token, stopper) = StopToken::default().extended();
                let [asker, own] = match of_the_asker {
                    true => [token, StopToken::default()],
                    false => [StopToken::default(), token],
                };
                let mut child = Child {
                    machine: Some(Stopping(stopper)),
                    token: own,
                    outages: Outages::default(),
                };
                let mut source = NotPrivateSeededCoins::new(0);
                let coins: &mut Coins<'_> = &mut source.coins();
                let asked = coins.under(&asker, |coins| child.ask(query, coins));
                assert_eq!(asked, Err(AskError::Stopped(Stop::Halted)));
                let failed = query.is_some_and(|fault| failures.contains(&fault));
                assert_eq!(child.machine.is_none(), failed);
            }
        }
    }

    impl Mechanism<()> for Obedient {
        type Machine = Self;

        fn start(&self, _: &Arc<()>, _: &mut Coins<'_>) -> Result<Self, Fault> {
            Ok(Self)
        }
    }

    fn start(token: StopToken) -> Result<Child<Obedient>, Fault> {
        let mut source = NotPrivateSeededCoins::new(0);
        Child::start(&Obedient, &Arc::new(()), token, &mut source.coins())
    }

    fn ask(child: &mut Child<Obedient>, query: Option<Fault>) -> Result<(), AskError> {
        child.ask(query, &mut NotPrivateSeededCoins::new(0).coins())
    }

    #[test]
    fn what_it_rejects_does_not_close_it() {
        let mut child = start(StopToken::default()).unwrap();
        for fault in [Fault::InvalidQuery("no"), Fault::Exhausted] {
            assert_eq!(ask(&mut child, Some(fault)), Err(AskError::Fault(fault)));
        }
        assert_eq!(
            ask(&mut child, Some(Fault::Stopped(Stop::Frozen))),
            Err(AskError::Stopped(Stop::Frozen))
        );
        assert_eq!(ask(&mut child, None), Ok(()));
    }

    #[test]
    fn a_failure_closes_it() {
        for fault in [Fault::Failed, Fault::RoundLimit(7)] {
            let mut child = start(StopToken::default()).unwrap();
            assert_eq!(ask(&mut child, Some(fault)), Err(AskError::Fault(fault)));
            assert_eq!(ask(&mut child, None), Err(AskError::Closed));
        }
    }

    #[test]
    fn the_last_outage_closes_it_whatever_was_answered_between() {
        let mut child = start(StopToken::default()).unwrap();
        let unavailable = Err(AskError::Fault(Fault::Unavailable));
        for _ in 0..MOST_OUTAGES {
            assert_eq!(ask(&mut child, None), Ok(()));
            assert_eq!(ask(&mut child, Some(Fault::Unavailable)), unavailable);
        }
        assert_eq!(ask(&mut child, None), Err(AskError::Closed));
    }

    /// Finds its data unavailable this number of times, and then starts.
    struct Late(std::cell::Cell<u8>);

    impl Mechanism<()> for Late {
        type Machine = Obedient;

        fn start(&self, _: &Arc<()>, _: &mut Coins<'_>) -> Result<Obedient, Fault> {
            let left = self.0.get().checked_sub(1).ok_or(());
            left.map_or(Ok(Obedient), |left| {
                self.0.set(left);
                Err(Fault::Unavailable)
            })
        }
    }

    #[test]
    fn a_start_is_tried_a_few_times_and_no_more() {
        for outages in 0..MOST_OUTAGES + 3 {
            let late = Late(outages.into());
            let coins = &mut NotPrivateSeededCoins::new(0);
            let started = Child::start(
                &late,
                &Arc::new(()),
                StopToken::default(),
                &mut coins.coins(),
            );
            assert_eq!(started.is_ok(), outages < MOST_OUTAGES);
            assert_eq!(late.0.get(), outages.saturating_sub(MOST_OUTAGES));
            let fault = started.map(|_| Fault::Failed).unwrap_or_else(|fault| fault);
            assert!(outages < MOST_OUTAGES || fault == Fault::Unavailable);
        }
    }

    #[test]
    fn a_stop_is_seen_before_the_machine_is() {
        for stop in [Stop::Frozen, Stop::Halted] {
            let (token, stopper) = StopToken::default().extended();
            let mut child = start(token.clone()).unwrap();
            stopper.stop(stop);
            assert_eq!(
                ask(&mut child, Some(Fault::Failed)),
                Err(AskError::Stopped(stop))
            );
            assert!(child.machine.is_some());
            assert_eq!(start(token).unwrap_err(), Fault::Stopped(stop));
        }
    }

    #[test]
    fn a_stopped_caller_gets_no_answer() {
        let (token, stopper) = StopToken::default().extended();
        let mut child = start(StopToken::default()).unwrap();
        stopper.stop(Stop::Halted);
        let mut source = NotPrivateSeededCoins::new(0);
        let coins: &mut Coins<'_> = &mut source.coins();
        assert_eq!(
            coins.under(&token, |coins| child.ask(None, coins)),
            Err(AskError::Stopped(Stop::Halted))
        );
        assert_eq!(child.ask(None, coins), Ok(()));
    }
}
