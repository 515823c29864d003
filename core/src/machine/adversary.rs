//! The other side of a conversation.

use super::{CoinSource, Coins, CoinsError, Fault, Machine, Recorder, Tape};

/// A machine on the other side: it is told the last answer and asks the next query
/// (Haney et al. 1.5).
///
/// ```
/// use queryables::machine::{Adversary, CoinSource, CoinsError, Fault};
///
/// /// Asks for ever larger numbers until one is refused.
/// struct Climber(u64);
///
/// impl Adversary for Climber {
///     type Query = u64;
///     type Answer = bool;
///
///     fn ask(
///         &mut self,
///         last: Option<&Result<bool, Fault>>,
///         _coins: &mut dyn CoinSource,
///     ) -> Result<Option<u64>, CoinsError> {
///         if last == Some(&Ok(false)) {
///             return Ok(None);
///         }
///         self.0 += 1;
///         Ok(Some(self.0))
///     }
/// }
/// ```
pub trait Adversary {
    /// What it asks.
    type Query;
    /// What it is told.
    type Answer;

    /// The next query, or `None` to halt. `last` is `None` before the first answer.
    ///
    /// # Errors
    ///
    /// When its coins fail.
    fn ask(
        &mut self,
        last: Option<&Result<Self::Answer, Fault>>,
        coins: &mut dyn CoinSource,
    ) -> Result<Option<Self::Query>, CoinsError>;
}

/// An adversary that asks a fixed list of queries, whatever it hears.
///
/// Example: [`interact`](crate::machine::interact).
#[derive(Clone, Debug)]
pub struct Script<Q, A> {
    queries: std::vec::IntoIter<Q>,
    answer: std::marker::PhantomData<fn(A)>,
}

impl<Q, A> Script<Q, A> {
    /// Asks these, in order, then halts.
    pub fn new(queries: impl IntoIterator<Item = Q>) -> Self {
        Self {
            queries: queries.into_iter().collect::<Vec<_>>().into_iter(),
            answer: std::marker::PhantomData,
        }
    }
}

impl<Q, A> Adversary for Script<Q, A> {
    type Query = Q;
    type Answer = A;

    fn ask(
        &mut self,
        _last: Option<&Result<A, Fault>>,
        _coins: &mut dyn CoinSource,
    ) -> Result<Option<Q>, CoinsError> {
        Ok(self.queries.next())
    }
}

/// Everything that an adversary sees: its own coins and what it is told (Haney et al. 1.6).
///
/// The queries are not part of it, because they follow from the rest.
///
/// Example: [`interact`](crate::machine::interact).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct View<A> {
    /// Round by round: the coins tossed to find the query, and the answer to it.
    pub rounds: Vec<(Tape, Result<A, Fault>)>,
    /// The coins tossed before halting.
    pub last_coins: Tape,
    /// How the mechanism started. A failed start differs from a failure at the first query, and the
    /// adversary sees which of the two happened, and how it failed.
    pub start: Result<(), Fault>,
}

impl<A> Default for View<A> {
    fn default() -> Self {
        Self {
            rounds: Vec::new(),
            last_coins: Tape::new(),
            start: Ok(()),
        }
    }
}

impl<A> View<A> {
    /// The answers, without the adversary's coins.
    pub fn answers(&self) -> impl Iterator<Item = &Result<A, Fault>> {
        self.rounds.iter().map(|(_, answer)| answer)
    }
}

/// Runs an adversary against a machine, for at most `rounds` rounds, and returns what the
/// adversary sees (Haney et al. 1.5, 1.6).
///
/// The conversation ends when the machine can no longer answer, and its last fault is part of the
/// view. It also ends when the adversary's coins fail.
///
/// ```
/// use queryables::machine::{interact, NotPrivateSeededCoins, Released, Script};
///
/// let view = interact(
///     &mut Script::new([(), ()]),
///     &mut Released("noon"),
///     &mut NotPrivateSeededCoins::new(0),
///     &mut NotPrivateSeededCoins::new(1),
///     10,
/// );
/// assert!(view.answers().eq(&[Ok("noon"), Ok("noon")]));
/// ```
pub fn interact<Q, A>(
    adversary: &mut dyn Adversary<Query = Q, Answer = A>,
    machine: &mut dyn Machine<Query = Q, Answer = A>,
    adversary_coins: &mut dyn CoinSource,
    machine_coins: &mut dyn CoinSource,
    rounds: usize,
) -> View<A> {
    converse(
        adversary,
        machine,
        adversary_coins,
        machine_coins,
        rounds,
        |_| true,
    )
}

