//! What a program launches.

use std::sync::{Arc, Mutex};

use queryables::middle::{Mapped, Middle, Move};
use queryables::prelude::*;
use queryables::queryable::Relay;

use super::*;
use crate::model::{Answer, Event, NOT_HERE, epsilon};

pub type Hook = Arc<dyn Fn() + Send + Sync>;
pub type CoinHook = Arc<dyn Fn(&mut Coins<'_>) + Send + Sync>;

#[derive(Clone, Default)]
pub struct Log(pub Arc<Mutex<Vec<Event>>>);

impl Log {
    pub fn push(&self, event: Event) {
        self.0.lock().unwrap().push(event);
    }

    pub fn take(&self) -> Vec<Event> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

/// A mechanism with a loss, and what happens while that is asked for.
#[derive(Clone)]
pub struct Stated<M> {
    pub loss: Epsilon,
    pub while_asked: Option<Hook>,
    pub mechanism: M,
}

impl<M: Mechanism<Rows>> Mechanism<Rows> for Stated<M> {
    type Machine = M::Machine;

    fn start(&self, rows: &Arc<Rows>, coins: &mut Coins<'_>) -> Result<M::Machine, Fault> {
        self.mechanism.start(rows, coins)
    }
}

impl<M> Private<PureDp, AddRemove> for Stated<M> {
    fn loss(&self, _: &PureDp) -> Result<Epsilon, UnknownLoss> {
        if let Some(hook) = &self.while_asked {
            hook();
        }
        Ok(self.loss)
    }
}

/// The launching code states the loss.
pub fn boxed<M, S>(mechanism: M) -> Boxed
where
    M: Mechanism<Rows, Machine = S> + Clone + Send + Sync + 'static,
    S: Machine<Query = Query, Answer = Answer> + Send + 'static,
{
    Boxed::new(
        PureDp,
        Stated {
            loss: Epsilon::ZERO,
            while_asked: None,
            mechanism,
        },
    )
}

/// What the machines of a program are asked.
pub enum Query {
    Go,
    Probe,
    Spent,
    To(usize, Box<Query>),
    Launch(Boxed),
    Release(Once),
}

impl Query {
    pub fn is_quiet(&self) -> bool {
        match self {
            Self::Probe | Self::Spent => true,
            Self::To(_, query) => query.is_quiet(),
            Self::Go | Self::Launch(_) | Self::Release(_) => false,
        }
    }
}

/// Answers.
#[derive(Clone)]
pub struct Leaf(pub usize, pub Log);

impl Mechanism<Rows> for Leaf {
    type Machine = Self;

    fn start(&self, _: &Arc<Rows>, _: &mut Coins<'_>) -> Result<Self, Fault> {
        self.1.push(Event::Started(self.0));
        Ok(self.clone())
    }
}

impl Machine for Leaf {
    type Query = Query;
    type Answer = Answer;

    fn step(&mut self, query: Query, _: &mut Coins<'_>) -> Result<Answer, Fault> {
        match query {
            Query::Go => {
                self.1.push(Event::Stepped(self.0));
                Ok(Answer::Done)
            }
            Query::Probe => Ok(Answer::Done),
            _ => Err(Fault::InvalidQuery(NOT_HERE)),
        }
    }
}

/// Answers once.
pub struct LeafOnce(Option<(usize, Log)>);

impl Mechanism<Rows> for LeafOnce {
    type Machine = Released<()>;

    fn start(&self, _: &Arc<Rows>, _: &mut Coins<'_>) -> Result<Released<()>, Fault> {
        if let Some((serial, log)) = &self.0 {
            log.push(Event::Started(*serial));
        }
        Ok(Released(()))
    }
}

pub type Function = Box<dyn Fn(()) -> Answer + Send + Sync>;

/// The same, through a function.
pub type Once = Stated<Mapped<LeafOnce, Function, Rows>>;

pub fn once(
    name: Option<(usize, Log)>,
    loss: u64,
    while_asked: Option<Hook>,
    on_start: Option<Hook>,
) -> Once {
    let function: Function = Box::new(move |()| {
        if let Some(hook) = &on_start {
            hook();
        }
        Answer::Done
    });
    Stated {
        loss: epsilon(loss),
        while_asked,
        mechanism: LeafOnce(name).mapped(function),
    }
}

/// A handle that exists already.
#[derive(Clone)]
pub struct Wrapped(pub Asked);

impl Mechanism<Rows> for Wrapped {
    type Machine = Relay<Asked>;

    fn start(&self, _: &Arc<Rows>, _: &mut Coins<'_>) -> Result<Relay<Asked>, Fault> {
        Ok(Relay(self.0.clone()))
    }
}

/// A clone that runs no third-party code.
pub struct ByPointer<M>(pub Arc<M>);

impl<M> Clone for ByPointer<M> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<M: Mechanism<Rows>> Mechanism<Rows> for ByPointer<M> {
    type Machine = M::Machine;

    fn start(&self, rows: &Arc<Rows>, coins: &mut Coins<'_>) -> Result<M::Machine, Fault> {
        self.0.start(rows, coins)
    }
}

/// Holds handles, and uses them on the way.
pub struct Meddler {
    pub on_clone: Option<Hook>,
    pub before: Option<CoinHook>,
    pub again: Option<CoinHook>,
    /// Whether it will ask inward again.
    pub pending: bool,
}

impl Clone for Meddler {
    fn clone(&self) -> Self {
        if let Some(hook) = &self.on_clone {
            hook();
        }
        Self {
            on_clone: self.on_clone.clone(),
            before: self.before.clone(),
            again: self.again.clone(),
            pending: false,
        }
    }
}

impl Middle<Query, Answer> for Meddler {
    type OuterQuery = Query;
    type OuterAnswer = Answer;

    fn on_query(
        &mut self,
        query: Query,
        coins: &mut Coins<'_>,
    ) -> Result<Move<Query, Answer>, Fault> {
        self.pending = !query.is_quiet() && self.again.is_some();
        if let (false, Some(hook)) = (query.is_quiet(), &self.before) {
            hook(coins);
        }
        Ok(Move::Ask(query))
    }

    fn on_answer(
        &mut self,
        answer: Answer,
        coins: &mut Coins<'_>,
    ) -> Result<Move<Query, Answer>, Fault> {
        match &self.again {
            Some(hook) if std::mem::take(&mut self.pending) => {
                hook(coins);
                Ok(Move::Ask(Query::Go))
            }
            _ => Ok(Move::Answer(answer)),
        }
    }
}
