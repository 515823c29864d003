//! A module uses only those above it in the table of the crate's documentation.
//!
//! What is compiled for tests only may look anywhere: an oracle compares layers.

use std::fs;
use std::path::Path;

use crate::specification::{root, rust_files};

/// The sources of the two crates.
const CRATES: [&str; 2] = ["core/src", "src"];

/// Modules that stand outside the order: macros and locks below everything, test code, and what the core hands
/// to the toolkit.
const OUTSIDE: [&str; 5] = ["fields", "lib", "sync", "tests", "toolkit"];

/// The modules, in the order of the table in a crate's `lib.rs`.
fn layers(documentation: &str) -> Vec<String> {
    let rows = documentation
        .lines()
        .skip_while(|line| !line.starts_with("//! # Modules"));
    rows.filter_map(|line| line.strip_prefix("//! | "))
        .filter_map(|row| row.split('`').nth(1))
        .map(String::from)
        .collect()
}

/// The code, without comments, the contents of strings and what is there only for tests.
fn code(text: &str) -> String {
    without_tests(&without_strings(text))
}

fn without_strings(text: &str) -> String {
    let mut kept = String::new();
    let mut in_string = false;
    for line in text.lines() {
        let mut characters = line.char_indices();
        while let Some((at, character)) = characters.next() {
            let rest = &line[at..];
            if in_string {
                match character {
                    '\\' => drop(characters.next()),
                    '"' => in_string = false,
                    _ => {}
                }
            } else if rest.starts_with("//") {
                break;
            } else if rest.starts_with("'\"'") || rest.starts_with("'{'") || rest.starts_with("'}'")
            {
                characters.nth(1);
            } else if character == '"' {
                in_string = true;
            } else {
                kept.push(character);
            }
        }
        kept.push('\n');
    }
    assert!(!in_string, "a string does not end: {text}");
    kept
}

/// Leaves out each item that stands below `#[cfg(test)]`.
fn without_tests(text: &str) -> String {
    const MARK: &str = "#[cfg(test)]";
    let mut kept = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(MARK) {
        kept.push_str(&rest[..at]);
        rest = &rest[at + MARK.len()..];
        let mut depth = 0_i32;
        let end = rest.char_indices().find(|(_, character)| {
            depth += i32::from(*character == '{') - i32::from(*character == '}');
            depth == 0 && matches!(character, '}' | ';')
        });
        rest = end.map_or("", |(end, _)| &rest[end + 1..]);
    }
    kept + rest
}

/// The modules of the crate that the code of a file names: `crate::name`, or as many `super` as
/// lead to the root of the crate.
fn named(code: &str, depth: usize) -> Vec<String> {
    let mut words: Vec<&str> = vec![];
    let mut found = vec![];
    for part in code.split("::") {
        // The word on either side of `::`.
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let first: &str = part.split(|c| !is_word(c)).next().unwrap_or_default();
        let supers = words
            .iter()
            .rev()
            .take_while(|word| **word == "super")
            .count();
        if words.last() == Some(&"crate") || supers >= depth {
            if let Some(group) = part.trim_start().strip_prefix('{') {
                found.extend(names_of_group(group));
            } else {
                found.push(first.to_string());
            }
        }
        let whole = part == first;
        if !whole {
            words.clear();
        }
        words.push(part.rsplit(|c| !is_word(c)).next().unwrap_or_default());
    }
    found
}

/// `use crate::{a, b::c}`: the first word of each part.
fn names_of_group(group: &str) -> Vec<String> {
    let group = group.split('}').next().unwrap_or_default();
    let names = group.split(',').map(|name| name.trim().to_string());
    names.filter(|name| !name.is_empty()).collect()
}

/// The module of the crate in which a file is, and how deep it lies.
fn place(file: &Path, sources: &Path) -> (String, usize) {
    let path = file.strip_prefix(sources).unwrap().with_extension("");
    let mut parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    if parts.last().is_some_and(|last| *last == "mod") {
        parts.pop();
    }
    (parts[0].to_string(), parts.len())
}

