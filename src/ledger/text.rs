//! What may be written in a name.

use super::StoreError;
use crate::machine::Description;

/// The same in every store: PostgreSQL has no text with U+0000, and a ledger may be moved there.
pub(super) fn writable(what: &str, text: &str) -> Result<(), StoreError> {
    if text.contains('\0') {
        let unwritable = format!("{what} with the character U+0000");
        return Err(StoreError::Unwritable(unwritable));
    }
    Ok(())
}

pub(super) fn writable_description(description: &Description) -> Result<(), StoreError> {
    let what = "a description";
    writable(what, description.name())?;
    description.parameters().try_for_each(|(key, value)| {
        writable(what, key)?;
        writable(what, value)
    })
}
