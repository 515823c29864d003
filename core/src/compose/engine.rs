//! A launch, from its price to its start.
//!
//! Every running compositor is a [`Launching`]: data, what a mechanism must state, and the
//! [`Launches`] so far. A machine owns its launches and a handle locks them; that is all that
//! differs, and [`Keeps`] is that difference. The three steps stand in the order in which they
//! happen:
//!
//! 1. [`price`]: the mechanism states its loss. This is its own code, and sees nothing but what is
//!    public.
//! 2. [`decide`](Launching::decide): the rule admits the price, and it is charged; or nothing has
//!    changed.
//! 3. [`start`](Ticket::start): the mechanism touches the data.
//!
//! What `verify` explores and what an analyst's handle does is this file.

use std::sync::Arc;

use super::gate::{DenialOf, Gate, PriceOf, Takes, Terms};
use super::{Discipline, LaunchError};
use crate::machine::{Answered, Coins, Fault, Mechanism, Stop, StopToken, Stopper, guarded};
use crate::privacy::{Private, Relation};
use crate::queryable::sealed::Opening;
use crate::queryable::{Child, HandleOf, IntoHandle};
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

/// What a mechanism costs, if it has a price and fits the data. `check` says whether the compositor
/// may go on.
///
/// # Errors
///
/// Those of `check`, and why there is no price.
// Always: a price is large, and is copied once more by a call.
#[inline(always)]
pub fn price<D, G, M, R, E>(
    terms: &Terms<G::Children>,
    data: &D,
    mechanism: &M,
    check: impl Fn() -> Result<(), E>,
) -> Result<PriceOf<G>, E>
where
    D: ?Sized,
    G: Takes<M, R>,
    M: Mechanism<D> + Private<G::Children, R>,
    R: Relation,
    E: From<DenialOf<G>>,
{
    check()?;
    let price = terms.price::<D, G, M, R>(mechanism, data);
    // A stop hides why there is no price: the mechanism may have chosen the reason after it.
    price.map_err(|reason| check().err().unwrap_or_else(|| reason.into()))
}

impl<'a, D: ?Sized, G: Gate, K: Keeps<G>> Launching<'a, D, G, K> {
    /// Price and decide: the mechanism has been charged, and is still to be started, on these data.
    #[inline]
    pub(super) fn charge<X, M, R>(
        &mut self,
        mechanism: &M,
        coins: &Coins<'_>,
    ) -> Result<(Ticket, &'a Arc<D>), DenialOf<G>>
    where
        X: Discipline,
        M: Mechanism<D> + Private<G::Children, R>,
        R: Relation,
        G: Takes<M, R>,
    {
        let price = self.price(mechanism, coins)?;
        Ok((self.decide::<X>(&price, coins)?, self.data))
    }

    #[inline(always)]
    pub(super) fn price<M, R>(
        &self,
        mechanism: &M,
        coins: &Coins<'_>,
    ) -> Result<PriceOf<G>, DenialOf<G>>
    where
        M: Mechanism<D> + Private<G::Children, R>,
        R: Relation,
        G: Takes<M, R>,
    {
        let check = || Ok(self.kept.check(coins).map_err(LaunchError::Stopped)?);
        price::<D, G, M, R, _>(self.terms, &**self.data, mechanism, check)
    }

    /// Decides and charges, from public values only.
    ///
    /// The rules of this crate call no other code: they decide in place. A third-party rule may
    /// read or launch in the compositor that asks it, so it decides on a copy, and no lock is held;
    /// if another launch came first, it decides again.
    #[inline]
    pub(super) fn decide<X: Discipline>(
        &mut self,
        price: &PriceOf<G>,
        coins: &Coins<'_>,
    ) -> Result<Ticket, DenialOf<G>> {
        if !G::REENTRANT {
            self.kept.check(coins).map_err(LaunchError::Stopped)?;
            return self.kept.with(|launches| launches.decide::<X>(price));
        }
        loop {
            let mut copy = self.kept.with(|launches| launches.detached());
            let seen = copy.version();
            let decided = copy.decide::<X>(price).map(drop);
            self.kept.check(coins).map_err(LaunchError::Stopped)?;
            let ticket = self.kept.with(|launches| {
                (launches.version() == seen).then(|| {
                    launches.exchange(&mut copy);
                    decided.is_ok().then(|| launches.ticket::<X>())
                })
            });
            if let Some(ticket) = ticket {
                decided?;
                return ticket.ok_or_else(|| LaunchError::RuleFailed.into());
            }
        }
    }
}

/// A launch that was admitted: charged, and not yet started.
///
/// A compositor's `launch` has two steps, admit and start. To run the mechanism elsewhere, in
/// another process for example, do only the first and keep the ticket: its token says whether the
/// compositor has stopped the child meanwhile. Check it when an answer has arrived, and give the
/// answer out only if the check passes: code that ran for it may have seen a later launch.
///
/// ```
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let filter = start(&Filter::sequential(PureDp, "1".parse()?), Arc::new(()))?;
/// let ticket = filter.admit(&"0.5".parse()?)?;
/// let answer = std::thread::spawn(|| 42).join();
/// // The answer is there, and only now is it decided whether it is given out.
/// ticket.token().check()?;
/// assert_eq!(answer.ok(), Some(42));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "the launch is charged already"]
pub struct Ticket {
    token: StopToken,
}

impl Ticket {
    /// Starts the mechanism that was admitted, with these coins.
    ///
    /// # Errors
    ///
    /// The mechanism's fault; [`Fault::Stopped`] if it was stopped since it was admitted.
    #[inline]
    pub fn start<D: ?Sized, M: Mechanism<D> + ?Sized>(
        self,
        mechanism: &M,
        data: &Arc<D>,
        coins: &mut Coins<'_>,
    ) -> Result<Child<M::Machine>, Fault> {
        Child::start(mechanism, data, self.token, coins)
    }

