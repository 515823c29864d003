//! Starting things with the operating system's randomness.

use std::sync::Arc;

use super::{LocalQueryable, Queryable};
use crate::account::ContinuationRule;
use crate::compose::{
    Child, Compositor, Discipline, FilterGate, Gate, Interactive, LaunchError, LaunchErrorOf,
    Leash, Parts,
};
use crate::machine::{CoinSource, Fault, Machine, Mechanism, Released, SystemCoins};
use crate::privacy::{Private, Relation};

/// Starts a mechanism on data, outside any compositor, and gives the handle to it.
///
/// This is for whoever holds the data: nothing is charged, and nothing is asked of the mechanism.
/// Start a [`Filter`](crate::compose::Filter) or an [`Odometer`](crate::compose::Odometer), and
/// hand out what comes back.
///
/// # Errors
///
/// The mechanism's fault.
pub fn launch<D, M>(
    mechanism: &M,
    data: Arc<D>,
) -> Result<<M::Machine as IntoHandle>::Handle, Fault>
where
    D: ?Sized,
    M: Mechanism<D, Machine: IntoHandle>,
{
    launch_held(mechanism, data, Leash::default())
}

/// [`launch`] of something that can be stopped.
pub(crate) fn launch_held<D, M>(
    mechanism: &M,
    data: Arc<D>,
    leash: Leash,
) -> Result<<M::Machine as IntoHandle>::Handle, Fault>
where
    D: ?Sized,
    M: Mechanism<D, Machine: IntoHandle>,
{
    let mut coins = SystemCoins::new();
    let child = Child::start(mechanism, &data, leash, &mut coins.coins())?;
    M::Machine::open(child, coins).ok_or(Fault::Failed)
}

/// The handle to a machine `S` that stays on its thread.
pub type LocalHandle<S> = LocalQueryable<<S as Machine>::Query, <S as Machine>::Answer>;

/// [`launch`] for a machine that cannot be sent to another thread: the handle stays on this one.
///
/// # Errors
///
/// The mechanism's fault.
pub fn launch_local<D, M, S>(mechanism: &M, data: Arc<D>) -> Result<LocalHandle<S>, Fault>
where
    D: ?Sized,
    M: Mechanism<D, Machine = S>,
    S: Machine + 'static,
{
    let mut coins = SystemCoins::new();
    let child = Child::root(mechanism, &data, &mut coins.coins())?;
    Ok(LocalQueryable::new(child, coins))
}

/// What can be handed out to an analyst.
///
/// Machines become [`Queryable`]s; compositors are handles already.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be handed out to an analyst",
    note = "a handle can be sent between threads: what it holds must be a `Machine` that is `Send`",
    note = "one that is not `Send` can be launched with `launch_local`, and stays on its thread"
)]
pub trait IntoHandle: Sized {
    /// The handle.
    type Handle;

    /// Turns a child into a handle; `None` if it has failed already.
    #[doc(hidden)]
    fn open(child: Child<Self>, coins: SystemCoins) -> Option<Self::Handle>;
}

impl<S: Machine + Send + 'static> IntoHandle for S {
    type Handle = Queryable<S::Query, S::Answer>;

    fn open(child: Child<Self>, coins: SystemCoins) -> Option<Self::Handle> {
        Some(Queryable::new(child, coins))
    }
}

impl<D: ?Sized, G: Gate, R, X> IntoHandle for Compositor<D, G, R, X> {
    type Handle = Self;

    fn open(child: Child<Self>, _coins: SystemCoins) -> Option<Self> {
        let (compositor, leash) = child.into_parts()?;
        Some(compositor.on_leash(leash))
    }
}

impl<K: Ord, D: ?Sized, F: ContinuationRule, R, X> IntoHandle
    for Parts<K, Compositor<D, FilterGate<F>, R, X>>
{
    type Handle = Self;

    fn open(child: Child<Self>, _coins: SystemCoins) -> Option<Self> {
        let (parts, leash) = child.into_parts()?;
        Some(parts.on_leash(&leash))
    }
}

impl<D, G, R, X> Compositor<D, G, R, X>
where
    D: ?Sized,
    G: Gate,
    R: Relation,
    X: Discipline,
{
    /// Launches a mechanism and gives the handle to it: a [`Queryable`], or the running compositor
    /// where the mechanism is one.
    ///
    /// # Errors
    ///
    /// Why there is no child; only after [`LaunchError::Failed`] has anything been charged.
    pub fn launch<M>(
        &self,
        mechanism: &M,
    ) -> Result<<M::Machine as IntoHandle>::Handle, LaunchErrorOf<G>>
    where
        M: Mechanism<D, Machine: IntoHandle> + Private<G::Measure, R>,
        X: Interactive,
    {
        let mut coins = SystemCoins::new();
        let child = self.launch_with(mechanism, &mut coins.coins())?;
        M::Machine::open(child, coins).ok_or(LaunchError::Failed)
    }

    /// [`launch`](Self::launch) for a machine that cannot be sent to another thread: the handle
    /// stays on this one.
    ///
    /// # Errors
    ///
    /// As for [`launch`](Self::launch).
    pub fn launch_local<M, S>(&self, mechanism: &M) -> Result<LocalHandle<S>, LaunchErrorOf<G>>
    where
        M: Mechanism<D, Machine = S> + Private<G::Measure, R>,
        S: Machine + 'static,
        X: Interactive,
    {
        let mut coins = SystemCoins::new();
        let child = self.launch_with(mechanism, &mut coins.coins())?;
        Ok(LocalQueryable::new(child, coins))
    }

    /// Launches a non-interactive mechanism and gives its answer.
    ///
    /// # Errors
    ///
    /// Why there is no answer; only after [`LaunchError::Failed`] has anything been charged.
    pub fn release<M, A>(&self, mechanism: &M) -> Result<A, LaunchErrorOf<G>>
    where
        M: Mechanism<D, Machine = Released<A>> + Private<G::Measure, R>,
    {
        self.release_with(mechanism, &mut SystemCoins::new().coins())
    }
}
