//! Data that is large enough to be read on several threads: nothing changes but the time.

use std::panic::panic_any;
use std::sync::{Arc, OnceLock};

use queryables::data::{Attribute, Predicate, Vector};
use queryables::machine::{CoinSource, NotPrivateSeededCoins, silence_guarded_panics};
use queryables::mechanisms::{
    AboveThreshold, ContinualCount, Count, Histogram, Lattice, Partition, RealRange,
    SampledGaussianSum, Sum, ThresholdHistogram, Variance, VectorSum,
};
use queryables::prelude::*;
use rayon::ThreadPoolBuilder;

/// Enough for several threads, and no multiple of anything.
const ROWS: u32 = 200_009;

fn text<T: std::str::FromStr<Err: std::fmt::Debug>>(text: &str) -> T {
    text.parse().unwrap()
}

/// Panics on one row in ten thousand.
fn lucky(row: u32) -> u32 {
    if row.is_multiple_of(10_007) {
        panic_any("an unlucky row");
    }
    row
}

/// Runs on one thread.
fn alone<T: Send>(code: impl FnOnce() -> T + Send) -> T {
    let pool = ThreadPoolBuilder::new().num_threads(1).build();
    pool.unwrap().install(code)
}

#[test]
fn answers_do_not_depend_on_the_number_of_threads() {
    silence_guarded_panics();
    let rows: Arc<Vec<u32>> = Arc::new(
        (0..ROWS)
            .map(|row| row.wrapping_mul(2_654_435_761))
            .collect(),
    );
    fn started<M>(mechanism: &M, rows: &Arc<Vec<u32>>) -> String
    where
        M: Mechanism<Vec<u32>, Machine: Machine<Query = (), Answer: std::fmt::Debug>>,
    {
        let mut coins = NotPrivateSeededCoins::new(11);
        let mut machine = mechanism.start(rows, &mut coins.coins()).unwrap();
        format!("{:?}", machine.step((), &mut coins.coins()))
    }
    macro_rules! same {
        ($mechanism:expr) => {{
            let mechanism = $mechanism.unwrap();
            let one = alone(|| started(&mechanism, &rows));
            assert!(one.starts_with("Ok"), "{one}");
            assert_eq!(
                started(&mechanism, &rows),
                one,
                "{}",
                stringify!($mechanism)
            );
        }};
    }
    let even = || Predicate::new("even", |row: &u32| lucky(*row).is_multiple_of(2));
    same!(Count::of(even()).laplace(epsilon!(1)));
    let whole = Attribute::new("itself", |row: &u32| i64::from(lucky(*row)));
    same!(Sum::of(whole, 0..=1 << 31).laplace(epsilon!(1)));
    let real = Attribute::new("itself", |row: &u32| f64::from(lucky(*row)) / 3.0);
    same!(Sum::of(real, RealRange::from(0.0..=1e9).with_step(-4)).laplace(epsilon!(1)));
    for bins in [100, 100_000] {
        let bin = Attribute::new("bin", move |row: &u32| lucky(*row) as usize % (bins + 1));
        same!(Histogram::of(Partition::numbered(bin, bins).unwrap()).laplace(epsilon!(1)));
    }
    let moment = Attribute::new("itself", |row: &u32| f64::from(lucky(*row)) / 3.0);
    let range = RealRange::from(0.0..=1e9).with_step(0);
    same!(Variance::of(moment, range).laplace(epsilon!(1)));
    let key = |row: &u32| lucky(*row) % 1000;
    let loss = EpsilonDelta::new("1", "1e-6").unwrap();
    same!(ThresholdHistogram::<Vec<u32>, u32>::new(
        AddRemove, "key", key, loss
    ));
    let lattice = Lattice::in_steps(-10, 1 << 10);
    for dimension in [1, 3, 20] {
        let vector = || {
            Vector::new("vector", |row: &u32, out: &mut [f64]| {
                let row = f64::from(lucky(*row));
                out.iter_mut()
                    .enumerate()
                    .for_each(|(at, out)| *out = row / (at as f64 + 1e9));
            })
        };
        same!(VectorSum::of(vector(), dimension, lattice).gaussian(rho!(1)));
        same!(SampledGaussianSum::new(
            AddRemove,
            vector(),
            dimension,
            lattice,
            text("0.5"),
            text("1")
        ));
    }
    let time = Attribute::new("time", |row: &u32| Some(u64::from(lucky(*row) % 64)));
    let count = ContinualCount::of(time, 64).laplace(epsilon!(1)).unwrap();
    let search = AboveThreshold::new(AddRemove, 1000, 1, text("1")).unwrap();
    let all_times = || {
        let mut coins = NotPrivateSeededCoins::new(5);
        let mut count = count.start(&rows, &mut coins.coins()).unwrap();
        let counts = [0, 1, 40].map(|time| count.step(time, &mut coins.coins()));
        let mut search = search.start(&rows, &mut coins.coins()).unwrap();
        (counts, search.step(even(), &mut coins.coins()))
    };
    assert_eq!(all_times(), alone(all_times));
}

/// Answers with the number of rows on which its own handle is busy.
struct AsksItself(Arc<OnceLock<Queryable<(), u64>>>);

impl Mechanism<Vec<u32>> for AsksItself {
    type Machine = Asking;

    fn start(&self, data: &Arc<Vec<u32>>, _: &mut Coins<'_>) -> Result<Asking, Fault> {
        let own = Arc::clone(&self.0);
        let busy =
            move |_: &u32| matches!(own.get().map(|own| own.ask(())), Some(Err(AskError::Busy)));
        Ok(Asking {
            busy: Predicate::new("busy", busy),
            data: Arc::clone(data),
        })
    }
}

struct Asking {
    busy: Predicate<Vec<u32>>,
    data: Arc<Vec<u32>>,
}

impl Machine for Asking {
    type Query = ();
    type Answer = u64;

    fn step(&mut self, (): (), _: &mut Coins<'_>) -> Result<u64, Fault> {
        Ok(self.busy.count(&self.data))
    }
}

/// On another thread it would otherwise wait for the very answer that waits for it.
#[test]
fn a_closure_on_any_thread_that_asks_its_own_handle_is_told_that_it_is_busy() {
    let own = Arc::new(OnceLock::new());
    let handle = start(
        &AsksItself(Arc::clone(&own)),
        Arc::new(vec![0; ROWS as usize]),
    )
    .unwrap();
    own.set(handle.clone()).unwrap();
    assert_eq!(handle.ask(()), Ok(ROWS.into()));
}

/// Tasks of a pool that ask the same handle: while one of them reads, its thread must not run
/// another, which would wait for the lock that this thread holds.
#[test]
fn tasks_of_a_pool_can_ask_one_handle() {
    let own = Arc::new(OnceLock::new());
    let handle = start(&AsksItself(own), Arc::new(vec![0; ROWS as usize])).unwrap();
    let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    pool.scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|_| assert_eq!(handle.ask(()), Ok(0)));
        }
    });
}
