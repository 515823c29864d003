//! Every ready-made mechanism has a row in the table of what it says about its error.

use std::fs;

use crate::specification::root;

/// The rows of a table in a doc comment: the names in the first column, and the cells after it.
fn rows(text: &str, heading: &str) -> Vec<(Vec<String>, Vec<String>)> {
    let table = text.lines().skip_while(|line| !line.contains(heading));
    let table = table
        .skip(2)
        .map(|line| line.trim_start_matches(['/', '!', ' ']));
    table
        .take_while(|line| line.starts_with('|'))
        .map(|line| {
            let mut cells = line
                .trim_end_matches('|')
                .trim_start_matches('|')
                .split('|')
                .map(|cell| cell.trim().to_owned());
            let names = cells.next().unwrap();
            let names = names.split("[`").skip(1);
            let names = names.filter_map(|name| Some(name.split_once('`')?.0.to_owned()));
            (names.collect(), cells.collect())
        })
        .collect()
}

fn text(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

/// The mechanisms, by the table of the module.
fn mechanisms() -> Vec<String> {
    let table = rows(
        &text("src/mechanisms/mod.rs"),
        "| mechanism | I want to know |",
    );
    let mut named: Vec<String> = table.into_iter().flat_map(|(names, _)| names).collect();
    named.sort();
    named
}

#[test]
fn every_mechanism_says_what_its_error_is_or_why_it_cannot() {
    let accuracies = rows(
        &text("src/mechanisms/accuracy.rs"),
        "| mechanism | scale, variance |",
    );
    let mut stated: Vec<String> = Vec::new();
    for (names, cells) in &accuracies {
        assert_eq!(cells.len(), 4, "{names:?} {cells:?}");
        assert!(cells.iter().all(|cell| !cell.is_empty()), "{names:?}");
        stated.extend(names.iter().cloned());
    }
    stated.sort();
    assert_eq!(stated, mechanisms());
    assert!(stated.len() >= 25);
}

/// A new public name is a mechanism, with a row in both tables, or is listed here.
#[test]
fn every_public_name_is_a_mechanism_or_known_not_to_be_one() {
    let module = text("src/mechanisms/mod.rs");
    let uses = module.split("\npub use ").skip(1);
    let paths = uses.filter_map(|line| Some(line.split_once(';')?.0));
    let mut public: Vec<&str> = paths
        .flat_map(|path| path.split(|letter: char| !letter.is_alphanumeric() && letter != '_'))
        .filter(|name| name.starts_with(char::is_uppercase))
        .collect();
    public.sort_unstable();
    let mechanisms = mechanisms();
    let (known, others): (Vec<&str>, Vec<&str>) = public
        .into_iter()
        .partition(|name| mechanisms.iter().any(|known| known == name));
    assert_eq!(known, mechanisms);
    assert_eq!(others, OTHERS);
}

/// Answers, errors, accuracies, relations and what mechanisms are made of; and `OnRows`, which has what
/// its mechanism has.
const OTHERS: [&str; 33] = [
    "About",
    "Accuracy",
    "Choice",
    "CountScores",
    "Descent",
    "Estimate",
    "Estimates",
    "Evaluate",
    "Grouped",
    "KeyHistogram",
    "Lattice",
    "MOST_MEMORY",
    "MechanismError",
    "MomentAccuracy",
    "Moments",
    "Noised",
    "NoisyCount",
    "NoisyMean",
    "NoisyVariance",
    "Objective",
    "OnRows",
    "Partition",
    "Priced",
    "Pricing",
    "QueryExt",
    "RealRange",
    "Response",
    "Score",
    "Sensitivity",
    "SparseVectorAccuracy",
    "SumScores",
    "ThresholdAccuracy",
    "Winner",
];
