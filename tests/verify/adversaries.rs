//! The supremum over all adversaries: known values, both directions, interleavings, limits.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::support::*;
use queryables::compose::ConcurrentComposition;
use queryables::machine::{Coins, Fault, Machine, Mechanism};
use queryables::privacy::PureDp;
use queryables::verify::{
    Children, Completeness, Direction, Divergences, Pair, Rational, Verifier, VerifyError,
    copies_of, views,
};

/// The tight composition of k randomized responses with `e^ε = odds`, at `e^(jε)`
/// (Kairouz, Oh, Viswanath 2015, Thm 3.3 with δ = 0):
/// `Σ_{l} C(k, l) max(0, odds^(k-l) - e^ε' odds^l) / (1 + odds)^k`.
fn tight(odds: u64, k: u64, exp_epsilon: &Rational) -> Rational {
    let mut sum = Rational::ZERO;
    let mut binomial = 1_u64;
    for l in 0..=k {
        let p = Rational::from(odds.pow((k - l) as u32));
        let q = Rational::from(odds.pow(l as u32));
        let gain = (p - exp_epsilon * q).max(Rational::ZERO);
        sum += Rational::from(binomial) * gain;
        binomial = binomial * (k - l) / (l + 1);
    }
    sum / Rational::from((1 + odds).pow(k as u32))
}

#[test]
fn interleaved_responses_cost_the_tight_composition_and_no_more() {
    let pair = Pair::new(false, true);
    let three = ConcurrentComposition::new([once(3); 3]);
    let menu = vec![(0, ()), (1, ()), (2, ())];
    for by_state in [false, true] {
        for factor in [
            ratio(1, 1),
            ratio(3, 1),
            ratio(2, 1),
            ratio(9, 1),
            ratio(27, 1),
        ] {
            let menu = menu.clone();
            let verifier = if by_state {
                Verifier::by_state(copies_of(&three), &pair, menu, 4)
            } else {
                Verifier::new(copies_of(&three), &pair, menu, 4)
            };
            let worst = verifier.worst_delta(factor.clone()).unwrap();
            assert_eq!(exact(&worst), tight(3, 3, &factor), "{factor}");
            assert_eq!(worst.completeness, Completeness::Complete);
        }
    }
}

#[test]
fn children_with_more_answers_interleave_at_the_same_cost() {
    let pair = Pair::new(false, true);
    let two = ConcurrentComposition::new([2, 1].map(|answers| Respond { odds: 2, answers }));
    let worst = Verifier::by_state(copies_of(&two), &pair, vec![(0, ()), (1, ())], 5)
        .worst_delta(ratio(2, 1))
        .unwrap();
    assert_eq!(exact(&worst), tight(2, 3, &ratio(2, 1)));
    // Two truths are enough to believe, and two that differ cancel out.
    assert_eq!(worst.adversary.depth(), 2);
}

#[test]
fn the_worst_adversary_attains_what_is_said() {
    let pair = Pair::new(false, true);
    let filter = pure_filter::<Respond>(ln_times(3, 2));
    let menu = Children::new(vec![once(3), once(9)], vec![()]).at_most(3);
    let verifier = Verifier::by_state(copies_of(&filter), &pair, menu, 5);
    let worst = verifier.worst_delta(ratio(2, 1)).unwrap();
    assert_eq!(worst.direction, Direction::Forward);
    let laws = [pair.one(), pair.other()].map(|data| {
        let adversary = worst.adversary.clone();
        views(copies_of(&filter), data, move || adversary.player(), 5).unwrap()
    });
    let apart = Divergences::between(&laws[0], &laws[1]);
    assert_eq!(apart.hockey_stick(ratio(2, 1)), worst.value);
    // One response at 9 beats two at 3.
    assert_eq!(exact(&worst), tight(9, 1, &ratio(2, 1)));
    assert!(exact(&worst) > tight(3, 2, &ratio(2, 1)));
}

