//! A running individual filter as a handle.

use std::fmt;
use std::sync::Arc;

use super::{IndividualError, IndividualMachine, IndividualQuery};
use crate::account::ValidIndividually;
use crate::data::Dataset;
use crate::machine::{Coins, Fault, Machine, SystemCoins};
use crate::queryable::{AskError, Child, IntoHandle, Opening, Queryable, Sealed, Wrapped};
use crate::sync::{Mutex, PoisonError};

/// A running [`IndividualFilter`](super::IndividualFilter): what an analyst gets. Clones share it.
///
/// It answers queries for ever, and says nothing about accounts.
pub struct RunningIndividualFilter<D: ?Sized, F>(Queryable<Job<D, F>, ()>);

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

impl<D, F> RunningIndividualFilter<D, F>
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

    /// Charges each record for a query that was released before a restart, and answers nothing. An
    /// individual filter that was started anew on the same data, and is given every query of its
    /// public transcript in the same order, stands where the old one stood.
    ///
    /// What a record pays is a function of the record and of the queries so far, so nothing else has
    /// to be stored. Write each query down before it is released: one that is missing in the
    /// transcript would not be charged. One that was written down and never ran is charged, which is
    /// safe.
    ///
    /// In a ledger, the launch of an individual filter is one entry, with the filter's parameters, and
    /// its budget is charged once. Queries to it are not launches: the ledger has none of them, and
    /// whoever runs it keeps the transcript. After a restart, start it by
    /// [`start_individual`](super::start_individual) and not through the ledger, whose charge stands:
    /// a second launch there would be charged again, and be another filter. Bring it back once, and
    /// only after the old one has ended: two that go on from the same transcript spend twice what was
    /// charged.
    ///
    /// ```
    /// use queryables::compose::{IndividualFilter, start_individual};
    /// use queryables::data::Predicate;
    /// use queryables::mechanisms::Count;
    /// use queryables::prelude::*;
    /// use std::sync::Arc;
    ///
    /// let (ages, filter) = (Arc::new(vec![17_u32, 70]), IndividualFilter::new(PureDp, "1".parse()?));
    /// let adults = Predicate::new("at least 18", |age: &u32| *age >= 18);
    /// let transcript = [Count::of(adults).laplace(epsilon!(0.3))?];
    /// // After a restart.
    /// let (again, readings) = start_individual(&filter, ages)?;
    /// for query in &transcript {
    ///     again.replay(query)?;
    /// }
    /// assert_eq!(readings.loss(1)?, Some("0.3".parse()?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`release`](Self::release).
    pub fn replay<Q>(&self, query: &Q) -> Result<(), IndividualError>
    where
        Q: IndividualQuery<D, F> + Clone + Send + 'static,
    {
        let query = query.clone();
        Ok(self.run(move |machine, coins| machine.replay(&query, coins))??)
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

impl<D: ?Sized, F> Sealed for IndividualMachine<D, F> {}

impl<D, F> IntoHandle for IndividualMachine<D, F>
where
    D: Send + Sync + ?Sized + 'static,
    F: ValidIndividually,
{
    type Handle = RunningIndividualFilter<D, F>;

    fn into_handle(
        child: Child<Self>,
        coins: SystemCoins,
        opening: Opening,
    ) -> Result<Self::Handle, Fault> {
        let child = child.map(Runner).ok_or(Fault::Failed)?;
        Runner::into_handle(child, coins, opening).map(RunningIndividualFilter)
    }
}

impl<D: ?Sized, F> Clone for RunningIndividualFilter<D, F> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<D: ?Sized, F> fmt::Debug for RunningIndividualFilter<D, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RunningIndividualFilter")
    }
}
