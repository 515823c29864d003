//! Gaussian noise costs a record the square of its vector, in measures that count squares.
use queryables::compose::IndividualFilter;
use queryables::data::Vector;
use queryables::mechanisms::Lattice;
use queryables::mechanisms::VectorSum;
use queryables::prelude::*;
use std::sync::Arc;

fn main() {
    let filter = IndividualFilter::new(PureDp, "1".parse().unwrap());
    let running = start(&filter, Arc::new(vec![1.0])).unwrap();
    let itself = Vector::new("itself", |row: &f64, out: &mut [f64]| out[0] = *row);
    let lattice = Lattice::in_steps(-10, 1024);
    let sum = VectorSum::of(itself, 1, lattice).gaussian(rho!(1)).unwrap();
    let _ = running.release(&sum);
}

//~ E0277
//~ Gaussian noise does not cost a record the square of its contribution under …
//~ use zCDP, GDP, Rényi DP of one order, `ThroughZCdp::for_zcdp`, `ThroughRdp::on_grid_at`, or `NaturalFilter` on `Gdp`
