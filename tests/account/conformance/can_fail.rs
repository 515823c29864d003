//! The check itself can fail.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::arguments::Failure;
use super::compute::compute;
use super::runner::{self, Package};

fn check(row: &Value) -> Result<(), Failure> {
    runner::check(row, compute)
}

fn run(directory: &Path) -> Result<usize, Vec<String>> {
    runner::run(directory, Package::Library, compute)
}

fn row(op: &str, value: &str, round: &str, rel: &str) -> Value {
    serde_json::json!({
        "op": op,
        "args": {"rho": "0.05", "delta": "1e-6"},
        "value": value, "round": round, "rel": rel,
    })
}

const TRUTH: &str = "1.7122581362691099250390944075";
const OP: &str = "zcdp.epsilon_simple";

#[test]
fn the_truth_passes_up_and_not_down() {
    for round in ["up", "nearest"] {
        assert_eq!(check(&row(OP, TRUTH, round, "1e-9")), Ok(()));
    }
    for round in ["down", "exact"] {
        let Err(Failure(why)) = check(&row(OP, TRUTH, round, "1e-9")) else {
            panic!("{round} must fail");
        };
        assert!(why.contains(&format!("rounded {round}")), "{why}");
    }
}

#[test]
fn the_wrong_side_and_a_wide_miss_fail() {
    for value in ["1.71225813628", "1.7122581"] {
        let Err(Failure(why)) = check(&row(OP, value, "up", "1e-9")) else {
            panic!("{value} must fail");
        };
        assert!(why.contains("within"), "{why}");
    }
}

#[test]
fn what_is_not_known_fails() {
    for (op, round, why) in [
        ("zcdp.no_such_thing", "up", "unknown op zcdp.no_such_thing"),
        ("gdp.approximately", "up", "unknown op gdp.approximately"),
        ("fdp.subsampled", "up", "unknown op fdp.subsampled"),
        (
            "fdp.subsampled_gaussian_profil",
            "up",
            "unknown op fdp.subsampled_gaussian_profil",
        ),
        (OP, "sideways", "unknown rounding sideways"),
    ] {
        assert_eq!(
            check(&row(op, TRUTH, round, "1e-9")),
            Err(Failure(why.into()))
        );
    }
    let row = serde_json::json!({"op": OP, "args": {"rho": "0.05"}});
    assert_eq!(check(&row), Err(Failure("no argument delta".into())));
}

#[test]
fn a_directory_without_rows_fails() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("no_vectors");
    fs::create_dir_all(&directory).unwrap();
    let nothing = vec![format!("{}: no rows at all", directory.display())];
    assert_eq!(run(&directory), Err(nothing));
}

/// Nor does a file that lists nothing count as a check; one row more, and it passes.
#[test]
fn a_directory_where_nothing_is_checked_fails() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("empty_vectors");
    fs::create_dir_all(&directory).unwrap();
    let write = |rows: Value| fs::write(directory.join("rows.json"), rows.to_string()).unwrap();
    write(serde_json::json!([]));
    let nothing = vec![format!("{}: no rows at all", directory.display())];
    assert_eq!(run(&directory), Err(nothing));
    write(serde_json::json!([row(OP, TRUTH, "up", "1e-9")]));
    assert_eq!(run(&directory), Ok(1));
}

#[test]
fn launches_that_cost_nothing_are_not_counted() {
    for op in ["approx_dp.whitehouse_admits", "approx_dp.rogers_admits"] {
        let free = serde_json::json!({
            "op": op,
            "args": {
                "epsilon": "1", "delta": "1e-6", "delta_prime": "1e-6", "each_epsilon": "0",
            },
            "value": "1", "round": "exact", "rel": "0",
        });
        let why = Failure("launches that cost nothing never end".into());
        assert_eq!(check(&free), Err(why), "{op}");
    }
}

#[test]
fn a_bad_row_is_named() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bad_vectors");
    fs::create_dir_all(&directory).unwrap();
    let rows = serde_json::json!([row(OP, TRUTH, "up", "1e-9"), row("new.op", "1", "up", "0")]);
    fs::write(directory.join("rows.json"), rows.to_string()).unwrap();
    let failed = run(&directory).unwrap_err();
    assert_eq!(failed.len(), 1);
    assert!(
        failed[0].contains("rows.json, row 2: unknown op new.op"),
        "{failed:?}"
    );
}