#[test]
fn the_worst_adversary_is_readable() {
    let pair = Pair::new(false, true);
    let worst = Verifier::new(copies_of(&once(3)), &pair, vec![()], 2)
        .worst_ratio()
        .unwrap();
    assert_eq!(
        worst.to_string(),
        "3 (first dataset against second), attained by:\n\
         ask ()\n  \
         false: stop  (probability 3/4 and 1/4)\n  \
         true: stop  (probability 1/4 and 3/4)\n\
         scope: false against true; 1 query on the menu, up to 2 rounds, 3 points; each was \
         answered"
    );
}

/// Says whether the data is above the query, but only if it is.
#[derive(Clone, Hash)]
struct OneSided(bool);

impl Mechanism<bool> for OneSided {
    type Machine = OneSided;
    fn start(&self, data: &Arc<bool>, _: &mut Coins<'_>) -> Result<OneSided, Fault> {
        Ok(Self(**data))
    }
}

impl Machine for OneSided {
    type Query = ();
    type Answer = bool;
    fn step(&mut self, (): (), coins: &mut Coins<'_>) -> Result<bool, Fault> {
        let lucky = coins.weighted(&[1, 3])? == 0;
        Ok(self.0 && lucky)
    }
}

#[test]
fn both_directions_are_searched() {
    for (pair, direction) in [
        (Pair::new(true, false), Direction::Forward),
        (Pair::new(false, true), Direction::Backward),
    ] {
        let one_sided = OneSided(false);
        let verifier = Verifier::by_state(copies_of(&one_sided), &pair, vec![()], 1);
        let worst = verifier.worst_delta(ratio(4, 1)).unwrap();
        assert_eq!(exact(&worst), ratio(1, 4));
        assert_eq!(worst.direction, direction);
        assert_eq!(
            verifier.worst_ratio().unwrap().value.to_string(),
            "infinite"
        );
        assert_eq!(
            verifier
                .worst_renyi("2".parse().unwrap())
                .unwrap()
                .direction,
            direction
        );
    }
}

#[test]
fn renyi_divergences_add_up_exactly_for_whole_orders() {
    let pair = Pair::new(false, true);
    let three = ConcurrentComposition::new([once(3); 3]);
    let menu = || vec![(0, ()), (1, ()), (2, ())];
    for order in [2_u64, 3, 7] {
        let worst = Verifier::by_state(copies_of(&three), &pair, menu(), 3)
            .worst_renyi(order.to_string().parse().unwrap())
            .unwrap();
        assert_eq!(exact(&worst), renyi_of_once(3, order).pow(3));
    }
    // Between whole orders: a certified interval that is no wider than 1e-60.
    let worst = Verifier::by_state(copies_of(&three), &pair, menu(), 3)
        .worst_renyi("2.5".parse().unwrap())
        .unwrap();
    let (low, high) = (worst.value.low().unwrap(), worst.value.high().unwrap());
    assert!(*low > renyi_of_once(3, 2).pow(3) && *high < renyi_of_once(3, 3).pow(3));
    assert!(high - low < Rational::ONE / Rational::from(10_u8).pow(60));
}

#[test]
fn recognising_states_changes_nothing_but_the_work() {
    let pair = Pair::new(false, true);
    let filter = pure_filter::<Respond>(ln_times(2, 3));
    let menu = || {
        Children::new(
            vec![
                once(2),
                Respond {
                    odds: 2,
                    answers: 2,
                },
            ],
            vec![()],
        )
    };
    for factor in [ratio(1, 1), ratio(3, 2), ratio(4, 1)] {
        let slow = Verifier::new(copies_of(&filter), &pair, menu(), 5)
            .worst_delta(factor.clone())
            .unwrap();
        let fast = Verifier::by_state(copies_of(&filter), &pair, menu(), 5)
            .threads(1)
            .worst_delta(factor)
            .unwrap();
        assert_eq!(slow.value, fast.value);
        assert!(
            fast.scope.points * 3 < slow.scope.points,
            "{} {}",
            fast.scope.points,
            slow.scope.points
        );
    }
}

