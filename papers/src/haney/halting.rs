//! The reductions of Haney et al. under both policies for a launch over budget. As printed, Alg 11
//! and 12 are no equalities where the filter halts: FiltCon then answers nothing, and P∘Filt still
//! does. P needs a flag.

use std::convert::Infallible;
use std::sync::Arc;

use super::filters::{Kid, Split2};
use crate::support::*;
use queryables::compose::{Addressed, Filter, LaunchError, Message, Odometer, Reply};
use queryables::machine::{Coins, Fault, Machine, Mechanism, Released, Stop};
use queryables::middle::{Middle, Move, ThroughExt};
use queryables::number::Epsilon;
use queryables::privacy::{AddRemove, Private, PureDp, UnknownLoss};
use queryables::queryable::AskError;
use queryables::verify::{Children, Rational, Truncated, Verifier, copies_of};

/// An interactive mechanism given as (N, P): a randomized response N, then P repeats its answer,
/// less and less truly. P has a state: how often it was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Tire(Released1);

#[derive(Clone, Debug, Hash)]
struct Tiring {
    answer: bool,
    asked: u64,
}

impl Mechanism<bool> for Tire {
    type Machine = Tiring;
    fn start(&self, data: &Arc<bool>, coins: &mut Coins<'_>) -> Result<Tiring, Fault> {
        let Released(answer) = self.0.start(data, coins)?;
        Ok(Tiring { answer, asked: 0 })
    }
}

impl Machine for Tiring {
    type Query = ();
    type Answer = bool;
    fn step(&mut self, (): (), coins: &mut Coins<'_>) -> Result<bool, Fault> {
        self.asked += 1;
        Ok(self.answer ^ (coins.weighted(&[3, self.asked])? == 1))
    }
}

impl Private<PureDp, AddRemove> for Tire {
    fn loss(&self, measure: &PureDp) -> Result<Epsilon, UnknownLoss> {
        self.0.loss(measure)
    }
}

/// P of Alg 11, as printed but for its direction: starts N where M is launched, and plays P_j from
/// then on.
#[derive(Clone, Default)]
struct PlayTiring {
    children: Vec<Tiring>,
}

impl Middle<Message<Released1, Infallible>, Told> for PlayTiring {
    type OuterQuery = Message<Tire, ()>;
    type OuterAnswer = Told;

    fn on_query(
        &mut self,
        query: Message<Tire, ()>,
        coins: &mut Coins<'_>,
    ) -> Result<Move<Message<Released1, Infallible>, Told>, Fault> {
        Ok(match query {
            Message::Launch(Tire(noninteractive)) => Move::Ask(Message::Launch(noninteractive)),
            Message::Ask(number, ()) => match self.children.get_mut(number) {
                Some(child) => Move::Answer(Reply::Answered(child.step((), coins)?)),
                None => Move::Answer(Reply::Unknown(number)),
            },
            Message::Close(_) => return Err(Fault::InvalidQuery("not offered")),
            Message::PrivacyLoss => Move::Ask(Message::PrivacyLoss),
            Message::Remaining => Move::Ask(Message::Remaining),
        })
    }

    fn on_answer(
        &mut self,
        answer: Told,
        _: &mut Coins<'_>,
    ) -> Result<Move<Message<Released1, Infallible>, Told>, Fault> {
        Ok(Move::Answer(match answer {
            Reply::Answered(answer) => {
                self.children.push(Tiring { answer, asked: 0 });
                Reply::Launched(self.children.len() - 1)
            }
            other => other,
        }))
    }
}

/// Any P with the flag: once a launch was not admitted, it says so to everybody. It only withholds
/// more, and that the launch was not admitted is public.
#[derive(Clone, Hash)]
pub(crate) struct Flagged<P> {
    inside: P,
    halted: bool,
    /// How many children there are.
    launched: usize,
}

impl<P> Flagged<P> {
    pub(crate) fn new(inside: P) -> Self {
        Self {
            inside,
            halted: false,
            launched: 0,
        }
    }

    fn noting<Q>(&mut self, turn: Move<Q, Told>) -> Move<Q, Told> {
        if let Move::Answer(Reply::NotLaunched(error)) = &turn {
            self.halted |= matches!(
                error,
                LaunchError::Refused(_) | LaunchError::CountLimit { .. }
            );
        }
        if let Move::Answer(Reply::Launched(number)) = &turn {
            self.launched = number + 1;
        }
        turn
    }
}

impl<Q, A, M, P> Middle<Q, A> for Flagged<P>
where
    P: Middle<Q, A, OuterQuery = Message<M, ()>, OuterAnswer = Told>,
{
    type OuterQuery = Message<M, ()>;
    type OuterAnswer = Told;

    fn on_query(
        &mut self,
        query: Message<M, ()>,
        coins: &mut Coins<'_>,
    ) -> Result<Move<Q, Told>, Fault> {
        if self.halted {
            match query {
                Message::Launch(_) => {
                    let halted = LaunchError::Stopped(Stop::Halted);
                    return Ok(Move::Answer(Reply::NotLaunched(halted)));
                }
                Message::Ask(number, ()) if number < self.launched => {
                    let halted = AskError::Stopped(Stop::Halted);
                    return Ok(Move::Answer(Reply::NotAnswered(halted)));
                }
                Message::Ask(..)
                | Message::Close(_)
                | Message::PrivacyLoss
                | Message::Remaining => {}
            }
        }
        let turn = self.inside.on_query(query, coins)?;
        Ok(self.noting(turn))
    }

    fn on_answer(&mut self, answer: A, coins: &mut Coins<'_>) -> Result<Move<Q, Told>, Fault> {
        let turn = self.inside.on_answer(answer, coins)?;
        Ok(self.noting(turn))
    }
}

