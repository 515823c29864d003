//! Theorem 2.17 of Haney et al. as a program: whatever an adversary sees of a mechanism behind a
//! person in the middle, another one sees of the mechanism itself and works out alone (Alg 8, 9).
//! And Alg 10: a universal mechanism is what it becomes.

use std::marker::PhantomData;
use std::num::NonZeroU64;
use std::sync::Arc;

use super::universal::{Universal, UniversalAnswer, UniversalQuery};
use crate::support::*;
use queryables::machine::{
    Adversary, CoinSource, Coins, CoinsError, Fault, Recorder, Replay, View,
};
use queryables::middle::{Middle, Move, ThroughExt};
use queryables::privacy::{AddRemove, PureDp};
use queryables::verify::{Distribution, Pair, Rational, Verifier, copies_of, views};

const TWO: NonZeroU64 = NonZeroU64::new(2).unwrap();

/// P: asks one to three times, by a coin of its own after each answer, and answers with how many
/// `true`s it heard; asks nothing at all when told so.
#[derive(Clone, Default)]
struct Tallying {
    heard: u8,
}

impl Middle<(), bool> for Tallying {
    type OuterQuery = bool;
    type OuterAnswer = u8;

    fn on_query(&mut self, ask: bool, _: &mut Coins<'_>) -> Result<Move<(), u8>, Fault> {
        if ask {
            Ok(Move::Ask(()))
        } else {
            Ok(Move::Answer(self.heard))
        }
    }

    fn on_answer(&mut self, answer: bool, coins: &mut Coins<'_>) -> Result<Move<(), u8>, Fault> {
        self.heard += u8::from(answer);
        if coins.weighted(&[2, 1])? == 0 {
            return Ok(Move::Answer(self.heard));
        }
        Ok(Move::Ask(()))
    }

    fn on_fault(&mut self, _: Fault, _: &mut Coins<'_>) -> Result<Move<(), u8>, Fault> {
        Ok(Move::Answer(100 + self.heard))
    }
}

/// A: three questions, each real or empty by a fair coin, and none after a large answer.
#[derive(Clone, Default)]
pub(crate) struct Curious {
    asked: u8,
}

impl Adversary for Curious {
    type Query = bool;
    type Answer = u8;

    fn ask(
        &mut self,
        last: Option<&Result<u8, Fault>>,
        coins: &mut dyn CoinSource,
    ) -> Result<Option<bool>, CoinsError> {
        if self.asked == 3 || matches!(last, Some(Ok(2..))) {
            return Ok(None);
        }
        self.asked += 1;
        Ok(Some(coins.uniform(TWO)? == 0))
    }
}

/// A′ (Alg 8): runs A and P as submachines and asks what P asks.
pub(crate) struct Simulating<A, P, Q, B> {
    adversary: A,
    middle: P,
    types: PhantomData<fn(Q) -> B>,
}

impl<A, P, Q, B> Simulating<A, P, Q, B> {
    pub(crate) fn new(adversary: A, middle: P) -> Self {
        let types = PhantomData;
        Self {
            adversary,
            middle,
            types,
        }
    }
}

impl<A, P, Q, B> Adversary for Simulating<A, P, Q, B>
where
    P: Middle<Q, B>,
    A: Adversary<Query = P::OuterQuery, Answer = P::OuterAnswer>,
    B: Clone,
{
    type Query = Q;
    type Answer = B;

    fn ask(
        &mut self,
        last: Option<&Result<B, Fault>>,
        coins: &mut dyn CoinSource,
    ) -> Result<Option<Q>, CoinsError> {
        let failed = |_| CoinsError::TapeEnds;
        let mut told = None;
        if let Some(last) = last {
            let next = match last.clone() {
                Ok(answer) => self.middle.on_answer(answer, &mut Coins::new(&mut *coins)),
                Err(fault) => self.middle.on_fault(fault, &mut Coins::new(&mut *coins)),
            };
            match next.map_err(failed)? {
                Move::Ask(query) => return Ok(Some(query)),
                Move::Answer(answer) => told = Some(Ok(answer)),
            }
        }
        while let Some(query) = self.adversary.ask(told.as_ref(), coins)? {
            match self
                .middle
                .on_query(query, &mut Coins::new(&mut *coins))
                .map_err(failed)?
            {
                Move::Ask(query) => return Ok(Some(query)),
                Move::Answer(answer) => told = Some(Ok(answer)),
            }
        }
        Ok(None)
    }
}

