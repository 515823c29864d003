//! A replaced row may move from one part to another.
use std::sync::Arc;

use queryables::compose::Parallel;
use queryables::prelude::*;

fn main() {
    let filters = [(0, Filter::concurrent(PureDp, Epsilon::default()))];
    let parallel = Parallel::new(|row: &u32| *row, filters).unwrap();
    let filter = Filter::concurrent(PureDp, Epsilon::default()).under(Replace);
    let filter = start(&filter, Arc::new(vec![1_u32])).unwrap();
    let _ = filter.launch(&parallel);
}

//~ E0277
//~ launch a mechanism that states a loss under … for neighbours under …: … does not
