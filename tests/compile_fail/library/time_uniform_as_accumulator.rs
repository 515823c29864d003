//! A bound on the realised loss is not the loss of a truncated view: it cannot be capped.
use queryables::account::time_uniform::{Slack, VarianceOdometer};
use queryables::prelude::*;

fn main() {
    let slack = Slack::pure("1e-6".parse().unwrap()).unwrap();
    let odometer = VarianceOdometer::mixture("1".parse().unwrap(), slack);
    let _ = Odometer::noninteractive_with(odometer);
}

//~ E0277
//~ … does not bound the loss of a truncated view
//~ a time-uniform odometer bounds the realised loss instead: use `TimeUniform::noninteractive`
