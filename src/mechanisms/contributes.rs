//! What each record adds to the totals.

use std::ops::Range;

use super::Query;
use super::limit::PAID_COORDINATES;
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
/// The totals are the sums of what is written here, and what one record adds is within
/// [`Query::change`]. It depends on the record alone.
pub trait Contributes<D: ?Sized>: Query<AddRemove> {
    /// Writes what these records add, one after the other, [`width`](Self::width) numbers for each.
    /// `unreadable` is told which of them, from 0, cannot be read, and what is written for those has
    /// a fixed meaning.
    fn contributions(
        &self,
        data: &D,
        records: Range<usize>,
        numbers: &mut [i128],
        unreadable: &mut dyn FnMut(usize),
    );

    /// How many numbers a record adds.
    fn width(&self) -> usize {
        self.totals()
    }

    /// Writes for each record to which totals it adds: from which on. Beyond the last is nowhere.
    fn places(&self, _data: &D, _records: Range<usize>, places: &mut [usize]) {
        places.fill(0);
    }

    /// Adds what these records can pay for.
    fn take<N: Norm>(
        &self,
        data: &D,
        records: Range<usize>,
        payers: &mut Payers<'_>,
        totals: &mut [i128],
    ) {
        take_each::<N, D>(self, data, records, payers, totals);
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

/// What a record's numbers cost.
#[doc(hidden)]
pub trait Norm {
    /// Whether records pay by squares.
    const SQUARES: bool;

    /// The sum of the numbers, or of their squares.
    fn size(numbers: &[i128]) -> u64;

    /// Makes them smaller, toward zero, until their size is at most what is allowed, and says what
    /// it is then.
    fn shrink(numbers: &mut [i128], size: u64, allowed: u64) -> u64;
}

/// What [`Contributes::take`] does by default.
pub(super) fn take_each<N: Norm, D: ?Sized>(
    query: &impl Contributes<D>,
    data: &D,
    records: Range<usize>,
    payers: &mut Payers<'_>,
    totals: &mut [i128],
) {
    let width = query.width().max(1);
    let mut numbers = vec![0; records.len() * width];
    let mut places = vec![0; records.len()];
    query.places(data, records.clone(), &mut places);
    let mut unreadable = Vec::new();
    query.contributions(data, records, &mut numbers, &mut |row| unreadable.push(row));
    for row in unreadable {
        let numbers = numbers.chunks_exact_mut(width).nth(row);
        numbers.unwrap_or_default().fill(0);
    }
    for (numbers, place) in numbers.chunks_exact_mut(width).zip(places) {
        let totals = at(totals, place, width);
        let size = if totals.is_empty() {
            0
        } else {
            N::size(numbers)
        };
        let paid = payers.charge_or(size, |allowed| N::shrink(numbers, size, allowed));
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
        let mut numbers = vec![0; size * width];
        let mut places = vec![0; size];
        for start in range.clone().step_by(size) {
            let chunk = start..range.end.min(start + size);
            let places = places.get_mut(..chunk.len()).unwrap_or_default();
            let numbers = numbers.get_mut(..chunk.len() * width).unwrap_or_default();
            query.places(data, chunk.clone(), places);
            query.contributions(data, chunk, numbers, &mut |_| ());
            for (numbers, place) in numbers.chunks_exact(width).zip(places) {
                add(at(totals, *place, width), numbers);
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