/// g (Alg 9): from what A′ has seen to what A would have seen.
pub(crate) fn unsimulate<A, P, Q, B>(
    view: View<B>,
    mut adversary: A,
    mut middle: P,
) -> View<P::OuterAnswer>
where
    P: Middle<Q, B>,
    A: Adversary<Query = P::OuterQuery, Answer = P::OuterAnswer>,
{
    let mut coins = Vec::new();
    let mut answers = Vec::new();
    for (tossed, answer) in view.rounds {
        coins.extend(tossed);
        answers.push(answer);
    }
    coins.extend(view.last_coins);
    let mut coins = Replay::of(coins);
    let mut answers = answers.into_iter();

    let mut seen = View::default();
    loop {
        let mut recorder = Recorder::new(&mut coins);
        let last = seen.rounds.last().map(|(_, answer)| answer);
        let query = adversary.ask(last, &mut recorder).unwrap();
        let tossed = recorder.into_tape();
        let Some(query) = query else {
            seen.last_coins = tossed;
            assert_eq!(coins.remaining(), 0);
            return seen;
        };
        let mut next = middle.on_query(query, &mut coins.coins()).unwrap();
        let answer = loop {
            match next {
                Move::Answer(answer) => break answer,
                Move::Ask(_) => {
                    next = match answers.next().expect("A′ asked as often as P") {
                        Ok(answer) => middle.on_answer(answer, &mut coins.coins()),
                        Err(fault) => middle.on_fault(fault, &mut coins.coins()),
                    }
                    .unwrap();
                }
            }
        };
        seen.rounds.push((tossed, Ok(answer)));
    }
}

#[test]
fn the_view_through_a_middle_is_a_function_of_a_view_without_it() {
    let mechanism = Respond {
        odds: 3,
        answers: 3,
    };
    let outer = mechanism.through(Tallying::default());
    for bit in [false, true] {
        let data = Arc::new(bit);
        let through = views(copies_of(&outer), &data, Curious::default, 10).unwrap();
        let simulating = || Simulating::new(Curious::default(), Tallying::default());
        let simulated: Distribution<View<u8>> = views(copies_of(&mechanism), &data, simulating, 20)
            .unwrap()
            .map(|view| unsimulate(view, Curious::default(), Tallying::default()));
        assert!(through.outcomes().count() > 30);
        assert!(through.is_same_as(&simulated), "{bit}");
        // The two datasets are told apart: the comparison above was not an empty one.
        let other = views(copies_of(&outer), &Arc::new(!bit), Curious::default, 10).unwrap();
        assert!(!through.is_same_as(&other));
    }
}

#[test]
fn a_middle_costs_nothing() {
    let pair = Pair::new(false, true);
    let mechanism = Respond {
        odds: 3,
        answers: 2,
    };
    let outer = mechanism.through(Tallying::default());
    let worst = Verifier::new(copies_of(&outer), &pair, vec![true, false], 3)
        .worst_ratio()
        .unwrap();
    assert_eq!(exact(&worst), ratio(9, 1));
}

/// Turns a universal mechanism into the one that it holds, from the first query on.
#[derive(Clone)]
struct Become {
    respond: Respond,
    became: bool,
}

impl Middle<UniversalQuery<Respond, ()>, UniversalAnswer<bool>> for Become {
    type OuterQuery = ();
    type OuterAnswer = bool;

    fn on_query(
        &mut self,
        (): (),
        _: &mut Coins<'_>,
    ) -> Result<Move<UniversalQuery<Respond, ()>, bool>, Fault> {
        if self.became {
            return Ok(Move::Ask(UniversalQuery::Ask(())));
        }
        self.became = true;
        Ok(Move::Ask(UniversalQuery::Become(self.respond)))
    }

    fn on_answer(
        &mut self,
        answer: UniversalAnswer<bool>,
        _: &mut Coins<'_>,
    ) -> Result<Move<UniversalQuery<Respond, ()>, bool>, Fault> {
        Ok(match answer {
            UniversalAnswer::Became => Move::Ask(UniversalQuery::Ask(())),
            UniversalAnswer::Answered(answer) => Move::Answer(answer),
        })
    }
}

#[test]
fn a_universal_mechanism_is_what_it_becomes() {
    let respond = Respond {
        odds: 3,
        answers: 2,
    };
    let place =
        Universal::<_, _, Respond>::new(PureDp, AddRemove, ln_times(3, 2)).through(Become {
            respond,
            became: false,
        });
    for bit in [false, true] {
        assert_same_views!(&respond, &place, &Arc::new(bit), vec![()], 4);
    }
}

#[test]
fn a_universal_mechanism_costs_its_budget() {
    let pair = Pair::new(false, true);
    let place = Universal::<_, _, Respond>::new(PureDp, AddRemove, ln_times(3, 2));
    let menu = vec![
        UniversalQuery::Become(once(3)),
        UniversalQuery::Become(once(9)),
        UniversalQuery::Become(once(10)),
        UniversalQuery::Ask(()),
    ];
    let worst = Verifier::new(copies_of(&place), &pair, menu, 4)
        .worst_ratio()
        .unwrap();
    // 10 is refused: 9 is the most that fits.
    assert_eq!(exact(&worst), ratio(9, 1));
}
