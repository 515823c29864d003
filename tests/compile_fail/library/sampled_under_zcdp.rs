//! Of sampled Gaussian noise the Rényi divergences are known, and no ρ that bounds them all.

use std::sync::Arc;

use queryables::mechanisms::{Attribute, Lattice, SampledGaussianSum};
use queryables::prelude::*;

fn main() {
    let filter = launch(
        &Filter::concurrent(ZCdp, "1".parse().unwrap()),
        Arc::new(vec![1.0]),
    )
    .unwrap();
    let itself = Attribute::new("itself", |row: &f64| vec![*row]);
    let lattice = Lattice {
        exponent: 0,
        radius: 1,
    };
    let (rate, mu) = ("0.1".parse().unwrap(), "1".parse().unwrap());
    let sum = SampledGaussianSum::new(itself, 1, lattice, rate, mu).unwrap();
    let _ = filter.release(&sum);
}

//~ E0277
//~ launch it under a measure that has a price for …: … has none
