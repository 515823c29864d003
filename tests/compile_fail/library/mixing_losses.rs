//! An epsilon is not a rho.
use queryables::prelude::*;

fn main() {
    let _ = Filter::concurrent(ZCdp, Epsilon::default());
}

//~ E0308
//~ Rho
