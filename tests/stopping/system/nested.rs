//! Compositors inside machines.

use std::convert::Infallible;
use std::marker::PhantomData;
use std::sync::Arc;

use queryables::compose::{Addressed, Message, Reply};
use queryables::prelude::*;

use super::*;
use crate::model::{Answer, NOT_HERE};

#[derive(Clone)]
pub struct Nested<S, C>(pub C, pub PhantomData<S>);

/// Children have numbers.
pub struct NestedMachine<S, T> {
    machine: T,
    children: usize,
    system: PhantomData<S>,
}

impl<S: System, C> Mechanism<Rows> for Nested<S, Addressed<C, Boxed>>
where
    Addressed<C, Boxed>: Mechanism<Rows>,
{
    type Machine = NestedMachine<S, <Addressed<C, Boxed> as Mechanism<Rows>>::Machine>;

    fn start(&self, rows: &Arc<Rows>, coins: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        Ok(NestedMachine {
            machine: S::inside(coins, |coins| self.0.start(rows, coins))?,
            children: 0,
            system: PhantomData,
        })
    }
}

impl<S, T> Machine for NestedMachine<S, T>
where
    S: System,
    T: Machine<Query = Message<Boxed, Query>, Answer = Reply<Answer, Epsilon>>,
{
    type Query = Query;
    type Answer = Answer;

    fn step(&mut self, query: Query, coins: &mut Coins<'_>) -> Result<Answer, Fault> {
        let message = match query {
            Query::Go | Query::Probe if self.children == 0 => return Ok(Answer::Done),
            Query::Go | Query::Probe => Message::Ask(self.children - 1, query),
            Query::Spent => Message::PrivacyLoss,
            Query::To(number, query) => Message::Ask(number, *query),
            Query::Launch(mechanism) => Message::Launch(mechanism),
            Query::Release(_) => return Err(Fault::InvalidQuery(NOT_HERE)),
        };
        let reply = S::inside(coins, |coins| self.machine.step(message, coins))?;
        Ok(match reply {
            Reply::Launched(number) => {
                self.children = number + 1;
                Answer::Launched(number)
            }
            reply => answer_of(reply),
        })
    }
}

pub fn answer_of(reply: Reply<Answer, Epsilon>) -> Answer {
    match reply {
        Reply::Launched(number) => Answer::Launched(number),
        Reply::NotLaunched(error) => Answer::NotLaunched(error),
        Reply::Answered(answer) => answer,
        Reply::NotAnswered(error) => Answer::NotAnswered(error),
        Reply::PrivacyLoss(spent) => Answer::Spent(spent),
        Reply::Closed(_) | Reply::Unknown(_) | Reply::Remaining(_) | Reply::NotRead(_) => {
            unreachable!("never asked for")
        }
    }
}

/// Children answer once.
pub struct NestedOnceMachine<S, T>(T, PhantomData<S>);

impl<S: System, C> Mechanism<Rows> for Nested<S, Addressed<C, Once>>
where
    Addressed<C, Once>: Mechanism<Rows>,
{
    type Machine = NestedOnceMachine<S, <Addressed<C, Once> as Mechanism<Rows>>::Machine>;

    fn start(&self, rows: &Arc<Rows>, coins: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        let machine = S::inside(coins, |coins| self.0.start(rows, coins))?;
        Ok(NestedOnceMachine(machine, PhantomData))
    }
}

impl<S, T> Machine for NestedOnceMachine<S, T>
where
    S: System,
    T: Machine<Query = Message<Once, Infallible>, Answer = Reply<Answer, Epsilon>>,
{
    type Query = Query;
    type Answer = Answer;

    fn step(&mut self, query: Query, coins: &mut Coins<'_>) -> Result<Answer, Fault> {
        let message = match query {
            Query::Go | Query::Probe => return Ok(Answer::Done),
            Query::Spent => Message::PrivacyLoss,
            Query::Release(mechanism) => Message::Launch(mechanism),
            Query::To(..) | Query::Launch(_) => return Err(Fault::InvalidQuery(NOT_HERE)),
        };
        let reply = S::inside(coins, |coins| self.0.step(message, coins))?;
        Ok(answer_of(reply))
    }
}
