//! A loss for rows says nothing about people who have several of them.
use std::sync::Arc;

use queryables::data::{People, Predicate};
use queryables::mechanisms::Count;
use queryables::prelude::*;

type Visits = Vec<(u32, u8)>;

fn main() {
    let visits: Visits = vec![];
    let patients = People::by_key(&visits, |visit: &(u32, u8)| visit.0).at_most::<3>();
    let filter = start(&Filter::concurrent(PureDp, Epsilon::default()), Arc::new(patients)).unwrap();
    let long: Predicate<Visits> = Predicate::new("long", |visit: &(u32, u8)| visit.1 > 5);
    let _ = filter.release(&Count::of(long).laplace(Epsilon::default()).unwrap());
}

//~ E0277
//~ ask about records of `People<Vec<(u32, u8)>, 3>`: a … is about others
//~ a question about rows, asked of people? wrap the mechanism: `OnRows(mechanism)`
