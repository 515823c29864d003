//! Who asks.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use serde_json::Value;

use super::digest::recorded;
use super::error::DenialOf;
use super::filter::{LedgerRule, PartyHeader, Shared};
use super::launch::{Keyed, unnamed};
use super::quota::Quota;
use super::text::{writable, writable_description};
use super::{LedgerError, LedgerErrorOf, Outcome, StoreError};
use crate::account::ChildLoss;
use crate::compose::{
    Charged, Discipline, FilterGate, Interactive, Interleaved, LaunchError, Price, open, price,
    release,
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
        self.open(mechanism, self.charged(mechanism)?)
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
        self.run(mechanism, self.charged(mechanism)?, None)
    }

    pub(super) fn open<M>(
        &self,
        mechanism: &M,
        charged: Charged<'_, D>,
    ) -> Result<HandleOf<M, D>, LedgerErrorOf<F>>
    where
        M: Mechanism<D, Machine: IntoHandle>,
    {
        let handle = open(charged.ticket, mechanism, charged.data);
        self.done(charged.sequence, || match &handle {
            Ok(_) => Outcome::Started,
            Err(_) => Outcome::Failed,
        });
        Ok(handle.map_err(|_| LaunchError::Failed)?)
    }

    pub(super) fn run<M>(
        &self,
        mechanism: &M,
        charged: Charged<'_, D>,
        keep: Option<Written<AnswerOf<M, D>>>,
    ) -> Result<AnswerOf<M, D>, LedgerErrorOf<F>>
    where
        M: Mechanism<D, Machine: Answered>,
    {
        let mut coins = SystemCoins::new();
        let Charged {
            ticket,
            data,
            sequence,
        } = charged;
        let answer = release(ticket, mechanism, data, &mut coins.coins());
        match (&answer, keep) {
            // Given out only once it is kept: otherwise there could be another for the same charge.
            (Ok(answer), Some(keep)) => {
                let outcome = Outcome::Answered(Some(keep(answer)?));
                self.shared().ledger.store.finish(sequence, outcome)?;
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
            let _ = self.shared().ledger.store.finish(sequence, outcome());
        }
    }

    /// Price and decide: charged, written, and still to be started.
    #[inline]
    pub(super) fn charged<M>(&self, mechanism: &M) -> Result<Charged<'_, D>, DenialOf<F>>
    where
        M: Mechanism<D> + Private<F::Children, R>,
    {
        let (shared, price) = (self.shared(), self.price(mechanism)?);
        if !F::REENTRANT.0 && !shared.keeps_launches && self.seat.quotas.is_empty() {
            // Where the store keeps nothing of it, the filter decides alone. The mechanism's code has
            // run: it may have stopped this one.
            shared.running()?;
            let ticket = shared.book().launches.decide::<X>(&price);
            return Ok(Charged {
                ticket: ticket?,
                data: &shared.data,
                sequence: 0,
            });
        }
        let described = shared.keeps_launches.then(|| self.described(mechanism));
        let described = described.transpose()?;
        match self.seat.write::<X>(&price, described.as_ref(), None)? {
            Keyed::New(charged) => Ok(charged),
            // Without a key nothing is known.
            Keyed::Known(_) => Err(LedgerError::NoAnswer.into()),
        }
    }

    pub(super) fn shared(&self) -> &Shared<D, F> {
        &self.seat.shared
    }

    /// What is recorded of a mechanism. Its own code says it: this is called before the lock.
    pub(super) fn described<M>(&self, mechanism: &M) -> Result<Description, DenialOf<F>>
    where
        M: Mechanism<D>,
    {
        let described = guarded(|| Ok(mechanism.describe()));
        let described = recorded(described.unwrap_or_else(|_| unnamed()));
        let written = writable("a party's name", self.name());
        written.and_then(|()| writable_description(&described))?;
        Ok(described)
    }

    #[inline]
    pub(super) fn price<M>(&self, mechanism: &M) -> Result<Price<ChildLoss<F>>, DenialOf<F>>
    where
        M: Mechanism<D> + Private<F::Children, R>,
    {
        let shared = self.shared();
        let check = || shared.running();
        price::<D, FilterGate<F>, M, R, _>(&shared.terms, &**shared.data, mechanism, check)
    }

    /// The same for a launch with a key, which says what it is asked for.
    pub(super) fn keyed<M>(
        &self,
        mechanism: &M,
        key: impl FnOnce(&Description, &ChildLoss<F>) -> Result<String, LedgerErrorOf<F>>,
    ) -> Result<Keyed<'_, D>, LedgerErrorOf<F>>
    where
        M: Mechanism<D> + Private<F::Children, R>,
    {
        let (price, described) = (self.price(mechanism)?, self.described(mechanism)?);
        let key = key(&described, &price.first)?;
        Ok(self.seat.write::<X>(&price, Some(&described), Some(&key))?)
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
