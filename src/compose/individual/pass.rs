//! One pass over records and their accounts.

use super::payers::Policy;
use super::{IndividualQuery, Payers, Tariff};
use crate::account::ValidIndividually;
use crate::data::{CHUNK, Dataset};
use crate::machine::caught;

/// Charges every record for the query and adds up the contributions.
///
/// If the query panics, the accounts of the chunk are restored and its records are read one by
/// one; the one that panics again contributes nothing and pays nothing.
pub(super) fn pass<D, F, Q>(
    query: &Q,
    data: &D,
    accounts: &mut [u64],
    tariff: &Tariff,
    policy: Policy,
    step: u64,
) -> Q::Total
where
    D: Dataset + ?Sized,
    F: ValidIndividually,
    Q: IndividualQuery<D, F>,
{
    let mut total = query.nothing();
    let mut before = Vec::with_capacity(CHUNK);
    for (index, chunk) in accounts.chunks_mut(CHUNK).enumerate() {
        let start = index * CHUNK;
        let mut take = |first: usize, accounts: &mut [u64]| {
            before.clear();
            before.extend_from_slice(accounts);
            let records = start + first..start + first + accounts.len();
            let taken = caught(|| {
                let mut payers = Payers::new(accounts, tariff, policy, step);
                query.take(data, records, &mut payers)
            });
            if taken.is_none() {
                accounts.copy_from_slice(&before);
            }
            taken
        };
        if let Some(part) = take(0, chunk) {
            query.merge(&mut total, part);
            continue;
        }
        for (first, account) in chunk.chunks_mut(1).enumerate() {
            if let Some(part) = take(first, account) {
                query.merge(&mut total, part);
            }
        }
    }
    total
}
