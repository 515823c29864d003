//! An answer that might be a queryable could be asked behind the back of the compositor.
use std::sync::Arc;

use opendp::combinators::make_adaptive_composition;
use opendp::domains::{AtomDomain, VectorDomain};
use opendp::measures::MaxDivergence;
use opendp::metrics::SymmetricDistance;
use queryables_opendp::{Measured, InDomain};
use queryables::prelude::*;

fn main() {
    let rows = VectorDomain::new(AtomDomain::<u8>::default());
    let data = Arc::new(InDomain::new(rows.clone(), vec![1]).unwrap());
    let filter = start(&Filter::concurrent(PureDp, Epsilon::default()), data).unwrap();
    let composed = make_adaptive_composition::<_, _, _, Box<dyn std::any::Any>>(
        rows,
        SymmetricDistance,
        MaxDivergence,
        1,
        vec![0.0],
    );
    let composed = Measured::new(composed.unwrap());
    let _ = filter.launch_local(&composed);
}

//~ E0277
//~ … is not known to be a plain value
//~ numbers, text, options, vectors, sets, maps and tuples of values are values; implement `Value` for a type of your own that is one
//~ an OpenDP queryable is not one: a measurement that emits one is interactive, and is launched with `start_local`; its answers must be values, too
