//! What no theorem backs does not compile, and the message says why.
//!
//! Each file in `library`, `opendp` and `papers` is a program that must be refused. It ends with lines that
//! say what the compiler must report:
//!
//! ```text
//! //~ E0277
//! //~ launch a mechanism that states a loss under … for neighbours under …: … does not
//! ```
//!
//! Error codes: these, and no others. All else: words of ours, or the name of something of ours,
//! which must stand in one of the messages; `…` stands for anything. The compiler's own words are
//! left out, so that another compiler may word them differently.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The cases are compiled in a package of this form.
const MANIFEST: &str = r#"[package]
name = "cases"
version = "0.0.0"
edition = "2024"

[dependencies]
opendp = { version = "0.16", default-features = false, features = ["untrusted"] }
papers = { path = "{root}/papers" }
queryables = { path = "{root}", features = ["ledger", "table", "verify"] }
queryables-core = { path = "{root}/core" }
queryables-opendp = { path = "{root}/interop/opendp" }

[workspace]

[profile.dev]
debug = 0
"#;

struct Case {
    name: String,
    path: PathBuf,
    text: String,
}

/// What must be reported.
#[derive(Debug, PartialEq)]
struct Expected {
    codes: BTreeSet<String>,
    words: Vec<String>,
}

/// What was reported: one line for each message, note and label.
#[derive(Default)]
struct Reported {
    codes: BTreeSet<String>,
    lines: Vec<String>,
}

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn cases(folder: &str) -> Vec<Case> {
    let entries = fs::read_dir(here().join(folder)).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let case = |path: PathBuf| {
        let stem = path.file_stem().unwrap().to_str().unwrap();
        Case {
            name: format!("{folder}-{stem}"),
            text: fs::read_to_string(&path).unwrap(),
            path,
        }
    };
    paths.into_iter().map(case).collect()
}

fn expected(text: &str) -> Expected {
    let lines = text.lines().filter_map(|line| line.strip_prefix("//~ "));
    let (codes, words) = lines.map(str::to_owned).partition(|line: &String| {
        let digits = line.strip_prefix('E');
        digits.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
    });
    let codes: Vec<String> = codes;
    Expected {
        codes: codes.into_iter().collect(),
        words,
    }
}

/// Whether the parts between `…` stand in the line, in this order.
fn says(line: &str, words: &str) -> bool {
    let rest = words.split('…').try_fold(line, |rest, part| {
        let at = rest.find(part)?;
        Some(&rest[at + part.len()..])
    });
    rest.is_some()
}

fn complaints(expected: &Expected, reported: &Reported) -> Vec<String> {
    if reported.codes.is_empty() {
        return vec!["it compiles".to_owned()];
    }
    let mut complaints = vec![];
    if expected.codes != reported.codes {
        let (expected, reported) = (&expected.codes, &reported.codes);
        complaints.push(format!("{expected:?} was expected, {reported:?} reported"));
    }
    for words in &expected.words {
        if !reported.lines.iter().any(|line| says(line, words)) {
            complaints.push(format!("nothing says: {words}"));
        }
    }
    complaints
}

/// Adds an error, with its notes and labels.
fn add(message: &Value, reported: &mut Reported) {
    if message["level"] != "error" {
        return;
    }
    match message["code"]["code"].as_str() {
        Some(code) => drop(reported.codes.insert(code.to_owned())),
        // The last one says how many there were.
        None if message["spans"].as_array().is_none_or(Vec::is_empty) => return,
        None => drop(reported.codes.insert("an error without a code".to_owned())),
    }
    let children = message["children"].as_array().into_iter().flatten();
    for part in children.chain([message]) {
        let labels = part["spans"].as_array().into_iter().flatten();
        let labels = labels.filter_map(|span| span["label"].as_str());
        let texts = labels.chain(part["message"].as_str());
        reported
            .lines
            .extend(texts.map(|text| text.replace('\n', " ")));
    }
}

/// Checks all cases in one go, and returns what the compiler reports for each.
fn check(cases: &[Case]) -> Vec<Reported> {
    let root = here().join("../..").canonicalize().unwrap();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cases");
    fs::create_dir_all(&folder).unwrap();
    let mut manifest = MANIFEST.replace("{root}", root.to_str().unwrap());
    for Case { name, path, .. } in cases {
        let path = path.to_str().unwrap();
        manifest += &format!("\n[[bin]]\nname = \"{name}\"\npath = \"{path}\"\n");
    }
    fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    // The very versions that the workspace is tested with.
    fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(&folder).env_remove("RUSTFLAGS");
    cargo.args(["check", "--bins", "--keep-going", "--offline"]);
    cargo.args(["--message-format=json", "--target-dir"]);
    let output = cargo.arg(folder.join("target")).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    let mut reported: Vec<Reported> = cases.iter().map(|_| Reported::default()).collect();
    let mut seen = false;
    for line in text.lines() {
        let message: Value = serde_json::from_str(line).unwrap();
        let name = message["target"]["name"].as_str();
        let Some(at) = cases.iter().position(|case| Some(&*case.name) == name) else {
            continue;
        };
        seen = true;
        add(&message["message"], &mut reported[at]);
    }
    assert!(seen, "nothing was compiled: {errors}");
    reported
}

#[test]
fn what_no_theorem_backs_does_not_compile() {
    let cases: Vec<Case> = ["library", "opendp", "papers"]
        .into_iter()
        .flat_map(cases)
        .collect();
    assert!(cases.len() >= 35, "only {} cases were found", cases.len());
    let mut problems = vec![];
    for (case, reported) in cases.iter().zip(check(&cases)) {
        let complaints = complaints(&expected(&case.text), &reported);
        problems.extend(
            complaints
                .iter()
                .map(|what| format!("{}: {what}", case.name)),
        );
        if !complaints.is_empty() {
            problems.extend(reported.lines.iter().map(|line| format!("    {line}")));
        }
    }
    assert!(problems.is_empty(), "\n{}\n", problems.join("\n"));
}

#[test]
fn a_case_says_which_error_and_which_words_it_expects() {
    let text = "fn main() {}\n\n//~ E0277\n//~ use … instead\n";
    assert_eq!(
        expected(text),
        Expected {
            codes: BTreeSet::from(["E0277".to_owned()]),
            words: vec!["use … instead".to_owned()],
        }
    );
    for case in ["library", "opendp", "papers"].into_iter().flat_map(cases) {
        let Expected { codes, words } = expected(&case.text);
        assert!(!codes.is_empty() && !words.is_empty(), "{}", case.name);
    }
}

#[test]
fn what_compiles_or_says_something_else_is_noticed() {
    let expected = expected("//~ E0277\n//~ use … instead\n");
    let reported = |codes: &[&str], line: &str| Reported {
        codes: codes.iter().map(|code| (*code).to_owned()).collect(),
        lines: vec![line.to_owned()],
    };
    let said = "do: use `Filter` instead";
    assert_eq!(complaints(&expected, &reported(&["E0277"], said)), [""; 0]);
    assert_eq!(complaints(&expected, &Reported::default()), ["it compiles"]);
    assert_eq!(
        complaints(&expected, &reported(&["E0277"], "instead, use it")),
        ["nothing says: use … instead"]
    );
    assert_eq!(
        complaints(&expected, &reported(&["E0277", "E0432"], said)),
        [r#"{"E0277"} was expected, {"E0277", "E0432"} reported"#]
    );
}
