//! No concurrent composition theorem is known for approximate Rényi privacy.
use queryables::prelude::*;
use queryables::privacy::ApproxRdp;

fn main() {
    let measure = ApproxRdp::new("2".parse().unwrap());
    let _ = Filter::concurrent(measure, EpsilonDelta::default());
}

//~ E0277
//~ no theorem lets children be interleaved under …
