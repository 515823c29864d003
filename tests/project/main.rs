//! The project itself: its layers, the places of a measure, its specification, the crates of the quick start, instruction counts,
//! races.

mod dependencies;
mod instructions;
mod layers;
mod measures;
mod races;
mod specification;
