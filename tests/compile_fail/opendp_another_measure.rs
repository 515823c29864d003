//! Approximate zCDP is not (ε, δ)-DP, although both are pairs of numbers.
use std::sync::Arc;

use opendp::core::{Function, Measurement, PrivacyMap};
use opendp::domains::{AtomDomain, VectorDomain};
use opendp::measures::{Approximate, ZeroConcentratedDivergence};
use opendp::metrics::SymmetricDistance;
use queryables::interop::opendp::{Measured, Member};
use queryables::prelude::*;

fn main() {
    let rows = VectorDomain::new(AtomDomain::<u8>::default());
    let pair = Measurement::new(
        rows.clone(),
        SymmetricDistance,
        Approximate(ZeroConcentratedDivergence),
        Function::new(|rows: &Vec<u8>| rows.len()),
        PrivacyMap::new(|_: &u32| (0.0, 0.0)),
    );
    let data = Arc::new(Member::new(rows, vec![1]).unwrap());
    let filter = launch(&Filter::concurrent(ApproxDp, EpsilonDelta::default()), data).unwrap();
    let _ = filter.release(&Measured::new(pair.unwrap()));
}
