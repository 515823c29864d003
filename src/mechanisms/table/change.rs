//! By how much one person changes the totals of a plan.

use std::num::NonZeroU64;

use super::super::{Change, MechanismError, RowRelation};
use crate::table::{Bound, Plan};

/// The change of a plan's totals between neighbours that differ by one person.
///
/// # Guarantee
///
/// A person who is added or removed changes the totals by a vector that [`Bound`] speaks of. One who is
/// replaced takes one such vector away and adds another ([`Change::moved`]). Where no row lowers a total,
/// both have numbers from 0 to the bound, and so has their difference: then no more than all totals change,
/// each by the bound at most.
pub(super) fn change_of<R: RowRelation>(plan: &Plan) -> Result<Change, MechanismError> {
    let totals = NonZeroU64::new(plan.totals() as u64).unwrap_or(NonZeroU64::MIN);
    let together = |rows: u64| {
        let most = plan.largest_row().checked_mul(rows.into());
        let most = most.and_then(|most| u64::try_from(most).ok());
        Change::of(most.ok_or(MechanismError::TooFine)?)
    };
    let change = match plan.bound() {
        Bound::Row | Bound::First => together(1)?,
        Bound::Rows(most) => together(most)?,
        Bound::L1(most) => Change::of(most)?,
        Bound::L2(most) => Change {
            places: totals,
            ..Change::of(most)?
        },
        Bound::Each(most) => everywhere(Change::of(most)?, totals),
    };
    let one_way = plan.moves_one_way();
    let change = if one_way { change } else { change.both_ways() };
    if !R::REPLACES {
        return Ok(change);
    }
    let moved = change.moved()?;
    if !one_way {
        return Ok(moved);
    }
    let all = everywhere(change, totals);
    Ok(Change {
        places: moved.places.min(all.places),
        square: moved.square.min(all.square),
        ..moved
    })
}

/// Every total changes by what one may change by. A square that saturates is of no use, and never the least.
fn everywhere(change: Change, totals: NonZeroU64) -> Change {
    let each = u128::from(change.each.get());
    Change {
        places: totals,
        square: (each * each).saturating_mul(totals.get().into()),
        ..change
    }
}
