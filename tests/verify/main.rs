//! The verifier: what it proves, what it refutes, and what it cannot see.

#[path = "../planted/filter.rs"]
mod filter;
#[path = "../planted/individual.rs"]
mod individual_bugs;
#[macro_use]
mod support;
#[path = "../planted/threshold.rs"]
mod threshold;

mod adversaries;
mod both_orders;
mod boundaries;
mod cannot_see;
mod certificates;
mod choices;
mod claims;
mod compared;
mod decided;
mod definitions;
mod directed;
mod faults;
mod gradient_descent;
mod guards;
mod individual;
mod individual_delta;
mod inspects;
mod invalid;
mod keys;
mod mechanisms;
mod menus;
mod messages;
mod not_proved;
mod nothing_asked;
mod ordinary_parameters;
mod people;
mod planted;
mod profiles;
mod proofs;
mod properties;
mod questions;
mod readings;
mod released;
mod resources;
mod rules;
mod scopes;
mod states;
mod verdicts;