#[test]
fn threads_change_nothing() {
    let pair = Pair::new(false, true);
    let three = ConcurrentComposition::new(
        [Respond {
            odds: 3,
            answers: 2,
        }; 3],
    );
    let menu = || vec![(0, ()), (1, ()), (2, ())];
    let values = [1, 2, 5].map(|threads| {
        let worst = Verifier::new(copies_of(&three), &pair, menu(), 4)
            .threads(threads)
            .worst_delta(ratio(2, 1))
            .unwrap();
        (worst.value, worst.adversary)
    });
    assert_eq!(values[0], values[1]);
    assert_eq!(values[0], values[2]);
}

#[test]
fn the_limit_is_never_silent() {
    let pair = Pair::new(false, true);
    let three = ConcurrentComposition::new([once(3); 3]);
    let verifier = |limit| {
        Verifier::new(copies_of(&three), &pair, vec![(0, ()), (1, ()), (2, ())], 4).limit(limit)
    };
    let worst = verifier(100_000).worst_ratio().unwrap();
    assert_eq!(
        verifier(worst.scope.runs / 2).worst_ratio().unwrap_err(),
        VerifyError::Limit {
            limit: worst.scope.runs / 2
        }
    );
    // Where states are recognised, machines are run seldom, and points count.
    let three = ConcurrentComposition::new([2, 3, 5].map(|odds| Respond { odds, answers: 3 }));
    let by_state = |limit| {
        let menu = vec![(0, ()), (1, ()), (2, ())];
        Verifier::by_state(copies_of(&three), &pair, menu, 8)
            .threads(1)
            .replays(2)
            .limit(limit)
    };
    let worst = by_state(100_000).worst_delta(ratio(2, 1)).unwrap();
    let limit = worst.scope.points - 1;
    assert!(
        worst.scope.runs < limit,
        "{} {}",
        worst.scope.runs,
        worst.scope.points
    );
    assert_eq!(
        by_state(limit).worst_delta(ratio(2, 1)).unwrap_err(),
        VerifyError::Limit { limit }
    );
}

/// Counts its starts outside of its machines.
#[derive(Clone)]
struct Forgetful(Arc<AtomicU64>);

impl Mechanism<bool> for Forgetful {
    type Machine = Responding;
    fn start(&self, data: &Arc<bool>, coins: &mut Coins<'_>) -> Result<Responding, Fault> {
        let odds = 1 + self.0.fetch_add(1, Ordering::Relaxed);
        Respond { odds, answers: 2 }.start(data, coins)
    }
}

#[test]
fn a_machine_that_replays_differently_is_an_error() {
    let pair = Pair::new(false, true);
    let forgetful = Forgetful(Arc::default());
    assert_eq!(
        Verifier::new(copies_of(&forgetful), &pair, vec![()], 2)
            .worst_ratio()
            .unwrap_err(),
        VerifyError::Diverged
    );
}

