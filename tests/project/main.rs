//! The project itself: its layers, the places of a measure, its specification, what mechanisms say about
//! their error, words that people search for, examples, links, the crates of the quick start, what is published,
//! instruction counts, races.

mod accuracy;
mod aliases;
mod dependencies;
mod examples;
mod instructions;
mod layers;
mod links;
mod measures;
mod races;
mod release;
mod specification;
