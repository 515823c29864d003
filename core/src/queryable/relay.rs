//! A handle inside a machine.

use super::{AskError, LocalQueryable, Queryable};
use crate::machine::{Coins, Fault, Machine};

/// A handle as a machine, so that it can be put behind a middle, or built into another machine.
///
/// It uses the handle's own coins. It stops when the handle is stopped *and* when the machine that
/// it is part of is stopped: a middle inside the handle's machine checks both before it asks inward
/// on behalf of the relay. If only the relay was stopped, that middle hears of it, and others can
/// still ask the handle.
///
/// ```
/// use queryables::middle::{MapAnswer, Postprocessed};
/// use queryables::machine::{CoinSource, Machine, NotPrivateSeededCoins};
/// use queryables::data::Predicate;
/// use queryables::mechanisms::Count;
/// use queryables::prelude::*;
/// use queryables::queryable::Relay;
/// use std::sync::Arc;
///
/// let filter = start(&Filter::concurrent(PureDp, "1".parse()?), Arc::new(vec![1_u8, 2, 3]))?;
/// let all = Predicate::new("all", |_: &u8| true);
/// let count = filter.launch(&Count::of(all).laplace(epsilon!(0.5))?)?;
/// let mut sign = Postprocessed::new(MapAnswer::new(|count: i64| count > 0), Relay(count));
/// let answer = sign.step((), &mut NotPrivateSeededCoins::new(0).coins())?;
/// assert_eq!(answer, sign.step((), &mut NotPrivateSeededCoins::new(1).coins())?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Relay<H>(pub H);

macro_rules! relay {
    ($($Handle:ident)*) => {$(
        impl<Q, A> Machine for Relay<$Handle<Q, A>> {
            type Query = Q;
            type Answer = A;

            fn step(&mut self, query: Q, coins: &mut Coins<'_>) -> Result<A, Fault> {
                self.0.ask_for(query, coins).map_err(fault_of)
            }
        }
    )*};
}

relay! { Queryable LocalQueryable }

/// An inner handle's error, as the outer machine reports it.
fn fault_of(error: AskError) -> Fault {
    match error {
        AskError::Fault(fault) => fault,
        AskError::Stopped(stop) => Fault::Stopped(stop),
        AskError::Busy => Fault::InvalidQuery("the inner machine is busy"),
        AskError::Closed => Fault::Failed,
    }
}
