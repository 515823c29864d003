//! A machine behind a person in the middle.

use std::fmt;
use std::sync::Arc;

use super::{Mapped, Middle, Move};
use crate::compose::Leash;
use crate::machine::{Coins, Fault, Inspect, Machine, Mechanism, StateKey};
use crate::privacy::{Distance, Postprocessable, Private, Relation, UnknownLoss};

/// How often a middle may ask inward for one answer, unless stated otherwise.
const ROUNDS: u32 = 1000;

/// P∘M as a machine (Haney et al. Alg 7).
///
/// A middle that asks inward more often than the round limit without answering is stopped with
/// [`Fault::RoundLimit`]. The paper's loop has no such limit; a machine must come to an end.
///
/// # Guarantee
///
/// What the machine guarantees, for every measure that is closed under postprocessing (Haney et al.
/// 2.17).
#[derive(Clone)]
pub struct Postprocessed<P, S> {
    middle: P,
    machine: S,
    rounds: u32,
}

impl<P, S> Postprocessed<P, S> {
    /// Puts a middle before a running machine.
    pub fn new(middle: P, machine: S) -> Self {
        Self {
            middle,
            machine,
            rounds: ROUNDS,
        }
    }

    /// Lets the middle ask inward so often for one answer.
    #[must_use]
    pub fn with_round_limit(self, rounds: u32) -> Self {
        Self { rounds, ..self }
    }
}

impl<P, S> fmt::Debug for Postprocessed<P, S> {
    /// Nothing of what is inside.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Postprocessed")
    }
}

impl<P, S> Machine for Postprocessed<P, S>
where
    P: Middle,
    S: Machine<Query = P::InnerQuery, Answer = P::InnerAnswer>,
{
    type Query = P::OuterQuery;
    type Answer = P::OuterAnswer;

    fn step(&mut self, query: Self::Query, coins: &mut Coins<'_>) -> Result<Self::Answer, Fault> {
        let leash = Leash::held();
        let mut next = self.middle.on_query(query, coins)?;
        for _ in 0..self.rounds {
            let query = match next {
                Move::Answer(answer) => return Ok(answer),
                Move::Ask(query) => query,
            };
            // What the middle knows may be younger than a launch that has frozen the machine.
            let frozen = Fault::InvalidQuery("frozen or halted while it was answering");
            leash.check().map_err(|_| frozen)?;
            next = match self.machine.step(query, coins) {
                Ok(answer) => self.middle.on_answer(answer, coins)?,
                Err(fault) => {
                    let heard = self.middle.on_fault(fault, coins);
                    // Nobody can answer for a machine that has failed.
                    if !fault.is_recoverable() {
                        return Err(fault);
                    }
                    heard?
                }
            };
        }
        match next {
            Move::Answer(answer) => Ok(answer),
            Move::Ask(_) => Err(Fault::RoundLimit(self.rounds)),
        }
    }
}

impl<P: Inspect, S: Inspect> Inspect for Postprocessed<P, S> {
    fn inspect(&self, key: &mut StateKey) {
        key.write(&self.middle);
        key.write(&self.rounds);
        key.write(&self.machine);
    }
}

/// A mechanism whose machine starts behind a middle.
///
/// Made by [`through`](ThroughExt::through). Each start clones the middle as it was given.
///
/// # Guarantee
///
/// The loss of the mechanism, at every distance (Haney et al. 2.17).
#[derive(Clone, Debug)]
pub struct Through<P, M> {
    middle: P,
    mechanism: M,
    rounds: u32,
}

impl<P, M> Through<P, M> {
    /// Lets the middle ask inward so often for one answer; a thousand times if nothing is said.
    #[must_use]
    pub fn with_round_limit(self, rounds: u32) -> Self {
        Self { rounds, ..self }
    }
}

/// Puts a person in the middle, or a function behind.
///
/// ```
/// use queryables::middle::{Clamp, LimitQueries, ThroughExt};
/// use queryables::prelude::*;
/// use std::sync::Arc;
/// # use queryables::machine::{CoinSource, Coins, Fault};
/// # #[derive(Clone)]
/// # struct Echo;
/// # impl Mechanism<()> for Echo {
/// #     type Machine = Self;
/// #     fn start(&self, _: &Arc<()>, _: &mut Coins<'_>) -> Result<Self, Fault> { Ok(Self) }
/// # }
/// # impl Machine for Echo {
/// #     type Query = i64;
/// #     type Answer = i64;
/// #     fn step(&mut self, query: i64, _: &mut Coins<'_>) -> Result<i64, Fault> { Ok(query) }
/// # }
/// // A mechanism that echoes its query, clamped, three times at most.
/// let mechanism = Echo.through(Clamp::new(0, 100)).through(LimitQueries::new(3));
/// let queryable = launch(&mechanism, Arc::new(()))?;
/// assert_eq!(queryable.ask(7), Ok(7));
/// assert_eq!(queryable.ask(-7), Ok(0));
/// assert_eq!(queryable.ask(700), Ok(100));
/// assert_eq!(queryable.ask(7), Err(AskError::Exhausted));
/// # Ok::<(), Fault>(())
/// ```
pub trait ThroughExt: Sized {
    /// This mechanism, behind that middle.
    fn through<P: Middle>(self, middle: P) -> Through<P, Self> {
        Through {
            middle,
            mechanism: self,
            rounds: ROUNDS,
        }
    }

