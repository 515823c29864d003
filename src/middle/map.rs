//! Middles that translate.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use super::{Middle, Move, MoveOf};
use crate::machine::{Coins, Fault};

/// Translates every query: outside `From`, inside `To`.
///
/// ```
/// use queryables::machine::{CoinSource, Machine, NotPrivateSeededCoins, Released};
/// use queryables::middle::{MapQuery, Postprocessed};
///
/// let mut machine = Postprocessed::new(MapQuery::new(|_word: &str| ()), Released(7));
/// assert_eq!(machine.step("anything", &mut NotPrivateSeededCoins::new(0).coins()), Ok(7));
/// ```
pub struct MapQuery<From, To, A> {
    map: Arc<dyn Fn(From) -> To + Send + Sync>,
    answer: PhantomData<fn() -> A>,
}

impl<From, To, A> MapQuery<From, To, A> {
    /// Translates with this function.
    pub fn new(map: impl Fn(From) -> To + Send + Sync + 'static) -> Self {
        Self {
            map: Arc::new(map),
            answer: PhantomData,
        }
    }
}

impl<From, To, A> Middle for MapQuery<From, To, A> {
    type OuterQuery = From;
    type OuterAnswer = A;
    type InnerQuery = To;
    type InnerAnswer = A;

    fn on_query(&mut self, query: From, _coins: &mut Coins<'_>) -> Result<MoveOf<Self>, Fault> {
        Ok(Move::Ask((self.map)(query)))
    }

    fn on_answer(&mut self, answer: A, _coins: &mut Coins<'_>) -> Result<MoveOf<Self>, Fault> {
        Ok(Move::Answer(answer))
    }
}

/// Translates every answer: inside `From`, outside `To`.
///
/// ```
/// use queryables::machine::{CoinSource, Machine, NotPrivateSeededCoins, Released};
/// use queryables::middle::{MapAnswer, Postprocessed};
///
/// let mut machine = Postprocessed::new(MapAnswer::new(|answer: u32| answer % 2 == 0), Released(7));
/// assert_eq!(machine.step((), &mut NotPrivateSeededCoins::new(0).coins()), Ok(false));
/// ```
pub struct MapAnswer<Q, From, To> {
    map: Arc<dyn Fn(From) -> To + Send + Sync>,
    query: PhantomData<fn(Q)>,
}

impl<Q, From, To> MapAnswer<Q, From, To> {
    /// Translates with this function.
    pub fn new(map: impl Fn(From) -> To + Send + Sync + 'static) -> Self {
        Self {
            map: Arc::new(map),
            query: PhantomData,
        }
    }
}

impl<Q, From, To> Middle for MapAnswer<Q, From, To> {
    type OuterQuery = Q;
    type OuterAnswer = To;
    type InnerQuery = Q;
    type InnerAnswer = From;

    fn on_query(&mut self, query: Q, _coins: &mut Coins<'_>) -> Result<MoveOf<Self>, Fault> {
        Ok(Move::Ask(query))
    }

    fn on_answer(&mut self, answer: From, _coins: &mut Coins<'_>) -> Result<MoveOf<Self>, Fault> {
        Ok(Move::Answer((self.map)(answer)))
    }
}

// Derives would ask the same of the types that are only named.
impl<From, To, A> Clone for MapQuery<From, To, A> {
    fn clone(&self) -> Self {
        Self {
            map: Arc::clone(&self.map),
            answer: PhantomData,
        }
    }
}

impl<Q, From, To> Clone for MapAnswer<Q, From, To> {
    fn clone(&self) -> Self {
        Self {
            map: Arc::clone(&self.map),
            query: PhantomData,
        }
    }
}

impl<From, To, A> fmt::Debug for MapQuery<From, To, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MapQuery")
    }
}

impl<Q, From, To> fmt::Debug for MapAnswer<Q, From, To> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MapAnswer")
    }
}
