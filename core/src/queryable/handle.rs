//! The handles to one running machine: one for any thread, one that stays on its thread.

use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use super::AskError;
use super::sealed::Opening;
use crate::machine::{Answering, Coins, Fault, Machine, Stops};
use crate::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// A handle to a running machine: it asks queries of type `Q` and gives answers of type `A`.
///
/// It is all that an analyst gets. A clone shares the machine and does not fork it. A handle can be
/// sent between threads; one machine answers one query at a time, and different machines answer at
/// the same time. It cannot rewind the machine, print its contents, or be given coins: the machine
/// uses the operating system's randomness.
///
/// A handle is not a machine. To build a machine on one, put it into a [`Relay`](super::Relay).
///
/// # From inside an answer
///
/// Code of a machine that asks a handle which is busy, its own for example, gets [`AskError::Busy`]
/// instead of waiting, so that it cannot deadlock on itself. (A thread that the machine starts and
/// joins is another thread, and does wait.)
///
/// # Example
///
/// ```
/// use queryables::machine::{CoinSource, Coins, Fault};
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// /// Counts its queries, and ignores its data.
/// struct Counting;
/// struct Counter(u32);
///
/// impl Mechanism<()> for Counting {
///     type Machine = Counter;
///     fn start(&self, _: &Arc<()>, _: &mut Coins<'_>) -> Result<Counter, Fault> {
///         Ok(Counter(0))
///     }
/// }
///
/// impl Machine for Counter {
///     type Query = ();
///     type Answer = u32;
///     fn step(&mut self, (): (), _: &mut Coins<'_>) -> Result<u32, Fault> {
///         self.0 += 1;
///         Ok(self.0)
///     }
/// }
///
/// let counter = start(&Counting, Arc::new(()))?;
/// let same = counter.clone();
/// assert_eq!(counter.ask(()), Ok(1));
/// assert_eq!(same.ask(()), Ok(2));
/// # Ok::<(), Fault>(())
/// ```
pub struct Queryable<Q, A>(Arc<dyn Answers<Q, A> + Send + Sync>);

/// A [`Queryable`] that stays on the thread on which it was launched, for machines that are not
/// `Send`.
///
/// Everything else is the same: a clone shares the machine, a failure or a panic closes it, and a
/// question from inside its own answer gets [`AskError::Busy`].
///
/// # Example
///
/// ```
/// use queryables::machine::{CoinSource, Coins, Fault};
/// use queryables::prelude::*;
/// use queryables::queryable::start_local;
/// use std::cell::Cell;
/// use std::rc::Rc;
/// use std::sync::Arc;
///
/// /// Counts its queries in a place that it shares, and ignores its data.
/// struct Counting;
/// struct Counter(Rc<Cell<u32>>);
///
/// impl Mechanism<()> for Counting {
///     type Machine = Counter;
///     fn start(&self, _: &Arc<()>, _: &mut Coins<'_>) -> Result<Counter, Fault> {
///         Ok(Counter(Rc::default()))
///     }
/// }
///
/// impl Machine for Counter {
///     type Query = ();
///     type Answer = u32;
///     fn step(&mut self, (): (), _: &mut Coins<'_>) -> Result<u32, Fault> {
///         self.0.update(|count| count + 1);
///         Ok(self.0.get())
///     }
/// }
///
/// let counter = start_local(&Counting, Arc::new(()))?;
/// let same = counter.clone();
/// assert_eq!(counter.ask(()), Ok(1));
/// assert_eq!(same.ask(()), Ok(2));
/// # Ok::<(), Fault>(())
/// ```
pub struct LocalQueryable<Q, A>(Rc<dyn Answers<Q, A>>);

/// A running machine behind its lock.
trait Answers<Q, A> {
    /// `outer` are the caller's tokens, if the caller is a machine that asks on behalf of others.
    fn ask(&self, query: Q, outer: Stops<'_>) -> Result<A, AskError>;
}

/// A machine that is not `Send` needs no lock, but an uncontended lock costs little: this way all
/// handles run the same code.
struct Running<S>(Mutex<Opening<S>>);

/// A running machine that is no [`Machine`] of one kind of query: its handle, which is of the
/// toolkit, runs code on it. Clones share it.
pub struct SharedMachine<S>(Arc<Running<S>>);

impl<S> SharedMachine<S> {
    pub(crate) fn new(opening: Opening<S>) -> Self {
        Self(Arc::new(Running::new(opening)))
    }

    /// Runs code on the machine, as a question: one at a time, guarded, and withheld if the machine
    /// is stopped meanwhile.
    ///
    /// # Errors
    ///
    /// Those of the code; see [`AskError`].
    pub fn run<T>(
        &self,
        code: impl FnOnce(&mut S, &mut Coins<'_>) -> Result<T, Fault>,
    ) -> Result<T, AskError> {
        self.0.run(None, code)
    }
}

crate::clone_fields!([S] SharedMachine<S> { 0 });

// Shows nothing of the contents.
crate::debug_fields!([S] SharedMachine<S>, "SharedMachine");

impl<Q, A> Queryable<Q, A> {
    pub(crate) fn new<S>(opening: Opening<S>) -> Self
    where
        S: Machine<Query = Q, Answer = A> + Send + 'static,
    {
        Self(Arc::new(Running::new(opening)))
    }
}

impl<Q, A> LocalQueryable<Q, A> {
    pub(crate) fn new<S>(opening: Opening<S>) -> Self
    where
        S: Machine<Query = Q, Answer = A> + 'static,
    {
        Self(Rc::new(Running::new(opening)))
    }
}

impl<S: Machine> Answers<S::Query, S::Answer> for Running<S> {
    fn ask(&self, query: S::Query, outer: Stops<'_>) -> Result<S::Answer, AskError> {
        self.run(outer, |machine, coins| machine.step(query, coins))
    }
}

impl<S> Running<S> {
    fn new(opening: Opening<S>) -> Self {
        Self(Mutex::new(opening))
    }

