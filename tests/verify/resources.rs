//! Limits on what an exploration takes, and state or randomness outside the machine.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use queryables::machine::{
    CoinSource, Coins, Fault, Machine, Mechanism, NotPrivateSeededCoins, Released, Script,
};
use queryables::number::Epsilon;
use queryables::privacy::PureDp;
use queryables::verify::{
    Limits, Pair, Value, Verifier, VerifyError, copies_of, views, views_within,
};

// ---- Limits ------------------------------------------------------------------------------------

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

/// Says that it has started, and loops without drawing until it is released.
#[derive(Clone)]
struct Begun(Sender<()>, Looping);

impl Mechanism<bool> for Begun {
    type Machine = Released<bool>;
    fn start(&self, data: &Arc<bool>, coins: &mut Coins<'_>) -> Result<Released<bool>, Fault> {
        // Nobody listens any more after the first time.
        let _ = self.0.send(());
        self.1.start(data, coins)
    }
}

/// Cancels what is explored as soon as its machine loops.
fn cancelled_when_it_loops<T>(explore: impl FnOnce(Begun, Arc<AtomicBool>) -> T) -> T {
    let (begun, begins) = channel();
    let looping = Looping(Arc::default());
    let cancel = Arc::<AtomicBool>::default();
    let cancels = cancel.clone();
    let somebody = std::thread::spawn(move || {
        begins.recv().unwrap();
        cancels.store(true, Ordering::Relaxed);
    });
    let found = explore(Begun(begun, looping.clone()), cancel);
    somebody.join().unwrap();
    looping.0.store(true, Ordering::Relaxed);
    found
}

/// So long that a machine that loops is not left behind for it.
const LONG: Duration = Duration::from_secs(20);

#[test]
fn a_machine_that_loops_without_drawing_is_cancelled() {
    let found = cancelled_when_it_loops(|looping, cancel| {
        let pair = Pair::new(false, true);
        let verifier = Verifier::new(copies_of(&looping), &pair, vec![()], 1);
        verifier.time(LONG).cancelled_by(&cancel).difference()
    });
    assert_eq!(found.unwrap_err(), VerifyError::Cancelled);
}

#[test]
fn an_exploration_is_cancelled() {
    let pair = Pair::new(false, true);
    let cancel = Arc::<AtomicBool>::default();
    let verifier = Verifier::new(|| Coins40(40), &pair, vec![()], 1).cancelled_by(&cancel);
    cancel.store(true, Ordering::Relaxed);
    assert_eq!(verifier.difference().unwrap_err(), VerifyError::Cancelled);
}

#[test]
fn progress_is_reported_to_whoever_waits() {
    let pair = Pair::new(false, true);
    // Goes on until the first report.
    let cancel = Arc::<AtomicBool>::default();
    let seen = cancel.clone();
    let verifier = Verifier::new(|| Coins40(60), &pair, vec![()], 1)
        .limit(u64::MAX)
        .cancelled_by(&cancel)
        .progress(move |progress| {
            assert!(progress.runs > 0);
            seen.store(true, Ordering::Relaxed);
        });
    assert_eq!(verifier.difference().unwrap_err(), VerifyError::Cancelled);
}

// ---- Views -------------------------------------------------------------------------------------

/// Asks once, within these bounds.
fn seen_within(coins: usize, bounds: &Limits) -> Result<usize, VerifyError> {
    let script = || Script::new([()]);
    let law = views_within(bounds, move || Coins40(coins), &Arc::new(true), script, 1)?;
    Ok(law.outcomes().count())
}

#[test]
fn equal_views_are_merged_as_they_are_found() {
    // 2^12 paths, and two answers.
    assert_eq!(seen_within(12, &Limits::default().memory(20_000)), Ok(2));
}

/// Says how all its coins fell.
struct Telling;

impl Mechanism<bool> for Telling {
    type Machine = Released<u64>;
    fn start(&self, _: &Arc<bool>, coins: &mut Coins<'_>) -> Result<Released<u64>, Fault> {
        let mut all = 0;
        for _ in 0..40 {
            all = 2 * all + coins.weighted(&[1, 1])? as u64;
        }
        Ok(Released(all))
    }
}

#[test]
fn views_are_bounded() {
    let bounds = Limits::default;
    let limit = 5000;
    let found = seen_within(40, &bounds().limit(limit));
    assert_eq!(found, Err(VerifyError::Limit { limit }));
    let limit = Duration::ZERO;
    let found = seen_within(40, &bounds().time(limit));
    assert_eq!(found, Err(VerifyError::Time { limit }));
    let cancel = Arc::<AtomicBool>::default();
    cancel.store(true, Ordering::Relaxed);
    let found = seen_within(40, &bounds().cancelled_by(&cancel));
    assert_eq!(found, Err(VerifyError::Cancelled));
    let limit = 1_000_000;
    let script = || Script::new([()]);
    let found = views_within(
        &bounds().memory(limit),
        || Telling,
        &Arc::new(true),
        script,
        1,
    );
    assert_eq!(found.unwrap_err(), VerifyError::Memory { limit });
}

