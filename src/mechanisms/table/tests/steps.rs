//! Into which steps amounts are divided.

use super::schema;
use crate::mechanisms::RealRange;
use crate::table::{Bound, Plan, Schema};

fn range(plan: &Plan) -> (i32, (i64, i64)) {
    (plan.amount().exponent(), plan.amount().range())
}

#[test]
fn whole_numbers_are_their_own_steps_where_nothing_is_scaled() {
    let plan = schema().sum("night").unwrap().plan().unwrap();
    assert_eq!(
        (range(&plan), plan.bound()),
        ((0, (0, 100)), Bound::Each(100))
    );
    let plan = schema().count().plan().unwrap();
    assert_eq!((range(&plan), plan.bound()), ((0, (1, 1)), Bound::Each(1)));
}

#[test]
fn scaled_whole_numbers_are_multiples_of_a_finer_step() {
    let plan = schema()
        .sum("night")
        .unwrap()
        .by("state")
        .unwrap()
        .plan()
        .unwrap();
    // 100 is less than 2^7, and its ends are 2^6·2^20 to 2^7·2^20 steps away.
    assert_eq!(
        (range(&plan), plan.bound()),
        ((-14, (0, 100 << 14)), Bound::L1(100 << 14))
    );
    let plan = schema()
        .count()
        .by("state")
        .unwrap()
        .rows_per_person(3)
        .plan()
        .unwrap();
    assert_eq!(
        (range(&plan), plan.bound()),
        ((-16, (1 << 16, 1 << 16)), Bound::L1(3 << 16))
    );
    let plan = schema()
        .mean("night")
        .unwrap()
        .rows_per_person(3)
        .plan()
        .unwrap();
    assert_eq!(
        (range(&plan), plan.bound()),
        ((-14, (0, 100 << 14)), Bound::Rows(3))
    );
}

#[test]
fn ends_are_rounded_to_steps() {
    let stepped = RealRange::from(-0.3..=0.7).with_step(-7);
    let plan = schema()
        .sum("hours")
        .unwrap()
        .clamped(stepped)
        .plan()
        .unwrap();
    assert_eq!(
        (range(&plan), plan.bound()),
        ((-7, (-38, 90)), Bound::Each(90))
    );
}

/// Whatever the range and the number of rows are, there is a plan, and its steps are fine.
#[test]
fn what_a_person_adds_is_at_most_2_to_the_31() {
    let schema: Schema = schema();
    let ranges = [
        0.0..=80.0,
        -1e-9..=3e-9,
        1e9..=1.1e9,
        -7e12..=1.0,
        0.999..=1.0,
    ];
    for rows in [1, 2, 3, 1000, 1 << 14] {
        for range in ranges.clone() {
            let plan = |parts: usize| {
                let range = range.clone();
                match parts {
                    1 => schema
                        .sum("hours")
                        .unwrap()
                        .clamped(range)
                        .by("state")
                        .unwrap()
                        .rows_per_person(rows)
                        .plan(),
                    2 => schema
                        .mean("hours")
                        .unwrap()
                        .clamped(range)
                        .rows_per_person(rows)
                        .plan(),
                    _ => schema
                        .variance("hours")
                        .unwrap()
                        .clamped(range)
                        .rows_per_person(rows)
                        .plan(),
                }
            };
            for parts in 1..=3 {
                let plan = plan(parts).unwrap();
                let most = plan.largest_row() * u128::from(rows);
                assert!(most <= 1 << 31, "{range:?} {rows} {plan:?}");
                // At most three bits are lost: to the power of two above the range, its ends and the root.
                let fine = most >= 1 << 26 || plan.largest_row() >= 1 << 19;
                assert!(fine, "{range:?} {rows} {plan:?}");
            }
        }
    }
}
