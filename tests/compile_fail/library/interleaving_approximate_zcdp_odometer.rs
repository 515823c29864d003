//! No concurrent composition theorem is known for approximate zCDP.
use queryables::prelude::*;
use queryables::privacy::ApproxZCdp;

fn main() {
    let _ = Odometer::concurrent(ApproxZCdp);
}

//~ E0277
//~ no theorem lets children be interleaved under …
