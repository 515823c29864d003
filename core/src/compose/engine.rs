//! A launch, from its price to its start.
//!
//! Every running compositor is a [`Launching`]: data, what a mechanism must state, and the
//! [`Launches`] so far. A machine owns its launches and a handle locks them; that is all that
//! differs, and [`Keeps`] is that difference. The three steps stand in the order in which they
//! happen:
//!
//! 1. [`price`](Launching::price): the mechanism states its loss. This is its own code, and sees
//!    nothing but what is public.
//! 2. [`decide`](Launching::decide): the rule admits the price, and it is charged; or nothing has
//!    changed.
//! 3. [`start`](Ticket::start): the mechanism touches the data.
//!
//! What `verify` explores and what an analyst's handle does is this file.

use std::sync::Arc;

use super::gate::{DenialOf, Gate, NoPrice, PriceOf, Terms};
use super::launches::{Launches, admitted};
use super::{Discipline, LaunchError, Ticket};
use crate::machine::{Answered, Coins, Mechanism, Stop, StopToken};
use crate::privacy::{Private, Relation};
use crate::queryable::Child;
use crate::sync::{Mutex, PoisonError};

/// A running compositor, borrowed for one call.
///
/// After every piece of third-party code it is checked whether the compositor itself may go on: a
/// mechanism that states its loss, and a rule that decides, may have stopped it.
pub(super) struct Launching<'a, D: ?Sized, G: Gate, K> {
    pub(super) data: &'a Arc<D>,
    pub(super) terms: &'a Terms<G::Children>,
    /// The launches so far: owned, or behind a lock.
    pub(super) kept: K,
}

impl<D: ?Sized, G: Gate, K: Keeps<G>> Launching<'_, D, G, K> {
    /// What the mechanism costs, if it has a price and fits the data.
    // Always: a price is large, and is copied once more by a call.
    #[inline(always)]
    pub(super) fn price<M, R>(
        &self,
        mechanism: &M,
        coins: &Coins<'_>,
    ) -> Result<PriceOf<G>, DenialOf<G>>
    where
        M: Mechanism<D> + Private<G::Children, R>,
        R: Relation,
    {
        price::<_, G, _, _>(self.terms, &**self.data, mechanism, || {
            self.kept.check(coins)
        })
    }

    /// Decides and charges, from public values only. `note` changes the gate of a launch that was
    /// admitted, in the same turn.
    ///
    /// The rules of this crate call no other code: they decide in place. A third-party rule may
    /// read or launch in the compositor that asks it, so it decides on a copy, and no lock is held;
    /// if another launch came first, it decides again.
    #[inline]
    pub(super) fn decide<X: Discipline>(
        &mut self,
        price: &PriceOf<G>,
        note: impl Fn(&mut G),
        coins: &Coins<'_>,
    ) -> Result<Ticket, DenialOf<G>> {
        if !G::CALLS_BACK {
            self.kept.check(coins).map_err(LaunchError::Stopped)?;
            return self.kept.with(|launches| launches.decide::<X>(price, note));
        }
        loop {
            let mut copy = self.kept.with(|launches| launches.snapshot());
            let admitted = admitted(&mut copy.gate, price, &note);
            self.kept.check(coins).map_err(LaunchError::Stopped)?;
            let decided = self
                .kept
                .with(|launches| launches.replace::<X>(&mut copy, admitted));
            if let Some(decided) = decided {
                return decided;
            }
        }
    }

    /// Price, decide, start: for a mechanism that may answer several times.
    #[inline]
    pub(super) fn launch<X, M, R>(
        &mut self,
        mechanism: &M,
        note: impl Fn(&mut G),
        coins: &mut Coins<'_>,
    ) -> Result<Child<M::Machine>, DenialOf<G>>
    where
        M: Mechanism<D> + Private<G::Children, R>,
        R: Relation,
        X: Discipline,
    {
        let price = self.price(mechanism, coins)?;
        let ticket = self.decide::<X>(&price, note, coins)?;
        let child = ticket.start(mechanism, self.data, coins);
        Ok(child.map_err(|_| LaunchError::Failed)?)
    }

    /// Price, decide, start: for a mechanism that answers once.
    #[inline]
    pub(super) fn release<X, M, R>(
        &mut self,
        mechanism: &M,
        note: impl Fn(&mut G),
        coins: &mut Coins<'_>,
    ) -> Result<<M::Machine as Answered>::Value, DenialOf<G>>
    where
        M: Mechanism<D, Machine: Answered> + Private<G::Children, R>,
        R: Relation,
        X: Discipline,
    {
        let price = self.price(mechanism, coins)?;
        let ticket = self.decide::<X>(&price, note, coins)?;
        let answer = ticket.release(mechanism, self.data, coins);
        Ok(answer.map_err(|_| LaunchError::Failed)?)
    }
}

/// What a mechanism costs. `check` says whether the compositor may go on.
#[inline(always)]
pub(super) fn price<D, G, M, R>(
    terms: &Terms<G::Children>,
    data: &D,
    mechanism: &M,
    check: impl Fn() -> Result<(), Stop>,
) -> Result<PriceOf<G>, DenialOf<G>>
where
    D: ?Sized,
    G: Gate,
    M: Mechanism<D> + Private<G::Children, R>,
    R: Relation,
{
    check().map_err(LaunchError::Stopped)?;
    let price = terms.price(mechanism, data);
    price.map_err(|reason| unpriced::<G>(reason, check()))
}

/// Why there is no price. A stop hides it: the mechanism may have chosen the reason after it.
#[cold]
fn unpriced<G: Gate>(reason: NoPrice, check: Result<(), Stop>) -> DenialOf<G> {
    match check {
        Err(stop) => LaunchError::Stopped(stop).into(),
        Ok(()) => reason.into(),
    }
}

/// Where the launches of a compositor are kept.
pub(super) trait Keeps<G> {
    /// Reads or changes them, undisturbed. No third-party code runs in it.
    fn with<T>(&mut self, change: impl FnOnce(&mut Launches<G>) -> T) -> T;

    /// Whether the compositor may go on.
    fn check(&self, coins: &Coins<'_>) -> Result<(), Stop>;
}

/// A machine owns them.
impl<G> Keeps<G> for &mut Launches<G> {
    #[inline]
    fn with<T>(&mut self, change: impl FnOnce(&mut Launches<G>) -> T) -> T {
        change(self)
    }

    #[inline]
    fn check(&self, coins: &Coins<'_>) -> Result<(), Stop> {
        Launches::check(self, coins)
    }
}

/// Handles share them, and are stopped by the token of their launch.
pub(super) struct Locked<'a, G> {
    pub(super) launches: &'a Mutex<Launches<G>>,
    pub(super) token: &'a StopToken,
}

impl<G> Keeps<G> for Locked<'_, G> {
    #[inline]
    fn with<T>(&mut self, change: impl FnOnce(&mut Launches<G>) -> T) -> T {
        // Poison is ignored: nothing that runs under the lock leaves a half-made change.
        change(&mut self.launches.lock().unwrap_or_else(PoisonError::into_inner))
    }

    #[inline]
    fn check(&self, _: &Coins<'_>) -> Result<(), Stop> {
        self.token.check()
    }
}
