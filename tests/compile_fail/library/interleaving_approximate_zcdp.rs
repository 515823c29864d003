//! No concurrent composition theorem is known for approximate zCDP.
use queryables::prelude::*;

fn main() {
    let _ = Filter::concurrent(ApproxZCdp, RhoDelta::default());
}

//~ E0277
//~ no theorem lets children be interleaved under …
