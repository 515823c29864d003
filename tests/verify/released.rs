//! Noise that is released is verified without a cut: the table of `verify`, row by row, and what
//! must not pass for it.

use std::sync::Arc;

use crate::support::*;
use queryables::account::{Accumulator, DefaultAccumulator};
use queryables::compose::{Addressed, Filter};
use queryables::data::{Attribute, Predicate, Vector};
use queryables::machine::{Coins, Fault, Machine, Mechanism, Released};
use queryables::mechanisms::{
    AboveThreshold, ContinualCount, ExponentialMechanism, GaussianContinualCount, GaussianCount,
    GaussianVectorSum, Lattice, MultiplicativeWeights, NoisyCount, NoisyHistogram, NoisyMax,
    NoisyRealSum, NoisySum, Priced, QueryAnswerer, RandomizedResponse, SampledGaussianSum,
};
use queryables::middle::ThroughExt;
use queryables::noise::DiscreteLaplace;
use queryables::number::{Epsilon, Order, Ratio};
use queryables::privacy::convert::rdp;
use queryables::privacy::{AddRemove, PureDp, Rdp, RdpGrid, Replace};
use queryables::verify::{Children, Completeness, Menu, Pair, Verdict, Verifier, copies_of};
use std::fmt::Debug;
use std::hash::Hash;
use std::num::NonZeroU64;
use std::time::Duration;

fn epsilon(text: &str) -> Epsilon {
    text.parse().unwrap()
}

fn order(text: &str) -> Rdp {
    Rdp::new(text.parse().unwrap())
}

fn is(value: u8) -> Predicate<Vec<u8>> {
    Predicate::new(format!("is {value}"), move |row: &u8| *row == value)
}

/// One row more.
fn pair() -> Pair<Vec<u8>> {
    Pair::new(vec![7, 8], vec![7, 7, 8])
}

/// On a loaded machine a minute may not be enough.
const TIME: Duration = Duration::from_secs(600);

/// What becomes of a claim, and of a smaller one.
fn outcome<Q, A>(claimed: &Verdict<Q, A>, less: &Verdict<Q, A>) -> &'static str {
    match (claimed.holds(), less.is_refuted()) {
        (true, true) => "decided",
        (false, true) => "refuted or undecided",
        (true, false) => "proved or undecided",
        (false, false) => "undecided",
    }
}

