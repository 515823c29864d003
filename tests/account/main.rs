//! Rules, measures and prices, compared with reference values and with each other.

#[path = "../common/mod.rs"]
mod common;

mod approx_dp_filters;
mod conformance;
mod f_dp_filters;
mod own_measure;
mod prices;
mod recorded;
