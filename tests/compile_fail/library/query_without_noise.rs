//! A query has an exact answer, which cannot be released: it becomes a mechanism by its noise.
use std::sync::Arc;

use queryables::data::Predicate;
use queryables::mechanisms::Count;
use queryables::prelude::*;

fn main() {
    let ages = Arc::new(vec![17_u32, 36]);
    let filter = start(&Filter::concurrent(PureDp, epsilon!(1)), ages).unwrap();
    let adults = Predicate::<Vec<u32>>::new("at least 18", |age: &u32| *age >= 18);
    let _ = filter.release(&Count::of(adults));
}

//~ E0277
//~ launch a mechanism that works on `Vec<u32>`: `Count<…` does not
//~ a query without noise? add some: `query.laplace(epsilon)?`
