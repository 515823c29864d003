//! Gaussian noise has no loss under pure privacy.

use std::sync::Arc;

use queryables::data::Predicate;
use queryables::mechanisms::Count;
use queryables::prelude::*;

fn main() {
    let filter = start(
        &Filter::concurrent(PureDp, "1".parse().unwrap()),
        Arc::new(vec![1_u8]),
    )
    .unwrap();
    let count = Predicate::new("one", |row: &u8| *row == 1);
    let count = Count::of(count).gaussian(rho!(1)).unwrap();
    let _ = filter.release(&count);
}

//~ E0277
//~ launch it under a measure that has a price for …: … has none
//~ Gaussian noise has a loss under `ZCdp`, `Gdp`, `Rdp`, `RdpGrid`, `ApproxZCdp` and `ApproxRdp`; for (ε, δ), choose a δ for it: `RestatedAt::new(ZCdp, delta, mechanism)`
//~ a Rényi curve, as of sampled Gaussian noise, is a loss under `Rdp`, `RdpGrid` and `ApproxRdp`; for (ε, δ), choose a δ for it: `RestatedAt::new(grid, delta, mechanism)`
//~ for a measure of your own, implement `Prices<…>`
