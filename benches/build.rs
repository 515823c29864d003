//! How much work a clean build is and what it brings along, here and for OpenDP:
//! `cargo bench --package benches --bench build`. It takes a few minutes, and is not part of anything.

mod page;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The two, as lines under `[dependencies]`.
const CRATES: [(&str, &str); 2] = [
    (
        "queryables",
        concat!(
            "queryables = { path = \"",
            env!("CARGO_MANIFEST_DIR"),
            "/..",
            "\" }"
        ),
    ),
    (
        "opendp",
        "opendp = { version = \"0.16\", default-features = false, features = [\"untrusted\"] }",
    ),
];

fn cargo(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO"));
    // Not the current folder of the caller.
    command.env("CARGO_TARGET_DIR", folder.join("target"));
    let output = command.current_dir(folder).args(arguments).output();
    let output = output.expect("cargo can be run");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo {arguments:?}: {errors}");
    String::from_utf8(output.stdout).expect("text")
}

/// The processor time of all finished children, in seconds. Time on the clock would say more about
/// who else is compiling.
fn processor_seconds() -> f64 {
    let text = fs::read_to_string("/proc/self/stat").expect("this needs Linux");
    // The name, in parentheses, may have spaces; the 16th and 17th fields are those of children.
    let (_, after_name) = text.rsplit_once(')').expect("a name");
    let fields = after_name.split_whitespace().skip(13).take(2);
    let ticks: f64 = fields
        .map(|field| field.parse::<f64>().expect("ticks"))
        .sum();
    // A hundred ticks in a second, on every Linux that there is.
    ticks / 100.0
}

fn main() {
    if !page::whole_run() {
        return;
    }
    let mut table =
        "| | crates | clean release build, seconds of one processor |\n|---|---:|---:|\n"
            .to_owned();
    for (name, dependency) in CRATES {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join("build")
            .join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("src")).expect("a folder");
        fs::write(folder.join("src/lib.rs"), "").expect("a file");
        let manifest = format!(
            "[package]\nname = \"built\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
             [dependencies]\n{dependency}\n\n[workspace]\n"
        );
        fs::write(folder.join("Cargo.toml"), manifest).expect("a file");
        // One line for each crate, itself included, however often it is needed.
        let tree = cargo(&folder, &["tree", "--prefix=none", "--edges=normal,build"]);
        let crates: BTreeSet<&str> = tree
            .lines()
            .filter_map(|line| line.split(" (").next())
            .filter(|line| !line.starts_with("built "))
            .collect();
        cargo(&folder, &["fetch"]);
        let begin = processor_seconds();
        cargo(&folder, &["build", "--release"]);
        let seconds = processor_seconds() - begin;
        println!(
            "peers: build {name} crates={} seconds={seconds:.1}",
            crates.len()
        );
        writeln!(table, "| {name} | {} | {seconds:.0} |", crates.len()).expect("text");
    }
    page::write_section("Build", &table);
}
