//! Third-party code that reads records: what it may do, and that nobody sees its panics.

use std::panic::{self, panic_any};
use std::process::Command;
use std::sync::{Arc, Mutex};

use queryables::account::{Accumulator, DefaultAccumulator};
use queryables::compose::Parallel;
use queryables::data::{Attribute, Dataset, Predicate, Select, Value, Vector};
use queryables::machine::{CoinSource, NotPrivateSeededCoins, silence_guarded_panics};
use queryables::mechanisms::{
    AboveThreshold, Choice, ContinualCount, Count, CountScores, ExponentialMechanism,
    GaussianThresholdHistogram, Histogram, Lattice, MultiplicativeWeights, NoisyMax,
    NoisyMaxWithMargin, NoisyQuantiles, Partition, PermuteAndFlip, Priced, QueryAnswerer,
    RealRange, SampledGaussianSum, Sum, ThresholdHistogram, TopK, VectorSum,
};
use queryables::number::{Mu, Rho};
use queryables::prelude::*;
use queryables::privacy::RhoDelta;

/// How many records a pass reads under one guard: tests cross the border between two of these.
const CHUNK: usize = 1024;

/// A payload that panics when it is dropped, as does what that throws.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic_any(Bomb);
    }
}

/// On this row every closure panics; on the next one it returns the value of an unreadable record.
const UNLUCKY: u8 = 7;
const PLAIN: u8 = 8;

fn read<T: Value>(row: u8, value: T) -> T {
    match row {
        UNLUCKY => panic_any(Bomb),
        PLAIN => T::UNREADABLE,
        _ => value,
    }
}

fn attribute<T: Value>(value: fn(u8) -> T) -> Attribute<Vec<u8>, T> {
    Attribute::new("value", move |row: &u8| read(*row, value(*row)))
}

fn ones() -> Predicate<Vec<u8>> {
    attribute(|row| row == 1)
}

fn vector() -> Vector<Vec<u8>> {
    Vector::new("vector", |row: &u8, out: &mut [f64]| match *row {
        PLAIN => {}
        row => {
            // Half written when it panics.
            out[0] = f64::from(row);
            read(row, false);
            out[1] = 1.0;
        }
    })
}

/// More than two chunks, with many unlucky rows, some at the ends of chunks; and the same with
/// plain rows instead.
fn data() -> [Arc<Vec<u8>>; 2] {
    let rows = 2 * CHUNK + 100;
    let unlucky = |index: usize| index.is_multiple_of(3) || index % CHUNK >= CHUNK - 2;
    [UNLUCKY, PLAIN].map(|instead| {
        let row = |index: usize| match unlucky(index) {
            true => instead,
            false => (index % 5) as u8,
        };
        Arc::new((0..rows).map(row).collect())
    })
}

const LATTICE: Lattice = Lattice::in_steps(-5, 80);

fn text<T: std::str::FromStr<Err: std::fmt::Debug>>(text: &str) -> T {
    text.parse().unwrap()
}

