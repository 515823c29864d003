//! A privacy profile is no loss of any measure here.
use std::sync::Arc;

use opendp::core::{Function, Measurement, PrivacyMap};
use opendp::domains::AtomDomain;
use opendp::measures::{PrivacyProfile, SmoothedMaxDivergence};
use opendp::metrics::SymmetricDistance;
use opendp::domains::VectorDomain;
use queryables_opendp::{Measured, InDomain};
use queryables::prelude::*;

fn main() {
    let rows = VectorDomain::new(AtomDomain::<u8>::default());
    let profile = Measurement::new(
        rows.clone(),
        SymmetricDistance,
        SmoothedMaxDivergence,
        Function::new(|rows: &Vec<u8>| rows.len()),
        PrivacyMap::new(|_: &u32| PrivacyProfile::new(|_| Ok(0.0))),
    );
    let data = Arc::new(InDomain::new(rows, vec![1]).unwrap());
    let filter = start(&Filter::concurrent(ApproxDp, EpsilonDelta::default()), data).unwrap();
    let _ = filter.release(&Measured::new(profile.unwrap()));
}

//~ E0277
//~ OpenDP's measure … has no counterpart in …