#[test]
fn the_views_of_a_machine_that_loops_are_given_up() {
    let found = cancelled_when_it_loops(|looping, cancel| {
        let bounds = Limits::default().time(LONG).cancelled_by(&cancel);
        let script = || Script::new([()]);
        views_within(&bounds, copies_of(&looping), &Arc::new(true), script, 1)
    });
    assert_eq!(found.unwrap_err(), VerifyError::Cancelled);
}

/// Says whether this is its first life.
struct Lives(OnceLock<()>);

impl Mechanism<bool> for Lives {
    type Machine = Released<bool>;
    fn start(&self, _: &Arc<bool>, _: &mut Coins<'_>) -> Result<Released<bool>, Fault> {
        Ok(Released(self.0.set(()).is_ok()))
    }
}

#[test]
fn every_view_begins_with_a_new_mechanism() {
    let law = views(
        || Lives(OnceLock::new()),
        &Arc::new(true),
        || Script::new([()]),
        1,
    )
    .unwrap();
    let views: Vec<_> = law
        .outcomes()
        .map(|(view, _)| view.answers().collect::<Vec<_>>())
        .collect();
    assert_eq!(views, [vec![&Ok(true)]]);
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

/// Tells the bit in one of its lives in ten, whatever the coins: its randomness is from elsewhere.
#[derive(Clone)]
struct Sometimes(Arc<Mutex<NotPrivateSeededCoins>>);

impl Sometimes {
    fn seeded(seed: u64) -> Self {
        Self(Arc::new(Mutex::new(NotPrivateSeededCoins::new(seed))))
    }
}

impl Mechanism<bool> for Sometimes {
    type Machine = Released<bool>;
    fn start(&self, data: &Arc<bool>, _: &mut Coins<'_>) -> Result<Released<bool>, Fault> {
        let tells = self.0.lock().unwrap().weighted(&[9, 1])? == 1;
        Ok(Released(tells && **data))
    }
}

/// How many of a thousand checks a leak in one run of ten may pass. A hundred runs of the start go
/// alike with a probability of p = 0.9^100 + 0.1^100 < 2.7e-5, so that five or more of them pass
/// with one of at most (1000 p)^5 / 5! < 1.3e-10. With twelve runs, about 280 would.
const MOST_PASSES: usize = 4;

#[test]
fn a_leak_in_one_run_of_ten_passes_few_of_a_thousand_checks() {
    let p = 0.9_f64.powi(100) + 0.1_f64.powi(100);
    assert!(p < 2.7e-5 && (1000.0 * p).powi(5) / 120.0 < 1e-9);
    let pair = Pair::new(false, true);
    let passes = (0..1000).filter(|seed| {
        let leak = Sometimes::seeded(*seed);
        let verifier = Verifier::new(copies_of(&leak), &pair, vec![()], 1).threads(1);
        let verdict = verifier.check(&PureDp, &Epsilon::ZERO);
        verdict
            .map_err(|error| assert_eq!(error, VerifyError::Diverged))
            .is_ok()
    });
    assert!(passes.count() <= MOST_PASSES);
}

#[test]
fn views_let_a_leak_in_one_run_of_ten_pass_as_seldom() {
    let passes = (0..1000).filter(|seed| {
        let leak = copies_of(&Sometimes::seeded(*seed));
        let law = views(leak, &Arc::new(true), || Script::new([()]), 1);
        law.map_err(|error| assert_eq!(error, VerifyError::Diverged))
            .is_ok()
    });
    assert!(passes.count() <= MOST_PASSES);
}

/// Tells how often it answered each query.
#[derive(Clone)]
struct Asked(Arc<Mutex<Vec<u64>>>);

impl Mechanism<bool> for Asked {
    type Machine = Asked;
    fn start(&self, _: &Arc<bool>, _: &mut Coins<'_>) -> Result<Asked, Fault> {
        Ok(self.clone())
    }
}

impl Machine for Asked {
    type Query = usize;
    type Answer = ();
    fn step(&mut self, query: usize, _: &mut Coins<'_>) -> Result<(), Fault> {
        self.0.lock().unwrap()[query] += 1;
        Ok(())
    }
}

#[test]
fn the_first_64_steps_are_run_100_times_and_the_others_twice() {
    let pair = Pair::new(false, true);
    let asked = Asked(Arc::new(Mutex::new(vec![0; 40])));
    let verifier = Verifier::new(copies_of(&asked), &pair, (0..40).collect::<Vec<_>>(), 1);
    let worst = verifier.threads(1).difference().unwrap();
    // The start is a step on each of the two datasets, and so is each query: 62 of them are for the
    // first 31 queries.
    let runs = asked.0.lock().unwrap();
    let expected = [[200; 31].as_slice(), &[4; 9]].concat();
    assert_eq!(*runs, expected);
    assert_eq!(worst.scope.runs, 64 * 100 + 18 * 2);
}

#[test]
fn the_bounds_are_those_that_the_docs_state() {
    let stated = "limit: 2000000, memory: 1000000000, time: 60s";
    let verifier = Verifier::new(|| Coins40(1), &Pair::new(false, true), vec![()], 1);
    for bounds in [format!("{verifier:?}"), format!("{:?}", Limits::default())] {
        assert!(bounds.contains(stated), "{bounds}");
    }
}
