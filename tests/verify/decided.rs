//! The table of `verify`, mechanism by measure: each cell is what becomes of a claim that holds and of
//! a smaller one, on a small instance.

mod gaussian;

use std::fmt::Debug;
use std::hash::Hash;
use std::num::NonZeroU64;
use std::time::Duration;

use crate::support::*;
use queryables::account::{Accumulator, DefaultAccumulator};
use queryables::compose::BoxedRelease;
use queryables::data::{Attribute, People, Predicate};
use queryables::mechanisms::{
    AboveThreshold, ApproxRandomizedResponse, Choice, ContinualCount, Count, CountScores,
    ExponentialMechanism, GaussianThresholdHistogram, Histogram, Mean, MultiplicativeWeights,
    NoisyMax, NoisyMaxWithMargin, NoisyQuantiles, OnRows, Partition, PermuteAndFlip, Priced,
    Proportion, QueryAnswerer, RandomizedResponse, Sum, ThresholdHistogram, TopK, Variance,
};
use queryables::middle::ThroughExt;
use queryables::number::{Epsilon, Mu, Order};
use queryables::prelude::*;
use queryables::privacy::convert::rdp;
use queryables::privacy::{AddRemove, PureDp, Rdp, Replace};
use queryables::verify::{Menu, Pair, Value, Verdict, Verifier, copies_of};

const DOCUMENTATION: &str = include_str!("../../src/verify/mod.rs");

fn epsilon(text: &str) -> Epsilon {
    text.parse().unwrap()
}

fn is(value: u8) -> Predicate<Vec<u8>> {
    Predicate::new(format!("is {value}"), move |row: &u8| *row == value)
}

/// One row more.
fn pair() -> Pair<Vec<u8>> {
    Pair::new(vec![7, 8], vec![7, 7, 8])
}

fn mu() -> Mu {
    "1".parse().unwrap()
}

/// What becomes of a claim, and of a smaller one.
fn outcome<Q, A>(claimed: &Verdict<Q, A>, less: &Verdict<Q, A>) -> &'static str {
    match (claimed.holds(), claimed.is_refuted(), less.is_refuted()) {
        (true, _, true) => "decided",
        (_, true, true) => "refuted",
        (false, false, true) => "refuted or undecided",
        (true, _, false) => "proved or undecided",
        (false, _, false) => "undecided",
    }
}

/// Checks of a row: a larger and a smaller ε under pure privacy, an ε at which δ is positive, and a
/// larger and a smaller divergence of order 2.
struct Claims<'a>([&'a str; 2], &'a str, [&'a str; 2]);

/// Asserts that the documentation has a row for this mechanism with what becomes of the claims.
#[track_caller]
fn assert_row<Q, A, N, M>(mechanism: &str, verifier: Verifier<Q, A, N, M>, claims: Claims<'_>)
where
    Q: Clone + Debug + Send + Sync + 'static,
    A: Clone + Debug + Eq + Hash + Send + Sync + 'static,
    N: Menu<Q, A>,
{
    let Claims(pure, at, renyi) = claims;
    // On a loaded machine a minute may not be enough.
    let verifier = verifier.time(Duration::from_secs(600)).replays(2);
    let [claimed, less] = pure.map(|text| verifier.check(&PureDp, &epsilon(text)).unwrap());
    let pure = outcome(&claimed, &less);
    let approximate = match verifier.worst_delta_at(epsilon(at)).unwrap().value {
        Value::Finite(delta) if *delta.high() < delta.low() * ratio(6, 5) => "decided",
        value => panic!("{mechanism}: δ is {value}"),
    };
    let order = Rdp::new("2".parse().unwrap());
    let [claimed, less] = renyi.map(|text| verifier.check(&order, &epsilon(text)).unwrap());
    let renyi = outcome(&claimed, &less);
    assert_eq!(cells(mechanism), [pure, approximate, renyi], "{mechanism}");
}

/// What the documentation says of a mechanism.
#[track_caller]
fn cells(mechanism: &str) -> Vec<&'static str> {
    let is_named = |line: &&str| {
        let Some(rest) = line.strip_prefix("//! | [`") else {
            return false;
        };
        let (name, rest) = rest.split_once('`').unwrap();
        let (_, rest) = rest.split_once(')').unwrap();
        let (words, _) = rest.split_once('|').unwrap();
        format!("{name}{}", words.trim_end()) == mechanism
    };
    let rows = DOCUMENTATION.lines().filter(is_named);
    let [row] = rows.collect::<Vec<_>>()[..] else {
        panic!("not one row for {mechanism}");
    };
    row.split('|').skip(2).take(3).map(str::trim).collect()
}

