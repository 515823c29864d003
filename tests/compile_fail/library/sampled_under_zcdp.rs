//! Of sampled Gaussian noise the Rényi divergences are known, and no ρ that bounds them all.

use std::sync::Arc;

use queryables::data::Vector;
use queryables::mechanisms::{Lattice, SampledGaussianSum};
use queryables::prelude::*;

fn main() {
    let filter = start(
        &Filter::concurrent(ZCdp, "1".parse().unwrap()),
        Arc::new(vec![1.0]),
    )
    .unwrap();
    let itself = Vector::new("itself", |row: &f64, out: &mut [f64]| out[0] = *row);
    let lattice = Lattice::of_whole_numbers(1);
    let (rate, mu) = ("0.1".parse().unwrap(), "1".parse().unwrap());
    let sum = SampledGaussianSum::new(AddRemove, itself, 1, lattice, rate, mu).unwrap();
    let _ = filter.release(&sum);
}

//~ E0277
//~ launch it under a measure that has a price for …: … has none
