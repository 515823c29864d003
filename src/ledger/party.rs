//! Who asks.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use serde_json::Value;

use super::digest::recorded;
use super::error::DenialOf;
use super::filter::{LedgerRule, PartyHeader, Shared, stopped_elsewhere};
use super::launch::{unnamed, write};
use super::quota::Quota;
use super::seal::unseal;
use super::store::{Receipt, StoreError};
use super::text::{writable, writable_description};
use super::{Entry, LedgerError, LedgerErrorOf, Outcome};
use crate::account::ChildLoss;
use crate::compose::{
    Discipline, FilterGate, Interactive, Interleaved, LaunchError, Price, Redeem, Ticket, price,
};
use crate::machine::{Answered, CoinSource, Description, Mechanism, SystemCoins, guarded};
use crate::privacy::{AddRemove, Private, Relation};
use crate::queryable::{HandleOf, IntoHandle};

/// What an analyst gets: the handle through which a party launches mechanisms in a filter that a
/// ledger keeps.
///
/// Every launch is recorded under the party's name, and held to the party's quotas, which protect
/// nobody's privacy: see [`Quota`]. A launch that the filter or any of the quotas refuses charges
/// none of them.
///
/// ```
/// use queryables::ledger::{Ledger, LedgerError};
/// use queryables::data::Predicate;
/// use queryables::mechanisms::Count;
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let ledger = Ledger::in_memory("ages, March")?;
/// let ages = Arc::new(vec![17, 18, 43, 70]);
/// let filter = ledger.start("census", &Filter::concurrent(PureDp, "1".parse()?), &ages)?;
/// let quota = filter.quota("students", "0.3".parse()?)?;
/// let (ana, ben) = (filter.party("Ana").with_quota(&quota)?, filter.party("Ben").with_quota(&quota)?);
///
/// let adults = Predicate::new("at least 18", |age: &i32| *age >= 18);
/// let count = Count::of(adults).laplace(epsilon!(0.2))?;
/// let answer: i64 = ana.release(&count)?;
/// // They share the quota, and what it refuses is not charged to the filter either.
/// assert!(matches!(ben.release(&count), Err(LedgerError::Launch(LaunchError::OverQuota { .. }))));
/// assert_eq!(filter.privacy_loss()?, "0.2".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Party<D: ?Sized, F: LedgerRule, R = AddRemove, X = Interleaved> {
    pub(super) seat: Seat<D, F>,
    types: PhantomData<fn() -> (R, X)>,
}

/// A party's place in a filter.
pub(super) struct Seat<D: ?Sized, F: LedgerRule> {
    pub(super) shared: Arc<Shared<D, F>>,
    pub(super) heading: Arc<PartyHeader>,
    /// With whom it shares what was answered.
    pub(super) group: Option<Arc<str>>,
    /// The places of the quotas that it is held to.
    pub(super) quotas: Vec<usize>,
    /// The names of the budgets: the filter's, and those of the quotas.
    pub(super) budgets: Vec<String>,
}

/// A launch that was admitted and written.
pub(super) struct Admitted {
    pub(super) ticket: Ticket,
    pub(super) sequence: u64,
}

/// What a key is known for, or a new launch. The former behind a pointer: most launches have no key.
pub(super) enum Keyed {
    New(Admitted),
    Known(Option<Box<Outcome>>),
}

