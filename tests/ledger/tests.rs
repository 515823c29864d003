//! The ledger: what is written down, what happens when something fails, and who may spend.

mod altered;
mod contract;
mod crash;
mod handles;
mod keys;
mod linear;
mod lines;
mod quotas;
mod rules;
mod states;
mod written;
mod wrong_files;
