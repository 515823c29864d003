//! Trade-off functions that cross must not be composed until a budget is reached.

use queryables::prelude::*;
use queryables::privacy::fdp::{FDp, Profile};

fn main() {
    let budget = Profile::gaussian("1".parse().unwrap());
    let _ = Filter::concurrent(FDp, budget);
}

//~ E0277
//~ choose a rule: the losses of … have no accumulator of their own
//~ under f-DP, composing trade-off functions as they come until a budget is reached is not private (Tran et al. 3.8): use `Filter::concurrent_with` and a family that has a theorem, `Gaussians`, `Powers`, `Menu` or `List` of `account::profiles`
//~ for mechanisms that are started together use `ConcurrentComposition`
