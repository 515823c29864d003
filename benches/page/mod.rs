//! The page that the benchmarks write, each its own section.

use std::fs;
use std::process::Command;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../spec/performance.md");

/// Replaces what stands under a heading of the page.
pub fn write_section(heading: &str, body: &str) {
    let page = fs::read_to_string(PAGE).expect("the page can be read");
    let mark = format!("\n## {heading}\n");
    let (before, after) = page.split_once(&mark).expect("the page has the heading");
    let rest = after.find("\n## ").map_or("", |next| &after[next..]);
    let body = body.trim_end();
    let page = format!("{before}{mark}\n{body}\n{rest}");
    fs::write(PAGE, page).expect("the page can be written");
}

/// Whether the whole benchmark runs: `cargo bench`, without anything that leaves some of it out.
pub fn whole_run() -> bool {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    arguments == ["--bench"]
}

/// When, where and at which commit a benchmark is run, for its section. Ask before it starts: the
/// load should be that of everything else.
#[allow(dead_code)] // Not every benchmark says it.
pub fn conditions() -> String {
    let said = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).output();
        let text = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
        text.unwrap_or_else(|_| "unknown".to_owned())
    };
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load
        .split_whitespace()
        .next()
        .unwrap_or("unknown")
        .to_owned();
    format!(
        "Measured on {} at commit {}, on {} processors; the load was {load} before the run.",
        said("date", &["+%F"]),
        said("git", &["rev-parse", "--short", "HEAD"]),
        std::thread::available_parallelism().map_or(1, usize::from),
    )
}
