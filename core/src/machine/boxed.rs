//! Machines behind a pointer, to store machines of several types side by side.

use super::{Coins, Fault, Machine};

/// A machine with its type erased: only the types of its queries and answers are known.
///
/// Example: [`Boxed`](crate::compose::Boxed).
pub type BoxedMachine<Q, A> = Box<dyn Machine<Query = Q, Answer = A> + Send>;

impl<S: Machine + ?Sized> Machine for Box<S> {
    type Query = S::Query;
    type Answer = S::Answer;

    fn step(&mut self, query: Self::Query, coins: &mut Coins<'_>) -> Result<Self::Answer, Fault> {
        (**self).step(query, coins)
    }
}
