//! What children are asked: one type of query for all of them.

use std::sync::Arc;

use queryables::compose::BoxedMechanism;
use queryables::machine::{Coins, Description, DomainMismatch, Fault, Machine, Mechanism, Public};
use queryables::privacy::{AddRemove, AnyMeasure, Distance, Measure, Private, UnknownLoss};
use queryables::table::Condition;

use crate::answer::Answer;
use crate::coins::Source;
use crate::data::Data;
use crate::seat::{Open, Stated};

/// A query to a child.
pub enum Query {
    Condition(Condition),
    /// How many buckets of time have passed.
    Time(u64),
}

impl Query {
    /// What it says: two queries with the same text are the same.
    pub fn text(&self) -> String {
        match self {
            Self::Condition(condition) => condition.to_string(),
            Self::Time(time) => format!("time {time}"),
        }
    }
}

impl TryFrom<Query> for Condition {
    type Error = Fault;

    fn try_from(query: Query) -> Result<Self, Fault> {
        match query {
            Query::Condition(condition) => Ok(condition),
            Query::Time(_) => Err(Fault::InvalidQuery("this child is asked `where`")),
        }
    }
}

impl TryFrom<Query> for u64 {
    type Error = Fault;

    fn try_from(query: Query) -> Result<Self, Fault> {
        match query {
            Query::Time(time) => Ok(time),
            Query::Condition(_) => Err(Fault::InvalidQuery("this child is asked `time`")),
        }
    }
}

/// A mechanism that is asked by these queries, and answers as the protocol does.
///
/// # Guarantee
///
/// That of the mechanism: queries are translated by a public function, and answers are postprocessed.
#[derive(Clone)]
struct Asking<M> {
    mechanism: M,
    description: Description,
}

/// What runs of it.
struct AskingMachine<S>(S, Source);

/// Erases the type of a mechanism.
pub fn open<M, S>(mechanism: M) -> Open
where
    M: Mechanism<Data, Machine = S> + Private<AnyMeasure, AddRemove>,
    M: Clone + Send + Sync + 'static,
    S: Machine<Query: TryFrom<Query, Error = Fault>, Answer: Into<Answer>> + Send + 'static,
{
    let description = mechanism.describe();
    open_as(mechanism, description)
}

/// Erases the type of a mechanism whose own description does not say everything: this one must.
pub fn open_as<M, S>(mechanism: M, description: Description) -> Open
where
    M: Mechanism<Data, Machine = S> + Private<AnyMeasure, AddRemove>,
    M: Clone + Send + Sync + 'static,
    S: Machine<Query: TryFrom<Query, Error = Fault>, Answer: Into<Answer>> + Send + 'static,
{
    let asking = Asking {
        mechanism,
        description,
    };
    Stated::new(BoxedMechanism::new(AnyMeasure, asking))
}

impl<M: Mechanism<Data>> Mechanism<Data> for Asking<M> {
    type Machine = AskingMachine<M::Machine>;

    fn start(&self, data: &Arc<Data>, coins: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        let mut source = Source::new();
        let machine = source.run(coins, |coins| self.mechanism.start(data, coins))?;
        Ok(AskingMachine(machine, source))
    }

    fn check(&self, data: Public<'_, Data>) -> Result<(), DomainMismatch> {
        self.mechanism.check(data)
    }

    fn describe(&self) -> Description {
        self.description.clone()
    }
}

impl<Me: Measure, M: Private<Me, AddRemove>> Private<Me, AddRemove> for Asking<M> {
    fn loss(&self, measure: &Me) -> Result<Me::Loss, UnknownLoss> {
        self.mechanism.loss(measure)
    }

    fn loss_at(&self, measure: &Me, distance: Distance) -> Result<Me::Loss, UnknownLoss> {
        self.mechanism.loss_at(measure, distance)
    }
}

impl<S> Machine for AskingMachine<S>
where
    S: Machine<Query: TryFrom<Query, Error = Fault>, Answer: Into<Answer>>,
{
    type Query = Query;
    type Answer = Answer;

    fn step(&mut self, query: Query, coins: &mut Coins<'_>) -> Result<Answer, Fault> {
        let query = query.try_into()?;
        let answer = self.1.run(coins, |coins| self.0.step(query, coins))?;
        Ok(answer.into())
    }
}
