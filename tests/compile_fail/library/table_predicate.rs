//! A table has no records that a predicate could be about.
use std::sync::Arc;

use queryables::data::Predicate;
use queryables::mechanisms::Count;
use queryables::prelude::*;
use queryables::table::{Column, RowTable, Schema};

fn main() {
    let schema = Schema::of_rows([Column::whole("age", 0..=120)]).unwrap();
    let table = Arc::new(RowTable::new(&schema, vec![]).unwrap());
    let filter = start(&Filter::concurrent(PureDp, Epsilon::default()), table).unwrap();
    let all = Predicate::new("all", |_: &i64| true);
    let _ = filter.release(&Count::of(all).laplace(Epsilon::default()).unwrap());
}

//~ E0277
//~ `RowTable` is not a dataset
//~ a table has no closures over rows: ask what its schema offers, such as `schema.count()`
