//! A mechanism on a dataset, ready to be started again and again.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::machine::{Coins, Fault, Inspect, Machine, Mechanism, guarded, key_of};

/// A factory that gives copies of a mechanism: the verifier makes a new one for every run.
///
/// What the copies share, behind an `Arc` or in a `static`, outlives a run, and is not seen
/// ([`verify`](super#what-it-cannot-see)). A closure that makes the mechanism from its parameters
/// shares nothing.
///
/// ```
/// use queryables::mechanisms::RandomizedResponse;
/// use queryables::verify::{copies_of, Pair, Verifier};
///
/// let respond = RandomizedResponse::with_odds(3, 1)?;
/// let pair = Pair::new(false, true);
/// let worst = Verifier::new(copies_of(&respond), &pair, vec![()], 1).worst_ratio()?;
/// assert_eq!(worst.value.to_string(), "3");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn copies_of<M>(mechanism: &M) -> impl Fn() -> M + Send + Sync + 'static
where
    M: Clone + Send + Sync + 'static,
{
    let original = mechanism.clone();
    move || original.clone()
}

/// One of the two sides that are compared.
pub(super) struct Side<Q, A> {
    start: Box<Start<Q, A>>,
}

type Start<Q, A> = dyn Fn(&mut Coins<'_>) -> Result<Box<dyn Running<Q, A>>, Fault> + Send + Sync;

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
        // If this panics, the state counts as not shown: the transcript identifies it.
        catch_unwind(AssertUnwindSafe(|| key_of(&self.0))).ok()
    }
}

impl<Q, A> Side<Q, A> {
    /// A machine of which only the answers are seen.
    pub(super) fn opaque<D, M, F>(mechanism: &Arc<F>, data: &Arc<D>) -> Self
    where
        D: Send + Sync + ?Sized + 'static,
        M: Mechanism<D, Machine: Machine<Query = Q, Answer = A> + 'static>,
        F: Fn() -> M + Send + Sync + 'static,
    {
        let (mechanism, data) = (Arc::clone(mechanism), Arc::clone(data));
        let start = move |coins: &mut Coins<'_>| {
            let machine = guarded(|| mechanism().start(&data, coins))?;
            Ok(Box::new(Opaque(machine)) as Box<dyn Running<Q, A>>)
        };
        Self {
            start: Box::new(start),
        }
    }

    /// A machine that shows its state.
    pub(super) fn transparent<D, M, F>(mechanism: &Arc<F>, data: &Arc<D>) -> Self
    where
        D: Send + Sync + ?Sized + 'static,
        M: Mechanism<D, Machine: Machine<Query = Q, Answer = A> + Inspect + 'static>,
        F: Fn() -> M + Send + Sync + 'static,
    {
        let (mechanism, data) = (Arc::clone(mechanism), Arc::clone(data));
        let start = move |coins: &mut Coins<'_>| {
            let machine = guarded(|| mechanism().start(&data, coins))?;
            Ok(Box::new(Transparent(machine)) as Box<dyn Running<Q, A>>)
        };
        Self {
            start: Box::new(start),
        }
    }

    pub(super) fn start(&self, coins: &mut Coins<'_>) -> Result<Box<dyn Running<Q, A>>, Fault> {
        (self.start)(coins)
    }
}
