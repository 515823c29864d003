//! By how much one person changes the totals of a plan.

use std::num::NonZeroU64;

use super::super::{Change, MechanismError, RowRelation};
use crate::table::{Bound, Plan};

/// The change of a plan's totals between neighbours that differ by one person.
///
/// # Guarantee
///
/// A person who is added or removed changes the totals by a vector that [`Bound`] speaks of. One who is
/// replaced takes one such vector away and adds another ([`Change::moved`]); in a single total that no row
/// lowers, both are from 0 to the bound, and so is their difference.
pub(super) fn change_of<R: RowRelation>(plan: &Plan) -> Result<Change, MechanismError> {
    let totals = NonZeroU64::new(plan.totals() as u64).unwrap_or(NonZeroU64::MIN);
    let change = match plan.bound() {
        Bound::Row | Bound::First => {
            let row = u64::try_from(plan.largest_row());
            Change::of(row.map_err(|_| MechanismError::TooFine)?)?
        }
        Bound::L1(most) => Change::of(most)?,
        Bound::L2(most) => Change {
            places: totals,
            ..Change::of(most)?
        },
        Bound::Each(most) => {
            let each = Change::of(most)?;
            let square = each.square.checked_mul(totals.get().into());
            Change {
                places: totals,
                square: square.ok_or(MechanismError::TooFine)?,
                ..each
            }
        }
    };
    let one_way = plan.moves_one_way();
    let change = if one_way { change } else { change.both_ways() };
    if R::REPLACES && !(one_way && plan.totals() == 1) {
        change.moved()
    } else {
        Ok(change)
    }
}
