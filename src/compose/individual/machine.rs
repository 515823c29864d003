//! A running individual filter as a machine.

use std::ops::Range;
use std::sync::Arc;

use thiserror::Error;

use super::accounts::Accounts;
use super::own_budgets::OwnBudgets;
use super::pass::Charging;
use super::payers::Policy;
use super::{IndividualQuery, RecordAmount, RecordUnits};
use crate::account::ValidIndividually;
use crate::data::Dataset;
use crate::machine::{Coins, Fault, Inspect, StateKey, guarded};
use crate::privacy::UnknownLoss;
use crate::queryable::AskError;

/// A running [`IndividualFilter`](super::IndividualFilter), as a machine that is owned and has
/// explicit coins. An analyst gets a [`RunningIndividualFilter`](super::RunningIndividualFilter) instead.
///
/// ```
/// use queryables::compose::IndividualFilter;
/// use queryables::data::Predicate;
/// use queryables::machine::{CoinSource, NotPrivateSeededCoins};
/// use queryables::mechanisms::Count;
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let mut source = NotPrivateSeededCoins::new(0);
/// let mut coins = source.coins();
/// let data = Arc::new(vec![1_u8, 2, 3]);
/// let mut filter = IndividualFilter::new(PureDp, "1".parse()?).start(&data, &mut coins)?;
/// let large = Predicate::new("large", |row: &u8| *row > 1);
/// let count: i64 = filter.release(&Count::of(large).laplace(epsilon!(0.5))?, &mut coins)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct IndividualMachine<D: ?Sized, F> {
    data: Arc<D>,
    units: RecordUnits<F>,
    budgets: OwnBudgets<D, F>,
    /// What each record has left, or, where nobody is limited, has spent.
    accounts: Accounts,
    policy: Policy,
    count_limit: Option<u64>,
    asked: u64,
}

