//! The definitions of Haney et al. that everything else rests on: machines with explicit coins (1.4),
//! interaction (1.5), views (1.6), privacy of views (1.7, 2.2), posets with postprocessing and joint
//! convexity (2.1), and why deterministic adversaries suffice (2.3).

use std::num::NonZeroU64;
use std::sync::Arc;

use crate::support::*;
use queryables::compose::{Addressed, Filter, Message, Reply};
use queryables::machine::{
    Adversary, CoinSource, Coins, CoinsError, Fault, Machine, Mechanism, Replay, View,
};
use queryables::middle::{Middle, Move, ThroughExt};
use queryables::privacy::{Private, PureDp};
use queryables::verify::{Children, Distribution, Pair, Rational, Verifier, copies_of, views};

const FOUR: NonZeroU64 = NonZeroU64::new(4).unwrap();
const TWO: NonZeroU64 = NonZeroU64::new(2).unwrap();

/// 1.4: the answer is a function of state, query and coins, through a compositor, too.
#[test]
fn the_coins_decide_the_answer_of_a_child() {
    let filter = pure_filter::<Respond>(ln(3));
    for coin in 0..4 {
        let mut coins = Replay::of([(FOUR, coin)]);
        let data = Arc::new(true);
        let mut machine = filter.start(&data, &mut coins.coins()).unwrap();
        let launched = machine.step(Message::Launch(once(3)), &mut coins.coins());
        assert_eq!(launched, Ok(Reply::Launched(0)));
        let answer = machine.step(Message::Ask(0, ()), &mut coins.coins());
        // One coin of four is a lie, and no other coin was tossed.
        assert_eq!(coins.remaining(), 0);
        let mut coins = Replay::of([(FOUR, coin)]);
        let mut alone = once(3).start(&data, &mut coins.coins()).unwrap();
        let expected = alone.step((), &mut coins.coins()).unwrap();
        assert_eq!(answer, Ok(Reply::Answered(expected)));
    }
}

/// P: answers as the machine does, or the opposite, as it is asked to.
#[derive(Clone)]
struct Opposite(bool);

impl Middle<(), bool> for Opposite {
    type OuterQuery = bool;
    type OuterAnswer = bool;

    fn on_query(&mut self, opposite: bool, _: &mut Coins<'_>) -> Result<Move<(), bool>, Fault> {
        self.0 = opposite;
        Ok(Move::Ask(()))
    }

    fn on_answer(&mut self, answer: bool, _: &mut Coins<'_>) -> Result<Move<(), bool>, Fault> {
        Ok(Move::Answer(answer ^ self.0))
    }
}

/// Asks for the opposite or not: as told, or by a fair coin of its own that it tosses before the
/// first question. It asks until it hears `true`, and at most as often as it may.
#[derive(Clone)]
struct Asks {
    opposite: Option<bool>,
    left: u64,
}

impl Adversary for Asks {
    type Query = bool;
    type Answer = bool;

    fn ask(
        &mut self,
        last: Option<&Result<bool, Fault>>,
        coins: &mut dyn CoinSource,
    ) -> Result<Option<bool>, CoinsError> {
        let opposite = match self.opposite {
            Some(opposite) => opposite,
            None => *self.opposite.insert(coins.uniform(TWO)? == 1),
        };
        if self.left == 0 || last == Some(&Ok(true)) {
            return Ok(None);
        }
        self.left -= 1;
        Ok(Some(opposite))
    }
}

fn respond(
    answers: u64,
) -> impl Mechanism<bool, Machine: Machine<Query = bool, Answer = bool>> + Clone {
    Respond { odds: 3, answers }.through(Opposite(false))
}

/// What is seen of up to two answers.
fn seen(bit: bool, opposite: Option<bool>) -> Distribution<View<bool>> {
    seen_of(2, bit, opposite)
}

fn seen_of(most: u64, bit: bool, opposite: Option<bool>) -> Distribution<View<bool>> {
    let asks = move || Asks {
        opposite,
        left: most,
    };
    views(move || respond(most), &Arc::new(bit), asks, 10).unwrap()
}

