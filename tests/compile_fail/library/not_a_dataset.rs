//! A mechanism about rows needs data with rows.
use std::sync::Arc;

use queryables::data::Predicate;
use queryables::mechanisms::Count;
use queryables::prelude::*;

fn main() {
    let filter = start(&Filter::concurrent(PureDp, Epsilon::default()), Arc::new(7_u32)).unwrap();
    let all = Predicate::new("all", |_: &u32| true);
    let _ = filter.release(&Count::of(all).laplace(Epsilon::default()).unwrap());
}

//~ E0277
//~ `u32` is not a dataset
//~ use a `Vec<Row>` or a slice, or implement `queryables::data::Dataset` for your columns
