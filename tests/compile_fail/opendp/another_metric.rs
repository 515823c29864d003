//! The distance between numbers says nothing about added and removed rows.
use std::sync::Arc;

use opendp::core::{Function, Measurement, PrivacyMap};
use opendp::domains::AtomDomain;
use opendp::measures::MaxDivergence;
use opendp::metrics::AbsoluteDistance;
use queryables_opendp::{Measured, InDomain};
use queryables::prelude::*;

fn main() {
    let number = Measurement::new(
        AtomDomain::<i64>::default(),
        AbsoluteDistance::<i64>::default(),
        MaxDivergence,
        Function::new(|number: &i64| *number),
        PrivacyMap::new(|_: &i64| 0.0),
    );
    let data = Arc::new(InDomain::new(AtomDomain::default(), 1_i64).unwrap());
    let filter = start(&Filter::concurrent(PureDp, Epsilon::default()), data).unwrap();
    let _ = filter.release(&Measured::new(number.unwrap()));
}

//~ E0277
//~ how far apart neighbours under … are in OpenDP's … on … is not known
//~ vectors under `AddRemove` are measured by `SymmetricDistance` or `InsertDeleteDistance`, under `Replace` by `ChangeOneDistance` or `HammingDistance` too
//~ for any other metric, implement `Within` for a relation of your own, and build the compositor `under` it
