//! What the specification names exists: a page that points nowhere is worse than none.

use std::fs;
use std::path::{Path, PathBuf};

/// The tests of the adapter and of the server, where modules are looked up as well.
const ADAPTER: &str = "interop/opendp/tests";
const SERVER: &str = "server/tests";

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All Rust files below a folder.
pub fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The text of a module's file: `theme/file.rs`, or the folder's own `main.rs` or `mod.rs`.
fn module(folder: &str, path: &str) -> Option<String> {
    let base = root().join(folder).join(path.replace("::", "/"));
    [
        base.with_extension("rs"),
        base.join("main.rs"),
        base.join("mod.rs"),
    ]
    .iter()
    .find_map(|file| fs::read_to_string(file).ok())
}

/// Whether the code, comments apart, has this word.
fn has_word(text: &str, word: &str) -> bool {
    text.lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .flat_map(|line| line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_'))
        .any(|part| part == word)
}

/// Why a name between backticks points nowhere, if it claims to point somewhere.
///
/// `theme::file::test` is a test in `tests/theme/file.rs`; `module::item` is an item in `core/src` or
/// `src`; `papers::module::item` is a test or an item in `papers/src`.
fn dangling(name: &str, sources: &[(PathBuf, String)]) -> Option<&'static str> {
    let defined = |text: &str, function: &str| text.contains(&format!("fn {function}("));
    if name.ends_with(".rs") {
        let places =
            ["", "src", "core/src", "tests", ADAPTER].map(|folder| root().join(folder).join(name));
        return (!places.iter().any(|place| place.exists())).then_some("no such file");
    }
    let is_path = name.split("::").all(|part| {
        part == "*"
            || part
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
    });
    if !is_path || name.is_empty() {
        return None;
    }
    match name.rsplit_once("::") {
        Some((path, item)) if path.starts_with("papers::") => {
            let path = path.trim_start_matches("papers::");
            match module("papers/src", path).map(|text| has_word(&text, item)) {
                Some(true) => None,
                Some(false) => Some("no such item in that module"),
                None => Some("no such module"),
            }
        }
        Some((path, item)) => {
            let tests = ["tests", ADAPTER, SERVER];
            let test = tests.iter().find_map(|folder| module(folder, path));
            let test = test.map(|text| item == "*" || defined(&text, item));
            let code = ["core/src", "src"].map(|folder| module(folder, path));
            let code = code
                .iter()
                .flatten()
                .map(|text| has_word(text, item))
                .reduce(|one, other| one || other);
            match (test, code) {
                (Some(true), _) | (_, Some(true)) => None,
                (Some(false), _) => Some("no such test in that file"),
                (None, Some(false)) => Some("no such item in that module"),
                (None, None) => Some("no such module"),
            }
        }
        None if is_sentence(name) => {
            let known = sources.iter().any(|(_, text)| defined(text, name));
            (!known).then_some("no such test")
        }
        None => None,
    }
}

/// A whole sentence can only be the name of a test.
fn is_sentence(name: &str) -> bool {
    name.matches('_').count() >= 3
}

fn sources() -> Vec<(PathBuf, String)> {
    let mut files = vec![];
    for folder in [
        "core/src", "src", "tests", "interop", "examples", "papers", "server",
    ] {
        rust_files(&root().join(folder), &mut files);
    }
    files
        .into_iter()
        .map(|path| {
            let text = fs::read_to_string(&path).unwrap();
            (path, text)
        })
        .collect()
}

#[test]
fn every_file_and_test_that_the_specification_names_exists() {
    let sources = sources();
    let mut names = 0;
    let mut problems = vec![];
    let mut pages: Vec<_> = fs::read_dir(root().join("spec"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    pages.sort();
    for path in pages {
        let page = path.file_name().unwrap().to_string_lossy();
        let text = fs::read_to_string(&path).unwrap();
        for name in text.split('`').skip(1).step_by(2) {
            names += 1;
            if let Some(why) = dangling(name, &sources) {
                problems.push(format!("{page}: `{name}`: {why}"));
            }
        }
    }
    assert!(names > 100, "only {names} names were found");
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn what_does_not_exist_is_noticed() {
    let sources = sources();
    assert_eq!(
        dangling("compose/nowhere.rs", &sources),
        Some("no such file")
    );
    assert_eq!(
        dangling("compose::contract::readings::nothing_of_the_kind", &sources),
        Some("no such test in that file")
    );
    assert_eq!(
        dangling("contract::reading_changes_nothing", &sources),
        Some("no such module")
    );
    assert_eq!(
        dangling("privacy::convert::nothing", &sources),
        Some("no such item in that module")
    );
    assert_eq!(
        dangling("papers::haney::filters::nothing", &sources),
        Some("no such item in that module")
    );
    assert_eq!(
        dangling("papers::nobody::advanced", &sources),
        Some("no such module")
    );
    assert_eq!(
        dangling("a_test_that_nobody_wrote", &sources),
        Some("no such test")
    );
    assert_eq!(
        dangling(
            "compose::contract::readings::reading_changes_nothing",
            &sources
        ),
        None
    );
    assert_eq!(dangling("privacy::convert::zcdp::budget", &sources), None);
    assert_eq!(
        dangling("papers::tran::asymptotic::moments", &sources),
        None
    );
    assert_eq!(dangling("compose::Filter", &sources), None);
    assert_eq!(dangling("core/src/account/capped.rs", &sources), None);
}
