//! A machine behind a person in the middle.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use super::{Mapped, Middle, Move};
use crate::machine::{
    AnswerKind, Coins, Description, DomainMismatch, Fault, Inspect, Machine, Mechanism, Outages,
    Public, Released, StateKey,
};
use crate::privacy::{Distance, Postprocessable, Private, Relation, UnknownLoss};

/// How often a middle may ask inward for one answer, by default.
const ROUNDS: u32 = 1000;

/// P∘M as a machine (Haney et al. Alg 7).
///
/// A middle that asks inward more often than the round limit without answering is stopped with
/// [`Fault::RoundLimit`]. The paper's loop has no such limit, but a step must terminate.
///
/// A middle may launch something that freezes or halts its own inner machine, or wait until another
/// thread does; so may code of the inner machine. So the context is checked ([`Coins::check`])
/// before every query inward, and again before the middle is told the answer.
///
/// Example: [`Round`](crate::middle::Round).
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
    outages: Outages,
}

impl<P, S> Postprocessed<P, S> {
    /// Puts a middle before a running machine.
    pub fn new(middle: P, machine: S) -> Self {
        Self {
            middle,
            machine,
            rounds: ROUNDS,
            outages: Outages::default(),
        }
    }

    /// Lets the middle ask inward at most `rounds` times for one answer; 1000 times by default.
    #[must_use]
    pub fn with_round_limit(self, rounds: u32) -> Self {
        Self { rounds, ..self }
    }
}

// Nothing of the contents.
crate::debug_fields!([P, S] Postprocessed<P, S>, "Postprocessed");

impl<P, S> Machine for Postprocessed<P, S>
where
    S: Machine,
    P: Middle<S::Query, S::Answer>,
{
    type Query = P::OuterQuery;
    type Answer = P::OuterAnswer;

    fn step(&mut self, query: Self::Query, coins: &mut Coins<'_>) -> Result<Self::Answer, Fault> {
        let mut next = self.middle.on_query(query, coins)?;
        // A middle does not know the data: what it says without asking is public, and otherwise it
        // tells no more than the most informative answer from inside.
        let mut most = match next {
            Move::Answer(_) => AnswerKind::Reading,
            Move::Ask(_) => AnswerKind::Refused,
        };
        for _ in 0..self.rounds {
            let query = match next {
                Move::Answer(_) => break,
                Move::Ask(query) => query,
            };
            // The middle's code has run: it may have seen a later launch, or made one.
            if let Err(stop) = coins.check() {
                // If only the caller was stopped, others may still ask the middle.
                let _ = self.middle.on_fault(Fault::Stopped(stop), coins);
                return Err(Fault::Stopped(stop));
            }
            let (answer, kind) = coins.with_kind(|coins| self.machine.step(query, coins));
            most = most.max(kind);
            next = match coins.settled(answer) {
                Ok(answer) => self.middle.on_answer(answer, coins)?,
                Err(withheld) => {
                    let heard = self.middle.on_fault(withheld.told, coins);
                    // A middle cannot answer for a machine that has failed. Nor does it hide from
                    // whoever runs it how often the data was unavailable.
                    if withheld.is_final(&mut self.outages) {
                        return Err(withheld.ended());
                    }
                    heard?
                }
            };
        }
        coins.answered(most);
        match next {
            Move::Answer(answer) => Ok(answer),
            Move::Ask(_) => Err(Fault::RoundLimit(self.rounds)),
        }
    }
}

impl<P: Inspect, S: Inspect> Inspect for Postprocessed<P, S> {
    fn inspect(&self, key: &mut StateKey) {
        key.write(&self.middle);
        key.write(&(self.rounds, self.outages));
        key.write(&self.machine);
    }
}

/// A mechanism whose machine starts behind a middle.
///
/// Made by [`through`](ThroughExt::through). Each start clones the middle as it was given. `D` is
/// the data that the mechanism runs on; the compiler infers it where the result is launched.
///
/// Example: [`ThroughExt`](crate::middle::ThroughExt).
///
/// # Guarantee
///
/// The loss of the mechanism, at every distance (Haney et al. 2.17).
pub struct Through<P, M, D: ?Sized> {
    middle: P,
    mechanism: M,
    rounds: u32,
    data: PhantomData<fn(&D)>,
}

impl<P, M, D: ?Sized> Through<P, M, D> {
    /// Lets the middle ask inward at most `rounds` times for one answer; 1000 times by default.
    #[must_use]
    pub fn with_round_limit(self, rounds: u32) -> Self {
        Self { rounds, ..self }
    }
}

crate::clone_fields!([P: Clone, M: Clone, D: ?Sized] Through<P, M, D> { middle, mechanism, rounds, data });

