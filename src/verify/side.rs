//! A mechanism on a dataset, ready to be started again and again.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::machine::{Coins, Fault, Inspect, Machine, Mechanism, StateKey, guarded};

/// One of the two sides that are compared.
pub(super) struct Side<'a, Q, A> {
    start: Box<Start<'a, Q, A>>,
}

type Start<'a, Q, A> =
    dyn Fn(&mut Coins<'_>) -> Result<Box<dyn Running<Q, A> + 'a>, Fault> + Send + Sync + 'a;

/// A started machine, and its state where it shows it.
pub(super) trait Running<Q, A> {
    fn answer(&mut self, query: Q, coins: &mut Coins<'_>) -> Result<A, Fault>;
    fn state(&self) -> Option<Vec<u8>>;
}

struct Opaque<S>(S);
struct Transparent<S>(S);

impl<S: Machine> Running<S::Query, S::Answer> for Opaque<S> {
    fn answer(&mut self, query: S::Query, coins: &mut Coins<'_>) -> Result<S::Answer, Fault> {
        guarded(|| self.0.step(query, coins))
    }

    fn state(&self) -> Option<Vec<u8>> {
        None
    }
}

impl<S: Machine + Inspect> Running<S::Query, S::Answer> for Transparent<S> {
    fn answer(&mut self, query: S::Query, coins: &mut Coins<'_>) -> Result<S::Answer, Fault> {
        guarded(|| self.0.step(query, coins))
    }

    fn state(&self) -> Option<Vec<u8>> {
        // One that panics when it is asked is not shown: it is told by its transcript.
        catch_unwind(AssertUnwindSafe(|| StateKey::of(&self.0))).ok()
    }
}

impl<'a, Q, A> Side<'a, Q, A> {
    /// A machine of which only the answers are seen.
    pub(super) fn opaque<D, M>(mechanism: &'a M, data: &'a Arc<D>) -> Self
    where
        D: Send + Sync + ?Sized,
        M: Mechanism<D, Machine: Machine<Query = Q, Answer = A>> + Sync + ?Sized,
    {
        let start = move |coins: &mut Coins<'_>| {
            let machine = guarded(|| mechanism.start(data, coins))?;
            Ok(Box::new(Opaque(machine)) as Box<dyn Running<Q, A> + 'a>)
        };
        Self {
            start: Box::new(start),
        }
    }

    /// A machine that shows its state.
    pub(super) fn transparent<D, M>(mechanism: &'a M, data: &'a Arc<D>) -> Self
    where
        D: Send + Sync + ?Sized,
        M: Mechanism<D, Machine: Machine<Query = Q, Answer = A> + Inspect> + Sync + ?Sized,
    {
        let start = move |coins: &mut Coins<'_>| {
            let machine = guarded(|| mechanism.start(data, coins))?;
            Ok(Box::new(Transparent(machine)) as Box<dyn Running<Q, A> + 'a>)
        };
        Self {
            start: Box::new(start),
        }
    }

    pub(super) fn start(
        &self,
        coins: &mut Coins<'_>,
    ) -> Result<Box<dyn Running<Q, A> + 'a>, Fault> {
        (self.start)(coins)
    }
}
