//! The project itself: its layers, specification, the crates of the quick start, instruction counts,
//! races.

mod dependencies;
mod instructions;
mod layers;
mod races;
mod specification;