fn probability<T: Eq + std::hash::Hash>(of: &T, law: &Distribution<T>) -> Rational {
    let mut found = Rational::ZERO;
    for (outcome, mass) in law.outcomes() {
        if outcome == of {
            assert!(mass.is_exact());
            found += mass.low().clone();
        }
    }
    found
}

/// `Σ max(0, P − factor·Q)` over what can be seen.
fn hockey_stick<T: Eq + std::hash::Hash>(
    one: &Distribution<T>,
    other: &Distribution<T>,
    factor: &Rational,
) -> Rational {
    one.outcomes().fold(Rational::ZERO, |sum, (outcome, mass)| {
        let rest = mass.low().clone() - factor.clone() * probability(outcome, other);
        if rest > Rational::ZERO {
            sum + rest
        } else {
            sum
        }
    })
}

/// 1.5, 1.6: the adversary hears the last answer in every round, and the view holds them all.
#[test]
fn views_are_what_the_adversary_heard() {
    let law = seen_of(3, true, Some(false));
    // `true` ends it, in any round: 3/4 of what is left. Three times `false` is the rest.
    let (yes, no) = (Ok(true), Ok(false));
    let expected = [
        (vec![yes], ratio(3, 4)),
        (vec![no, yes], ratio(3, 16)),
        (vec![no, no, yes], ratio(3, 64)),
        (vec![no, no, no], ratio(1, 64)),
    ];
    assert_eq!(law.outcomes().count(), expected.len());
    let heard = law.map(|view| answers(&view));
    for (answers, mass) in expected {
        assert_eq!(probability(&answers, &heard), mass, "{answers:?}");
    }
}

/// 2.3: the view of a randomized adversary holds its coins (1.6), so that it is as far from its
/// neighbour as those of deterministic ones are on average; and the worst of those is what the
/// verifier finds. Without the coins it is closer: that is joint convexity (2.1).
#[test]
fn a_randomized_adversary_is_an_average_of_deterministic_ones() {
    for factor in [ratio(1, 1), ratio(2, 1)] {
        let apart = |how| hockey_stick(&seen(true, how), &seen(false, how), &factor);
        let (same, opposite) = (apart(Some(false)), apart(Some(true)));
        let average = ratio(1, 2) * (same.clone() + opposite.clone());
        assert_eq!(apart(None), average);
        let without_coins = |bit| seen(bit, None).map(|view| answers(&view));
        let mixed = hockey_stick(&without_coins(true), &without_coins(false), &factor);
        assert!(mixed < average, "{mixed} {average}");

        let pair = Pair::new(false, true);
        let menu = vec![false, true];
        let verifier = Verifier::new(copies_of(&respond(2)), &pair, menu, 2);
        let worst = exact(&verifier.worst_delta(factor.clone()).unwrap());
        assert!(same <= worst && opposite <= worst && average <= worst);
    }
}

fn answers(view: &View<bool>) -> Vec<Result<bool, Fault>> {
    view.answers().cloned().collect()
}

/// 2.1 (3): a function of the view is no farther apart than the view.
#[test]
fn postprocessing_brings_views_no_farther_apart() {
    let factor = ratio(2, 1);
    let whole = hockey_stick(&seen(true, Some(false)), &seen(false, Some(false)), &factor);
    let last = |bit| seen(bit, Some(false)).map(|view| view.rounds.len());
    let part = hockey_stick(&last(true), &last(false), &factor);
    assert!(part > Rational::ZERO && part <= whole);
}

/// 1.7, 2.2: what a filter states is the least ε for which the claim holds.
#[test]
fn the_stated_loss_is_the_least_that_holds() {
    let pair = Pair::new(false, true);
    let filter = Addressed::<_, Respond>::new(Filter::concurrent(PureDp, ln_times(3, 2)));
    let stated = filter.loss(&PureDp).unwrap();
    let menu = Children::new(vec![once(3), once(9)], vec![()]);
    let verifier = Verifier::by_state(copies_of(&filter), &pair, menu, 4);
    verifier.assert_private(&PureDp, &stated);
    let less = stated.saturating_sub("1e-9".parse().unwrap());
    let verdict = verifier.check(&PureDp, &less).unwrap();
    assert!(verdict.is_refuted(), "{verdict}");
}
