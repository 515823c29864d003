//! Texts that are made when the program runs, kept for as long as it does.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::sync::{Mutex, PoisonError};

/// The longest text, in bytes. The rest is cut off.
const LONGEST: usize = 240;
/// How many different texts are kept.
const MOST: usize = 1024;
/// Said instead of one more.
const TOO_MANY: &str = "too many different reasons were given to keep this one";

static KEPT: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

/// The text as a constant, so that faults stay small and `Copy`: each is kept once, and all of them take
/// a bounded amount of memory, however many a stranger provokes.
pub(crate) fn kept(text: impl Display) -> &'static str {
    let mut text = text.to_string();
    let ends = (0..=text.len().min(LONGEST)).rev();
    let end = ends.into_iter().find(|end| text.is_char_boundary(*end));
    text.truncate(end.unwrap_or(0));
    let mut all = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = all.get(text.as_str()) {
        return known;
    }
    if all.len() >= MOST {
        return TOO_MANY;
    }
    let text: &'static str = text.leak();
    all.insert(text);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One test, because all texts are kept in one place.
    #[test]
    fn texts_are_kept_once_cut_off_and_not_without_end() {
        let (one, other) = (kept("column 7"), kept(format_args!("column {}", 7)));
        assert_eq!((one, one.as_ptr()), ("column 7", other.as_ptr()));
        // An é has two bytes, and is not cut in half.
        let long = kept(format_args!("x{}", "é".repeat(LONGEST)));
        assert_eq!(long, format!("x{}", "é".repeat(119)));
        for number in 0..MOST {
            kept(number);
        }
        assert_eq!(kept("one more"), TOO_MANY);
        assert_eq!(kept("column 7"), "column 7");
        assert!(KEPT.lock().unwrap().len() <= MOST);
    }
}
