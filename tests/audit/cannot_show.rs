//! What an audit cannot show: each of these leaks, and passes. Beside each, an audit that does show
//! it, so that the limit is where it is said to be.
//!
//! All have seeds, so they end the same way each time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use queryables::audit::{Audit, Pair, largest_epsilon};
use queryables::machine::{Coins, Fault, Machine, Mechanism, Released, Script, View};
use queryables::number::{Delta, Epsilon};

/// A function of the data, the query and a draw below a million.
struct Leak(fn(u64, u64, u64) -> u64);
struct Leaking(fn(u64, u64, u64) -> u64, u64);

impl Mechanism<u64> for Leak {
    type Machine = Leaking;
    fn start(&self, data: &Arc<u64>, _: &mut Coins<'_>) -> Result<Leaking, Fault> {
        Ok(Leaking(self.0, **data))
    }
}

impl Machine for Leaking {
    type Query = u64;
    type Answer = u64;
    fn step(&mut self, query: u64, coins: &mut Coins<'_>) -> Result<u64, Fault> {
        let draw = coins.uniform(1_000_000.try_into().unwrap())?;
        Ok((self.0)(self.1, query, draw))
    }
}

/// What is found in 1000 trials.
fn found(leak: &Leak, pair: &Pair<u64>, query: u64) -> Epsilon {
    let audit = Audit::new(leak, pair, || Script::new([query]), 1);
    audit.trials(1000).seed(1).run().unwrap().epsilon
}

fn epsilon(text: &str) -> Epsilon {
    text.parse().unwrap()
}

#[test]
fn more_than_the_trials_allow() {
    let everything = Leak(|data, _, _| data);
    let shown = found(&everything, &Pair::new(0, 1), 0);
    let largest = largest_epsilon(1000, "1e-9".parse().unwrap(), Delta::ZERO).unwrap();
    assert_eq!(shown, largest);
    // ln(1000 / ln(4e9)) is 3.8121; that of every trial counted is a little less.
    assert!(
        shown > epsilon("3.77") && shown < epsilon("3.8121"),
        "{shown}"
    );
}

#[test]
fn a_rare_catastrophe() {
    // Once in a thousand, everything is told.
    let rare = Leak(|data, _, draw| if draw < 1000 { data } else { 2 });
    assert_eq!(found(&rare, &Pair::new(0, 1), 0), Epsilon::ZERO);
    let often = Leak(|data, _, draw| if draw < 300_000 { data } else { 2 });
    assert!(found(&often, &Pair::new(0, 1), 0) > epsilon("2"));
}

#[test]
fn another_pair() {
    let one_of_them = Leak(|data, _, _| u64::from(data == 7));
    assert_eq!(found(&one_of_them, &Pair::new(5, 6), 0), Epsilon::ZERO);
    assert!(found(&one_of_them, &Pair::new(6, 7), 0) > epsilon("3"));
}

#[test]
fn another_adversary() {
    let back_door = Leak(|data, query, _| if query == 1234 { data } else { 0 });
    assert_eq!(found(&back_door, &Pair::new(0, 1), 1), Epsilon::ZERO);
    assert!(found(&back_door, &Pair::new(0, 1), 1234) > epsilon("3"));
}

#[test]
fn another_label() {
    // The last digit is the data; the others never repeat themselves.
    let last_digit = Leak(|data, _, draw| 10 * draw + data);
    let pair = Pair::new(0, 1);
    assert_eq!(found(&last_digit, &pair, 0), Epsilon::ZERO);
    let audit = Audit::new(&last_digit, &pair, || Script::new([0]), 1);
    let audit = audit.trials(1000).seed(1);
    let answer = |view: &View<u64>| view.answers().next().unwrap().unwrap();
    let by = |label: fn(u64) -> u64| audit.run_by(|view| label(answer(view))).unwrap().epsilon;
    assert_eq!(by(|answer| answer / 1_000_000), Epsilon::ZERO);
    assert!(by(|answer| answer % 10) > epsilon("3"));
}

#[test]
fn other_ways_out() {
    static OUTSIDE: AtomicBool = AtomicBool::new(false);

    struct Whispers;
    impl Mechanism<bool> for Whispers {
        type Machine = Released<()>;
        fn start(&self, data: &Arc<bool>, _: &mut Coins<'_>) -> Result<Released<()>, Fault> {
            OUTSIDE.store(**data, Ordering::Relaxed);
            Ok(Released(()))
        }
    }
    let pair = Pair::new(false, true);
    let audit = Audit::new(&Whispers, &pair, || Script::new([()]), 1)
        .trials(1000)
        .seed(1);
    assert_eq!(audit.run().unwrap().epsilon, Epsilon::ZERO);
    // Outside the view, the leak can be seen.
    let outside = audit.run_by(|_| OUTSIDE.load(Ordering::Relaxed)).unwrap();
    assert!(outside.epsilon > epsilon("3"), "{outside}");
}

/// The other way round: nothing leaks, and something is found.
#[test]
fn runs_that_know_of_each_other() {
    /// Says how often it was started; the runs on the two datasets take turns.
    struct Numbered(AtomicU64);
    impl Mechanism<bool> for Numbered {
        type Machine = Released<bool>;
        fn start(&self, _: &Arc<bool>, _: &mut Coins<'_>) -> Result<Released<bool>, Fault> {
            let number = self.0.fetch_add(1, Ordering::Relaxed);
            Ok(Released(number.is_multiple_of(2)))
        }
    }
    let pair = Pair::new(false, true);
    let numbered = Numbered(AtomicU64::new(0));
    let audit = Audit::new(&numbered, &pair, || Script::new([()]), 1).trials(1000);
    assert!(audit.run().unwrap().epsilon > epsilon("3"));
}
