//! What the handles to running compositors have in common.

use std::marker::PhantomData;
use std::sync::Arc;

use super::gate::{DenialOf, Gate, PriceOf, Terms};
use super::launches::{Launches, admit};
use super::{CompositorMachine, Discipline, LaunchError, Ticket};
use crate::machine::{
    Answered, CoinSource, Fault, Mechanism, PublicFacts, StopToken, SystemCoins, discard, guarded,
};
use crate::privacy::{Private, Relation};
use crate::queryable::Child;
use crate::sync::{Mutex, MutexGuard, PoisonError};

/// A shared compositor: the parts of a [`CompositorMachine`], with the mutable ones behind a lock.
///
/// The lock is held to read the gate and to replace it, never while third-party code runs. A launch
/// under a third-party rule copies the gate, decides outside the lock, and then replaces the gate;
/// if another launch came first, it decides again. So a rule that reads its own filter does not
/// deadlock, and a store that keeps the budget elsewhere can do the same. The rules of this crate
/// call no other code and decide under the lock, which saves taking it a second time.
pub(super) struct Running<D: ?Sized, G: Gate, R, X> {
    shared: Arc<Shared<D, G>>,
    /// The token of its launch. Kept outside the lock, so that a check does not take it.
    token: StopToken,
    types: PhantomData<fn() -> (R, X)>,
}

struct Shared<D: ?Sized, G: Gate> {
    terms: Terms<G::Children>,
    launches: Mutex<Launches<G>>,
    /// `None` only while it is dropped.
    data: Option<Arc<D>>,
}

/// The data's own `drop` may panic. Analysts drop handles, and must not see the payload.
impl<D: ?Sized, G: Gate> Drop for Shared<D, G> {
    fn drop(&mut self) {
        discard(self.data.take());
    }
}

impl<D: ?Sized, G: Gate, R, X> Running<D, G, R, X> {
    /// The handle to a machine that was launched.
    pub(super) fn new(child: Child<CompositorMachine<D, G, R, X>>) -> Result<Self, Fault> {
        let (machine, token) = child.into_parts().ok_or(Fault::Failed)?;
        Ok(Self::of(machine, token))
    }

