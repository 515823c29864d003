//! An approximate guarantee implies no proved one.

use std::sync::Arc;

use papers::tran::asymptotic::{AsymptoticGdp, MeanLoss, Regime};
use queryables::prelude::*;
use queryables::privacy::Restated;

fn main() {
    let (rate, sigma) = ("0.01".parse().unwrap(), "1.5".parse().unwrap());
    let measure = AsymptoticGdp::new(Regime::Small, rate, sigma).unwrap();
    let inner = Filter::noninteractive(measure, MeanLoss("0.05".parse().unwrap()));
    let budget = EpsilonDelta::new("2", "1e-5").unwrap();
    let outer = start(&Filter::concurrent(ApproxDp, budget), Arc::new(vec![1.0])).unwrap();
    let _ = outer.launch(&Restated::new(measure, inner));
}

//~ E0277
//~ state the loss under … itself: … is not known to imply it
