//! Long parameters of a description, in the record.

use std::fmt::Write;

use sha2::{Digest, Sha256};

use crate::machine::Description;

/// The longest value that is recorded as it is, in bytes.
const LONGEST: usize = 200;
/// Of a longer one, this many characters; the digest says the rest.
const SHOWN: usize = 60;
/// What is recorded as it is does not contain it, so that nobody can write a digest by hand.
const MARK: &str = "… SHA-256 ";

/// The description as it is recorded and compared: of a long value its beginning and its digest.
pub(super) fn recorded(description: Description) -> Description {
    if description.parameters().all(|(_, value)| is_short(value)) {
        return description;
    }
    let short = Description::new(description.name().to_owned());
    let short = description.parameters().fold(short, |short, (key, value)| {
        if is_short(value) {
            short.with(key.to_owned(), value)
        } else {
            short.with(key.to_owned(), digested(value))
        }
    });
    if description.is_complete() {
        short
    } else {
        short.incomplete()
    }
}

fn is_short(value: &str) -> bool {
    value.len() <= LONGEST && !value.contains(MARK)
}

fn digested(value: &str) -> String {
    let mut text: String = value.chars().take(SHOWN).collect();
    text.push_str(MARK);
    for byte in Sha256::digest(value.as_bytes()) {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
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
            digested(&million),
            format!("{}{MARK}{digest}", &million[..60])
        );
        let long = Description::new("Count").with("predicate", &million);
        let short = recorded(long.clone());
        assert_eq!(short.get("predicate"), Some(&*digested(&million)));
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
}
