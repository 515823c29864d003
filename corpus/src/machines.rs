//! Mechanisms made of functions.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use queryables::machine::{Coins, Fault, Machine, Mechanism, Released};

use crate::bug::Version;

/// Answers once.
pub(crate) struct Once<D, A> {
    pub(crate) version: Version,
    pub(crate) run: fn(Version, &D, &mut Coins<'_>) -> Result<A, Fault>,
}

impl<D, A> Mechanism<D> for Once<D, A> {
    type Machine = Released<A>;

    fn start(&self, data: &Arc<D>, coins: &mut Coins<'_>) -> Result<Released<A>, Fault> {
        (self.run)(self.version, data, coins).map(Released)
    }
}

/// Answers queries, with a state.
pub(crate) struct Talk<D, S, Q, A> {
    pub(crate) version: Version,
    pub(crate) start: fn(Version, &D, &mut Coins<'_>) -> Result<S, Fault>,
    pub(crate) step: fn(&mut S, Q, &mut Coins<'_>) -> Result<A, Fault>,
}

impl<D, S, Q, A> Mechanism<D> for Talk<D, S, Q, A> {
    type Machine = Talking<S, Q, A>;

    fn start(&self, data: &Arc<D>, coins: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        Ok(Talking {
            state: (self.start)(self.version, data, coins)?,
            step: self.step,
        })
    }
}

pub(crate) struct Talking<S, Q, A> {
    state: S,
    step: fn(&mut S, Q, &mut Coins<'_>) -> Result<A, Fault>,
}

impl<S, Q, A> Machine for Talking<S, Q, A> {
    type Query = Q;
    type Answer = A;

    fn step(&mut self, query: Q, coins: &mut Coins<'_>) -> Result<A, Fault> {
        (self.step)(&mut self.state, query, coins)
    }
}

/// The state is all that changes.
impl<S: Hash, Q, A> Hash for Talking<S, Q, A> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.state.hash(state);
    }
}