crate::debug_fields!([P: fmt::Debug, M: fmt::Debug, D: ?Sized] Through<P, M, D>, "Through" { middle, mechanism, rounds });

/// Puts a person in the middle, or a function behind the answer.
///
/// ```
/// use queryables::data::Predicate;
/// use queryables::mechanisms::Count;
/// use queryables::middle::{Clamp, LimitQueries, ThroughExt};
/// use queryables::prelude::*;
/// use std::sync::Arc;
///
/// let ages = Arc::new(vec![17, 18, 43, 70]);
/// let adults = Predicate::new("at least 18", |age: &u32| *age >= 18);
/// let count = Count::of(adults).laplace(epsilon!(0.5))?;
///
/// // Answers between 0 and 100, three times at most.
/// let count = count.through(Clamp::new(0, 100)).through(LimitQueries::new(3));
/// let count = start(&Filter::concurrent(PureDp, "1".parse()?), ages)?.launch(&count)?;
/// for _ in 0..3 {
///     assert!((0..=100).contains(&count.ask(())?));
/// }
/// assert_eq!(count.ask(()), Err(AskError::Fault(Fault::Exhausted)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Only a mechanism has these methods:
///
/// ```compile_fail,E0599
/// use queryables::middle::{LimitQueries, ThroughExt};
///
/// let _ = 7_u8.through(LimitQueries::new(3));
/// ```
#[doc(alias = "postprocessing")]
pub trait ThroughExt<D: ?Sized>: Mechanism<D> + Sized {
    /// This mechanism, behind a middle.
    ///
    /// Whether the two fit is checked where the result is launched: only there is the type of the
    /// data known.
    fn through<P>(self, middle: P) -> Through<P, Self, D> {
        Through {
            middle,
            mechanism: self,
            rounds: ROUNDS,
            data: PhantomData,
        }
    }

    /// This mechanism, which answers once, with its answer passed through a function.
    ///
    /// ```
    /// use queryables::data::Predicate;
    /// use queryables::mechanisms::Count;
    /// use queryables::prelude::*;
    /// use std::sync::Arc;
    ///
    /// let ages = Arc::new(vec![17, 18, 43, 70]);
    /// let filter = start(&Filter::concurrent(PureDp, "1".parse()?), ages)?;
    ///
    /// let adults = Predicate::new("at least 18", |age: &u32| *age >= 18);
    /// let count = Count::of(adults).laplace(epsilon!(0.5))?;
    /// let text: String = filter.release(&count.mapped(|count| format!("about {count} adults")))?;
    /// assert!(text.ends_with(" adults"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// For retries through a ledger the function needs a [name](Mapped::named).
    fn mapped<A, B, F>(self, function: F) -> Mapped<Self, F, D>
    where
        Self: Mechanism<D, Machine = Released<A>>,
        F: Fn(A) -> B,
    {
        Mapped::new(self, function)
    }
}

impl<D: ?Sized, M: Mechanism<D>> ThroughExt<D> for M {}

impl<D, P, M> Mechanism<D> for Through<P, M, D>
where
    D: ?Sized,
    M: Mechanism<D>,
    M::Machine: Machine,
    P: Clone + Middle<<M::Machine as Machine>::Query, <M::Machine as Machine>::Answer>,
{
    type Machine = Postprocessed<P, M::Machine>;

    // It promises nothing of releases: a middle may choose by an answer what to ask next.

    fn start(&self, data: &Arc<D>, coins: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        // In this order: a clone is third-party code too.
        let middle = coins.guarded(|_| Ok(self.middle.clone()))?;
        let machine = self.mechanism.start(data, coins)?;
        Ok(Postprocessed::new(middle, machine).with_round_limit(self.rounds))
    }

    fn check(&self, data: Public<'_, D>) -> Result<(), DomainMismatch> {
        self.mechanism.check(data)
    }

    /// Says the type of the middle, and nothing of what it is made of.
    fn describe(&self) -> Description {
        let middle = Description::of::<P>().incomplete();
        let description = self.mechanism.describe().with_inner("middle", middle);
        description.with("rounds", self.rounds)
    }
}