    /// This mechanism, which answers once, with its answer passed through a function.
    ///
    /// ```
    /// use queryables::prelude::*;
    /// use std::sync::Arc;
    /// # #[derive(Clone)]
    /// # struct Rows;
    /// # impl Mechanism<Vec<u8>> for Rows {
    /// #     type Machine = Released<usize>;
    /// #     fn start(&self, data: &Arc<Vec<u8>>, _: &mut Coins<'_>) -> Result<Released<usize>, Fault> {
    /// #         Ok(Released(data.len()))
    /// #     }
    /// # }
    /// # impl Private<PureDp, AddRemove> for Rows {
    /// #     fn loss(&self, _: &PureDp) -> Result<Epsilon, UnknownLoss> { Ok(Epsilon::ZERO) }
    /// # }
    /// let filter = launch(&Filter::concurrent(PureDp, "1".parse()?), Arc::new(vec![1, 2, 3]))?;
    /// let text = filter.release(&Rows.mapped(|rows| format!("{rows} rows")))?;
    /// assert_eq!(text, "3 rows");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn mapped<A, B, F: Fn(A) -> B>(self, function: F) -> Mapped<Self, F> {
        Mapped::new(self, function)
    }
}

impl<M> ThroughExt for M {}

impl<D, P, M> Mechanism<D> for Through<P, M>
where
    D: ?Sized,
    P: Middle + Clone,
    M: Mechanism<D>,
    M::Machine: Machine<Query = P::InnerQuery, Answer = P::InnerAnswer>,
{
    type Machine = Postprocessed<P, M::Machine>;

    fn start(&self, data: &Arc<D>, coins: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        let machine = self.mechanism.start(data, coins)?;
        Ok(Postprocessed::new(self.middle.clone(), machine).with_round_limit(self.rounds))
    }
}

impl<Me, R, P, M> Private<Me, R> for Through<P, M>
where
    Me: Postprocessable,
    R: Relation,
    M: Private<Me, R>,
{
    fn loss(&self, measure: &Me) -> Result<Me::Loss, UnknownLoss> {
        self.mechanism.loss(measure)
    }

    fn loss_at(&self, measure: &Me, distance: Distance) -> Result<Me::Loss, UnknownLoss> {
        self.mechanism.loss_at(measure, distance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::CoinSource;
    use crate::machine::NotPrivateSeededCoins;
    use crate::middle::MoveOf;

    /// Asks inward as often as it is told, then answers how often it has.
    struct Persistent(u32, u32);

    impl Middle for Persistent {
        type OuterQuery = u32;
        type OuterAnswer = u32;
        type InnerQuery = Option<Fault>;
        type InnerAnswer = ();

        fn on_query(&mut self, query: u32, _: &mut Coins<'_>) -> Result<MoveOf<Self>, Fault> {
            *self = Self(query, 0);
            self.on_answer((), &mut NotPrivateSeededCoins::new(0).coins())
        }

        fn on_answer(&mut self, (): (), _: &mut Coins<'_>) -> Result<MoveOf<Self>, Fault> {
            if self.1 == self.0 {
                return Ok(Move::Answer(self.1));
            }
            self.1 += 1;
            Ok(Move::Ask(None))
        }
    }

    /// Counts its steps.
    #[derive(Default)]
    struct Inner(u32);

    impl Machine for Inner {
        type Query = Option<Fault>;
        type Answer = ();

        fn step(&mut self, query: Option<Fault>, _: &mut Coins<'_>) -> Result<(), Fault> {
            self.0 += 1;
            query.map_or(Ok(()), Err)
        }
    }

    fn ask(rounds: u32, times: u32) -> (Result<u32, Fault>, u32) {
        let mut machine =
            Postprocessed::new(Persistent(0, 0), Inner::default()).with_round_limit(rounds);
        let answer = machine.step(times, &mut NotPrivateSeededCoins::new(0).coins());
        (answer, machine.machine.0)
    }

    #[test]
    fn the_middle_asks_as_often_as_it_likes_before_it_answers() {
        assert_eq!(ask(10, 0), (Ok(0), 0));
        assert_eq!(ask(10, 7), (Ok(7), 7));
    }

    #[test]
    fn a_middle_that_never_answers_is_stopped() {
        assert_eq!(ask(10, 10), (Ok(10), 10));
        assert_eq!(ask(10, 11), (Err(Fault::RoundLimit(10)), 10));
        assert_eq!(ask(ROUNDS, u32::MAX), (Err(Fault::RoundLimit(1000)), 1000));
    }

    /// Passes faults in, and turns those that come back into answers.
    struct Forgiving;

    impl Middle for Forgiving {
        type OuterQuery = Option<Fault>;
        type OuterAnswer = Option<Fault>;
        type InnerQuery = Option<Fault>;
        type InnerAnswer = ();

        fn on_query(
            &mut self,
            query: Option<Fault>,
            _: &mut Coins<'_>,
        ) -> Result<MoveOf<Self>, Fault> {
            Ok(Move::Ask(query))
        }

        fn on_answer(&mut self, (): (), _: &mut Coins<'_>) -> Result<MoveOf<Self>, Fault> {
            Ok(Move::Answer(None))
        }

        fn on_fault(&mut self, fault: Fault, _: &mut Coins<'_>) -> Result<MoveOf<Self>, Fault> {
            Ok(Move::Answer(Some(fault)))
        }
    }

    #[test]
    fn a_middle_hears_what_the_machine_rejects_but_cannot_hide_its_failure() {
        let mut machine = Postprocessed::new(Forgiving, Inner::default());
        let mut ask = |query| machine.step(query, &mut NotPrivateSeededCoins::new(0).coins());
        assert_eq!(ask(None), Ok(None));
        assert_eq!(ask(Some(Fault::Exhausted)), Ok(Some(Fault::Exhausted)));
        assert_eq!(ask(Some(Fault::Failed)), Err(Fault::Failed));
    }
}