/// Why an individual filter gave no answer. Everything in it is public.
///
/// Example: [`IndividualFilter`](crate::compose::IndividualFilter).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
#[non_exhaustive]
pub enum IndividualError {
    /// The rule has no price for the query. Nobody is charged.
    #[error(transparent)]
    UnknownLoss(#[from] UnknownLoss),
    /// The filter was stopped, has given all its answers, or failed.
    #[error(transparent)]
    NotAnswered(#[from] AskError),
}

impl<D: Dataset + ?Sized, F: ValidIndividually> IndividualMachine<D, F> {
    pub(super) fn new(
        data: &Arc<D>,
        units: RecordUnits<F>,
        budgets: OwnBudgets<D, F>,
        policy: Policy,
        count_limit: Option<u64>,
    ) -> Self {
        let mut machine = Self {
            data: Arc::clone(data),
            accounts: Accounts::default(),
            units,
            budgets,
            policy,
            count_limit,
            asked: 0,
        };
        machine.accounts = match policy {
            Policy::Count => machine.units.accounts(data.len(), RecordAmount::default()),
            Policy::Drop | Policy::Fit => machine.budgets_of(0..data.len()),
        };
        machine
    }

    /// What these records may spend.
    fn budgets_of(&self, records: Range<usize>) -> Accounts {
        let units = &self.units;
        let mut budgets = units.accounts(records.len(), units.budget());
        let slots = budgets.slots();
        self.budgets.write(&self.data, records.start, units, slots);
        budgets
    }

    /// What those of these records have spent that there are: for the curator.
    pub(super) fn spent(&self, records: Range<usize>) -> Vec<RecordAmount> {
        let end = records.end.min(self.data.len());
        let accounts = (records.start..end).filter_map(|index| self.account(index));
        if self.policy == Policy::Count {
            return accounts.collect();
        }
        let budgets = self.budgets_of(records.start.min(end)..end);
        let spent = budgets
            .all()
            .zip(accounts)
            .map(|(budget, left)| RecordAmount {
                number: budget.number.saturating_sub(left.number),
                delta: budget.delta.saturating_sub(left.delta),
            });
        spent.collect()
    }

    pub(super) fn units(&self) -> &RecordUnits<F> {
        &self.units
    }

    /// Whether these are the very data that the machine is on. Of data without bytes it says no:
    /// empty slices may share one allocation, which everybody can get by `Arc::default`.
    pub(super) fn is_on(&self, data: &Arc<D>) -> bool {
        Arc::ptr_eq(&self.data, data) && size_of_val(&**data) > 0
    }

    /// The account of the record with this index, in units: what an odometer reads, in whole steps,
    /// or what a filter has left for it. Only the owner of the machine can ask this, and it is as
    /// private as the record.
    #[must_use]
    pub fn account(&self, index: usize) -> Option<RecordAmount> {
        let account = self.accounts.get(index)?;
        Some(match self.policy {
            Policy::Count => self.units.whole_steps(account),
            Policy::Drop | Policy::Fit => account,
        })
    }

    /// Charges each record for its contribution, and answers from the contributions of those who
    /// paid.
    ///
    /// # Errors
    ///
    /// [`IndividualError`], for public reasons only: never because somebody, or everybody, cannot
    /// pay.
    pub fn release<Q: IndividualQuery<D, F>>(
        &mut self,
        query: &Q,
        coins: &mut Coins<'_>,
    ) -> Result<Q::Answer, IndividualError> {
        Ok(self.answer(query, coins).map_err(AskError::from)??)
    }

    /// The answer, or that the query has no price.
    pub(super) fn answer<Q: IndividualQuery<D, F>>(
        &mut self,
        query: &Q,
        coins: &mut Coins<'_>,
    ) -> Result<Result<Q::Answer, UnknownLoss>, Fault> {
        self.charged(query, coins, |query, coins, pass| {
            // Noise is drawn before the data is read.
            let noise = query.noise(coins)?;
            query.answer(pass(), noise, coins)
        })
    }

    /// Charges each record as for an answer, and gives none.
    pub(super) fn replay<Q: IndividualQuery<D, F>>(
        &mut self,
        query: &Q,
        coins: &mut Coins<'_>,
    ) -> Result<Result<(), UnknownLoss>, Fault> {
        self.charged(query, coins, |_, _, pass| {
            pass();
            Ok(())
        })
    }

    /// Decides from public values, and lets `then` charge the records and use what they contribute.
    fn charged<Q: IndividualQuery<D, F>, T>(
        &mut self,
        query: &Q,
        coins: &mut Coins<'_>,
        then: impl FnOnce(&Q, &mut Coins<'_>, &mut dyn FnMut() -> Q::Total) -> Result<T, Fault>,
    ) -> Result<Result<T, UnknownLoss>, Fault> {
        coins.check()?;
        if self.count_limit.is_some_and(|limit| self.asked >= limit) {
            return Err(Fault::Exhausted);
        }
        let tariff = match guarded(|| Ok(query.tariff(&self.units)))? {
            Ok(tariff) => tariff,
            Err(unknown) => return Ok(Err(unknown)),
        };
        let step = self.units.budget();
        let within = tariff.most() <= step.number && tariff.delta() <= step.delta;
        if self.policy == Policy::Count && !within {
            return Ok(Err(UnknownLoss(
                "a query of an odometer may cost a record at most one step",
            )));
        }
        self.asked = self.asked.saturating_add(1);
        coins.guarded(|coins| {
            let charging = Charging {
                query,
                data: &*self.data,
                tariff: &tariff,
                policy: self.policy,
                step,
            };
            let accounts = &mut self.accounts;
            then(query, coins, &mut || charging.pass::<F>(accounts)).map(Ok)
        })
    }
}

/// The data and the accounts.
impl<D: Inspect + ?Sized, F> Inspect for IndividualMachine<D, F> {
    fn inspect(&self, key: &mut StateKey) {
        key.write(&*self.data);
        let accounts = (&self.accounts.numbers, &self.accounts.deltas);
        key.write(&(accounts, self.policy, self.count_limit, self.asked));
    }
}

// Shows nothing of the contents.
crate::debug_fields!([D: ?Sized, F] IndividualMachine<D, F>, "IndividualMachine");