#[test]
fn alg_11_holds_under_both_policies_with_a_flag_and_with_state() {
    let budget = ln_times(3, 2);
    let menu = || Children::new(vec![Tire(Released1(3)), Tire(Released1(9))], vec![()]);
    let refusing = Addressed::<_, Tire>::new(Filter::concurrent(PureDp, budget));
    let halting = Addressed::<_, Tire>::new(Filter::concurrent(PureDp, budget).halting());
    let inside = Addressed::<_, Released1>::new(Filter::noninteractive(PureDp, budget));
    let halting_inside =
        Addressed::<_, Released1>::new(Filter::noninteractive(PureDp, budget).halting());
    for bit in [false, true] {
        let data = Arc::new(bit);
        let printed = inside.clone().through(PlayTiring::default());
        assert_same_views!(&refusing, &printed, &data, menu(), 4);
        let flagged = halting_inside
            .clone()
            .through(Flagged::new(PlayTiring::default()));
        assert_same_views!(&halting, &flagged, &data, menu(), 4);
        // Another budget is noticed.
        let other = Addressed::<_, Released1>::new(Filter::noninteractive(PureDp, ln(3)));
        let other = other.through(PlayTiring::default());
        let difference =
            Verifier::comparing(copies_of(&refusing), copies_of(&other), &data, menu(), 4)
                .difference();
        assert_eq!(exact(&difference.unwrap()), Rational::ONE);
        // As printed it goes on after the halt: launch, launch over budget, ask child 0.
        let printed = halting_inside.clone().through(PlayTiring::default());
        let difference =
            Verifier::comparing(copies_of(&halting), copies_of(&printed), &data, menu(), 3)
                .difference();
        assert_eq!(exact(&difference.unwrap()), Rational::ONE);
    }
}

#[test]
fn alg_12_holds_under_both_policies_with_a_flag() {
    let budget = ln_times(3, 3);
    // The first has a state: it answers twice.
    let twice = Respond {
        odds: 3,
        answers: 2,
    };
    let menu = || Children::new(vec![twice, once(3)], vec![()]).without_reading();
    let halting =
        Addressed::<_, Respond>::new(Filter::concurrent(PureDp, budget).at_most(3).halting());
    let of_two = Addressed::<_, Kid>::new(Filter::concurrent(PureDp, budget).at_most(2).halting());
    for bit in [false, true] {
        let data = Arc::new(bit);
        let flagged = of_two.clone().through(Flagged::new(Split2::new(budget, 3)));
        assert_same_states!(&halting, &flagged, &data, menu(), 5);
        let printed = of_two.clone().through(Split2::new(budget, 3));
        assert_other_states!(&halting, &printed, &data, menu(), 4);
    }
}

/// Shows the end of a filter as [`Truncated`] shows the end of an odometer.
#[derive(Clone, Hash)]
struct EndsThere {
    ended: bool,
}

impl Middle<Ask, Told> for EndsThere {
    type OuterQuery = Ask;
    type OuterAnswer = Option<Told>;

    fn on_query(
        &mut self,
        query: Ask,
        _: &mut Coins<'_>,
    ) -> Result<Move<Ask, Option<Told>>, Fault> {
        if self.ended {
            return Err(Fault::Failed);
        }
        Ok(Move::Ask(query))
    }

    fn on_answer(
        &mut self,
        answer: Told,
        _: &mut Coins<'_>,
    ) -> Result<Move<Ask, Option<Told>>, Fault> {
        self.ended = matches!(answer, Reply::NotLaunched(LaunchError::Refused(_)));
        Ok(Move::Answer((!self.ended).then_some(answer)))
    }
}

/// Lemma 2.19: the halting filter is the odometer, cut where its reading passes the budget. The
/// filter that goes on is not.
#[test]
fn a_halting_filter_is_the_truncated_odometer() {
    let limit = ln_times(3, 3);
    let odometer = Addressed::<_, Respond>::new(Odometer::concurrent(PureDp));
    let truncated = Truncated::new(odometer, limit);
    let menu = || Children::new(vec![once(3), once(9)], vec![()]).without_reading();
    let filter = Filter::concurrent(PureDp, limit).halting();
    let filter = Addressed::<_, Respond>::new(filter).through(EndsThere { ended: false });
    let smaller = Filter::concurrent(PureDp, ln_times(3, 2)).halting();
    let smaller = Addressed::<_, Respond>::new(smaller).through(EndsThere { ended: false });
    for bit in [false, true] {
        let data = Arc::new(bit);
        assert_same_states!(&filter, &truncated, &data, menu(), 5);
        assert_other_states!(&smaller, &truncated, &data, menu(), 5);
    }
}
