//! One table, and a plan over it that needs all of it.

use std::path::PathBuf;

use queryables::table::{
    Amount, Bound, Column, Grouping, Kind, Parts, Plan, RowTable, Schema, Table, Value,
};
use tables::Row;

use crate::support::{Server, rows};

const ROWS: i64 = 60_000;
const GROUPS: i64 = 40;

pub struct Visits {
    pub schema: Schema,
    pub path: PathBuf,
    /// A sum by group, with people bounded in L2.
    pub plan: Plan,
    /// What the reference says about it.
    pub totals: Vec<i128>,
}

impl Visits {
    /// Several rows for each of a quarter as many people.
    pub fn new(server: &Server) -> Self {
        let columns = ["person", "state", "hours"].map(|name| Column::new(name, Kind::Whole));
        let schema = Schema::of_people("person", columns).unwrap();
        let row = |row: i64| -> Row {
            let row = [row * 7919 % (ROWS / 4), row % GROUPS, row % 101];
            row.map(|number| Some(Value::Whole(number))).to_vec()
        };
        let all: Vec<Row> = (0..ROWS).map(row).collect();
        let path = server.folder().join("visits.parquet");
        rows::write(&path, &schema, &all);
        let amount = Amount::of(schema.number("hours").unwrap(), 0, 0, 100).unwrap();
        let states = Grouping::keys(&schema, "state", 0..GROUPS).unwrap();
        let amount = (amount, Parts::Value);
        let plan = Plan::new(&schema, None, amount, vec![states], Bound::L2(90)).unwrap();
        let totals = RowTable::new(&schema, all).unwrap().tally(&plan).unwrap();
        Self {
            schema,
            path,
            plan,
            totals,
        }
    }

    pub fn path(&self) -> &str {
        self.path.to_str().unwrap()
    }
}
