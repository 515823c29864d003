//! Mechanisms that the tests launch.
#![allow(dead_code)]

pub mod own_rule;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use queryables::machine::{Coins, Fault};
use queryables::prelude::*;
use queryables::privacy::{Measure, Relation};

/// A loss under whatever measure has such losses.
#[derive(Clone, Debug)]
pub struct Stated<L, M> {
    pub loss: L,
    pub mechanism: M,
}

impl<L, Me, R, M> Private<Me, R> for Stated<L, M>
where
    Me: Measure<Loss = L>,
    R: Relation,
    L: Clone,
{
    fn loss(&self, _measure: &Me) -> Result<L, UnknownLoss> {
        Ok(self.loss.clone())
    }
}

impl<D: ?Sized, L, M: Mechanism<D>> Mechanism<D> for Stated<L, M> {
    type Machine = M::Machine;

    fn start(&self, data: &Arc<D>, coins: &mut Coins<'_>) -> Result<M::Machine, Fault> {
        self.mechanism.start(data, coins)
    }
}

/// Counts how often data was touched, by starts and by steps.
#[derive(Clone, Debug, Default)]
pub struct Touches(Arc<AtomicUsize>);

impl Touches {
    pub fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }

    fn touch<D: ?Sized>(&self, _data: &D) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// A non-interactive mechanism that answers with the number of touches.
#[derive(Clone, Debug, Default)]
pub struct Answer(pub Touches);

impl<D: ?Sized> Mechanism<D> for Answer {
    type Machine = Released<usize>;

    fn start(&self, data: &Arc<D>, _coins: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        self.0.touch(&**data);
        Ok(Released(self.0.count()))
    }
}

/// An interactive mechanism that answers with the number of its queries so far.
#[derive(Clone, Debug, Default)]
pub struct Count(pub Touches);

pub struct Counter {
    asked: usize,
    touches: Touches,
}

impl<D: ?Sized> Mechanism<D> for Count {
    type Machine = Counter;

    fn start(&self, data: &Arc<D>, _coins: &mut Coins<'_>) -> Result<Counter, Fault> {
        self.0.touch(&**data);
        Ok(Counter {
            asked: 0,
            touches: self.0.clone(),
        })
    }
}

impl Machine for Counter {
    type Query = ();
    type Answer = usize;

    fn step(&mut self, (): (), _coins: &mut Coins<'_>) -> Result<usize, Fault> {
        self.touches.touch(&());
        self.asked += 1;
        Ok(self.asked)
    }
}

/// A non-interactive mechanism made of a function of the data.
pub struct Run<D: ?Sized, A>(Arc<RunFunction<D, A>>);

type RunFunction<D, A> = dyn Fn(&D) -> Result<A, Fault> + Send + Sync;

impl<D: ?Sized, A> Run<D, A> {
    pub fn new(function: impl Fn(&D) -> Result<A, Fault> + Send + Sync + 'static) -> Self {
        Self(Arc::new(function))
    }
}

impl<D: ?Sized, A> Clone for Run<D, A> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<D: ?Sized, A> Mechanism<D> for Run<D, A> {
    type Machine = Released<A>;

    fn start(&self, data: &Arc<D>, _coins: &mut Coins<'_>) -> Result<Released<A>, Fault> {
        (self.0)(data).map(Released)
    }
}

/// An interactive mechanism that applies a function of the data and the query at every step.
pub struct Ask<D: ?Sized, Q, A>(Arc<AskFunction<D, Q, A>>);

type AskFunction<D, Q, A> = dyn Fn(&D, Q) -> Result<A, Fault> + Send + Sync;

pub struct Asking<D: ?Sized, Q, A>(Arc<D>, Arc<AskFunction<D, Q, A>>);

impl<D: ?Sized, Q, A> Ask<D, Q, A> {
    pub fn new(function: impl Fn(&D, Q) -> Result<A, Fault> + Send + Sync + 'static) -> Self {
        Self(Arc::new(function))
    }
}

impl<D: ?Sized, Q, A> Clone for Ask<D, Q, A> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<D: ?Sized, Q, A> Mechanism<D> for Ask<D, Q, A> {
    type Machine = Asking<D, Q, A>;

    fn start(&self, data: &Arc<D>, _coins: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        Ok(Asking(Arc::clone(data), Arc::clone(&self.0)))
    }
}

impl<D: ?Sized, Q, A> Machine for Asking<D, Q, A> {
    type Query = Q;
    type Answer = A;

    fn step(&mut self, query: Q, _coins: &mut Coins<'_>) -> Result<A, Fault> {
        (self.1)(&self.0, query)
    }
}

/// Any mechanism, at this loss.
pub fn at<L, M>(loss: L, mechanism: M) -> Stated<L, M> {
    Stated { loss, mechanism }
}

/// An ε.
pub fn epsilon(text: &str) -> Epsilon {
    text.parse().unwrap()
}

/// An (ε, δ).
pub fn pair(epsilon: &str, delta: &str) -> EpsilonDelta {
    EpsilonDelta::new(epsilon, delta).unwrap()
}
