//! By how much one person changes the totals.

use queryables::table::{Bound, Plan, Schema, Value};

use crate::Row;

/// The rows of each person: their numbers.
#[must_use]
pub fn people(schema: &Schema, rows: &[Row]) -> Vec<Vec<usize>> {
    let Some(place) = schema.person_column() else {
        return (0..rows.len()).map(|row| vec![row]).collect();
    };
    let mut people: Vec<(&Value, Vec<usize>)> = Vec::new();
    for (number, row) in rows.iter().enumerate() {
        let Some(person) = &row[place] else { continue };
        match people.iter_mut().find(|(other, _)| *other == person) {
            Some((_, rows)) => rows.push(number),
            None => people.push((person, vec![number])),
        }
    }
    people.into_iter().map(|(_, rows)| rows).collect()
}

/// Whether two totals differ by at most `times` the bound of the plan, for each group and all together.
#[must_use]
pub fn change_is_bounded(plan: &Plan, one: &[i128], other: &[i128], times: u128) -> bool {
    let change: Vec<u128> = one
        .iter()
        .zip(other)
        .map(|(one, other)| one.abs_diff(*other))
        .collect();
    let sum: u128 = change.iter().sum();
    match plan.bound() {
        Bound::Row | Bound::First => sum <= times * plan.largest_row(),
        Bound::Rows(rows) => sum <= times * u128::from(rows) * plan.largest_row(),
        Bound::Each(most) => change
            .iter()
            .all(|change| *change <= times * u128::from(most)),
        Bound::L1(most) => sum <= times * u128::from(most),
        Bound::L2(most) => {
            let square: u128 = change.iter().map(|change| change * change).sum();
            square <= (times * u128::from(most)).pow(2)
        }
    }
}
