//! What the verifier cannot see: each of these leaks, and passes. The docs of `verify` name them.

use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::support::*;
use queryables::machine::{
    ClosedForm, CoinSource, Coins, CoinsError, Fault, Inspect, Law, Machine, Mechanism,
    NotPrivateSeededCoins, Released, ReleasesOnly, StateKey,
};
use queryables::noise::DiscreteLaplace;
use queryables::number::Ratio;
use queryables::privacy::PureDp;
use queryables::verify::{Completeness, Menu, Pair, Rational, Value, Verifier, copies_of};

/// Answers with the data, under one condition.
#[derive(Clone)]
struct LeaksIf(fn(data: u8, query: u8, round: u8) -> bool);

#[derive(Clone)]
struct Leaking {
    leaks: fn(u8, u8, u8) -> bool,
    data: u8,
    round: u8,
}

impl Mechanism<u8> for LeaksIf {
    type Machine = Leaking;
    fn start(&self, data: &Arc<u8>, _: &mut Coins<'_>) -> Result<Leaking, Fault> {
        Ok(Leaking {
            leaks: self.0,
            data: **data,
            round: 0,
        })
    }
}

impl Machine for Leaking {
    type Query = u8;
    type Answer = u8;
    fn step(&mut self, query: u8, _: &mut Coins<'_>) -> Result<u8, Fault> {
        self.round += 1;
        let leaks = (self.leaks)(self.data, query, self.round);
        Ok(if leaks { self.data } else { 0 })
    }
}

fn passes(mechanism: &LeaksIf, pair: &Pair<u8>, menu: Vec<u8>, depth: usize) -> bool {
    let verdict = Verifier::new(copies_of(mechanism), pair, menu, depth)
        .check(&PureDp, &"0".parse().unwrap())
        .unwrap();
    verdict.holds()
}

#[test]
fn another_pair() {
    let leaks = LeaksIf(|data, _, _| data > 1);
    assert!(passes(&leaks, &Pair::new(0, 1), vec![0, 1], 3));
    assert!(!passes(&leaks, &Pair::new(1, 2), vec![0, 1], 3));
}

#[test]
fn another_query() {
    let leaks = LeaksIf(|_, query, _| query == 7);
    assert!(passes(&leaks, &Pair::new(0, 1), vec![0, 1], 3));
    assert!(!passes(&leaks, &Pair::new(0, 1), vec![0, 1, 7], 3));
}

#[test]
fn a_longer_conversation() {
    let leaks = LeaksIf(|_, _, round| round == 4);
    assert!(passes(&leaks, &Pair::new(0, 1), vec![0, 1], 3));
    assert!(!passes(&leaks, &Pair::new(0, 1), vec![0, 1], 4));
}

/// Tells the data to somebody else.
#[derive(Clone)]
struct Whisper;

static WHISPERED: AtomicBool = AtomicBool::new(false);

impl Mechanism<bool> for Whisper {
    type Machine = queryables::machine::Released<()>;
    fn start(&self, data: &Arc<bool>, _: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        WHISPERED.fetch_or(**data, Ordering::Relaxed);
        Ok(queryables::machine::Released(()))
    }
}

#[test]
fn other_ways_out() {
    let pair = Pair::new(false, true);
    Verifier::new(copies_of(&Whisper), &pair, vec![()], 2)
        .assert_private(&PureDp, &"0".parse().unwrap());
    assert!(WHISPERED.load(Ordering::Relaxed));
}

/// Leaks the second time, and forgets to show how often it was asked.
struct Sly(Leaking);

impl Machine for Sly {
    type Query = u8;
    type Answer = u8;
    fn step(&mut self, query: u8, coins: &mut Coins<'_>) -> Result<u8, Fault> {
        self.0.step(query, coins)
    }
}

impl Inspect for Sly {
    fn inspect(&self, key: &mut StateKey) {
        key.write(&self.0.data);
    }
}

#[derive(Clone)]
struct Lying;

