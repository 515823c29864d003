//! A mechanism that is priced for three rows of a person is not launched where people have five.
use std::sync::Arc;

use queryables::data::{People, Predicate};
use queryables::mechanisms::{Count, OnRows};
use queryables::prelude::*;

type Visits = Vec<(u32, u8)>;

fn main() {
    let visits: Visits = vec![];
    let patients = People::by_key(&visits, |visit: &(u32, u8)| visit.0).at_most::<5>();
    let filter = start(&Filter::concurrent(PureDp, Epsilon::default()), Arc::new(patients)).unwrap();
    let long = Predicate::new("long", |visit: &(u32, u8)| visit.1 > 5);
    let count: OnRows<_, 3> = OnRows(Count::of(long).laplace(Epsilon::default()).unwrap());
    let _ = filter.release(&count);
}

//~ E0277
//~ launch a mechanism that works on `People<Vec<(u32, u8)>, 5>`: … does not
