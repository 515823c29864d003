//! What a result is about.

use std::fmt::{self, Debug, Write};

/// What a result is about: it says nothing about anything else.
///
/// Example: [`Verifier`](crate::verify::Verifier).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Scope {
    /// The two sides, in short: the two datasets, or two mechanisms.
    pub sides: [String; 2],
    /// How many queries a conversation has at most.
    pub depth: usize,
    /// What was offered by the menu, in the order in which it was first offered: the query as it
    /// prints, and whether it was ever answered, or launched.
    pub menu: Vec<(String, bool)>,
    /// How many points of the conversation were explored. What is explored again, at a smaller cut or
    /// with released values taken together, counts again.
    pub points: u64,
    /// How often the machine was run.
    pub runs: u64,
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [one, other] = &self.sides;
        write!(f, "scope: {one} against {other}; ")?;
        if !self.menu.is_empty() {
            let queries = counted(self.menu.len() as u64, "query", "queries");
            write!(f, "{queries} on the menu, ")?;
        }
        let rounds = counted(self.depth as u64, "round", "rounds");
        let points = counted(self.points, "point", "points");
        write!(f, "up to {rounds}, {points}")?;
        if self.menu.is_empty() {
            return f.write_str("; nothing was asked");
        }
        let named = |answered| {
            let entries = self.menu.iter().filter(move |(_, was)| *was == answered);
            entries.map(|(query, _)| query.as_str()).collect::<Vec<_>>()
        };
        let (answered, never) = (named(true), named(false));
        match never.as_slice() {
            [] => f.write_str("; each was answered"),
            _ => write!(
                f,
                "; answered: {}; never answered: {}",
                list(&answered),
                list(&never)
            ),
        }
    }
}

fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// A few of them, and how many more there are.
fn list(queries: &[&str]) -> String {
    const SHOWN: usize = 6;
    let mut text = match queries {
        [] => "none".to_owned(),
        [..] => queries
            .iter()
            .take(SHOWN)
            .copied()
            .collect::<Vec<_>>()
            .join(", "),
    };
    if queries.len() > SHOWN {
        text += &format!(" and {} more", queries.len() - SHOWN);
    }
    text
}

/// The beginning of what a value prints.
pub(super) fn in_short(value: &(impl Debug + ?Sized)) -> String {
    let mut short = Short(String::new());
    // An error says that there was more.
    if write!(short, "{value:?}").is_err() {
        short.0.push('…');
    }
    short.0
}

/// Two values in short, each with where they differ if they begin alike.
pub(super) fn both_in_short<D: Debug + ?Sized>(one: &D, other: &D) -> [String; 2] {
    let short = [one, other].map(in_short);
    if short[0] != short[1] {
        return short;
    }
    let full = [one, other].map(|value| format!("{value:?}"));
    let letters = full[0].chars().zip(full[1].chars());
    let alike = letters.take_while(|(one, other)| one == other).count();
    if alike < LETTERS {
        return short;
    }
    full.map(|text| {
        let beginning: String = text.chars().take(LETTERS / 3).collect();
        let mut rest = text.chars().skip(alike - LETTERS / 6);
        let part: String = rest.by_ref().take(LETTERS * 2 / 3).collect();
        let more = if rest.next().is_some() { "…" } else { "" };
        format!("{beginning}…{part}{more}")
    })
}

/// The number of letters of a dataset that are shown.
const LETTERS: usize = 60;

/// Takes a few letters and then fails, so that a large value is not printed in full.
struct Short(String);

impl Write for Short {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for letter in text.chars() {
            if self.0.chars().count() >= LETTERS {
                return Err(fmt::Error);
            }
            self.0.push(letter);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_dataset_is_shown_in_short() {
        assert_eq!(in_short(&[1, 2]), "[1, 2]");
        let shown = in_short(&vec![12; 1_000_000]);
        assert_eq!(shown.chars().count(), LETTERS + 1);
        assert!(shown.starts_with("[12, 12") && shown.ends_with('…'));
    }

    #[test]
    fn what_was_never_answered_is_named() {
        let entry = |query: &str, answered| (query.to_owned(), answered);
        let mut scope = Scope {
            sides: ["[1]".to_owned(), "[]".to_owned()],
            depth: 1,
            menu: vec![entry("7", true), entry("8", true)],
            points: 3,
            runs: 9,
        };
        assert_eq!(
            scope.to_string(),
            "scope: [1] against []; 2 queries on the menu, up to 1 round, 3 points; each was \
             answered"
        );
        scope.menu[1].1 = false;
        assert_eq!(
            scope.to_string(),
            "scope: [1] against []; 2 queries on the menu, up to 1 round, 3 points; answered: 7; \
             never answered: 8"
        );
    }
}
