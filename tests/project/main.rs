//! The project itself: its layers, the places of a measure, its specification, what mechanisms say about
//! their error, words that people search for, the crates of the quick start, instruction counts, races.

mod accuracy;
mod aliases;
mod dependencies;
mod instructions;
mod layers;
mod measures;
mod races;
mod specification;
