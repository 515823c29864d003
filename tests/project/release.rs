//! What is published says what it is, and pages say the same versions as the manifests.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::specification::root;

/// The members of both workspaces, as cargo reads them.
fn packages() -> Vec<Value> {
    let mut packages = vec![];
    for folder in ["", "interop/spark"] {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.current_dir(root().join(folder));
        cargo.args(["metadata", "--offline", "--no-deps", "--format-version=1"]);
        let output = cargo.output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{errors}");
        let mut metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
        let members: Vec<Value> = serde_json::from_value(metadata["packages"].take()).unwrap();
        packages.extend(members);
    }
    packages
}

/// What is missing in the manifest of a package that is published.
fn missing(package: &Value) -> Vec<&'static str> {
    let text = |field: &str| package[field].as_str().is_some_and(|text| !text.is_empty());
    let some = |field: &str| package[field].as_array().is_some_and(|all| !all.is_empty());
    let mut missing: Vec<_> = ["description", "documentation", "license", "readme"]
        .into_iter()
        .filter(|field| !text(field))
        .collect();
    missing.extend(
        ["keywords", "categories"]
            .into_iter()
            .filter(|field| !some(field)),
    );
    // A program has no documentation to build.
    let library = package["targets"].as_array().unwrap().iter();
    let library = library.clone().any(|target| target["kind"][0] == "lib");
    if library && package["metadata"]["docs"]["rs"]["all-features"] != true {
        missing.push("all features on the page of its documentation");
    }
    missing
}

fn page(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap()
}

#[test]
fn what_is_published_says_what_it_is() {
    let mut published = 0;
    for package in packages() {
        let name = package["name"].as_str().unwrap();
        let public = package["publish"].is_null();
        assert_eq!(public, name.starts_with("queryables"), "publish of {name}");
        if public {
            published += 1;
            assert_eq!(missing(&package), [""; 0], "{name}");
            let line = format!("`{name}`");
            assert!(page("spec/release.md").contains(&line), "the order: {name}");
            assert!(
                page("CHANGELOG.md").contains(&line),
                "the changelog: {name}"
            );
        }
    }
    assert!(published > 7, "only {published} packages were found");
}

#[test]
fn pages_and_manifests_say_the_same_versions() {
    let packages = packages();
    let named = |name: &str| packages.iter().find(|package| package["name"] == name);
    let toolkit = named("queryables").unwrap();
    let (version, rust) = (&toolkit["version"], &toolkit["rust_version"]);
    for package in packages
        .iter()
        .filter(|package| package["publish"].is_null())
    {
        assert_eq!(&package["version"], version, "{}", package["name"]);
        assert_eq!(&package["rust_version"], rust, "{}", package["name"]);
    }
    let (version, rust) = (version.as_str().unwrap(), rust.as_str().unwrap());
    let (short, _) = version.rsplit_once('.').unwrap();
    for (name, says) in [
        ("README.md", format!("{rust} or later")),
        ("guide/src/before.md", format!("Rust {rust} or later")),
        ("guide/src/before.md", format!("queryables = \"{short}\"")),
        (
            "interop/opendp/src/lib.rs",
            format!("queryables = \"{short}\"\n//! queryables-opendp = \"{short}\""),
        ),
        ("CITATION.cff", format!("version: {version}")),
        ("CHANGELOG.md", version.to_owned()),
    ] {
        assert!(page(name).contains(&says), "{name} does not say: {says}");
    }
}

/// At 250 words a minute. The program and the tables are looked at, not read.
#[test]
fn the_readme_takes_two_minutes() {
    let readme = page("README.md");
    let outside = readme.split("```").step_by(2).flat_map(str::lines);
    let read = outside.filter(|line| !line.starts_with('|'));
    let words: usize = read.map(|line| line.split_whitespace().count()).sum();
    assert!((300..=500).contains(&words), "{words} words");
}

#[test]
fn what_a_manifest_lacks_is_noticed() {
    let package = serde_json::json!({
        "description": "A crate.",
        "license": "MIT",
        "readme": null,
        "documentation": "",
        "keywords": [],
        "categories": ["algorithms"],
        "targets": [{"kind": ["lib"]}],
        "metadata": null,
    });
    assert_eq!(
        missing(&package),
        [
            "documentation",
            "readme",
            "keywords",
            "all features on the page of its documentation"
        ]
    );
}
