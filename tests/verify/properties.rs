//! Properties of the verifier, of filters and of planted bugs, on random mechanisms, adversaries
//! and conversations.

use std::sync::Arc;

use crate::support::{exact, pure_filter, ratio};
use proptest::prelude::*;
use proptest::test_runner::{TestError, TestRunner};
use queryables::compose::{Addressed, ConcurrentComposition, Message, Odometer, Reply};
use queryables::machine::{
    CoinSource, Coins, Fault, Machine, Mechanism, Metered, NotPrivateSeededCoins, Released, Script,
};
use queryables::middle::{MapAnswer, ThroughExt};
use queryables::number::Epsilon;
use queryables::privacy::{AddRemove, Private, PureDp, UnknownLoss};
use queryables::verify::strategies::{
    FiniteMechanism, adversaries, conversations, deltas, epsilon_deltas, epsilons,
    finite_mechanisms, neighbours, replaced,
};
use queryables::verify::{Divergences, Pair, Rational, Verifier, copies_of, views};

/// Two random children, and a menu of everything that they can be asked.
fn two() -> impl Strategy<Value = (ConcurrentComposition<FiniteMechanism>, Vec<(usize, usize)>)> {
    [finite_mechanisms(), finite_mechanisms()].prop_map(|mechanisms| {
        let menu = mechanisms
            .iter()
            .enumerate()
            .flat_map(|(child, m)| m.queries().into_iter().map(move |query| (child, query)))
            .collect();
        (ConcurrentComposition::new(mechanisms), menu)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// A loss that is true by construction is never refuted, and what is composed of such keeps
    /// the sum, interleaved in any way.
    #[test]
    fn true_losses_hold((composition, menu) in two()) {
        let pair = Pair::new(false, true);
        let loss = Private::<PureDp, AddRemove>::loss(&composition, &PureDp).unwrap();
        let verdict = Verifier::by_state(copies_of(&composition), &pair, menu, 4)
            .check(&PureDp, &loss)
            .unwrap();
        prop_assert!(verdict.holds(), "{}", verdict);
    }

    /// Recognising states, and threads, change no value.
    #[test]
    fn the_memory_changes_nothing((composition, menu) in two(), numerator in 1..12_i64) {
        let pair = Pair::new(false, true);
        let factor = ratio(numerator, 4);
        let by_state = Verifier::by_state(copies_of(&composition), &pair, menu.clone(), 3)
            .worst_delta(factor.clone())
            .unwrap();
        let opaque = Verifier::new(copies_of(&composition), &pair, menu, 3)
            .threads(1)
            .worst_delta(factor)
            .unwrap();
        prop_assert_eq!(by_state.value, opaque.value);
    }

    /// No adversary does better than the worst, and the worst does as well as it says.
    #[test]
    fn the_worst_is_the_worst(
        (mechanism, reaction) in finite_mechanisms().prop_flat_map(|mechanism| {
            let menu = mechanism.queries();
            (Just(mechanism), adversaries(menu, 3))
        }),
        numerator in 1..12_i64,
    ) {
        let pair = Pair::new(false, true);
        let factor = ratio(numerator, 4);
        let worst = Verifier::by_state(copies_of(&mechanism), &pair, mechanism.queries(), 3)
            .worst_delta(factor.clone())
            .unwrap();
        let delta = |laws: [_; 2]| {
            let [one, other] = laws;
            let forward = Divergences::between(&one, &other).hockey_stick(factor.clone());
            let backward = Divergences::between(&other, &one).hockey_stick(factor.clone());
            forward.exact().unwrap().max(backward.exact().unwrap()).clone()
        };
        let random = delta([pair.one(), pair.other()].map(|data| {
            let reaction = reaction.clone();
            let reacting = move || reaction.player();
            views(copies_of(&mechanism), data, reacting, 3).unwrap()
        }));
        prop_assert!(random <= exact(&worst));
        let played = delta([pair.one(), pair.other()].map(|data| {
            let adversary = worst.adversary.clone();
            views(copies_of(&mechanism), data, move || adversary.player(), 3).unwrap()
        }));
        prop_assert_eq!(played, exact(&worst));
    }

    /// Nobody notices a person in the middle who does nothing.
    #[test]
    fn an_identity_in_the_middle_is_not_seen(mechanism in finite_mechanisms(), bit: bool) {
        let through = mechanism.clone().through(MapAnswer::new(|answer: usize| answer));
        let data = Arc::new(bit);
        let menu = mechanism.queries();
        let difference = Verifier::comparing(copies_of(&mechanism), copies_of(&through), &data, menu, 3)
            .difference()
            .unwrap();
        prop_assert_eq!(exact(&difference), Rational::ZERO);
    }

    /// The divergences of random laws are in order: total variation is δ(0), δ falls in ε, and is 0
    /// from the largest ratio on; the trade-off function says the same as δ.
    #[test]
    fn divergences_agree(mechanism in finite_mechanisms()) {
        let laws = [false, true].map(|bit| {
            let script = || Script::new([0]);
            views(copies_of(&mechanism), &Arc::new(bit), script, 1).unwrap()
        });
        let apart = Divergences::between(&laws[0], &laws[1]);
        let largest = apart.largest_ratio().exact().unwrap().clone();
        let beyond = apart.hockey_stick(largest.clone());
        prop_assert_eq!(beyond.exact(), Some(&Rational::ZERO));
        let corners = apart.tradeoff().unwrap();
        for quarters in 0..20_i64 {
            let factor = ratio(quarters, 4);
            let delta = apart.hockey_stick(factor.clone()).exact().unwrap().clone();
            // δ = max over tests that accept p of (1 - α) - e^ε β.
            let by_tests = corners
                .iter()
                .map(|(alpha, beta)| Rational::ONE - alpha - &factor * beta)
                .max()
                .unwrap();
            prop_assert_eq!(&delta, &by_tests);
            prop_assert_eq!(delta == Rational::ZERO, factor >= largest);
        }
        // Orders: D_α grows with α, and e^((α-1)D_α) is at most the largest ratio^(α-1).
        let renyi = |order: &str| apart.renyi(order.parse().unwrap()).exact().unwrap().clone();
        prop_assert!(renyi("2").pow(2) <= renyi("3"));
        prop_assert!(renyi("3") <= largest.pow(2));
    }

    /// Neighbours are neighbours.
    #[test]
    fn neighbours_differ_in_one_row(
        pair in neighbours(0..5_u8, 0..6),
        other in replaced(0..5_u8, 0..6),
    ) {
        let (one, two) = (pair.one().len(), pair.other().len());
        prop_assert_eq!(one.abs_diff(two), 1);
        let (small, large) = if one < two {
            (pair.one(), pair.other())
        } else {
            (pair.other(), pair.one())
        };
        let without = |at: usize| {
            let mut rows = (**large).clone();
            rows.remove(at);
            rows
        };
        prop_assert!((0..large.len()).any(|at| without(at) == **small));
        prop_assert_eq!(other.one().len(), other.other().len());
        let different = other.one().iter().zip(&**other.other()).filter(|(a, b)| a != b);
        prop_assert!(different.count() <= 1);
    }

    /// Losses are short decimals within their bounds.
    #[test]
    fn losses_are_short(
        epsilon in epsilons("2".parse().unwrap()),
        delta in deltas(),
        both in epsilon_deltas("2".parse().unwrap()),
    ) {
        prop_assert!(epsilon <= "2".parse().unwrap() && epsilon.to_string().len() <= 4);
        prop_assert!(delta <= "0.1".parse().unwrap() && delta.to_string().len() <= 6);
        prop_assert!(both.epsilon <= "2".parse().unwrap());
    }
}

/// Answers nothing, and claims this loss.
#[derive(Clone, Debug, PartialEq)]
struct Claim(Epsilon);

impl Mechanism<bool> for Claim {
    type Machine = Released<()>;
    fn start(&self, _: &Arc<bool>, _: &mut Coins<'_>) -> Result<Released<()>, Fault> {
        Ok(Released(()))
    }
}

impl Private<PureDp, AddRemove> for Claim {
    fn loss(&self, _: &PureDp) -> Result<Epsilon, UnknownLoss> {
        Ok(self.0)
    }
}

fn budget() -> Epsilon {
    "3".parse().unwrap()
}

fn talks() -> impl Strategy<Value = Vec<Message<Claim, ()>>> {
    conversations(epsilons(budget()).prop_map(Claim), Just(()), 0..12)
}

/// What a filter decides, from the list of all losses: the naive way.
fn naive(conversation: &[Message<Claim, ()>]) -> Vec<bool> {
    let mut admitted: Vec<Epsilon> = Vec::new();
    let launches = conversation.iter().filter_map(|message| match message {
        Message::Launch(Claim(loss)) => Some(*loss),
        _ => None,
    });
    launches
        .map(|loss| {
            let sum = admitted.iter().map(|loss| loss.units()).sum::<u128>();
            let admits = sum + loss.units() <= budget().units();
            admitted.extend(admits.then_some(loss));
            admits
        })
        .collect()
}

/// What the real filter decides.
fn real(conversation: &[Message<Claim, ()>]) -> Vec<bool> {
    let mut coins = NotPrivateSeededCoins::new(0);
    let filter = pure_filter::<Claim>(budget());
    let mut machine = filter.start(&Arc::new(true), &mut coins.coins()).unwrap();
    let mut decisions = Vec::new();
    for message in conversation {
        match machine.step(message.clone(), &mut coins.coins()) {
            Ok(Reply::Launched(_)) => decisions.push(true),
            Ok(Reply::NotLaunched(_)) => decisions.push(false),
            _ => {}
        }
    }
    decisions
}

/// What the planted filter decides, with this bug.
fn planted(bug: crate::filter::Bug, conversation: &[Message<Claim, ()>]) -> Vec<bool> {
    let mut coins = NotPrivateSeededCoins::new(0);
    let home = crate::filter::Home::filter(bug, 300);
    let mut machine = home.start(&Arc::new(true), &mut coins.coins()).unwrap();
    let mut decisions = Vec::new();
    for message in conversation {
        if let Message::Launch(Claim(loss)) = message {
            let hundredths = (loss.units() / 10_u128.pow(25)) as i64;
            let kid = crate::filter::Kid::Claiming(hundredths);
            let reply = machine.step(crate::filter::Query::Launch(kid), &mut coins.coins());
            decisions.push(matches!(reply, Ok(crate::filter::Reply::Child(_))));
        }
    }
    decisions
}

/// The smallest conversation on which a filter decides differently from the naive one.
fn smallest_difference(
    decide: impl Fn(&[Message<Claim, ()>]) -> Vec<bool>,
) -> Option<Vec<Message<Claim, ()>>> {
    let mut runner = TestRunner::deterministic();
    let outcome = runner.run(&talks(), |conversation| {
        prop_assert_eq!(decide(&conversation), naive(&conversation));
        Ok(())
    });
    match outcome {
        Ok(()) => None,
        Err(TestError::Fail(_, smallest)) => Some(smallest),
        Err(TestError::Abort(reason)) => panic!("{reason}"),
    }
}

#[test]
fn the_filter_decides_as_the_naive_one() {
    assert_eq!(smallest_difference(real), None);
    let right = |talk: &[_]| planted(crate::filter::Bug::Nothing, talk);
    assert_eq!(smallest_difference(right), None);
}

#[test]
fn less_for_at_most_is_caught_by_a_property_test() {
    let wrong = |talk: &[_]| planted(crate::filter::Bug::StrictlyLess, talk);
    let smallest = smallest_difference(wrong).unwrap();
    // One launch of the whole budget, or two that make it up.
    let total: u128 = smallest
        .iter()
        .map(|message| match message {
            Message::Launch(Claim(loss)) => loss.units(),
            _ => panic!("{message:?} is of no use"),
        })
        .sum();
    assert_eq!(total, budget().units());
}

/// What an odometer reads after these launches.
fn reading(losses: &[Epsilon]) -> Epsilon {
    let mut coins = NotPrivateSeededCoins::new(0);
    let odometer = Addressed::<_, Claim>::new(Odometer::concurrent(PureDp));
    let mut machine = odometer.start(&Arc::new(true), &mut coins.coins()).unwrap();
    for loss in losses {
        machine
            .step(Message::Launch(Claim(*loss)), &mut coins.coins())
            .unwrap();
    }
    machine.privacy_loss()
}

/// What one reads that adds up floats.
fn floating(losses: &[Epsilon]) -> f64 {
    losses
        .iter()
        .map(|loss| loss.to_string().parse::<f64>().unwrap())
        .sum()
}

/// The smallest list of losses whose sum depends on their order.
fn smallest_disorder<T: PartialEq>(read: impl Fn(&[Epsilon]) -> T) -> Option<Vec<Epsilon>> {
    let mut runner = TestRunner::deterministic();
    let losses = prop::collection::vec(epsilons(budget()), 0..8);
    let outcome = runner.run(&losses, |losses| {
        let reversed: Vec<_> = losses.iter().rev().copied().collect();
        prop_assert!(read(&losses) == read(&reversed));
        Ok(())
    });
    match outcome {
        Ok(()) => None,
        Err(TestError::Fail(_, smallest)) => Some(smallest),
        Err(TestError::Abort(reason)) => panic!("{reason}"),
    }
}

#[test]
fn sums_of_floats_are_caught_by_a_property_test() {
    assert_eq!(smallest_disorder(reading), None);
    // Two floats commute; three do not associate.
    let smallest = smallest_disorder(floating).unwrap();
    assert!((3..=4).contains(&smallest.len()), "{smallest:?}");
}

#[test]
fn counterexamples_are_readable() {
    // A claim that is too small by a hair is refuted by the smallest mechanism that can refute it.
    let mut runner = TestRunner::deterministic();
    let pair = Pair::new(false, true);
    let outcome = runner.run(&finite_mechanisms(), |mechanism| {
        let verdict = Verifier::by_state(copies_of(&mechanism), &pair, mechanism.queries(), 2)
            .check(&PureDp, &"0.4".parse().unwrap())
            .unwrap();
        prop_assert!(verdict.holds());
        Ok(())
    });
    let Err(TestError::Fail(_, smallest)) = outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!(smallest.answers(), 1);
    assert_eq!(smallest.odds().len(), 1);
    assert_eq!(
        format!("{smallest:?}"),
        "FiniteMechanism { odds: [[[1, 1], [2, 1]]], answers: 1 }"
    );
}
