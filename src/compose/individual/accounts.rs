//! What records have left, or have spent.

use super::RecordAmount;

/// The accounts of some records: a number each, and δ if the rule leaves them any.
///
/// Two columns, so that rules without a δ need eight bytes for a record, and queries without one do
/// not touch the second.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Accounts {
    pub(super) numbers: Vec<u64>,
    /// Of all records, or of none.
    pub(super) deltas: Vec<u64>,
}

impl Accounts {
    pub(super) fn get(&self, index: usize) -> Option<RecordAmount> {
        Some(RecordAmount {
            number: *self.numbers.get(index)?,
            delta: self.deltas.get(index).copied().unwrap_or(0),
        })
    }

    pub(super) fn all(&self) -> impl Iterator<Item = RecordAmount> {
        (0..self.numbers.len()).filter_map(|index| self.get(index))
    }

    pub(super) fn slots(&mut self) -> Slots<'_> {
        Slots {
            numbers: &mut self.numbers,
            deltas: &mut self.deltas,
        }
    }

    /// Copies these accounts, in place of what it held.
    pub(super) fn save(&mut self, slots: &Slots<'_>) {
        self.numbers.clear();
        self.numbers.extend_from_slice(slots.numbers);
        self.deltas.clear();
        self.deltas.extend_from_slice(slots.deltas);
    }
}

/// The accounts of some records, to be changed.
pub(super) struct Slots<'a> {
    pub(super) numbers: &'a mut [u64],
    /// As many, or none.
    pub(super) deltas: &'a mut [u64],
}

impl<'a> Slots<'a> {
    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    pub(super) fn reborrow(&mut self) -> Slots<'_> {
        Slots {
            numbers: self.numbers,
            deltas: self.deltas,
        }
    }

    /// The accounts in pieces of this size.
    pub(super) fn chunks(self, size: usize) -> impl Iterator<Item = Slots<'a>> {
        let mut deltas = self.deltas.chunks_mut(size.max(1));
        let numbers = self.numbers.chunks_mut(size.max(1));
        numbers.map(move |numbers| Slots {
            numbers,
            deltas: deltas.next().unwrap_or_default(),
        })
    }

    /// Back to what was [saved](Accounts::save) of the same accounts.
    pub(super) fn restore(&mut self, saved: &Accounts) {
        self.numbers.copy_from_slice(&saved.numbers);
        self.deltas.copy_from_slice(&saved.deltas);
    }

    /// Sets each account to what `amount_of` says of its index.
    pub(super) fn set(self, amounts: impl Iterator<Item = RecordAmount>) {
        let mut deltas = self.deltas.iter_mut();
        for (number, amount) in self.numbers.iter_mut().zip(amounts) {
            *number = amount.number;
            if let Some(delta) = deltas.next() {
                *delta = amount.delta;
            }
        }
    }
}