    #[inline]
    fn run<T>(
        &self,
        outer: Stops<'_>,
        code: impl FnOnce(&mut S, &mut Coins<'_>) -> Result<T, Fault>,
    ) -> Result<T, AskError> {
        let answering = Answering::begin();
        let Opening { child, coins } = &mut *self.lock(answering.outer)?;
        child.run_on(&mut Coins::with_stops(coins, outer), code)
    }

    /// Waits for the machine, unless this thread is already inside an answer: then it could
    /// deadlock. Whether it is matters only where the machine is busy, and is asked only there.
    #[inline]
    fn lock(&self, inside: bool) -> Result<MutexGuard<'_, Opening<S>>, AskError> {
        // Poison is ignored: a child that panicked has closed itself.
        match self.0.try_lock() {
            Ok(running) => Ok(running),
            Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) if inside => Err(AskError::Busy),
            Err(TryLockError::WouldBlock) => {
                Ok(self.0.lock().unwrap_or_else(PoisonError::into_inner))
            }
        }
    }
}

/// What a handle can do, on one thread or on many.
macro_rules! handle {
    ($Handle:ident, $Pointer:ident, $name:literal) => {
        impl<Q, A> $Handle<Q, A> {
            /// Asks one query and waits for the answer.
            ///
            /// # Errors
            ///
            /// Why there is none; see [`AskError`].
            pub fn ask(&self, query: Q) -> Result<A, AskError> {
                self.0.ask(query, None)
            }

            /// Asks on behalf of a machine that others may stop.
            pub(super) fn ask_for(&self, query: Q, coins: &Coins<'_>) -> Result<A, AskError> {
                self.0.ask(query, coins.stops())
            }
        }

        impl<Q, A> Clone for $Handle<Q, A> {
            fn clone(&self) -> Self {
                Self($Pointer::clone(&self.0))
            }
        }

        impl<Q, A> fmt::Debug for $Handle<Q, A> {
            /// Shows nothing of the contents.
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str($name)
            }
        }
    };
}

handle!(Queryable, Arc, "Queryable");
handle!(LocalQueryable, Rc, "LocalQueryable");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{CoinSource, Mechanism, SystemCoins};
    use crate::queryable::{Relay, start, start_local};

    /// Says whether the thread is inside an answer, and panics on demand.
    struct Witness;

    impl Mechanism<()> for Witness {
        type Machine = Self;

        fn start(&self, _: &Arc<()>, _: &mut Coins<'_>) -> Result<Self, Fault> {
            Ok(Self)
        }
    }

    impl Machine for Witness {
        type Query = Option<Queryable<Option<()>, bool>>;
        type Answer = bool;

        fn step(&mut self, query: Self::Query, _: &mut Coins<'_>) -> Result<bool, Fault> {
            if let Some(other) = query {
                assert_eq!(other.ask(Some(())), Ok(true));
            }
            Ok(Answering::now())
        }
    }

    struct Inner;

    impl Mechanism<()> for Inner {
        type Machine = Self;

        fn start(&self, _: &Arc<()>, _: &mut Coins<'_>) -> Result<Self, Fault> {
            Ok(Self)
        }
    }

    impl Machine for Inner {
        type Query = Option<()>;
        type Answer = bool;

        fn step(&mut self, query: Option<()>, _: &mut Coins<'_>) -> Result<bool, Fault> {
            assert!(query.is_some(), "panics without a query");
            Ok(Answering::now())
        }
    }

    #[test]
    fn a_thread_is_inside_an_answer_only_while_it_is() {
        let outer = start(&Witness, Arc::new(())).unwrap();
        let inner = start(&Inner, Arc::new(())).unwrap();
        assert!(!Answering::now());
        assert_eq!(outer.ask(None), Ok(true));
        assert!(!Answering::now());
        // The inner answer ends, the outer goes on.
        assert_eq!(outer.ask(Some(inner.clone())), Ok(true));
        assert!(!Answering::now());
        // A panic ends an answer too.
        assert_eq!(inner.ask(None), Err(AskError::Fault(Fault::Failed)));
        assert!(!Answering::now());
    }

    #[test]
    fn a_local_handle_runs_the_same_code() {
        let outer = start(&Witness, Arc::new(())).unwrap();
        let inner = start_local(&Inner, Arc::new(())).unwrap();
        assert_eq!(inner.ask(Some(())), Ok(true));
        assert!(!Answering::now());
        assert_eq!(inner.clone().ask(None), Err(AskError::Fault(Fault::Failed)));
        assert_eq!(inner.ask(Some(())), Err(AskError::Closed));
        assert_eq!(
            Relay(inner.clone()).step(Some(()), &mut SystemCoins::new().coins()),
            Err(Fault::Failed)
        );
        assert!(!Answering::now());
        assert_eq!(outer.ask(None), Ok(true));
        assert_eq!(format!("{inner:?}"), "LocalQueryable");
    }
}
