//! No concurrent composition theorem is known for approximate zCDP.
use queryables::prelude::*;

fn main() {
    let _ = Odometer::concurrent(ApproxZCdp);
}

//~ E0277
//~ no theorem lets children be interleaved under …
