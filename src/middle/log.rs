//! A middle that tells.

use std::fmt;
use std::sync::Arc;

use super::{Middle, Move, MoveOf};
use crate::machine::{Coins, Fault};

/// What passes through a [`Log`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Said<'a, Q, A> {
    /// A query, on its way in.
    Query(&'a Q),
    /// An answer, on its way out.
    Answer(&'a A),
    /// No answer.
    Fault(Fault),
}

/// Tells somebody everything that is said, and changes none of it.
///
/// It hears just what the analyst hears, so that what it writes is as private as the answers are.
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
pub struct Log<Q, A> {
    tell: Arc<Tell<Q, A>>,
}

type Tell<Q, A> = dyn Fn(Said<'_, Q, A>) + Send + Sync;

impl<Q, A> Log<Q, A> {
    /// Tells this function.
    pub fn new(tell: impl Fn(Said<'_, Q, A>) + Send + Sync + 'static) -> Self {
        Self {
            tell: Arc::new(tell),
        }
    }
}

impl<Q, A> Clone for Log<Q, A> {
    fn clone(&self) -> Self {
        Self {
            tell: Arc::clone(&self.tell),
        }
    }
}

impl<Q, A> fmt::Debug for Log<Q, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Log")
    }
}

impl<Q, A> Middle for Log<Q, A> {
    type OuterQuery = Q;
    type OuterAnswer = A;
    type InnerQuery = Q;
    type InnerAnswer = A;

    fn on_query(&mut self, query: Q, _coins: &mut Coins<'_>) -> Result<MoveOf<Self>, Fault> {
        (self.tell)(Said::Query(&query));
        Ok(Move::Ask(query))
    }

    fn on_answer(&mut self, answer: A, _coins: &mut Coins<'_>) -> Result<MoveOf<Self>, Fault> {
        (self.tell)(Said::Answer(&answer));
        Ok(Move::Answer(answer))
    }

    fn on_fault(&mut self, fault: Fault, _coins: &mut Coins<'_>) -> Result<MoveOf<Self>, Fault> {
        (self.tell)(Said::Fault(fault));
        Err(fault)
    }
}
