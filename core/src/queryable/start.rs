//! Starting things with the operating system's randomness.

use std::sync::Arc;

use super::{Child, LocalQueryable, Queryable};
use crate::machine::{
    CoinSource, Fault, Machine, Mechanism, Public, StopToken, SystemCoins, guarded,
};

/// Starts a mechanism on data, outside any compositor, and returns the handle to it.
///
/// This is for the data holder: nothing is charged, and the mechanism need not state a loss. Start
/// a [`Filter`](crate::compose::Filter) or an [`Odometer`](crate::compose::Odometer), and hand the
/// handle to the analyst.
///
/// # Errors
///
/// The mechanism's fault; [`Fault::InvalidQuery`] if it does not fit the public facts of the data.
pub fn start<D, M>(mechanism: &M, data: Arc<D>) -> Result<HandleOf<M, D>, Fault>
where
    D: ?Sized,
    M: Mechanism<D, Machine: IntoHandle>,
{
    start_under(mechanism, data, &StopToken::default())
}

/// [`start`] of something that `token` stops. It is for frameworks whose closures get no
/// [`Coins`](crate::machine::Coins), and so do not know which tokens are in force.
///
/// # Errors
///
/// As for [`start`], and [`Fault::Stopped`] if the token is stopped already.
pub fn start_under<D, M>(
    mechanism: &M,
    data: Arc<D>,
    token: &StopToken,
) -> Result<HandleOf<M, D>, Fault>
where
    D: ?Sized,
    M: Mechanism<D, Machine: IntoHandle>,
{
    M::Machine::into_handle(opened(mechanism, &data, token)?)
}

/// The handle to what mechanism `M` starts on data of type `D`.
///
/// Example: [`Queryable`](crate::queryable::Queryable).
pub type HandleOf<M, D> = <<M as Mechanism<D>>::Machine as IntoHandle>::Handle;

/// [`start`] for a machine that cannot be sent to another thread: the handle stays on this one.
///
/// Example: [`LocalQueryable`](crate::queryable::LocalQueryable).
///
/// # Errors
///
/// As for [`start`].
pub fn start_local<D, M, S>(
    mechanism: &M,
    data: Arc<D>,
) -> Result<LocalQueryable<S::Query, S::Answer>, Fault>
where
    D: ?Sized,
    M: Mechanism<D, Machine = S>,
    S: Machine + 'static,
{
    opened(mechanism, &data, &StopToken::default()).map(LocalQueryable::new)
}

fn opened<D: ?Sized, M: Mechanism<D>>(
    mechanism: &M,
    data: &Arc<D>,
    token: &StopToken,
) -> Result<Opening<M::Machine>, Fault> {
    guarded(|| Ok(mechanism.check(Public::of(&**data))))?
        .map_err(|mismatch| Fault::InvalidQuery(mismatch.0))?;
    Opening::start(mechanism, data, token.clone())
}

pub(crate) mod sealed {
    use super::{Arc, Child, CoinSource, Fault, Mechanism, StopToken, SystemCoins};
    use crate::queryable::handle::SharedMachine;

    /// Only this crate and its toolkit can make handles.
    pub trait Sealed {}

    /// A machine on its way into a handle, with the operating system's coins, from which it was also
    /// started.
    ///
    /// Only this crate makes one, of what it has started itself, and what is inside cannot be
    /// replaced. So whoever implements [`IntoHandle`](super::IntoHandle) is handed a machine of that
    /// very type, and nothing with which a child that was started from a caller's coins becomes a
    /// handle.
    #[derive(Debug)]
    pub struct Opening<S> {
        pub(crate) child: Child<S>,
        pub(crate) coins: SystemCoins,
    }

    impl<S> Opening<S> {
        /// Starts a mechanism that `token` can stop.
        #[inline]
        pub(crate) fn start<D: ?Sized, M: Mechanism<D, Machine = S> + ?Sized>(
            mechanism: &M,
            data: &Arc<D>,
            token: StopToken,
        ) -> Result<Self, Fault> {
            let mut coins = SystemCoins::new();
            let child = Child::start(mechanism, data, token, &mut coins.coins())?;
            Ok(Self { child, coins })
        }

        /// The machine behind its lock, for a handle that runs code on it.
        #[must_use]
        pub fn shared(self) -> SharedMachine<S> {
            SharedMachine::new(self)
        }
    }
}

use sealed::Opening;

/// A machine of which a handle can be made.
///
/// A [`Machine`] becomes a [`Queryable`], the machine of a filter or an odometer becomes a
/// [`RunningFilter`](crate::compose::RunningFilter) or a
/// [`RunningOdometer`](crate::compose::RunningOdometer). Handles themselves do not implement it: a
/// handle made from a handle would escape the compositors that may stop the first one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a machine that can be handed out to an analyst",
    note = "a handle can be sent between threads: what it is made of must be a `Machine` that is \
            `Send`",
    note = "one that is not `Send` can be launched with `start_local`, and stays on its thread",
    note = "a mechanism that starts a handle which exists already cannot be launched: put it into \
            a `Relay`, which stops with the handle"
)]
pub trait IntoHandle: sealed::Sealed + Sized {
    /// The handle.
    type Handle;

    /// Turns a machine that this crate has started into a handle.
    #[doc(hidden)]
    fn into_handle(opening: Opening<Self>) -> Result<Self::Handle, Fault>;
}

impl<S: Machine + Send + 'static> sealed::Sealed for S {}

impl<S: Machine + Send + 'static> IntoHandle for S {
    type Handle = Queryable<S::Query, S::Answer>;

    #[inline]
    fn into_handle(opening: Opening<Self>) -> Result<Self::Handle, Fault> {
        Ok(Queryable::new(opening))
    }
}
