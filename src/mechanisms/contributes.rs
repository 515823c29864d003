//! What each record adds to the totals.

use std::ops::Range;

use super::Query;
use super::limit::PAID_COORDINATES;
use super::query::Norm;
use crate::compose::Payers;
use crate::data::{CHUNK, Dataset, each, pieces};
use crate::privacy::{AddRemove, UnknownLoss};

/// A query whose totals are sums of what records add to them.
///
/// Sums by group ([`QueryExt`](super::QueryExt) with [`By`](super::By)), and the form in which each
/// record pays for itself ([`individual`](super::individual)), follow from it.
///
/// # What an implementer owes
///
/// The totals are the sums of what is said here, and what one record adds is within
/// [`Query::change`]. It depends on the record alone.
pub trait Contributes<D: ?Sized>: Query<AddRemove> {
    /// What these records add.
    fn contributions(&self, data: &D, records: Range<usize>) -> Contributions;

    /// How many numbers a record adds.
    fn width(&self) -> usize {
        self.totals()
    }

    /// Adds what these records can pay for, by this norm of what they add.
    fn take(
        &self,
        data: &D,
        records: Range<usize>,
        norm: Norm,
        payers: &mut Payers<'_>,
        totals: &mut [i128],
    ) {
        take_each(self, data, records, norm, payers, totals);
    }

    /// Whether records can pay for it.
    ///
    /// # Errors
    ///
    /// [`UnknownLoss`] if not, with the reason.
    fn payable(&self) -> Result<(), UnknownLoss> {
        if self.totals() > PAID_COORDINATES.most() {
            return Err(UnknownLoss(
                "there are more totals than records can pay for: at most 2^16",
            ));
        }
        Ok(())
    }
}

/// What records add to the totals, [`width`](Contributes::width) numbers each.
///
/// Example: [`QueryExt`](crate::mechanisms::query::QueryExt).
pub struct Contributions {
    /// The numbers, record after record.
    pub numbers: Vec<i128>,
    /// For each record, to which totals it adds: from which on. Beyond the last is nowhere.
    pub places: Vec<usize>,
    /// Which of the records, from 0, cannot be read. What they add has a fixed meaning, and where each
    /// record pays for itself they add nothing.
    pub unreadable: Vec<usize>,
}

impl Contributions {
    /// From the first total on, for this number of records.
    #[must_use]
    pub fn new(records: usize, numbers: Vec<i128>, unreadable: Vec<usize>) -> Self {
        let places = vec![0; records];
        Self {
            numbers,
            places,
            unreadable,
        }
    }
}

// Not the numbers, which are data.
crate::debug_fields!([] Contributions, "Contributions");

/// What [`Contributes::take`] does by default.
pub(super) fn take_each<D: ?Sized>(
    query: &impl Contributes<D>,
    data: &D,
    records: Range<usize>,
    norm: Norm,
    payers: &mut Payers<'_>,
    totals: &mut [i128],
) {
    let width = query.width().max(1);
    let mut added = query.contributions(data, records);
    for row in added.unreadable {
        let numbers = added.numbers.chunks_exact_mut(width).nth(row);
        numbers.unwrap_or_default().fill(0);
    }
    for (numbers, place) in added.numbers.chunks_exact_mut(width).zip(added.places) {
        let totals = at(totals, place, width);
        let size = match totals.is_empty() {
            true => 0,
            false => norm.size(numbers),
        };
        let paid = payers.charge_or(size, |allowed| norm.shrink(numbers, size, allowed));
        if paid > 0 {
            add(totals, numbers);
        }
    }
}

/// The totals from this place on.
fn at(totals: &mut [i128], place: usize, width: usize) -> &mut [i128] {
    let end = place.saturating_add(width);
    totals.get_mut(place..end).unwrap_or_default()
}

fn add(totals: &mut [i128], numbers: &[i128]) {
    for (total, number) in totals.iter_mut().zip(numbers) {
        *total = total.saturating_add(*number);
    }
}

/// More totals than this are not kept once for each thread.
const MOST_TO_MERGE: usize = 1 << 16;

/// The totals, as sums over all records.
pub(super) fn tallied<D, Q>(query: &Q, data: &D, totals: &mut [i128])
where
    D: Dataset + ?Sized,
    Q: Contributes<D>,
{
    let width = query.width().max(1);
    let size = (CHUNK / width).max(1);
    let tally = |range: Range<usize>, totals: &mut [i128]| {
        for start in range.clone().step_by(size) {
            let added = query.contributions(data, start..range.end.min(start + size));
            for (numbers, place) in added.numbers.chunks_exact(width).zip(added.places) {
                add(at(totals, place, width), numbers);
            }
        }
    };
    let records = 0..data.len();
    let divided = pieces(records.clone(), width).filter(|_| totals.len() <= MOST_TO_MERGE);
    let Some(pieces) = divided else {
        return tally(records, totals);
    };
    let length = totals.len();
    let parts = each(pieces, |piece| {
        let mut part = vec![0; length];
        tally(piece, &mut part);
        part
    });
    for part in parts {
        add(totals, &part);
    }
}