    /// The handle to a machine that `token` stops.
    pub(super) fn of(machine: CompositorMachine<D, G, R, X>, token: StopToken) -> Self {
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
                data: Some(data),
            }),
            token,
            types: PhantomData,
        }
    }

    fn launches(&self) -> MutexGuard<'_, Launches<G>> {
        // Poison is ignored: nothing that runs under the lock leaves a half-made change.
        let launches = self.shared.launches.lock();
        launches.unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads public values; this is always allowed.
    pub(super) fn read<T>(&self, read: impl FnOnce(&G) -> T) -> T {
        if G::CALLS_BACK {
            let copy = self.launches().copy();
            return read(&copy.gate);
        }
        read(&self.launches().gate)
    }

    pub(super) fn terms(&self) -> &Terms<G::Children> {
        &self.shared.terms
    }

    /// Whether an ancestor has stopped it.
    pub(super) fn is_stopped(&self) -> bool {
        self.token.check().is_err()
    }

    /// What is public about the data.
    pub(super) fn facts(&self) -> &D::Facts
    where
        D: PublicFacts,
    {
        let data = self.shared.data.as_deref();
        // The data is taken out only when the last handle is dropped, and this is a handle. The
        // analyst must not see the payload of a panic in the data's own code.
        match guarded(|| Ok(data.map(PublicFacts::facts))) {
            Ok(Some(facts)) => facts,
            _ => unreachable!("the dataset fails to say what is public about it"),
        }
    }

    /// Decides, charges, starts, in this order.
    #[inline]
    pub(super) fn start<M>(
        &self,
        mechanism: &M,
    ) -> Result<(Child<M::Machine>, SystemCoins), DenialOf<G>>
    where
        M: Mechanism<D> + Private<G::Children, R>,
        R: Relation,
        X: Discipline,
    {
        let (ticket, data) = self.admit_mechanism(mechanism)?;
        let mut coins = SystemCoins::new();
        let child = ticket.start(mechanism, data, &mut coins.coins());
        Ok((child.map_err(|_| LaunchError::Failed)?, coins))
    }

    /// The same for a mechanism that answers once.
    #[inline]
    pub(super) fn release<M>(
        &self,
        mechanism: &M,
    ) -> Result<<M::Machine as Answered>::Value, DenialOf<G>>
    where
        M: Mechanism<D, Machine: Answered> + Private<G::Children, R>,
        R: Relation,
        X: Discipline,
    {
        let (ticket, data) = self.admit_mechanism(mechanism)?;
        let answer = ticket.release(mechanism, data, &mut SystemCoins::new().coins());
        Ok(answer.map_err(|_| LaunchError::Failed)?)
    }

    #[inline]
    pub(super) fn admit_mechanism<M>(&self, mechanism: &M) -> Result<(Ticket, &Arc<D>), DenialOf<G>>
    where
        M: Mechanism<D> + Private<G::Children, R>,
        R: Relation,
        X: Discipline,
    {
        self.token.check().map_err(LaunchError::Stopped)?;
        let data = self.shared.data.as_ref().ok_or(LaunchError::Failed)?;
        let price = self.shared.terms.price(mechanism, &**data)?;
        Ok((self.admit(&price)?, data))
    }

    /// The same, and whatever the gate notes of a launch that was admitted, in the same turn.
    pub(super) fn admit_mechanism_then<M>(
        &self,
        mechanism: &M,
        note: impl Fn(&mut G),
    ) -> Result<(Ticket, &Arc<D>), DenialOf<G>>
    where
        M: Mechanism<D> + Private<G::Children, R>,
        R: Relation,
        X: Discipline,
    {
        self.token.check().map_err(LaunchError::Stopped)?;
        let data = self.shared.data.as_ref().ok_or(LaunchError::Failed)?;
        let price = self.shared.terms.price(mechanism, &**data)?;
        Ok((self.admit_then(&price, note)?, data))
    }

    /// What a mechanism would cost, if it has a price and fits the data, and nothing was stopped.
    #[inline]
    pub(super) fn price<M>(&self, mechanism: &M) -> Result<PriceOf<G>, DenialOf<G>>
    where
        M: Mechanism<D> + Private<G::Children, R>,
        R: Relation,
    {
        self.token.check().map_err(LaunchError::Stopped)?;
        let data = self.shared.data.as_ref().ok_or(LaunchError::Failed)?;
        Ok(self.shared.terms.price(mechanism, &**data)?)
    }

    /// Decides and charges, from public values only.
    #[inline]
    pub(super) fn admit(&self, price: &PriceOf<G>) -> Result<Ticket, DenialOf<G>>
    where
        X: Discipline,
    {
        self.admit_then(price, |_| ())
    }

    #[inline]
    fn admit_then(&self, price: &PriceOf<G>, note: impl Fn(&mut G)) -> Result<Ticket, DenialOf<G>>
    where
        X: Discipline,
    {
        if !G::CALLS_BACK {
            // The mechanism's code has run: it may have stopped this one.
            self.token.check().map_err(LaunchError::Stopped)?;
            let mut launches = self.launches();
            let ticket = launches.admit::<X>(price)?;
            note(&mut launches.gate);
            return Ok(ticket);
        }
        loop {
            let mut copy = self.launches().copy();
            let admitted = admit(&mut copy.gate, price);
            if admitted.is_ok() {
                note(&mut copy.gate);
            }
            // The rule's code has run, too.
            self.token.check().map_err(LaunchError::Stopped)?;
            let decided = self.launches().put_back::<X>(&mut copy, admitted);
            if let Some(decided) = decided {
                return decided;
            }
        }
    }
}

impl<D: ?Sized, G: Gate, R, X> Clone for Running<D, G, R, X> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            token: self.token.clone(),
            types: PhantomData,
        }
    }
}

