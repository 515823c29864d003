//! A constructor that may fail gives a result, which is not a mechanism.
use std::sync::Arc;

use queryables::data::Predicate;
use queryables::mechanisms::Count;
use queryables::prelude::*;

fn main() {
    let ages = Arc::new(vec![17_u32, 36]);
    let filter = start(&Filter::concurrent(PureDp, epsilon!(1)), ages).unwrap();
    let adult = Predicate::<Vec<u32>>::new("at least 18", |age: &u32| *age >= 18);
    let _ = filter.release(&Count::of(adult).laplace(epsilon!(0.1)));
}

//~ E0277
//~ launch a mechanism that works on `Vec<u32>`: `Result<…` does not
//~ a `Result`? its constructor may fail: write `?` after it