/// Every mechanism of the table of `mechanisms` has a row.
#[test]
fn every_ready_made_mechanism_has_a_row() {
    let mechanisms = include_str!("../../src/mechanisms/mod.rs");
    let table = mechanisms
        .lines()
        .skip_while(|line| !line.starts_with("//! | mechanism |"))
        .take_while(|line| line.starts_with("//! |"))
        .skip(2);
    let mut found = 0;
    for line in table {
        let first = line.split('|').nth(1).unwrap();
        for name in first
            .split("[`")
            .skip(1)
            .map(|rest| rest.split('`').next().unwrap())
        {
            let row = format!("//! | [`{name}`]");
            assert!(DOCUMENTATION.contains(&row), "{name} has no row");
            found += 1;
        }
    }
    assert!(found >= 26, "{found}");
}

/// D₂ of discrete Laplace noise of these losses together, and a little less.
fn laplace(steps: u64, losses: &[&str]) -> [String; 2] {
    let (order, steps): (Order, _) = ("2".parse().unwrap(), NonZeroU64::new(steps).unwrap());
    let each = losses
        .iter()
        .map(|loss| rdp::discrete_laplace(order, steps, epsilon(loss)));
    let exact = Epsilon::from_units(each.map(Epsilon::units).sum()).unwrap();
    let less = Epsilon::from_units(exact.units() / 10 * 9).unwrap();
    [exact, less].map(|loss| loss.to_string())
}

#[test]
fn finite_laws() {
    let bit = Pair::new(false, true);
    let respond = RandomizedResponse::with_odds(3, 1).unwrap();
    let verifier = Verifier::new(copies_of(&respond), &bit, vec![()], 1);
    // (9/4 + 1/12) = 7/3 and ln(7/3) = 0.8473.
    let claims = Claims(["1.0987", "1.0986"], "0.5", ["0.8473", "0.8472"]);
    assert_row("RandomizedResponse", verifier, claims);

    let respond = ApproxRandomizedResponse::with_odds(3, 1, "0.25".parse().unwrap()).unwrap();
    let verifier = Verifier::new(copies_of(&respond), &bit, vec![()], 1);
    let claims = Claims(["100", "1"], "0.5", ["100", "1"]);
    assert_row("ApproxRandomizedResponse", verifier, claims);

    let votes = Pair::new(vec![7_u8], vec![8]);
    let choice = Choice::by(
        Replace,
        ExponentialMechanism,
        CountScores::of([is(7), is(8)]),
        epsilon("1"),
    )
    .unwrap();
    let verifier = Verifier::new(copies_of(&choice), &votes, vec![()], 1);
    let claims = Claims(["0.5", "0.4999"], "0.1", ["0.2274", "0.2273"]);
    assert_row("ExponentialMechanism", verifier, claims);

    // One that is behind on both sides.
    let behind = Pair::new(vec![7_u8, 7, 7], vec![7, 7, 7, 8]);
    let choice = Choice::by(
        AddRemove,
        PermuteAndFlip,
        CountScores::of([is(7), is(8)]),
        epsilon("1"),
    )
    .unwrap();
    let verifier = Verifier::new(copies_of(&choice), &behind, vec![()], 1);
    let claims = Claims(["1", "0.999"], "0.1", ["1", "0.01"]);
    assert_row("PermuteAndFlip", verifier, claims);

    let choice = Choice::by(
        AddRemove,
        TopK(2),
        CountScores::of([is(7), is(8), is(9)]),
        epsilon("1"),
    )
    .unwrap();
    let verifier = Verifier::new(copies_of(&choice), &pair(), vec![()], 1);
    assert_row("TopK", verifier, Claims(["1", "0.3"], "0.1", ["1", "0.01"]));

    let value = Attribute::new("value", |row: &u8| i64::from(*row));
    let median = NoisyQuantiles::new(AddRemove, value, 0..=20, [(1, 2)], epsilon("1")).unwrap();
    let added = Pair::new(vec![2_u8], vec![2, 20]);
    let verifier = Verifier::new(copies_of(&median), &added, vec![()], 1);
    assert_row(
        "NoisyQuantiles",
        verifier,
        Claims(["1", "0.8"], "0.1", ["1", "0.01"]),
    );
}

