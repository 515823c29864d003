//! An individual odometer has no bound, so it has no loss.
use queryables::compose::IndividualOdometer;
use queryables::prelude::*;
use std::sync::Arc;

fn main() {
    let whole = start(&Filter::concurrent(PureDp, "1".parse().unwrap()), Arc::new(vec![1_u8])).unwrap();
    let odometer = IndividualOdometer::<Vec<u8>, _>::new(PureDp, "1".parse().unwrap());
    let _ = whole.launch(&odometer);
}

//~ E0277
//~ launch a mechanism that states a loss under …
