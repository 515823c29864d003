//! People may have different numbers of rows: what replacing a row costs says nothing about them.
use std::sync::Arc;

use queryables::data::{Attribute, People};
use queryables::mechanisms::{OnRows, Sum};
use queryables::prelude::*;

fn main() {
    let visits = vec![(1_u32, 2_i64)];
    let patients = People::by_key(&visits, |visit: &(u32, i64)| visit.0).at_most::<3>();
    let filter = start(
        &Filter::concurrent(PureDp, Epsilon::default()).under(Replace),
        Arc::new(patients),
    )
    .unwrap();
    let hours = Attribute::new("hours", |visit: &(u32, i64)| visit.1);
    let sum = Sum::of(hours, 0..=8).under(Replace).laplace(Epsilon::default()).unwrap();
    let _ = filter.release(&OnRows(sum));
}

//~ E0277
//~ launch a mechanism that states a loss under … for neighbours under …: … does not
