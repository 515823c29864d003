//! How many crates somebody compiles: a framework that embeds the core, a program with the toolkit
//! alone, and a newcomer.
//!
//! `cargo run -p quickstart` compiles the library and all that it needs. As an example of the root
//! package it would compile all that the tests need, too.

use std::collections::BTreeSet;
use std::process::Command;

/// At most this many, the library included.
const MOST: usize = 45;

/// The same for the core, on Linux.
const MOST_OF_THE_CORE: usize = 16;

/// The crates in what `cargo tree --prefix none` prints: each once, at each of its versions.
fn crates(tree: &str) -> BTreeSet<&str> {
    let name_and_version = |line| {
        str::split(line, " (")
            .next()
            .filter(|name| !name.is_empty())
    };
    tree.lines().filter_map(name_and_version).collect()
}

/// What this command of cargo prints.
fn tree(package: &str, edges: &str, more: &[&str]) -> String {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(env!("CARGO_MANIFEST_DIR"));
    cargo.args(["tree", "--offline", "--prefix=none"]);
    cargo.args([&format!("--package={package}"), &format!("--edges={edges}")]);
    cargo.args(["--target=x86_64-unknown-linux-gnu"]).args(more);
    let output = cargo.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// Without threads, Fourier transforms, noise, mechanisms and verifier.
#[test]
fn a_framework_compiles_few_crates() {
    let tree = tree("queryables-core", "normal,build", &[]);
    let crates = crates(&tree);
    assert!(crates.contains("queryables-core v0.1.0"), "{crates:?}");
    println!("the core compiles {} crates", crates.len());
    assert!(
        crates.len() <= MOST_OF_THE_CORE,
        "{}: {crates:?}",
        crates.len()
    );
}

#[test]
fn the_toolkit_without_its_features_adds_itself_alone() {
    let tree = tree("queryables", "normal,build", &["--no-default-features"]);
    let crates = crates(&tree);
    assert!(crates.contains("queryables v0.1.0"), "{crates:?}");
    println!("the toolkit alone compiles {} crates", crates.len());
    assert!(
        crates.len() <= MOST_OF_THE_CORE + 1,
        "{}: {crates:?}",
        crates.len()
    );
}

#[test]
fn the_quick_start_compiles_few_crates() {
    let tree = tree("quickstart", "normal,build,dev", &[]);
    let crates = crates(&tree);
    assert!(crates.contains("queryables v0.1.0"), "{crates:?}");
    println!("the quick start compiles {} crates", crates.len());
    assert!(crates.len() <= MOST, "{}: {crates:?}", crates.len());
}

#[test]
fn a_crate_counts_once_at_each_version() {
    let tree = "a v1.0.0 (/here)\nb v2.0.0 (proc-macro)\n\nb v2.0.0 (proc-macro) (*)\nb v3.0.0\n";
    assert_eq!(
        crates(tree),
        BTreeSet::from(["a v1.0.0", "b v2.0.0", "b v3.0.0"])
    );
}
