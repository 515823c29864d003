//! The page that the benchmarks write, each its own section.

use std::fs;

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
