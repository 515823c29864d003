//! What erases a filter is not the filter's handle: nobody gets the data out of a handle, or a charge
//! without a start.
use std::sync::Arc;

use queryables::prelude::*;
use queryables_core::toolkit::compose::Erased;

fn main() {
    let filter = start(
        &Filter::concurrent(PureDp, epsilon!(1)),
        Arc::new(vec![1_u8]),
    )
    .unwrap();
    let _ = Erased::<Vec<u8>, AddRemove>::data(&filter);
}

//~ E0277
//~ the trait …Erased<…is not implemented for `RunningCompositor<…
