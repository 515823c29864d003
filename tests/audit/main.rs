//! Audits: what running a mechanism many times shows, and what it cannot.

#[path = "../planted/filter.rs"]
#[allow(dead_code)]
mod filter;
#[path = "../../examples/sparse_vectors/mod.rs"]
mod sparse_vectors;
#[path = "../planted/threshold.rs"]
mod threshold;

mod cannot_show;
mod claims;
mod continual;
mod lower_bounds;
mod sequential;
