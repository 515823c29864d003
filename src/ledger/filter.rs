//! A running filter whose budget a ledger keeps.

use std::collections::BTreeSet;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::book::{Book, QuotaBook, UNKNOWN};
use super::error::DenialOf;
use super::party::Party;
use super::quota::{Quota, quota_rule};
use super::seal::{VERSION, seal, unsealed};
use super::state::{has_halted, write_state};
use super::store::Store;
use super::text::writable;
use super::{Ledger, LedgerErrorOf, StoreError};
use crate::account::{Capped, ChildLoss, ContinuationRule, DefaultAccumulator, Durable, WholeLoss};
use crate::compose::{
    Discipline, Filter, HaltOf, Interleaved, LaunchError, Terms, Ticket, joined, ledgered_parts,
};
use crate::machine::{Description, Fault, Quiet, Stop, StopToken};
use crate::privacy::{AddRemove, Measure, Private, Relation};
use crate::queryable::started;
use crate::sync::{Mutex, MutexGuard, PoisonError};

/// A rule whose budget a ledger can keep: it is [`Durable`], and its measures and losses can be
/// written down. Whatever fits is one.
///
/// Example: [`Ledger`](crate::ledger::Ledger).
#[diagnostic::on_unimplemented(
    message = "a ledger cannot keep a budget under `{Self}`",
    note = "the rule must be `Durable`, and its measures and losses must implement serde's traits"
)]
pub trait LedgerRule:
    Durable
    + ContinuationRule<
        Children: Measure<Loss: Serialize + DeserializeOwned> + Serialize,
        Whole: Measure<Loss: Serialize + DeserializeOwned> + Serialize,
    >
{
}

impl<F> LedgerRule for F where
    F: Durable
        + ContinuationRule<
            Children: Measure<Loss: Serialize + DeserializeOwned> + Serialize,
            Whole: Measure<Loss: Serialize + DeserializeOwned> + Serialize,
        >
{
}

/// A running [`Filter`] whose budget a ledger keeps. It is for the data holder; analysts launch
/// through a [`Party`].
///
/// # Guarantee
///
/// That of the [`Filter`], over all processes and restarts together, for the dataset that the ledger
/// names, as long as the store keeps what it has synced: a launch is charged and written before its
/// mechanism touches the data, and what was charged is never given back. It is the only budget here
/// that bounds what is learned about a person; a [`Quota`] does not.
///
/// Children of a filter that is [sequential](Filter::sequential) are frozen by the next launch in it,
/// and children and shares of a filter that [halts](Filter::halting) are stopped by its halt, whichever
/// handle or process makes them: each question to such a child asks the store. Where the store does not
/// answer, the child does not either: it says that it was stopped, and answers again when the store
/// does. Launches and readings in a share give the store's error.
///
/// A third-party rule may read its own filter and launch there, as in a [`Filter`]: it decides on a copy
/// of the state, before the store is asked, and again if another launch came first.
///
/// [`Ledger`](super::Ledger) has an example.
pub struct LedgerFilter<D: ?Sized, F: LedgerRule, R = AddRemove, X = Interleaved> {
    pub(super) shared: Arc<Shared<D, F>>,
    types: PhantomData<fn() -> (R, X)>,
}

pub(super) struct Shared<D: ?Sized, F: LedgerRule> {
    pub(super) ledger: Ledger,
    /// Asked once: a store does not change in this.
    pub(super) keeps_launches: bool,
    pub(super) header: Arc<Header>,
    pub(super) terms: Terms<F::Children>,
    /// Has counted nothing.
    pub(super) fresh: Arc<F>,
    pub(super) token: StopToken,
    /// The filters that a share lives in: the token asks the store about them.
    pub(super) above: Vec<Arc<str>>,
    /// What stops children and shares where another handle or process has halted the filter.
    pub(super) halted: StopToken,
    book: Mutex<Book<F>>,
    /// Below the book, so that what is dropped last is dropped here.
    pub(super) data: Quiet<Arc<D>>,
}

