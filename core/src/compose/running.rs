//! The handle to a running compositor.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use super::engine::{Keeps, Launches, Launching, Locked};
use super::error::{denied, failed};
use super::gate::{ChildLossOf, DenialOf, Gate, LaunchErrorOf, PriceOf, Takes, Terms};
use super::{CompositorMachine, Discipline, Interactive, LaunchError, Ticket};
use crate::machine::{
    Answered, CoinSource, Coins, Fault, Machine, Mechanism, PublicMetadata, Quiet, StopToken,
    SystemCoins, guarded,
};
use crate::privacy::{Private, Relation};
use crate::queryable::sealed::{self, Opening};
use crate::queryable::{HandleOf, IntoHandle, LocalQueryable};
use crate::sync::Mutex;

/// The handle to a running filter or odometer on data of type `D`: what an analyst launches
/// mechanisms with.
///
/// [`RunningFilter`](super::RunningFilter), [`RunningOdometer`](super::RunningOdometer) and the
/// toolkit's `RunningTimeUniform` are its three kinds, with an example each; they differ in what can
/// be read from them. It does what a [`CompositorMachine`] does, with the
/// operating system's randomness, and its parts are shared: clones are the same compositor, and it
/// can be sent between threads. It cannot be printed, forked or given coins.
///
/// Children are independent: they may outlive it, run on other threads, and block neither each other
/// nor their parent.
///
/// # Guarantee
///
/// That of the compositor which was launched.
pub struct RunningCompositor<D: ?Sized, G: Gate, R, X> {
    shared: Arc<Shared<D, G>>,
    /// The token of its launch. Kept outside the lock, so that a check does not take it.
    token: StopToken,
    types: PhantomData<fn() -> (R, X)>,
}

struct Shared<D: ?Sized, G: Gate> {
    terms: Terms<G::Children>,
    launches: Mutex<Launches<G>>,
    /// Its own `drop` may panic. Analysts drop handles, and must not see the payload.
    data: Quiet<Arc<D>>,
}

impl<D: ?Sized, G: Gate, R, X> RunningCompositor<D, G, R, X> {
    /// The handle to a machine that `token` stops.
    pub(super) fn new(machine: CompositorMachine<D, G, R, X>, token: StopToken) -> Self {
        let CompositorMachine {
            data,
            terms,
            mut launches,
            ..
        } = machine;
        launches.rebase(&token);
        Self {
            shared: Arc::new(Shared {
                terms,
                launches: Mutex::new(launches),
                data: Quiet::new(data),
            }),
            token,
            types: PhantomData,
        }
    }

    /// This compositor, for one launch.
    #[inline]
    fn launching(&self) -> Launching<'_, D, G, Locked<'_, G>> {
        Launching {
            data: self.data(),
            terms: &self.shared.terms,
            kept: self.kept(),
        }
    }

    #[inline]
    pub(super) fn data(&self) -> &Arc<D> {
        &self.shared.data
    }

    #[inline]
    fn kept(&self) -> Locked<'_, G> {
        Locked {
            launches: &self.shared.launches,
            token: &self.token,
        }
    }

    /// Reads public values; this is always allowed. Third-party code is not run under the lock.
    pub(super) fn read<T>(&self, read: impl FnOnce(&G) -> T) -> T {
        let mut kept = self.kept();
        if G::REENTRANT {
            let copy = kept.with(|launches| launches.gate.clone());
            return read(&copy);
        }
        kept.with(|launches| read(&launches.gate))
    }

    /// What has been spent, as this compositor shows it: what the launches so far add up to, for
    /// neighbours, with what the rule or the accumulator has set aside. Reading it changes nothing.
    ///
    /// To stop at a level, use a filter, or [ask an odometer
    /// before](super::Odometer#to-stop-at-a-level-ask-before-the-launch): do not compare this with it
    /// after each launch.
    #[must_use]
    pub fn privacy_loss(&self) -> G::Reading {
        self.read(G::reading)
    }

    pub(super) fn terms(&self) -> &Terms<G::Children> {
        &self.shared.terms
    }

    /// Whether an ancestor has stopped it.
    pub(super) fn is_stopped(&self) -> bool {
        self.token.check().is_err()
    }

    /// The public facts of the data: its domain, its schema, a time horizon.
    ///
    /// # Panics
    ///
    /// If the dataset's own code panics. The message says only that.
    #[must_use]
    pub fn metadata(&self) -> &D::Metadata
    where
        D: PublicMetadata,
    {
        public_facts(self.data())
    }
}

/// What is public about the data. It is taken out only when the last handle is dropped, and whoever
/// asks has one. The analyst must not see the payload of a panic in the data's own code.
pub(super) fn public_facts<D: PublicMetadata + ?Sized>(data: &Arc<D>) -> &D::Metadata {
    match guarded(|| Ok(data.metadata())) {
        Ok(facts) => facts,
        Err(_) => unreachable!("the dataset fails to say what is public about it"),
    }
}

impl<D: ?Sized, G: Gate, R: Relation, X: Discipline> RunningCompositor<D, G, R, X> {
    /// Launches a mechanism and returns the handle to it: a
    /// [`Queryable`](crate::queryable::Queryable), or a running compositor if the mechanism is a
    /// compositor.
    ///
    /// # Errors
    ///
    /// Why there is no child; only after [`LaunchError::Failed`] has anything been charged.
    #[inline]
    pub fn launch<M>(&self, mechanism: &M) -> Result<HandleOf<M, D>, LaunchErrorOf<G>>
    where
        M: Mechanism<D, Machine: IntoHandle> + Private<G::Children, R>,
        G: Takes<M, R>,
        X: Interactive,
    {
        match self.charge(mechanism, &SystemCoins::new().coins()) {
            Ok((ticket, data)) => ticket.open(mechanism, data).or_else(|_| failed()),
            Err(denial) => denied(denial),
        }
    }