/// Every mechanism with a closure that meets records, started on both datasets with the same coins
/// and asked the same: the answers are the same.
#[test]
fn a_panic_on_a_record_is_as_if_it_had_nothing() {
    silence_guarded_panics();
    let mut compared = 0;
    macro_rules! same {
        ($mechanism:expr $(, $query:expr)*) => {{
            let mechanism = $mechanism;
            let [one, other] = data().map(|data| {
                let mut coins = NotPrivateSeededCoins::new(11);
                #[allow(unused_mut)]
                let mut machine = mechanism.start(&data, &mut coins.coins()).unwrap();
                // What was released is a machine too.
                let mut answers = vec![];
                $(answers.push(format!("{:?}", machine.step($query, &mut coins.coins())));)*
                answers
            });
            assert!(!one.is_empty() && one.iter().all(|answer| answer.starts_with("Ok")), "{one:?}");
            assert_eq!(one, other, "{}", stringify!($mechanism));
            compared += 1;
        }};
    }
    let epsilon: Epsilon = text("1");
    let (rho, mu) = (text::<Rho>("1"), text::<Mu>("1"));
    same!(Count::of(ones()).laplace(epsilon).unwrap(), ());
    same!(Count::of(ones()).gaussian(rho).unwrap(), ());
    let whole = || attribute(i64::from);
    same!(Sum::of(whole(), -3..=3).laplace(epsilon).unwrap(), ());
    // Where zero is outside the range, it counts as the nearest number.
    same!(
        Sum::of(whole(), 2..=3)
            .under(Replace)
            .laplace(epsilon)
            .unwrap(),
        ()
    );
    let real = || attribute(|row| f64::from(row) / 3.0);
    same!(
        Sum::of(real(), RealRange::from(0.0..=1.0).with_step(-8))
            .laplace(epsilon)
            .unwrap(),
        ()
    );
    let sum = VectorSum::of(vector(), 2, LATTICE).gaussian(rho).unwrap();
    same!(sum, ());
    let sum = SampledGaussianSum::new(AddRemove, vector(), 2, LATTICE, text("0.5"), mu).unwrap();
    same!(sum, ());
    let bin = || attribute(usize::from);
    same!(
        Histogram::of(Partition::numbered(bin(), 4).unwrap())
            .laplace(epsilon)
            .unwrap(),
        ()
    );
    same!(
        Histogram::of(Partition::numbered(bin(), 2 * CHUNK).unwrap())
            .laplace(epsilon)
            .unwrap(),
        ()
    );
    let key = |row: &u8| read(*row, usize::from(*row));
    let keys = Partition::by_key("key", key, 0..4).unwrap();
    same!(Histogram::of(keys).laplace(epsilon).unwrap(), ());
    // Here a map is printed, whose order is random: of one key only.
    let keys = Partition::by_hash("key", key, [2]).unwrap();
    same!(Histogram::of(keys).gaussian(rho).unwrap(), ());
    let key = |row: &u8| (*row != PLAIN).then(|| read(*row, usize::from(*row)));
    let loss = EpsilonDelta::new("1", "0.1").unwrap();
    let histogram = ThresholdHistogram::new(AddRemove, "key", key, loss);
    same!(histogram.unwrap(), ());
    let loss = RhoDelta::new("1", "0.1").unwrap();
    let histogram = GaussianThresholdHistogram::new(Replace, "key", key, loss);
    same!(histogram.unwrap(), ());
    let quantiles = NoisyQuantiles::new(AddRemove, whole(), -3..=3, [(1, 2)], text("0.01"));
    same!(quantiles.unwrap(), ());
    let candidates = || {
        [0, 1, 2]
            .map(|value| Predicate::<Vec<u8>>::new("value", move |row| read(*row, *row == value)))
    };
    same!(
        Choice::by(
            AddRemove,
            NoisyMax,
            CountScores::of(candidates()),
            text("0.01")
        )
        .unwrap(),
        ()
    );
    same!(
        Choice::by(
            AddRemove,
            ExponentialMechanism,
            CountScores::of(candidates()),
            text("0.01")
        )
        .unwrap(),
        ()
    );
    same!(
        Choice::by(
            AddRemove,
            PermuteAndFlip,
            CountScores::of(candidates()),
            text("0.01")
        )
        .unwrap(),
        ()
    );
    same!(
        Choice::by(
            AddRemove,
            TopK(2),
            CountScores::of(candidates()),
            text("0.01")
        )
        .unwrap(),
        ()
    );
    let scores = CountScores::of(candidates());
    let max = Choice::by(AddRemove, NoisyMaxWithMargin, scores, text("0.01")).unwrap();
    same!(max, ());
    let time = || attribute(|row| Some(u64::from(row)));
    same!(
        ContinualCount::of(time(), 5).laplace(epsilon).unwrap(),
        1,
        3,
        5
    );
    same!(
        ContinualCount::of(time(), 5).gaussian(rho).unwrap(),
        1,
        3,
        5
    );
    let search = || AboveThreshold::new(AddRemove, 200, 2, epsilon).unwrap();
    same!(search(), ones(), ones());
    same!(search().with_counts(epsilon).unwrap(), ones(), ones());
    // The domain is public, and may have an unlucky row, too.
    let weights = MultiplicativeWeights::new(Vec::from_iter(0..9), 2000, 100, 9, epsilon);
    same!(weights.unwrap(), ones(), ones());
    let answerer = QueryAnswerer::new(PureDp.accumulator().capped(text("9")));
    same!(
        answerer,
        Priced::new(ones(), epsilon),
        Priced::new(ones(), epsilon)
    );
    assert_eq!(compared, 25);
}

/// Keys, their comparison and their drop are all third-party code.
#[derive(Clone, PartialEq, Eq)]
struct Key(u8);