#[test]
fn counts_and_sums_with_laplace_noise() {
    let [exact, less] = laplace(1, &["1"]);
    let renyi = [exact.as_str(), less.as_str()];
    let count = Count::of(is(7)).laplace(epsilon!(1)).unwrap();
    let verifier = Verifier::new(copies_of(&count), &pair(), vec![()], 1).releases_only();
    assert_row(
        "Count with Laplace noise",
        verifier,
        Claims(["1", "0.999"], "0.5", renyi),
    );

    let groups = Partition::by_key("row", |row: &u8| *row, [7, 8]).unwrap();
    let counts = Count::of(is(7)).by(groups).laplace(epsilon!(1)).unwrap();
    let verifier = Verifier::new(copies_of(&counts), &pair(), vec![()], 1).releases_only();
    let claims = Claims(["1", "0.999"], "0.5", renyi);
    assert_row("By with Laplace noise", verifier, claims);

    let all = Predicate::new("all", |_: &u8| true);
    let share = Proportion::of(is(7), all).laplace(epsilon!(1)).unwrap();
    let verifier = Verifier::new(copies_of(&share), &pair(), vec![()], 1).releases_only();
    let claims = Claims(["1", "0.999"], "0.5", renyi);
    assert_row("Proportion with Laplace noise", verifier, claims);

    // The type is erased, and with it the promise.
    let boxed = || {
        let count = Count::of(is(7)).laplace(epsilon!(1)).unwrap();
        BoxedRelease::<_, _, AddRemove, _>::new(PureDp, count)
    };
    let verifier = Verifier::new(boxed, &pair(), vec![()], 1);
    assert_row("Boxed", verifier, Claims(["1", "0.999"], "0.5", renyi));

    let value = Attribute::new("value", |row: &u8| i64::from(*row));
    let [exact, less] = laplace(3, &["1"]);
    let renyi = [exact.as_str(), less.as_str()];
    let sum = Sum::of(value, 0..=3).laplace(epsilon!(1)).unwrap();
    let added = Pair::new(vec![7_u8], vec![7, 3]);
    let verifier = Verifier::new(copies_of(&sum), &added, vec![()], 1).releases_only();
    assert_row(
        "Sum with Laplace noise",
        verifier,
        Claims(["1", "0.999"], "0.5", renyi),
    );

    let value = Attribute::new("value", |row: &u8| f64::from(*row));
    let sum = Sum::of(value, range(3)).laplace(epsilon!(1)).unwrap();
    let sum = sum.mapped(|noisy: f64| noisy as i64);
    let verifier = Verifier::new(copies_of(&sum), &added, vec![()], 1).releases_only();
    assert_row(
        "Sum of real numbers, with Laplace noise",
        verifier,
        Claims(["1", "0.999"], "0.5", renyi),
    );
}

/// A row is a person and a number, and a person has up to two rows.
#[test]
fn people() {
    type Row = (u8, u8);
    let table =
        |rows: &[Row]| People::by_key(&rows.to_vec(), |row: &Row| Some(row.0)).at_most::<2>();
    let pair = Pair::new(table(&[(1, 7)]), table(&[(1, 7), (2, 7), (2, 7)]));
    let seven = Predicate::new("is 7", |row: &Row| row.1 == 7);
    let count = OnRows(Count::of(seven).laplace(epsilon!(1)).unwrap());
    let verifier = Verifier::new(copies_of(&count), &pair, vec![()], 1).releases_only();
    let [exact, less] = laplace(2, &["2"]);
    let claims = Claims(["2", "1.999"], "0.5", [&exact, &less]);
    assert_row("OnRows", verifier, claims);
}

fn number() -> Attribute<Vec<u8>, f64> {
    Attribute::new("itself", |row: &u8| f64::from(*row))
}

