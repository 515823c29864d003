//! Gaussians on samples cross once they are composed, so composing them until a budget is reached is
//! not private.

use queryables::account::NaturalFilter;
use queryables::privacy::{EpsilonDelta, SampledGaussianDp};

fn main() {
    let limit = EpsilonDelta::new("1", "1e-6").unwrap();
    let measure = SampledGaussianDp::new("0.5".parse().unwrap());
    let _ = NaturalFilter::new(limit, measure);
}