/// What every entry of a filter says.
#[derive(Serialize)]
pub(super) struct Header {
    #[serde(skip)]
    pub(super) filter: Arc<str>,
    pub(super) measure: Value,
    pub(super) whole: Value,
    pub(super) relation: &'static str,
    pub(super) distance: u64,
    /// [`LedgerData::terms`](super::LedgerData::terms).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) data: Option<Description>,
}

/// What every entry of a party in a filter says. Entries share it.
pub(super) struct PartyHeader {
    pub(super) filter: Arc<Header>,
    pub(super) party: Box<str>,
}

impl<D, F, R, X> LedgerFilter<D, F, R, X>
where
    D: ?Sized,
    F: LedgerRule,
    R: Relation,
    X: Discipline,
{
    pub(super) fn open<E: From<Fault> + From<StoreError>>(
        ledger: &Ledger,
        name: &str,
        filter: &Filter<F, R, X>,
        (data, said): (&Arc<D>, Option<Description>),
        (token, above): (StopToken, Vec<Arc<str>>),
    ) -> Result<Self, E> {
        let (data, terms, launches) = ledgered_parts(started(filter, data, &token)?);
        let fresh = Arc::new((*launches.gate.rule).clone());
        let header = Arc::new(Header {
            filter: name.into(),
            measure: value(&terms.measure)?,
            whole: value(fresh.whole())?,
            relation: R::NAME,
            distance: terms.first.steps(),
            data: said,
        });
        let halts = launches.gate.halts;
        let terms_text = seal(&FilterTerms {
            ledger: VERSION,
            filter: F::NAME,
            parameters: value(&fresh.parameters())?,
            header: &header,
            children: Description::of::<X>().name(),
            at_most: launches.gate.count_limit,
            halts,
        })?;
        let store = &ledger.store;
        let saved = store.open(name, &terms_text, &write_state(&*fresh, 0, None)?);
        let saved = saved.map_err(|error| other_terms(error, &terms_text))?;
        let mut book = Book {
            name: Arc::clone(&header.filter),
            fresh: Arc::clone(&fresh),
            launches,
            version: saved.version,
            quotas: Vec::new(),
        };
        book.refresh(0, &saved)?;
        let halted = match halts {
            true => stopped_elsewhere(store, &header.filter, saved.version, false),
            false => StopToken::default(),
        };
        Ok(Self {
            shared: Arc::new(Shared {
                keeps_launches: store.keeps_launches(),
                ledger: ledger.clone(),
                header,
                terms,
                fresh,
                token,
                above,
                halted,
                book: Mutex::new(book),
                data: Quiet::new(data),
            }),
            types: PhantomData,
        })
    }

    /// A handle for one analyst, without a quota so far.
    #[must_use]
    pub fn party(&self, name: &str) -> Party<D, F, R, X> {
        Party::new(&self.shared, name, None)
    }

    /// The same, for an analyst who is given what others of the `group` were answered, and the other way
    /// round ([`Party::recall_or_release`]). Without it, nobody learns what another party asked.
    #[must_use]
    pub fn party_of(&self, group: &str, name: &str) -> Party<D, F, R, X> {
        Party::new(&self.shared, name, Some(group))
    }

    /// Opens a quota: a limit on what some parties spend, in the measure of the filter's children.
    ///
    /// # Errors
    ///
    /// Those of the store; [`StoreError::AlreadyOpen`] if the filter has one of this name.
    pub fn quota(&self, name: &str, limit: ChildLoss<F>) -> Result<Quota, StoreError>
    where
        F::Children: DefaultAccumulator,
        Capped<<F::Children as DefaultAccumulator>::Accumulator>:
            LedgerRule<Children = F::Children, Whole = F::Children>,
    {
        writable("a quota's name", name)?;
        let (fresh, terms) = quota_rule(&self.shared.terms.measure, limit)?;
        let quota = Quota {
            name: name.into(),
            filter: Arc::clone(&self.shared.header.filter),
        };
        let full = quota.budget();
        let closed = |book: &Book<F>| match book.place(&full) {
            Some(_) => Err(StoreError::AlreadyOpen {
                budget: full.clone(),
            }),
            None => Ok(()),
        };
        closed(&self.shared.book())?;
        let saved = self
            .shared
            .ledger
            .store
            .open(&full, &terms, &fresh.state()?)?;
        let mut opened = QuotaBook {
            name: full.as_str().into(),
            rule: Arc::clone(&fresh),
            fresh,
            version: saved.version,
        };
        opened.refresh(&saved)?;
        let mut book = self.shared.book();
        closed(&book)?;
        book.quotas.push(opened);
        Ok(quota)
    }

    /// What the launches so far add up to, in all processes.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub fn privacy_loss(&self) -> Result<WholeLoss<F>, StoreError> {
        self.shared.read(|book| book.rule().spent())
    }

    /// What is left of the budget.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub fn remaining(&self) -> Result<ChildLoss<F>, StoreError> {
        self.shared.read(|book| book.rule().remaining())
    }

    /// How many mechanisms were launched, in all processes.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub fn launched(&self) -> Result<u64, StoreError> {
        self.shared.read(|book| book.gate().launched)
    }

    /// What a quota has spent; `None` if it was not opened in this filter.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub fn spent_of(&self, quota: &Quota) -> Result<Option<ChildLoss<F>>, StoreError> {
        self.shared.read(|book| {
            let kept = book.quotas.get(book.place(&quota.budget())?)?;
            Some(kept.rule.spent())
        })
    }

    /// Why it halted, if it did.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub fn halt(&self) -> Result<Option<HaltOf<F>>, StoreError> {
        self.shared
            .read(|book| book.gate().halt.as_deref().cloned())
    }

    /// The budget: what bounds everything that all parties learn together.
    #[must_use]
    pub fn limit(&self) -> WholeLoss<F> {
        self.shared.fresh.limit().clone()
    }

    /// The filter's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.shared.header.filter
    }
}