#[test]
fn means_and_variances() {
    let replaced = Pair::new(vec![0_u8], vec![2]);
    let mean = Mean::of(number(), range(2))
        .under(Replace)
        .laplace(epsilon!(2))
        .unwrap();
    let verifier = Verifier::new(copies_of(&mean), &replaced, vec![()], 1).releases_only();
    let [exact, less] = laplace(2, &["2"]);
    assert_row(
        "Mean with Laplace noise",
        verifier,
        Claims(["2", "1.99"], "0.5", [&exact, &less]),
    );

    let mean = Mean::of(number(), range(2))
        .under(Replace)
        .gaussian(mu())
        .unwrap();
    let verifier = Verifier::new(copies_of(&mean), &replaced, vec![()], 1).releases_only();
    assert_row(
        "Mean with Gaussian noise",
        verifier,
        Claims(["9", "1"], "0.5", ["1", "0.9"]),
    );

    let replaced = Pair::new(vec![0_u8], vec![1]);
    let spread = Variance::of(number(), range(1))
        .under(Replace)
        .laplace(epsilon!(4))
        .unwrap();
    let verifier = Verifier::new(copies_of(&spread), &replaced, vec![()], 1)
        .releases_only()
        .cut(ratio(1, 1000));
    assert_row(
        "Variance with Laplace noise",
        verifier,
        Claims(["4", "3.5"], "0.5", ["4", "2"]),
    );

    let spread = Variance::of(number(), range(1))
        .under(Replace)
        .gaussian(mu())
        .unwrap();
    let verifier = Verifier::new(copies_of(&spread), &replaced, vec![()], 1)
        .releases_only()
        .cut(ratio(1, 1000));
    assert_row(
        "Variance with Gaussian noise",
        verifier,
        Claims(["9", "0.5"], "0.5", ["1", "0.5"]),
    );
}

#[test]
fn histograms() {
    let bin = || Attribute::new("bin", |row: &u8| usize::from(*row % 2));
    let replaced = Pair::new(vec![7_u8], vec![8]);
    let histogram = Histogram::of(Partition::numbered(bin(), 2).unwrap())
        .under(Replace)
        .laplace(epsilon!(2))
        .unwrap();
    let verifier = Verifier::new(copies_of(&histogram), &replaced, vec![()], 1).releases_only();
    let verifier = verifier.cut(ratio(1, 1000));
    // Both bins change by one step of a scale of 1.
    let [exact, _] = laplace(1, &["1", "1"]);
    let claims = Claims(["2", "1.8"], "0.5", [&exact, "0.5"]);
    assert_row("Histogram with Laplace noise", verifier, claims);

    let histogram = Histogram::of(Partition::by_key("bin", |row: &u8| *row, [7, 8]).unwrap())
        .under(Replace)
        .gaussian(mu())
        .unwrap();
    let verifier = Verifier::new(copies_of(&histogram), &replaced, vec![()], 1).releases_only();
    let verifier = verifier.cut(ratio(1, 1000));
    assert_row(
        "Histogram with Gaussian noise",
        verifier,
        Claims(["9", "0.5"], "0.5", ["1", "0.5"]),
    );

    let key = |row: &u8| Some(*row);
    let unknown = Pair::new(vec![], vec![7_u8]);
    let histogram = ThresholdHistogram::with_threshold(AddRemove, "key", key, 3, epsilon("1"));
    let verifier = Verifier::new(copies_of(&histogram.unwrap()), &unknown, vec![()], 1);
    assert_row(
        "ThresholdHistogram",
        verifier,
        Claims(["100", "1"], "1", ["100", "1"]),
    );

    let rho = "0.5".parse().unwrap();
    let histogram = GaussianThresholdHistogram::with_threshold(AddRemove, "key", key, 3, rho);
    let verifier = Verifier::new(copies_of(&histogram.unwrap()), &unknown, vec![()], 1);
    let claims = Claims(["100", "1"], "1", ["100", "1"]);
    assert_row("GaussianThresholdHistogram", verifier, claims);
}

