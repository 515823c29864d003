//! Middles that translate.

use std::marker::PhantomData;

use super::{Middle, Move};
use crate::machine::{Coins, Fault};

/// Translates every query with a function from the outer query `O`.
///
/// ```
/// use queryables::machine::{CoinSource, Machine, NotPrivateSeededCoins, Released};
/// use queryables::middle::{MapQuery, Postprocessed};
///
/// let mut machine = Postprocessed::new(MapQuery::new(|_word: &str| ()), Released(7));
/// assert_eq!(machine.step("anything", &mut NotPrivateSeededCoins::new(0).coins()), Ok(7));
/// ```
pub struct MapQuery<O, F> {
    map: F,
    query: PhantomData<fn(O)>,
}

impl<O, F> MapQuery<O, F> {
    /// Translates with this function.
    pub fn new<Q>(map: F) -> Self
    where
        F: FnMut(O) -> Q,
    {
        Self {
            map,
            query: PhantomData,
        }
    }
}

impl<O, Q, A, F: FnMut(O) -> Q> Middle<Q, A> for MapQuery<O, F> {
    type OuterQuery = O;
    type OuterAnswer = A;

    fn on_query(&mut self, query: O, _coins: &mut Coins<'_>) -> Result<Move<Q, A>, Fault> {
        Ok(Move::Ask((self.map)(query)))
    }

    fn on_answer(&mut self, answer: A, _coins: &mut Coins<'_>) -> Result<Move<Q, A>, Fault> {
        Ok(Move::Answer(answer))
    }
}

crate::clone_fields!([O, F: Clone] MapQuery<O, F> { map, query });

crate::debug_fields!([O, F] MapQuery<O, F>, "MapQuery");

/// Translates every answer with a function.
///
/// ```
/// use queryables::machine::{CoinSource, Machine, NotPrivateSeededCoins, Released};
/// use queryables::middle::{MapAnswer, Postprocessed};
///
/// let mut machine = Postprocessed::new(MapAnswer::new(|answer| answer % 2 == 0), Released(7));
/// assert_eq!(machine.step((), &mut NotPrivateSeededCoins::new(0).coins()), Ok(false));
/// ```
///
/// The compiler infers the function's argument type from the machine, after it has checked the
/// function. So operators and `format!` need no annotation; a method call, a field access or a cast
/// does: `|answer: i64| answer as f64`.
#[derive(Clone)]
pub struct MapAnswer<F> {
    map: F,
}

impl<F> MapAnswer<F> {
    /// Translates with this function.
    pub fn new<A, B>(map: F) -> Self
    where
        F: FnMut(A) -> B,
    {
        Self { map }
    }
}

impl<Q, A, B, F: FnMut(A) -> B> Middle<Q, A> for MapAnswer<F> {
    type OuterQuery = Q;
    type OuterAnswer = B;

    fn on_query(&mut self, query: Q, _coins: &mut Coins<'_>) -> Result<Move<Q, B>, Fault> {
        Ok(Move::Ask(query))
    }

    fn on_answer(&mut self, answer: A, _coins: &mut Coins<'_>) -> Result<Move<Q, B>, Fault> {
        Ok(Move::Answer((self.map)(answer)))
    }
}

crate::debug_fields!([F] MapAnswer<F>, "MapAnswer");
