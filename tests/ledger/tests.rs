//! The ledger: what is written down, what happens when something fails, and who may spend.

mod contract;
mod crash;
mod lines;
mod written;