/// What every handle to a running compositor can do: launch, release, and read public values. It
/// cannot be printed, forked or given coins.
macro_rules! running {
    ($Running:ident<D, $Rule:ident: $Bound:path, R, X>, $Gate:ty, $name:literal) => {
        impl<D, $Rule, R, X> $Running<D, $Rule, R, X>
        where
            D: ?Sized,
            $Rule: $Bound,
            R: Relation,
            X: Discipline,
        {
            /// Launches a mechanism and returns the handle to it: a
            /// [`Queryable`](crate::queryable::Queryable), or a running compositor if the mechanism
            /// is a compositor.
            ///
            /// # Errors
            ///
            /// Why there is no child; only after [`LaunchError::Failed`] has anything been charged.
            pub fn launch<M>(
                &self,
                mechanism: &M,
            ) -> Result<HandleOf<M, D>, LaunchError<ChildLoss<$Rule>, WholeLoss<$Rule>>>
            where
                M: Mechanism<D, Machine: IntoHandle> + Private<$Rule::Children, R>,
                X: Interactive,
            {
                let (child, coins) = self.0.start(mechanism).map_err(|denial| *denial)?;
                M::Machine::into_handle(child, coins, OPENING).map_err(|_| LaunchError::Failed)
            }

            /// Launches a non-interactive mechanism and returns its answer.
            ///
            /// # Errors
            ///
            /// Why there is no answer; only after [`LaunchError::Failed`] has anything been charged.
            pub fn release<M>(
                &self,
                mechanism: &M,
            ) -> Result<
                <M::Machine as Answered>::Value,
                LaunchError<ChildLoss<$Rule>, WholeLoss<$Rule>>,
            >
            where
                M: Mechanism<D, Machine: Answered> + Private<$Rule::Children, R>,
            {
                self.0.release(mechanism).map_err(|denial| *denial)
            }

            /// [`launch`](Self::launch) for a machine that cannot be sent to another thread: the
            /// handle stays on this one.
            ///
            /// # Errors
            ///
            /// As for [`launch`](Self::launch).
            pub fn launch_local<M, S>(
                &self,
                mechanism: &M,
            ) -> Result<LocalHandle<S>, LaunchError<ChildLoss<$Rule>, WholeLoss<$Rule>>>
            where
                M: Mechanism<D, Machine = S> + Private<$Rule::Children, R>,
                S: Machine + 'static,
                X: Interactive,
            {
                let (child, coins) = self.0.start(mechanism).map_err(|denial| *denial)?;
                Ok(LocalQueryable::new(child, coins))
            }

            /// The public facts of the data: its domain, its schema, a time horizon.
            ///
            /// # Panics
            ///
            /// If the dataset's own code panics. The message says only that.
            pub fn facts(&self) -> &D::Facts
            where
                D: PublicFacts,
            {
                self.0.facts()
            }
        }

        impl<D: ?Sized, $Rule: $Bound, R, X> Clone for $Running<D, $Rule, R, X> {
            fn clone(&self) -> Self {
                Self(self.0.clone())
            }
        }

        impl<D: ?Sized, $Rule: $Bound, R, X> std::fmt::Debug for $Running<D, $Rule, R, X> {
            /// Shows nothing of the contents.
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str($name)
            }
        }

        impl<D: ?Sized, $Rule: $Bound, R, X> crate::queryable::sealed::Sealed
            for CompositorMachine<D, $Gate, R, X>
        {
        }

        impl<D: ?Sized, $Rule: $Bound, R, X> IntoHandle for CompositorMachine<D, $Gate, R, X> {
            type Handle = $Running<D, $Rule, R, X>;

            fn into_handle(
                child: Child<Self>,
                _: SystemCoins,
                _: Opening,
            ) -> Result<Self::Handle, Fault> {
                Ok($Running(Running::new(child)?))
            }
        }
    };
}
pub(super) use running;
