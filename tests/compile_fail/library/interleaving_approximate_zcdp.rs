//! No concurrent composition theorem is known for approximate zCDP.
use queryables::prelude::*;
use queryables::privacy::{ApproxZCdp, RhoDelta};

fn main() {
    let _ = Filter::concurrent(ApproxZCdp, RhoDelta::default());
}

//~ E0277
//~ no theorem lets children be interleaved under …