impl<D, F, R, X> Party<D, F, R, X>
where
    D: ?Sized,
    F: LedgerRule,
    R: Relation,
    X: Discipline,
{
    pub(super) fn new(shared: &Arc<Shared<D, F>>, name: &str, group: Option<&str>) -> Self {
        let heading = PartyHeader {
            filter: Arc::clone(&shared.header),
            party: name.into(),
        };
        Self {
            seat: Seat {
                shared: Arc::clone(shared),
                heading: Arc::new(heading),
                group: group.map(Arc::from),
                quotas: Vec::new(),
                budgets: vec![shared.header.filter.to_string()],
            },
            types: PhantomData,
        }
    }

    /// The same party, held to one more quota.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotOpen`] if it was not opened in this filter, and [`StoreError::AlreadyOpen`] if
    /// the party is held to it already.
    pub fn with_quota(mut self, quota: &Quota) -> Result<Self, StoreError> {
        let budget = quota.budget();
        let Some(place) = self.shared().book().place(&budget) else {
            return Err(StoreError::NotOpen { budget });
        };
        if self.seat.quotas.contains(&place) {
            return Err(StoreError::AlreadyOpen { budget });
        }
        self.seat.quotas.push(place);
        self.seat.budgets.push(budget);
        Ok(self)
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.seat.heading.party
    }

    /// Launches a mechanism and returns the handle to it: decides, charges, writes, and only then
    /// starts it.
    ///
    /// # Errors
    ///
    /// Why there is no child. Charged only after [`LaunchError::Failed`], and perhaps after
    /// [`LedgerError::Store`].
    pub fn launch<M>(&self, mechanism: &M) -> Result<HandleOf<M, D>, LedgerErrorOf<F>>
    where
        M: Mechanism<D, Machine: IntoHandle> + Private<F::Children, R>,
        X: Interactive,
    {
        let admitted = self.charged(mechanism).map_err(|denial| *denial)?;
        self.open(mechanism, admitted)
    }

    /// Launches a non-interactive mechanism and returns its answer.
    ///
    /// # Errors
    ///
    /// As for [`launch`](Self::launch).
    pub fn release<M>(&self, mechanism: &M) -> Result<AnswerOf<M, D>, LedgerErrorOf<F>>
    where
        M: Mechanism<D, Machine: Answered> + Private<F::Children, R>,
    {
        let admitted = self.charged(mechanism).map_err(|denial| *denial)?;
        self.run(mechanism, admitted, None)
    }

    pub(super) fn open<M>(
        &self,
        mechanism: &M,
        admitted: Admitted,
    ) -> Result<HandleOf<M, D>, LedgerErrorOf<F>>
    where
        M: Mechanism<D, Machine: IntoHandle>,
    {
        let data = self.shared().data().map_err(|_| LaunchError::Failed)?;
        let handle = admitted.ticket.open(mechanism, data);
        self.done(admitted.sequence, || match &handle {
            Ok(_) => Outcome::Started,
            Err(_) => Outcome::Failed,
        });
        Ok(handle.map_err(|_| LaunchError::Failed)?)
    }

    pub(super) fn run<M>(
        &self,
        mechanism: &M,
        admitted: Admitted,
        keep: Option<Written<AnswerOf<M, D>>>,
    ) -> Result<AnswerOf<M, D>, LedgerErrorOf<F>>
    where
        M: Mechanism<D, Machine: Answered>,
    {
        let data = self.shared().data().map_err(|_| LaunchError::Failed)?;
        let mut coins = SystemCoins::new();
        let Admitted { ticket, sequence } = admitted;
        let answer = ticket.release(mechanism, data, &mut coins.coins());
        match (&answer, keep) {
            // Given out only once it is kept: otherwise there could be another for the same charge.
            (Ok(answer), Some(keep)) => {
                let kept = keep(answer).and_then(|kept| {
                    let outcome = Outcome::Answered(Some(kept));
                    self.shared().store.finish(sequence, outcome)
                });
                kept.map_err(LedgerErrorOf::<F>::Store)?;
            }
            (Ok(_), None) => self.done(sequence, || Outcome::Answered(None)),
            (Err(_), _) => self.done(sequence, || Outcome::Failed),
        }
        Ok(answer.map_err(|_| LaunchError::Failed)?)
    }

    /// Writes what became of a launch whose answer is not kept. Where that fails the launch reads as
    /// interrupted, and the next one says that the store has failed: nothing that was charged depends
    /// on it.
    pub(super) fn done(&self, sequence: u64, outcome: impl FnOnce() -> Outcome) {
        if sequence > 0 {
            let _ = self.shared().store.finish(sequence, outcome());
        }
    }

    /// Price and decide: charged, written, and still to be started.
    #[inline]
    pub(super) fn charged<M>(&self, mechanism: &M) -> Result<Admitted, DenialOf<F>>
    where
        M: Mechanism<D> + Private<F::Children, R>,
    {
        let (shared, price) = (self.shared(), self.price(mechanism)?);
        if !F::REENTRANT.0 && !shared.keeps_launches && self.seat.quotas.is_empty() {
            // Where the store keeps nothing of it, the filter decides alone. The mechanism's code has
            // run: it may have stopped this one.
            shared.running()?;
            let ticket = shared.book().launches.decide::<X>(&price);
            return Ok(Admitted {
                ticket: ticket.map_err(|denial| LedgerError::Launch(*denial))?,
                sequence: 0,
            });
        }
        let described = shared.keeps_launches.then(|| self.described(mechanism));
        match self.write(&price, described.transpose()?.as_ref(), None)? {
            Keyed::New(admitted) => Ok(admitted),
            // Without a key nothing is known.
            Keyed::Known(_) => Err(LedgerError::NoAnswer.into()),
        }
    }

    pub(super) fn shared(&self) -> &Shared<D, F> {
        &self.seat.shared
    }

    /// The same launch, stopped also by what other handles and processes do in the filter after the
    /// version that it has made: only the store knows of it.
    fn watched(&self, ticket: Ticket, version: u64) -> Ticket {
        if !X::FREEZES {
            return ticket.joined(&self.shared().halted);
        }
        let (store, filter) = (&self.shared().store, &self.shared().header.filter);
        let latest = stopped_elsewhere(store, filter, version, true);
        ticket.joined(&latest)
    }

    /// What is recorded of a mechanism. Its own code says it: this is called before the lock.
    pub(super) fn described<M>(&self, mechanism: &M) -> Result<Description, DenialOf<F>>
    where
        M: Mechanism<D>,
    {
        let described = guarded(|| Ok(mechanism.describe()));
        let described = recorded(described.unwrap_or_else(|_| unnamed()));
        let written = writable("a party's name", self.name());
        let written = written.and_then(|()| writable_description(&described));
        written.map_err(LedgerError::Store)?;
        Ok(described)
    }

    #[inline]
    pub(super) fn price<M>(&self, mechanism: &M) -> Result<Price<ChildLoss<F>>, DenialOf<F>>
    where
        M: Mechanism<D> + Private<F::Children, R>,
    {
        let shared = self.shared();
        let data = shared.data().map_err(|_| LaunchError::Failed);
        let data = data.map_err(LedgerError::Launch)?;
        let check = || shared.running();
        price::<D, FilterGate<F>, M, R, _>(&shared.terms, &**data, mechanism, check)
    }

    /// Decides, charges and writes.
    pub(super) fn write(
        &self,
        price: &Price<ChildLoss<F>>,
        mechanism: Option<&Description>,
        key: Option<&str>,
    ) -> Result<Keyed, DenialOf<F>> {
        let written = write::<D, F, X>(&self.seat, price, mechanism, key)?;
        match written.receipt {
            Receipt::Written { sequence, .. } | Receipt::Queued { sequence, .. } => {
                if matches!(written.receipt, Receipt::Written { .. }) {
                    let synced = self.shared().store.sync(&written.receipt);
                    synced.map_err(LedgerError::Store)?;
                }
                let ticket = match written.decided {
                    Some(Ok(ticket)) => self.watched(ticket, written.version),
                    Some(Err(error)) => return Err(error),
                    None => return Err(LedgerError::NoAnswer.into()),
                };
                Ok(Keyed::New(Admitted { ticket, sequence }))
            }
            Receipt::Known { line, done } => {
                let entry: Option<Entry<ChildLoss<F>>> = unseal(&line);
                let entry = entry.filter(|entry| entry.stands_for(key, done.as_ref()));
                let Some(entry) = entry else {
                    let what = "the entry of a key".to_owned();
                    return Err(LedgerError::Store(StoreError::Damaged { what }).into());
                };
                if entry.loss != price.first || Some(&entry.mechanism) != mechanism {
                    return Err(LedgerError::OtherLaunch.into());
                }
                Ok(Keyed::Known(done.map(|done| Box::new(done.outcome))))
            }
        }
    }
}

/// How an answer is written down.
pub(super) type Written<A> = fn(&A) -> Result<Value, StoreError>;

/// What a non-interactive mechanism answers.
pub(super) type AnswerOf<M, D> = <<M as Mechanism<D>>::Machine as Answered>::Value;

crate::clone_fields!([D: ?Sized, F: LedgerRule] Seat<D, F> { shared, heading, group, quotas, budgets });
crate::clone_fields!([D: ?Sized, F: LedgerRule, R, X] Party<D, F, R, X> { seat, types });

impl<D: ?Sized, F: LedgerRule, R, X> fmt::Debug for Party<D, F, R, X> {
    /// Its name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Party")
            .field(&self.seat.heading.party)
            .finish()
    }
}