#[test]
fn conversations_with_laplace_noise() {
    let time = Attribute::new("time", |row: &u8| Some(u64::from(*row)));
    let counter = ContinualCount::of(time, 2).laplace(epsilon!(4)).unwrap();
    let arrives = Pair::new(vec![1_u8], vec![0, 1]);
    let verifier = Verifier::new(copies_of(&counter), &arrives, vec![1, 2], 2).releases_only();
    let verifier = verifier.cut(ratio(1, 1000));
    // Two nodes change by one step of a scale of 1/2.
    let [exact, _] = laplace(1, &["2", "2"]);
    assert_row(
        "ContinualCount with Laplace noise",
        verifier,
        Claims(["4", "3.5"], "0.5", [&exact, "2"]),
    );

    let answerer = QueryAnswerer::new(PureDp.accumulator().capped(epsilon("2")));
    let menu = ["0.5", "1.5"].map(|price| Priced::new(is(7), epsilon(price)));
    let verifier = Verifier::new(copies_of(&answerer), &pair(), menu.to_vec(), 2).releases_only();
    let verifier = verifier.cut(ratio(1, 1000));
    let [exact, _] = laplace(1, &["0.5", "1.5"]);
    assert_row(
        "QueryAnswerer",
        verifier,
        Claims(["2", "1.9"], "0.5", [&exact, "1"]),
    );
}

#[test]
fn comparisons() {
    let votes = Pair::new(vec![7_u8], vec![8]);
    let max = |relation| {
        Choice::by(
            relation,
            NoisyMax,
            CountScores::of([is(7), is(8)]),
            epsilon("1"),
        )
        .unwrap()
    };
    let verifier = Verifier::new(copies_of(&max(Replace)), &votes, vec![()], 1);
    assert_row(
        "NoisyMax",
        verifier,
        Claims(["1", "0.4"], "0.1", ["0.5", "0.05"]),
    );
    let candidates = CountScores::of([is(7), is(8)]);
    let margin = Choice::by(Replace, NoisyMaxWithMargin, candidates, epsilon("1")).unwrap();
    let verifier = Verifier::new(copies_of(&margin), &votes, vec![()], 1).cut(ratio(1, 1000));
    let claims = Claims(["1", "0.5"], "0.1", ["1", "0.1"]);
    assert_row("NoisyMaxWithMargin", verifier, claims);

    let search: AboveThreshold<_> = AboveThreshold::new(AddRemove, 2, 1, epsilon("2")).unwrap();
    let verifier = Verifier::new(copies_of(&search), &pair(), vec![is(7), is(8)], 2);
    assert_row(
        "AboveThreshold",
        verifier,
        Claims(["2", "0.6"], "0.1", ["2", "0.1"]),
    );
    let sparse = search.with_counts(epsilon("1")).unwrap();
    let verifier = Verifier::new(copies_of(&sparse), &pair(), vec![is(7)], 2).releases_only();
    let verifier = verifier.cut(ratio(1, 10_000));
    assert_row(
        "SparseVector",
        verifier,
        Claims(["3", "1.2"], "0.1", ["3", "0.2"]),
    );
    let replaced = Pair::new(vec![0_u8, 1], vec![1, 1]);
    let weights = MultiplicativeWeights::new(vec![0, 1], 2, 1, 1, epsilon("4")).unwrap();
    let verifier = Verifier::new(copies_of(&weights), &replaced, vec![is(0)], 1);
    let verifier = verifier.releases_only().cut(ratio(1, 200));
    assert_row(
        "MultiplicativeWeights",
        verifier,
        Claims(["4", "1"], "0.1", ["4", "0.1"]),
    );
}

/// With one row, the guess is 1 at first, and 0 once weight was moved away. So the second answer shows
/// how the weights were moved.
#[test]
fn weights_that_were_moved() {
    let replaced = Pair::new(vec![0_u8], vec![1]);
    let weights = MultiplicativeWeights::new(vec![0, 1], 1, 1, 2, epsilon("4")).unwrap();
    let verifier = Verifier::new(copies_of(&weights), &replaced, vec![is(0)], 2);
    let verifier = verifier.releases_only().cut(ratio(1, 20));
    // On a loaded machine a minute may not be enough.
    let verifier = verifier.time(Duration::from_secs(600));
    verifier.assert_private(&PureDp, &epsilon("4"));
    let less = verifier.check(&PureDp, &epsilon("1")).unwrap();
    assert!(less.is_refuted(), "{less}");
}