/// Only where children are interleaved: elsewhere a later launch freezes the share for good.
impl<D, F, R> LedgerFilter<D, F, R, Interleaved>
where
    D: ?Sized,
    F: LedgerRule,
    R: Relation,
{
    /// Reserves a share of the budget: a filter inside this one, charged in full at once, so that
    /// nobody else can spend it. If it was reserved before, it continues with what it has spent.
    ///
    /// This guarantees two things: the party can spend the share, and what is spent in it is within
    /// the whole's budget. If the filter is [halting](Filter::halting), whoever asks it for too much
    /// halts the shares too, those of every handle and process.
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
        self.party(name).reserve_as(name, share)
    }
}

#[derive(Serialize)]
struct FilterTerms<'a> {
    ledger: u32,
    filter: &'static str,
    parameters: Value,
    #[serde(flatten)]
    header: &'a Header,
    children: &'a str,
    at_most: Option<u64>,
    halts: bool,
}

/// The same error; of other terms it says which fields differ, and no more.
fn other_terms(error: StoreError, given: &str) -> StoreError {
    let StoreError::OtherTerms { budget, terms } = error else {
        return error;
    };
    let read = |text: &str| unsealed(text).and_then(|text| serde_json::from_str(&text).ok());
    let (Some(Value::Object(before)), Some(Value::Object(given))) = (read(&terms), read(given))
    else {
        return StoreError::OtherTerms { budget, terms };
    };
    let names: BTreeSet<&String> = before.keys().chain(given.keys()).collect();
    let shown = |value: Option<&Value>| value.unwrap_or(&Value::Null).to_string();
    let differences = names.into_iter().filter_map(|name| {
        let (before, given) = (before.get(name), given.get(name));
        let (was, is) = (shown(before), shown(given));
        (before != given).then(|| format!("{name} was {was}, and is {is} now"))
    });
    let terms = differences.collect::<Vec<_>>().join("; ");
    StoreError::OtherTerms { budget, terms }
}

