//! Rows of a table cannot be taken for people who have several of them.
use std::sync::Arc;

use queryables::mechanisms::OnRows;
use queryables::prelude::*;
use queryables::table::{Column, RowTable, Schema};

fn main() {
    let schema = Schema::of_rows([Column::whole("age", 0..=120)]).unwrap();
    let table = Arc::new(RowTable::new(&schema, vec![]).unwrap());
    let filter = start(&Filter::concurrent(PureDp, Epsilon::default()), table).unwrap();
    let count = schema.count().laplace(Epsilon::default()).unwrap();
    let _ = filter.release(&OnRows(count));
}

//~ E0277
//~ launch a mechanism that works on `RowTable`: … does not
