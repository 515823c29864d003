//! Long descriptions, in the record.

use std::fmt::Write;

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::text::{LONGEST_DESCRIPTION, length};
use crate::machine::Description;

/// The longest value that is recorded as it is, in bytes.
const LONGEST: usize = 200;
/// The longest JSON that is.
const LONGEST_JSON: usize = 4096;
/// Of a longer one, this many characters; the digest says the rest.
const SHOWN: usize = 60;
/// What is recorded as it is does not contain it, so that nobody can write a digest by hand.
const MARK: &str = "… SHA-256 ";
/// In the place of many parameters there is one, and its value says so: the digest of one value never
/// has these words before it.
const ALL: &str = "of all ";

/// The description as it is recorded and compared: of a long value its beginning and its digest, and of
/// many parameters that are too long together those of all of them.
pub(super) fn recorded(description: Description) -> Description {
    let is_short_enough = |short: &Description| length(short) <= LONGEST_DESCRIPTION;
    let each_is_short = description
        .parameters()
        .all(|(key, value)| is_short(key, value));
    if each_is_short && is_short_enough(&description) {
        return description;
    }
    let short = Description::new(description.name().to_owned());
    let mut short = description.parameters().fold(short, |short, (key, value)| {
        if is_short(key, value) {
            short.with(key.to_owned(), value)
        } else {
            short.with(key.to_owned(), digested(value, ""))
        }
    });
    let has_parameters = description.parameters().next().is_some();
    if has_parameters && !is_short_enough(&short) {
        short = Description::new(description.name().to_owned());
        short = short.with("parameters", digested(&listed(&description), ALL));
    }
    if description.is_complete() {
        short
    } else {
        short.incomplete()
    }
}

fn is_short(key: &str, value: &str) -> bool {
    // Half of JSON is nothing to a program.
    let longest = if key.ends_with(".json") {
        LONGEST_JSON
    } else {
        LONGEST
    };
    value.len() <= longest && !value.contains(MARK)
}

/// All parameters in JSON, which quotes each text: another list is another text.
fn listed(description: &Description) -> String {
    let pairs = description.parameters();
    let pairs = pairs.map(|(key, value)| Value::from_iter([key, value]));
    pairs.collect::<Value>().to_string()
}

fn digested(value: &str, of: &str) -> String {
    let mut text: String = value.chars().take(SHOWN).collect();
    text.push_str(MARK);
    text.push_str(of);
    text + &sha256(value)
}

/// The SHA-256 of a text, in hexadecimal digits.
pub(super) fn sha256(text: &str) -> String {
    let mut digits = String::with_capacity(64);
    for byte in Sha256::digest(text.as_bytes()) {
        // Writing to a string does not fail.
        let _ = write!(digits, "{byte:02x}");
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_value_is_its_beginning_and_its_digest() {
        let million = "a".repeat(1_000_000);
        // The third example of FIPS 180-2.
        let digest = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";
        assert_eq!(
            digested(&million, ""),
            format!("{}{MARK}{digest}", &million[..60])
        );
        let long = Description::new("Count").with("predicate", &million);
        let short = recorded(long.clone());
        assert_eq!(short.get("predicate"), Some(&*digested(&million, "")));
        assert!(short.is_complete());
        assert!(!recorded(long.incomplete()).is_complete());
    }

    #[test]
    fn values_that_differ_are_recorded_differently() {
        let recorded = |value: &str| {
            let description = Description::new("Count").with("predicate", value);
            let recorded = recorded(description);
            recorded.get("predicate").unwrap().to_owned()
        };
        for short in ["", "a", &"é".repeat(100)] {
            assert_eq!(recorded(short), short);
        }
        let long = "é".repeat(101);
        assert_ne!(recorded(&long), long);
        assert_ne!(recorded(&long), recorded(&format!("{long}a")));
        // A name that looks like what another one is recorded as.
        let forged = recorded(&long);
        assert_ne!(recorded(&forged), forged);
    }

    #[test]
    fn many_parameters_are_the_digest_of_all_of_them() {
        let described = |pairs: &[(String, String)]| {
            let name = Description::new("Many");
            let pairs = pairs.iter();
            pairs.fold(name, |all, (key, value)| all.with(key.clone(), value))
        };
        let pairs: Vec<_> = (0..2000).map(|n| (n.to_string(), "value".into())).collect();
        let (many, short) = (described(&pairs), recorded(described(&pairs)));
        assert!(length(&short) < 400);
        assert_eq!(short.name(), "Many");
        let value = short.get("parameters").unwrap();
        assert!(value.starts_with(r#"[["0","value"],["1","value"],"#));
        assert!(short.is_complete() && !recorded(many.incomplete()).is_complete());
        // Another key, another value, another order, another border between two texts, one less.
        for change in [
            (|pairs| pairs[900].0 += "0") as fn(&mut Vec<(String, String)>),
            |pairs| pairs[900].1 += "0",
            |pairs| pairs.swap(900, 901),
            |pairs| pairs[900] = ("900v".into(), "alue".into()),
            |pairs| drop(pairs.pop()),
        ] {
            let mut other = pairs.clone();
            change(&mut other);
            assert_ne!(recorded(described(&other)), short);
        }
        // Nobody can write it by hand: not as that value, and not as what it is the digest of.
        let all = listed(&described(&pairs));
        for forged in [value, &*all] {
            let forged = Description::new("Many").with("parameters", forged);
            assert_ne!(recorded(forged), short);
        }
        // Only a name stays as long as it is.
        let named = Description::new("n".repeat(10_000));
        assert_eq!(recorded(named.clone()), named);
    }
}
