//! A list of queryables is not a value, whatever list it is.
use std::sync::Arc;

use opendp::combinators::{make_adaptive_composition, make_composition};
use opendp::domains::{AtomDomain, VectorDomain};
use opendp::measures::MaxDivergence;
use opendp::metrics::SymmetricDistance;
use queryables_opendp::{Measured, InDomain};
use queryables::prelude::*;

fn main() {
    let rows = VectorDomain::new(AtomDomain::<u8>::default());
    let data = Arc::new(InDomain::new(rows.clone(), vec![1]).unwrap());
    let filter = start(&Filter::noninteractive(PureDp, Epsilon::default()), data).unwrap();
    let composed = make_adaptive_composition::<_, _, _, usize>(
        rows,
        SymmetricDistance,
        MaxDivergence,
        1,
        vec![0.0],
    );
    let several = make_composition(vec![composed.unwrap()]);
    let _ = filter.release(&Measured::new(several.unwrap()));
}

//~ E0277
//~ … is not known to be a plain value
