//! A new measure has six places to be named in; the one that was forgotten is named.

use std::fs;

use crate::specification::root;

/// Beside the measure's own file. Each implements a trait for the measure or says why not.
const PLACES: [&str; 5] = [
    "core/src/privacy/measures/mod.rs",
    "core/src/privacy/mod.rs",
    "core/src/account/sum.rs",
    "src/audit/claim.rs",
    "src/verify/goal.rs",
];

fn text(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

/// What a file implements `Measure` for.
fn measure(text: &str) -> Option<&str> {
    let name = text.split("impl Measure for ").nth(1)?;
    name.split_whitespace().next()
}

/// The files of the measures, each with its measure.
fn measures() -> Vec<(String, String)> {
    let folder = root().join("core/src/privacy/measures");
    let files = fs::read_dir(folder).unwrap();
    let mut found: Vec<_> = files
        .filter_map(|file| {
            let text = fs::read_to_string(file.unwrap().path()).unwrap();
            let name = measure(&text)?.to_owned();
            Some((name, text))
        })
        .collect();
    found.sort();
    found
}

/// Whether a text has this whole word, in comments too, but not in its tests.
fn names(text: &str, word: &str) -> bool {
    let product = text.split("#[cfg(test)]\nmod tests").next().unwrap();
    product
        .split(|character: char| !(character.is_alphanumeric() || character == '_'))
        .any(|found| found == word)
}

/// The places that do not name a measure.
fn forgotten(name: &str, own: &str, places: &[(&str, String)]) -> Vec<String> {
    let mut forgotten = vec![];
    if !own.contains(&format!("written!({name}")) {
        forgotten.push(format!("its own file: `written!({name})`"));
    }
    for (path, text) in places {
        if !names(text, name) {
            forgotten.push((*path).to_owned());
        }
    }
    let table = format!("//! | [`{name}`] |");
    if !places.iter().any(|(_, text)| text.contains(&table)) {
        forgotten.push("the table of core/src/privacy/mod.rs".to_owned());
    }
    forgotten
}

#[test]
fn every_measure_is_named_in_six_places() {
    let places = PLACES.map(|path| (path, text(path)));
    let measures = measures();
    assert!(measures.len() >= 10, "{measures:?}");
    let mut missing = vec![];
    for (name, own) in &measures {
        for place in forgotten(name, own, &places) {
            missing.push(format!("{name} is missing in {place}"));
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn a_forgotten_place_is_named() {
    let places = PLACES.map(|path| (path, text(path)));
    let own = "impl Measure for NewDp {}";
    assert_eq!(measure(own), Some("NewDp"));
    let mut all = vec!["its own file: `written!(NewDp)`"];
    all.extend(PLACES);
    all.push("the table of core/src/privacy/mod.rs");
    assert_eq!(forgotten("NewDp", own, &places), all);
    // What only tests name is forgotten too.
    assert!(!names(
        "struct A;\n#[cfg(test)]\nmod tests { use NewDp; }",
        "NewDp"
    ));
}

#[test]
fn contributors_are_told_the_same_places() {
    let page = text("CONTRIBUTING.md");
    let row = page.lines().find(|line| line.starts_with("| measure |"));
    let row = row.expect("a row for measures");
    for place in PLACES {
        assert!(
            row.contains(&format!("`{place}`")),
            "{place} is not in: {row}"
        );
    }
    assert_eq!(row.matches(".rs`").count(), PLACES.len() + 1, "{row}");
}
