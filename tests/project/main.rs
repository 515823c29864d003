//! The project itself: its layers, specification, instruction counts and races.

mod instructions;
mod layers;
mod races;
mod specification;
