//! Whole conversations, from the start of a mechanism, in which a panic is a failure.

use std::sync::Arc;

use super::{Adversary, CoinSource, Coins, Fault, Machine, Mechanism, View, guarded, interact};

/// Starts a mechanism and lets an adversary talk to it. The view records how the start failed
/// ([`View::start`]). A panic is a failure, as it is for a handle.
pub fn view_of<D, M, Q, A>(
    mechanism: &M,
    data: &Arc<D>,
    adversary: &mut dyn Adversary<Query = Q, Answer = A>,
    adversary_coins: &mut dyn CoinSource,
    machine_coins: &mut dyn CoinSource,
    rounds: usize,
) -> View<A>
where
    D: ?Sized,
    M: Mechanism<D, Machine: Machine<Query = Q, Answer = A>> + ?Sized,
{
    match guarded(|| mechanism.start(data, &mut Coins::new(&mut *machine_coins))) {
        Ok(machine) => interact(
            adversary,
            &mut Guarded(machine),
            adversary_coins,
            machine_coins,
            rounds,
        ),
        Err(fault) => View {
            start: Err(fault),
            ..View::default()
        },
    }
}

/// A machine whose panics are failures.
struct Guarded<S>(S);

impl<S: Machine> Machine for Guarded<S> {
    type Query = S::Query;
    type Answer = S::Answer;

    fn step(&mut self, query: S::Query, coins: &mut Coins<'_>) -> Result<S::Answer, Fault> {
        guarded(|| self.0.step(query, coins))
    }
}
