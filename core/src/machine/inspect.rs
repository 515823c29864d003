//! Machines that show their whole state to an explorer.

use std::hash::{Hash, Hasher};

/// A machine that can write down its whole state, so that an explorer recognises states that it has
/// met before.
///
/// Everything that implements [`Hash`] implements it, by the bytes that it hashes; a compositor
/// implements it if its data, its rule and its children do.
///
/// Example: `queryables::verify::Verifier`.
///
/// # What an implementer owes
///
/// Two machines that write the same key are the same from now on: given the same queries and the
/// same coins, they answer alike. A derived `Hash` is enough if the whole state is in the fields.
///
/// Only this crate can make and read keys, so a holder of a handle cannot use one to look inside.
pub trait Inspect {
    /// Writes the state.
    fn inspect(&self, key: &mut StateKey);
}

impl<T: Hash + ?Sized> Inspect for T {
    fn inspect(&self, key: &mut StateKey) {
        self.hash(&mut Bytes(&mut key.0));
    }
}

/// A machine's state, written down.
///
/// Example: `queryables::verify::Verifier`.
pub struct StateKey(Vec<u8>);

// Nothing of the contents: one part must not read what another part wrote.
crate::debug_fields!([] StateKey, "StateKey");

impl StateKey {
    /// Writes a part of the state.
    pub fn write<T: Inspect + ?Sized>(&mut self, part: &T) {
        part.inspect(self);
    }

    pub(crate) fn of<T: Inspect + ?Sized>(machine: &T) -> Vec<u8> {
        let mut key = Self(Vec::new());
        key.write(machine);
        key.0
    }
}

/// A "hasher" that keeps every byte: equal keys, and not only equal hashes, are equal states.
struct Bytes<'a>(&'a mut Vec<u8>);

impl Hasher for Bytes<'_> {
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn finish(&self) -> u64 {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_states_have_different_keys() {
        let keys = [
            StateKey::of(&vec![1_u8, 2]),
            StateKey::of(&vec![1_u8, 2, 0]),
            StateKey::of(&("a", "bc")),
            StateKey::of(&("ab", "c")),
            StateKey::of(&Some(1_u8)),
            StateKey::of(&None::<u8>),
        ];
        for (index, key) in keys.iter().enumerate() {
            assert!(!keys[..index].contains(key), "{index}");
        }
    }
}
