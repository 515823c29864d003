//! A table is no dataset of rows: a closure cannot be asked of it.
use std::sync::Arc;

use queryables::data::Predicate;
use queryables::mechanisms::Count;
use queryables::prelude::*;
use queryables::table::{Column, RowTable, Schema};

fn main() {
    let schema = Schema::of_rows([Column::whole("age", 0..=120)]).unwrap();
    let table = Arc::new(RowTable::new(&schema, vec![]).unwrap());
    let filter = start(&Filter::concurrent(PureDp, Epsilon::default()), table).unwrap();
    let adults = Predicate::new("at least 18", |age: &i64| *age >= 18);
    let _ = filter.release(&Count::<Predicate<Vec<i64>>>::of(adults).laplace(Epsilon::default()).unwrap());
}

//~ E0277
//~ ask about records of `RowTable`: a … is about others