impl Ord for Key {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        assert!(self.0 != 3 && other.0 != 3, "it does not compare");
        self.0.cmp(&other.0)
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        if self.0 == 4 {
            panic_any(Bomb);
        }
    }
}

#[test]
fn a_key_that_panics_puts_its_record_in_no_part() {
    silence_guarded_panics();
    let filters = [1, 2].map(|key| (Key(key), Filter::concurrent(PureDp, text("1e6"))));
    let by_key =
        Parallel::new(|row: &u8| Key(read(*row, usize::from(*row)) as u8), filters).unwrap();
    for data in data() {
        let filter = start(&Filter::concurrent(PureDp, text("1e6")), Arc::clone(&data)).unwrap();
        let parts = filter.launch(&by_key).unwrap();
        assert_eq!(filter.privacy_loss(), text("1e6"));
        for key in [1, 2] {
            let all = Predicate::new("all", |_: &u8| true);
            // With an ε of a million the noise is negligible.
            let count = Count::of(all).laplace(epsilon!(1e6)).unwrap();
            let expected = data.iter().filter(|row| **row == key).count();
            assert_eq!(
                parts.part(&Key(key)).unwrap().release(&count),
                Ok(expected as i64)
            );
        }
    }
}

/// What an analyst sees of a filter: answers, errors, what is spent.
#[test]
fn an_analyst_sees_nothing_of_a_panic() {
    silence_guarded_panics();
    for data in data() {
        let filter = start(&Filter::concurrent(PureDp, text("1")), data).unwrap();
        let count = Count::of(ones()).laplace(epsilon!(0.25)).unwrap();
        assert!(filter.release(&count).is_ok());
        let search = AboveThreshold::new(AddRemove, 1_000_000, 1, text("0.5")).unwrap();
        let search = filter.launch(&search).unwrap();
        assert_eq!(
            [(); 3].map(|()| search.ask(ones())),
            [const { Ok(false) }; 3]
        );
        assert_eq!((filter.launched(), filter.remaining()), (2, text("0.25")));
    }
}

/// An infinite number or NaN is as if the record had nothing.
#[test]
fn a_number_that_is_none_is_zero() {
    let rows = |odd: f64| Arc::new(vec![1.0, odd, 0.5]);
    let itself = || Attribute::new("itself", |row: &f64| *row);
    let twice = || Vector::new("twice", |row: &f64, out: &mut [f64]| out.fill(*row));
    let sum = Sum::of(itself(), RealRange::from(0.0..=1.0).with_step(-8))
        .laplace(epsilon!(1e6))
        .unwrap();
    let vectors = VectorSum::of(twice(), 2, LATTICE)
        .gaussian(rho!(1e9))
        .unwrap();
    for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0] {
        let mut coins = NotPrivateSeededCoins::new(3);
        let Released(answer) = sum.start(&rows(odd), &mut coins.coins()).unwrap();
        assert_eq!(answer, 1.5, "{odd}");
        let Released(answer) = vectors.start(&rows(odd), &mut coins.coins()).unwrap();
        assert_eq!(answer, [1.5, 1.5], "{odd}");
    }
}

/// Columns: the same answers as for rows, whichever way they are gone through, and in parts.
#[test]
fn columns_are_read_like_rows() {
    struct Columns {
        age: Vec<u8>,
        name: Vec<String>,
    }

    struct Row<'a> {
        age: u8,
        name: &'a str,
    }

    impl Dataset for Columns {
        type Record<'a> = Row<'a>;

        fn len(&self) -> usize {
            self.age.len()
        }

        fn at(&self, index: usize) -> Row<'_> {
            Row {
                age: self.age[index],
                name: &self.name[index],
            }
        }
    }

    impl Select for Columns {
        fn select(&self, indices: &[usize]) -> Arc<Self> {
            Arc::new(Self {
                age: indices.iter().map(|index| self.age[*index]).collect(),
                name: indices
                    .iter()
                    .map(|index| self.name[*index].clone())
                    .collect(),
            })
        }
    }

    let age: Vec<u8> = (0..3000_u32).map(|person| (person % 90) as u8).collect();
    let name: Vec<String> = age.iter().map(|age| format!("{age}")).collect();
    let columns = Columns {
        age: age.clone(),
        name,
    };
    let young = Predicate::new("young", |row: Row<'_>| row.age < 18 && row.name.len() == 2);
    let expected = age.iter().filter(|age| (10..18).contains(*age)).count();
    assert_eq!(young.count(&columns), expected as u64);

    let by_parity = Parallel::new(
        |row: Row<'_>| row.age % 2,
        [0, 1].map(|parity| (parity, Filter::concurrent(PureDp, text("1e6")))),
    )
    .unwrap();
    let filter = start(&Filter::concurrent(PureDp, text("1e6")), Arc::new(columns)).unwrap();
    let parts = filter.launch(&by_parity).unwrap();
    // The same predicate on a part.
    let count = Count::of(young).laplace(epsilon!(1e6)).unwrap();
    let odd = age
        .iter()
        .filter(|age| (10..18).contains(*age) && **age % 2 == 1)
        .count();
    assert_eq!(parts.part(&1).unwrap().release(&count), Ok(odd as i64));
}

