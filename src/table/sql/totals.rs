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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Amount, Bound, Column, Grouping, Kind, Parts, Schema};

    /// A mean in three groups: two totals each.
    fn plan() -> Plan {
        let schema = Schema::of_rows([Column::new("n", Kind::Whole)]).unwrap();
        let amount = Amount::of(schema.number("n").unwrap(), 0, 0, 9).unwrap();
        let groups = vec![Grouping::keys(&schema, "n", [4, 5, 6]).unwrap()];
        Plan::new(&schema, None, (amount, Parts::Mean), groups, Bound::Rows(1)).unwrap()
    }

    #[test]
    fn groups_without_rows_are_zero_and_any_order_will_do() {
        let wide = "-99999999999999999999999999999999999999";
        let rows = [(2, vec!["1", wide]), (0, vec!["3", "4"])];
        let totals = [3, 4, 0, 0, 1, wide.parse().unwrap()];
        assert_eq!(read_totals(&plan(), rows), Ok(totals.to_vec()));
        assert_eq!(read_totals::<&str>(&plan(), []), Ok(vec![0; 6]));
    }

    #[test]
    fn rows_of_another_shape_are_unavailable() {
        let read = |rows: &[(i64, &[&str])]| {
            let rows = rows.iter().map(|(place, row)| (*place, row.to_vec()));
            read_totals(&plan(), rows)
        };
        assert_eq!(read(&[(1, &["3", "4"])]), Ok(vec![0, 0, 3, 4, 0, 0]));
        let two: &[&str] = &["3", "4"];
        let shapes: [&[(i64, &[&str])]; 8] = [
            // No such group, or twice.
            &[(-1, two)],
            &[(3, two)],
            &[(1, two), (1, two)],
            // Too few or too many parts.
            &[(1, &["3"])],
            &[(1, &["3", "4", "5"])],
            // No whole number, or none that fits.
            &[(1, &["3", ""])],
            &[(1, &["3", "4.0"])],
            &[(1, &["3", "170141183460469231731687303715884105728"])],
        ];
        for shape in shapes {
            assert_eq!(read(shape), Err(Unavailable), "{shape:?}");
        }
    }
}
