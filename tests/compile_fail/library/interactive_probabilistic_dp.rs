//! Probabilistic DP is not closed under postprocessing: no interactive children at all.
use queryables::prelude::*;
use queryables::privacy::ProbabilisticDp;

fn main() {
    let _ = Filter::sequential(ProbabilisticDp, EpsilonDelta::default());
}

//~ E0277
//~ no theorem lets interactive children be launched under …
//~ probabilistic DP is not closed under postprocessing (Whitehouse et al., App. F): use `Filter::noninteractive` or `Odometer::noninteractive`
