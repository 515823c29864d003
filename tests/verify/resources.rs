//! Bounds on what an exploration takes, and state or randomness outside the machine.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use queryables::machine::{Coins, Fault, Machine, Mechanism, Released};
use queryables::number::Epsilon;
use queryables::privacy::PureDp;
use queryables::verify::{Cancel, Pair, Value, Verifier, VerifyError, copies_of};

// ---- Bounds ------------------------------------------------------------------------------------

/// Tosses this number of coins, and answers with nothing or with their parity.
#[derive(Clone)]
struct Coins40(usize);

struct Tossing(usize);

impl Mechanism<bool> for Coins40 {
    type Machine = Tossing;
    fn start(&self, _: &Arc<bool>, _: &mut Coins<'_>) -> Result<Tossing, Fault> {
        Ok(Tossing(self.0))
    }
}

impl Machine for Tossing {
    type Query = ();
    type Answer = usize;
    fn step(&mut self, (): (), coins: &mut Coins<'_>) -> Result<usize, Fault> {
        let mut heads = 0;
        for _ in 0..self.0 {
            heads += coins.weighted(&[1, 1])?;
        }
        Ok(heads % 2)
    }
}

#[test]
fn the_paths_of_a_last_answer_are_merged_as_they_are_found() {
    let pair = Pair::new(false, true);
    // 2^12 paths, each of which would take more than half a kilobyte: two answers.
    let verifier = Verifier::new(|| Coins40(12), &pair, vec![()], 1).memory(20_000);
    assert_eq!(
        verifier
            .difference()
            .unwrap()
            .value
            .exact()
            .unwrap()
            .to_string(),
        "0"
    );
    // What may still be asked needs its paths.
    let verifier = Verifier::new(|| Coins40(12), &pair, vec![()], 2).memory(20_000);
    let limit = 20_000;
    assert_eq!(
        verifier.difference().unwrap_err(),
        VerifyError::Memory { limit }
    );
}

/// Tosses its coins at the start.
struct AtTheStart(usize);

impl Mechanism<bool> for AtTheStart {
    type Machine = Released<usize>;
    fn start(&self, _: &Arc<bool>, coins: &mut Coins<'_>) -> Result<Released<usize>, Fault> {
        Tossing(self.0).step((), coins).map(Released)
    }
}

#[test]
fn paths_are_counted_while_they_are_found() {
    let pair = Pair::new(false, true);
    // Long before all 2^40 paths are found, and long before the limit on runs.
    let limit = 1_000_000;
    let verifier = Verifier::new(|| AtTheStart(40), &pair, vec![()], 1).memory(limit);
    assert_eq!(
        verifier.limit(10_000).difference().unwrap_err(),
        VerifyError::Memory { limit }
    );
}

#[test]
fn many_coins_end_at_the_limit() {
    let pair = Pair::new(false, true);
    for coins in [40, 200] {
        let verifier = Verifier::new(move || Coins40(coins), &pair, vec![()], 1);
        let limit = 5000;
        let worst = verifier.limit(limit).difference();
        assert_eq!(worst.unwrap_err(), VerifyError::Limit { limit });
    }
}

#[test]
fn the_time_is_bounded() {
    let pair = Pair::new(false, true);
    let limit = Duration::ZERO;
    let verifier = Verifier::new(|| Coins40(40), &pair, vec![()], 1).time(limit);
    assert_eq!(
        verifier.difference().unwrap_err(),
        VerifyError::Time { limit }
    );
}

/// Loops without drawing until it is released.
#[derive(Clone)]
struct Looping(Arc<AtomicBool>);

impl Mechanism<bool> for Looping {
    type Machine = Released<bool>;
    fn start(&self, _: &Arc<bool>, _: &mut Coins<'_>) -> Result<Released<bool>, Fault> {
        while !self.0.load(Ordering::Relaxed) {
            std::thread::yield_now();
        }
        Ok(Released(true))
    }
}

#[test]
fn a_machine_that_loops_without_drawing_is_left_behind() {
    let pair = Pair::new(false, true);
    let looping = Looping(Arc::default());
    // Long enough for the machine to be started on a busy processor.
    let limit = Duration::from_secs(2);
    let verifier = Verifier::new(copies_of(&looping), &pair, vec![()], 1).time(limit);
    assert_eq!(
        verifier.difference().unwrap_err(),
        VerifyError::Stuck { limit }
    );
    looping.0.store(true, Ordering::Relaxed);
}

#[test]
fn an_exploration_is_cancelled() {
    let pair = Pair::new(false, true);
    let cancel = Cancel::default();
    let verifier = Verifier::new(|| Coins40(40), &pair, vec![()], 1).cancelled_by(&cancel);
    cancel.cancel();
    assert_eq!(verifier.difference().unwrap_err(), VerifyError::Cancelled);
}

#[test]
fn progress_is_reported_to_whoever_waits() {
    let pair = Pair::new(false, true);
    // Goes on until the first report.
    let cancel = Cancel::default();
    let seen = cancel.clone();
    let verifier = Verifier::new(|| Coins40(60), &pair, vec![()], 1)
        .limit(u64::MAX)
        .cancelled_by(&cancel)
        .progress(move |progress| {
            assert!(progress.runs > 0);
            seen.cancel();
        });
    assert_eq!(verifier.difference().unwrap_err(), VerifyError::Cancelled);
}

// ---- Outside the machine -----------------------------------------------------------------------

/// Remembers the exact count of the first dataset that it sees.
struct Memo(OnceLock<usize>);

impl Mechanism<Vec<u8>> for Memo {
    type Machine = Released<usize>;
    fn start(&self, data: &Arc<Vec<u8>>, _: &mut Coins<'_>) -> Result<Released<usize>, Fault> {
        Ok(Released(*self.0.get_or_init(|| data.len())))
    }
}

#[test]
fn a_mechanism_that_remembers_is_made_anew() {
    let pair = Pair::new(vec![1, 2], vec![1]);
    let worst = Verifier::new(|| Memo(OnceLock::new()), &pair, vec![()], 1).worst_ratio();
    assert_eq!(worst.unwrap().value, Value::Infinite);
}

/// Tells the bit in every `often`-th of its lives, whatever the coins.
#[derive(Clone)]
struct Sometimes {
    lives: Arc<AtomicU64>,
    often: u64,
}

impl Mechanism<bool> for Sometimes {
    type Machine = Released<bool>;
    fn start(&self, data: &Arc<bool>, _: &mut Coins<'_>) -> Result<Released<bool>, Fault> {
        let life = self.lives.fetch_add(1, Ordering::Relaxed);
        Ok(Released(life.is_multiple_of(self.often) && **data))
    }
}

/// One run in ten goes differently. A hundred runs of the start on one dataset go alike with a
/// probability of 0.9^100 + 0.1^100 < 2.7e-5 if they are independent; here they are periodic, so
/// that ten in a row are enough.
#[test]
fn a_leak_in_one_run_of_ten_never_passes_in_a_thousand_checks() {
    let pair = Pair::new(false, true);
    for first in 0..1000 {
        let leak = Sometimes {
            lives: Arc::new(AtomicU64::new(first)),
            often: 10,
        };
        let verifier = Verifier::new(copies_of(&leak), &pair, vec![()], 1).threads(1);
        let verdict = verifier.check(&PureDp, &Epsilon::ZERO);
        assert_eq!(verdict.unwrap_err(), VerifyError::Diverged, "{first}");
    }
    assert!(0.9_f64.powi(100) + 0.1_f64.powi(100) < 2.7e-5);
}
