//! Who asks.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::digest::{recorded, sha256};
use super::error::DenialOf;
use super::filter::{LedgerFilter, LedgerRule, PartyHeader, Shared, stopped_elsewhere, value};
use super::launch::{unnamed, write};
use super::quota::Quota;
use super::seal::unseal;
use super::store::{Receipt, StoreError};
use super::text::{writable, writable_description};
use super::{Entry, LedgerError, LedgerErrorOf, Outcome};
use crate::account::{ChildLoss, CountsLaunches, WholeLoss};
use crate::compose::{
    Discipline, Filter, FilterGate, Interactive, Interleaved, LaunchError, Preview, Price, Redeem,
    Ticket, preview, price,
};
use crate::machine::{
    Answered, CoinSource, Description, Mechanism, StopToken, SystemCoins, guarded,
};
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
/// assert!(matches!(ben.release(&count), Err(LedgerError::OverQuota { .. })));
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
    group: Option<Arc<str>>,
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
enum Keyed {
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

    /// [`launch`](Self::launch), once for each key: a retry, after a crash or a lost reply, is never
    /// charged again. It gets no child: whoever has the handle keeps it.
    ///
    /// Keys are those of [`release_once`](Self::release_once).
    ///
    /// ```
    /// use queryables::data::Predicate;
    /// use queryables::ledger::{Ledger, LedgerError};
    /// use queryables::mechanisms::AboveThreshold;
    /// use queryables::prelude::*;
    /// use std::sync::Arc;
    ///
    /// let ledger = Ledger::in_memory("ages, March")?;
    /// let ages = Arc::new(vec![17, 18, 43, 70]);
    /// let filter = ledger.start("census", &Filter::concurrent(PureDp, "1".parse()?), &ages)?;
    /// let ana = filter.party("Ana");
    /// let search = AboveThreshold::<Predicate<Vec<i32>>>::new(AddRemove, 2, 1, epsilon!(0.25))?;
    ///
    /// let child = ana.launch_once("first search", &search)?;
    /// let again = ana.launch_once("first search", &search);
    /// assert_eq!(again.err(), Some(LedgerError::NoAnswer));
    /// assert_eq!(filter.privacy_loss()?, "0.25".parse()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`release_once`](Self::release_once); [`LedgerError::NoAnswer`] if the key was charged
    /// before.
    pub fn launch_once<M>(
        &self,
        key: &str,
        mechanism: &M,
    ) -> Result<HandleOf<M, D>, LedgerErrorOf<F>>
    where
        M: Mechanism<D, Machine: IntoHandle> + Private<F::Children, R>,
        X: Interactive,
    {
        match self.keyed(key, mechanism)? {
            Keyed::New(admitted) => self.open(mechanism, admitted),
            Keyed::Known(_) => Err(LedgerError::NoAnswer),
        }
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

    /// [`release`](Self::release), once for each key: a retry, after a crash or a lost answer, gives
    /// the answer that was given, if the ledger [keeps answers](super::Ledger::keeping_answers), and
    /// is never charged again.
    ///
    /// Each party has its own keys.
    ///
    /// Two mechanisms are the same if their descriptions are, so the description must say everything
    /// that decides the answer; a name in it stands for its function, by the word of whoever gave it
    /// ([`Description`]).
    ///
    /// # Errors
    ///
    /// As for [`launch`](Self::launch); [`LedgerError::OtherLaunch`] if the key was used for another
    /// mechanism or loss, [`LedgerError::NotComparable`] if it cannot be known whether it is another,
    /// and [`LedgerError::NoAnswer`] if its answer is not there. Where answers are kept, one that cannot
    /// be written is withheld: [`LedgerError::Store`], and the charge stands.
    pub fn release_once<M>(
        &self,
        key: &str,
        mechanism: &M,
    ) -> Result<AnswerOf<M, D>, LedgerErrorOf<F>>
    where
        M: Mechanism<D, Machine: Answered<Value: Serialize + DeserializeOwned>>
            + Private<F::Children, R>,
    {
        let keyed = self.keyed(key, mechanism)?;
        self.answer_of(mechanism, keyed)
    }

    /// [`release`](Self::release), once for each question: the same mechanism with the same loss gets the
    /// answer that it was given before, from the ledger, and is not charged again. Where the ledger does not
    /// [keep answers](super::Ledger::keeping_answers), it is charged and answered anew.
    ///
    /// What a party asked is its own. It is reused for others only where the curator has put them into one
    /// [group](super::LedgerFilter::party_of).
    ///
    /// [`Ledger::start_table`](super::Ledger::start_table) has an example. Questions are the same if their
    /// descriptions are, as for [`release_once`](Self::release_once).
    ///
    /// # Errors
    ///
    /// As for [`release_once`](Self::release_once). After a launch that failed or was interrupted the question
    /// has no answer for good ([`LedgerError::NoAnswer`]): [`release`](Self::release) asks it anew.
    pub fn recall_or_release<M>(&self, mechanism: &M) -> Result<AnswerOf<M, D>, LedgerErrorOf<F>>
    where
        M: Mechanism<D, Machine: Answered<Value: Serialize + DeserializeOwned>>
            + Private<F::Children, R>,
    {
        if !self.shared().keeps_answers {
            return self.release(mechanism);
        }
        if let Some(group) = &self.seat.group {
            writable("a group's name", group).map_err(LedgerErrorOf::<F>::Store)?;
        }
        let price = self.price(mechanism).map_err(|denial| *denial)?;
        let described = self.comparable(mechanism)?;
        let question = value(&(&described, &price.first)).map_err(LedgerErrorOf::<F>::Store)?;
        let question = sha256(&question.to_string());
        let (kind, who) = match &self.seat.group {
            None => ("question of a party", self.name()),
            Some(group) => ("question of a group", &**group),
        };
        // A key of `release_once` has three parts, and that of a share two.
        let full = format!("{:?}", (&*self.shared().header.filter, kind, who, question));
        let keyed = self.write(&price, Some(&described), Some(&full));
        self.answer_of(mechanism, keyed.map_err(|denial| *denial)?)
    }

    /// What is recorded of a mechanism, if it says everything.
    fn comparable<M>(&self, mechanism: &M) -> Result<Description, LedgerErrorOf<F>>
    where
        M: Mechanism<D>,
    {
        let described = self.described(mechanism).map_err(|denial| *denial)?;
        match described.is_complete() {
            true => Ok(described),
            false => Err(LedgerError::NotComparable),
        }
    }

    /// The answer of a launch with a key: its own, or the one that was kept.
    fn answer_of<M>(&self, mechanism: &M, keyed: Keyed) -> Result<AnswerOf<M, D>, LedgerErrorOf<F>>
    where
        M: Mechanism<D, Machine: Answered<Value: Serialize + DeserializeOwned>>,
    {
        match keyed {
            Keyed::New(admitted) => {
                let keep = self.shared().keeps_answers.then_some(written as Written<_>);
                self.run(mechanism, admitted, keep)
            }
            Keyed::Known(outcome) => match outcome.map(|outcome| *outcome) {
                Some(Outcome::Answered(Some(answer))) => {
                    serde_json::from_value(answer).map_err(|_| LedgerError::NoAnswer)
                }
                _ => Err(LedgerError::NoAnswer),
            },
        }
    }

    /// Whether a launch with this loss would be admitted now, by the filter and by every quota.
    /// The loss is taken as a launch takes it: for both orders where no dataset comes first. Nothing
    /// is written.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub fn would_admit(&self, loss: &ChildLoss<F>) -> Result<bool, StoreError> {
        match self.shared().terms.price_of::<FilterGate<F>, R>(loss) {
            Ok(price) => self.would_take(&price),
            // A store that does not answer is reported, whatever was asked.
            Err(_) => self.is_running().map(|_| false),
        }
    }

