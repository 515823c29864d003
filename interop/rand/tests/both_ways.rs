//! Coins from a generator, and a generator from coins.

use std::fmt;
use std::num::NonZeroU64;
use std::sync::Arc;

use queryables::data::{Attribute, Predicate};
use queryables::machine::{
    CoinSource, Coins, CoinsError, Fault, Mechanism, NotPrivateSeededCoins, Recorder, Released,
    Replay,
};
use queryables::mechanisms::{Count, NoisyCount, Sum};
use queryables::prelude::*;
use queryables::verify::{Pair, Verifier, VerifyError, copies_of};
use queryables_rand::{CoinsRng, RngCoins, with_rng};
use rand::RngExt;
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng, TryCryptoRng, TryRng};
use rand_distr::{Distribution, LogNormal};

#[test]
fn coins_from_a_generator_are_those_that_the_crate_makes_of_it() {
    let mut coins = RngCoins::new(ChaCha20Rng::seed_from_u64(2026));
    let mut ours = NotPrivateSeededCoins::new(2026);
    for below in [1, 2, 6, 1000, 1 << 32, (1 << 63) + 1, u64::MAX] {
        let below = NonZeroU64::new(below).unwrap();
        for _ in 0..20 {
            assert_eq!(coins.uniform(below), ours.uniform(below), "{below}");
        }
    }
    assert_eq!(coins.weighted(&[3, 1]), ours.weighted(&[3, 1]));
    assert_eq!(coins.word(), ours.word());
    assert_eq!(format!("{coins:?}"), "RngCoins");
}

/// Gives a number of words, and then no more.
struct RunsDry(u32);

#[derive(Debug)]
struct Dry;

impl fmt::Display for Dry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("dry")
    }
}

impl std::error::Error for Dry {}

impl TryRng for RunsDry {
    type Error = Dry;

    fn try_next_u32(&mut self) -> Result<u32, Dry> {
        self.try_next_u64().map(|word| word as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Dry> {
        self.0 = self.0.checked_sub(1).ok_or(Dry)?;
        Ok(0x0123_4567_89ab_cdef)
    }

    fn try_fill_bytes(&mut self, _: &mut [u8]) -> Result<(), Dry> {
        Err(Dry)
    }
}

impl TryCryptoRng for RunsDry {}

#[test]
fn nothing_is_released_by_a_generator_that_fails() {
    let mut coins = RngCoins::new(RunsDry(1));
    assert_eq!(coins.uniform(NonZeroU64::MIN), Ok(0));
    assert_eq!(coins.uniform(NonZeroU64::MIN), Err(CoinsError::NoEntropy));
    let all = Predicate::new("all", |_: &u8| true);
    let count: NoisyCount<Vec<u8>> = Count::of(all).laplace(epsilon!(1)).unwrap();
    assert_eq!(
        count.start(&Arc::new(vec![7]), &mut coins.coins()),
        Err(Fault::Failed)
    );
}

#[test]
fn a_generator_from_coins_gives_their_words() {
    let mut source = NotPrivateSeededCoins::new(5);
    let mut words = ChaCha20Rng::seed_from_u64(5);
    let mut coins = source.coins();
    let mut generator = CoinsRng::new(&mut coins);
    assert_eq!(generator.try_next_u64(), Ok(words.next_u64()));
    assert_eq!(
        generator.try_next_u32(),
        Ok((words.next_u64() >> 32) as u32)
    );
    let mut bytes = [0; 11];
    generator.try_fill_bytes(&mut bytes).unwrap();
    assert_eq!(bytes[..8], words.next_u64().to_le_bytes());
    assert_eq!(bytes[8..], words.next_u64().to_le_bytes()[..3]);
    assert_eq!(format!("{generator:?}"), "CoinsRng");
}

#[test]
fn what_a_sampler_drew_can_be_replayed_and_ends_with_the_tape() {
    let draw = |coins: &mut Coins<'_>| with_rng(coins, |rng| rng.random_range(0..1000_u32));
    let mut recorder = Recorder::new(NotPrivateSeededCoins::new(5));
    let drawn = draw(&mut recorder.coins()).unwrap();
    let tape = recorder.into_tape();
    assert_eq!(draw(&mut Replay::of(tape.clone()).coins()), Ok(drawn));
    assert_eq!(
        draw(&mut Replay::of(tape.into_iter().take(1)).coins()),
        Err(Fault::Failed)
    );
}

/// A fair coin, by a sampler of another library.
#[derive(Clone)]
struct FairCoin;

impl Mechanism<bool> for FairCoin {
    type Machine = Released<bool>;

    fn start(&self, data: &Arc<bool>, coins: &mut Coins<'_>) -> Result<Released<bool>, Fault> {
        let lie = with_rng(coins, |rng| rng.random_bool(0.5))?;
        Ok(Released(**data ^ lie))
    }
}

#[test]
fn the_verifier_refuses_raw_words_and_says_why() {
    let pair = Pair::new(false, true);
    let verifier = Verifier::new(copies_of(&FairCoin), &pair, vec![()], 1);
    let refused = verifier.check(&PureDp, &"0".parse().unwrap()).unwrap_err();
    assert_eq!(refused, VerifyError::RawWord);
    let message = refused.to_string();
    for part in [
        "2^64 values",
        "floating-point",
        "`uniform`, `weighted` or a `Law`",
        "audit",
    ] {
        assert!(message.contains(part), "{part} is missing in {message}");
    }
}

/// Simulated incomes: `rand_distr` makes the data, and the crate protects it.
#[test]
fn simulated_data_comes_from_the_ecosystem_and_noise_does_not() {
    let incomes = LogNormal::new(10.0, 0.5).unwrap();
    let mut source = NotPrivateSeededCoins::new(11);
    let incomes: Vec<f64> = with_rng(&mut source.coins(), |rng| {
        incomes.sample_iter(rng).take(5000).collect()
    })
    .unwrap();
    let truth: f64 = incomes.iter().map(|income| income.min(1e5)).sum();
    let filter = start(
        &Filter::concurrent(PureDp, "1".parse().unwrap()),
        Arc::new(incomes),
    )
    .unwrap();
    let income = Attribute::new("income", |income: &f64| *income);
    let sum = Sum::of(income, 0.0..=1e5).laplace(epsilon!(1)).unwrap();
    let answer = filter.release(&sum).unwrap();
    // Farther than 25 scales with probability below e^-25 < 2e-11; rounding toward zero takes less
    // than 1 from each.
    assert!(
        (answer - truth).abs() < 25.0 * 1e5 + 5000.0,
        "{answer} {truth}"
    );
}
