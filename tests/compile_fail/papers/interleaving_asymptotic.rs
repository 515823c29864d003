//! The approximate filter is for children that answer once.

use papers::tran::asymptotic::{AsymptoticGdp, MeanLoss, Regime};
use queryables::prelude::*;

fn main() {
    let (rate, sigma) = ("0.01".parse().unwrap(), "1.5".parse().unwrap());
    let measure = AsymptoticGdp::new(Regime::Small, rate, sigma).unwrap();
    let _ = Filter::concurrent(measure, MeanLoss("0.05".parse().unwrap()));
}

//~ E0277
//~ no theorem lets children be interleaved under …
