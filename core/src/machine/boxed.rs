//! Machines behind a pointer, to store machines of several types side by side.

use super::{Coins, Fault, Machine, Says};

/// A machine with its type erased: only the types of its queries and answers are known.
pub type BoxedMachine<Q, A> = Box<dyn Machine<Query = Q, Answer = A> + Send>;

impl<S: Machine> Machine for Box<S> {
    type Query = S::Query;
    type Answer = S::Answer;

    fn step(&mut self, query: Self::Query, coins: &mut Coins<'_>) -> Result<Self::Answer, Fault> {
        (**self).step(query, coins)
    }

    fn says(answer: &S::Answer) -> Says {
        S::says(answer)
    }
}

macro_rules! erased {
    ($($Bounds:tt)*) => {
        impl<Q, A> Machine for Box<dyn Machine<Query = Q, Answer = A> + $($Bounds)*> {
            type Query = Q;
            type Answer = A;

            fn step(&mut self, query: Q, coins: &mut Coins<'_>) -> Result<A, Fault> {
                (**self).step(query, coins)
            }
        }
    };
}

// Apart from the others: with its type erased, a machine cannot tell the kind of an answer.
erased! { '_ }
erased! { Send + '_ }
erased! { Send + Sync + '_ }

/// A machine whose type is about to be erased: what it says is heard through the coins.
pub(crate) struct Heard<S>(pub(crate) S);

impl<S: Machine> Machine for Heard<S> {
    type Query = S::Query;
    type Answer = S::Answer;

    fn step(&mut self, query: Self::Query, coins: &mut Coins<'_>) -> Result<Self::Answer, Fault> {
        coins.hear(&mut self.0, query)
    }
}
