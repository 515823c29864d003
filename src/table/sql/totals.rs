//! What a statement answers.

use crate::data::Unavailable;
use crate::table::Plan;

/// The totals from the rows that an engine answers to [`Statement::tally`](super::Statement::tally): the
/// place of a group, and the totals of its parts as texts.
///
/// Example: `queryables-postgres`.
///
/// # Errors
///
/// [`Unavailable`] if these are not such rows. Then the engine is not what it should be, and nothing of it
/// is used.
pub fn read_totals<S: AsRef<str>>(
    plan: &Plan,
    rows: impl IntoIterator<Item = (i64, Vec<S>)>,
) -> Result<Vec<i128>, Unavailable> {
    let parts = plan.parts().len();
    let mut totals = vec![0; plan.totals()];
    let mut seen = vec![false; plan.groups()];
    for (place, numbers) in rows {
        let place = usize::try_from(place).map_err(|_| Unavailable)?;
        let seen = seen.get_mut(place).ok_or(Unavailable)?;
        if std::mem::replace(seen, true) || numbers.len() != parts {
            return Err(Unavailable);
        }
        let group = totals.iter_mut().skip(place * parts);
        for (total, number) in group.zip(numbers) {
            *total = number.as_ref().parse().map_err(|_| Unavailable)?;
        }
    }
    Ok(totals)
}
