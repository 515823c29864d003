//! Statistics of tables, against what they say of themselves.

mod answers;
mod change;
mod descriptions;
mod intervals;
mod mechanisms;
mod reports;
mod steps;

use std::sync::Arc;

use crate::machine::{CoinSource, Mechanism, NotPrivateSeededCoins, Released};
use crate::number::Epsilon;
use crate::table::{Column, Kind, RowTable, Schema, Value};

/// Noise for it is zero: even of 2^31 steps, another number has a probability below e^-46.
pub(super) fn no_noise() -> Epsilon {
    "100000000000".parse().unwrap()
}

/// What a mechanism answers, with coins that are always the same.
pub(super) fn released<M, A>(mechanism: &M, table: &Arc<RowTable>) -> A
where
    M: Mechanism<RowTable, Machine = Released<A>>,
{
    let mut coins = NotPrivateSeededCoins::new(27);
    let Released(answer) = mechanism.start(table, &mut coins.coins()).unwrap();
    answer
}

/// Visits to doctors: a patient, a state, hours, and how many of them were at night.
pub(super) fn schema() -> Schema {
    Schema::of_people("patient", columns()).unwrap()
}

/// The same, where each visit is a person of its own.
pub(super) fn visits() -> Schema {
    Schema::of_rows(columns()).unwrap()
}

fn columns() -> [Column; 4] {
    [
        Column::new("patient", Kind::Whole),
        Column::categories("state", ["CA", "NY"]),
        Column::real("hours", 0.0..=80.0),
        Column::whole("night", 0..=100),
    ]
}

type Visit = (Option<i64>, Option<&'static str>, Option<f64>, Option<i64>);

pub(super) fn table_of(schema: &Schema, visits: &[Visit]) -> Arc<RowTable> {
    let rows = visits.iter().map(|(patient, state, hours, night)| {
        vec![
            patient.map(Value::from),
            state.map(Value::from),
            hours.map(Value::from),
            night.map(Value::from),
        ]
    });
    Arc::new(RowTable::new(schema, rows.collect()).unwrap())
}

/// Four patients: one twice in a state, one in both states, one without a number, one without a state.
pub(super) const VISITS: [Visit; 8] = [
    (Some(1), Some("CA"), Some(10.0), Some(3)),
    (Some(1), Some("CA"), Some(30.0), Some(90)),
    (Some(2), Some("NY"), Some(20.5), Some(7)),
    (Some(2), Some("CA"), Some(79.0), Some(500)),
    (Some(3), Some("NY"), None, None),
    (Some(4), None, Some(-5.0), Some(-1)),
    (Some(4), Some("TX"), Some(f64::NAN), Some(1)),
    (None, Some("CA"), Some(40.0), Some(50)),
];
