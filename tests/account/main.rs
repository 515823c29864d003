//! Rules, measures and prices, held against reference values and against each other.

#[path = "../common/mod.rs"]
mod common;

mod approx_dp_filters;
mod conformance;
mod f_dp_filters;
mod games;
mod own_measure;
mod prices;