    /// Launches a non-interactive mechanism and returns its answer.
    ///
    /// # Errors
    ///
    /// Why there is no answer; only after [`LaunchError::Failed`] has anything been charged.
    // The error type is that of every compositor, and is built only if a launch fails. Not `#[inline]`:
    // compiled into its caller, it stores an answer in pieces that are then read as one, and a
    // processor waits for that.
    #[allow(clippy::result_large_err)]
    pub fn release<M>(
        &self,
        mechanism: &M,
    ) -> Result<<M::Machine as Answered>::Value, LaunchErrorOf<G>>
    where
        M: Mechanism<D, Machine: Answered> + Private<G::Children, R>,
        G: Takes<M, R>,
    {
        let mut coins = SystemCoins::new();
        match self.charge(mechanism, &coins.coins()) {
            Ok((ticket, data)) => {
                let answer = ticket.release(mechanism, data, &mut coins.coins());
                answer.or_else(|_| failed())
            }
            Err(denial) => denied(denial),
        }
    }

    /// [`launch`](Self::launch) for a machine that cannot be sent to another thread: the handle
    /// stays on this one.
    ///
    /// # Errors
    ///
    /// As for [`launch`](Self::launch).
    pub fn launch_local<M, S>(
        &self,
        mechanism: &M,
    ) -> Result<LocalQueryable<S::Query, S::Answer>, LaunchErrorOf<G>>
    where
        M: Mechanism<D, Machine = S> + Private<G::Children, R>,
        S: Machine + 'static,
        G: Takes<M, R>,
        X: Interactive,
    {
        let (ticket, data) = self.charge(mechanism, &SystemCoins::new().coins())?;
        let opening = ticket.opened(mechanism, data);
        let opening = opening.map_err(|_| LaunchError::Failed)?;
        Ok(LocalQueryable::new(opening))
    }

    /// What a mechanism would cost, if it has a price and fits the data, and nothing was stopped.
    pub(super) fn price<M>(&self, mechanism: &M) -> Result<PriceOf<G>, DenialOf<G>>
    where
        M: Mechanism<D> + Private<G::Children, R>,
        G: Takes<M, R>,
    {
        self.launching()
            .price(mechanism, &SystemCoins::new().coins())
    }

    /// Price and decide, for a mechanism that is still to be started.
    #[inline]
    pub(super) fn charge<M>(
        &self,
        mechanism: &M,
        coins: &Coins<'_>,
    ) -> Result<(Ticket, &Arc<D>), DenialOf<G>>
    where
        M: Mechanism<D> + Private<G::Children, R>,
        G: Takes<M, R>,
    {
        self.launching().charge::<X, M, R>(mechanism, coins)
    }

    /// Charges a loss without running anything here: for a mechanism that runs elsewhere, in
    /// another process or another language. [`launch`](Self::launch) is this, and then the start.
    ///
    /// The caller is responsible for what the types otherwise ensure: that the mechanism has this
    /// loss under the compositor's measure and relation, at its distance; that it runs only after
    /// the ticket was issued, and only as long as the check of the ticket's token passes; and that
    /// it answers once if the compositor takes only such mechanisms. At the other distances that an
    /// odometer tracks, the loss follows by the measure's group privacy.
    ///
    /// ```
    /// use queryables::prelude::*;
    /// use queryables::privacy::Distance;
    /// use std::sync::Arc;
    ///
    /// // No data here: this process keeps the budget only.
    /// let filter = start(&Filter::concurrent(PureDp, "1".parse()?), Arc::new(()))?;
    /// let ticket = filter.admit(&"0.75".parse()?)?;
    /// // … the mechanism runs elsewhere; before each answer is handed on:
    /// assert_eq!(ticket.token().check(), Ok(()));
    /// let refused = filter.admit(&"0.5".parse()?).unwrap_err();
    /// assert_eq!(refused.to_string(), "a loss of ε = 0.5 is over budget: 0.75 of ε = 1 is spent, ε = 0.25 is left");
    ///
    /// let couple = Distance::new(2).ok_or("a distance")?;
    /// let odometer = start(&Odometer::concurrent(ZCdp).tracking([couple]), Arc::new(()))?;
    /// let ticket = odometer.admit(&"0.25".parse()?)?;
    /// assert_eq!(odometer.privacy_loss_at(couple), Some("1".parse()?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Why it is not admitted. In this case nothing has been charged.
    pub fn admit(&self, loss: &ChildLossOf<G>) -> Result<Ticket, LaunchErrorOf<G>> {
        let price = self.shared.terms.price_of::<G, R>(loss)?;
        Ok(self
            .launching()
            .decide::<X>(&price, &SystemCoins::new().coins())?)
    }
}

crate::clone_fields!([D: ?Sized, G: Gate, R, X] RunningCompositor<D, G, R, X> { shared, token, types });

impl<D: ?Sized, G: Gate, R, X> fmt::Debug for RunningCompositor<D, G, R, X> {
    /// Shows nothing of the contents.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(G::HANDLE)
    }
}

impl<D: ?Sized, G: Gate, R, X> sealed::Sealed for CompositorMachine<D, G, R, X> {}

impl<D: ?Sized, G: Gate, R, X> IntoHandle for CompositorMachine<D, G, R, X> {
    type Handle = RunningCompositor<D, G, R, X>;

    fn into_handle(opening: Opening<Self>) -> Result<Self::Handle, Fault> {
        let (machine, token) = opening.child.into_parts().ok_or(Fault::Failed)?;
        Ok(RunningCompositor::new(machine, token))
    }
}
