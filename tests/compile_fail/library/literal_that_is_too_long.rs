//! A number that cannot be held exactly is not rounded.
use queryables::prelude::*;

fn main() {
    let _ = delta!(0.00000000000000000000000000000000000000001);
}

//~ E0080
//~ write fewer digits: …