impl Mechanism<u8> for Lying {
    type Machine = Sly;
    fn start(&self, data: &Arc<u8>, coins: &mut Coins<'_>) -> Result<Sly, Fault> {
        LeaksIf(|_, _, round| round == 2)
            .start(data, coins)
            .map(Sly)
    }
}

#[test]
fn a_state_that_is_not_shown() {
    let pair = Pair::new(0, 1);
    let by_state = Verifier::by_state(copies_of(&Lying), &pair, vec![0], 2);
    assert_eq!(exact(&by_state.worst_ratio().unwrap()), Rational::ONE);
    let opaque = Verifier::new(copies_of(&Lying), &pair, vec![0], 2);
    assert_eq!(opaque.worst_ratio().unwrap().value, Value::Infinite);
}

/// One query in the first round and another in the second, with a round that it does not hash.
struct SlyMenu;

#[derive(Clone)]
struct Round(u8);

impl Hash for Round {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

/// A query that prints as all others do. Those that print differently are noticed
/// (`a_menu_whose_order_varies_is_an_error`).
#[derive(Clone)]
struct Hushed(u8);

impl std::fmt::Debug for Hushed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Hushed")
    }
}

impl Menu<Hushed, u8> for SlyMenu {
    type State = Round;
    fn start(&self) -> Round {
        Round(0)
    }
    fn queries(&self, round: &Round) -> Vec<Hushed> {
        vec![Hushed(round.0)]
    }
    fn after(&self, round: &Round, _: &Hushed, _: &Result<u8, Fault>) -> Round {
        Round(round.0 + 1)
    }
}

/// Answers with the data to query 1.
#[derive(Clone, Hash)]
struct OnOne(u8);

impl Mechanism<u8> for OnOne {
    type Machine = OnOne;
    fn start(&self, data: &Arc<u8>, _: &mut Coins<'_>) -> Result<OnOne, Fault> {
        Ok(OnOne(**data))
    }
}

impl Machine for OnOne {
    type Query = Hushed;
    type Answer = u8;
    fn step(&mut self, query: Hushed, _: &mut Coins<'_>) -> Result<u8, Fault> {
        Ok(if query.0 == 1 { self.0 } else { 0 })
    }
}

#[test]
fn a_menu_that_is_not_hashed() {
    let pair = Pair::new(0, 1);
    let by_state = Verifier::by_state(copies_of(&OnOne(0)), &pair, SlyMenu, 2);
    assert_eq!(exact(&by_state.worst_ratio().unwrap()), Rational::ONE);
    let opaque = Verifier::new(copies_of(&OnOne(0)), &pair, SlyMenu, 2);
    assert_eq!(opaque.worst_ratio().unwrap().value, Value::Infinite);
}

/// Tells the bit in one life of a million.
struct Rarely;

static LIVES: AtomicU64 = AtomicU64::new(1);

impl Mechanism<bool> for Rarely {
    type Machine = Released<bool>;
    fn start(&self, data: &Arc<bool>, _: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        let life = LIVES.fetch_add(1, Ordering::Relaxed);
        Ok(Released(**data && life.is_multiple_of(1_000_000)))
    }
}

#[test]
fn randomness_outside_the_machine_that_seldom_shows() {
    let pair = Pair::new(false, true);
    let verifier = Verifier::new(|| Rarely, &pair, vec![()], 2);
    verifier.assert_private(&PureDp, &"0".parse().unwrap());
}

/// Tells the bit in every tenth run that comes to one place: the number of runs stands for
/// randomness from elsewhere.
#[derive(Clone)]
struct OneInTen {
    /// How many paths of coins an answer has.
    paths: usize,
    /// Whether this is the place, by what was asked and the path.
    place: fn(&[u8], u64) -> bool,
    runs: Arc<AtomicU64>,
}

struct OneInTenMachine {
    mechanism: OneInTen,
    bit: bool,
    asked: Vec<u8>,
}

impl Mechanism<bool> for OneInTen {
    type Machine = OneInTenMachine;
    fn start(&self, data: &Arc<bool>, _: &mut Coins<'_>) -> Result<OneInTenMachine, Fault> {
        Ok(OneInTenMachine {
            mechanism: self.clone(),
            bit: **data,
            asked: Vec::new(),
        })
    }
}