pub(super) fn value(written: &impl Serialize) -> Result<Value, StoreError> {
    serde_json::to_value(written).map_err(|error| StoreError::Unwritable(error.to_string()))
}

impl<D: ?Sized, F: LedgerRule> Shared<D, F> {
    pub(super) fn book(&self) -> MutexGuard<'_, Book<F>> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether nothing has stopped the filter.
    #[inline]
    pub(super) fn running(&self) -> Result<(), DenialOf<F>> {
        match self.token.check() {
            Ok(()) => Ok(()),
            Err(_) => self.stopped(),
        }
    }

    /// Whether it is a halt, or the store does not say.
    #[cold]
    fn stopped(&self) -> Result<(), DenialOf<F>> {
        let above = self.above.iter().map(|filter| (&**filter, UNKNOWN));
        self.ledger.store.newer(&above.collect::<Vec<_>>())?;
        let stopped = self.token.check().map_err(LaunchError::Stopped);
        Ok(stopped.map_err(Box::new)?)
    }

    /// The same launch, stopped also by what other handles and processes do in the filter after the
    /// version that it has made: only the store knows of it.
    pub(super) fn watched<X: Discipline>(&self, ticket: Ticket, version: u64) -> Ticket {
        if !X::FREEZES {
            return joined(ticket, &self.halted);
        }
        let (store, filter) = (&self.ledger.store, &self.header.filter);
        joined(ticket, &stopped_elsewhere(store, filter, version, true))
    }

    /// Reads the newest state. Third-party code is not run under a lock.
    pub(super) fn read<T>(&self, read: impl FnOnce(&Book<F>) -> T) -> Result<T, StoreError> {
        if F::REENTRANT.0 {
            return Ok(read(&self.newest()?));
        }
        let mut book = self.book();
        book.renew(&*self.ledger.store)?;
        Ok(read(&book))
    }

    /// A copy of the newest state, made without running code of the rule under a lock.
    pub(super) fn newest(&self) -> Result<Book<F>, StoreError> {
        let mut copy = self.book().copy();
        if !copy.renew(&*self.ledger.store)? {
            return Ok(copy);
        }
        let mut book = self.book();
        book.advance(&mut copy);
        let newest = book.copy();
        // What the first copy holds now is dropped without the lock.
        drop(book);
        Ok(newest)
    }
}

/// Says what other handles and processes have done in the filter after this version: only the store
/// knows. A halt stops, and where `freezes` is set, any later launch.
pub(super) fn stopped_elsewhere(
    store: &Arc<dyn Store>,
    filter: &Arc<str>,
    version: u64,
    freezes: bool,
) -> StopToken {
    let (store, filter) = (Arc::clone(store), Arc::clone(filter));
    let seen = AtomicU64::new(version);
    StopToken::default().watched(move || {
        let known = [(&*filter, seen.load(Ordering::Relaxed))];
        match store.newer(&known).as_deref() {
            Ok([]) => Ok(()),
            Ok([(_, later)]) if has_halted(&later.state) => Err(Stop::Halted),
            Ok([(_, later)]) if !freezes => {
                seen.store(later.version, Ordering::Relaxed);
                Ok(())
            }
            // Also where the store does not say: it may have stopped.
            _ if freezes => Err(Stop::Frozen),
            _ => Err(Stop::Halted),
        }
    })
}

crate::clone_fields!([D: ?Sized, F: LedgerRule, R, X] LedgerFilter<D, F, R, X> { shared, types });

// Shows nothing of the contents.
crate::debug_fields!([D: ?Sized, F: LedgerRule, R, X] LedgerFilter<D, F, R, X>, "LedgerFilter");
