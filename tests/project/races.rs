//! Runs the races in `tests/races`, a package of its own: there a scheduler stands in for the locks
//! and atomics of the library, and tries many orders of events.

use std::path::Path;
use std::process::Command;

/// How many races there are, at least.
const RACES: usize = 10;

#[test]
fn races_end_well_in_every_order_that_is_tried() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("races");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(env!("CARGO_MANIFEST_DIR"));
    cargo.args(["test", "--package=races", "--lib"]);
    // Takes precedence over flags that a user may have set, so that the scheduler is there.
    cargo.env("CARGO_ENCODED_RUSTFLAGS", "--cfg=shuttle");
    cargo.arg("--target-dir").arg(&folder);
    let output = cargo.output().unwrap();
    let report = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{report}\n{errors}");
    let passed = report.matches(" ... ok\n").count();
    assert!(passed >= RACES, "only {passed} races were run: {report}");
}
