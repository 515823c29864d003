//! One pass over records and their accounts.

use std::ops::Range;

use super::accounts::{Accounts, Slots};
use super::payers::Policy;
use super::{IndividualQuery, Payers, RecordAmount, Tariff};
use crate::account::ValidIndividually;
use crate::data::{CHUNK, Dataset, each, pieces};
use crate::machine::caught;

/// What a pass needs besides the accounts.
pub(super) struct Charging<'a, D: ?Sized, Q> {
    pub(super) query: &'a Q,
    pub(super) data: &'a D,
    pub(super) tariff: &'a Tariff,
    pub(super) policy: Policy,
    /// The declared budget.
    pub(super) step: RecordAmount,
}

/// For [`pieces`]: charging a record takes about as long as reading this number of values.
const VALUES: usize = 4;

impl<D: Dataset + ?Sized, Q> Charging<'_, D, Q> {
    /// Charges every record for the query and adds up the contributions: on several threads if there
    /// are many, which makes no difference.
    pub(super) fn pass<F>(&self, accounts: &mut Accounts) -> Q::Total
    where
        F: ValidIndividually,
        Q: IndividualQuery<D, F>,
    {
        let mut slots = accounts.slots();
        if self.tariff.delta() == 0 {
            slots.deltas = &mut [];
        }
        let Some(pieces) = pieces(0..slots.len(), VALUES) else {
            return self.piece(0, slots);
        };
        // All of the same length, but for the last.
        let size = pieces.first().map_or(1, Range::len);
        let starts = pieces.into_iter().map(|piece| piece.start);
        let parts = starts.zip(slots.chunks(size)).collect();
        let totals = each(parts, |(start, slots)| self.piece(start, slots));
        let mut total = self.query.nothing();
        for part in totals {
            self.query.merge(&mut total, part);
        }
        total
    }

    /// The records from `start` on. If the query panics, the accounts of the chunk are restored and
    /// its records are read one by one; the one that panics again contributes nothing and pays
    /// nothing.
    fn piece<F>(&self, start: usize, slots: Slots<'_>) -> Q::Total
    where
        F: ValidIndividually,
        Q: IndividualQuery<D, F>,
    {
        let mut total = self.query.nothing();
        let mut before = Accounts::default();
        for (index, mut chunk) in slots.chunks(CHUNK).enumerate() {
            let start = start + index * CHUNK;
            if let Some(part) = self.take(start, chunk.reborrow(), &mut before) {
                self.query.merge(&mut total, part);
                continue;
            }
            for (at, slot) in chunk.chunks(1).enumerate() {
                if let Some(part) = self.take(start + at, slot, &mut before) {
                    self.query.merge(&mut total, part);
                }
            }
        }
        total
    }

    /// One call of the query; `None` if it panics, and then the accounts are as before.
    fn take<F>(&self, start: usize, mut slots: Slots<'_>, before: &mut Accounts) -> Option<Q::Total>
    where
        F: ValidIndividually,
        Q: IndividualQuery<D, F>,
    {
        before.save(&slots);
        let records = start..start + slots.len();
        let taken = caught(|| {
            let mut payers = Payers::new(slots.reborrow(), self.tariff, self.policy, self.step);
            self.query.take(self.data, records, &mut payers)
        });
        if taken.is_none() {
            slots.restore(before);
        }
        taken
    }
}
