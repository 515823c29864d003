//! Verdicts that must not depend on how two different things are written down.

use std::hash::{Hash, Hasher};
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use queryables::machine::{
    CoinSource, Coins, CoinsError, Fault, Law, Machine, Mechanism, Metered, Released, Script,
};
use queryables::number::Epsilon;
use queryables::privacy::Rdp;
use queryables::verify::{
    Direction, Divergences, Pair, Rational, Truncated, Value, Verifier, VerifyError, copies_of,
    views,
};

fn ratio(numerator: i64, denominator: u64) -> Rational {
    Rational::new(numerator.into(), denominator.into()).unwrap()
}

/// Any behaviour of an answer, from the bit of the dataset.
#[derive(Clone)]
struct Told<F>(F);

struct Telling<F>(F, bool);

impl<F> Hash for Telling<F> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.1.hash(state);
    }
}

impl<F: Clone> Mechanism<bool> for Told<F>
where
    Telling<F>: Machine,
{
    type Machine = Telling<F>;
    fn start(&self, data: &Arc<bool>, _: &mut Coins<'_>) -> Result<Telling<F>, Fault> {
        Ok(Telling(self.0.clone(), **data))
    }
}

impl<F> Machine for Telling<F>
where
    F: Fn(bool, u8, &mut Coins<'_>) -> Result<i128, Fault>,
{
    type Query = u8;
    type Answer = i128;
    fn step(&mut self, query: u8, coins: &mut Coins<'_>) -> Result<i128, Fault> {
        (self.0)(self.1, query, coins)
    }
}

fn told<F>(tell: F) -> Told<F>
where
    F: Fn(bool, u8, &mut Coins<'_>) -> Result<i128, Fault>,
{
    Told(tell)
}

// ---- Odometers ---------------------------------------------------------------------------------

/// Fails at no loss on one dataset, and spends on the other.
#[derive(Clone)]
struct Failing;

#[derive(Hash)]
struct FailingMeter(bool, u32);

impl Mechanism<bool> for Failing {
    type Machine = FailingMeter;
    fn start(&self, data: &Arc<bool>, _: &mut Coins<'_>) -> Result<FailingMeter, Fault> {
        Ok(FailingMeter(**data, 0))
    }
}

impl Machine for FailingMeter {
    type Query = ();
    type Answer = ();
    fn step(&mut self, (): (), _: &mut Coins<'_>) -> Result<(), Fault> {
        if self.0 {
            return Err(Fault::Failed);
        }
        self.1 = 5;
        Ok(())
    }
}

impl Metered for FailingMeter {
    type Loss = u32;
    fn privacy_loss(&self) -> u32 {
        self.1
    }
}

#[test]
fn an_odometer_that_fails_is_not_one_that_crosses() {
    let pair = Pair::new(false, true);
    let truncated = Truncated::new(Failing, 1);
    let worst = Verifier::by_state(copies_of(&truncated), &pair, vec![()], 3).worst_ratio();
    assert_eq!(worst.unwrap().value, Value::Infinite);
}

// ---- Starts ------------------------------------------------------------------------------------

/// Fails at the start on one dataset, at the first query on the other.
#[derive(Clone)]
struct Late;

struct Fails;

impl Mechanism<bool> for Late {
    type Machine = Fails;
    fn start(&self, data: &Arc<bool>, _: &mut Coins<'_>) -> Result<Fails, Fault> {
        if **data {
            Err(Fault::Failed)
        } else {
            Ok(Fails)
        }
    }
}

impl Machine for Fails {
    type Query = ();
    type Answer = ();
    fn step(&mut self, (): (), _: &mut Coins<'_>) -> Result<(), Fault> {
        Err(Fault::Failed)
    }
}

#[test]
fn a_failed_start_is_not_a_failed_answer() {
    let [one, other] =
        [false, true].map(|bit| views(|| Late, &Arc::new(bit), || Script::new([()]), 1).unwrap());
    let apart = Divergences::between(&one, &other).total_variation();
    let pair = Pair::new(false, true);
    let worst = Verifier::new(copies_of(&Late), &pair, vec![()], 1).difference();
    assert_eq!(apart.exact(), Some(&Rational::ONE));
    assert_eq!(worst.unwrap().value, apart);
}

// ---- Replays -----------------------------------------------------------------------------------

/// Counts how often it went one of its two ways.
#[derive(Clone)]
struct Counting(Arc<AtomicU64>);

impl Mechanism<bool> for Counting {
    type Machine = Released<u64>;
    fn start(&self, _: &Arc<bool>, coins: &mut Coins<'_>) -> Result<Released<u64>, Fault> {
        Ok(Released(match coins.weighted(&[1, 1])? {
            0 => 0,
            _ => 1 + self.0.fetch_add(1, Ordering::SeqCst),
        }))
    }
}

#[test]
fn a_machine_that_is_no_function_of_its_coins_is_an_error_on_every_path() {
    let pair = Pair::new(false, true);
    let counting = Counting(Arc::default());
    let worst = Verifier::new(copies_of(&counting), &pair, vec![()], 1).worst_ratio();
    assert_eq!(worst.unwrap_err(), VerifyError::Diverged);
    let law = views(
        copies_of(&counting),
        &Arc::new(true),
        || Script::new([()]),
        1,
    );
    assert_eq!(law.unwrap_err(), VerifyError::Diverged);
}

/// Shows a count that is not in any answer.
#[derive(Clone)]
struct Numbered(Arc<AtomicU64>);

#[derive(Hash)]
struct Number(u64);

impl Mechanism<bool> for Numbered {
    type Machine = Number;
    fn start(&self, _: &Arc<bool>, _: &mut Coins<'_>) -> Result<Number, Fault> {
        Ok(Number(self.0.fetch_add(1, Ordering::SeqCst)))
    }
}

impl Machine for Number {
    type Query = ();
    type Answer = ();
    fn step(&mut self, (): (), _: &mut Coins<'_>) -> Result<(), Fault> {
        Ok(())
    }
}

#[test]
fn a_state_that_is_no_function_of_the_coins_is_an_error() {
    let pair = Pair::new(false, true);
    let numbered = Numbered(Arc::default());
    let worst = Verifier::by_state(copies_of(&numbered), &pair, vec![()], 1).worst_ratio();
    assert_eq!(worst.unwrap_err(), VerifyError::Diverged);
}

/// Answers with a count of all its lives, but only to the first query: a replay goes differently
/// where nothing is compared but the last answer.
struct First(Arc<AtomicU64>, bool);

#[derive(Clone)]
struct Firsts(Arc<AtomicU64>);

impl Mechanism<bool> for Firsts {
    type Machine = First;
    fn start(&self, _: &Arc<bool>, _: &mut Coins<'_>) -> Result<First, Fault> {
        Ok(First(Arc::clone(&self.0), true))
    }
}

impl Machine for First {
    type Query = ();
    type Answer = bool;
    fn step(&mut self, (): (), _: &mut Coins<'_>) -> Result<bool, Fault> {
        let first = std::mem::replace(&mut self.1, false);
        // The same for all four runs of the first query: twice on each dataset.
        Ok(first && self.0.fetch_add(1, Ordering::SeqCst) >= 4)
    }
}

#[test]
fn every_answer_of_a_replay_is_compared() {
    let pair = Pair::new(false, true);
    let firsts = Firsts(Arc::default());
    let verifier = Verifier::new(copies_of(&firsts), &pair, vec![()], 2);
    let worst = verifier.threads(1).replays(2);
    assert_eq!(worst.worst_ratio().unwrap_err(), VerifyError::Diverged);
}

// ---- Cuts --------------------------------------------------------------------------------------

/// The number of tails before heads: without end, so it is cut.
#[derive(Debug)]
struct Tails;

impl Law for Tails {
    fn sample(&self, coins: &mut dyn CoinSource) -> Result<i128, CoinsError> {
        let mut tails = 0;
        while coins.uniform(NonZeroU64::MIN.saturating_add(1))? == 0 {
            tails += 1;
        }
        Ok(tails)
    }
}

#[test]
fn a_cut_query_does_not_hide_what_another_shows() {
    let pair = Pair::new(false, true);
    // Query 0 tells the bit 3 times in 5; query 1 tells less, after a draw that is cut at 1/4.
    let mechanism = told(|bit, query, coins| {
        let odds = if query == 0 { [3, 2] } else { [11, 9] };
        if query == 1 {
            coins.draw(&Tails)?;
        }
        Ok(i128::from(bit ^ (coins.weighted(&odds)? == 1)))
    });
    for menu in [vec![0], vec![0, 1], vec![1, 0]] {
        let verifier = Verifier::new(copies_of(&mechanism), &pair, menu, 1).cut(ratio(1, 4));
        let worst = verifier.difference().unwrap();
        // 1/5, but for what is rounded.
        let nearly = ratio(1, 5) - ratio(1, 1 << 60);
        assert!(worst.value.is_more_than(&nearly.into()), "{worst}");
        // The adversary is the one that attains it.
        assert!(worst.to_string().contains("ask 0"), "{worst}");
    }
}

#[test]
fn a_larger_menu_refutes_what_a_smaller_one_does() {
    let pair = Pair::new(false, true);
    let mechanism = told(|bit, query, coins| match query {
        0 => Ok(i128::from(bit ^ (coins.weighted(&[999, 1])? == 1))),
        _ => Ok(coins.draw(&Tails)?),
    });
    let claim: Epsilon = "0.1".parse().unwrap();
    for menu in [vec![0], vec![0, 1], vec![1, 0]] {
        let verifier = Verifier::new(copies_of(&mechanism), &pair, menu, 1);
        let verdict = verifier.check(&Rdp::new("2".parse().unwrap()), &claim);
        let verdict = verdict.unwrap();
        assert!(verdict.is_refuted(), "{verdict}");
        assert!(verdict.to_string().contains("ask 0"), "{verdict}");
        assert!(verifier.worst_ratio().unwrap().value.low() >= Some(&ratio(999, 1)));
    }
}

#[test]
fn the_direction_is_the_one_that_is_certain() {
    let pair = Pair::new(false, true);
    // Only the second dataset is cut, at 2⁻³⁰ of all: the first against it is bounded from below
    // by 0, it against the first is infinite for certain.
    let mechanism = told(|bit, _, coins| match bit {
        false => Ok(0),
        true => Ok(coins.draw(&Tails)?),
    });
    let worst = Verifier::new(copies_of(&mechanism), &pair, vec![0], 1)
        .worst_ratio()
        .unwrap();
    assert_eq!(worst.value, Value::Infinite);
    assert_eq!(worst.direction, Direction::Backward);
    // With the datasets in the other order, the other direction.
    let swapped = Pair::new(true, false);
    let worst = Verifier::new(copies_of(&mechanism), &swapped, vec![0], 1)
        .worst_ratio()
        .unwrap();
    assert_eq!(worst.value, Value::Infinite);
    assert_eq!(worst.direction, Direction::Forward);
}

#[test]
fn what_is_cut_on_one_side_widens_each_direction_by_its_own() {
    // Only the second dataset is cut, at 1/4: after two tails, which is 1/8 of all.
    let mechanism = told(|bit, _, coins| match bit {
        false => Ok(0),
        true => Ok(coins.draw(&Tails)?),
    });
    let cut = |pair: &Pair<bool>| {
        let verifier = Verifier::new(copies_of(&mechanism), pair, vec![0], 1).cut(ratio(1, 4));
        verifier.worst_delta(ratio(2, 1)).unwrap().value
    };
    let (one, other) = (cut(&Pair::new(false, true)), cut(&Pair::new(true, false)));
    assert_eq!(one, other);
    // The cut dataset against the other: what is followed of 1, 2, ... is all gain, and what is cut
    // may be; the other against it: nothing, as 1 - 2/2 = 0.
    let Value::Finite(value) = one else {
        panic!("not bounded")
    };
    let all = ratio(1, 2);
    assert!(*value.low() < all && *value.low() >= ratio(1, 4), "{value}");
    assert_eq!(*value.high(), all, "{value}");
}

#[test]
fn what_is_not_bounded_stays_so() {
    let pair = Pair::new(false, true);
    // The first answer is public; after one of its two values a draw is cut, on both sides.
    let mechanism = told(|bit, _, coins| match coins.weighted(&[1, 1])? {
        0 => Ok(-1 - i128::from(bit ^ (coins.weighted(&[3, 1])? == 1))),
        _ => Ok(coins.draw(&Tails)?),
    });
    let verifier = Verifier::new(copies_of(&mechanism), &pair, vec![0], 2);
    // What is cut in the second round is combined with what is not, and is still not bounded.
    let value = verifier.worst_ratio().unwrap().value;
    assert!(matches!(value, Value::AtLeast(_)), "{value}");
    assert!(!value.is_at_most(&ratio(1_000_000, 1).into()));
}

// ---- Machines that break -----------------------------------------------------------------------

#[test]
fn a_long_conversation_has_a_stack() {
    let pair = Pair::new(false, true);
    let mechanism = told(|_, _, _| Ok(0));
    let worst = |depth, threads| {
        let verifier =
            Verifier::by_state(copies_of(&mechanism), &pair, vec![0], depth).threads(threads);
        verifier.worst_ratio().map(|worst| worst.value)
    };
    for threads in [1, 2] {
        let one = Value::Finite(Rational::ONE.into());
        assert_eq!(worst(1000, threads), Ok(one));
        let error = VerifyError::TooDeep { depth: 1001 };
        assert_eq!(worst(1001, threads), Err(error));
    }
}

/// Cannot be hashed after it has panicked.
#[derive(Clone)]
struct Panicking;

struct Poisoned(bool);

impl Hash for Poisoned {
    fn hash<H: Hasher>(&self, state: &mut H) {
        assert!(!self.0, "poisoned");
        state.write_u8(0);
    }
}

impl Mechanism<bool> for Panicking {
    type Machine = Poisoned;
    fn start(&self, _: &Arc<bool>, _: &mut Coins<'_>) -> Result<Poisoned, Fault> {
        Ok(Poisoned(false))
    }
}

impl Machine for Poisoned {
    type Query = bool;
    type Answer = ();
    fn step(&mut self, panics: bool, _: &mut Coins<'_>) -> Result<(), Fault> {
        self.0 = true;
        assert!(!panics, "on purpose");
        Ok(())
    }
}

#[test]
fn a_machine_that_panicked_is_not_looked_at() {
    let pair = Pair::new(false, true);
    // With `false`, it answers, and yet cannot show its state.
    let worst =
        Verifier::by_state(copies_of(&Panicking), &pair, vec![true, false], 2).worst_ratio();
    assert_eq!(worst.unwrap().value, Value::Finite(Rational::ONE.into()));
}

/// Fails, and would tell everything if it were asked again.
struct Talking(bool, bool);

#[derive(Clone)]
struct TalksAfterwards;

impl Mechanism<bool> for TalksAfterwards {
    type Machine = Talking;
    fn start(&self, data: &Arc<bool>, _: &mut Coins<'_>) -> Result<Talking, Fault> {
        Ok(Talking(**data, false))
    }
}

impl Machine for Talking {
    type Query = ();
    type Answer = bool;
    fn step(&mut self, (): (), _: &mut Coins<'_>) -> Result<bool, Fault> {
        if std::mem::replace(&mut self.1, true) {
            Ok(self.0)
        } else {
            Err(Fault::Failed)
        }
    }
}

#[test]
fn a_machine_that_failed_is_not_asked_again() {
    let pair = Pair::new(false, true);
    let worst = Verifier::new(copies_of(&TalksAfterwards), &pair, vec![()], 3).difference();
    // Not a word, and so no difference.
    assert_eq!(worst.unwrap_err(), VerifyError::NothingAnswered);
}
