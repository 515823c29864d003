//! The project itself: its specification, instruction counts and races.

mod instructions;
mod races;
mod specification;
