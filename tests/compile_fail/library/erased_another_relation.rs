//! A filter whose measure is erased still knows its neighbouring relation.
use std::sync::Arc;

use queryables::compose::{AnyFilter, BoxedRelease};
use queryables::data::Predicate;
use queryables::mechanisms::Count;
use queryables::prelude::*;
use queryables::privacy::AnyMeasure;

fn main() {
    let rows = Arc::new(vec![1_u8]);
    let filter = start(&Filter::concurrent(PureDp, Epsilon::default()), rows).unwrap();
    let filter: AnyFilter<Vec<u8>> = filter.into();
    let all = Predicate::new("all", |_: &u8| true);
    let count = Count::of(all).laplace(epsilon!(1)).unwrap();
    let count = BoxedRelease::<Vec<u8>, AnyMeasure, Replace, i64>::new(AnyMeasure, count);
    let _ = filter.release(&count);
}

//~ E0277
//~ launch a mechanism that states a loss under … for neighbours under …: … does not
