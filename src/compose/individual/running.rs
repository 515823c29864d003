//! A running individual filter as a handle.

use super::{IndividualError, IndividualMachine, IndividualQuery};
use crate::account::ValidIndividually;
use crate::data::Dataset;
use crate::machine::{Coins, Fault};
use crate::queryable::{AskError, IntoHandle, Opening, Sealed, SharedMachine};

/// A running [`IndividualFilter`](super::IndividualFilter): what an analyst gets. Clones share it.
///
/// It answers queries for ever, and says nothing about accounts.
pub struct RunningIndividualFilter<D: ?Sized, F>(SharedMachine<IndividualMachine<D, F>>);

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
        Q: IndividualQuery<D, F>,
    {
        Ok(self.run(|machine, coins| machine.answer(query, coins))??)
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
        Q: IndividualQuery<D, F>,
    {
        Ok(self.run(|machine, coins| machine.replay(query, coins))??)
    }

    pub(super) fn run<T>(
        &self,
        code: impl FnOnce(&mut IndividualMachine<D, F>, &mut Coins<'_>) -> Result<T, Fault>,
    ) -> Result<T, AskError> {
        self.0.run(code)
    }
}

impl<D: ?Sized, F> Sealed for IndividualMachine<D, F> {}

impl<D, F> IntoHandle for IndividualMachine<D, F>
where
    D: Send + Sync + ?Sized + 'static,
    F: ValidIndividually,
{
    type Handle = RunningIndividualFilter<D, F>;

    fn into_handle(opening: Opening<Self>) -> Result<Self::Handle, Fault> {
        Ok(RunningIndividualFilter(opening.shared()))
    }
}

crate::clone_fields!([D: ?Sized, F] RunningIndividualFilter<D, F> { 0 });

crate::debug_fields!([D: ?Sized, F] RunningIndividualFilter<D, F>, "RunningIndividualFilter");
