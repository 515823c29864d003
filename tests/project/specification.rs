//! What the specification names exists: a page that points nowhere is worse than none.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All Rust files below a folder.
fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Why a name between backticks points nowhere, if it claims to point somewhere.
fn dangling(name: &str, sources: &[(PathBuf, String)]) -> Option<&'static str> {
    let defined = |text: &str, function: &str| text.contains(&format!("fn {function}("));
    if name.ends_with(".rs") {
        let places = ["", "src", "tests"].map(|folder| root().join(folder).join(name));
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
        Some((module, test)) => {
            let file = root().join("tests").join(module.replace("::", "/"));
            let file = file.with_extension("rs");
            let text = fs::read_to_string(file).ok()?;
            (test != "*" && !defined(&text, test)).then_some("no such test in that file")
        }
        // A whole sentence can only be the name of a test.
        None if name.matches('_').count() >= 3 => {
            let known = sources.iter().any(|(_, text)| defined(text, name));
            (!known).then_some("no such test")
        }
        None => None,
    }
}

fn sources() -> Vec<(PathBuf, String)> {
    let mut files = vec![];
    for folder in ["src", "tests"] {
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
    for page in [
        "semantics.md",
        "papers.md",
        "errata.md",
        "performance.md",
        "instructions.md",
    ] {
        let text = fs::read_to_string(root().join("spec").join(page)).unwrap();
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
        dangling("contract::nothing_of_the_kind", &sources),
        Some("no such test in that file")
    );
    assert_eq!(
        dangling("a_test_that_nobody_wrote", &sources),
        Some("no such test")
    );
    assert_eq!(
        dangling("contract::reading_changes_nothing", &sources),
        None
    );
    assert_eq!(dangling("compose::Filter", &sources), None);
    assert_eq!(dangling("src/account/capped.rs", &sources), None);
}
