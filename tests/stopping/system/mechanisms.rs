//! What a program launches.

use std::sync::{Arc, Mutex};

use queryables::data::{Attribute, Predicate};
use queryables::mechanisms::query::Unavailable;
use queryables::mechanisms::{
    AboveThreshold, Choice, Count, Evaluate, Histogram, NoisyMax, Partition, Score, Sensitivity,
    Sum,
};
use queryables::middle::{Mapped, Middle, Move};
use queryables::prelude::*;
use queryables::queryable::Relay;

use super::*;
use crate::model::{Answer, Event, NOT_HERE, epsilon};
use crate::program::Code;

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

/// Answers: a search for a count that no dataset here reaches.
#[derive(Clone)]
pub struct Leaf {
    pub serial: usize,
    pub log: Log,
    pub on_start: Option<Hook>,
    pub on_answer: Option<Hook>,
}

impl Leaf {
    pub fn quiet(serial: usize, log: &Log) -> Self {
        Self {
            serial,
            log: log.clone(),
            on_start: None,
            on_answer: None,
        }
    }
}

pub struct Search {
    leaf: Leaf,
    machine: <AboveThreshold<Predicate<Rows>> as Mechanism<Rows>>::Machine,
}

impl Mechanism<Rows> for Leaf {
    type Machine = Search;

    fn start(&self, rows: &Arc<Rows>, coins: &mut Coins<'_>) -> Result<Search, Fault> {
        self.log.push(Event::Started(self.serial));
        run(Code::Attribute, self.on_start.as_ref(), rows, coins)?;
        let search = AboveThreshold::new(AddRemove, 1_000_000, 1, epsilon(100)).unwrap();
        Ok(Search {
            leaf: self.clone(),
            machine: search.start(rows, coins)?,
        })
    }
}

impl Machine for Search {
    type Query = Query;
    type Answer = Answer;

    fn step(&mut self, query: Query, coins: &mut Coins<'_>) -> Result<Answer, Fault> {
        match query {
            Query::Go => {
                let Leaf {
                    serial,
                    log,
                    on_answer,
                    ..
                } = &self.leaf;
                log.push(Event::Stepped(*serial));
                let found = self.machine.step(predicate(on_answer.as_ref()), coins)?;
                assert!(!found, "there are fewer rows");
                Ok(Answer::Done)
            }
            Query::Probe => Ok(Answer::Done),
            _ => Err(Fault::InvalidQuery(NOT_HERE)),
        }
    }
}

/// What runs for each row, and acts once.
fn on_row(hook: Option<&Hook>) -> impl Fn(&u8) -> u8 + Send + Sync + 'static {
    let hook = hook.cloned();
    move |row| {
        if let (0, Some(hook)) = (row, &hook) {
            hook();
        }
        *row
    }
}

fn predicate(hook: Option<&Hook>) -> Predicate<Rows> {
    let read = on_row(hook);
    Predicate::new("acts", move |row: &u8| read(row) > 0)
}

/// All candidates are as good.
struct Indifferent(Option<Hook>);

impl Score<AddRemove> for Indifferent {
    fn candidates(&self) -> usize {
        2
    }

    fn sensitivity(&self) -> Sensitivity {
        Sensitivity::each(1)
    }
}

impl Evaluate<Rows> for Indifferent {
    fn evaluate(&self, rows: &Rows, _: &mut [i64]) -> Result<(), Unavailable> {
        let read = on_row(self.0.as_ref());
        for row in rows {
            read(row);
        }
        Ok(())
    }
}

/// Starts a mechanism that runs such code.
fn run(
    code: Code,
    hook: Option<&Hook>,
    rows: &Arc<Rows>,
    coins: &mut Coins<'_>,
) -> Result<(), Fault> {
    let loss = epsilon(100);
    let read = on_row(hook);
    match code {
        Code::Predicate => {
            let count = Count::of(predicate(hook)).laplace(loss).unwrap();
            count.start(rows, coins).map(drop)
        }
        Code::Attribute => {
            let attribute = Attribute::new("acts", move |row: &u8| i64::from(read(row)));
            let sum = Sum::of(attribute, 0..=9).laplace(loss).unwrap();
            sum.start(rows, coins).map(drop)
        }
        Code::Key => {
            let keys = Partition::by_key("acts", move |row: &u8| read(row), [0, 1]).unwrap();
            let histogram = Histogram::of(keys).laplace(loss).unwrap();
            histogram.start(rows, coins).map(drop)
        }
        Code::Score => {
            let score = Indifferent(hook.cloned());
            let choice = Choice::by(AddRemove, NoisyMax, score, loss).unwrap();
            choice.start(rows, coins).map(drop)
        }
    }
}

/// Answers once.
pub struct LeafOnce {
    name: Option<(usize, Log)>,
    code: Code,
    inside: Option<Hook>,
}

impl Mechanism<Rows> for LeafOnce {
    type Machine = Released<()>;

    fn start(&self, rows: &Arc<Rows>, coins: &mut Coins<'_>) -> Result<Released<()>, Fault> {
        if let Some((serial, log)) = &self.name {
            log.push(Event::Started(*serial));
        }
        run(self.code, self.inside.as_ref(), rows, coins).map(Released)
    }
}

pub type Function = Box<dyn Fn(()) -> Answer + Send + Sync>;

/// The same, through a function.
pub type Once = Stated<Mapped<LeafOnce, Function, Rows>>;

pub fn once(
    name: Option<(usize, Log)>,
    loss: u64,
    while_asked: Option<Hook>,
    (code, inside, mapped): (Code, Option<Hook>, Option<Hook>),
) -> Once {
    let function: Function = Box::new(move |()| {
        if let Some(hook) = &mapped {
            hook();
        }
        Answer::Done
    });
    let leaf = LeafOnce { name, code, inside };
    Stated {
        loss: epsilon(loss),
        while_asked,
        mechanism: leaf.mapped(function),
    }
}

/// The same; nobody acts.
pub fn quiet(name: Option<(usize, Log)>, loss: u64) -> Once {
    once(name, loss, None, (Code::Predicate, None, None))
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
