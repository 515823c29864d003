//! What may be written in a name, and how long it may be.

use super::StoreError;
use crate::machine::Description;

/// A name or a key, in bytes.
const LONGEST_NAME: usize = 1024;

/// The name of a mechanism with the names and values of all its parameters, in bytes.
pub(super) const LONGEST_DESCRIPTION: usize = 8192;

/// The same in every store: PostgreSQL has no text with U+0000, and a ledger may be moved there. An
/// analyst who chooses a name does not choose how much is written.
pub(super) fn writable(what: &str, text: &str) -> Result<(), StoreError> {
    without_zero(what, text)?;
    at_most(what, text.len(), LONGEST_NAME)
}

pub(super) fn writable_description(description: &Description) -> Result<(), StoreError> {
    let what = "a description";
    without_zero(what, description.name())?;
    for (key, value) in description.parameters() {
        without_zero(what, key)?;
        without_zero(what, value)?;
    }
    at_most(what, length(description), LONGEST_DESCRIPTION)
}

/// Of a name with the names and values of all its parameters, in bytes.
pub(super) fn length(description: &Description) -> usize {
    let parameters = description.parameters();
    parameters.fold(description.name().len(), |bytes, (key, value)| {
        bytes.saturating_add(key.len()).saturating_add(value.len())
    })
}

fn without_zero(what: &str, text: &str) -> Result<(), StoreError> {
    if text.contains('\0') {
        let unwritable = format!("{what} with the character U+0000");
        return Err(StoreError::Unwritable(unwritable));
    }
    Ok(())
}

fn at_most(what: &str, bytes: usize, limit: usize) -> Result<(), StoreError> {
    if bytes > limit {
        let what = what.to_owned();
        return Err(StoreError::TooLong { what, bytes, limit });
    }
    Ok(())
}