/// A row of the table: what becomes of a pure and of a Rényi claim of order 2, each given as one
/// that holds and one that does not.
fn row<Q, A, N>(
    verifier: &Verifier<Q, A, N>,
    pure: [&str; 2],
    renyi: [&str; 2],
) -> [&'static str; 2]
where
    Q: Clone + Debug + Send + Sync + 'static,
    A: Clone + Debug + Eq + Hash + Send + Sync + 'static,
    N: Menu<Q, A>,
{
    let [claimed, less] = pure.map(|text| verifier.check(&PureDp, &epsilon(text)).unwrap());
    let pure = outcome(&claimed, &less);
    let order = order("2");
    let [claimed, less] = renyi.map(|text| verifier.check(&order, &epsilon(text)).unwrap());
    [pure, outcome(&claimed, &less)]
}

/// Asserts that the documentation of `verify` has a row with these outcomes for a mechanism.
#[track_caller]
fn assert_documented(mechanism: &str, [pure, renyi]: [&str; 2]) {
    let page = include_str!("../../src/verify/mod.rs");
    let named = format!("[`{mechanism}`]");
    let rows: Vec<_> = page.lines().filter(|line| line.contains(&named)).collect();
    let [row] = rows.as_slice() else {
        panic!("{} rows for {mechanism}", rows.len());
    };
    let cells: Vec<_> = row.split('|').map(str::trim).collect();
    assert_eq!(cells[2..5], [pure, "decided", renyi], "{mechanism}");
}

/// D₂ of discrete Laplace noise, a little more and a little less.
fn laplace(steps: u64, loss: &str) -> [String; 2] {
    let steps = NonZeroU64::new(steps).unwrap();
    let exact = rdp::discrete_laplace("2".parse().unwrap(), steps, epsilon(loss));
    let less = exact.saturating_sub(epsilon("0.000001"));
    [exact.to_string(), less.to_string()]
}

#[test]
fn counts_and_sums_with_laplace_noise_are_decided() {
    let [exact, less] = laplace(1, "1");
    let renyi = [exact.as_str(), less.as_str()];
    let count = NoisyCount::new(is(7), epsilon("1")).unwrap();
    let verifier = Verifier::new(copies_of(&count), &pair(), vec![()], 1);
    let found = row(&verifier, ["1", "0.999"], renyi);
    assert_documented("NoisyCount", found);
    let verdict = verifier.check(&PureDp, &epsilon("1")).unwrap();
    assert_eq!(verdict.worst.completeness, Completeness::Bounded);
    assert!(
        verdict.to_string().contains("and is at most 2.718281828…"),
        "{verdict}"
    );

    let value = Attribute::new("value", |row: &u8| i64::from(*row));
    let [exact, less] = laplace(3, "1");
    let sum = NoisySum::new(AddRemove, value, 0..=3, epsilon("1")).unwrap();
    let added = Pair::new(vec![7_u8], vec![7, 3]);
    let verifier = Verifier::new(copies_of(&sum), &added, vec![()], 1);
    let found = row(&verifier, ["1", "0.999"], [&exact, &less]);
    assert_documented("NoisySum", found);

    let value = Attribute::new("value", |row: &u8| f64::from(*row));
    let sum = NoisyRealSum::new(AddRemove, value, 0.0..=3.0, 0, epsilon("1")).unwrap();
    let sum = sum.mapped(|noisy: f64| noisy as i64);
    let verifier = Verifier::new(copies_of(&sum), &added, vec![()], 1);
    let found = row(&verifier, ["1", "0.999"], [&exact, &less]);
    assert_documented("NoisyRealSum", found);
}

#[test]
fn a_histogram_is_decided() {
    let bin = Attribute::new("bin", |row: &u8| usize::from(*row % 2));
    let histogram = NoisyHistogram::new(Replace, bin, 2, epsilon("2")).unwrap();
    let replaced = Pair::new(vec![7_u8], vec![8]);
    let verifier = Verifier::new(copies_of(&histogram), &replaced, vec![()], 1)
        .cut(ratio(1, 1000))
        .time(TIME);
    // Both bins change by one step of a scale of 1.
    let twice = rdp::discrete_laplace("2".parse().unwrap(), NonZeroU64::MIN, epsilon("1"));
    let exact = Epsilon::from_units(2 * twice.units()).unwrap();
    let less = exact.saturating_sub(epsilon("0.2"));
    let found = row(
        &verifier,
        ["2", "1.8"],
        [&exact.to_string(), &less.to_string()],
    );
    assert_documented("NoisyHistogram", found);
}

#[test]
fn conversations_with_laplace_noise_are_decided() {
    let time = Attribute::new("time", |row: &u8| Some(u64::from(*row)));
    let counter = ContinualCount::new(AddRemove, time, 2, epsilon("4")).unwrap();
    let arrives = Pair::new(vec![1_u8], vec![0, 1]);
    let verifier = Verifier::new(copies_of(&counter), &arrives, vec![1, 2], 2)
        .cut(ratio(1, 1000))
        .time(TIME);
    // Two nodes change by one step of a scale of 1/2.
    let once = rdp::discrete_laplace("2".parse().unwrap(), NonZeroU64::MIN, epsilon("2"));
    let exact = Epsilon::from_units(2 * once.units()).unwrap().to_string();
    let found = row(&verifier, ["4", "3.5"], [&exact, "2"]);
    assert_documented("ContinualCount", found);

    let rule = PureDp.accumulator().capped(epsilon("2"));
    let answerer = QueryAnswerer::new(rule);
    let menu = ["0.5", "1.5"].map(|price| Priced::new(is(7), epsilon(price)));
    let verifier = Verifier::new(copies_of(&answerer), &pair(), menu.to_vec(), 2)
        .cut(ratio(1, 1000))
        .time(TIME);
    let divergence = |loss: &str| {
        let order: Order = "2".parse().unwrap();
        rdp::discrete_laplace(order, NonZeroU64::MIN, epsilon(loss)).units()
    };
    let exact = Epsilon::from_units(divergence("0.5") + divergence("1.5")).unwrap();
    let found = row(&verifier, ["2", "1.9"], [&exact.to_string(), "1"]);
    assert_documented("QueryAnswerer", found);
}

#[test]
fn counts_in_a_filter_are_decided() {
    let count = NoisyCount::new(is(7), epsilon("1")).unwrap();
    let filter = Addressed::new(Filter::concurrent(PureDp, epsilon("2")));
    let menu = Children::new(vec![count], vec![()]).without_reading();
    let verifier = Verifier::new(copies_of(&filter), &pair(), menu, 4)
        .cut(ratio(1, 100))
        .time(TIME);
    let verdict = verifier.check(&PureDp, &epsilon("2")).unwrap();
    assert!(verdict.holds(), "{verdict}");
    let verdict = verifier.check(&PureDp, &epsilon("1.99")).unwrap();
    assert!(!verdict.holds(), "{verdict}");
}

#[test]
fn gaussian_noise_is_decided_at_renyi_orders() {
    let count = GaussianCount::with_mu(is(7), "0.5".parse().unwrap()).unwrap();
    let verifier = Verifier::new(copies_of(&count), &pair(), vec![()], 1);
    // αμ²/2; rounding takes at most 1/12σ² from it.
    let found = row(&verifier, ["5", "1"], ["0.25", "0.24"]);
    assert_documented("GaussianCount", found);
    // At several orders, some not whole.
    let grid = RdpGrid::new(["1.5", "3"].map(|order| order.parse().unwrap())).unwrap();
    let losses = grid.curve(["0.1875", "0.375"].map(epsilon)).unwrap();
    let verdict = verifier.check(&grid, &losses).unwrap();
    assert!(verdict.holds(), "{verdict}");

    let time = Attribute::new("time", |row: &u8| Some(u64::from(*row)));
    let counter = GaussianContinualCount::with_mu(AddRemove, time, 2, "1".parse().unwrap());
    let counter = counter.unwrap();
    let arrives = Pair::new(vec![1_u8], vec![0, 1]);
    let verifier = Verifier::new(copies_of(&counter), &arrives, vec![1, 2], 2)
        .cut(ratio(1, 1000))
        .time(TIME);
    let found = row(&verifier, ["5", "0.5"], ["1", "0.5"]);
    assert_documented("GaussianContinualCount", found);
}

/// In steps of the lattice.
fn steps(sum: Vec<f64>) -> Vec<i64> {
    sum.into_iter().map(|x| x as i64).collect()
}

#[test]
fn vector_sums_are_decided_at_renyi_orders() {
    let vector = Vector::new("itself", |row: &[f64; 2], out: &mut [f64]| {
        out.copy_from_slice(row);
    });
    let lattice = Lattice {
        exponent: 0,
        radius: 2,
    };
    let mu = "1".parse().unwrap();
    let sum = GaussianVectorSum::with_mu(AddRemove, vector, 2, lattice, mu).unwrap();
    let sum = sum.mapped(steps);
    let added = Pair::new(vec![], vec![[2.0, 0.0]]);
    let verifier = Verifier::new(copies_of(&sum), &added, vec![()], 1)
        .cut(ratio(1, 1000))
        .time(TIME);
    let found = row(&verifier, ["5", "1"], ["1", "0.5"]);
    assert_documented("GaussianVectorSum", found);

    let value = Vector::new("itself", |row: &f64, out: &mut [f64]| out[0] = *row);
    let lattice = Lattice {
        exponent: 0,
        radius: 4,
    };
    let rate = "0.25".parse().unwrap();
    let sum = SampledGaussianSum::new(value, 1, lattice, rate, mu).unwrap();
    let sum = sum.mapped(steps);
    let added = Pair::new(vec![], vec![4.0]);
    let verifier = Verifier::new(copies_of(&sum), &added, vec![()], 1)
        .cut(ratio(1, 1 << 30))
        .time(TIME);
    // ln(1 + (e − 1)/16) = 0.10198: the sampled Gaussian of order 2; rounding takes little.
    let found = row(&verifier, ["5", "0.5"], ["0.102", "0.099"]);
    assert_documented("SampledGaussianSum", found);
}

#[test]
fn finite_laws_are_decided_as_ever() {
    let respond = RandomizedResponse::with_odds(3, 1).unwrap();
    let verifier = Verifier::new(copies_of(&respond), &Pair::new(false, true), vec![()], 1);
    // (9/4 + 1/12) = 7/3 and ln(7/3) = 0.8473.
    let found = row(&verifier, ["1.0987", "1.0986"], ["0.8473", "0.8472"]);
    assert_documented("RandomizedResponse", found);
    let votes = Pair::new(vec![7_u8], vec![8]);
    let choice = ExponentialMechanism::new(Replace, [is(7), is(8)], epsilon("1")).unwrap();
    let verifier = Verifier::new(copies_of(&choice), &votes, vec![()], 1);
    let found = row(&verifier, ["0.5", "0.4999"], ["0.2274", "0.2273"]);
    assert_documented("ExponentialMechanism", found);
}

#[test]
fn comparisons_with_noise_are_refuted_at_most() {
    let votes = Pair::new(vec![7_u8], vec![8]);
    let noisy = NoisyMax::new(Replace, [is(7), is(8)], epsilon("1")).unwrap();
    let verifier = Verifier::new(copies_of(&noisy), &votes, vec![()], 1)
        .cut(ratio(1, 1000))
        .time(TIME);
    let found = row(&verifier, ["1", "0.3"], ["0.5", "0.05"]);
    assert_documented("NoisyMax", found);
    let search: AboveThreshold = AboveThreshold::new(AddRemove, 2, 1, epsilon("2")).unwrap();
    let verifier = Verifier::new(copies_of(&search), &pair(), vec![is(7)], 1)
        .cut(ratio(1, 1000))
        .time(TIME);
    let found = row(&verifier, ["2", "0.1"], ["2", "0.001"]);
    assert_documented("AboveThreshold", found);
    let sparse = search.with_counts(epsilon("1")).unwrap();
    let verifier = Verifier::new(copies_of(&sparse), &pair(), vec![is(7)], 1)
        .cut(ratio(1, 500))
        .time(TIME);
    let found = row(&verifier, ["3", "0.2"], ["3", "0.001"]);
    assert_documented("SparseVector", found);
    let replaced = Pair::new(vec![0_u8, 1], vec![1, 1]);
    let weights = MultiplicativeWeights::new(vec![0, 1], 2, 1, 1, epsilon("4")).unwrap();
    let verifier = Verifier::new(copies_of(&weights), &replaced, vec![is(0)], 1)
        .cut(ratio(1, 40))
        .time(TIME);
    let found = row(&verifier, ["4", "0.1"], ["4", "0.0001"]);
    assert_documented("MultiplicativeWeights", found);
}

/// A count with noise of scale 1, of which something is said that depends on the data where the
/// noise is far out: it is not private with any ε.
#[derive(Clone)]
struct LeaksFarOut {
    far: i128,
}

impl LeaksFarOut {
    fn answer(&self, count: i128, coins: &mut Coins<'_>) -> Result<i128, Fault> {
        let noise = coins.noise(&DiscreteLaplace::new(Ratio::from(1)).unwrap())?;
        let noisy = coins.release(count, noise);
        Ok(match noisy > self.far {
            true => 1_000_000 + count,
            false => noisy,
        })
    }
}

impl Mechanism<Vec<u8>> for LeaksFarOut {
    type Machine = Released<i128>;

    fn start(&self, data: &Arc<Vec<u8>>, coins: &mut Coins<'_>) -> Result<Released<i128>, Fault> {
        self.answer(data.len() as i128, coins).map(Released)
    }
}

#[test]
fn a_mechanism_that_promises_nothing_is_not_proved() {
    let leaks = LeaksFarOut { far: 1000 };
    let pair = Pair::new(vec![1_u8], vec![1, 1]);
    let verifier = Verifier::new(copies_of(&leaks), &pair, vec![()], 1);
    let verdict = verifier.check(&PureDp, &epsilon("1")).unwrap();
    assert!(!verdict.holds() && !verdict.is_refuted(), "{verdict}");
    let verdict = verifier.check(&order("2"), &epsilon("1")).unwrap();
    assert!(!verdict.holds() && !verdict.is_refuted(), "{verdict}");
    // Where the leak is before the cut, it is refuted.
    let verifier = Verifier::new(copies_of(&LeaksFarOut { far: 10 }), &pair, vec![()], 1);
    assert!(verifier.check(&PureDp, &epsilon("1")).unwrap().is_refuted());
    let verdict = verifier.check(&order("2"), &epsilon("1")).unwrap();
    assert!(!verdict.holds(), "{verdict}");
}

/// Noise of too small a scale: refuted, though it promises to only say what it releases.
#[derive(Clone)]
struct TooLittleNoise {
    parity: bool,
}

impl Mechanism<Vec<u8>> for TooLittleNoise {
    type Machine = Released<i128>;

    fn start(&self, data: &Arc<Vec<u8>>, coins: &mut Coins<'_>) -> Result<Released<i128>, Fault> {
        let noise = coins.noise(&DiscreteLaplace::new(Ratio::new(1, 2).unwrap()).unwrap())?;
        let noisy = coins.release(data.len() as i128, noise);
        Ok(Released(if self.parity {
            noisy.rem_euclid(2)
        } else {
            noisy
        }))
    }

    fn only_says_releases() -> bool {
        true
    }
}

#[test]
fn too_little_noise_is_refuted() {
    let pair = Pair::new(vec![1_u8], vec![1, 1]);
    let checked = |mechanism: &TooLittleNoise, claim: &str| {
        let verifier = Verifier::new(copies_of(mechanism), &pair, vec![()], 1);
        verifier.check(&PureDp, &epsilon(claim)).unwrap()
    };
    let plain = TooLittleNoise { parity: false };
    assert!(checked(&plain, "2").holds());
    assert!(checked(&plain, "1.999").is_refuted());
    let verifier = Verifier::new(copies_of(&plain), &pair, vec![()], 1);
    let [exact, less] = laplace(1, "2");
    assert!(
        verifier
            .check(&order("2"), &epsilon(&exact))
            .unwrap()
            .holds()
    );
    assert!(
        verifier
            .check(&order("2"), &epsilon(&less))
            .unwrap()
            .is_refuted()
    );
    // Of the parity less is lost, which is not known beyond the cut: what is proved is the loss of
    // the value itself, and less than that is neither proved nor refuted.
    let parity = TooLittleNoise { parity: true };
    assert!(checked(&parity, "2").holds());
    let between = checked(&parity, "1.999");
    assert!(!between.holds() && !between.is_refuted(), "{between}");
    assert!(
        between.to_string().contains("only a bound is known"),
        "{between}"
    );
}

/// Twice the same noise: the sum tells nothing more, the difference everything.
struct Twice {
    count: i128,
    first: Option<i128>,
}

#[derive(Clone)]
struct AskedTwice;

impl Mechanism<Vec<u8>> for AskedTwice {
    type Machine = Twice;

    fn start(&self, data: &Arc<Vec<u8>>, _: &mut Coins<'_>) -> Result<Twice, Fault> {
        Ok(Twice {
            count: data.len() as i128,
            first: None,
        })
    }

    fn only_says_releases() -> bool {
        true
    }
}

impl Machine for Twice {
    type Query = ();
    type Answer = i128;

    fn step(&mut self, (): (), coins: &mut Coins<'_>) -> Result<i128, Fault> {
        let noise = coins.noise(&DiscreteLaplace::new(Ratio::from(1)).unwrap())?;
        let noisy = coins.release(self.count, noise);
        let before = self.first.replace(noisy).unwrap_or(0);
        Ok(noisy + before)
    }
}

#[test]
fn losses_of_several_releases_add_up() {
    let pair = Pair::new(vec![1_u8], vec![1, 1]);
    for (depth, claim, less) in [(1, "1", "0.99"), (2, "2", "1.99"), (3, "3", "2.99")] {
        let verifier = Verifier::new(copies_of(&AskedTwice), &pair, vec![()], depth)
            .cut(ratio(1, 50))
            .time(TIME);
        let verdict = verifier.check(&PureDp, &epsilon(claim)).unwrap();
        assert!(verdict.holds(), "{verdict}");
        assert!(!verifier.check(&PureDp, &epsilon(less)).unwrap().holds());
    }
}
