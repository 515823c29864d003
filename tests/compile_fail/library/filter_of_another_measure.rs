//! A filter inside a filter states its loss under its own measure.
use std::sync::Arc;

use queryables::prelude::*;

fn main() {
    let filter = start(&Filter::concurrent(PureDp, epsilon!(1)), Arc::new(())).unwrap();
    let _ = filter.launch(&Filter::concurrent(ZCdp, rho!(0.1)));
}

//~ E0277
//~ launch a mechanism that states a loss under …PureDp` for neighbours under `AddRemove`: …Filter<… does not
//~ stated under a stronger measure? wrap it: `Restated::new(PureDp, mechanism)`
