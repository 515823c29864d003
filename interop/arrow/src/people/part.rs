//! Some of the people, and what is kept for them.

use std::borrow::Borrow;
use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::Pass;
use super::share::Share;
use crate::person::{Entry, Group, Heap, Store};

pub(crate) type EntryOf<P> =
    Entry<<<P as Pass>::Key as ToOwned>::Owned, <P as Pass>::Group, <P as Pass>::Kept>;

/// Some of the people: those with the same bits of their hash.
pub(crate) struct Part<P: Pass + ?Sized> {
    pub(crate) table: HashTable<EntryOf<P>>,
    pub(crate) store: P::Store,
    /// The bytes that entries take besides themselves.
    heap: usize,
}

impl<P: Pass + ?Sized> Default for Part<P> {
    fn default() -> Self {
        Self {
            table: HashTable::new(),
            store: P::Store::default(),
            heap: 0,
        }
    }
}

impl<P: Pass> Part<P> {
    /// How much memory it takes.
    pub(super) fn bytes(&self) -> usize {
        let entry = size_of::<EntryOf<P>>() + 1;
        self.table.capacity() * entry + self.store.bytes() + self.heap
    }

    /// Adds a row of a person with this hash.
    #[inline]
    pub(super) fn add(
        &mut self,
        pass: &P,
        hasher: &DefaultHashBuilder,
        (hash, person): (u64, &P::Key),
        (group, update): (P::Group, P::Update),
    ) {
        let hash = in_group(hash, group);
        let is_same = |entry: &EntryOf<P>| entry.group == group && entry.person.borrow() == person;
        // Nearly always they are known. To look for a free place at the same time would take longer.
        if let Some(entry) = self.table.find_mut(hash, is_same) {
            let before = entry.kept.heap();
            pass.add(&mut self.store, &mut entry.kept, update);
            self.heap = self.heap - before + entry.kept.heap();
            return;
        }
        let mut kept = pass.start(&mut self.store);
        pass.add(&mut self.store, &mut kept, update);
        let entry = Entry {
            person: person.to_owned(),
            group,
            kept,
        };
        self.insert(hasher, hash, entry);
    }

    fn insert(&mut self, hasher: &DefaultHashBuilder, hash: u64, entry: EntryOf<P>) {
        self.heap += entry.heap();
        self.table.insert_unique(hash, entry, |entry| {
            in_group(hasher.hash_one(entry.person.borrow()), entry.group)
        });
    }

    /// Only those people who are in this share, in as much memory as they need.
    pub(super) fn only(self, pass: &P, hasher: &DefaultHashBuilder, share: Share) -> Self {
        let mut left = Self::default();
        for mut entry in self.table {
            let hash = hasher.hash_one(entry.person.borrow());
            if share.has(hash) {
                entry.kept = pass.move_to(&mut left.store, &self.store, entry.kept);
                left.insert(hasher, in_group(hash, entry.group), entry);
            }
        }
        left
    }

    #[cfg(test)]
    pub(super) fn heap(&self) -> usize {
        self.heap
    }
}

/// The hash of a person in a group.
#[inline]
fn in_group<G: Group>(hash: u64, group: G) -> u64 {
    // An odd number with bits everywhere: 2^64 divided by the golden ratio.
    hash.wrapping_add(u64::from(group.number()).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}
