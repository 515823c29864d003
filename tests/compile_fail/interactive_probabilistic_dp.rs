//! Probabilistic DP is not closed under postprocessing: no interactive children at all.
use queryables::prelude::*;

fn main() {
    let _ = Filter::sequential(ProbabilisticDp, EpsilonDelta::default());
}
