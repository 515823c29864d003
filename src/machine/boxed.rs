//! Machines behind a pointer, for those who need to store several kinds side by side.

use super::{Coins, Fault, Machine};

/// A machine whose type is forgotten: only what it can be asked and what it answers is known.
pub type BoxedMachine<Q, A> = Box<dyn Machine<Query = Q, Answer = A> + Send>;

impl<S: Machine + ?Sized> Machine for Box<S> {
    type Query = S::Query;
    type Answer = S::Answer;

    fn step(&mut self, query: Self::Query, coins: &mut Coins<'_>) -> Result<Self::Answer, Fault> {
        (**self).step(query, coins)
    }
}
