//! What a page links to exists: files, and headings in them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::specification::root;

/// All pages in Markdown below a folder, but for what was built.
fn pages(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() && !matches!(name, "target" | ".git" | "node_modules") {
            pages(&path, found);
        } else if name.ends_with(".md") {
            found.push(path);
        }
    }
}

/// The text without code, in which brackets mean something else.
fn prose(text: &str) -> String {
    let outside = text.split("```").step_by(2).collect::<Vec<_>>().join("\n");
    outside.split('`').step_by(2).collect::<Vec<_>>().join("`")
}

/// Where the page links to.
fn links(text: &str) -> Vec<String> {
    let prose = prose(text);
    let parts = prose.split("](").skip(1);
    let targets = parts.filter_map(|rest| rest.split_once(')'));
    targets.map(|(target, _)| target.to_owned()).collect()
}

/// The anchors of the headings, as forges and mdBook make them.
fn anchors(text: &str) -> BTreeSet<String> {
    let outside = text.split("```").step_by(2).collect::<Vec<_>>().join("\n");
    let headings = outside.lines().filter(|line| line.starts_with('#'));
    headings
        .map(|line| {
            let words = line.trim_start_matches('#').trim().to_lowercase();
            let letters = words.chars().filter_map(|letter| match letter {
                ' ' => Some('-'),
                '-' | '_' => Some(letter),
                _ => letter.is_alphanumeric().then_some(letter),
            });
            letters.collect()
        })
        .collect()
}

/// Why a link of this page leads nowhere, if it does.
fn broken(page: &Path, link: &str) -> Option<&'static str> {
    if link.starts_with("https://") || link.starts_with("http://") {
        return None;
    }
    let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
    let target = if file.is_empty() {
        page.to_owned()
    } else {
        page.parent().unwrap().join(file)
    };
    let Ok(target) = target.canonicalize() else {
        return Some("no such file");
    };
    // The book has its own pages and nothing else.
    let book = root().join("guide/src").canonicalize().unwrap();
    if page.starts_with(&book) && !target.starts_with(&book) {
        return Some("not in the book");
    }
    if !anchor.is_empty() && !anchors(&fs::read_to_string(target).unwrap()).contains(anchor) {
        return Some("no such heading");
    }
    None
}

#[test]
fn every_link_leads_somewhere() {
    let mut found = vec![];
    pages(&root().canonicalize().unwrap(), &mut found);
    let (mut seen, mut problems) = (0, vec![]);
    for page in found {
        for link in links(&fs::read_to_string(&page).unwrap()) {
            seen += 1;
            if let Some(why) = broken(&page, &link) {
                problems.push(format!("{}: {link}: {why}", page.display()));
            }
        }
    }
    assert!(seen > 100, "only {seen} links were found");
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn a_link_that_leads_nowhere_is_noticed() {
    let text = "# A `B`: c\n[x](nowhere.md) `[y](z)`\n```text\n[y](z)\n```\n![p](q.svg)";
    assert_eq!(links(text), ["nowhere.md", "q.svg"]);
    assert_eq!(anchors(text), BTreeSet::from(["a-b-c".to_owned()]));
    let root = root().canonicalize().unwrap();
    let readme = root.join("README.md");
    assert_eq!(broken(&readme, "nowhere.md"), Some("no such file"));
    assert_eq!(
        broken(&readme, "README.md#nothing"),
        Some("no such heading")
    );
    assert_eq!(broken(&readme, "CONTRIBUTING.md#mutants"), None);
    let chapter = root.join("guide/src/before.md");
    assert_eq!(broken(&chapter, "../../README.md"), Some("not in the book"));
}
