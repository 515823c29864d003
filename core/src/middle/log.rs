//! A middle that reports every query and answer.

use super::{Middle, Move};
use crate::machine::{Coins, Fault};

/// What passes through a [`Log`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LogEvent<'a, Q, A> {
    /// A query, on its way in.
    Query(&'a Q),
    /// An answer, on its way out.
    Answer(&'a A),
    /// No answer.
    Fault(Fault),
}

/// Reports every query and every answer to a function, and changes nothing.
///
/// It sees exactly what the analyst sees, so its log is as private as the answers are. Each start
/// of the mechanism gets a clone of the function: to write to one shared log, put the log behind an
/// [`Arc`](std::sync::Arc).
///
/// ```
/// use queryables::machine::{CoinSource, Machine, NotPrivateSeededCoins, Released};
/// use queryables::middle::{Log, Postprocessed};
/// use std::sync::{Arc, Mutex};
///
/// let lines = Arc::new(Mutex::new(vec![]));
/// let sink = Arc::clone(&lines);
/// let log = Log::new(move |said| sink.lock().unwrap().push(format!("{said:?}")));
/// let mut machine = Postprocessed::new(log, Released(7));
/// assert_eq!(machine.step((), &mut NotPrivateSeededCoins::new(0).coins()), Ok(7));
/// assert_eq!(*lines.lock().unwrap(), ["Query(())", "Answer(7)"]);
/// ```
#[derive(Clone)]
pub struct Log<F> {
    tell: F,
}

impl<F> Log<F> {
    /// Reports to this function.
    pub fn new<Q, A>(tell: F) -> Self
    where
        F: FnMut(LogEvent<'_, Q, A>),
    {
        Self { tell }
    }
}

crate::debug_fields!([F] Log<F>, "Log");

impl<Q, A, F: FnMut(LogEvent<'_, Q, A>)> Middle<Q, A> for Log<F> {
    type OuterQuery = Q;
    type OuterAnswer = A;

    fn on_query(&mut self, query: Q, _coins: &mut Coins<'_>) -> Result<Move<Q, A>, Fault> {
        (self.tell)(LogEvent::Query(&query));
        Ok(Move::Ask(query))
    }

    fn on_answer(&mut self, answer: A, _coins: &mut Coins<'_>) -> Result<Move<Q, A>, Fault> {
        (self.tell)(LogEvent::Answer(&answer));
        Ok(Move::Answer(answer))
    }

    fn on_fault(&mut self, fault: Fault, _coins: &mut Coins<'_>) -> Result<Move<Q, A>, Fault> {
        (self.tell)(LogEvent::Fault(fault));
        Err(fault)
    }
}
