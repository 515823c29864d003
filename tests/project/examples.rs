//! Every public item has an example, or points to one.
//!
//! An item is public if a `pub use` names it, or if it stands in the file of a module. An example is code that
//! is compiled: a block of text is none.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::specification::{root, rust_files};

const KINDS: [&str; 7] = ["struct", "enum", "trait", "fn", "type", "const", "static"];

/// The libraries that are published.
const FOLDERS: [&str; 7] = [
    "core/src",
    "src",
    "interop/arrow/src",
    "interop/opendp/src",
    "interop/postgres/src",
    "interop/rand/src",
    "interop/spark/src",
];

/// The name of the item that this line begins, if it is public and at the top of its file.
fn item(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("pub ")?;
    let rest = rest.strip_prefix("const fn ").or_else(|| {
        let (kind, rest) = rest.split_once(' ')?;
        KINDS.contains(&kind).then_some(rest)
    })?;
    words(rest).next()
}

/// The public items of a file, each with its documentation.
fn items(text: &str) -> Vec<(&str, String)> {
    let (mut items, mut documentation) = (vec![], String::new());
    for line in text.lines() {
        if let Some(name) = item(line) {
            items.push((name, std::mem::take(&mut documentation)));
        } else if let Some(doc) = line.strip_prefix("///") {
            documentation.push_str(doc);
            documentation.push('\n');
        } else if line.is_empty() || line.starts_with("impl") {
            documentation.clear();
        }
    }
    items
}

/// The words of a text.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    words.filter(|word| !word.is_empty())
}

/// Whether there is a block of code in this documentation that is compiled.
fn has_example(documentation: &str) -> bool {
    let fences = documentation
        .lines()
        .filter_map(|line| line.trim_start_matches([' ', '/', '!']).strip_prefix("```"));
    // Each second one ends a block.
    fences.step_by(2).any(|language| {
        let mut words = language.split(',').map(str::trim);
        words.all(|word| {
            matches!(
                word,
                "" | "rust" | "no_run" | "should_panic" | "compile_fail"
            )
        })
    })
}

/// The types and traits with an example at one of their methods: the words in the heads of such blocks,
/// without parameters of types.
fn with_methods(text: &str) -> impl Iterator<Item = &str> {
    let blocks = ["\nimpl", "\npub trait"]
        .into_iter()
        .flat_map(|start| text.split(start).skip(1));
    blocks
        .filter_map(|block| block.split_once("{\n"))
        .filter(|(_, rest)| {
            let body = rest.split("\n}").next();
            body.is_some_and(has_example)
        })
        .flat_map(|(head, _)| words(head))
        .filter(|word| word.len() > 1)
}

/// What other modules are told of: the words in `pub use`.
fn told(text: &str) -> impl Iterator<Item = &str> {
    let uses = text.split("pub use ").skip(1);
    uses.filter_map(|rest| rest.split(';').next())
        .flat_map(words)
}

/// The names in all that a documentation links to.
fn pointed_to(documentation: &str) -> BTreeSet<&str> {
    let links = documentation.split(['[', ']', '(', ')', '`', '\n']);
    links.flat_map(|link| link.split("::")).collect()
}

/// The items that neither have an example nor point to one, of files with their texts.
fn without(files: &BTreeMap<String, String>) -> Vec<String> {
    let told: BTreeSet<_> = files.values().flat_map(|text| told(text)).collect();
    let mut with: BTreeSet<_> = files.values().flat_map(|text| with_methods(text)).collect();
    let mut others = vec![];
    for (file, text) in files {
        let head: Vec<_> = text
            .lines()
            .take_while(|line| line.starts_with("//!"))
            .collect();
        if has_example(&head.join("\n")) {
            let path = file.trim_end_matches("/mod.rs").trim_end_matches(".rs");
            with.insert(path.rsplit('/').next().unwrap_or(path));
        }
        for (name, documentation) in items(text) {
            if has_example(&documentation) {
                with.insert(name);
            } else if told.contains(name) || file.ends_with("mod.rs") {
                others.push((file, name, documentation));
            }
        }
    }
    let points = |documentation: &str| {
        // What stands in another crate, of which this one has no link: the crate, or an item with an example.
        let elsewhere = documentation.split_once("Example: `");
        let elsewhere = elsewhere.and_then(|(_, rest)| rest.split('`').next());
        elsewhere.is_some_and(|path| match path.strip_prefix("queryables-") {
            Some(name) => root().join("interop").join(name).is_dir(),
            None => path
                .rsplit("::")
                .next()
                .is_some_and(|name| with.contains(name)),
        }) || documentation.contains("[the crate](crate)")
            || !pointed_to(documentation).is_disjoint(&with)
    };
    others
        .into_iter()
        .filter(|(_, name, documentation)| !with.contains(name) && !points(documentation))
        .map(|(file, name, _)| format!("{file}: {name}"))
        .collect()
}

#[test]
fn every_public_item_has_an_example_or_points_to_one() {
    let mut files = vec![];
    for folder in FOLDERS {
        rust_files(&root().join(folder), &mut files);
    }
    let files: BTreeMap<_, _> = files
        .into_iter()
        .map(|path| {
            (
                path.display().to_string(),
                fs::read_to_string(path).unwrap(),
            )
        })
        // Hidden, or for tests.
        .filter(|(path, _)| !path.contains("toolkit") && !path.contains("tests"))
        .collect();
    let all: usize = files.values().map(|text| items(text).len()).sum();
    assert!(all > 450, "only {all} items were found");
    let without = without(&files);
    assert!(without.is_empty(), "{}", without.join("\n"));
}

#[test]
fn an_item_without_an_example_is_noticed() {
    let text = "\
//! Things.

/// ```
/// example
/// ```
pub struct Has;

/// Points to [`Has`].
#[derive(Clone)]
pub struct Points;

/// By a method.
pub struct By<T>(T);

impl<T> By<T> {
    /// ```
    /// example
    /// ```
    pub fn method() {}
}

/// Nothing, but [`Points`].
pub const fn nothing() {}

/// A trait.
pub trait Asked {
    /// ```
    /// example
    /// ```
    fn ask();
}

/// ```text
/// a picture
/// ```
pub struct Drawn;

/// What a [`T`] is.
pub static PARAMETER: u8 = 0;

/// Example: `queryables-nowhere`.
pub struct Astray;
";
    let files = BTreeMap::from([("mod.rs".to_owned(), text.to_owned())]);
    assert_eq!(items(text).len(), 8);
    let noticed = ["nothing", "Drawn", "PARAMETER", "Astray"].map(|name| format!("mod.rs: {name}"));
    assert_eq!(without(&files), noticed);
}

/// Lines of code, without comments and empty lines.
#[test]
fn examples_on_tables_are_short_enough_to_copy() {
    for (name, most) in [
        ("census", 50),
        ("means_by_state", 25),
        ("parquet_by_group", 25),
        ("quantiles_and_keys", 25),
    ] {
        let path = root().join(format!("interop/arrow/examples/{name}.rs"));
        let text = fs::read_to_string(path).unwrap();
        let lines = text.lines().map(str::trim);
        let lines = lines
            .filter(|line| !line.is_empty() && !line.starts_with("//"))
            .count();
        assert!(lines <= most, "{name}: {lines}");
    }
}
