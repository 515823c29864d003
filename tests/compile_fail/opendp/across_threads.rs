//! OpenDP's queryables stay on their thread, and so do handles to them.
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
    let composed = make_adaptive_composition::<_, _, _, usize>(
        rows,
        SymmetricDistance,
        MaxDivergence,
        1,
        vec![0.0],
    );
    let composed = Measured::new(composed.unwrap());
    let child = filter.launch_local(&composed).unwrap();
    std::thread::spawn(move || drop(child));
}

//~ E0277
//~ Send