    fn is_running(&self) -> Result<bool, StoreError> {
        match self.shared().running().map_err(|denial| *denial) {
            Err(LedgerError::Store(error)) => Err(error),
            running => Ok(running.is_ok()),
        }
    }

    /// Whether a launch at this price would be admitted now.
    pub(super) fn would_take(&self, price: &Price<ChildLoss<F>>) -> Result<bool, StoreError> {
        if !self.is_running()? {
            return Ok(false);
        }
        let loss = &price.first;
        self.shared().read(|book| {
            let fits = || {
                let mut quotas = book.quotas_at(&self.seat.quotas);
                quotas.all(|quota| quota.rule.charge(loss).is_ok())
            };
            guarded(|| Ok(book.gate().would_admit(loss) && fits())).unwrap_or(false)
        })
    }

    /// What a launch of this mechanism would cost, and how many such launches the filter and every
    /// quota would admit. Nothing is charged or written. [`Preview`] has an example.
    ///
    /// # Errors
    ///
    /// Why no such mechanism could be launched, whatever is left of the budget, and those of the
    /// store.
    pub fn preview<'m, M>(
        &self,
        mechanism: &'m M,
    ) -> Result<Preview<'m, M, ChildLoss<F>>, LedgerErrorOf<F>>
    where
        M: Mechanism<D> + Private<F::Children, R>,
    {
        let price = self.price(mechanism).map_err(|denial| *denial)?;
        let left = self.shared().read(|book| {
            guarded(|| {
                let filter = book.gate().launches_left(&price.first);
                let quotas = book.quotas_at(&self.seat.quotas);
                Ok(quotas.fold(filter, |left, quota| {
                    left.and(quota.rule.launches_left(&price.first))
                }))
            })
        })?;
        let left = left.map_err(|_| LaunchError::RuleFailed)?;
        Ok(preview(mechanism, price.first, left))
    }

    /// What is left of the filter's budget, in the children's measure.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub fn remaining(&self) -> Result<ChildLoss<F>, StoreError> {
        self.shared().read(|book| book.rule().remaining())
    }

    /// What is left of each of its quotas.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub fn quotas_remaining(&self) -> Result<Vec<ChildLoss<F>>, StoreError> {
        self.shared().read(|book| {
            let quotas = book.quotas_at(&self.seat.quotas);
            quotas.map(|quota| quota.rule.remaining()).collect()
        })
    }

    /// What all parties together have spent.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub fn privacy_loss(&self) -> Result<WholeLoss<F>, StoreError> {
        self.shared().read(|book| book.rule().spent())
    }

    /// Decides on a launch with a key, which the party has once.
    fn keyed<M>(&self, key: &str, mechanism: &M) -> Result<Keyed, LedgerErrorOf<F>>
    where
        M: Mechanism<D> + Private<F::Children, R>,
    {
        writable("a key", key).map_err(LedgerErrorOf::<F>::Store)?;
        let full = format!("{:?}", (&*self.shared().header.filter, self.name(), key));
        let price = self.price(mechanism).map_err(|denial| *denial)?;
        let described = self.comparable(mechanism)?;
        let keyed = self.write(&price, Some(&described), Some(&full));
        keyed.map_err(|denial| *denial)
    }

    fn open<M>(&self, mechanism: &M, admitted: Admitted) -> Result<HandleOf<M, D>, LedgerErrorOf<F>>
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

    fn run<M>(
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

    fn shared(&self) -> &Shared<D, F> {
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
    fn described<M>(&self, mechanism: &M) -> Result<Description, DenialOf<F>>
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
    fn write(
        &self,
        price: &Price<ChildLoss<F>>,
        mechanism: Option<&Description>,
        key: Option<&str>,
    ) -> Result<Keyed, DenialOf<F>> {
        let written = write::<D, F, X>(&self.seat, price, mechanism, key)?;
        match written.receipt {
            Receipt::Written { sequence, .. } => {
                let synced = self.shared().store.sync(&written.receipt);
                synced.map_err(LedgerError::Store)?;
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

    /// Charges a share, once, and says what stops it.
    fn set_aside<G, Y>(
        &self,
        key: &str,
        share: &Filter<G, R, Y>,
    ) -> Result<StopToken, LedgerErrorOf<F>>
    where
        G: LedgerRule,
        Y: Discipline,
        Filter<G, R, Y>: Private<F::Children, R>,
    {
        let price = self.price(share).map_err(|denial| *denial)?;
        // Incomplete, as a filter's is: its terms are compared when it is opened.
        let described = self.described(share).map_err(|denial| *denial)?;
        let keyed = self.write(&price, Some(&described), Some(key));
        if let Keyed::New(admitted) = keyed.map_err(|denial| *denial)? {
            self.done(admitted.sequence, || Outcome::Started);
        }
        let token = self.shared().book().launches.child_token();
        Ok(token.joined(&self.shared().halted))
    }
}

/// Only where children are interleaved: elsewhere a later launch freezes the share for good.
impl<D, F, R> Party<D, F, R, Interleaved>
where
    D: ?Sized,
    F: LedgerRule,
    R: Relation,
{
    /// Reserves a share of the budget for this party, as
    /// [`LedgerFilter::reserve`](LedgerFilter::reserve) does, and charges it to the party's quotas, too.
    /// Each party has its own names. If it was reserved before, it continues with what it has spent.
    ///
    /// ```
    /// use queryables::ledger::{Ledger, LedgerError};
    /// use queryables::prelude::*;
    /// use std::sync::Arc;
    ///
    /// let ledger = Ledger::in_memory("ages, March")?;
    /// let ages = Arc::new(vec![17, 18, 43, 70]);
    /// let filter = ledger.start("census", &Filter::concurrent(PureDp, "1".parse()?), &ages)?;
    /// let quota = filter.quota("Ana's", "0.3".parse()?)?;
    /// let ana = filter.party("Ana").with_quota(&quota)?;
    ///
    /// let share = ana.reserve("spring", &Filter::concurrent(PureDp, "0.2".parse()?))?;
    /// assert_eq!(share.limit(), "0.2".parse()?);
    /// let more = ana.reserve("summer", &Filter::concurrent(PureDp, "0.2".parse()?));
    /// assert!(matches!(more, Err(LedgerError::OverQuota { .. })));
    /// assert_eq!(filter.remaining()?, "0.8".parse()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As for a launch, and as for opening a filter.
    pub fn reserve<G, Y>(
        &self,
        name: &str,
        share: &Filter<G, R, Y>,
    ) -> Result<LedgerFilter<D, G, R, Y>, LedgerErrorOf<F>>
    where
        G: LedgerRule,
        Y: Discipline,
        Filter<G, R, Y>: Private<F::Children, R>,
    {
        self.reserve_as(&format!("{:?}", (self.name(), name)), share)
    }

    /// Under a name that no other party of the filter uses for a share.
    pub(super) fn reserve_as<G, Y>(
        &self,
        name: &str,
        share: &Filter<G, R, Y>,
    ) -> Result<LedgerFilter<D, G, R, Y>, LedgerErrorOf<F>>
    where
        G: LedgerRule,
        Y: Discipline,
        Filter<G, R, Y>: Private<F::Children, R>,
    {
        writable("a share's name", name)?;
        let shared = self.shared();
        let full = format!("{:?}", (&*shared.header.filter, "share", name));
        let data = shared.data()?;
        // One charge however often it is opened: the key is the share's name. That of a release has a
        // third part, so nobody else can charge something under this one.
        let key = format!("{:?}", (&*shared.header.filter, name));
        let token = self.set_aside(&key, share)?;
        let mut above = shared.above.clone();
        above.push(Arc::clone(&shared.header.filter));
        let (store, keeps) = (&shared.store, shared.keeps_answers);
        let (table, stops) = (shared.header.table.clone(), (&token, above));
        let share = LedgerFilter::open(store, keeps, &full, share, data, table, stops);
        Ok(share?)
    }
}

/// How an answer is written down.
type Written<A> = fn(&A) -> Result<Value, StoreError>;

/// The answer's own code says it.
fn written<A: Serialize>(answer: &A) -> Result<Value, StoreError> {
    let written = guarded(|| Ok(serde_json::to_value(answer)));
    let written = written.map(|written| written.map_err(|error| error.to_string()));
    let failed = |_| Err("the answer's own code failed".to_owned());
    written
        .unwrap_or_else(failed)
        .map_err(StoreError::Unwritable)
}

/// What a non-interactive mechanism answers.
type AnswerOf<M, D> = <<M as Mechanism<D>>::Machine as Answered>::Value;

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
