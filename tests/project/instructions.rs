//! Launches and questions take no more instructions than `spec/instructions.md` says.
//!
//! Time is noisy and instructions are not: they are counted by valgrind's callgrind, on the
//! optimised program in `benches/instructions`, run twice with different numbers of repetitions,
//! so that everything but the repeated operation cancels out.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const FEW: u64 = 1000;
const MANY: u64 = 3000;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The recorded counts: the rows of the page's tables that begin with a name in backticks.
fn recorded(page: &str) -> Vec<(String, u64)> {
    let row = |line: &str| {
        let mut cells = line.split('|').map(str::trim).skip(1);
        let name = cells.next()?.strip_prefix('`')?.strip_suffix('`')?;
        Some((name.to_owned(), cells.next()?.parse().ok()?))
    };
    page.lines().filter_map(row).collect()
}

/// What is wrong with a count, if anything is: it may be a tenth more or less than recorded.
fn complaint(name: &str, recorded: u64, counted: u64) -> Option<String> {
    let what_to_do = if 10 * counted > 11 * recorded {
        "make it cheaper again, or say why not and record the new number"
    } else if 10 * counted < 9 * recorded {
        "well done: record the new number"
    } else {
        return None;
    };
    Some(format!(
        "{name}: {counted} instructions, {recorded} recorded: {what_to_do}"
    ))
}

fn succeeded(what: &str, output: Output) -> String {
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{what}: {errors}");
    errors
}

fn built() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("instructions");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(root()).arg("build").arg("--release");
    cargo.arg("--package=instructions");
    cargo.arg("--target-dir").arg(&folder);
    succeeded("cargo build", cargo.output().unwrap());
    folder.join("release/instructions")
}

/// All instructions of a run.
fn instructions(program: &Path, operation: &str, times: u64) -> u64 {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    valgrind.arg(program).arg(operation).arg(times.to_string());
    let report = succeeded("valgrind", valgrind.output().unwrap());
    let collected = report
        .lines()
        .find_map(|line| line.split("Collected : ").nth(1));
    collected.expect("a count").trim().parse().unwrap()
}

/// The instructions of one operation.
fn each(program: &Path, operation: &str) -> u64 {
    let [few, many] = [FEW, MANY].map(|times| instructions(program, operation, times));
    (many - few) / (MANY - FEW)
}

#[test]
fn no_operation_takes_more_instructions_than_recorded() {
    if Command::new("valgrind").arg("--version").output().is_err() {
        let in_ci = std::env::var("CI").is_ok_and(|value| value == "true");
        assert!(
            !in_ci,
            "valgrind is not installed, and in CI nothing is skipped"
        );
        eprintln!("SKIPPED: valgrind is not installed, no instructions were counted");
        return;
    }
    let page = std::fs::read_to_string(root().join("spec/instructions.md")).unwrap();
    let recorded = recorded(&page);
    assert!(
        recorded.len() >= 8,
        "only {} counts are recorded",
        recorded.len()
    );
    let program = built();
    let mut complaints = vec![];
    for (name, recorded) in recorded {
        let counted = each(&program, &name);
        println!("{name}: {counted} instructions, {recorded} recorded");
        complaints.extend(complaint(&name, recorded, counted));
    }
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

#[test]
fn a_tenth_more_or_less_is_tolerated_and_no_more() {
    assert_eq!(complaint("ask", 100, 110), None);
    assert_eq!(complaint("ask", 100, 90), None);
    assert_eq!(
        complaint("ask", 100, 111).unwrap(),
        "ask: 111 instructions, 100 recorded: make it cheaper again, or say why not and \
         record the new number"
    );
    assert_eq!(
        complaint("ask", 100, 89).unwrap(),
        "ask: 89 instructions, 100 recorded: well done: record the new number"
    );
}

#[test]
fn only_rows_with_a_name_and_a_number_are_records() {
    let page =
        "| operation | instructions |\n|---|---:|\n| `ask` | 110 | a question |\n| other | 7 |";
    assert_eq!(recorded(page), [("ask".to_owned(), 110)]);
}