/// Fails to start on one dataset, or at its first answer, or by a panic.
#[derive(Clone)]
struct Failing(&'static str);
struct FailingMachine(&'static str, bool);

impl Mechanism<bool> for Failing {
    type Machine = FailingMachine;
    fn start(&self, data: &Arc<bool>, coins: &mut Coins<'_>) -> Result<FailingMachine, Fault> {
        let fails = **data && coins.weighted(&[1, 1])? == 0;
        if fails && self.0 == "start" {
            return Err(Fault::Failed);
        }
        Ok(FailingMachine(self.0, fails))
    }
}

impl Machine for FailingMachine {
    type Query = ();
    type Answer = ();
    fn step(&mut self, (): (), _: &mut Coins<'_>) -> Result<(), Fault> {
        match (self.0, self.1) {
            ("answer", true) => Err(Fault::Failed),
            ("panic", true) => panic!("as planned"),
            _ => Ok(()),
        }
    }
}

#[test]
fn failing_is_as_visible_as_an_answer() {
    let pair = Pair::new(false, true);
    for how in ["start", "answer", "panic"] {
        let worst = Verifier::new(copies_of(&Failing(how)), &pair, vec![()], 1)
            .difference()
            .unwrap();
        assert_eq!(exact(&worst), ratio(1, 2), "{how}");
        assert_eq!(worst.direction, Direction::Forward);
    }
}

#[test]
fn decimal_epsilons_have_certified_deltas() {
    let pair = Pair::new(false, true);
    let respond = once(3);
    let verifier = Verifier::new(copies_of(&respond), &pair, vec![()], 1);
    // δ(1) = 3/4 - e/4 = 0.0704295428852386911599...
    let worst = verifier.worst_delta_at("1".parse().unwrap()).unwrap();
    assert_eq!(worst.value.to_string(), "0.07042954288…");
    verifier.assert_private(&PureDp, &ln(3));
    let verdict = verifier
        .check(&PureDp, &"1.098612288668109691395245236".parse().unwrap())
        .unwrap();
    assert!(verdict.is_refuted(), "{verdict}");
}

/// Answers with how often it was asked in all its lives: no coins, and another answer each time.
#[derive(Clone)]
struct Counting(Arc<AtomicU64>);
struct CountingMachine(Arc<AtomicU64>);

impl Mechanism<bool> for Counting {
    type Machine = CountingMachine;
    fn start(&self, _: &Arc<bool>, _: &mut Coins<'_>) -> Result<CountingMachine, Fault> {
        Ok(CountingMachine(Arc::clone(&self.0)))
    }
}

impl Machine for CountingMachine {
    type Query = ();
    type Answer = u64;
    fn step(&mut self, (): (), _: &mut Coins<'_>) -> Result<u64, Fault> {
        Ok(self.0.fetch_add(1, Ordering::Relaxed))
    }
}

#[test]
fn another_answer_on_a_replay_is_an_error() {
    let pair = Pair::new(false, true);
    let counting = Counting(Arc::default());
    let verifier = Verifier::new(copies_of(&counting), &pair, vec![()], 1);
    // The second side starts where the first has left off, which must not be taken for a leak.
    assert_eq!(verifier.worst_ratio().unwrap_err(), VerifyError::Diverged);
}

/// A hidden coin that depends on the data, and noisy answers that depend on the coin alone.
#[derive(Clone)]
struct Hiding;

#[derive(Hash)]
struct Hidden(usize);

impl Mechanism<bool> for Hiding {
    type Machine = Hidden;
    fn start(&self, data: &Arc<bool>, coins: &mut Coins<'_>) -> Result<Hidden, Fault> {
        Ok(Hidden(coins.weighted(&[4, 2, 1])? ^ usize::from(**data)))
    }
}

impl Machine for Hidden {
    type Query = usize;
    type Answer = bool;
    fn step(&mut self, query: usize, coins: &mut Coins<'_>) -> Result<bool, Fault> {
        Ok((self.0 == query) ^ (coins.weighted(&[3, 1])? == 1))
    }
}

#[test]
fn states_that_both_datasets_share_are_kept_apart() {
    let pair = Pair::new(false, true);
    for factor in [ratio(1, 1), ratio(3, 2), ratio(2, 1)] {
        let menu = vec![0, 1, 2, 3];
        let by_state = Verifier::by_state(copies_of(&Hiding), &pair, menu.clone(), 3);
        let opaque = Verifier::new(copies_of(&Hiding), &pair, menu, 3);
        assert_eq!(
            by_state.worst_delta(factor.clone()).unwrap().value,
            opaque.worst_delta(factor).unwrap().value
        );
    }
}
