//! Gaussians on samples cross once they are composed, so composing them until a budget is reached is
//! not private.

use queryables::account::NaturalFilter;
use queryables::privacy::{EpsilonDelta, SampledGaussianDp};

fn main() {
    let limit = EpsilonDelta::new("1", "1e-6").unwrap();
    let measure = SampledGaussianDp::new("0.5".parse().unwrap());
    let _ = NaturalFilter::new(limit, measure);
}

//~ E0277
//~ use `Gdp` or `RepeatedMechanism`: the losses of … are not known to be a Blackwell chain
//~ where trade-off functions cross, composing them until a budget is reached is not private (Tran et al. 3.8; the package `papers` has the numbers)
//~ for launches of several sizes take a `MenuFilter`, for Gaussians on samples a `SampledGaussianFilter`