/// What no library can prevent: a predicate is code in the same process. See the threat model.
#[test]
fn a_predicate_that_stores_the_rows_has_them_all() {
    let secret: Vec<u32> = (0..100).map(|person| person * person).collect();
    let filter = start(
        &Filter::concurrent(PureDp, text("1")),
        Arc::new(secret.clone()),
    )
    .unwrap();
    let stolen = Arc::new(Mutex::new(vec![]));
    let thief = Predicate::new("innocent", {
        let stolen = Arc::clone(&stolen);
        move |row: &u32| {
            stolen.lock().unwrap().push(*row);
            true
        }
    });
    filter
        .release(&Count::of(thief).laplace(epsilon!(1e-9)).unwrap())
        .unwrap();
    assert_eq!(*stolen.lock().unwrap(), secret);
    assert_eq!(filter.privacy_loss(), text("1e-9"));
}

const CHILD: &str = "QUERYABLES_SILENT_HOOK_CHILD";

/// In a process of its own: hooks belong to the whole process.
#[test]
fn a_silent_hook_says_nothing_of_guarded_code_and_passes_on_the_rest() {
    if std::env::var_os(CHILD).is_some() {
        return in_the_child();
    }
    let name = "records::a_silent_hook_says_nothing_of_guarded_code_and_passes_on_the_rest";
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env(CHILD, "1")
        .output()
        .unwrap();
    assert!(output.status.success());
    let said = String::from_utf8(output.stderr).unwrap();
    let heard: Vec<&str> = said
        .lines()
        .filter(|line| line.starts_with("heard"))
        .collect();
    assert_eq!(heard, ["heard before", "heard after", "heard outside"]);
}

fn in_the_child() {
    let panics = |message: &'static str| {
        let unlucky = Predicate::new("unlucky", move |row: &u32| {
            assert_ne!(row % 3, 0, "{message}");
            true
        });
        assert_eq!(unlucky.count(&Vec::from_iter(1..4)), 2);
        // Many records, on several threads.
        let many = [vec![1; 500_000], vec![3, 2, 3]].concat();
        assert_eq!(unlucky.count(&many), 500_001);
    };
    let outside = |message: &'static str| {
        let said = panic::catch_unwind(|| panic!("{message}")).unwrap_err();
        assert_eq!(said.downcast_ref::<String>().unwrap(), message);
    };
    panic::set_hook(Box::new(|info| {
        eprintln!("heard {}", info.payload_as_str().unwrap_or("?"));
    }));
    outside("before");
    silence_guarded_panics();
    panics("inside");
    // After a guard was left by a panic, the hook speaks again.
    outside("after");
    // A mechanism that panics is guarded as well, and a panic that is caught inside it.
    struct Panics;
    impl Mechanism<()> for Panics {
        type Machine = Released<()>;

        fn start(&self, _: &Arc<()>, _: &mut Coins<'_>) -> Result<Released<()>, Fault> {
            let _ = panic::catch_unwind(|| panic!("caught inside"));
            panic_any(Bomb)
        }
    }
    impl Private<PureDp, AddRemove> for Panics {
        fn loss(&self, _: &PureDp) -> Result<Epsilon, UnknownLoss> {
            Ok(text("1"))
        }
    }
    let filter = start(&Filter::concurrent(PureDp, text("1")), Arc::new(())).unwrap();
    assert_eq!(filter.release(&Panics), Err(LaunchError::Failed));
    outside("outside");
}
