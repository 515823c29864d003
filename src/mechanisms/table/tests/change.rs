//! Every plan's totals, on all neighbours that differ by one person with up to three ugly rows, against
//! what noise is made for.

use std::collections::BTreeSet;

use super::super::change::change_of;
use super::super::{PerGroup, RowsOf, TableQuery};
use crate::mechanisms::factorization::Factorization;
use crate::mechanisms::{AddedNoise, Change, CountsBy};
use crate::number::Ratio;
use crate::privacy::{AddRemove, Replace};
use crate::rho;
use crate::table::{
    Amount, Bound, Column, Grouping, Kind, Parts, Plan, RowTable, Schema, Table, Value, col,
};

/// A group and a number. They are in two groups, in none, or unknown, and at and beyond both ends of all
/// ranges.
type Row = (Option<&'static str>, Option<f64>);

const ROWS: [Row; 8] = [
    (Some("a"), Some(f64::NEG_INFINITY)),
    (Some("a"), Some(-0.4)),
    (Some("a"), Some(1e300)),
    (Some("b"), Some(-7.0)),
    (Some("b"), Some(2.6)),
    (Some("b"), Some(f64::NAN)),
    (Some("c"), Some(4.0)),
    (None, Some(4.0)),
];

fn columns() -> [Column; 3] {
    [
        Column::new("person", Kind::Text),
        Column::categories("group", ["a", "b"]),
        Column::new("number", Kind::Real),
    ]
}

/// All lists of at most this number of rows, and two people with eleven.
fn people(most: usize) -> Vec<Vec<Row>> {
    let mut people: Vec<Vec<Row>> = vec![Vec::new()];
    let mut last = people.clone();
    for _ in 0..most {
        let longer = last.iter().flat_map(|rows| {
            let start = rows
                .last()
                .and_then(|last| ROWS.iter().position(|row| same(row, last)));
            ROWS[start.unwrap_or(0)..].iter().map(|row| {
                let mut rows = rows.clone();
                rows.push(*row);
                rows
            })
        });
        last = longer.collect();
        people.extend(last.iter().cloned());
    }
    if most > 1 {
        people.push(vec![ROWS[2]; 11]);
        people.push([&[ROWS[1]; 5][..], &[ROWS[4]; 6]].concat());
    }
    people
}

/// NaN is itself here.
fn same(one: &Row, other: &Row) -> bool {
    one.0 == other.0 && one.1.map(f64::to_bits) == other.1.map(f64::to_bits)
}

/// The table of two others and of one person with these rows.
fn table(schema: &Schema, rows: &[Row]) -> RowTable {
    let others = [("x", ROWS[1]), ("y", ROWS[4]), ("y", ROWS[2])];
    let rows = others.into_iter().chain(rows.iter().map(|row| ("z", *row)));
    let rows = rows.map(|(person, (group, number))| {
        vec![
            Some(person.into()),
            group.map(Value::from),
            number.map(Value::from),
        ]
    });
    RowTable::new(schema, rows.collect()).unwrap()
}

fn amounts(schema: &Schema) -> Vec<Amount> {
    let ranges = [
        (0, 0, 5),
        (0, -3, 5),
        (-2, -20, -4),
        (1, 3, 7),
        (0, 4, 4),
        (-4, -80, 80),
    ];
    let numbers = ranges.map(|(exponent, low, high)| {
        let number = schema.number(col("number")).unwrap();
        Amount::of(number, exponent, low, high).unwrap()
    });
    let ones = [0, -16].map(|exponent| Amount::one(exponent).unwrap());
    ones.into_iter().chain(numbers).collect()
}

fn bounds() -> Vec<Bound> {
    let most = [1, 2, 5, 100, 1 << 16];
    let one_by_one = |bound: fn(u64) -> Bound| most.map(bound);
    let several = [Bound::Each, Bound::L1, Bound::L2, Bound::Rows].map(one_by_one);
    [Bound::Row, Bound::First]
        .into_iter()
        .chain(several.into_iter().flatten())
        .collect()
}

/// All plans that there are.
fn plans(schema: &Schema) -> Vec<Plan> {
    let grouping = Grouping::of(schema, "group").unwrap();
    let mut plans = Vec::new();
    for amount in amounts(schema) {
        for parts in [Parts::Value, Parts::Mean, Parts::Variance] {
            for bound in bounds() {
                for groupings in [vec![], vec![grouping.clone()]] {
                    let what = (amount.clone(), parts);
                    plans.extend(Plan::new(schema, None, what, groupings, bound));
                }
            }
        }
    }
    plans
}

/// By how much totals differ: the sum of the differences, of their squares, and the largest.
fn differences(one: &[i128], other: &[i128]) -> (u128, u128, u128) {
    let differ = one
        .iter()
        .zip(other)
        .map(|(one, other)| one.abs_diff(*other));
    differ.fold((0, 0, 0), |(sum, square, largest), by| {
        (sum + by, square + by * by, largest.max(by))
    })
}

/// Whether differences attain the change, none being beyond it.
fn attains(found: (u128, u128, u128), change: &Change, context: &str) -> [bool; 3] {
    let each = u128::from(change.each.get());
    let sum = each * u128::from(change.places.get());
    let (found_sum, found_square, found_each) = found;
    assert!(found_sum <= sum, "{context}: {found:?} beyond {change:?}");
    assert!(
        found_square <= change.square,
        "{context}: {found:?} beyond {change:?}"
    );
    assert!(found_each <= each, "{context}: {found:?} beyond {change:?}");
    [
        found_sum == sum,
        found_square == change.square,
        found_each == each,
    ]
}

/// How many plans there are, and of how many the sum, the square and the largest change are attained.
fn check(schema: &Schema, most_rows: usize) -> (usize, [usize; 3], [usize; 3]) {
    let tables: Vec<RowTable> = people(most_rows)
        .iter()
        .map(|rows| table(schema, rows))
        .collect();
    let mut attained = [[0; 3]; 2];
    let mut checked = 0;
    for plan in plans(schema) {
        // A range that is one number has no mean.
        let Ok(added) = change_of::<AddRemove>(&plan) else {
            assert_eq!(plan.largest_row(), 0);
            continue;
        };
        let replaced = change_of::<Replace>(&plan).unwrap();
        let totals: Vec<Vec<i128>> = tables
            .iter()
            .map(|table| table.tally(&plan).unwrap())
            .collect();
        let context = format!("{plan:?}");
        let mut best = [[false; 3]; 2];
        let mut note = |relation: usize, found: [bool; 3]| {
            for (best, found) in best[relation].iter_mut().zip(found) {
                *best |= found;
            }
        };
        // The first person has no rows.
        let without = &totals[0];
        let distinct: BTreeSet<&Vec<i128>> = totals.iter().collect();
        for with in &distinct {
            note(0, attains(differences(without, with), &added, &context));
            for other in &distinct {
                note(1, attains(differences(with, other), &replaced, &context));
            }
        }
        for (attained, best) in attained.iter_mut().zip(best) {
            for (attained, best) in attained.iter_mut().zip(best) {
                *attained += usize::from(best);
            }
        }
        checked += 1;
    }
    let [added, replaced] = attained;
    (checked, added, replaced)
}

#[test]
fn no_person_changes_totals_by_more_than_is_stated() {
    let people = Schema::of_people("person", columns()).unwrap();
    assert_eq!(check(&people, 3), (422, [244, 271, 272], [226, 233, 250]));
}

#[test]
fn no_row_changes_totals_by_more_than_is_stated() {
    let rows = Schema::of_rows(columns()).unwrap();
    assert_eq!(check(&rows, 1), (458, [168, 191, 214], [184, 189, 194]));
}

/// How many people arrive in each bucket, on all tables: sorted, each once.
fn arrivals(schema: &Schema, edges: &[f64]) -> (TableQuery<RowsOf, PerGroup>, Vec<Vec<i64>>) {
    let query = schema
        .count()
        .by_buckets("number", edges.iter().copied())
        .unwrap();
    let groups = query.first_groups().unwrap();
    let mut all = BTreeSet::new();
    for rows in people(3) {
        let table = table(schema, &rows);
        let counts = CountsBy::<RowTable, u64>::counts(&groups, &table).unwrap();
        let times: Vec<u64> = counts.iter().map(|(time, _)| *time).collect();
        assert_eq!(times, Vec::from_iter(0..counts.len() as u64));
        all.insert(counts.iter().map(|(_, count)| *count as i64).collect());
    }
    (query, all.into_iter().collect())
}

/// The square of the norm by which what is encoded changes with these arrivals.
fn encoded(encoder: &[i64], moved: &[i64]) -> u128 {
    let at = |time: usize| -> i128 {
        let before = (0..=time).map(|then| (encoder[time - then], moved[then]));
        before
            .map(|(entry, by)| i128::from(entry) * i128::from(by))
            .sum()
    };
    (0..moved.len())
        .map(|time| at(time).unsigned_abs().pow(2))
        .sum()
}

/// A person with several rows arrives once. The noise is made for the largest change of what is encoded, and
/// that is attained.
#[test]
fn no_person_changes_a_factorized_count_by_more_than_is_stated() {
    let people = Schema::of_people("person", columns()).unwrap();
    let edges = [-10.0, -1.0, 1.0, 3.0, 1e301];
    let (query, all) = arrivals(&people, &edges);
    let matrix = Factorization::new(edges.len() as u64 - 1).unwrap();
    let (mut added, mut replaced) = (0, 0);
    // The first person has no rows.
    let without = arrivals_of_the_others(&all);
    for one in &all {
        let moved: Vec<i64> = one
            .iter()
            .zip(&without)
            .map(|(one, other)| one - other)
            .collect();
        let sorted: BTreeSet<i64> = moved.iter().copied().collect();
        assert!(sorted.iter().all(|by| [0, 1].contains(by)), "{moved:?}");
        assert!(moved.iter().sum::<i64>() <= 1, "{moved:?}");
        added = added.max(encoded(&matrix.encoder, &moved));
        for other in &all {
            let moved: Vec<i64> = one
                .iter()
                .zip(other)
                .map(|(one, other)| one - other)
                .collect();
            replaced = replaced.max(encoded(&matrix.encoder, &moved));
        }
    }
    assert_eq!((added, replaced), (matrix.column(), matrix.two_columns()));
    // ρ = Δ²/2σ²: of one half, σ² is at least Δ², and hardly more.
    let fits = |variance: Ratio, square: u128| {
        let least = variance.numerator() / u128::from(variance.denominator());
        assert!(
            least >= square && least <= square + square / 1_000_000,
            "{least} for {square}"
        );
    };
    let mechanism = query.factorized_over_time(AddRemove, rho!(0.5)).unwrap();
    fits(mechanism.noise.law().variance(), added);
    let mechanism = query.factorized_over_time(Replace, rho!(0.5)).unwrap();
    fits(mechanism.noise.law().variance(), replaced);
}

/// Those where the person has no row in a bucket: the fewest.
fn arrivals_of_the_others(all: &[Vec<i64>]) -> Vec<i64> {
    let fewest = all.iter().min_by_key(|counts| counts.iter().sum::<i64>());
    fewest.unwrap().clone()
}

/// Means are not bounded by clamping their parts, and others not by nothing.
#[test]
fn bounds_that_give_nonsense_are_refused() {
    use crate::table::TableError;

    let people = Schema::of_people("person", columns()).unwrap();
    let number = || Amount::of(people.number(col("number")).unwrap(), 0, 0, 5).unwrap();
    let plan =
        |amount, parts, bound| Plan::new(&people, None, (amount, parts), vec![], bound).map(|_| ());
    let refused = |problem| Err(TableError::BadAmount(problem));
    let together =
        "the numbers of a mean or a variance are scaled together: bound the rows of a person";
    for bound in [Bound::Each(5), Bound::L1(5), Bound::L2(5)] {
        assert_eq!(plan(number(), Parts::Mean, bound), refused(together));
        assert_eq!(plan(number(), Parts::Variance, bound), refused(together));
        assert_eq!(plan(number(), Parts::Value, bound), Ok(()));
    }
    let needed = "a table of people with several rows needs a bound";
    assert_eq!(plan(number(), Parts::Value, Bound::Row), refused(needed));
    let once = "only rows are counted once a person";
    assert_eq!(plan(number(), Parts::Value, Bound::First), refused(once));
    let zero = "a bound of zero allows nothing";
    assert_eq!(plan(number(), Parts::Mean, Bound::Rows(0)), refused(zero));
    let far = "a bound on a norm is at most 2^31 steps: take larger steps, or fewer rows a person";
    let wide = |width| Amount::of(people.number(col("number")).unwrap(), 0, 0, width).unwrap();
    assert_eq!(plan(wide(1 << 31), Parts::Mean, Bound::Rows(1)), Ok(()));
    assert_eq!(
        plan(wide((1 << 31) + 1), Parts::Mean, Bound::Rows(1)),
        refused(far)
    );
    assert_eq!(
        plan(wide(1 << 30), Parts::Mean, Bound::Rows(3)),
        refused(far)
    );
    let wide_variance = "the range of a variance is at most 2^31 steps wide: take larger steps";
    let rows = Schema::of_rows(columns()).unwrap();
    let variance = |width| {
        let number = rows.number(col("number")).unwrap();
        let amount = Amount::of(number, 0, 0, width).unwrap();
        Plan::new(&rows, None, (amount, Parts::Variance), vec![], Bound::Row).map(|_| ())
    };
    assert_eq!(variance(1 << 31), Ok(()));
    assert_eq!(variance((1 << 31) + 1), refused(wide_variance));
}

#[test]
fn totals_are_at_most_two_to_the_twentieth() {
    use crate::table::{MOST_TOTALS, TableError};

    let people = Schema::of_people("person", columns()).unwrap();
    let plan = |groups: i32, parts, bound| {
        let buckets = |last: i32| {
            let edges = (0..=last).map(f64::from);
            Grouping::buckets(&people, "number", edges).unwrap()
        };
        let number = Amount::of(people.number(col("number")).unwrap(), 0, 0, 5).unwrap();
        let groupings = vec![buckets(1 << 10), buckets(groups)];
        Plan::new(&people, None, (number, parts), groupings, bound).map(|plan| plan.totals())
    };
    let most = MOST_TOTALS;
    assert_eq!(plan(1 << 10, Parts::Value, Bound::L1(5)), Ok(most));
    assert_eq!(plan(1 << 9, Parts::Mean, Bound::Rows(1)), Ok(most));
    let too_many = Err(TableError::TooLong {
        what: "totals",
        most,
    });
    assert_eq!(plan((1 << 10) + 1, Parts::Value, Bound::L1(5)), too_many);
    assert_eq!(plan(1 << 10, Parts::Mean, Bound::Rows(1)), too_many);
}
