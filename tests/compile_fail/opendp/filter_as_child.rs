//! OpenDP's filters run a measurement before they check its loss: they are not launched as children.
use std::sync::Arc;

use opendp::combinators::{make_fully_adaptive_composition, make_privacy_filter};
use opendp::domains::{AtomDomain, VectorDomain};
use opendp::measures::MaxDivergence;
use opendp::metrics::SymmetricDistance;
use queryables::prelude::*;
use queryables_opendp::{Measured, InDomain};

fn main() {
    let rows = VectorDomain::new(AtomDomain::<u8>::default());
    let data = Arc::new(InDomain::new(rows.clone(), vec![1]).unwrap());
    let odometer = make_fully_adaptive_composition::<_, _, _, u8>(
        rows,
        SymmetricDistance,
        MaxDivergence,
    );
    let theirs = make_privacy_filter(odometer.unwrap(), 1, 0.5).unwrap();
    let filter = start(&Filter::concurrent(PureDp, "1".parse().unwrap()), data).unwrap();
    let _ = filter.launch_local(&Measured::new(theirs));
}

//~ E0277
//~ … is not known to be a plain value
//~ OpenDP's filters and odometers are not launched as children: they run a measurement before they check its loss; launch a `Filter` or an `Odometer` of `queryables` instead
