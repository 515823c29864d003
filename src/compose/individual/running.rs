//! A running individual filter as a handle.

use std::fmt;
use std::sync::Arc;

use super::{IndividualError, IndividualMachine, IndividualQuery};
use crate::account::ValidIndividually;
use crate::data::Dataset;
use crate::machine::{Coins, Fault, Machine, SystemCoins};
use crate::queryable::{AskError, Child, IntoHandle, Queryable, sealed};
use crate::sync::{Mutex, PoisonError};

/// A running [`IndividualFilter`](super::IndividualFilter): what an analyst gets. Clones share it.
///
/// It answers queries for ever, and says nothing about accounts.
pub struct RunningIndividual<D: ?Sized, F>(Queryable<Job<D, F>, ()>);

/// What is done with the machine; the answer goes to the one who asked.
type Job<D, F> =
    Box<dyn FnOnce(&mut IndividualMachine<D, F>, &mut Coins<'_>) -> Result<(), Fault> + Send>;

/// Runs jobs on the machine, so that the handle has the guards and locks of every other handle.
struct Runner<D: ?Sized, F>(IndividualMachine<D, F>);

impl<D: ?Sized, F> Machine for Runner<D, F> {
    type Query = Job<D, F>;
    type Answer = ();

    fn step(&mut self, job: Job<D, F>, coins: &mut Coins<'_>) -> Result<(), Fault> {
        job(&mut self.0, coins)
    }
}

impl<D, F> RunningIndividual<D, F>
where
    D: Dataset + Send + Sync + ?Sized + 'static,
    F: ValidIndividually,
{
    /// Charges each record for its contribution, and answers from the contributions of those who
    /// paid.
    ///
    /// # Errors
    ///
    /// [`IndividualError`], for public reasons only: never because somebody, or everybody, cannot
    /// pay.
    pub fn release<Q>(&self, query: &Q) -> Result<Q::Answer, IndividualError>
    where
        Q: IndividualQuery<D, F, Answer: Send + 'static> + Clone + Send + 'static,
    {
        let query = query.clone();
        Ok(self.run(move |machine, coins| machine.answer(&query, coins))??)
    }

    pub(super) fn run<T: Send + 'static>(
        &self,
        code: impl FnOnce(&mut IndividualMachine<D, F>, &mut Coins<'_>) -> Result<T, Fault>
        + Send
        + 'static,
    ) -> Result<T, AskError> {
        let answer = Arc::new(Mutex::new(None));
        let place = Arc::clone(&answer);
        self.0.ask(Box::new(move |machine, coins| {
            let found = code(machine, coins)?;
            *place.lock().unwrap_or_else(PoisonError::into_inner) = Some(found);
            Ok(())
        }))?;
        let answer = answer.lock().unwrap_or_else(PoisonError::into_inner).take();
        answer.ok_or_else(|| Fault::Failed.into())
    }
}

impl<D: ?Sized, F> sealed::Sealed for IndividualMachine<D, F> {}

impl<D, F> IntoHandle for IndividualMachine<D, F>
where
    D: Send + Sync + ?Sized + 'static,
    F: ValidIndividually,
{
    type Handle = RunningIndividual<D, F>;

    fn into_handle(
        child: Child<Self>,
        coins: SystemCoins,
        _: sealed::Opening,
    ) -> Result<Self::Handle, Fault> {
        let child = child.map(Runner).ok_or(Fault::Failed)?;
        Ok(RunningIndividual(Queryable::new(child, coins)))
    }
}

impl<D: ?Sized, F> Clone for RunningIndividual<D, F> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<D: ?Sized, F> fmt::Debug for RunningIndividual<D, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RunningIndividual")
    }
}