/// What is wrong with a file of one module, if something is.
fn upward(module: &str, depth: usize, text: &str, layers: &[String]) -> Vec<String> {
    let Some(own) = layers.iter().position(|layer| layer == module) else {
        return vec!["is in no layer: add it to the table in lib.rs".into()];
    };
    let mut names = named(&code(text), depth);
    names.sort();
    names.dedup();
    let above = |name: &String| layers.iter().position(|layer| layer == name) > Some(own);
    let names = names.into_iter().filter(above);
    names
        .map(|name| format!("uses `{name}`, which stands below `{module}`"))
        .collect()
}

/// Files that only `#[cfg(test)] mod name;` brings in.
fn is_for_tests(file: &Path) -> bool {
    let name = file.file_stem().unwrap().to_string_lossy();
    let folder = file.parent().unwrap();
    let parents = [folder.join("mod.rs"), folder.with_extension("rs")];
    let declared = format!("#[cfg(test)]\nmod {name};");
    parents
        .iter()
        .any(|parent| fs::read_to_string(parent).is_ok_and(|text| text.contains(&declared)))
}

#[test]
fn a_module_uses_only_those_above_it() {
    let mut problems = vec![];
    for sources in CRATES.map(|sources| root().join(sources)) {
        let layers = layers(&fs::read_to_string(sources.join("lib.rs")).unwrap());
        assert!(layers.len() >= 8, "only {layers:?} were found");
        let mut files = vec![];
        rust_files(&sources, &mut files);
        for file in files.iter().filter(|file| !is_for_tests(file)) {
            let (module, depth) = place(file, &sources);
            if OUTSIDE.contains(&module.as_str()) {
                continue;
            }
            let text = fs::read_to_string(file).unwrap();
            for problem in upward(&module, depth, &text, &layers) {
                problems.push(format!("{}: {problem}", file.display()));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// The modules of the core come first in the toolkit, in the same order.
#[test]
fn both_crates_have_one_order() {
    let [core, toolkit] = CRATES
        .map(|sources| layers(&fs::read_to_string(root().join(sources).join("lib.rs")).unwrap()));
    assert_eq!(toolkit[..core.len()], core);
    assert!(toolkit.len() > core.len());
}

#[test]
fn an_upward_use_is_noticed() {
    let layers = ["number", "privacy", "account"].map(String::from);
    let problems = |text: &str| upward("privacy", 1, text, &layers);
    let account = vec!["uses `account`, which stands below `privacy`".to_string()];
    assert_eq!(problems("use crate::account::Sum;"), account);
    assert_eq!(problems("use crate::{number, account::Sum};"), account);
    assert_eq!(problems("fn f() { crate::account::compare() }"), account);
    assert_eq!(problems("use super::account::Sum;"), account);
    assert_eq!(problems("let c = '\"'; crate::account::x();"), account);
    for fine in [
        "use crate::number::Epsilon;",
        "use super::number;",
        "//! See [`Sum`](crate::account::Sum).",
        "const A: &str = \"crate::account::x\";",
        "#[cfg(test)]\nmod tests {\n    use crate::account::Sum;\n    fn f() {}\n}\n",
        "#[cfg(test)]\nuse crate::account::Sum;",
    ] {
        assert_eq!(problems(fine), Vec::<String>::new(), "{fine}");
    }
    // A `super` that stays inside the module.
    assert_eq!(
        upward("privacy", 2, "use super::account;", &layers),
        Vec::<String>::new()
    );
    assert_eq!(
        upward("privacy", 2, "use super::super::account;", &layers),
        account
    );
    let nowhere = vec!["is in no layer: add it to the table in lib.rs".to_string()];
    assert_eq!(upward("new", 1, "", &layers), nowhere);
}
