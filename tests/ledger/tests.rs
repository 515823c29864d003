//! The ledger: what is written down, what happens when something fails, and who may spend.

mod altered;
mod both_orders;
mod bounds;
mod contract;
mod crash;
mod handles;
mod keys;
mod linear;
mod lines;
mod mutations;
mod own_rules;
mod quotas;
mod replaced;
mod rules;
mod service;
mod states;
mod tables;
mod written;
mod wrong_files;
