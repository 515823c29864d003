//! Does one thing n times: `instructions OPERATION TIMES`.

use std::hint::black_box;
use std::num::NonZeroU64;
use std::process::ExitCode;
use std::sync::Arc;

use queryables::data::Predicate;
use queryables::ledger::{Ledger, MemoryStore};
use queryables::machine::{CoinSource, CoinsError, Law, SystemCoins};
use queryables::mechanisms::Count;
use queryables::noise::{DiscreteGaussian, DiscreteLaplace};
use queryables::number::Ratio;
use queryables::prelude::*;
use queryables::privacy::Relation;

/// A mechanism that computes nothing.
#[derive(Clone)]
struct Constant(Epsilon);

impl<D: ?Sized> Mechanism<D> for Constant {
    type Machine = Released<bool>;

    fn start(&self, _: &Arc<D>, _: &mut Coins<'_>) -> Result<Released<bool>, Fault> {
        Ok(Released(true))
    }
}

impl<R: Relation> Private<PureDp, R> for Constant {
    fn loss(&self, _: &PureDp) -> Result<Epsilon, UnknownLoss> {
        Ok(self.0)
    }
}

/// Coins that cost next to nothing and are the same each time (Steele, Lea and Flood 2014): what
/// a stream cipher costs depends on the processor.
struct CheapCoins(u64);

impl CoinSource for CheapCoins {
    fn uniform(&mut self, below: NonZeroU64) -> Result<u64, CoinsError> {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let word = mixed ^ (mixed >> 31);
        Ok(word.carrying_mul(below.get(), 0).1)
    }

    fn draw(&mut self, law: &dyn Law) -> Result<i128, CoinsError> {
        law.sample(self)
    }
}

fn repeat<T>(times: u64, mut operation: impl FnMut() -> T) {
    for _ in 0..times {
        black_box(operation());
    }
}

fn run(operation: &str, times: u64) -> Result<(), Box<dyn std::error::Error>> {
    let constant = Constant("0.0000001".parse()?);
    let data = Arc::new(Vec::<bool>::new());
    let filter = start(
        &Filter::concurrent(PureDp, "1e9".parse()?),
        Arc::clone(&data),
    )?;
    let silent = Ledger::on(MemoryStore::without_record(), "nothing")?;
    let budget = Filter::concurrent(PureDp, "1e9".parse()?);
    let party = silent.start("census", &budget, &data)?.party("Ana");
    let odometer = start(&Odometer::concurrent(PureDp), Arc::clone(&data))?;
    let child = filter.launch(&constant)?;
    let count = Count::of(Predicate::new("all", |_: &bool| true)).laplace(epsilon!(0.1))?;
    let laplace = DiscreteLaplace::new(Ratio::from(10))?;
    let gaussian = DiscreteGaussian::new(Ratio::from(100))?;
    let mut coins = CheapCoins(1);
    // The machine takes coins, and does at a launch what the handle does but for the lock.
    let machine = Filter::concurrent(PureDp, "1e9".parse()?);
    let mut machine = machine.start(&data, &mut coins.coins())?;
    match operation {
        "filter_release" => repeat(times, || filter.release(&constant)),
        "ledger_release" => repeat(times, || party.release(&constant)),
        "odometer_release" => repeat(times, || odometer.release(&constant)),
        "interactive_launch" => repeat(times, || filter.launch(&constant)),
        "ask" => repeat(times, || child.ask(())),
        "privacy_loss" => repeat(times, || filter.privacy_loss()),
        "noisy_count" => repeat(times, || machine.release(&count, &mut coins.coins())),
        "laplace_draw" => repeat(times, || coins.draw(&laplace)),
        "gaussian_draw" => repeat(times, || coins.draw(&gaussian)),
        "seed" => repeat(times, || SystemCoins::new().uniform(NonZeroU64::MIN)),
        _ => return Err("no such operation".into()),
    }
    Ok(())
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [operation, times] = &arguments[..] else {
        eprintln!("instructions OPERATION TIMES");
        return ExitCode::FAILURE;
    };
    let times = times.parse().map_err(Into::into);
    match times.and_then(|times| run(operation, times)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{operation}: {error}");
            ExitCode::FAILURE
        }
    }
}
