//! One pass over records and their accounts.

use super::payers::Policy;
use super::{IndividualQuery, Payers, Tariff};
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
    pub(super) step: u64,
}

/// For [`pieces`]: charging a record takes about as long as reading this number of values.
const VALUES: usize = 4;

impl<D: Dataset + ?Sized, Q> Charging<'_, D, Q> {
    /// Charges every record for the query and adds up the contributions: on several threads if there
    /// are many, which makes no difference.
    pub(super) fn pass<F>(&self, accounts: &mut [u64]) -> Q::Total
    where
        F: ValidIndividually,
        Q: IndividualQuery<D, F>,
    {
        let Some(pieces) = pieces(0..accounts.len(), VALUES) else {
            return self.piece(0, accounts);
        };
        let mut rest = accounts;
        let mut parts = Vec::with_capacity(pieces.len());
        for piece in pieces {
            let (accounts, others) = rest.split_at_mut(piece.len().min(rest.len()));
            parts.push((piece.start, accounts));
            rest = others;
        }
        let totals = each(parts, |(start, accounts)| self.piece(start, accounts));
        let mut total = self.query.nothing();
        for part in totals {
            self.query.merge(&mut total, part);
        }
        total
    }

    /// The records from `start` on. If the query panics, the accounts of the chunk are restored and
    /// its records are read one by one; the one that panics again contributes nothing and pays
    /// nothing.
    fn piece<F>(&self, start: usize, accounts: &mut [u64]) -> Q::Total
    where
        F: ValidIndividually,
        Q: IndividualQuery<D, F>,
    {
        let mut total = self.query.nothing();
        let mut before = Vec::with_capacity(CHUNK);
        for (index, chunk) in accounts.chunks_mut(CHUNK).enumerate() {
            let start = start + index * CHUNK;
            if let Some(part) = self.take(start, chunk, &mut before) {
                self.query.merge(&mut total, part);
                continue;
            }
            for (at, account) in chunk.chunks_mut(1).enumerate() {
                if let Some(part) = self.take(start + at, account, &mut before) {
                    self.query.merge(&mut total, part);
                }
            }
        }
        total
    }

    /// One call of the query; `None` if it panics, and then the accounts are as before.
    fn take<F>(&self, start: usize, accounts: &mut [u64], before: &mut Vec<u64>) -> Option<Q::Total>
    where
        F: ValidIndividually,
        Q: IndividualQuery<D, F>,
    {
        before.clear();
        before.extend_from_slice(accounts);
        let records = start..start + accounts.len();
        let taken = caught(|| {
            let mut payers = Payers::new(accounts, self.tariff, self.policy, self.step);
            self.query.take(self.data, records, &mut payers)
        });
        if taken.is_none() {
            accounts.copy_from_slice(before);
        }
        taken
    }
}
