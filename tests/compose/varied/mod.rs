//! Descriptions say everything that decides the answer: each ready-made mechanism, with each of its
//! parameters changed, one at a time.

mod around;
mod bins;
mod rows;
mod streams;

use std::collections::{BTreeMap, BTreeSet};

use queryables::account::{Accumulator, DefaultAccumulator, ValidIndividually};
use queryables::compose::{BoxedRelease, ConcurrentComposition, IndividualQuery};
use queryables::data::{Attribute, Predicate, Vector};
use queryables::machine::Description;
use queryables::mechanisms::individual::ActiveRecords;
use queryables::mechanisms::query::Unavailable;
use queryables::mechanisms::{
    AboveThreshold, ApproxRandomizedResponse, Choice, ContinualCount, Count, CountScores, Evaluate,
    ExponentialMechanism, FactorizedContinualCount, GaussianThresholdHistogram, GradientDescent,
    Histogram, Lattice, Mean, MultiplicativeWeights, NoisyMax, NoisyMaxWithMargin, NoisyQuantiles,
    Objective, OnRows, Partition, PermuteAndFlip, Proportion, QueryAnswerer, RandomizedResponse,
    RealRange, SampledGaussianSum, Score, Sensitivity, Sum, SumScores, ThresholdHistogram, TopK,
    Variance, VectorSum,
};
use queryables::middle::{Clamp, LimitQueries, Round, ThroughExt};
use queryables::number::Rho;
use queryables::prelude::*;
use queryables::privacy::{Restated, RestatedAt, RhoDelta};

type Rows = Vec<u8>;

fn of<M: Mechanism<Rows>>(mechanism: M) -> Description {
    mechanism.describe()
}

fn of_bit<M: Mechanism<bool>>(mechanism: M) -> Description {
    mechanism.describe()
}

fn is(name: &str) -> Predicate<Rows> {
    Predicate::new(name, |row: &u8| *row == 1)
}

fn whole(name: &str) -> Attribute<Rows, i64> {
    Attribute::new(name, |row: &u8| i64::from(*row))
}

fn real(name: &str) -> Attribute<Rows, f64> {
    Attribute::new(name, |row: &u8| f64::from(*row))
}

fn hour(name: &str) -> Attribute<Rows, Option<u64>> {
    Attribute::new(name, |row: &u8| Some(u64::from(*row)))
}

fn bin(name: &str) -> Attribute<Rows, usize> {
    Attribute::new(name, |row: &u8| usize::from(*row))
}

fn vector(name: &str) -> Vector<Rows> {
    Vector::new(name, |row: &u8, out: &mut [f64]| out.fill(f64::from(*row)))
}

fn epsilon(text: &str) -> Epsilon {
    text.parse().unwrap()
}

fn rho(text: &str) -> Rho {
    text.parse().unwrap()
}

const LATTICE: Lattice = Lattice::in_steps(-2, 60);
const FINER: Lattice = Lattice::in_steps(-3, 60);
const LONGER: Lattice = Lattice::in_steps(-2, 61);

/// The same list but for its ninth name.
fn nine(ninth: &str) -> Vec<Predicate<Rows>> {
    let names = ["a", "b", "c", "d", "e", "f", "g", "h", ninth];
    names.map(is).into()
}

/// Lists of candidates that differ.
fn lists() -> Vec<Vec<Predicate<Rows>>> {
    vec![
        nine("i"),
        nine("j"),
        nine("i").into_iter().rev().collect(),
        ["a", "b, c"].map(is).into(),
        ["a, b", "c"].map(is).into(),
        ["a", "b", "c"].map(is).into(),
    ]
}

type Groups = BTreeMap<&'static str, Vec<Description>>;

/// Mechanisms that hold something without a name, which are never taken for the same.
const INCOMPLETE: [&str; 2] = ["MultiplicativeWeights", "QueryAnswerer"];

fn not_comparable(all: &mut Groups) {
    let rule = |limit: &str| PureDp.accumulator().capped(limit.parse().unwrap());
    let answerer = |limit| of(QueryAnswerer::new(rule(limit)));
    all.insert("QueryAnswerer", vec![answerer("1"), answerer("2")]);
    let make = |domain, rows, threshold, updates, loss| {
        of(MultiplicativeWeights::new(domain, rows, threshold, updates, epsilon(loss)).unwrap())
    };
    let group = vec![
        make(vec![1, 2], 9, 3, 2, "1"),
        make(vec![1, 2, 3], 9, 3, 2, "1"),
        make(vec![1, 2], 8, 3, 2, "1"),
        make(vec![1, 2], 9, 4, 2, "1"),
        make(vec![1, 2], 9, 3, 1, "1"),
        make(vec![1, 2], 9, 3, 2, "2"),
    ];
    all.insert("MultiplicativeWeights", group);
}

/// The mechanisms in the table of their module: a new one is also varied here.
fn in_the_table() -> BTreeSet<String> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/mechanisms/mod.rs");
    let text = std::fs::read_to_string(path).unwrap();
    let rows = text
        .lines()
        .skip_while(|line| !line.starts_with("//! | mechanism |"));
    let rows = rows.skip(2).take_while(|line| line.starts_with("//! |"));
    let first = rows.filter_map(|row| row.split('|').nth(1));
    let names = first.flat_map(|cell| cell.split("[`").skip(1).map(|name| name.split_once('`')));
    names.map(|name| name.unwrap().0.to_owned()).collect()
}

/// The name before what is said of noise, numbers and groups.
fn of_query(name: &str) -> &str {
    name.split(',').next().unwrap_or(name)
}

#[test]
fn whatever_parameter_is_changed_changes_the_description() {
    let mut all = Groups::new();
    rows::counts_and_sums(&mut all);
    rows::vectors(&mut all);
    bins::histograms(&mut all);
    bins::choices(&mut all);
    streams::responses_and_streams(&mut all);
    not_comparable(&mut all);
    for (name, group) in &all {
        let texts: BTreeSet<Vec<(&str, &str)>> = group
            .iter()
            .map(|each| each.parameters().collect())
            .collect();
        assert_eq!(texts.len(), group.len(), "{name}: {group:#?}");
        for each in group {
            assert_eq!(each.name(), of_query(name));
            assert_eq!(each.is_complete(), !INCOMPLETE.contains(name), "{each}");
        }
    }
    let varied: BTreeSet<String> = all.keys().map(|name| of_query(name).to_owned()).collect();
    // Groups have the name of their statistic: "Sum, by group".
    let mut listed = in_the_table();
    assert!(listed.remove("By"));
    assert_eq!(varied, listed);
}