impl Machine for OneInTenMachine {
    type Query = u8;
    type Answer = bool;
    fn step(&mut self, query: u8, coins: &mut Coins<'_>) -> Result<bool, Fault> {
        self.asked.push(query);
        let path = coins.weighted(&vec![1; self.mechanism.paths])?;
        if !self.bit || !(self.mechanism.place)(&self.asked, path as u64) {
            return Ok(false);
        }
        let run = self.mechanism.runs.fetch_add(1, Ordering::Relaxed) + 1;
        Ok(run.is_multiple_of(10))
    }
}

impl OneInTen {
    fn passes(&self, menu: Vec<u8>, depth: usize) -> bool {
        let pair = Pair::new(false, true);
        let verifier = Verifier::new(copies_of(self), &pair, menu, depth).threads(1);
        let verdict = verifier.check(&PureDp, &"0".parse().unwrap());
        verdict.unwrap().holds()
    }

    /// Whether it tells the bit in some of many runs with these queries.
    fn tells(&self, queries: &[u8]) -> bool {
        (0..10_000).any(|seed| {
            let mut coins = NotPrivateSeededCoins::new(seed);
            let mut machine = self.start(&Arc::new(true), &mut coins.coins()).unwrap();
            let mut told = queries.iter().map(|q| machine.step(*q, &mut coins.coins()));
            told.any(|answer| answer == Ok(true))
        })
    }
}

#[test]
fn randomness_outside_the_machine_in_a_late_step() {
    let late = OneInTen {
        paths: 1,
        place: |asked, _| asked == [4, 4, 4],
        runs: Arc::default(),
    };
    assert!(late.passes(vec![0, 1, 2, 3, 4], 3));
    assert!(late.tells(&[4, 4, 4]));
}

#[test]
fn randomness_outside_the_machine_on_one_path() {
    let on_one = OneInTen {
        paths: 100,
        place: |_, path| path == 99,
        runs: Arc::default(),
    };
    assert!(on_one.passes(vec![0], 1));
    assert!(on_one.tells(&[0]));
}

/// Remembers the data of its first life for all its lives.
struct Remembering;

static FIRST: OnceLock<bool> = OnceLock::new();

impl Mechanism<bool> for Remembering {
    type Machine = Released<bool>;
    fn start(&self, data: &Arc<bool>, _: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        Ok(Released(*FIRST.get_or_init(|| **data)))
    }
}

#[test]
fn a_memory_that_outlives_the_factory() {
    let pair = Pair::new(false, true);
    let verifier = Verifier::new(|| Remembering, &pair, vec![()], 2);
    verifier.assert_private(&PureDp, &"0".parse().unwrap());
}

/// Claims to be a fair coin, and always lands on the same side.
#[derive(Debug)]
struct Loaded;

impl Law for Loaded {
    fn sample(&self, _: &mut dyn CoinSource) -> Result<i128, CoinsError> {
        Ok(0)
    }
    fn closed_form(&self) -> ClosedForm {
        ClosedForm::Weights(vec![1, 1])
    }
}

/// Hides the bit behind a coin.
#[derive(Clone)]
struct Masked;

impl Mechanism<bool> for Masked {
    type Machine = Released<bool>;
    fn start(&self, data: &Arc<bool>, coins: &mut Coins<'_>) -> Result<Released<bool>, Fault> {
        Ok(Released(**data ^ (coins.draw(&Loaded)? == 1)))
    }
}

#[test]
fn a_law_that_is_not_sampled() {
    let pair = Pair::new(false, true);
    Verifier::new(copies_of(&Masked), &pair, vec![()], 1)
        .assert_private(&PureDp, &"0".parse().unwrap());
    // In production it tells the bit, whatever the coins.
    for (seed, bit) in [(1, false), (2, true), (3, false), (4, true)] {
        let mut coins = NotPrivateSeededCoins::new(seed);
        let mut machine = Masked.start(&Arc::new(bit), &mut coins.coins()).unwrap();
        assert_eq!(machine.step((), &mut coins.coins()), Ok(bit));
    }
}

