//! The rows that a thread has read, and that are not yet added to their people.

use std::hash::BuildHasher;

use queryables::mechanisms::query::Unavailable;

use super::Pass;
use super::shared::People;
use crate::evaluate::Batch;
use crate::person::{Heap, Key};

/// The rows that one thread has read, for each part of the people.
pub(super) struct Rows<'a, 'p, P: Pass> {
    people: &'a People<'p, P>,
    waiting: Vec<Waiting<P>>,
}

impl<'a, 'p, P: Pass> Rows<'a, 'p, P> {
    /// For a number of parts that is a power of two, at most 2^7.
    pub(super) fn new(people: &'a People<'p, P>, parts: usize) -> Self {
        Self {
            people,
            waiting: (0..parts).map(|_| Waiting::default()).collect(),
        }
    }

    pub(super) fn read(
        &mut self,
        batch: &Batch<'_>,
        scratch: &mut P::Scratch,
    ) -> Result<(), Unavailable> {
        let Self { people, waiting } = self;
        let share = people.share();
        let shift = 55 - waiting.len().ilog2();
        let mask = waiting.len() - 1;
        people.pass.read(batch, scratch, |person, group, update| {
            let hash = people.hasher.hash_one(person);
            if !share.has(hash) {
                return;
            }
            // Of the bits from 48 to 54, which neither a share nor the table uses, the highest.
            let number = (hash >> shift) as usize & mask;
            let Some(rows) = waiting.get_mut(number) else {
                return;
            };
            rows.push(person, (group, update));
            if rows.bytes() >= people.most_waiting {
                people.add(number, rows);
            }
        })
    }

    /// Adds those that are left.
    pub(super) fn add_all(mut self) {
        for (number, rows) in self.waiting.iter_mut().enumerate() {
            self.people.add(number, rows);
        }
    }
}

type RowOf<P> = (
    <<P as Pass>::Key as Key>::Short,
    (<P as Pass>::Group, <P as Pass>::Update),
);

/// Rows that wait for a part.
pub(super) struct Waiting<P: Pass> {
    rows: Vec<RowOf<P>>,
    /// The names of their people, one after the other, where those are texts.
    names: String,
    /// The bytes that their updates take besides themselves.
    heap: usize,
}

impl<P: Pass> Default for Waiting<P> {
    fn default() -> Self {
        Self {
            rows: Vec::new(),
            names: String::new(),
            heap: 0,
        }
    }
}

impl<P: Pass> Waiting<P> {
    #[inline]
    pub(super) fn push(&mut self, person: &P::Key, row: (P::Group, P::Update)) {
        self.heap += row.1.heap();
        let short = person.shorten(&mut self.names);
        self.rows.push((short, row));
    }

    #[inline]
    pub(super) fn bytes(&self) -> usize {
        self.rows.len() * size_of::<RowOf<P>>() + self.names.len() + self.heap
    }

    /// Calls with each, and leaves none.
    #[inline]
    pub(super) fn drain(&mut self, mut row: impl FnMut(&P::Key, (P::Group, P::Update))) {
        for (short, waiting) in self.rows.drain(..) {
            row(P::Key::of(&short, &self.names), waiting);
        }
        self.names.clear();
        self.heap = 0;
    }
}
