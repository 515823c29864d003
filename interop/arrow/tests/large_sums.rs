//! Sums that 64 bits do not hold.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use queryables::table::{
    Amount, Bound, Column, Grouping, Kind, MOST_STEPS, Parts, Plan, Schema, Table,
};
use queryables_arrow::ArrowTable;

/// Of the largest amount, 2^13 rows have a sum of 2^63. These are more, in one batch.
const ROWS: i128 = 10_000;

fn columns() -> [Column; 3] {
    ["person", "group", "number"].map(|name| Column::new(name, Kind::Whole))
}

/// All of one person and in one group.
fn table(schema: &Schema) -> ArrowTable {
    let column =
        |number: i64| -> ArrayRef { Arc::new(Int64Array::from(vec![number; ROWS as usize])) };
    let columns = [("person", 7), ("group", 1), ("number", i64::MAX)];
    let columns = columns.map(|(name, number)| (name, column(number)));
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let table = ArrowTable::batches(schema, [&batch]).unwrap();
    table.with_batch_rows(ROWS as usize)
}

fn tally(schema: &Schema, condition: Option<&str>, groups: i64, bound: Bound) -> Vec<i128> {
    let condition = condition.map(|condition| schema.condition(condition).unwrap());
    let amount = Amount::of(schema.number("number").unwrap(), 0, -1, MOST_STEPS).unwrap();
    let groups = (groups > 1).then(|| Grouping::keys(schema, "group", 0..groups).unwrap());
    let what = (amount, Parts::Value);
    let plan = Plan::new(schema, condition, what, groups.into_iter().collect(), bound);
    table(schema).tally(&plan.unwrap()).unwrap()
}

#[test]
fn totals_of_rows_are_wider_than_64_bits() {
    let schema = Schema::of_rows(columns()).unwrap();
    let all = ROWS * i128::from(MOST_STEPS);
    assert!(all > i128::from(i64::MAX));
    let of = |condition, groups| tally(&schema, condition, groups, Bound::Row);
    assert_eq!(of(None, 1), [all]);
    assert_eq!(of(Some("number > 0"), 1), [all]);
    assert_eq!(of(None, 2), [0, all]);
}

/// A sum that wrapped around would be negative, and so would be what it is clamped to.
#[test]
fn sums_of_a_person_are_wider_than_64_bits() {
    let schema = Schema::of_people("person", columns()).unwrap();
    // One group, a few, and more than one entry of a person holds.
    for (groups, bound) in [1, 3, 1000].into_iter().flat_map(|groups| {
        let bounds = [Bound::Each(1 << 30), Bound::L1(1 << 30), Bound::L2(1 << 30)];
        bounds.map(|bound| (groups, bound))
    }) {
        let mut expected = vec![0; groups as usize];
        expected[usize::from(groups > 1)] = 1 << 30;
        let found = tally(&schema, None, groups, bound);
        assert_eq!(found, expected, "{groups} groups, {bound:?}");
    }
}