/// Tosses until heads, and answers with the number of tosses, plus the bit.
#[derive(Debug)]
struct UntilHeads;

impl Law for UntilHeads {
    fn sample(&self, coins: &mut dyn CoinSource) -> Result<i128, CoinsError> {
        let mut tosses = 1;
        while coins.weighted(&[1, 1])? == 0 {
            tosses += 1;
        }
        Ok(tosses)
    }
}

#[derive(Clone)]
struct Tossing;

impl Mechanism<bool> for Tossing {
    type Machine = queryables::machine::Released<i128>;
    fn start(&self, data: &Arc<bool>, coins: &mut Coins<'_>) -> Result<Self::Machine, Fault> {
        let tosses = coins.draw(&UntilHeads)?;
        Ok(queryables::machine::Released(tosses + i128::from(**data)))
    }
}

#[test]
fn ratios_beyond_a_cut() {
    let pair = Pair::new(true, false);
    let verifier = Verifier::new(copies_of(&Tossing), &pair, vec![()], 1).cut(ratio(1, 1000));
    // The ratio is 2 wherever both are possible, but unknown beyond the cut.
    assert_eq!(
        verifier.worst_ratio().unwrap().value,
        Value::AtLeast(Rational::ZERO)
    );
    // δ at e^ε = 2 is exactly 1/2, from the one answer that one side cannot give.
    let worst = verifier.worst_delta(ratio(2, 1)).unwrap();
    let (low, high) = (worst.value.low().unwrap(), worst.value.high().unwrap());
    assert!(*low <= ratio(1, 2) && *high >= ratio(1, 2), "{worst}");
    assert!(high - low < ratio(1, 200), "{worst}");
    let Completeness::Truncated { mass } = worst.completeness else {
        panic!("something was cut");
    };
    // 2^-10 is the first below a thousandth.
    assert_eq!(mass, ratio(1, 1024));
}

/// A count that is revealed where the noise is far out, by code that promises to only say what it
/// releases.
#[derive(Clone)]
struct Promising;

impl Mechanism<bool> for Promising {
    type Machine = Released<i128>;

    fn start(&self, data: &Arc<bool>, coins: &mut Coins<'_>) -> Result<Released<i128>, Fault> {
        let law = DiscreteLaplace::new(Ratio::from(1)).map_err(|_| Fault::Failed)?;
        let noise = coins.noise(&law)?;
        let truth = i128::from(**data);
        let noisy = coins.release(truth, noise);
        Ok(Released(if noisy < 1000 { noisy } else { truth }))
    }
}

impl ReleasesOnly for Promising {}

#[test]
fn a_promise_that_is_broken() {
    let pair = Pair::new(true, false);
    let verifier = Verifier::new(copies_of(&Promising), &pair, vec![()], 1).releases_only();
    // It passes, and is private with no ε: 1000 is released as 1 or 0.
    verifier.assert_private(&PureDp, &"1".parse().unwrap());
}

/// A bit that equals every other.
#[derive(Clone, Debug)]
struct Coarse(bool);

impl PartialEq for Coarse {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Coarse {}

impl Hash for Coarse {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

/// Tells the bit in such an answer.
#[derive(Clone)]
struct TellsCoarsely;

impl Mechanism<bool> for TellsCoarsely {
    type Machine = Released<Coarse>;

    fn start(&self, data: &Arc<bool>, _: &mut Coins<'_>) -> Result<Released<Coarse>, Fault> {
        Ok(Released(Coarse(**data)))
    }
}

#[test]
fn answers_that_compare_equal() {
    let pair = Pair::new(false, true);
    let verifier = Verifier::new(copies_of(&TellsCoarsely), &pair, vec![()], 1);
    // It passes, and whoever reads the field knows the bit.
    verifier.assert_private(&PureDp, &"0".parse().unwrap());
    let told = [false, true].map(|bit| {
        let mut coins = NotPrivateSeededCoins::new(0);
        let told = TellsCoarsely.start(&Arc::new(bit), &mut coins.coins());
        told.unwrap().0.0
    });
    assert_eq!(told, [false, true]);
}
