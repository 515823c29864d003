//! Approximate zCDP is not (ε, δ)-DP, although both are pairs of numbers.
use std::sync::Arc;

use opendp::core::{Function, Measurement, PrivacyMap};
use opendp::domains::{AtomDomain, VectorDomain};
use opendp::measures::{Approximate, ZeroConcentratedDivergence};
use opendp::metrics::SymmetricDistance;
use queryables_opendp::{Measured, InDomain};
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
    let data = Arc::new(InDomain::new(rows, vec![1]).unwrap());
    let filter = start(&Filter::concurrent(ApproxDp, EpsilonDelta::default()), data).unwrap();
    let _ = filter.release(&Measured::new(pair.unwrap()));
}

//~ E0277
//~ OpenDP's measure … has no counterpart in …
//~ `MaxDivergence` is `PureDp`, `Approximate<MaxDivergence>` is `ApproxDp`, `ZeroConcentratedDivergence` is `ZCdp`, `Approximate<ZeroConcentratedDivergence>` is `ApproxZCdp`, `RenyiDivergence` is `Rdp` or `RdpGrid`
//~ a privacy profile (`SmoothedMaxDivergence`) becomes one pair with OpenDP's `make_fix_delta`