/// The loop of [`interact`]. After every step, `keep` decides whether the answer is still part of
/// the view; the first one that is not ends the conversation.
pub(super) fn converse<Q, A, S>(
    adversary: &mut dyn Adversary<Query = Q, Answer = A>,
    machine: &mut S,
    adversary_coins: &mut dyn CoinSource,
    machine_coins: &mut dyn CoinSource,
    rounds: usize,
    mut keep: impl FnMut(&S) -> bool,
) -> View<A>
where
    S: Machine<Query = Q, Answer = A> + ?Sized,
{
    let mut view = View::default();
    let mut coins = Recorder::new(adversary_coins);
    while view.rounds.len() < rounds {
        let last = view.rounds.last().map(|(_, answer)| answer);
        let query = adversary.ask(last, &mut coins);
        let tossed = coins.take_tape();
        let Ok(Some(query)) = query else {
            view.last_coins = tossed;
            break;
        };
        let answer = machine.step(query, &mut Coins::new(&mut *machine_coins));
        if !keep(machine) {
            break;
        }
        let ended = matches!(answer, Err(fault) if !fault.is_recoverable());
        view.rounds.push((tossed, answer));
        if ended {
            break;
        }
    }
    view
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::NotPrivateSeededCoins;
    use std::num::NonZeroU64;

    /// Doubles; fails on zero, rejects odd numbers.
    struct Doubler;

    impl Machine for Doubler {
        type Query = u64;
        type Answer = u64;

        fn step(&mut self, query: u64, _coins: &mut Coins<'_>) -> Result<u64, Fault> {
            match query {
                0 => Err(Fault::Failed),
                odd if odd % 2 == 1 => Err(Fault::InvalidQuery("odd")),
                even => Ok(2 * even),
            }
        }
    }

    /// Tosses a coin to choose between 2 and 4, then asks what it was told.
    struct Tosser;

    impl Adversary for Tosser {
        type Query = u64;
        type Answer = u64;

        fn ask(
            &mut self,
            last: Option<&Result<u64, Fault>>,
            coins: &mut dyn CoinSource,
        ) -> Result<Option<u64>, CoinsError> {
            match last {
                None => Ok(Some(2 + 2 * coins.uniform(NonZeroU64::new(2).unwrap())?)),
                Some(Ok(told)) if *told < 100 => Ok(Some(*told)),
                Some(_) => Ok(None),
            }
        }
    }

    fn view(adversary: &mut dyn Adversary<Query = u64, Answer = u64>, rounds: usize) -> View<u64> {
        interact(
            adversary,
            &mut Doubler,
            &mut NotPrivateSeededCoins::new(4),
            &mut NotPrivateSeededCoins::new(5),
            rounds,
        )
    }

    #[test]
    fn the_view_holds_answers_and_the_adversarys_own_coins() {
        let view = view(&mut Tosser, 50);
        let (coins, first) = &view.rounds[0];
        let chosen = 2 + 2 * coins[0].1;
        assert_eq!(*first, Ok(2 * chosen));
        assert!(view.rounds[1..].iter().all(|(coins, _)| coins.is_empty()));
        assert!(matches!(view.rounds.last(), Some((_, Ok(100..)))));
    }

    #[test]
    fn rounds_are_limited() {
        assert_eq!(view(&mut Tosser, 3).rounds.len(), 3);
        assert_eq!(view(&mut Tosser, 0), View::default());
    }

    #[test]
    fn a_failure_ends_the_conversation_and_an_invalid_query_does_not() {
        let view = view(&mut Script::new([3, 2, 0, 2]), 50);
        assert!(
            view.answers()
                .eq(&[Err(Fault::InvalidQuery("odd")), Ok(4), Err(Fault::Failed)])
        );
    }
}