    /// Starts it with the operating system's coins.
    #[inline]
    pub(super) fn opened<D: ?Sized, M: Mechanism<D> + ?Sized>(
        self,
        mechanism: &M,
        data: &Arc<D>,
    ) -> Result<Opening<M::Machine>, Fault> {
        Opening::start(mechanism, data, self.token)
    }

    /// The same, handed out.
    #[inline]
    pub(crate) fn open<D, M>(self, mechanism: &M, data: &Arc<D>) -> Result<HandleOf<M, D>, Fault>
    where
        D: ?Sized,
        M: Mechanism<D, Machine: IntoHandle> + ?Sized,
    {
        M::Machine::into_handle(self.opened(mechanism, data)?)
    }

    /// Starts a mechanism that answers once: there is nothing left to stop afterwards.
    #[inline]
    pub(crate) fn release<D: ?Sized, M: Mechanism<D, Machine: Answered> + ?Sized>(
        self,
        mechanism: &M,
        data: &Arc<D>,
        coins: &mut Coins<'_>,
    ) -> Result<<M::Machine as Answered>::Value, Fault> {
        Child::run(mechanism, data, &self.token, coins).map(Answered::into_value)
    }

    /// The same, for a child that `other` stops too.
    pub(crate) fn joined(self, other: &StopToken) -> Self {
        // Beside its own, which is asked first, for a precise reason.
        let token = self.token.joined(other);
        Self { token }
    }

    /// Says whether the child has been stopped.
    #[must_use]
    pub fn token(&self) -> &StopToken {
        &self.token
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

/// What has been launched: the gate, and what stops the children.
#[derive(Debug)]
pub struct Launches<G> {
    /// What has been spent, and decides.
    pub gate: G,
    /// Counts how often the gate was replaced.
    version: u64,
    /// Above every child's token.
    base: StopToken,
    /// Where the gate may halt: a token above every child's, and what stops it.
    halting: Option<(StopToken, Stopper)>,
    /// Where a launch freezes the earlier child: what stops the latest.
    latest: Option<Stopper>,
}

impl<G> Launches<G> {
    /// Whether a machine that owns them may go on: it is stopped by the token under which it was
    /// started, as a handle is, and by the tokens of whoever runs it.
    #[inline]
    pub(super) fn check(&self, coins: &Coins<'_>) -> Result<(), Stop> {
        coins.check()?;
        self.base.check()
    }
}

impl<G: Gate> Launches<G> {
    /// `base` stops everything that is launched.
    pub(super) fn new(gate: G, base: StopToken) -> Self {
        Self {
            version: 0,
            halting: gate.may_halt().then(|| base.extended()),
            latest: None,
            gate,
            base,
        }
    }

    /// Puts all later launches below `base`, another token for the same machine. Earlier children
    /// stay below the token with which they started.
    pub(super) fn rebase(&mut self, base: &StopToken) {
        if let Some((_, stopper)) = &self.halting {
            // Nobody can halt the earlier children any more.
            stopper.stop(Stop::Frozen);
            self.halting = Some(base.extended());
        }
        if let Some(stopper) = self.latest.take() {
            stopper.stop(Stop::Frozen);
        }
        self.base = base.clone();
    }

    /// Asks the gate for its decision, and carries it out. A third-party rule may panic: then
    /// nothing has changed, because the gate replaces its rule only after the rule has returned.
    ///
    /// # Errors
    ///
    /// Why it is not admitted.
    #[inline]
    pub fn decide<X: Discipline>(&mut self, price: &PriceOf<G>) -> Result<Ticket, DenialOf<G>> {
        let decided = guarded(|| Ok(self.gate.charge(price)));
        self.version += 1;
        match decided.unwrap_or_else(|_| Err(LaunchError::RuleFailed.into())) {
            Ok(()) => Ok(self.ticket::<X>()),
            Err(denial) => {
                self.stop_if_halted();
                Err(denial)
            }
        }
    }

    /// A token for one more child.
    pub fn ticket<X: Discipline>(&mut self) -> Ticket {
        let above = match &self.halting {
            Some((token, _)) => token,
            None => &self.base,
        };
        if !X::FREEZES {
            return Ticket {
                token: above.clone(),
            };
        }
        let (token, stopper) = above.extended();
        if let Some(earlier) = self.latest.replace(stopper) {
            earlier.stop(Stop::Frozen);
        }
        Ticket { token }
    }

    /// A copy that decides without stopping anybody. Its rule is copied without running its code.
    #[must_use]
    pub fn detached(&self) -> Self {
        Self {
            version: self.version,
            ..Self::new(self.gate.clone(), StopToken::default())
        }
    }

    /// How often the gate was replaced: whether a copy is still the newest.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Takes up the gate of a copy, which has decided or has read a later state, and leaves its own
    /// there, to be dropped outside of locks. A copy that has halted stops the children.
    pub fn exchange(&mut self, copy: &mut Self) {
        std::mem::swap(&mut self.gate, &mut copy.gate);
        self.version += 1;
        self.stop_if_halted();
    }

    #[cold]
    fn stop_if_halted(&self) {
        if let Some((_, stopper)) = &self.halting
            && self.gate.is_halted()
        {
            stopper.stop(Stop::Halted);
        }
    }

    /// What stops every child, whenever it was launched.
    #[must_use]
    pub fn child_token(&self) -> StopToken {
        match &self.halting {
            Some((token, _)) => token.clone(),
            None => self.base.clone(),
        }
    }
}