impl<Me, R, P, M, D> Private<Me, R> for Through<P, M, D>
where
    D: ?Sized,
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
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use crate::machine::{CoinSource, NotPrivateSeededCoins, Stop, StopToken, Stopper};

    /// Asks inward the requested number of times, then answers how often it has.
    struct Persistent(u32, u32);

    impl Middle<Option<Fault>, ()> for Persistent {
        type OuterQuery = u32;
        type OuterAnswer = u32;

        fn on_query(
            &mut self,
            query: u32,
            _: &mut Coins<'_>,
        ) -> Result<Move<Option<Fault>, u32>, Fault> {
            *self = Self(query, 0);
            self.on_answer((), &mut NotPrivateSeededCoins::new(0).coins())
        }

        fn on_answer(
            &mut self,
            (): (),
            _: &mut Coins<'_>,
        ) -> Result<Move<Option<Fault>, u32>, Fault> {
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

    impl Middle<Option<Fault>, ()> for Forgiving {
        type OuterQuery = Option<Fault>;
        type OuterAnswer = Option<Fault>;

        fn on_query(
            &mut self,
            query: Option<Fault>,
            _: &mut Coins<'_>,
        ) -> Result<Move<Option<Fault>, Option<Fault>>, Fault> {
            Ok(Move::Ask(query))
        }

        fn on_answer(
            &mut self,
            (): (),
            _: &mut Coins<'_>,
        ) -> Result<Move<Option<Fault>, Option<Fault>>, Fault> {
            Ok(Move::Answer(None))
        }

        fn on_fault(
            &mut self,
            fault: Fault,
            _: &mut Coins<'_>,
        ) -> Result<Move<Option<Fault>, Option<Fault>>, Fault> {
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

    /// When a middle stops the machine behind it.
    #[derive(Clone, Copy, PartialEq)]
    enum When {
        Cloned,
        Asked,
        Answered,
        Failed,
        Never,
    }

    /// Asks twice, the second time for a fault, and then once more.
    struct Stopping {
        when: When,
        stopper: Arc<Stopper>,
        asked: u32,
    }

    impl Stopping {
        fn act(&mut self, now: When) -> Move<Option<Fault>, u32> {
            if self.when == now {
                self.stopper.stop(Stop::Frozen);
            }
            self.asked += 1;
            match self.asked {
                1 => Move::Ask(None),
                2 => Move::Ask(Some(Fault::Exhausted)),
                3 => Move::Ask(None),
                _ => Move::Answer(self.asked),
            }
        }
    }

    impl Clone for Stopping {
        fn clone(&self) -> Self {
            if self.when == When::Cloned {
                self.stopper.stop(Stop::Frozen);
            }
            Self {
                stopper: Arc::clone(&self.stopper),
                ..*self
            }
        }
    }

    impl Middle<Option<Fault>, ()> for Stopping {
        type OuterQuery = ();
        type OuterAnswer = u32;

        fn on_query(
            &mut self,
            (): (),
            _: &mut Coins<'_>,
        ) -> Result<Move<Option<Fault>, u32>, Fault> {
            Ok(self.act(When::Asked))
        }

        fn on_answer(
            &mut self,
            (): (),
            _: &mut Coins<'_>,
        ) -> Result<Move<Option<Fault>, u32>, Fault> {
            Ok(self.act(When::Answered))
        }

        fn on_fault(
            &mut self,
            _: Fault,
            _: &mut Coins<'_>,
        ) -> Result<Move<Option<Fault>, u32>, Fault> {
            Ok(self.act(When::Failed))
        }
    }

    /// Counts its starts in the data.
    #[derive(Clone)]
    struct Started;

    impl Mechanism<AtomicU32> for Started {
        type Machine = Inner;

        fn start(&self, data: &Arc<AtomicU32>, _: &mut Coins<'_>) -> Result<Inner, Fault> {
            data.fetch_add(1, Ordering::Relaxed);
            Ok(Inner::default())
        }
    }

    const STOPPED: Fault = Fault::Stopped(Stop::Frozen);

    /// The answer, the starts and the steps of a machine behind a middle that stops it.
    fn stopped(when: When) -> (Result<u32, Fault>, u32, u32) {
        let (token, stopper) = StopToken::default().extended();
        let mechanism = Started.through(Stopping {
            when,
            stopper: Arc::new(stopper),
            asked: 0,
        });
        let data = Arc::new(AtomicU32::new(0));
        let mut source = NotPrivateSeededCoins::new(0);
        let coins: &mut Coins<'_> = &mut source.coins();
        let mut steps = 0;
        let answer = coins.under(&token, |coins| {
            let mut machine = mechanism.start(&data, coins)?;
            let answer = machine.step((), coins);
            steps = machine.machine.0;
            answer
        });
        (answer, data.load(Ordering::Relaxed), steps)
    }

    #[test]
    fn a_middle_that_stops_its_machine_asks_it_nothing_more() {
        assert_eq!(stopped(When::Never), (Ok(4), 1, 3));
        assert_eq!(stopped(When::Asked), (Err(STOPPED), 1, 0));
        assert_eq!(stopped(When::Answered), (Err(STOPPED), 1, 1));
        assert_eq!(stopped(When::Failed), (Err(STOPPED), 1, 2));
    }

    #[test]
    fn a_middle_that_is_stopped_while_it_is_cloned_starts_nothing() {
        assert_eq!(stopped(When::Cloned), (Err(STOPPED), 0, 0));
    }
}
