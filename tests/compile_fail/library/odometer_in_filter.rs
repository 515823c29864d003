//! An odometer has no bound, so that a filter cannot launch it.
use std::sync::Arc;

use queryables::prelude::*;

fn main() {
    let filter = start(&Filter::concurrent(PureDp, Epsilon::default()), Arc::new(())).unwrap();
    let _ = filter.launch(&Odometer::concurrent(PureDp));
}

//~ E0277
//~ launch a mechanism that states a loss under … for neighbours under …: … does not
