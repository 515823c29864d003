//! A handle inside a machine.

use super::{AskError, LocalQueryable, Queryable};
use crate::machine::{Coins, Fault, Machine};

/// A handle as a machine: somebody can stand in the middle of it, or a machine can be built on it.
///
/// It draws from the handle's own coins. It obeys whoever may stop the handle *and* whoever may
/// stop the machine that it is part of: a middle inside the handle's machine that is about to ask
/// on, on behalf of the relay, sees both. It is told so, and can be asked by others afterwards.
///
/// ```
/// use queryables::middle::{MapAnswer, Postprocessed};
/// use queryables::machine::{CoinSource, Machine, NotPrivateSeededCoins};
/// use queryables::data::Predicate;
/// use queryables::mechanisms::NoisyCount;
/// use queryables::prelude::*;
/// use queryables::queryable::Relay;
/// use std::sync::Arc;
///
/// let filter = launch(&Filter::concurrent(PureDp, "1".parse()?), Arc::new(vec![1_u8, 2, 3]))?;
/// let all = Predicate::new("all", |_: &u8| true);
/// let count = filter.launch(&NoisyCount::new(all, "0.5".parse()?)?)?;
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

/// What an inner handle's error is to whoever asks the outer machine.
fn fault_of(error: AskError) -> Fault {
    match error {
        AskError::Fault(fault) => fault,
        AskError::Stopped(stop) => Fault::Stopped(stop),
        AskError::Busy => Fault::InvalidQuery("the inner machine is busy"),
        AskError::Closed => Fault::Failed,
    }
}
