//! A loss under one measure is not what a filter of another measure prices: it is wrapped first.
use std::sync::Arc;

use queryables::compose::AnyFilter;
use queryables::prelude::*;

fn main() {
    let filter = start(&Filter::concurrent(ZCdp, "1".parse().unwrap()), Arc::new(())).unwrap();
    let filter: AnyFilter<()> = filter.into();
    let _ = filter.launch(&Filter::concurrent(ZCdp, "1".parse().unwrap()));
}

//~ E0277
//~ AnyMeasure
